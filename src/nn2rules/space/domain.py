"""The domain: all features with their values.

An *input* picks one value for each feature. Everything below this module works on
*codes*, the positions of those values; this module owns the way from the user's
rows to codes (`Domain.encode`) and back (`Domain.decode`).
"""

import math
import operator
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError, OptionError, RowsError, UnknownValueError
from nn2rules.space.feature import Feature
from nn2rules.space.feature_kinds import Curved, Range
from nn2rules.space.feature_spec import FeatureSpec
from nn2rules.space.frames import (
    Rows,
    cells_of,
    column_names,
    listed_rows,
    observed_columns,
)
from nn2rules.space.lookup import UNKNOWN, Lookup
from nn2rules.space.observed import checked_specs, feature_of, special_value_warnings
from nn2rules.space.values import Value, did_you_mean

Codes: TypeAlias = NDArray[np.integer[Any]]
"""Inputs as an integer array of shape (n_rows, n_features)."""


@dataclass(frozen=True)
class Domain:
    """All features with their values: the set of every possible input.

    Examples
    --------
    >>> domain = Domain((Feature("color", ("red", "yellow")),
    ...                  Feature("size", ("small", "medium", "big"))))
    >>> domain.n_inputs
    6
    >>> domain.encode([{"color": "yellow", "size": "big"}])
    array([[1, 2]])
    >>> domain.decode([[0, 1]])
    [{'color': 'red', 'size': 'medium'}]
    """

    features: tuple[Feature, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        if not self.features:
            raise DomainError("a domain needs at least one feature")
        for feature in self.features:
            if not isinstance(feature, Feature):
                raise DomainError(f"expected a Feature, not {feature!r}")
        seen: set[str] = set()
        for feature in self.features:
            if feature.name in seen:
                raise DomainError(f"two features are named {feature.name!r}")
            seen.add(feature.name)

    @classmethod
    def from_data(
        cls,
        data: Any,
        features: Mapping[str, FeatureSpec] | None = None,
        *,
        columns: Sequence[str] | None = None,
    ) -> "Domain":
        """Return the domain of a data frame: what each of its columns can be.

        A column of text has the categories that occur; a categorical column has all its
        categories, in order. Numbers are a range from the minimum to the maximum; at
        most 20 whole numbers without gaps are listed. An empty cell is *missing*.

        Parameters
        ----------
        data : pandas, polars or pyarrow frame, or list of dicts
        features : mapping from names to what they can be, optional
            A `Feature`; a range, as a tuple of its two ends; a list of values; or a
            text: ``"range:18,100"``, ``"observed"`` (the numbers that occur),
            ``"17..90"`` (integers), ``"0..100:2.5"`` (steps), ``"quantiles:10"``,
            ``"bins:25,40,65"``, ``"ordered:low,medium,high"``; behind the ends of a
            range, ``missing`` and ``special:999``.
        columns : sequence of str, optional
            The columns that are features; by default all.

        Examples
        --------
        >>> rows = [{"color": "red", "age": 31}, {"color": None, "age": 25}]
        >>> for feature in Domain.from_data(rows, {"age": "bins:29.5"}).features:
        ...     print(feature)
        Feature('color', ('red', None))
        Feature('age', ('(-inf, 29.5)', '[29.5, inf)'), ordered=True, edges=(29.5,))
        """
        names = column_names(data) if columns is None else list(columns)
        specs = checked_specs(features, names)
        observed = observed_columns(data, names)
        made = tuple(
            feature_of(name, column, specs.get(name))
            for name, column in zip(names, observed, strict=True)
        )
        for hint in special_value_warnings(made, observed, specs):
            warnings.warn(hint, stacklevel=2)
        return cls(made)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The features' names, in order."""
        return tuple(feature.name for feature in self.features)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each feature."""
        return tuple(len(feature) for feature in self.features)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each feature's values start among all values; ends with their number.

        Feature f owns the columns ``offsets[f]`` to ``offsets[f + 1]`` of a one-hot
        input, and of everything else that has one entry for each value.
        """
        return np.array([0, *accumulate(self.sizes)], dtype=np.int64)

    @cached_property
    def offsets_of(self) -> dict[str, int]:
        """Where the values of each feature start among all values."""
        return dict(zip(self.names, self.offsets.tolist(), strict=False))

    @cached_property
    def n_inputs(self) -> int:
        """The number of inputs, as an exact integer of any size.

        Of a domain with ranges of numbers, that of the parts into which they are cut.
        """
        return math.prod(self.sizes)

    @cached_property
    def n_numbers(self) -> int | None:
        """The number of inputs, each whole number of a range counted; None if real."""
        sizes = []
        for feature in self.features:
            counts = feature.counts
            if counts is None:
                return None
            sizes.append(sum(counts))
        return math.prod(sizes)

    @cached_property
    def ranges(self) -> NDArray[np.int64]:
        """For each feature the column that stands for its range of numbers, or -1.

        Of domains that are not cut, as those of networks.
        """
        return np.array(
            [
                start if isinstance(feature, Range) else -1
                for feature, start in zip(self.features, self.offsets, strict=False)
            ],
            dtype=np.int64,
        )

    @cached_property
    def has_ranges(self) -> bool:
        """Whether a feature is a range of numbers; inputs cannot be counted then."""
        return any(isinstance(feature, Range) for feature in self.features)

    @cached_property
    def limits(self) -> NDArray[np.float64]:
        """The two ends of each feature's range, of shape (2, n_features); 1 for others.

        An input has a number for each feature, by which the weights of its value are
        multiplied: 1 where the value is all there is to know.
        """
        ends = [
            feature.limits if isinstance(feature, Range) else (1.0, 1.0)
            for feature in self.features
        ]
        return np.array(ends, dtype=np.float64).T.copy()

    @cached_property
    def reach(self) -> NDArray[np.float64]:
        """For each value the largest magnitude of its number."""
        reach = np.ones(int(self.offsets[-1]))
        for feature, start in zip(self.features, self.offsets, strict=False):
            if isinstance(feature, Range):
                largest = max(abs(end) for end in feature.limits)
                reach[start : start + feature.n_plain] = largest
        return reach

    def inputs_of(
        self, rows: Rows
    ) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
        """Return the codes of `rows` and, where there are ranges, their numbers.

        These are the numbers of ranges, and 1 elsewhere, by which the weights of the
        values that the codes pick are multiplied.
        """
        codes = self.encode(rows)
        return codes, self.numbers(rows) if self.has_ranges else None

    def numbers(self, rows: Rows) -> NDArray[np.float64]:
        """Return the numbers of `rows`: those of ranges, and 1 elsewhere."""
        columns = cells_of(listed_rows(rows), self.names)
        made = np.ones((len(columns[0]), len(columns)))
        for index, feature in enumerate(self.features):
            if isinstance(feature, Range):
                lookup = Lookup(feature)
                made[:, index] = [lookup.number(cell) for cell in columns[index]]
        return made

    def cut(self, edges: Mapping[str, Sequence[float]]) -> "Domain":
        """Return the domain with its ranges of numbers cut at `edges`."""
        return Domain(
            tuple(
                feature.cut(edges[feature.name])
                if isinstance(feature, Range)
                else feature
                for feature in self.features
            )
        )

    @property
    def uncut(self) -> "Domain":
        """The domain with its ranges of numbers in one piece, as networks have it."""
        return self.cut(dict.fromkeys(self.names, ()))

    @property
    def has_curves(self) -> bool:
        """Whether a range is one of the values of a curve."""
        return any(isinstance(feature, Curved) for feature in self.features)

    @property
    def uncurved(self) -> "Domain":
        """The domain as rows hold it: ranges of curves are those of numbers, uncut."""
        return Domain(tuple(feature.uncurved for feature in self.features))

    def feature(self, name: str) -> Feature:
        """Return the feature called `name`."""
        return self.features[self.index(name)]

    def index(self, name: str) -> int:
        """Return the position of the feature called `name`."""
        if name not in self.names:
            known = ", ".join(repr(known) for known in self.names)
            hint = did_you_mean(name, self.names)
            raise DomainError(f"there is no feature {name!r}; there are {known}{hint}")
        return self.names.index(name)

    def code(self, name: str, value: object) -> int:
        """Return the code of `value` in the feature called `name`."""
        feature = self.feature(name)
        code = Lookup(feature)[value]
        if code == UNKNOWN:
            raise _unknown(feature, value)
        return code

    def encode(self, rows: Rows, *, unknown: str = "error") -> NDArray[np.int64]:
        """Return the codes of `rows`.

        Parameters
        ----------
        rows : frame, list of dicts, or one row as a dict or a pandas Series
            Columns that are not features (an id, the label) are ignored. An array has
            no names of columns, and is refused.
        unknown : {"error", "mark"}
            What to do with a value outside its feature: raise `UnknownValueError`,
            or give it the code -1.

        Returns
        -------
        ndarray of int, shape (n_rows, n_features)

        Notes
        -----
        A cell matches the value it equals; failing that, the value that reads the
        same, so the text ``1`` of a CSV file finds the value 1, and the number 1
        finds the value ``"1"`` of a network file. An empty cell is *missing*.
        """
        if unknown not in ("error", "mark"):
            raise OptionError(f"unknown: {unknown!r}, expected 'error' or 'mark'")
        columns = cells_of(listed_rows(rows), self.names)
        codes = np.empty((len(columns[0]), len(columns)), dtype=np.int64)
        for index, column in enumerate(columns):
            lookup = Lookup(self.features[index])
            cells = map(lookup.__getitem__, column)
            try:
                codes[:, index] = np.fromiter(cells, np.int64, len(column))
            except TypeError:  # a list or a dict cannot be looked up
                raise RowsError(
                    f"feature {self.names[index]!r}: a cell of this column is not a "
                    f"single value"
                ) from None
            if self.features[index].not_missing:
                is_refused = [*map(self.features[index].refuses, column)]
                codes[is_refused, index] = UNKNOWN
        if unknown == "error" and (codes == UNKNOWN).any():
            row, index = map(int, np.argwhere(codes == UNKNOWN)[0])
            raise _unknown(self.features[index], columns[index][row], row)
        return codes

    def unknown_rows(self, rows: Rows) -> dict[int, UnknownValueError]:
        """Return the rows that `encode` refuses, by number, with the error of each.

        Examples
        --------
        >>> domain = Domain([Feature("size", ("small", "big"))])
        >>> rows = [{"size": "big"}, {"size": "huge"}]
        >>> print(domain.unknown_rows(rows)[1].fact)
        feature 'size' has no value 'huge'; it has 'small', 'big'
        """
        codes = self.encode(rows, unknown="mark")
        columns = cells_of(listed_rows(rows), self.names)
        found: dict[int, UnknownValueError] = {}
        for row, index in np.argwhere(codes == UNKNOWN).tolist():
            if row not in found:
                found[row] = _unknown(self.features[index], columns[index][row], row)
        return found

    def checked_codes(self, codes: Any) -> NDArray[np.int64]:
        """Return an array of codes, once it is known that all are of this domain."""
        codes = np.asarray(codes)
        if codes.ndim != 2 or codes.shape[1] != len(self.features):
            raise RowsError(
                f"an array of codes has one column for each of the "
                f"{len(self.features)} features; this one has shape {codes.shape}"
            )
        if not np.issubdtype(codes.dtype, np.integer):
            raise RowsError(f"codes are whole numbers, not {codes.dtype}")
        wrong = (codes < 0) | (codes >= np.array(self.sizes))
        if wrong.any():
            row, index = map(int, np.argwhere(wrong)[0])
            raise RowsError(
                f"row {row}: feature {self.names[index]!r} has no code "
                f"{codes[row, index]}; its codes are 0 to {self.sizes[index] - 1}"
            )
        return np.asarray(codes, dtype=np.int64)

    def decode(
        self,
        codes: Any,
        numbers: NDArray[np.float64] | None = None,
        *,
        accepted: bool = False,
    ) -> list[dict[str, Value]]:
        """Return the rows that `codes` stand for, as dicts of values.

        With the `numbers` of the inputs, ranges have these for values. A missing value
        is None; with `accepted`, it is NaN where the model tells None from it
        (`Feature.not_missing`), so that `encode` and the model read it as missing.
        """
        values = [f.cells if accepted else f.values for f in self.features]
        rows: list[dict[str, Value]] = [
            {name: own[c] for name, own, c in zip(self.names, values, row, strict=True)}
            for row in self.checked_codes(codes).tolist()
        ]
        for index, feature in enumerate(self.features):
            if isinstance(feature, Range) and numbers is not None:
                for row, code, number in zip(
                    rows, codes[:, index], numbers[:, index].tolist(), strict=True
                ):
                    if code < feature.n_cells:
                        row[feature.name] = feature.cell_of(number)
        return rows

    def input(self, number: int) -> dict[str, Value]:
        """Return an input by its number in the order of `inputs`."""
        return self.decode(self.codes_of(np.array([number])))[0]

    def codes_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the codes of inputs, given by their numbers in the order of `inputs`.

        Plain arithmetic, since numpy's own function takes 64 features at most.
        """
        steps = [*accumulate(reversed(self.sizes[1:]), operator.mul, initial=1)][::-1]
        codes = numbers[:, np.newaxis] // np.array(steps) % np.array(self.sizes)
        return np.asarray(codes, dtype=np.int64)

    def inputs(self, *, chunk: int = 1 << 16) -> Iterator[NDArray[np.int64]]:
        """Yield the codes of every input of the domain, `chunk` rows at a time.

        The last feature changes fastest.
        """
        for start in range(0, self.n_inputs, chunk):
            flat = np.arange(start, min(start + chunk, self.n_inputs))
            yield self.codes_of(flat)


def _unknown(
    feature: Feature, value: object, row: int | None = None
) -> UnknownValueError:
    """Return the error of a value that a feature does not have."""
    own = feature.uncurved
    return UnknownValueError(
        feature.name,
        value,
        feature.categories,
        row=row,
        limits=own.limits if isinstance(own, Range) else None,
        whole=own.whole,
        is_refused=feature.refuses(value),
    )
