"""The kinds of features: `Listed`, `Binned`, `Range` and `Curved`, `Grouped`.

A new kind is a class in this module, and a line in `kind_of`. Its checks are in
`feature_checks`; how cells are found follows from its methods (`lookup`).
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar

from nn2rules.errors import DomainError
from nn2rules.space.curve import Curve
from nn2rules.space.feature import Feature
from nn2rules.space.feature_checks import (
    check_special,
    check_within,
    checked_edges,
    checked_limits,
    edges_make,
)
from nn2rules.space.groups import Groups, checked_groups
from nn2rules.space.intervals import texts_of_parts
from nn2rules.space.lookup import UNKNOWN, Lookup
from nn2rules.space.values import (
    Value,
    next_number,
    plain_number,
    previous_number,
)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Listed(Feature):
    """Values that are listed: categories, or the numbers of a grid."""

    ordered: bool

    options: ClassVar = ("ordered", "labels", "other")
    kind: ClassVar = "a list of values"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Intervals(Feature):
    """Numbers in intervals: what bins and ranges have in common."""

    edges: tuple[float, ...]
    whole: bool

    @property
    def ordered(self) -> bool:
        """Intervals are in order."""
        return True

    @property
    def n_intervals(self) -> int:
        """The number of bins, or of parts of the range."""
        return len(self.edges) + 1

    def code_at(self, number: float) -> int:
        """Return the code of the interval that contains a finite number."""
        if self.whole and number != math.floor(number):
            return UNKNOWN
        return bisect_right(self.edges, number)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Binned(Intervals):
    """Numbers in bins: see `Feature.bins`."""

    options: ClassVar = ("ordered", "labels", "edges", "other", "whole")
    kind: ClassVar = "numbers in bins"

    def _check(self, subject: str) -> None:
        Feature._check(self, subject)
        if not len(self.edges):
            raise DomainError(f"{subject}: edges are one or more finite numbers")
        self._set("edges", checked_edges(subject, self.edges, whole=self.whole))
        if self._n_ordinary() != self.n_intervals:
            raise edges_make(subject, len(self.edges), self._n_ordinary())


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Range(Intervals):
    """All real, or all whole, numbers between two limits: see `Feature.real`.

    Its values are the parts into which `edges` cut it, and those beside it.
    """

    limits: tuple[float, float]

    options: ClassVar = ("ordered", "edges", "whole", "limits")
    kind: ClassVar = "a range"

    def _check(self, subject: str) -> None:
        self._set("limits", checked_limits(subject, self.limits, whole=self.whole))
        self._set("edges", checked_edges(subject, self.edges, whole=self.whole))
        if self._n_ordinary() < self.n_cells:
            raise edges_make(subject, len(self.edges), self._n_ordinary())
        check_within(subject, self.edges, self.limits)
        check_special(subject, self.beside, self.ends)

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest number that rows may hold."""
        return self.limits

    def has_same_numbers(self, other: Feature) -> bool:
        """Tell whether both have the same limits and the same kind of numbers."""
        if not isinstance(other, Range):
            return False
        return (self.limits, self.whole) == (other.limits, other.whole)

    @property
    def uncurved(self) -> "Range":
        """The range itself."""
        return self

    @property
    def n_cells(self) -> int:
        """The number of parts."""
        return len(self.edges) + 1

    @property
    def n_plain(self) -> int:
        """The number of parts: what follows is special, or missing."""
        return len(self.edges) + 1

    @property
    def listed_cells(self) -> list[tuple[int, Value]]:
        """The values beside the range: no cell is named by the text of a part."""
        return [*enumerate(self.values)][self.n_cells :]

    @property
    def places(self) -> dict[int, int]:
        """No value has a place: numbers of a range are compared themselves."""
        return {}

    @property
    def spans(self) -> list[tuple[float, float]]:
        """The first and the last number of each part.

        Examples
        --------
        >>> Feature.real("age", 17, 90, whole=True, edges=[25, 40]).spans
        [(17, 24), (25, 39), (40, 90)]
        """
        low, high = self.limits
        lasts = [self.before(edge) for edge in self.edges]
        return list(zip((low, *self.edges), (*lasts, high), strict=True))

    @property
    def counts(self) -> list[int] | None:
        """How many whole numbers each part has, and 1 for values beside the range."""
        if not self.whole:
            return None
        parts = [int(high) - int(low) + 1 for low, high in self.spans]
        return [*parts, *[1] * len(self.beside)]

    def code_at(self, number: float) -> int:
        """Return the code of the part that contains a finite number."""
        if not self.limits[0] <= number <= self.limits[1]:
            return UNKNOWN
        return Intervals.code_at(self, float(number))  # its numbers have 64 bits

    def after(self, number: float) -> float:
        """Return the next number of the range."""
        return next_number(number, whole=self.whole)

    def before(self, number: float) -> float:
        """Return the number of the range before another one."""
        return previous_number(number, whole=self.whole)

    def cut(self, edges: Sequence[float]) -> "Range":
        """Return the same range of numbers, cut elsewhere."""
        parts = texts_of_parts(*self.limits, edges)
        return replace(self, values=(*parts, *self.beside), edges=tuple(edges))

    def along(self, curve: Curve) -> "Curved":
        """Return this range, in one piece, as one of the values of a curve."""
        assert (self.limits, self.whole) == (curve.ends, curve.whole), "its own curve"
        return Curved(
            self.name,
            (*texts_of_parts(*curve.limits), *self.beside),
            edges=(),
            limits=curve.limits,
            not_missing=self.not_missing,
            curve=curve,
        )

    def cell_of(self, number: float) -> Value:
        """Return the cell of a row that has this number of the range."""
        return plain_number(number)

    def __repr__(self) -> str:
        special = [value for value in self.beside if value is not None]
        parts = [repr(self.name), *map(repr, self.limits)]
        parts += [f"edges={self.edges!r}"] if self.edges else []
        parts += ["whole=True"] if self.whole else []
        parts += [f"special={special!r}"] if special else []
        parts += ["missing=True"] if None in self.beside else []
        return f"Feature.real({', '.join(parts)})"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Curved(Range):
    """A range that a network reads along a curve: see `Range.along`.

    Its limits and edges are values of the curve; cells of rows hold the numbers.
    """

    curve: Curve

    options: ClassVar = ("ordered", "edges", "limits", "curve")
    kind: ClassVar = "a range along a curve"

    def _check(self, subject: str) -> None:
        if self.limits != self.curve.limits:
            raise DomainError(f"{subject}: its range is not that of its curve")
        Range._check(self, subject)

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest number that rows may hold."""
        return self.curve.ends

    @property
    def uncurved(self) -> Range:
        """The range of numbers that rows hold, uncut."""
        curve = self.curve
        plain = Feature.real(self.name, *curve.ends, whole=curve.whole)
        values = (*plain.values, *self.beside)
        return replace(plain, values=values, not_missing=self.not_missing)

    @property
    def spans(self) -> list[tuple[float, float]]:
        """The first and the last number of each part.

        Examples
        --------
        >>> Feature.real("age", 17, 90, whole=True, edges=[25, 40]).spans
        [(17, 24), (25, 39), (40, 90)]
        """
        low, high = self.limits
        lasts = [self.before(edge) for edge in self.edges]
        return list(zip((low, *self.edges), (*lasts, high), strict=True))

    @property
    def counts(self) -> list[int] | None:
        """How many whole numbers each part has, and 1 for values beside the range."""
        if not self.whole:
            return None
        parts = [int(high) - int(low) + 1 for low, high in self.spans]
        return [*parts, *[1] * len(self.beside)]

    def code_at(self, number: float) -> int:
        """Return the code of the part that contains a finite number of a row."""
        if not self.curve.takes(number):
            return UNKNOWN
        return Range.code_at(self, self.curve(float(number)))

    def position(self, number: float) -> float:
        """Return the value of the curve at a number of a row."""
        return self.curve(number)

    def cell_of(self, number: float) -> Value:
        """Return a number of a row at which the curve has this value."""
        found = self.curve.number_at(number)
        if found is None:
            raise DomainError(
                f"feature {self.name!r}: the curve {self.curve.shape.kind} has the "
                f"value {number} at no 64-bit number"
            )
        return plain_number(found)

    def __repr__(self) -> str:
        return f"{Range.__repr__(self)[:-1]}, curve={self.curve!r})"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Grouped(Feature):
    """Categories in groups, with a value for each group: see `Feature.grouped`."""

    groups: Groups

    options: ClassVar = ("other", "groups")
    kind: ClassVar = "groups of categories"

    def _check(self, subject: str) -> None:
        Feature._check(self, subject)
        groups = checked_groups(subject, self.groups, self.values, self.other)
        self._set("groups", groups)
        lookup = Lookup(self)
        for code, value in enumerate(self.values):
            if lookup[value] != code:  # rows would not find the group by its name
                raise DomainError(
                    f"{subject}: {value!r} cannot name a group, since a cell that "
                    f"holds it is something else; name it by another text"
                )

    def categories_at(self, code: int) -> tuple[Value, ...]:
        """Return the categories of the group at this code."""
        return self.groups[code]

    @property
    def categories(self) -> tuple[Value, ...]:
        """The categories of all groups."""
        return (*chain(*self.groups),)

    @property
    def joins_categories(self) -> bool:
        """Whether a value is not the one category that rows hold for it."""
        return any(
            group and (group != (value,) or value == self.other)
            for value, group in zip(self.values, self.groups, strict=True)
            if value is not None
        )

    @property
    def listed_cells(self) -> list[tuple[int, Value]]:
        """Each category, with the code of its group."""
        groups = enumerate(self.groups)
        return [(code, category) for code, group in groups for category in group]

    @property
    def names_of_groups(self) -> dict[object, int]:
        """The code of each group, by its name."""
        return {v: code for code, v in enumerate(self.values) if isinstance(v, str)}


def kind_of(subject: str, given: dict[str, Any]) -> type[Feature]:
    """Return the kind that the options of `Feature` describe."""
    if given["groups"] is not None:
        return Grouped
    is_range = given["limits"] is not None
    if given["edges"] is None:
        if is_range:
            raise DomainError(f"{subject}: a range has edges, and no labels")
        if given["whole"]:
            raise DomainError(f"{subject}: bins of whole numbers have whole edges")
        return Listed
    if not given["ordered"]:
        raise DomainError(f"{subject}: bins are ordered")
    if given["curve"] is not None:
        return Curved
    return Range if is_range else Binned
