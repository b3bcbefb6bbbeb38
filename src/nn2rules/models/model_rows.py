"""Rows for the model's own preprocessing, made from values of a domain.

Preprocessing is run on these rows, so they must look like the user's: the same kind of
frame, the same types of columns, the same spelling of missing values.

Some of these values are unseen ones, to find out what a model does with others. One
alone does not show it: encoders that hash, look at letters or ignore case distinguish
unseen values, so values of several kinds are tried.
"""

import importlib.util
import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.space import (
    UNKNOWN,
    Binned,
    Domain,
    Feature,
    Lookup,
    Range,
    Rows,
    Value,
    is_missing,
    is_number,
)


def picked(rows: Rows, places: Sequence[int]) -> Rows:
    """Return the rows at some positions."""
    if isinstance(rows, list | tuple):
        return [rows[place] for place in places]
    return nw.from_native(rows, eager_only=True)[list(places)].to_native()


_TO_AN_END = 16
"""Of this many numbers drawn from a range, two are its ends."""


class RowMaker:
    """Makes rows from codes.

    Parameters
    ----------
    domain : Domain
    like : frame or list of dicts, optional
        Rows of the user, whose kind and types are kept. Without any, an adapter may
        set it to a frame like the one the model was trained on.
    encode : callable, optional
        From rows to codes, -1 for unknown values; by default that of the domain.

    Attributes
    ----------
    n_made : int
        The number of rows made so far.
    """

    def __init__(
        self,
        domain: Domain,
        like: Rows = None,
        encode: Callable[[Rows], NDArray[np.int64]] | None = None,
    ) -> None:
        self.domain, self.like = domain, like
        self._encode = encode or partial(domain.encode, unknown="mark")
        self.n_made = 0
        self._kinds = _float_kinds(domain, like)
        self._examples = [
            [_examples(feature, code, kind) for code in range(len(feature))]
            for feature, kind in zip(domain.features, self._kinds, strict=True)
        ]

    def examples(self, feature: int, code: int) -> list[Value]:
        """Return cells that stand for a value.

        For a bin, one at either end; for the category for others, many.
        """
        return self._examples[feature][code]

    @property
    def n_unseen_values(self) -> dict[str, int]:
        """The number of cells that stand for the category for others, by feature."""
        return {
            feature.name: len(examples[feature.other_code])
            for feature, examples in zip(
                self.domain.features, self._examples, strict=True
            )
            if feature.other is not None
        }

    def rows(
        self, codes: NDArray[np.int64], rng: np.random.Generator | None = None
    ) -> Rows:
        """Return rows of the given codes.

        With `rng`, numbers are drawn from bins, and unseen values take turns for the
        category for others.
        """
        columns = []
        for index in range(len(self.domain.sizes)):
            cells = [self._examples[index][code][0] for code in codes[:, index]]
            if rng is not None:
                for turn, code in enumerate(codes[:, index].tolist()):
                    if len(self._examples[index][code]) > 1:
                        cells[turn] = self._drawn(index, code, turn, rng)
            columns.append(cells)
        return self.frame(columns)

    def _drawn(
        self, index: int, code: int, turn: int, rng: np.random.Generator
    ) -> Value:
        """Return a cell that stands for a value, a different one each time."""
        feature, examples = self.domain.features[index], self._examples[index][code]
        if feature.is_other(feature.values[code]):
            return examples[turn % len(examples)]
        low: Any = examples[0]
        high: Any = examples[-1]
        if isinstance(feature, Range) and turn % _TO_AN_END < 2:
            return (low, high)[turn % _TO_AN_END]  # type: ignore[no-any-return]
        if feature.whole:
            return int(rng.integers(low, high, endpoint=True))
        part = rng.random()
        drawn = float(self._kinds[index](low * (1 - part) + high * part))
        return float(min(max(drawn, low), high))

    def observed(self, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the codes of some of the user's rows, as far as these are inputs."""
        if self.like is None or len(self.like) < 2:
            return np.zeros((0, len(self.domain.sizes)), dtype=np.int64)
        places = sorted(rng.permutation(len(self.like))[:most].tolist())
        codes = self._encode(picked(self.like, places))
        is_input = (codes != UNKNOWN).all(axis=1)
        return np.asarray(codes[is_input])

    def frame(self, columns: Sequence[Sequence[Value]]) -> Rows:
        """Return rows with the given cells, one sequence for each feature."""
        self.n_made += len(columns[0])
        named = dict(zip(self.domain.names, columns, strict=True))
        if isinstance(self.like, list | tuple):
            return [
                dict(zip(named, row, strict=True))
                for row in zip(*named.values(), strict=True)
            ]
        if self.like is None:
            return _plain_frame(named)
        frame = nw.from_native(self.like, eager_only=True)
        if frame.implementation.is_pandas():
            return like_frame(named, self.like)
        columns_by_name = {
            name: _series(name, cells, frame[name]) for name, cells in named.items()
        }
        return nw.from_dict(columns_by_name, backend=frame.implementation).to_native()


def _float_kinds(domain: Domain, like: Rows) -> list[type[np.floating[Any]]]:
    """Return the float type of each column, as far as the rows show it."""
    if like is None or isinstance(like, list | tuple):
        return [np.float64] * len(domain.sizes)
    schema = nw.from_native(like, eager_only=True).schema
    return [
        np.float32 if schema.get(name) == nw.Float32 else np.float64
        for name in domain.names
    ]


def _examples(feature: Feature, code: int, kind: type[np.floating[Any]]) -> list[Value]:
    value = feature.values[code]
    if feature.is_other(value):
        return unseen_values(feature)
    if isinstance(feature, Range) and code < feature.n_cells:
        return _ends(feature, kind)
    if isinstance(feature, Binned) and code < feature.n_intervals:
        return _ends_of_bin(feature, code, kind)
    return [value]


def _ends_of_bin(
    feature: Binned, code: int, kind: type[np.floating[Any]]
) -> list[Value]:
    """Return the first and the last number of a bin that such a column stores."""
    ends = [-math.inf, *feature.edges, math.inf]
    low, high = ends[code], ends[code + 1]
    if feature.whole:
        first, last = low, high - 1
    else:
        first, last = _first_from(low, kind), _last_below(high, kind)
    if code == 0:
        first = _kept(high - max(1, abs(high)), kind)
    if code == len(feature.edges):
        last = _kept(low + max(1, abs(low)), kind)
    return [first, last]


def _ends(feature: Range, kind: type[np.floating[Any]]) -> list[Value]:
    """Return the two ends of a range, as a column of this type stores them."""
    low, high = feature.limits
    if feature.whole:
        return [int(low), int(high)]
    last = math.nextafter(high, math.inf)
    return [float(_first_from(low, kind)), float(_last_below(last, kind))]


def _kept(number: float, kind: type[np.floating[Any]]) -> float:
    """Return the number of a type that is nearest; float64 keeps whole ones whole."""
    return number if kind is np.float64 else float(kind(number))


def _first_from(edge: float, kind: type[np.floating[Any]]) -> float:
    """Return the smallest number of a type that is not below an edge."""
    number = _kept(edge, kind)
    return number if number >= edge else float(np.nextafter(kind(number), kind(np.inf)))


def _last_below(edge: float, kind: type[np.floating[Any]]) -> float:
    """Return the largest number of a type that is below an edge."""
    number = kind(edge)
    is_below = float(number) < edge  # as numbers: numpy would compare in float32
    return float(number if is_below else np.nextafter(number, kind(-np.inf)))


def _plain_frame(named: dict[str, Sequence[Value]]) -> Rows:
    """Return a pandas frame where pandas is installed, else a list of dicts."""
    if importlib.util.find_spec("pandas") is None:
        return [
            dict(zip(named, row, strict=True))
            for row in zip(*named.values(), strict=True)
        ]
    import pandas as pd

    return pd.DataFrame(
        {name: pd.Series(list(cells), dtype=None) for name, cells in named.items()}
    )


def like_frame(named: Mapping[str, Sequence[Any]], like: Any) -> Any:
    """Return a pandas frame of the given columns, with the types of those of `like`."""
    import pandas as pd

    return pd.DataFrame(
        {name: _pandas_series(cells, like[name]) for name, cells in named.items()}
    )


def _pandas_series(cells: Sequence[Value], like: Any) -> Any:
    """Return cells as a pandas Series of the type of `like`, where it can hold them."""
    import pandas as pd

    dtype = like.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        new = [c for c in dict.fromkeys(cells) if c is not None]
        extra = [c for c in new if c not in set(dtype.categories)]
        categories = [*dtype.categories, *extra]
        return pd.Series(pd.Categorical(cells, categories, ordered=dtype.ordered))
    gaps = like[like.isna()]
    gap = gaps.iloc[0] if len(gaps) else (np.nan if dtype.kind in "fiu" else None)
    filled = [gap if is_missing(cell) else cell for cell in cells]
    try:
        series = pd.Series(filled, dtype=dtype)
        kept = all(
            (is_missing(a) and is_missing(b)) or a == b
            for a, b in zip(series.tolist(), filled, strict=True)
        )
    except (TypeError, ValueError, OverflowError):
        kept = False
    return series if kept else pd.Series(filled)


def _series(name: str, cells: Sequence[Value], like: nw.Series[Any]) -> nw.Series[Any]:
    """Return cells as a column of the type of `like`, where it can hold them."""
    backend = like.implementation
    try:
        return nw.new_series(name, list(cells), like.dtype, backend=backend)
    except Exception:  # noqa: BLE001  each library has its own errors; try by itself
        numbers: Any = [cell for cell in cells if cell is not None]
        if all(is_number(number) for number in numbers):
            cells = [None if cell is None else float(cell) for cell in cells]
        return nw.new_series(name, list(cells), backend=backend)


_WORDS = (
    *("a value that was never seen", "x", "Q", "zz", "New York", "lorem ipsum dolor"),
    *("other", "unknown", "none of these", "UPPER", "lower", "Title Case", "camelCase"),
    *("7", "-1", "42", "3.25", "1e6", "000", "90210", "2024-02-29", "12:30", "50 %"),
    *(" ", "\t", " padded ", "two  blanks", "?", "-", "#", "a_b", "a,b", "a;b", "a/b"),
    *("Straße", "naïve", "東京", "Ωmega", "мир", "🙂", "e\u0301"),
    *("5f3a9c", "0x1F", "deadbeef", "c0ffee00c0ffee00", "id-000417"),
    *("123e4567-e89b-12d3-a456-426614174000", "long" * 60, "a" * 500),
)
_RANDOM_WORDS = 24
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def unseen_values(feature: Feature) -> list[Value]:
    """Return values that the feature's category for others stands for.

    Examples
    --------
    >>> colour = Feature("colour", ("red", "blue", "other"), other="other")
    >>> unseen = unseen_values(colour)
    >>> len(unseen) > 60, "red" in unseen
    (True, False)
    """
    assert feature.other is not None, "the feature has a category for others"
    plain = [v for v in feature.values if v is not None and v != feature.other]
    numbers: Any = plain
    is_numeric = bool(numbers) and all(is_number(number) for number in numbers)
    candidates = _numbers(numbers) if is_numeric else _words(plain)
    lookup, code = Lookup(feature), feature.other_code
    return [item for item in dict.fromkeys(candidates) if lookup[item] == code]


def _words(values: Sequence[Value]) -> list[Value]:
    rng = random.Random(0)
    lengths = [rng.randint(1, 12) for _ in range(_RANDOM_WORDS)]
    words: list[Value] = list(_WORDS)
    words += ["".join(rng.choices(_LETTERS, k=length)) for length in lengths]
    for text in map(str, values[:4]):
        words += [text.upper(), text.lower(), text.title(), f" {text}", f"{text}s"]
        words += [text[:-1], text[::-1]]
    return [word for word in words if word != ""]


def _numbers(numbers: list[Any]) -> list[Value]:
    """Return numbers; only whole ones if the known numbers are whole."""
    low, high = min(numbers), max(numbers)
    is_whole = all(isinstance(number, int) for number in numbers)
    near = [high + 1_000_003, high + 1, high + 2, low - 1, low - 2, 2 * high + 1]
    far = [0, 1, -1, 7, 42, -999, 9999, 123456, 10**6, 2**31 - 1, -(2**31), 2**40]
    between = [a + 1 for a in numbers] + [a - 1 for a in numbers]
    broken = (
        [] if is_whole else [a + 0.5 for a in numbers] + [0.1, -2.5, 1e-9, 1e12 + 0.5]
    )
    return [*near, *far, *between[:20], *broken[:20]]


def distinguished(feature: Feature, one: object, two: object) -> UnsupportedModelError:
    """Return the error for a model that distinguishes unseen values."""
    return UnsupportedModelError(
        f"feature {feature.name!r} cannot have a category for others, because the "
        f"model distinguishes unseen values such as {one!r} and {two!r}; leave it out "
        f"of other="
    )
