"""One feature: its name, its values, and which value a cell of data is.

A feature is finite. Most have values that are listed: words, or the numbers of a grid.
A feature with `edges` has numbers put into bins, so every number belongs to a value.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from nn2rules.errors import DomainError
from nn2rules.values import (
    Value,
    checked_values,
    edge_text,
    is_missing,
    is_missing_text,
    is_number,
    number_of,
    number_texts,
    plain_number,
    text_of,
)

UNKNOWN = -1
"""The code of a value that its feature does not have."""


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
    nearest : bool
        Whether a number that is not among the values stands for the nearest that is;
        of two equally near, the smaller. Otherwise it is an unknown value.
    other : str, optional
        The value that stands for every value not listed.
    whole : bool
        Of bins: whether the numbers are whole. Others are unknown values.

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
    nearest: bool = False
    other: str | None = None
    whole: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise DomainError(f"a feature's name is a string, not {self.name!r}")
        kind = f"feature {self.name!r}"
        object.__setattr__(self, "values", checked_values(kind, self.values))
        if self.labels is not None:
            object.__setattr__(self, "labels", self._checked_labels(kind))
        if self.edges is not None:
            object.__setattr__(self, "edges", self._checked_edges(kind))
        if self.other is not None and self.other not in self.values:
            raise DomainError(
                f"{kind}: {self.other!r} stands for other values, but is not a value"
            )
        if self.nearest:
            self._check_grid(kind)
        if self.whole and not all(isinstance(edge, int) for edge in self.edges or [""]):
            raise DomainError(f"{kind}: bins of whole numbers have whole edges")

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
        if not edges or not all(is_number(e) and math.isfinite(e) for e in edges):
            raise DomainError(f"{kind}: edges are one or more finite numbers")
        edges = tuple(plain_number(edge) for edge in edges)
        if any(a >= b for a, b in pairwise(edges)):
            raise DomainError(f"{kind}: each edge must be larger than the one before")
        if self.n_plain != len(edges) + 1 or not self.ordered:
            raise DomainError(
                f"{kind}: {len(edges)} edges make {len(edges) + 1} ordered values, "
                f"found {self.n_plain}"
            )
        if self.nearest:
            raise DomainError(f"{kind}: every number is in a bin; leave out `nearest`")
        return edges

    def _check_grid(self, kind: str) -> None:
        numbers: Any = self.values[: self.n_plain]
        if not all(is_number(number) for number in numbers) or not self.ordered:
            raise DomainError(f"{kind}: `nearest` is for ordered numbers")
        if list(numbers) != sorted(numbers):
            raise DomainError(f"{kind}: its numbers must be in ascending order")

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

    @property
    def n_plain(self) -> int:
        """How many values come before those for missing and for others."""
        size = len(self.values)
        while size and (
            self.values[size - 1] is None
            or (self.other is not None and self.values[size - 1] == self.other)
        ):
            size -= 1
        return size

    @property
    def has_numbers(self) -> bool:
        """Whether the values are numbers in order, or bins of them."""
        return self.ordered and (
            self.edges is not None
            or all(is_number(value) for value in self.values[: self.n_plain])
        )

    def __repr__(self) -> str:
        parts = [repr(self.name), repr(self.values)]
        parts += ["ordered=True"] if self.ordered else []
        for name in ("labels", "edges", "other"):
            given = getattr(self, name)
            parts += [f"{name}={given!r}"] if given is not None else []
        parts += ["nearest=True"] if self.nearest else []
        parts += ["whole=True"] if self.whole else []
        return f"Feature({', '.join(parts)})"

    def __len__(self) -> int:
        return len(self.values)


class Lookup(dict[object, int]):
    """Cell of a column → code, worked out once for each distinct cell.

    Equality comes first (so 1, 1.0 and True find the value 1), then the text: CSV
    files hold only text, and a network file may hold `"1"` where the user's frame
    holds 1. No two values of a feature share a text, so this is never ambiguous. Then
    a number finds its bin or the nearest value, if the feature has these, and what is
    left is the value for others, if there is one.
    """

    def __init__(self, feature: Feature) -> None:
        super().__init__()
        self._equal = {value: code for code, value in enumerate(feature.values)}
        self._texts = {text_of(v): c for c, v in enumerate(feature.values)}
        self._missing = self._equal.get(None, UNKNOWN)
        self._edges, self._whole = feature.edges, feature.whole
        numbers: Any = feature.values[: feature.n_plain]
        self._grid = numbers if feature.nearest else None
        self._rest = UNKNOWN if feature.other is None else self._equal[feature.other]
        self._has_words = not feature.has_numbers and any(
            isinstance(v, str) and v != feature.other for v in feature.values
        )

    def __missing__(self, cell: object) -> int:
        if is_missing(cell):  # not kept: every NaN is another key
            return self._missing
        code = self._resolve(cell)
        self[cell] = code
        return code

    def _resolve(self, cell: object) -> int:
        if isinstance(cell, np.generic):
            cell = cell.item()
        code = self._listed(cell)
        if code == UNKNOWN:
            code = self._by_number(cell)
        is_gap = isinstance(cell, str) and is_missing_text(
            cell, among_numbers=not self._has_words
        )
        return self._rest if code == UNKNOWN and not is_gap else code

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
        if self._whole and number != math.floor(number):
            return UNKNOWN
        if self._edges is not None:
            return bisect_right(self._edges, number)
        if self._grid is None:
            return UNKNOWN
        right = bisect_right(self._grid, number)
        if right in (0, len(self._grid)):
            return max(right - 1, 0)
        below, above = Fraction(self._grid[right - 1]), Fraction(self._grid[right])
        return right - 1 if 2 * Fraction(number) <= below + above else right


def _is_finite(cell: object) -> bool:
    return isinstance(cell, int) or (isinstance(cell, float) and math.isfinite(cell))
