"""The result of an evaluation: counts, shares, JSON and data frame.

Counts are kept, as whole numbers, and shares are worked out from them; so what is
printed can tell 100% from almost all.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from nn2rules.errors import OptionError
from nn2rules.language import count, share
from nn2rules.output import Backend, Document, Result, frame_of
from nn2rules.questions.evaluate.page import SHARES, document_of, steps
from nn2rules.rules import Scope
from nn2rules.space import Value, is_number, text_of, whole_number


@dataclass(frozen=True, slots=True)
class DomainFidelity:
    """The share of covered inputs on which rules predict what the model predicts.

    Inputs that no rule covers have no part in the share: `uncovered` counts them.

    Attributes
    ----------
    low, high : float
        The share lies between them; where it is known exactly they are equal.
    how : {"counted", "proved", "sampled"}
        Every input was asked; or a certificate proves the number; or random inputs
        were asked, and the ends are Wilson's interval.
    same : int or None
        On how many covered inputs the predictions are the same; None if inputs cannot
        be counted. Of a sample, the number among those drawn.
    inputs : int or None
        All inputs that can occur, or those drawn, covered or not. None if all, and they
        cannot be counted, because a feature is a range of numbers.
    confidence : float
        1 for what is certain, 0.95 for a sample.
    impossible : int
        How many inputs were left out, because they cannot occur; of a sample, the
        number among those drawn.
    uncovered : int or None
        How many of `inputs` no rule covers, so that nothing is predicted there; None if
        that is not known. Rules for the whole domain cover every input, since the
        default is one of their predictions.
    """

    low: float
    high: float
    how: Literal["counted", "proved", "sampled"]
    same: int | None
    inputs: int | None
    confidence: float = 1.0
    impossible: int = 0
    uncovered: int | None = 0

    @property
    def covered(self) -> int | None:
        """How many of `inputs` a rule covers; None if that is not known."""
        if self.inputs is None or self.uncovered is None:
            return None
        return self.inputs - self.uncovered

    def __str__(self) -> str:
        if self.inputs is None or self.covered is None:
            which = "covered inputs" if self.uncovered is None else "the domain"
            return f"{share(1, 1)} of {which} ({self.how})"
        left_out = f"{self.impossible:,} declared impossible, left out"
        if self.covered == 0:
            drawn = "random input" if self.how == "sampled" else "input"
            return f"not measured: no rule covers any of {count(self.inputs, drawn)}"
        if self.how == "sampled":
            text = f"{self._range()} with 95% confidence, from {self._drawn()}"
            return f"{text} ({left_out})" if self.impossible else text
        known = share(self.same or 0, self.covered)
        how = f"{self.how}; {left_out}" if self.impossible else self.how
        if not self.uncovered:
            return f"{known} of {count(self.inputs, 'input')} ({how})"
        return (
            f"{known} of {count(self.covered, 'covered input')} ({how}); "
            f"{share(self.covered, self.inputs)} of {count(self.inputs, 'input')} are "
            f"covered"
        )

    def _drawn(self) -> str:
        """Say which inputs a sample is of."""
        drawn = count(self.inputs or 0, "random input")
        return f"the {self.covered:,} covered of {drawn}" if self.uncovered else drawn

    def _range(self) -> str:
        """Return both ends in percent, rounded outwards, but never to 100%."""
        floor, ceiling = math.floor(1000 * self.low), math.ceil(1000 * self.high)
        high = "> 99.9%" if self.high < 1 and ceiling == 1000 else share(ceiling, 1000)
        return f"{share(floor, 1000)} to {high}"


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
        plain: dict[str, Any] = {name: getattr(self, name) for name in _ROW_NUMBERS}
        plain["by_class"] = [
            {name: getattr(part, name) for name in ("label", *_CLASS_NUMBERS)}
            for part in self.by_class
        ]
        return plain


def metrics_of(figures: RowFigures | None, labels: tuple[Value, ...]) -> dict[str, Any]:
    """Return every number by a name of its own; None for all where there are none."""
    metrics = {name: figures and getattr(figures, name) for name in _ROW_NUMBERS}
    for place, label in enumerate(labels):
        one = figures and figures.by_class[place]
        for name in _CLASS_NUMBERS:
            metrics[f"{name}[{text_of(label)}]"] = one and getattr(one, name)
    return metrics


_ROW_NUMBERS = (
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


@dataclass(frozen=True, slots=True)
class Evaluation(Result):
    """How good rules are: as text, a table; see also `to_frame` and `to_json`.

    A row is covered if `rules.predict` gives it a class: by a rule, or by the default
    of rules for the whole domain. Nothing is proved of the default of rules of scope
    "support": figures that count it are apart, under a name that says so.

    Attributes
    ----------
    scope : {"domain", "support"}
        The scope of the rules.
    n_rows : int
        The rows, covered or not.
    model_right : int or None
        The rows on which the model predicts the label.
    on_covered : RowFigures
        What holds on the rows that are covered.
    with_unproved_default : RowFigures or None
        The same on all rows, if the others get the default, of which nothing is proved.
        None if every row is covered.
    decided : tuple of int
        The rows that the first k rules decide, for k from 0 to all.
    overlapping, holding : int
        The rows on which more than one rule holds; and how many rules hold, summed
        over all rows.
    n_conditions, most_conditions, n_values : int
        The conditions of all rules, the most of a rule, and the values that all
        conditions allow.
    domain : DomainFidelity or None
        The fidelity on covered inputs of the whole domain.
    """

    _json: ClassVar[Mapping[str, Any]] = {"indent": 1, "allow_nan": False}

    scope: Scope
    n_rows: int
    model_right: int | None
    on_covered: RowFigures
    with_unproved_default: RowFigures | None
    decided: tuple[int, ...] = field(repr=False)
    overlapping: int
    holding: int
    n_conditions: int
    most_conditions: int
    n_values: int
    domain: DomainFidelity | None

    @property
    def n_covered(self) -> int:
        """The number of rows that the rules cover."""
        return self.on_covered.n_rows

    @property
    def n_uncovered(self) -> int:
        """The number of rows that they do not cover: there `predict` gives None."""
        return self.n_rows - self.n_covered

    @property
    def covered_share(self) -> float:
        """The share of rows that the rules cover."""
        return self.n_covered / self.n_rows

    @property
    def model_accuracy(self) -> float | None:
        """The share of all rows, covered or not, on which the model is right."""
        return ratio(self.model_right, self.n_rows)

    @property
    def n_rules(self) -> int:
        """The number of rules."""
        return len(self.decided) - 1

    @property
    def conditions_per_rule(self) -> float | None:
        """The mean number of conditions of a rule."""
        return ratio(self.n_conditions, self.n_rules)

    @property
    def values_per_condition(self) -> float | None:
        """The mean number of values that a condition allows."""
        return ratio(self.n_values, self.n_conditions)

    @property
    def overlap(self) -> float:
        """The share of rows on which more than one rule holds."""
        return self.overlapping / self.n_rows

    @property
    def rules_per_row(self) -> float:
        """The mean number of rules that hold for a row."""
        return self.holding / self.n_rows

    @property
    def decided_share(self) -> float:
        """The share of rows that a rule decides, and not the default."""
        return self.decided[-1] / self.n_rows

    def decided_by(self, k: int) -> float:
        """Return the share of rows that the first `k` rules decide."""
        return self.decided[min(whole_number("k", k), self.n_rules)] / self.n_rows

    @property
    def decided_by_first(self) -> dict[int, float]:
        """The share of rows that the first k decide: k = 1, 2, 5, 10, … and all."""
        return {k: self.decided_by(k) for k in steps(self.n_rules)}

    def rules_for(self, share: float) -> int | None:
        """Return how many of the first rules decide this share of the rows.

        None if not even all of them do: the others are left to the default.
        """
        if not is_number(share) or not 0 <= share <= 1:
            raise OptionError(f"share: {share!r}, expected 0 to 1")
        shares = [rows / self.n_rows for rows in self.decided]
        needed = bisect_left(shares, share)
        return needed if needed <= self.n_rules else None

    def document(self) -> Document:
        """Return a few lines, then small tables."""
        return document_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values; equal evaluations give equal ones."""
        found: dict[str, Any] = {
            name: getattr(self, name) for name in ("scope", *_NUMBERS)
        }
        for part in _PARTS:
            figures = getattr(self, part)
            found[part] = figures and figures.as_dict()
        found["decided_by_first"] = {
            str(k): part for k, part in self.decided_by_first.items()
        }
        found["rules_for"] = {str(s): self.rules_for(s) for s in SHARES}
        domain = self.domain
        found["domain"] = domain and {
            name: getattr(domain, name) for name in _DOMAIN_NUMBERS
        }
        return found

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with the columns `metric` and `value`, a row a number.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame; it must be installed.
        """
        return frame_of(self._columns, backend)

    def _columns(self) -> dict[str, list[Any]]:
        metrics = self._metrics()
        values = [None if v is None else float(v) for v in metrics.values()]
        return {"metric": list(metrics), "value": values}

    def _metrics(self) -> dict[str, float | None]:
        """Return every number by a name of its own."""
        metrics = {name: getattr(self, name) for name in _NUMBERS}
        labels = tuple(one.label for one in self.on_covered.by_class)
        for part in _PARTS:
            for name, number in metrics_of(getattr(self, part), labels).items():
                metrics[f"{part}.{name}"] = number
        for k, decided in self.decided_by_first.items():
            metrics[f"decided_by_first[{k}]"] = decided
        for wanted in SHARES:
            metrics[f"rules_for[{wanted}]"] = self.rules_for(wanted)
        for name in ("low", "high", "confidence", "covered", "inputs"):
            metrics[f"domain_{name}"] = self.domain and getattr(self.domain, name)
        return metrics


_PARTS = ("on_covered", "with_unproved_default")

_NUMBERS = (
    "n_rows",
    "n_covered",
    "n_uncovered",
    "covered_share",
    "model_right",
    "model_accuracy",
    "overlapping",
    "overlap",
    "rules_per_row",
    "decided_share",
    "n_rules",
    "most_conditions",
    "conditions_per_rule",
    "values_per_condition",
)

_DOMAIN_NUMBERS = (
    "low",
    "high",
    "how",
    "same",
    "covered",
    "uncovered",
    "inputs",
    "impossible",
    "confidence",
)
