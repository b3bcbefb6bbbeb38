"""The result of an evaluation: counts, shares, JSON and data frame.

Counts are kept as whole numbers and shares are computed from them, so that the printed
text can tell 100% from almost all.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from nn2rules.errors import OptionError
from nn2rules.language import count, share
from nn2rules.output import Backend, Document, Result, frame_of
from nn2rules.questions.evaluate.page import (
    SHARES,
    page_of,
    page_of_card,
    page_of_rules,
    steps,
)
from nn2rules.rules import Scope
from nn2rules.scorecards import PointsBand
from nn2rules.space import Value, is_number, text_of, whole_number


@dataclass(frozen=True, slots=True)
class DomainFidelity:
    """The share of covered inputs on which the model predicts the same.

    Inputs that no rule covers do not count; `uncovered` is their number.

    Attributes
    ----------
    low, high : float
        The share is between them; they are equal if it is known exactly.
    how : {"counted", "proved", "sampled"}
        Every input was evaluated, or a certificate proves the number, or it is Wilson's
        interval from random inputs.
    same : int or None
        The number of covered inputs with the same prediction; None if inputs cannot be
        counted. For a sample, the number among those drawn.
    inputs : int or None
        The number of possible inputs, or of those drawn, covered or not. None if they
        cannot be counted, because a feature is a range of numbers.
    confidence : float
        1 if certain, 0.95 for a sample.
    impossible : int
        The number of impossible inputs that were left out; for a sample, the number
        among those drawn.
    uncovered : int or None
        How many of `inputs` no rule covers, so that there is no prediction; None if not
        known. Rules for the whole domain cover every input, because their default is
        proved.
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
        """How many of `inputs` the rules cover; None if not known."""
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
        same_share = share(self.same or 0, self.covered)
        how = f"{self.how}; {left_out}" if self.impossible else self.how
        if not self.uncovered:
            return f"{same_share} of {count(self.inputs, 'input')} ({how})"
        return (
            f"{same_share} of {count(self.covered, 'covered input')} ({how}); "
            f"{share(self.covered, self.inputs)} of {count(self.inputs, 'input')} are "
            f"covered"
        )

    def _drawn(self) -> str:
        """Return which inputs a sample is of."""
        drawn = count(self.inputs or 0, "random input")
        return f"the {self.covered:,} covered of {drawn}" if self.uncovered else drawn

    def _range(self) -> str:
        """Return both ends in percent, rounded outwards, but never to 100%."""
        floor, ceiling = math.floor(1000 * self.low), math.ceil(1000 * self.high)
        high = "> 99.9%" if self.high < 1 and ceiling == 1000 else share(ceiling, 1000)
        return f"{share(floor, 1000)} to {high}"


@dataclass(frozen=True, slots=True)
class ClassEvaluation:
    """What rules, or a scorecard, predict for one class.

    Attributes
    ----------
    label : str, int, float or bool
    n_rules : int or None
        The number of rules that predict it; None for a scorecard.
    n_rows, same : int
        The rows for which the model predicts it, and how many of them the rules do.
    predicted : int
        The rows for which the rules predict it.
    labelled, right : int or None
        The rows with this true label, and how many of them the rules predict.
    """

    label: Value
    n_rules: int | None
    n_rows: int
    same: int
    predicted: int
    labelled: int | None = None
    right: int | None = None

    @property
    def fidelity(self) -> float | None:
        """The share of the rows with this model prediction that the rules agree on."""
        return ratio(self.same, self.n_rows)

    @property
    def recall(self) -> float | None:
        """The share of the rows with this true label that the rules predict."""
        return ratio(self.right, self.labelled)

    @property
    def precision(self) -> float | None:
        """The share of the rows with this rule prediction whose true label it is."""
        return ratio(self.right, self.predicted)


@dataclass(frozen=True, slots=True)
class RowFigures:
    """The figures of rules on some rows: those that are covered, or all.

    A share is None if there are no rows for it, or no true labels.

    Attributes
    ----------
    n_rows, same : int
        The rows, and on how many of them rules and model predict the same.
    right, model_right, same_where_right : int or None
        The rows on which the rules predict the label, those on which the model does,
        and how many of the latter the rules predict as well.
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
        """The share of these rows on which rules and model predict the same."""
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
        """The fidelity on the rows where the model predicts the label."""
        return ratio(self.same_where_right, self.model_right)

    @property
    def model_wrong(self) -> int | None:
        """The number of rows where the model does not predict the label."""
        return None if self.model_right is None else self.n_rows - self.model_right

    @property
    def same_where_wrong(self) -> int | None:
        """How many of these rows have the same prediction from rules and model."""
        right = self.same_where_right
        return None if right is None else self.same - right

    @property
    def fidelity_where_wrong(self) -> float | None:
        """The fidelity on the rows where the model does not predict the label."""
        return ratio(self.same_where_wrong, self.model_wrong)

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in _ROW_NUMBERS}
        plain["by_class"] = [
            {name: getattr(part, name) for name in ("label", *_numbers_of(part))}
            for part in self.by_class
        ]
        return plain


def _numbers_of(part: ClassEvaluation) -> tuple[str, ...]:
    """Return the names of the numbers of a class: of a card, there are no rules."""
    return _CLASS_NUMBERS if part.n_rules is not None else _CLASS_NUMBERS[1:]


def metrics_of(figures: RowFigures | None, labels: tuple[Value, ...]) -> dict[str, Any]:
    """Return every number by name; None for all if there are no figures."""
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
    "predicted",
    "labelled",
    "right",
    "recall",
    "precision",
)


def ratio(part: int | None, total: int | None) -> float | None:
    """Return a share; None if the total is 0 or unknown."""
    return None if part is None or not total else part / total


@dataclass(frozen=True, slots=True)
class Evaluation(Result):
    """How good a description is: fidelity, accuracy and coverage.

    A row is covered if `predict` gives it a class: by a rule, by the default of rules
    for the whole domain, or by a scorecard. Nothing is proved about the default of
    rules of scope "support", so figures that count it are separate and named
    accordingly.

    Attributes
    ----------
    scope : {"domain", "support"}
        The scope of the description.
    n_rows : int
        The number of rows, covered or not.
    model_right : int or None
        The number of rows on which the model predicts the label.
    on_covered : RowFigures
        The figures on covered rows.
    with_unproved_default : RowFigures or None
        The figures on all rows, if the uncovered ones get the unproved default. None if
        every row is covered.
    domain : DomainFidelity or None
        The fidelity on covered inputs of the whole domain.
    """

    _json: ClassVar[Mapping[str, Any]] = {"indent": 1, "allow_nan": False}
    _numbers: ClassVar[tuple[str, ...]] = ()
    """The names of further numbers, of one form of description."""

    scope: Scope
    n_rows: int
    model_right: int | None
    on_covered: RowFigures
    with_unproved_default: RowFigures | None
    domain: DomainFidelity | None

    @property
    def n_covered(self) -> int:
        """The number of rows that are covered."""
        return self.on_covered.n_rows

    @property
    def n_uncovered(self) -> int:
        """The number of rows that are not, where `predict` returns None."""
        return self.n_rows - self.n_covered

    @property
    def covered_share(self) -> float:
        """The share of rows that are covered."""
        return self.n_covered / self.n_rows

    @property
    def model_accuracy(self) -> float | None:
        """The share of all rows, covered or not, on which the model is correct."""
        return ratio(self.model_right, self.n_rows)

    def document(self) -> Document:
        """Return a few lines, then small tables."""
        return page_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        names = ("scope", *_NUMBERS, *self._numbers)
        plain: dict[str, Any] = {name: getattr(self, name) for name in names}
        for part in _PARTS:
            figures = getattr(self, part)
            plain[part] = figures and figures.as_dict()
        plain |= self._own_dict()
        domain = self.domain
        plain["domain"] = domain and {
            name: getattr(domain, name) for name in _DOMAIN_NUMBERS
        }
        return plain

    def _own_dict(self) -> dict[str, Any]:
        """Return what only one form of description has, as plain values."""
        return {}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with the columns `metric` and `value`.

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
        """Return every number by name."""
        metrics = {name: getattr(self, name) for name in (*_NUMBERS, *self._numbers)}
        labels = tuple(one.label for one in self.on_covered.by_class)
        for part in _PARTS:
            for name, number in metrics_of(getattr(self, part), labels).items():
                metrics[f"{part}.{name}"] = number
        metrics |= self._own_metrics()
        for name in ("low", "high", "confidence", "covered", "inputs"):
            metrics[f"domain_{name}"] = self.domain and getattr(self.domain, name)
        return metrics

    def _own_metrics(self) -> dict[str, float | None]:
        """Return the numbers by name that only one form of description has."""
        return {}


@dataclass(frozen=True, slots=True)
class RuleListEvaluation(Evaluation):
    """How good rules are: an `Evaluation`, and how many rules say how much.

    Attributes
    ----------
    determined : tuple of int
        The rows that the first k rules determine, for k from 0 to all.
    overlapping, covering : int
        The rows that more than one rule covers, and the number of rules that cover a
        row, summed over all rows.
    n_conditions, most_conditions, n_values : int
        The number of conditions of all rules, the largest number of a rule, and the
        number of values that all conditions allow.
    """

    _numbers: ClassVar[tuple[str, ...]] = (
        "overlapping",
        "overlap",
        "rules_per_row",
        "determined_share",
        "n_rules",
        "most_conditions",
        "conditions_per_rule",
        "values_per_condition",
    )

    determined: tuple[int, ...] = field(repr=False)
    overlapping: int
    covering: int
    n_conditions: int
    most_conditions: int
    n_values: int

    @property
    def n_rules(self) -> int:
        """The number of rules."""
        return len(self.determined) - 1

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
        """The share of rows that more than one rule covers."""
        return self.overlapping / self.n_rows

    @property
    def rules_per_row(self) -> float:
        """The mean number of rules that cover a row."""
        return self.covering / self.n_rows

    @property
    def determined_share(self) -> float:
        """The share of rows that a rule determines, and not the default."""
        return self.determined[-1] / self.n_rows

    def determined_by(self, k: int) -> float:
        """Return the share of rows that the first `k` rules determine."""
        return self.determined[min(whole_number("k", k), self.n_rules)] / self.n_rows

    @property
    def determined_by_first(self) -> dict[int, float]:
        """The share of rows that the first k determine: k = 1, 2, 5, 10, … and all."""
        return {k: self.determined_by(k) for k in steps(self.n_rules)}

    def rules_for(self, share: float) -> int | None:
        """Return how many of the first rules determine this share of the rows.

        None if not even all of them do, because the default determines the others.
        """
        if not is_number(share) or not 0 <= share <= 1:
            raise OptionError(f"share: {share!r}, expected 0 to 1")
        shares = [rows / self.n_rows for rows in self.determined]
        needed = bisect_left(shares, share)
        return needed if needed <= self.n_rules else None

    def document(self) -> Document:
        """Return a few lines, then small tables."""
        return page_of_rules(self)

    def _own_dict(self) -> dict[str, Any]:
        by_first = self.determined_by_first.items()
        return {
            "determined_by_first": {str(k): part for k, part in by_first},
            "rules_for": {str(s): self.rules_for(s) for s in SHARES},
        }

    def _own_metrics(self) -> dict[str, float | None]:
        metrics: dict[str, float | None] = {}
        for k, determined in self.determined_by_first.items():
            metrics[f"determined_by_first[{k}]"] = determined
        for wanted in SHARES:
            metrics[f"rules_for[{wanted}]"] = self.rules_for(wanted)
        return metrics


@dataclass(frozen=True, slots=True)
class ScorecardEvaluation(Evaluation):
    """How good a scorecard is: an `Evaluation`, and what its points tell.

    Attributes
    ----------
    n_lines, n_regions : int
        The lines of points, and the linear regions below them, if there are any.
    too_close : int
        The rows for which the printed points do not prove a class, because their total
        is too close to a cut-off. `predict` is exact for these, too.
    bands : tuple of PointsBand
        How the printed totals of the rows are distributed; empty unless there is one
        total.
    auc, ks : float or None
        How well the score ranks the labels: the area under the ROC curve, and the
        statistic of Kolmogorov and Smirnov. None unless there is one score, and rows of
        both labels.
    """

    _numbers: ClassVar[tuple[str, ...]] = (
        "n_lines",
        "n_regions",
        "too_close",
        "auc",
        "gini",
        "ks",
    )

    n_lines: int
    n_regions: int
    too_close: int
    bands: tuple[PointsBand, ...] = field(repr=False)
    auc: float | None
    ks: float | None

    @property
    def gini(self) -> float | None:
        """The Gini coefficient of the score: twice the area under the curve, less 1."""
        return None if self.auc is None else 2 * self.auc - 1

    def document(self) -> Document:
        """Return a few lines, then small tables."""
        return page_of_card(self)

    def _own_dict(self) -> dict[str, Any]:
        return {"bands": [band.as_dict() for band in self.bands]}


_PARTS = ("on_covered", "with_unproved_default")

_NUMBERS = (
    "n_rows",
    "n_covered",
    "n_uncovered",
    "covered_share",
    "model_right",
    "model_accuracy",
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
