"""The kinds of features: a feature is `Listed`, `Binned`, a `Range` or `Grouped`.

- `Listed`: categories, or the numbers of a grid. A value is what a cell holds.
- `Binned`: numbers in bins, so that every number belongs to a value.
- `Range`: all real, or all whole, numbers from a minimum to a maximum. A network
  distinguishes each from the others; the edges are only where rules cut the range.
- `Curved`: a range that a network reads along a curve, such as a logarithm.
- `Grouped`: categories in groups, with a value for each group.

Other code asks a method, or ``isinstance(feature, Range)``. It never infers the kind
from an option. A new kind is a class in this module, with its checks in
`feature_checks`; how its cells are found follows from its methods (`lookup`).
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any, ClassVar, Self

from nn2rules.errors import DomainError
from nn2rules.space.curve import Curve
from nn2rules.space.feature_checks import (
    check_special,
    check_within,
    checked_edges,
    checked_labels,
    checked_limits,
    checked_spellings,
    edges_make,
    refuse_options,
)
from nn2rules.space.groups import Groups, checked_groups, group_names, listed_groups
from nn2rules.space.intervals import texts_of_bins, texts_of_parts
from nn2rules.space.lookup import UNKNOWN, Lookup
from nn2rules.space.values import (
    Value,
    checked_values,
    is_number,
    next_number,
    plain_number,
    previous_number,
    spelling_of,
)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Feature:
    """One input of a model: a name and its values, in encoding order.

    `Feature` itself is never built: calling it returns the kind that its options
    describe. Most users call it for values that are listed, and `Feature.bins`,
    `Feature.real` and `Feature.grouped` for the other kinds.

    Parameters
    ----------
    name : str
        The column of the user's data.
    values : sequence of str, int, float, bool or None
        Every value the feature can take; None means missing.
    ordered : bool
        Whether the values are in their natural order, so that rules may use ranges of
        them. A value for missing, and the one for others, are outside of this order.
    labels : sequence of str, optional
        What rules print instead of the values, one for each.
    edges : sequence of numbers, optional
        The values are bins of numbers: the first holds the numbers below ``edges[0]``,
        the next those from there to below ``edges[1]``, and so on. See `bins`.
    other : str, optional
        The value that every value not listed belongs to; of groups, every category in
        none of them, beside the categories of its own.
    whole : bool
        Of bins: whether the numbers are whole. Others are unknown values.
    limits : (float, float), optional
        The bins are parts of a closed range of real numbers, or of `whole` ones: see
        `real`. Numbers outside of it are unknown values.
    groups : sequence of sequences of categories, optional
        The values are groups of categories, these one for each value: see `grouped`.
    not_missing : sequence of str
        Those of `SPELLINGS`, ways to write a missing cell, that the model distinguishes
        from its missing value. A row that holds one has an unknown value.
    curve : Curve, optional
        Of a range that a network reads along a curve: `limits`, and the edges, are of
        its values, and cells of rows hold the numbers. See `Range.along`.

    Examples
    --------
    >>> Feature("size", ["small", "medium", "big"], ordered=True)
    Feature('size', ('small', 'medium', 'big'), ordered=True)
    """

    name: str
    values: tuple[Value, ...]
    labels: tuple[str, ...] | None
    other: str | None
    not_missing: tuple[str, ...] = field(compare=False)

    options: ClassVar[tuple[str, ...]] = ()
    """The options that a kind takes, besides `name`, `values` and `not_missing`."""

    described: ClassVar[str] = ""
    """How messages describe a feature of this kind."""

    def __new__(
        cls,
        name: str,
        values: Sequence[Value],
        ordered: bool = False,
        labels: Sequence[str] | None = None,
        edges: Sequence[float] | None = None,
        other: str | None = None,
        whole: bool = False,
        limits: tuple[float, float] | None = None,
        groups: Sequence[Sequence[Value]] | None = None,
        not_missing: Sequence[str] = (),
        curve: Curve | None = None,
    ) -> Self:
        """Return a checked feature of the kind that the options describe."""
        if not isinstance(name, str):
            raise DomainError(f"a feature's name is a string, not {name!r}")
        given: dict[str, Any] = {
            "ordered": ordered,
            "labels": labels,
            "edges": edges,
            "other": other,
            "whole": whole,
            "limits": limits,
            "groups": groups,
            "curve": curve,
        }
        subject = f"feature {name!r}"
        kind = _kind_of(subject, given) if cls is Feature else cls
        refuse_options(subject, kind.described, given, kind.options)
        feature: Any = object.__new__(kind)
        given |= {"name": name, "values": checked_values(subject, values)}
        given["not_missing"] = checked_spellings(subject, not_missing)
        for one in fields(feature):
            object.__setattr__(feature, one.name, given[one.name])
        feature._check(subject)
        return feature  # type: ignore[no-any-return]

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]:
        """Return what copies and pickles call the class with."""
        return (), {one.name: getattr(self, one.name) for one in fields(self)}

    def _check(self, subject: str) -> None:
        """Refuse options that do not fit each other; store their final form."""
        if self.labels is not None:
            self._set("labels", checked_labels(subject, self.labels, self.values))
        if self.other is not None and self.other not in self.values:
            raise DomainError(
                f"{subject}: {self.other!r} stands for other values, but is not a value"
            )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    # ------------------------------------------------------------- making features

    @staticmethod
    def bins(
        name: str,
        edges: Sequence[float],
        *,
        missing: bool = False,
        whole: bool = False,
    ) -> "Binned":
        """Return a feature whose values are bins of numbers, or of `whole` ones.

        Examples
        --------
        >>> Feature.bins("age", [25, 40]).values
        ('(-inf, 25)', '[25, 40)', '[40, inf)')
        """
        values = [*texts_of_bins(edges), *([None] if missing else [])]
        return Binned(name, values, edges=tuple(edges), whole=whole)

    @staticmethod
    def real(
        name: str,
        low: float,
        high: float,
        *,
        edges: Sequence[float] = (),
        whole: bool = False,
        special: Sequence[Value] = (),
        missing: bool = False,
    ) -> "Range":
        """Return a feature of real numbers, or of `whole` ones, from `low` to `high`.

        Values beside the range, such as a 999 for *unknown*, are `special`.

        Examples
        --------
        >>> Feature.real("age", 17, 90, whole=True, edges=[25, 40]).values
        ('[17, 25)', '[25, 40)', '[40, 90]')
        """
        values = [*texts_of_parts(low, high, edges), *special]
        values += [None] if missing else []
        return Range(name, values, edges=tuple(edges), whole=whole, limits=(low, high))

    @staticmethod
    def grouped(
        name: str,
        groups: Sequence[Sequence[Value]],
        *,
        other: int | None = None,
        missing: bool = False,
    ) -> "Grouped":
        """Return a feature whose values are groups of categories.

        A group of one category has it as its value; a larger group is named by all its
        categories. Missing belongs to the group that has None among its categories, or,
        with `missing`, is a value of its own. Categories in no group belong to the one
        at position `other`, which may be empty otherwise; without `other` they are
        unknown values.

        Examples
        --------
        >>> Feature.grouped("job", [["clerk", "cook"], ["judge"]], missing=True).values
        ('clerk, cook', 'judge', None)
        >>> Feature.grouped("job", [["clerk", None], ["judge"], []], other=2).values
        ('clerk, missing', 'judge', 'other')
        """
        subject = f"feature {name!r}"
        listed = listed_groups(subject, groups)
        if missing:
            listed = listed_groups(subject, (*listed, (None,)))
        if other is not None:
            n_groups = len(listed) - missing
            is_place = isinstance(other, int) and not isinstance(other, bool)
            if not is_place or not -n_groups <= other < n_groups:
                raise DomainError(
                    f"{subject}: other is {other!r}, expected the position of a group, "
                    f"0 to {n_groups - 1}"
                )
            other %= n_groups
        values = group_names(listed, other)
        name_of_other = None if other is None else str(values[other])
        return Grouped(name, values, other=name_of_other, groups=listed)

    # ------------------------------------------------------------- what a kind answers

    @property
    def ordered(self) -> bool:
        """Whether the values are in their natural order."""
        return False

    @property
    def whole(self) -> bool:
        """Whether the values are bins, or a range, of whole numbers."""
        return False

    @property
    def n_intervals(self) -> int:
        """How many values are intervals of numbers: bins, or parts of a range."""
        return 0

    @property
    def n_cells(self) -> int:
        """How many values are parts of a range; they come before all others."""
        return 0

    @property
    def n_plain(self) -> int:
        """How many values come before those for missing, others, and special ones."""
        return self._n_ordinary()

    def categories_at(self, code: int) -> tuple[Value, ...]:  # noqa: ARG002
        """Return the categories of the group at this code; none without groups."""
        return ()

    @property
    def joins_words(self) -> bool:
        """Whether a value is not the one category that rows hold for it."""
        return False

    @property
    def listed_cells(self) -> list[tuple[int, Value]]:
        """Each cell that is listed, with the code of its value."""
        return [*enumerate(self.values)]

    @property
    def names_of_groups(self) -> dict[object, int]:
        """The code of each group, by its name."""
        return {}

    def code_at(self, number: float) -> int:  # noqa: ARG002
        """Return the code of the interval that contains a finite number."""
        return UNKNOWN

    def position(self, number: float) -> float:
        """Return the number by which a network multiplies: the curve's, or itself."""
        return number

    @property
    def uncurved(self) -> "Feature":
        """The feature as rows hold it: of a curve the range of numbers, uncut."""
        return self

    @property
    def counts(self) -> list[int] | None:
        """How many inputs each value stands for, each whole number of a range counted.

        None for a range of real numbers.
        """
        return [1] * len(self.values)

    @property
    def edges(self) -> tuple[float, ...] | None:
        """Where bins, or parts of a range, begin; None for other kinds."""
        return None

    @property
    def limits(self) -> tuple[float, float] | None:
        """The ends of a range; None for other kinds."""
        return None

    @property
    def groups(self) -> Groups | None:
        """The categories of each group; None for other kinds."""
        return None

    @property
    def curve(self) -> Curve | None:
        """The curve that a network reads a range along; None for other kinds."""
        return None

    # ------------------------------------------------------------- all kinds alike

    @property
    def other_code(self) -> int:
        """The code of the value for others; -1 if there is none."""
        return UNKNOWN if self.other is None else self.values.index(self.other)

    def is_other(self, value: object) -> bool:
        """Tell whether a value is the one for others."""
        return self.other is not None and value == self.other

    def is_ordinary(self, value: object) -> bool:
        """Tell whether a value is neither missing nor the one for others."""
        return value is not None and not self.is_other(value)

    @property
    def beside(self) -> tuple[Value, ...]:
        """The last values: special ones of a range, the one for others, missing."""
        return self.values[self.n_plain :]

    @property
    def words(self) -> tuple[Value, ...]:
        """What cells may hold, as far as it is listed: the categories of all groups.

        Without groups, the values.
        """
        return self.values

    @property
    def places(self) -> dict[int, int]:
        """The place in the order of each value that has one, by its code.

        Numbers are sorted by size, in any order of the list, and all else keeps the
        order of the list. Missing and others have no place, and a range needs none.

        Examples
        --------
        >>> Feature("rooms", (3, 1, 2, None), ordered=True).places
        {1: 0, 2: 1, 0: 2}
        """
        plain: list[tuple[int, Any]] = [
            (code, value)
            for code, value in enumerate(self.values)
            if self.is_ordinary(value)
        ]
        if all(is_number(value) for _, value in plain):
            plain.sort(key=lambda pair: pair[1])
        return {code: place for place, (code, _) in enumerate(plain)}

    @property
    def has_numbers(self) -> bool:
        """Whether the values are numbers in order, or bins of them."""
        return self.ordered and (
            self.n_intervals > 0
            or all(is_number(value) for value in self.values[: self.n_plain])
        )

    def refuses(self, cell: object) -> bool:
        """Tell whether a cell is missing in a spelling that is not accepted here."""
        if spelling_of(cell) not in self.not_missing:
            return False
        return not (isinstance(cell, str) and cell in self.words)

    @property
    def cells(self) -> tuple[Value, ...]:
        """The values as cells of a row: missing in a spelling that is accepted."""
        return tuple(map(self.accepted, self.values))

    def accepted(self, cell: Value) -> Value:
        """Return a cell; if it is missing, then in a spelling that is accepted."""
        if not self.refuses(cell):
            return cell
        return math.nan if "None" in self.not_missing else None

    def _n_ordinary(self) -> int:
        """Return how many values come before those for missing and for others."""
        size = len(self.values)
        while size and not self.is_ordinary(self.values[size - 1]):
            size -= 1
        return size

    def __repr__(self) -> str:
        parts = [repr(self.name), repr(self.values)]
        parts += ["ordered=True"] if self.ordered else []
        for name in ("labels", "edges", "other", "groups"):
            option = getattr(self, name, None)
            parts += [f"{name}={option!r}"] if option is not None else []
        parts += ["whole=True"] if self.whole else []
        return f"Feature({', '.join(parts)})"

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Listed(Feature):
    """Values that are listed: categories, or the numbers of a grid."""

    ordered: bool

    options: ClassVar = ("ordered", "labels", "other")
    described: ClassVar = "has a list of values"


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
    described: ClassVar = "has bins of numbers"

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
    described: ClassVar = "has a range of numbers"

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
    described: ClassVar = "has a range along a curve"

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
    described: ClassVar = "has groups of words"

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
    def words(self) -> tuple[Value, ...]:
        """The categories of all groups."""
        return (*chain(*self.groups),)

    @property
    def joins_words(self) -> bool:
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


def _kind_of(subject: str, given: dict[str, Any]) -> type[Feature]:
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
