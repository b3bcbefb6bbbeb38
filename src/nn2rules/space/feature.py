"""One feature: its name, its values, and which value a cell of data is.

Most features have values that are listed: words, or the numbers of a grid. A feature
with `edges` has numbers put into bins, so every number belongs to a value. A feature
with `limits` is a range of real numbers: a network tells each of them from the others,
and the edges are only where rules cut it. A feature with `groups` has words put into
groups, as bins have numbers, and a value for each group.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np

from nn2rules.errors import DomainError
from nn2rules.space.curve import Curve
from nn2rules.space.groups import Groups, checked_groups, group_names, listed_groups
from nn2rules.space.values import (
    SPELLINGS,
    Value,
    checked_values,
    edge_text,
    is_missing,
    is_missing_text,
    is_number,
    number_of,
    number_texts,
    plain_number,
    spelling_of,
    text_of,
)

UNKNOWN = -1
"""The code of a value that its feature does not have."""

_MOST_WHOLE = 1 << 53


@dataclass(frozen=True, slots=True)
class Feature:
    """One categorical input: a name and its values, in encoding order.

    Parameters
    ----------
    name : str
        The column of the user's data.
    values : sequence of str, int, float, bool or None
        Every value the feature can take; None means missing.
    ordered : bool
        Whether the values are in their natural order, so that rules may speak of
        ranges. A value for missing, and the one for others, stand outside of it.
    labels : sequence of str, optional
        What rules print instead of the values, one for each.
    edges : sequence of numbers, optional
        The values are bins of numbers: the first holds the numbers below ``edges[0]``,
        the next those from there to below ``edges[1]``, and so on. See `bins`.
    other : str, optional
        The value that stands for every value not listed; of groups, for every word in
        none of them, beside the words of its own.
    whole : bool
        Of bins: whether the numbers are whole. Others are unknown values.
    limits : (float, float), optional
        The bins are parts of a closed range of real numbers, or of `whole` ones: see
        `real`. Numbers outside of it are unknown values.
    groups : sequence of sequences of words, optional
        The values are groups of words, these one for each value: see `grouped`.
    not_missing : sequence of str
        Those of `SPELLINGS`, ways to write a missing cell, that the model tells from
        its missing value. A row that holds one has an unknown value.
    curve : Curve, optional
        Of a range that a network reads along a curve: `limits`, and the edges, are of
        its values, and cells of rows hold the numbers. See `along`.

    Examples
    --------
    >>> Feature("size", ["small", "medium", "big"], ordered=True)
    Feature('size', ('small', 'medium', 'big'), ordered=True)
    """

    name: str
    values: tuple[Value, ...]
    ordered: bool = False
    labels: tuple[str, ...] | None = None
    edges: tuple[float, ...] | None = None
    other: str | None = None
    whole: bool = False
    limits: tuple[float, float] | None = None
    groups: Groups | None = None
    not_missing: tuple[str, ...] = field(default=(), compare=False)
    curve: Curve | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise DomainError(f"a feature's name is a string, not {self.name!r}")
        kind = f"feature {self.name!r}"
        object.__setattr__(self, "values", checked_values(kind, self.values))
        if self.labels is not None:
            object.__setattr__(self, "labels", self._checked_labels(kind))
        if self.limits is not None:
            object.__setattr__(self, "limits", self._checked_limits(kind))
        if self.curve is not None and (self.whole or self.limits != self.curve.limits):
            raise DomainError(f"{kind}: its range is not that of its curve")
        if self.edges is not None:
            object.__setattr__(self, "edges", self._checked_edges(kind))
        if self.other is not None and self.other not in self.values:
            raise DomainError(
                f"{kind}: {self.other!r} stands for other values, but is not a value"
            )
        edges = [""] if self.edges is None else self.edges
        if self.whole and not all(isinstance(edge, int) for edge in edges):
            raise DomainError(f"{kind}: bins of whole numbers have whole edges")
        if self.groups is not None:
            object.__setattr__(self, "groups", self._checked_groups(kind))
            self._check_names(kind)
        object.__setattr__(self, "not_missing", tuple(self.not_missing))
        for spelling in self.not_missing:
            if spelling not in SPELLINGS:
                raise DomainError(
                    f"{kind}: {spelling!r} is not a spelling of missing; expected "
                    f"some of {', '.join(SPELLINGS)}"
                )

    def _checked_groups(self, kind: str) -> Groups:
        for name in ("ordered", "labels", "edges", "whole", "limits"):
            if getattr(self, name) not in (None, False):
                raise DomainError(f"{kind} has groups of words, and no {name!r}")
        return checked_groups(kind, self.groups, self.values, self.other)

    def _check_names(self, kind: str) -> None:
        """Refuse a value by which rows would not find its own group."""
        lookup = Lookup(self)
        for code, value in enumerate(self.values):
            if lookup[value] != code:
                raise DomainError(
                    f"{kind}: {value!r} cannot name a group, since a cell that holds "
                    f"it is something else; name it by another text"
                )

    def _checked_labels(self, kind: str) -> tuple[str, ...]:
        assert self.labels is not None, "asked only for labels that are there"
        labels = tuple(str(label) for label in self.labels)
        if len(labels) != len(self.values):
            raise DomainError(
                f"{kind} has {len(labels)} labels, expected {len(self.values)}, "
                f"one for each value"
            )
        if len(set(labels)) != len(labels):
            raise DomainError(f"{kind} repeats a label")
        return labels

    def _checked_edges(self, kind: str) -> tuple[float, ...]:
        assert self.edges is not None, "asked only for edges that are there"
        edges = tuple(e.item() if isinstance(e, np.generic) else e for e in self.edges)
        is_finite = all(is_number(e) and math.isfinite(e) for e in edges)
        if not is_finite or (not edges and self.limits is None):
            raise DomainError(f"{kind}: edges are one or more finite numbers")
        edges = tuple(plain_number(edge) for edge in edges)
        if any(a >= b for a, b in pairwise(edges)):
            raise DomainError(f"{kind}: each edge must be larger than the one before")
        n_listed = self._n_ordered()
        is_short = n_listed < len(edges) + 1
        if is_short or (self.limits is None and n_listed != len(edges) + 1):
            raise DomainError(
                f"{kind}: {len(edges)} edges make {len(edges) + 1} ordered values, "
                f"found {n_listed}"
            )
        if not self.ordered:
            raise DomainError(f"{kind}: bins are ordered")
        if self.limits is not None and edges:
            low, high = self.limits
            if not low < edges[0] or not edges[-1] <= high:
                raise DomainError(f"{kind}: its edges lie outside of {low} to {high}")
        return edges

    def _checked_limits(self, kind: str) -> tuple[float, float]:
        assert self.limits is not None, "asked only for limits that are there"
        limits = tuple(
            e.item() if isinstance(e, np.generic) else e for e in self.limits
        )
        if len(limits) != 2 or not all(is_number(e) for e in limits):
            raise DomainError(f"{kind}: a range has two ends, both numbers")
        low, high = (plain_number(float(end)) for end in limits)
        if not -math.inf < low <= high < math.inf:
            raise DomainError(
                f"{kind}: a range goes from a finite number to one that is not "
                f"smaller, not from {limits[0]} to {limits[1]}"
            )
        if (low, high) != limits:
            raise DomainError(f"{kind}: the ends of its range are not 64-bit numbers")
        if self.whole and not (float(low).is_integer() and float(high).is_integer()):
            raise DomainError(f"{kind}: a range of whole numbers has whole ends")
        if self.edges is None or self.labels is not None:
            raise DomainError(f"{kind}: a range has edges, and no labels")
        if self.whole and max(abs(low), abs(high)) > _MOST_WHOLE:
            raise DomainError(
                f"{kind}: a range of whole numbers ends within ±2**53, beyond which "
                f"not every whole number is a 64-bit number"
            )
        first, last = (low, high) if self.curve is None else self.curve.ends
        for value in self.values[len(self.edges) + 1 :]:
            if is_number(value) and first <= value <= last:  # type: ignore[operator]
                raise DomainError(
                    f"{kind}: the special value {value} lies in its range from {first} "
                    f"to {last}"
                )
        return low, high

    @classmethod
    def bins(
        cls,
        name: str,
        edges: tuple[float, ...],
        *,
        missing: bool = False,
        whole: bool = False,
    ) -> "Feature":
        """Return a feature whose values are bins of numbers, or of `whole` ones.

        Examples
        --------
        >>> Feature.bins("age", [25, 40]).values
        ('(-inf, 25)', '[25, 40)', '[40, inf)')
        """
        ends = [edge_text(edge) for edge in edges]
        lows = ["(-inf", *(f"{'(' if strict else '['}{end}" for end, strict in ends)]
        highs = [*(f"{end}{']' if strict else ')'}" for end, strict in ends), "inf)"]
        values = [f"{low}, {high}" for low, high in zip(lows, highs, strict=True)]
        return cls(
            name,
            (*values, None) if missing else tuple(values),
            ordered=True,
            edges=tuple(edges),
            whole=whole,
        )

    @classmethod
    def real(
        cls,
        name: str,
        low: float,
        high: float,
        *,
        edges: Sequence[float] = (),
        whole: bool = False,
        special: Sequence[Value] = (),
        missing: bool = False,
    ) -> "Feature":
        """Return a feature of real numbers, or of `whole` ones, from `low` to `high`.

        Values beside the range, such as a 999 for *unknown*, are `special`.

        Examples
        --------
        >>> Feature.real("age", 17, 90, whole=True, edges=[25, 40]).values
        ('[17, 25)', '[25, 40)', '[40, 90]')
        """
        ends = [edge_text(edge) for edge in edges]
        first, last = str(plain_number(low)), str(plain_number(high))
        lows = [
            f"[{first}",
            *(f"{'(' if strict else '['}{end}" for end, strict in ends),
        ]
        highs = [
            *(f"{end}{']' if strict else ')'}" for end, strict in ends),
            f"{last}]",
        ]
        cells = [f"{low}, {high}" for low, high in zip(lows, highs, strict=True)]
        return cls(
            name,
            (*cells, *special, *([None] if missing else [])),
            ordered=True,
            edges=tuple(edges),
            whole=whole,
            limits=(low, high),
        )

    @classmethod
    def grouped(
        cls,
        name: str,
        groups: Sequence[Sequence[Value]],
        *,
        other: int | None = None,
        missing: bool = False,
    ) -> "Feature":
        """Return a feature whose values are groups of words.

        A group of one word has it as its value; that of several is named by them all.
        Missing belongs to the group that has None among its words, or, with `missing`,
        is a value of its own. Words in no group belong to the one at position `other`,
        which may be empty otherwise; without any they are unknown values.

        Examples
        --------
        >>> Feature.grouped("job", [["clerk", "cook"], ["judge"]], missing=True).values
        ('clerk, cook', 'judge', None)
        >>> Feature.grouped("job", [["clerk", None], ["judge"], []], other=2).values
        ('clerk, missing', 'judge', 'other')
        """
        kind = f"feature {name!r}"
        found = listed_groups(kind, groups)
        if missing:
            found = listed_groups(kind, (*found, (None,)))
        if other is not None:
            given = len(found) - missing
            is_place = isinstance(other, int) and not isinstance(other, bool)
            if not is_place or not -given <= other < given:
                raise DomainError(
                    f"{kind}: other is {other!r}, expected the position of a group, "
                    f"0 to {given - 1}"
                )
            other %= given
        values = group_names(found, other)
        stands = None if other is None else str(values[other])
        return cls(name, values, other=stands, groups=found)

    def cut(self, edges: Sequence[float]) -> "Feature":
        """Return the same range of numbers, cut elsewhere."""
        assert self.limits is not None, "asked only of ranges"
        made = Feature.real(self.name, *self.limits, edges=edges, whole=self.whole)
        rest = self.values[self.n_plain :]
        return replace(
            made,
            values=(*made.values, *rest),
            not_missing=self.not_missing,
            curve=self.curve,
        )

    def along(self, curve: Curve) -> "Feature":
        """Return this range, in one piece, as one of the values of a curve."""
        assert (self.limits, self.whole) == (curve.ends, curve.whole), "its own curve"
        made = Feature.real(self.name, *curve.limits)
        rest = self.values[self.n_plain :]
        return replace(
            made,
            values=(*made.values, *rest),
            not_missing=self.not_missing,
            curve=curve,
        )

    @property
    def uncurved(self) -> "Feature":
        """The feature as rows hold it: of a curve the range of numbers, uncut."""
        if self.curve is None:
            return self
        made = Feature.real(self.name, *self.curve.ends, whole=self.curve.whole)
        rest = self.values[self.n_plain :]
        return replace(made, values=(*made.values, *rest), not_missing=self.not_missing)

    def cell_of(self, number: float) -> Value:
        """Return the cell of a row that has this number of the range."""
        if self.curve is None:
            return plain_number(number)
        found = self.curve.number_at(number)
        if found is None:
            raise DomainError(
                f"feature {self.name!r}: the curve {self.curve.shape.kind} has the "
                f"value {number} at no 64-bit number"
            )
        return plain_number(found)

    def refuses(self, cell: object) -> bool:
        """Tell whether a cell is missing in a spelling that is not meant here."""
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

    @property
    def n_plain(self) -> int:
        """How many values come before those for missing, others, and special ones."""
        if self.edges is not None:
            return len(self.edges) + 1
        return self._n_ordered()

    def _n_ordered(self) -> int:
        """Return how many values come before those for missing and for others."""
        size = len(self.values)
        while size and (
            self.values[size - 1] is None
            or (self.other is not None and self.values[size - 1] == self.other)
        ):
            size -= 1
        return size

    @property
    def places(self) -> dict[int, int]:
        """The place in the order of each value that has one, by its code.

        Numbers go by size, however they were listed, and all else as it was listed.
        Missing and others have no place, and numbers of a range need none.

        Examples
        --------
        >>> Feature("rooms", (3, 1, 2, None), ordered=True).places
        {1: 0, 2: 1, 0: 2}
        """
        if self.limits is not None:
            return {}
        plain: list[tuple[int, Any]] = [
            (code, value)
            for code, value in enumerate(self.values)
            if value is not None and (self.other is None or value != self.other)
        ]
        if all(is_number(value) for _, value in plain):
            plain.sort(key=lambda pair: pair[1])
        return {code: place for place, (code, _) in enumerate(plain)}

    @property
    def words(self) -> tuple[Value, ...]:
        """What cells may hold, as far as it is listed: the words of all groups.

        Of features without groups, the values.
        """
        return self.values if self.groups is None else (*chain(*self.groups),)

    @property
    def joins_words(self) -> bool:
        """Whether a value is not the one word for which it stands, as rows hold it."""
        return self.groups is not None and any(
            group and (group != (value,) or value == self.other)
            for value, group in zip(self.values, self.groups, strict=True)
            if value is not None
        )

    @property
    def has_numbers(self) -> bool:
        """Whether the values are numbers in order, or bins of them."""
        return self.ordered and (
            self.edges is not None
            or all(is_number(value) for value in self.values[: self.n_plain])
        )

    def __repr__(self) -> str:
        if self.limits is not None:
            return self._range_repr()
        parts = [repr(self.name), repr(self.values)]
        parts += ["ordered=True"] if self.ordered else []
        for name in ("labels", "edges", "other", "groups"):
            given = getattr(self, name)
            parts += [f"{name}={given!r}"] if given is not None else []
        parts += ["whole=True"] if self.whole else []
        return f"Feature({', '.join(parts)})"

    def _range_repr(self) -> str:
        low, high = self.limits or (0, 0)
        special = self.values[self.n_plain :]
        listed = [value for value in special if value is not None]
        parts = [repr(self.name), repr(low), repr(high)]
        parts += [f"edges={self.edges!r}"] if self.edges else []
        parts += ["whole=True"] if self.whole else []
        parts += [f"special={listed!r}"] if listed else []
        parts += ["missing=True"] if None in special else []
        parts += [f"curve={self.curve!r}"] if self.curve is not None else []
        return f"Feature.real({', '.join(parts)})"

    def __len__(self) -> int:
        return len(self.values)


class Lookup(dict[object, int]):
    """Cell of a column → code, worked out once for each distinct cell.

    Equality comes first (so 1, 1.0 and True find the value 1), then the text: CSV
    files hold only text, and a network file may hold `"1"` where the user's frame
    holds 1. No two values of a feature share a text, so this is never ambiguous. Then
    a number finds its bin, or its part of a range, if the feature has these, and what
    is left is the value for others, if there is one. A word finds its group in the same
    way; what is no word of any may yet be the name of a group.
    """

    def __init__(self, feature: Feature) -> None:
        super().__init__()
        first = 0 if feature.limits is None else feature.n_plain
        listed = [*enumerate(feature.values)][first:]  # no cell is named by its text
        self._names: dict[object, int] = {}
        if feature.groups is not None:
            self._names = {v: code for code, v in listed if isinstance(v, str)}
            groups = enumerate(feature.groups)
            listed = [(code, word) for code, group in groups for word in group]
        self._equal = {value: code for code, value in listed}
        self._texts = {text_of(value): code for code, value in listed}
        self._missing = self._equal.get(None, UNKNOWN)
        self._edges, self._whole = feature.edges, feature.whole
        self._curve = feature.curve
        self._low, self._high = feature.limits or (-math.inf, math.inf)
        self._rest = UNKNOWN
        if feature.other is not None:
            self._rest = feature.values.index(feature.other)
        self._has_words = not feature.has_numbers and any(
            isinstance(v, str) and (v != feature.other or v in self._names)
            for _, v in listed
        )

    def __missing__(self, cell: object) -> int:
        if is_missing(cell):  # not kept: every NaN is another key
            return self._missing
        code = self._resolve(cell)
        self[cell] = code
        return code

    def number(self, cell: object) -> float:
        """Return the number of a cell that lies in a range; 1 for other values."""
        code = self[cell]
        if self._edges is None or not 0 <= code <= len(self._edges):
            return 1.0
        number: Any = number_of(cell) if isinstance(cell, str) else cell
        return float(number) if self._curve is None else self._curve(float(number))

    def _resolve(self, cell: object) -> int:
        if isinstance(cell, np.generic):
            cell = cell.item()
        code = self._listed(cell)
        if code == UNKNOWN:
            code = self._by_number(cell)
        is_gap = isinstance(cell, str) and is_missing_text(
            cell, among_numbers=not self._has_words
        )
        is_unlisted = code == UNKNOWN and not is_gap
        return self._names.get(cell, self._rest) if is_unlisted else code

    def _listed(self, cell: object) -> int:
        if cell in self._equal:
            return self._equal[cell]
        if isinstance(cell, str):
            return self._listed_text(cell)
        texts = {str(cell)}
        if isinstance(cell, float | int) and _is_finite(cell):
            texts = number_texts(cell)
        codes = [self._texts[text] for text in texts if text in self._texts]
        return codes[0] if len(codes) == 1 else UNKNOWN

    def _listed_text(self, cell: str) -> int:
        if cell in self._texts:
            return self._texts[cell]
        if is_missing_text(cell, among_numbers=not self._has_words):
            return self._missing
        if cell.lower() in {"true", "false"}:
            return self._equal.get(cell.lower() == "true", UNKNOWN)
        number = number_of(cell)
        return UNKNOWN if number is None else self._equal.get(number, UNKNOWN)

    def _by_number(self, cell: object) -> int:
        number: Any = number_of(cell) if isinstance(cell, str) else cell
        if not _is_finite(number):
            return UNKNOWN
        if self._curve is not None:
            if not self._curve.takes(number):
                return UNKNOWN
            number = self._curve(float(number))
        if self._whole and number != math.floor(number):
            return UNKNOWN
        if self._edges is None or not self._low <= number <= self._high:
            return UNKNOWN
        is_range = math.isfinite(self._high)  # whose numbers have 64 bits
        return bisect_right(self._edges, float(number) if is_range else number)


def _is_finite(cell: object) -> bool:
    return isinstance(cell, int) or (isinstance(cell, float) and math.isfinite(cell))
