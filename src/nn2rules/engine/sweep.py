"""Every input of a domain, one by one on a device, tile by tile.

The features are cut in two. The first sums of all values of the last features are made
once; those of the first features are made for the rows of a tile. Each input's first
pre-activations are the sum of a row's and a column's, so the order is that of a table:
the last feature changes fastest.
"""

import logging
import math
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules import arithmetic
from nn2rules.device import torch_device
from nn2rules.engine.device_scores import (
    UNDECIDED,
    Format,
    by_matrices,
    clear_classes,
    format_of,
    is_narrow,
    on_tiles,
    plain_arithmetic,
)
from nn2rules.network import Network

_NUMBERS = {"cuda": 1 << 24, "cpu": 1 << 20}  # held at once
_COLUMNS = 1 << 16  # at most, in a tile
_WORTH_COMPILING = 1 << 28  # inputs; it takes some ten seconds
_LARGEST = (1 << 63) - 1
_GAP, _RUN = 64, 1 << 16  # of inputs that are classified again


class Sweep:
    """Classifies the inputs of a domain on a device.

    Parameters
    ----------
    network : Network
        Without ranges of numbers, of at most 255 classes.
    device : str
        As PyTorch calls it.
    compiled : bool, optional
        Whether to compile what a tile needs to one kernel; by default on CUDA, where
        there is enough to do. Whatever fails there is done without.

    Attributes
    ----------
    error : float
        How far a margin that the device finds may be off.
    """

    def __init__(
        self, network: Network, device: str, *, compiled: bool | None = None
    ) -> None:
        self.network = network
        self.torch, self.device = torch_device(device)
        torch, sizes = self.torch, network.domain.sizes
        widest = max(len(layer.bias) for layer in network.layers)
        self._numbers = _NUMBERS[self.device.type]
        cut = _cut(sizes, min(_COLUMNS, max(1, self._numbers // widest)))
        self.n_columns = math.prod(sizes[cut:])
        self.n_rows = network.domain.n_inputs // self.n_columns
        make = partial(format_of, network, torch, self.device)
        self._formats = [make(single=True), make(single=False)]
        if not math.isfinite(self._formats[0].error):
            del self._formats[0]
        self.error = self._formats[0].error
        self._firsts, self._lasts, self._all = (
            _Picks(sizes, part, network.domain.offsets, torch, self.device)
            for part in (slice(cut), slice(cut, None), slice(None))
        )
        self._by_matrices = by_matrices(network, torch)
        per_row = widest * (len(sizes) + 1)
        self._most_rows = max(1, self._numbers // per_row)
        self._set_rows(self._numbers // widest)
        with plain_arithmetic(torch, self.device):
            sums = self._lasts.sums(self._formats[0], 0, self.n_columns)
        self._last = sums.T.contiguous()
        self._decide = on_tiles(network, torch)
        self._classes = self._fast = clear_classes(self._decide, torch)
        if compiled is None:
            is_long = network.domain.n_inputs >= _WORTH_COMPILING
            compiled = is_long and self.device.type == "cuda"
        if compiled and is_narrow(network):
            self._compile()

    def _set_rows(self, n_inputs: int) -> None:
        """Make tiles of about so many inputs."""
        rows = max(1, n_inputs // self.n_columns)
        self.rows = min(rows, self.n_rows, self._most_rows)

    def _compile(self) -> None:
        """Make one kernel of a whole tile, which then needs no memory on the way."""
        before = self.rows
        self._set_rows(4 * self._numbers)
        self._fast = self.torch.compile(self._classes, fullgraph=True, dynamic=False)
        try:
            self.classify(0, self.rows * self.n_columns)
        except Exception as error:  # noqa: BLE001 - compilers fail in many ways
            logging.getLogger(__name__).info("not compiled: %s", error)
            self._fast, self.rows = self._classes, before

    @property
    def starts(self) -> range:
        """The numbers of the inputs at which tiles begin."""
        step = self.rows * self.n_columns
        return range(0, self.network.domain.n_inputs, step)

    def tiles(self) -> Iterator[tuple[int, int]]:
        """Yield where each tile begins and ends, as numbers of inputs."""
        for start in self.starts:
            yield start, min(start + self.starts.step, self.network.domain.n_inputs)

    def classify(self, start: int, stop: int) -> tuple[Any, list[int]]:
        """Return the classes of a tile's inputs, and where they need exact arithmetic.

        They are a tensor of uint8 on the device; there, they are `UNDECIDED`.
        """
        form = self._formats[0]
        with plain_arithmetic(self.torch, self.device):
            first, rest = self._parts(start, stop)
            function = self._fast if len(first) == self.rows else self._classes
            codes = function(first, self._last, self._above(form.error), *rest)
            codes = codes.reshape(-1)
            left = (codes == UNDECIDED).nonzero()[:, 0]
            if len(left) and len(self._formats) > 1:
                codes[left] = self._again(start + left)
                left = left[codes[left] == UNDECIDED]
        return codes, left.tolist()

    def near(self, start: int, stop: int, margin: float) -> tuple[Any, float]:
        """Return the classes of a tile's inputs, and the smallest margin found.

        Inputs whose margin is not above `margin` are `UNDECIDED`. The smallest one is
        NaN if some are not numbers.
        """
        with plain_arithmetic(self.torch, self.device):
            first, rest = self._parts(start, stop)
            best, margins = self._decide(first, self._last, *rest)
            is_clear = margins > self._above(max(margin, self.error))
            codes = self.torch.where(is_clear, best.to(self.torch.uint8), UNDECIDED)
            return codes.reshape(-1).cpu().numpy(), float(margins.amin())

    def _parts(self, start: int, stop: int) -> tuple[Any, list[Any]]:
        """Return the sums of a tile's rows, and the numbers of the later layers."""
        form = self._formats[0]
        row, to = start // self.n_columns, stop // self.n_columns
        first = self._firsts.sums(form, row, to) + form.layers[0][1]
        return first, [form.limit, *_later(form)]

    def _above(self, margin: float) -> Any:
        """Return a number of the device's format that is above a margin."""
        form = self._formats[0]
        kind = np.float32 if form.dtype == self.torch.float32 else np.float64
        with np.errstate(over="ignore"):
            above = float(np.nextafter(kind(margin), kind(np.inf)))
        return self.torch.tensor(above, dtype=form.dtype, device=self.device)

    def _again(self, positions: Any) -> Any:
        """Return the classes of some inputs in float64."""
        form, torch = self._formats[-1], self.torch
        found = []
        for some in positions.split(self._most_rows):
            sums = self._all.sums_at(form, some) + form.layers[0][1]
            best, margin = self._by_matrices(sums, form.limit, *_later(form))
            best = best.to(torch.uint8)
            found.append(torch.where(margin > form.error, best, UNDECIDED))
        return torch.cat(found)


def _later(form: Format) -> list[Any]:
    """Return the numbers of the layers after the first, one after another."""
    return [number for layer in form.layers[1:] for number in layer]


class _Picks:
    """What combinations of some features' values pick of the first layer."""

    def __init__(
        self,
        sizes: Sequence[int],
        part: slice,
        offsets: NDArray[np.int64],
        torch: Any,
        device: Any,
    ) -> None:
        own = sizes[part]
        steps = [*accumulate(reversed(own[1:]), mul, initial=1)][::-1][: len(own)]
        # No number of an input reaches the largest step, so it may be any larger one.
        kept = [min(step, _LARGEST) for step in steps]
        as_tensor = partial(torch.tensor, dtype=torch.int64, device=device)
        self._steps, self._sizes = as_tensor(kept), as_tensor(list(own))
        self._offsets = as_tensor(offsets[:-1][part].tolist())
        self._torch, self._device = torch, device

    def sums(self, form: Format, start: int, stop: int) -> Any:
        """Return the sums of consecutive combinations."""
        numbers = self._torch.arange(start, stop, device=self._device)
        return self.sums_at(form, numbers)

    def sums_at(self, form: Format, numbers: Any) -> Any:
        """Return the sums of combinations, of shape (n, n_units), without the bias."""
        codes = numbers[:, None] // self._steps % self._sizes
        return form.layers[0][0][codes + self._offsets].sum(dim=1)


def _cut(sizes: Sequence[int], most: int) -> int:
    """Return where to cut, so that the last features have `most` combinations."""
    cut, product = len(sizes), 1
    while cut > 0 and product * sizes[cut - 1] <= most:
        cut -= 1
        product *= sizes[cut]
    return cut


Result = tuple[NDArray[np.uint8], int, float, NDArray[np.int64], list[int]]
"""Classes, how many of them were settled exactly, the smallest margin, how many are
fragile in each way, and the first of these."""


def fill(
    sweep: Sweep, margin: float, again: Callable[[int, int], Result]
) -> Generator[Result, None, None]:
    """Yield what `again` would return of each tile, asking it only where it must.

    Parameters
    ----------
    sweep : Sweep
    margin : float
        Inputs whose float64 margin may be as small are classified again, and so are
        those that may have the smallest margin of all.
    again : function
        Takes the numbers where some inputs begin and end.
    """
    exact = arithmetic.error_bound(sweep.network.layers, sweep.network.domain.offsets)
    error = 2 * (sweep.error + 2 * float(exact.max()))  # of a difference of margins
    smallest = math.inf
    for start, stop in sweep.tiles():
        chunk, lowest = sweep.near(start, stop, margin + error)
        if not lowest > smallest + error and not lowest < margin:
            least = math.inf if math.isnan(lowest) else lowest + error
            chunk, _ = sweep.near(start, stop, max(margin, least) + error)
        n_settled, counts, listed = 0, np.zeros(1, dtype=np.int64), list[int]()
        for low, high in _runs(np.flatnonzero(chunk == UNDECIDED)):
            part, settled, least, counted, positions = again(start + low, start + high)
            chunk[low:high] = part
            smallest, n_settled = min(smallest, least), n_settled + settled
            counts, listed = counts + counted, listed + positions
        yield chunk, n_settled, smallest, counts, listed


def _runs(positions: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield where runs of positions begin and end; what is near each other is one."""
    if len(positions):
        is_far = np.diff(positions) > _GAP
        begins = positions[np.concatenate([[True], is_far])].tolist()
        ends = (positions[np.concatenate([is_far, [True]])] + 1).tolist()
        for begin, end in zip(begins, ends, strict=True):
            for low in range(begin, end, _RUN):
                yield low, min(low + _RUN, end)
