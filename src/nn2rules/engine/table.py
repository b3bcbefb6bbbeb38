"""The table engine: the class of every input, certified, and questions about boxes.

The whole truth table is one byte for each input. It is the fast path for domains that
fit, and the referee of the search engine.
"""

from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.engine._kernels.tabling import table_classes
from nn2rules.engine.answer import Answer, check_question
from nn2rules.engine.flat import flatten
from nn2rules.engine.limits import Budget, Meter
from nn2rules.engine.parallel import spread
from nn2rules.errors import BudgetExceededError, UndecidedError, UnsupportedModelError
from nn2rules.network import UNDECIDED, Network, certified, settle
from nn2rules.space import Domain, Value, refuse_ranges
from nn2rules.space._kernels.boxes import first_other

FLOAT_UNITS = {"float32": 2.0**-24, "float64": 2.0**-53}
"""The unit roundoff of the formats that frameworks compute in."""

MOST_CLASSES = 255
"""A byte for each input, and one value of it for inputs that cannot occur."""

DONT_CARE = MOST_CLASSES
"""In place of a class, for inputs that cannot occur."""

_CHUNK = 1 << 18
_CHUNK_WORK = 1 << 28  # multiplications between two looks at the clock
_LISTED = 5
_MOST_DIMENSIONS = 64  # of an array, in numpy


@dataclass(frozen=True)
class Table:
    """The truth table of a network.

    Attributes
    ----------
    domain : Domain
    classes : ndarray of uint8, shape (n_inputs,)
        The index of each input's class; the last feature changes fastest.
    smallest_margin : float
        The smallest distance of a score from the decision, in float64.
    n_settled : int
        How many inputs were too near to a tie for float64 and settled exactly.
    fragile : mapping from "model", "float32" and "float64" to int
        How many inputs lie within the error of the model that the network was read
        from, and of a framework that computes in these formats.
    fragile_inputs : list of dicts
        The first few, of the model or else of float32.
    """

    domain: Domain
    classes: NDArray[np.uint8]
    n_classes: int
    smallest_margin: float
    n_settled: int
    fragile: dict[str, int]
    fragile_inputs: list[dict[str, Value]]

    @cached_property
    def strides(self) -> NDArray[np.int64]:
        """How far apart two inputs are that differ by one in a feature."""
        sizes = np.array(self.domain.sizes, dtype=np.int64)
        return np.concatenate([np.cumprod(sizes[::-1])[::-1][1:], [1]])

    def ask(self, box: NDArray[np.bool_], index: int) -> Answer:
        """Tell whether every input of `box` is of class `index`."""
        check_question(self.domain, self.n_classes, box, index)
        found = np.zeros(len(self.domain.sizes), dtype=np.int64)
        wanted = np.zeros(256, dtype=np.bool_)
        wanted[index] = True
        refuted = first_other(
            self.classes,
            np.array(self.domain.sizes, dtype=np.int64),
            self.strides,
            box,
            self.domain.offsets,
            wanted,
            found,
        )
        return Answer(not refuted, found if refuted else None)

    def counts(self) -> list[int]:
        """Return the number of inputs of each class."""
        counted = np.bincount(self.classes, minlength=self.n_classes)
        return [int(number) for number in counted]


def fits(domain: Domain, budget: Budget) -> bool:
    """Tell whether the table of `domain` is within the budget's memory."""
    return domain.n_inputs <= budget.memory


def table_obstacle(network: Network) -> str | None:
    """Say why no table can hold a network, however much memory there is, or None."""
    n_classes = len(network.classes)
    if n_classes > MOST_CLASSES:  # a byte for each input
        return (
            f"a table holds at most {MOST_CLASSES} classes, and the network has "
            f"{n_classes}"
        )
    return None


def array_obstacle(network: Network) -> str | None:
    """Say why rules cannot be made from a table, or None.

    For that it becomes an array with a dimension for each feature.
    """
    if len(network.domain.sizes) > _MOST_DIMENSIONS:
        return f"the engine 'table' takes {_MOST_DIMENSIONS} features at most"
    return table_obstacle(network)


def build_table(
    network: Network,
    *,
    meter: Meter | None = None,
    n_jobs: int | None = None,
) -> Table:
    """Work out the class of every input.

    Parameters
    ----------
    network : Network
    meter : Meter, optional
        The budget to spend.
    n_jobs : int, optional
        How many threads; the result is the same whatever their number.

    Raises
    ------
    BudgetExceededError
        If the table does not fit in the budget's memory, or the time is spent.
    """
    meter = meter or Meter()
    domain, obstacle = network.domain, table_obstacle(network)
    refuse_ranges(domain.features, "a table", "use the engine 'search', or ")
    if not fits(domain, meter.budget):
        raise BudgetExceededError(
            f"a table of {domain.n_inputs:,} inputs needs as many bytes, more than the "
            f"budget of {meter.budget.memory:,}"
        )
    if obstacle is not None:
        raise UnsupportedModelError(f"{obstacle}; use the engine 'search'")
    net = flatten(network.layers, domain)
    limit, fragile = _limits(network)
    classes = np.empty(domain.n_inputs, dtype=np.uint8)
    chunk = min(_CHUNK, max(1, _CHUNK_WORK // len(net.weights)))
    starts = range(0, domain.n_inputs, chunk)
    smallest, n_settled = np.inf, 0
    n_fragile = np.zeros(len(fragile), dtype=np.int64)
    listed: list[int] = []
    tiles = [(start, min(start + chunk, domain.n_inputs)) for start in starts]
    shared = net, network, limit, fragile
    work = spread(_classify, shared, tiles, meter=meter, n_jobs=n_jobs)
    with closing(work) as results:
        for number, (part, settled, margin, counted, positions) in enumerate(results):
            classes[starts[number] : starts[number] + len(part)] = part
            smallest, n_settled = min(smallest, margin), n_settled + settled
            n_fragile += counted
            listed += positions
            meter.spend()
            meter.report("classifying every input", (number + 1) / len(starts))
    kinds = fragile_margins(network)
    return Table(
        domain,
        classes,
        len(network.classes),
        float(smallest),
        n_settled,
        dict(zip(kinds, map(int, n_fragile), strict=True)),
        [domain.input(position) for position in listed[:_LISTED]],
    )


def _limits(network: Network) -> tuple[float, NDArray[np.float64]]:
    """Return the score to exceed, and within which margins an input is fragile."""
    margins = np.array(list(fragile_margins(network).values()))
    limit = certified.logit(network.threshold) if network.is_binary else 0.0
    return limit, margins


def fragile_margins(network: Network) -> dict[str, float]:
    """Return how near to the decision a score must be to be fragile, by format.

    For the model that the network was read from, if its rounding is known; for a
    framework that computes as the network does, in float32 and in float64.
    """
    layers, offsets = network.layers, network.domain.offsets
    reach = network.domain.reach
    own = certified.error_bound(layers, offsets, reach=reach).max()
    n_outputs = len(network.layers[-1].bias)
    factor = 1 if network.is_binary else 2  # two scores are compared
    margins = {}
    if network.model_error is not None:
        margins["model"] = factor * (network.model_error + float(own))
    for name, unit in FLOAT_UNITS.items():
        error = certified.error_bound(layers, offsets, reach=reach, unit=unit).max()
        error += certified.share_error(network.threshold, unit, n_outputs, own)
        margins[name] = factor * float(error + own)
    return margins


_Tile = tuple[NDArray[np.uint8], int, float, NDArray[np.int64], list[int]]
"""Classes, how many of them were settled exactly, the smallest margin, how many are
fragile in each way, and the first of these."""


def _classify(
    shared: tuple[FlatNetwork, Network, float, NDArray[np.float64]],
    tile: tuple[int, int],
    meter: Meter,
) -> _Tile:
    """Return the classes of a tile, what float64 cannot decide settled exactly."""
    (net, network, limit, fragile), (start, stop) = shared, tile
    chunk = np.empty(stop - start, dtype=np.uint8)
    undecided = np.empty(len(chunk), dtype=np.int64)
    listed = np.empty(_LISTED, dtype=np.int64)
    slack = net._replace(error=net.error + 16 * certified.UNIT * abs(limit))
    n_undecided, smallest, n_fragile = table_classes(
        slack, limit, fragile, start, chunk, undecided, listed
    )
    for position in undecided[:n_undecided].tolist():
        [codes] = network.domain.codes_of(np.array([start + position]))
        chunk[position] = settle_codes(network, codes)
        meter.spend()
    positions = [start + p for p in listed[: n_fragile[0]].tolist()]
    return chunk, int(n_undecided), float(smallest), n_fragile, positions


def settle_codes(
    network: Network,
    codes: NDArray[np.int64],
    numbers: NDArray[np.float64] | None = None,
) -> int:
    """Return the class of an input by exact arithmetic; numbers are 1 by default."""
    amounts = np.ones(len(codes)) if numbers is None else numbers
    columns = (network.domain.offsets[:-1] + codes).tolist()
    picks = list(zip(columns, amounts.tolist(), strict=True))
    index = settle(network.layers, network.threshold, picks)
    if index == UNDECIDED:
        [row] = network.domain.decode(codes[np.newaxis], amounts[np.newaxis])
        raise UndecidedError(row)
    return index
