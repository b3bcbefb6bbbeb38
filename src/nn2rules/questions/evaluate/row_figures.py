"""What is counted on some rows: rules against the model, and both against labels."""

from dataclasses import dataclass, field
from typing import Any

from nn2rules.space import Value, text_of


@dataclass(frozen=True, slots=True)
class ClassEvaluation:
    """What rules do for one class.

    Attributes
    ----------
    label : str, int, float or bool
    n_rules : int
        How many rules answer it.
    n_rows, same : int
        The rows that the model answers so, and how many of them the rules do, too.
    answered : int
        The rows that the rules answer so.
    labelled, right : int or None
        The rows whose true label it is, and how many of them the rules answer so.
    """

    label: Value
    n_rules: int
    n_rows: int
    same: int
    answered: int
    labelled: int | None = None
    right: int | None = None

    @property
    def fidelity(self) -> float | None:
        """The share of the rows that the model answers so that the rules do, too."""
        return ratio(self.same, self.n_rows)

    @property
    def recall(self) -> float | None:
        """The share of the rows of this true label that the rules answer so."""
        return ratio(self.right, self.labelled)

    @property
    def precision(self) -> float | None:
        """The share of the rows that the rules answer so whose true label it is."""
        return ratio(self.right, self.answered)


@dataclass(frozen=True, slots=True)
class RowFigures:
    """How rules do on some rows: those that are covered, or all.

    A share is None where there is nothing to have a share of, or no true label.

    Attributes
    ----------
    n_rows, same : int
        The rows, and on how many of them the rules predict what the model predicts.
    right, model_right, same_where_right : int or None
        The rows on which the rules predict the label; those on which the model does;
        and of these, those on which the rules predict what the model does.
    by_class : tuple of ClassEvaluation
    """

    n_rows: int
    same: int
    right: int | None
    model_right: int | None
    same_where_right: int | None
    by_class: tuple[ClassEvaluation, ...] = field(repr=False)

    @property
    def fidelity(self) -> float | None:
        """The share of these rows on which the rules predict what the model does."""
        return ratio(self.same, self.n_rows)

    @property
    def accuracy(self) -> float | None:
        """The share of these rows on which the rules predict the label."""
        return ratio(self.right, self.n_rows)

    @property
    def model_accuracy(self) -> float | None:
        """The share of these rows on which the model predicts the label."""
        return ratio(self.model_right, self.n_rows)

    @property
    def fidelity_where_right(self) -> float | None:
        """The fidelity on the rows that the model answers as labelled."""
        return ratio(self.same_where_right, self.model_right)

    @property
    def model_wrong(self) -> int | None:
        """The number of rows that the model does not answer as labelled."""
        return None if self.model_right is None else self.n_rows - self.model_right

    @property
    def same_where_wrong(self) -> int | None:
        """How many of these the rules answer as the model does."""
        right = self.same_where_right
        return None if right is None else self.same - right

    @property
    def fidelity_where_wrong(self) -> float | None:
        """The fidelity on the rows that the model does not answer as labelled."""
        return ratio(self.same_where_wrong, self.model_wrong)

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in _NUMBERS}
        plain["by_class"] = [
            {name: getattr(part, name) for name in ("label", *_CLASS_NUMBERS)}
            for part in self.by_class
        ]
        return plain


def metrics_of(figures: RowFigures | None, labels: tuple[Value, ...]) -> dict[str, Any]:
    """Return every number by a name of its own; None for all where there are none."""
    metrics = {name: figures and getattr(figures, name) for name in _NUMBERS}
    for place, label in enumerate(labels):
        one = figures and figures.by_class[place]
        for name in _CLASS_NUMBERS:
            metrics[f"{name}[{text_of(label)}]"] = one and getattr(one, name)
    return metrics


_NUMBERS = (
    "n_rows",
    "same",
    "fidelity",
    "right",
    "accuracy",
    "model_right",
    "model_accuracy",
    "same_where_right",
    "fidelity_where_right",
    "model_wrong",
    "same_where_wrong",
    "fidelity_where_wrong",
)
_CLASS_NUMBERS = (
    "n_rules",
    "n_rows",
    "same",
    "fidelity",
    "answered",
    "labelled",
    "right",
    "recall",
    "precision",
)


def ratio(part: int | None, whole: int | None) -> float | None:
    """Return a share; None where there is nothing to have a share of."""
    return None if part is None or not whole else part / whole
