"""The numbers of an evaluation, and the same as text, JSON and data frame.

Counts are kept, as whole numbers, and shares are worked out from them; so what is
printed can tell 100 % from almost all.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from nn2rules.errors import OptionError
from nn2rules.output import Backend, Document, Result, frame_of
from nn2rules.questions.evaluate.fidelity import DomainFidelity
from nn2rules.questions.evaluate.row_figures import RowFigures, metrics_of, ratio
from nn2rules.questions.evaluate.table import (
    SHARES,
    document_of,
    steps,
)
from nn2rules.rules import Scope
from nn2rules.space import is_number, whole_number


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
        for k, share in self.decided_by_first.items():
            metrics[f"decided_by_first[{k}]"] = share
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
