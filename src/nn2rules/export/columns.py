"""Features as columns of another engine: of one kind, with cells for every value.

The library is lenient with cells: a text may be a number. An engine's column has a
type. Only this module defines that type, and which cells of it are which value, so that
all exports agree; it does the same as `feature.Lookup`, for cells of that type.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.export.cells import LARGEST, Cells, Interval, Kind, interval
from nn2rules.space import (
    MISSING_TEXTS,
    Feature,
    Grouped,
    Intervals,
    Range,
    Value,
    is_number,
    text_of,
)


@dataclass(frozen=True, slots=True)
class Column:
    """One feature, as a column of another engine.

    Attributes
    ----------
    feature : Feature
    kind : {"text", "number", "truth"}
    known : Cells
        The cells that are a value of the feature; all others are outside the domain.
    gaps : tuple of str
        Texts that are missing, besides what is missing in the engine itself: of words,
        the empty one, and ``missing``, as rules print it, if that is a value.
    """

    feature: Feature
    kind: Kind
    known: Cells
    gaps: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the column, which is that of the feature."""
        return self.feature.name

    @property
    def whole(self) -> bool:
        """Whether numbers with a fraction, except special ones, are outside."""
        return self.feature.whole

    def knows(self, cell: Value) -> bool:
        """Tell whether a cell of the column's kind, or None, is on the domain."""
        if not self.known.matches(cell):
            return False
        is_special = cell is None or cell in self.known.words
        return is_special or not self.whole or cell == int(cell)  # type: ignore[arg-type]

    def cells(self, allowed: NDArray[np.bool_], *, closed: bool) -> Cells:
        """Return the cells of the values that are allowed.

        Parameters
        ----------
        allowed : ndarray of bool, one for each value
        closed : bool
            Whether no other cell may be among them. Otherwise it is taken that the cell
            is known, which makes shorter tests: *all but* few words, ranges with one
            end.
        """
        return _cells(self.feature, allowed, closed=closed)


def column_of(feature: Feature) -> Column:
    """Return a feature as a column; one of several types is refused."""
    kind = _kind(feature)
    everything = np.ones(len(feature), dtype=np.bool_)
    return Column(
        feature, kind, _cells(feature, everything, closed=True), _gaps(feature)
    )


def _listed(feature: Feature) -> list[tuple[int, Value]]:
    """Return each word that cells may have, with the code of its value.

    Bins and ranges have none but the special values beside them. The name of a group is
    a word, too, as the library reads it.
    """
    if not isinstance(feature, Grouped):
        return [
            (code, value)
            for code, value in enumerate(feature.values)
            if code >= feature.n_intervals
            and value is not None
            and not feature.is_other(value)
        ]
    words: list[tuple[int, Value]] = [
        (code, word)
        for code, group in enumerate(feature.groups)
        for word in group
        if word is not None
    ]
    taken = {word for _, word in words}
    if any(isinstance(word, str) for word in taken):
        words += [
            (code, value)
            for code, value in enumerate(feature.values)
            if isinstance(value, str) and value not in taken
        ]
    return words


def _kind(feature: Feature) -> Kind:
    """Return what the cells of a feature are, which must be one thing."""
    words = [word for _, word in _listed(feature)]
    kinds: set[Kind] = {
        "truth" if isinstance(w, bool) else "number" if is_number(w) else "text"
        for w in words
    }
    if isinstance(feature, Intervals):
        kinds.add("number")
    if len(kinds) > 1:
        raise UnsupportedModelError(
            f"feature {feature.name!r} has values of several types, "
            f"{' and '.join(sorted(_TYPES[kind] for kind in kinds))}, but a column of "
            f"another engine has one type; use only texts, or only numbers"
        )
    if isinstance(feature, Intervals) and feature.other is not None:
        raise UnsupportedModelError(
            f"feature {feature.name!r} has bins of numbers and a value for others, "
            f"which cannot be exported; list the other values"
        )
    return next(iter(kinds), "text")


_TYPES = {"truth": "true and false", "number": "numbers", "text": "texts"}


def _gaps(feature: Feature) -> tuple[str, ...]:
    """Return the texts that are missing, among words."""
    words = [word for _, word in _listed(feature)]
    if _kind(feature) != "text":
        return ()
    texts = ("", *sorted(MISSING_TEXTS)) if not words else ("",)
    if _missing_code(feature) is not None:
        texts = (*texts, text_of(None))
    own = words if isinstance(feature, Grouped) else (*words, feature.other)
    return tuple(t for t in texts if t not in own and not feature.refuses(t))


def _cells(feature: Feature, allowed: NDArray[np.bool_], *, closed: bool) -> Cells:
    missing = _missing_code(feature)
    has_missing = missing is not None and bool(allowed[missing])
    listed = _listed(feature)
    words = tuple(word for code, word in listed if allowed[code])
    rest = tuple(word for code, word in listed if not allowed[code])
    if feature.other is not None and allowed[feature.other_code]:
        return Cells(words=rest, missing=has_missing, negated=True)
    if isinstance(feature, Intervals):
        return Cells(words, _intervals(feature, allowed, closed=closed), has_missing)
    is_shorter = rest and feature.other is None and len(rest) < len(words)
    if is_shorter and not closed:
        return Cells(words=rest, missing=has_missing, negated=True)
    return Cells(words, (), has_missing)


def _missing_code(feature: Feature) -> int | None:
    if isinstance(feature, Grouped):
        found = [code for code, group in enumerate(feature.groups) if None in group]
        return found[0] if found else None
    return feature.values.index(None) if None in feature.values else None


def _intervals(
    feature: Intervals, allowed: NDArray[np.bool_], *, closed: bool
) -> tuple[Interval, ...]:
    """Return the numbers of the bins that are allowed, neighbours joined."""
    plain = np.concatenate([[False], allowed[: feature.n_plain], [False]])
    changes = np.flatnonzero(plain[1:] != plain[:-1]).tolist()
    runs = list(zip(changes[::2], changes[1::2], strict=True))
    has_special = any(is_number(v) for v in feature.values[feature.n_plain :])
    starts: list[float | None] = [None, *feature.edges, None]
    found = [interval(starts[a], starts[b], whole=feature.whole) for a, b in runs]
    if closed or has_special:
        ends = feature.limits if isinstance(feature, Range) else (-LARGEST, LARGEST)
        found = [_within(each, *ends) for each in found]
    return tuple(found)


def _within(given: Interval, low: float, high: float) -> Interval:
    """Return an interval with ends on both sides."""
    return Interval(
        low if given.low is None else given.low,
        high if given.high is None else given.high,
        given.low_is_strict,
        given.high_is_strict,
    )
