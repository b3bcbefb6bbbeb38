"""The numbers of an evaluation, and the same as text, JSON and data frame.

Counts are kept, as whole numbers, and shares are worked out from them; so what is
printed can tell 100 % from almost all.
"""

import json
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any, Literal

import narwhals as nw

from nn2rules.errors import MissingExtraError, OptionError
from nn2rules.evaluation.fidelity import DomainFidelity
from nn2rules.evaluation.table import SHARES, evaluation_html, evaluation_text, steps
from nn2rules.values import Value, is_number, text_of, whole_number


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
        return _ratio(self.same, self.n_rows)

    @property
    def recall(self) -> float | None:
        """The share of the rows of this true label that the rules answer so."""
        return _ratio(self.right, self.labelled)

    @property
    def precision(self) -> float | None:
        """The share of the rows that the rules answer so whose true label it is."""
        return _ratio(self.right, self.answered)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How good rules are: as text, a table; see also `to_frame` and `to_json`.

    A share is None where there is nothing to have a share of, or no true label.

    Attributes
    ----------
    n_rows, same : int
        The rows, and how many of them the rules answer as the model does.
    right, model_right, same_where_right : int or None
        The rows that the rules answer as labelled; those that the model does; and of
        these, those that the rules answer as the model does.
    decided : tuple of int
        The rows that the first k rules decide, for k from 0 to all. Others fall to
        the default.
    overlapping, holding : int
        The rows on which more than one rule holds; and how many rules hold, summed
        over all rows.
    n_conditions, most_conditions, n_values : int
        The conditions of all rules, the most of a rule, and the values that all
        conditions allow.
    by_class : tuple of ClassEvaluation
    domain : DomainFidelity or None
        On how many inputs of the whole domain the answers are the same.
    """

    n_rows: int
    same: int
    right: int | None
    model_right: int | None
    same_where_right: int | None
    decided: tuple[int, ...] = field(repr=False)
    overlapping: int
    holding: int
    n_conditions: int
    most_conditions: int
    n_values: int
    by_class: tuple[ClassEvaluation, ...]
    domain: DomainFidelity | None

    @property
    def fidelity(self) -> float:
        """The share of rows that the rules answer as the model does."""
        return self.same / self.n_rows

    @property
    def accuracy(self) -> float | None:
        """The share of rows that the rules answer as labelled."""
        return _ratio(self.right, self.n_rows)

    @property
    def model_accuracy(self) -> float | None:
        """The share of rows that the model answers as labelled."""
        return _ratio(self.model_right, self.n_rows)

    @property
    def fidelity_where_right(self) -> float | None:
        """The fidelity on the rows that the model answers as labelled."""
        return _ratio(self.same_where_right, self.model_right)

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
        return _ratio(self.same_where_wrong, self.model_wrong)

    @property
    def n_rules(self) -> int:
        """The number of rules."""
        return len(self.decided) - 1

    @property
    def conditions_per_rule(self) -> float | None:
        """The mean number of conditions of a rule."""
        return _ratio(self.n_conditions, self.n_rules)

    @property
    def values_per_condition(self) -> float | None:
        """The mean number of values that a condition allows."""
        return _ratio(self.n_values, self.n_conditions)

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

    def to_json(self) -> str:
        """Return all numbers as JSON text; equal evaluations give equal text."""
        document: dict[str, Any] = {
            name: getattr(self, name) for name in (*_COUNTS, *_SHARES)
        }
        document["decided_by_first"] = {
            str(k): part for k, part in self.decided_by_first.items()
        }
        document["rules_for"] = {str(s): self.rules_for(s) for s in SHARES}
        document["by_class"] = [
            {name: getattr(part, name) for name in ("label", *_CLASS_NUMBERS)}
            for part in self.by_class
        ]
        domain = self.domain
        document["domain"] = domain and {
            name: getattr(domain, name) for name in _DOMAIN_NUMBERS
        }
        return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)

    def to_frame(
        self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas"
    ) -> Any:
        """Return a data frame with the columns `metric` and `value`, a row a number.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame; it must be installed.
        """
        if backend not in ("pandas", "polars", "pyarrow"):
            raise OptionError(
                f"backend: {backend!r}, expected 'pandas', 'polars' or 'pyarrow'"
            )
        metrics = self._metrics()
        values = [None if v is None else float(v) for v in metrics.values()]
        table = {"metric": list(metrics), "value": values}
        try:
            return nw.from_dict(table, backend=backend).to_native()
        except ModuleNotFoundError:
            raise MissingExtraError(backend, backend, "to_frame()") from None

    def _metrics(self) -> dict[str, float | None]:
        """Return every number by a name of its own."""
        metrics = {name: getattr(self, name) for name in (*_COUNTS, *_SHARES)}
        for k, part in self.decided_by_first.items():
            metrics[f"decided_by_first[{k}]"] = part
        for wanted in SHARES:
            metrics[f"rules_for[{wanted}]"] = self.rules_for(wanted)
        for one in self.by_class:
            for name in _CLASS_NUMBERS:
                metrics[f"{name}[{text_of(one.label)}]"] = getattr(one, name)
        for name in ("low", "high", "confidence"):
            metrics[f"domain_{name}"] = self.domain and getattr(self.domain, name)
        return metrics

    def __str__(self) -> str:
        return evaluation_text(self)

    def _repr_html_(self) -> str:
        return evaluation_html(self)


_COUNTS = (
    "n_rows",
    "same",
    "right",
    "model_right",
    "same_where_right",
    "model_wrong",
    "same_where_wrong",
    "overlapping",
    "n_rules",
    "most_conditions",
)
_SHARES = (
    "fidelity",
    "accuracy",
    "model_accuracy",
    "decided_share",
    "fidelity_where_right",
    "fidelity_where_wrong",
    "overlap",
    "rules_per_row",
    "conditions_per_rule",
    "values_per_condition",
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
_DOMAIN_NUMBERS = (
    "low",
    "high",
    "how",
    "same",
    "inputs",
    "impossible",
    "confidence",
)


def _ratio(part: int | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole
