"""Rows as the model's own preprocessing wants them, made from values of a domain.

Preprocessing is asked what it makes of values, so rows must look like the user's: the
same kind of frame, the same types of columns, the same way of being missing.
"""

import importlib.util
import math
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import Domain, Rows
from nn2rules.feature import Feature
from nn2rules.values import Value, is_missing, is_number

_STRANGER = "a value that was never seen"


class RowMaker:
    """Makes rows from codes.

    Parameters
    ----------
    domain : Domain
    like : frame or list of dicts, optional
        Rows of the user's, whose kind and types are kept. Without any, an adapter may
        set it to what the model was trained on.
    """

    def __init__(self, domain: Domain, like: Rows = None) -> None:
        self.domain, self.like = domain, like
        self._examples = [
            [_examples(feature, code) for code in range(len(feature))]
            for feature in domain.features
        ]

    def examples(self, feature: int, code: int) -> list[Value]:
        """Return cells that stand for a value; of a bin, one at either end."""
        return self._examples[feature][code]

    def rows(
        self, codes: NDArray[np.int64], rng: np.random.Generator | None = None
    ) -> Rows:
        """Return rows of the given codes; from bins, numbers are drawn by `rng`."""
        columns = []
        for index in range(len(self.domain.sizes)):
            cells = []
            for code in codes[:, index].tolist():
                examples = self._examples[index][code]
                cell = examples[0]
                if rng is not None and len(examples) > 1:
                    cell = _between(examples[0], examples[-1], rng)
                cells.append(cell)
            columns.append(cells)
        return self.frame(columns)

    def frame(self, columns: Sequence[Sequence[Value]]) -> Rows:
        """Return rows with the given cells, one sequence for each feature."""
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
        made = {
            name: _series(name, cells, frame[name]) for name, cells in named.items()
        }
        return nw.from_dict(made, backend=frame.implementation).to_native()


def _examples(feature: Feature, code: int) -> list[Value]:
    value = feature.values[code]
    if feature.other is not None and value == feature.other:
        numbers: Any = feature.values[: feature.n_plain]
        if numbers and all(is_number(number) for number in numbers):
            return [max(numbers) + 1_000_003]
        return [_STRANGER]
    if feature.edges is None or value is None:
        return [value]
    low = feature.edges[code - 1] if code > 0 else None
    high = feature.edges[code] if code < len(feature.edges) else None
    if low is None:
        assert high is not None, "a feature with edges has at least one"
        return [high - max(1, abs(high)), math.nextafter(high, -math.inf)]
    if high is None:
        return [low, low + max(1, abs(low))]
    return [low, math.nextafter(high, -math.inf)]


def _between(low: Any, high: Any, rng: np.random.Generator) -> float:
    return float(min(max(rng.uniform(float(low), float(high)), low), high))


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
