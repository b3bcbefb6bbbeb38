"""The result of a comparison: equal, or rules that show where two models differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.extraction import most_first
from nn2rules.language import unused
from nn2rules.output import Backend, Document, Result, frame_of, text_of
from nn2rules.questions.compare.differences import (
    DifferenceBoxes,
    DifferentRows,
    EngineResult,
    Pair,
)
from nn2rules.questions.compare.page import (
    change_text,
    columns_of,
    document_of,
    json_of,
    labels_of_pair,
)
from nn2rules.rules import Facts, RuleList, Top
from nn2rules.space import (
    Condition,
    Domain,
    Value,
    cut_codes,
    inside_each,
    number_sizes,
)


@dataclass(frozen=True, slots=True)
class Difference:
    """A rule: wherever its conditions hold, these are the old and the new prediction.

    Attributes
    ----------
    name : str
    conditions : tuple of Condition
        In the order of the features; a feature without a condition is unrestricted.
    old, new : class label, or None
        None for *no rule*: the compared rules claim nothing there.
    inputs : int or None
        The number of inputs that it covers, if they can be counted.
    rows : int or None
        The number of rows that it covers, if there are rows.
    """

    name: str
    conditions: tuple[Condition, ...]
    old: Value
    new: Value
    inputs: int | None
    rows: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """How often an old prediction became a new one; see `Difference`."""

    old: Value
    new: Value
    inputs: int | None
    rows: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Whether two models predict the same, and where they do not.

    Attributes
    ----------
    domain : Domain
        The domain on which they were compared.
    labels : tuple of class labels
        The classes of both.
    notes : tuple of str
        How the two differ in classes or features, and where rules claim nothing.
    counterexample : dict from features to values, or None
        An input on which they differ: a row of the data, if one does.
    predictions : (old, new), or None
        The predictions for it; None where no rule covers it.
    covered_only : bool
        Whether inputs that rules do not cover were left out.
    """

    domain: Domain
    labels: tuple[Value, ...]
    notes: tuple[str, ...]
    counterexample: dict[str, Value] | None
    predictions: tuple[Value, Value] | None
    covered_only: bool
    _found: EngineResult
    _rows: DifferentRows | None

    @property
    def equal(self) -> bool | None:
        """Whether both predict the same on every input (proved); None if undecided."""
        return self._found.equal

    @property
    def how(self) -> str:
        """How that is known: "table", "search", "regions", "weights" or "rules"."""
        return self._found.how

    @property
    def inputs(self) -> int | None:
        """The number of inputs on which they differ; None if not known or countable."""
        counts = self._found.inputs
        if counts is None or self.n_inputs is None:
            return None
        return sum(counts.values())

    @property
    def at_least(self) -> int:
        """The minimum number of inputs that differ."""
        return self._found.at_least

    @property
    def n_inputs(self) -> int | None:
        """The number of inputs on which they were compared; None for real numbers."""
        return self.domain.n_numbers

    @property
    def rows(self) -> int | None:
        """The number of rows of the data on which they differ, if there are rows."""
        return None if self._rows is None else int(self._rows.weights.sum())

    @property
    def n_rows(self) -> int | None:
        """The number of rows compared."""
        return None if self._rows is None else self._rows.n_rows

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Which old predictions became which new ones, and how often.

        If inputs are not counted, these are the changes that were seen.
        """
        counts = self._found.inputs
        rows: dict[Pair, int] = {}
        if self._rows is not None:
            for pair, weight in zip(
                self._rows.pairs, self._rows.weights.tolist(), strict=True
            ):
                rows[pair] = rows.get(pair, 0) + weight
        seen = {*(counts or ()), *rows}
        if counts is None and self.equal is False:
            seen |= {*self._covering.pairs}
        is_counted = counts is not None and self.n_inputs is not None
        return tuple(
            Change(
                *labels_of_pair(self.labels, pair),
                (counts or {}).get(pair, 0) if is_counted else None,
                None if self._rows is None else rows.get(pair, 0),
            )
            for pair in sorted(seen)
        )

    @cached_property
    def _covering(self) -> DifferenceBoxes:
        return self._found.covering()

    @property
    def complete(self) -> bool:
        """Whether the rules cover every input on which the two differ."""
        return self._covering.is_complete

    @cached_property
    def rules(self) -> tuple[Difference, ...]:
        """Where they differ: few rules that each hold on their own, in any order.

        They are made on first use. The rules of a change are next to each other, those
        that cover most rows or inputs first.
        """
        rule_list = self.rule_list
        if rule_list is None:
            return ()
        order = self._order
        pairs = [
            labels_of_pair(self.labels, self._covering.pairs[index]) for index in order
        ]
        return tuple(
            Difference(rule.name, rule.conditions, *pair, rule.inputs, rule.support)
            for rule, pair in zip(rule_list.rules, pairs, strict=True)
        )

    def _labels_of(self, index: int) -> tuple[Value, Value]:
        """Return the old and the new label of a box."""
        return labels_of_pair(self.labels, self._covering.pairs[index])

    @cached_property
    def rule_list(self) -> RuleList | None:
        """The same rules as a `RuleList` whose classes are changes.

        Rows that no rule covers get "same" if the rules are complete; otherwise nothing
        is claimed about them. None if there are no rules.
        """
        covering, order = self._covering, self._order
        if not len(order):
            return None
        pairs = sorted(set(covering.pairs))
        texts = [change_text(*labels_of_pair(self.labels, pair)) for pair in pairs]
        same = unused("same", texts)
        rows, sizes = self._rows_held, self._sizes
        return RuleList.from_boxes(
            covering.domain,
            covering.boxes[order],
            [1 + pairs.index(covering.pairs[index]) for index in order],
            same,
            (same, *texts),
            form="set",
            scope="domain" if covering.is_complete else "support",
            facts=[
                Facts(
                    inputs=None if sizes is None else sizes[index],
                    support=None if rows is None else rows[index],
                )
                for index in order
            ],
        )

    @cached_property
    def _sizes(self) -> list[int] | None:
        return number_sizes(self._covering.domain, self._covering.boxes)

    @cached_property
    def _held(self) -> list[NDArray[np.bool_]] | None:
        """Which of the differing rows each box contains; it contains no others."""
        if self._rows is None:
            return None
        covering, codes = self._covering, self._rows.codes
        if self._rows.numbers is not None:
            codes = cut_codes(covering.domain, codes, self._rows.numbers)
        return [*inside_each(covering.domain, covering.boxes, codes)]

    @property
    def _rows_held(self) -> list[int] | None:
        if self._held is None or self._rows is None:
            return None
        return [int(self._rows.weights[held].sum()) for held in self._held]

    @cached_property
    def _order(self) -> list[int]:
        """The order of the boxes: by change, then by the number of rows or inputs."""
        covering, sizes = self._covering, self._sizes
        widths: Sequence[int] = covering.boxes.sum(axis=1).tolist()
        by_size = sorted(
            range(len(covering.boxes)),
            key=lambda index: -(sizes or widths)[index],
        )
        if self._held is not None and self._rows is not None:
            held = [self._held[index] for index in by_size]
            by_size = [by_size[i] for i in most_first(held, self._rows.weights)]
        return sorted(by_size, key=lambda index: covering.pairs[index])

    def text(self, top: Top = "most", *, width: int = 80) -> str:
        """Return what ``print(comparison)`` shows.

        Parameters
        ----------
        top : "most", "all" or int
            For each change, the first rules, all of them, or this many.
        width : int
            The maximum width of lines.
        """
        return text_of(self.document(top), width)

    def document(self, top: Top = "most") -> Document:
        """Return the page, with the `top` rules of each change."""
        return document_of(self, top)

    def __repr__(self) -> str:
        words = {True: "equal", False: "different", None: "undecided"}
        return f"<Comparison: {words[self.equal]}>"

    def to_dict(self) -> Mapping[str, Any]:
        """Return the comparison as plain values."""
        return json_of(self)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each rule.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame; it must be installed.
        """
        return frame_of(lambda: columns_of(self), backend)
