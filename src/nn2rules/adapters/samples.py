"""Inputs on which preprocessing is compared with what was found out about it."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nn2rules.adapters.rows import RowMaker

_ROWS = 2048
_CELLS = 4_000_000


def samples(maker: RowMaker) -> Iterator[NDArray[np.int64]]:
    """Yield inputs of several kinds: random ones, strangers, and mixtures of rows.

    Where columns depend on each other, a random input is unlike all rows. A mixture of
    two is like them, and reaches what a step does where several columns meet.
    """
    sizes, rng = np.array(maker.domain.sizes), np.random.default_rng(0)
    n_rows = max(1, min(_ROWS, _CELLS // len(sizes)))
    yield rng.integers(sizes, size=(n_rows, len(sizes)))
    n_strangers = max(maker.n_strangers.values(), default=0)
    if n_strangers:
        strange = rng.integers(sizes, size=(n_strangers, len(sizes)))
        for index, feature in enumerate(maker.domain.features):
            if feature.other is not None:
                strange[:, index] = feature.values.index(feature.other)
        yield strange
    rows = maker.observed(n_rows, rng)
    if len(rows):
        one, two = (rows[rng.integers(len(rows), size=n_rows)] for _ in range(2))
        is_one = rng.random(one.shape) < rng.random((n_rows, 1))
        mixed = np.where(is_one, one, two)
        places = rng.integers(len(sizes), size=n_rows)  # and one value at random
        mixed[np.arange(n_rows), places] = rng.integers(sizes[places])
        yield mixed
