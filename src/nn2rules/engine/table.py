"""The table engine: the certified class of every input, one byte each.

It is the fast engine for small domains, and the reference for the search engine.
"""

from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.engine._kernels.tabling import table_classes
from nn2rules.engine.flat import flatten
from nn2rules.engine.limits import Budget, Meter
from nn2rules.engine.parallel import spread
from nn2rules.engine.proof_or_counterexample import Answer, check_question
from nn2rules.errors import BudgetExceededError, UndecidedError, UnsupportedModelError
from nn2rules.network import UNDECIDED, Network, certified, settle
from nn2rules.space import Domain, Value, refuse_ranges
from nn2rules.space._kernels.boxes import first_other

FLOAT_UNITS = {"float32": 2.0**-24, "float64": 2.0**-53}
"""The unit roundoff of the number formats that frameworks use."""

MOST_CLASSES = 255
"""One byte for each input, with one value for inputs that cannot occur."""

DONT_CARE = MOST_CLASSES
"""Marks inputs that cannot occur, in place of a class."""

_CHUNK = 1 << 18
_CHUNK_WORK = 1 << 28  # multiplications between two checks of the clock
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
        The minimum distance of a score from the decision boundary, in float64.
    n_settled : int
        How many inputs were too close to a tie for float64 and needed exact arithmetic.
    fragile : mapping from "model", "float32" and "float64" to int
        How many inputs are closer to a tie than the rounding error of the model that
        the network was read from, or of a framework that uses this format.
    fragile_inputs : list of dicts
        The first few, for the model or else for float32.
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
        """By how much the position of an input changes with each feature's code."""
        sizes = np.array(self.domain.sizes, dtype=np.int64)
        return np.concatenate([np.cumprod(sizes[::-1])[::-1][1:], [1]])

    def ask(self, box: NDArray[np.bool_], index: int) -> Answer:
        """Return whether every input of `box` has class `index`."""
        check_question(self.domain, self.n_classes, box, index)
        counterexample = np.zeros(len(self.domain.sizes), dtype=np.int64)
        allowed = np.zeros(256, dtype=np.bool_)
        allowed[index] = True
        refuted = first_other(
            self.classes,
            np.array(self.domain.sizes, dtype=np.int64),
            self.strides,
            box,
            self.domain.offsets,
            allowed,
            counterexample,
        )
        return Answer(not refuted, counterexample if refuted else None)

    def counts(self) -> list[int]:
        """Return the number of inputs of each class."""
        counted = np.bincount(self.classes, minlength=self.n_classes)
        return [int(number) for number in counted]


def fits_in_memory(domain: Domain, budget: Budget) -> bool:
    """Return whether the table of `domain` fits in the budget's memory."""
    return domain.n_inputs <= budget.memory


def table_obstacle(network: Network) -> str | None:
    """Return why a network cannot have a table of any size, or None."""
    n_classes = len(network.classes)
    if n_classes > MOST_CLASSES:  # one byte for each input
        return (
            f"a table can have at most {MOST_CLASSES} classes, but the network has "
            f"{n_classes}"
        )
    return None


def array_obstacle(network: Network) -> str | None:
    """Return why rules cannot be made from a table, or None.

    That needs an array with one dimension for each feature.
    """
    if len(network.domain.sizes) > _MOST_DIMENSIONS:
        return f"the engine 'table' takes at most {_MOST_DIMENSIONS} features"
    return table_obstacle(network)


def build_table(
    network: Network,
    *,
    meter: Meter | None = None,
    n_jobs: int | None = None,
) -> Table:
    """Compute the class of every input.

    Parameters
    ----------
    network : Network
    meter : Meter, optional
        The budget to spend.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Raises
    ------
    BudgetExceededError
        If the table does not fit in the budget's memory, or time is up.
    """
    meter = meter or Meter()
    domain, obstacle = network.domain, table_obstacle(network)
    refuse_ranges(domain.features, "a table", "use the engine 'search', or ")
    if not fits_in_memory(domain, meter.budget):
        raise BudgetExceededError(
            f"a table of {domain.n_inputs:,} inputs needs as many bytes; the budget is "
            f"{meter.budget.memory:,} bytes"
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
    """Return the score to exceed, and the margins below which inputs are fragile."""
    margins = np.array(list(fragile_margins(network).values()))
    limit = certified.logit(network.threshold) if network.is_binary else 0.0
    return limit, margins


def fragile_margins(network: Network) -> dict[str, float]:
    """Return the margins below which rounding may change the class.

    For the model that the network was read from, if its rounding error is known, and
    for a framework that computes as the network does, in float32 and in float64.
    """
    layers, offsets = network.layers, network.domain.offsets
    reach = network.domain.reach
    exact_error = certified.error_bound(layers, offsets, reach=reach).max()
    n_outputs = len(network.layers[-1].bias)
    factor = 1 if network.is_binary else 2  # two scores are compared
    margins = {}
    if network.model_error is not None:
        margins["model"] = factor * (network.model_error + float(exact_error))
    for name, unit in FLOAT_UNITS.items():
        error = certified.error_bound(layers, offsets, reach=reach, unit=unit).max()
        error += certified.share_error(network.threshold, unit, n_outputs, exact_error)
        margins[name] = factor * float(error + exact_error)
    return margins


_Tile = tuple[NDArray[np.uint8], int, float, NDArray[np.int64], list[int]]
"""Classes, how many were computed exactly, the minimum margin, how many inputs are
fragile in each way, and the first of these."""


def _classify(
    shared: tuple[FlatNetwork, Network, float, NDArray[np.float64]],
    tile: tuple[int, int],
    meter: Meter,
) -> _Tile:
    """Return the classes of a tile, in exact arithmetic where float64 is not enough."""
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
        chunk[position] = exact_class(network, codes)
        meter.spend()
    positions = [start + p for p in listed[: n_fragile[0]].tolist()]
    return chunk, int(n_undecided), float(smallest), n_fragile, positions


def exact_class(
    network: Network,
    codes: NDArray[np.int64],
    numbers: NDArray[np.float64] | None = None,
) -> int:
    """Return the class of an input in exact arithmetic; numbers default to 1."""
    amounts = np.ones(len(codes)) if numbers is None else numbers
    columns = (network.domain.offsets[:-1] + codes).tolist()
    picks = list(zip(columns, amounts.tolist(), strict=True))
    index = settle(network.layers, network.threshold, picks)
    if index == UNDECIDED:
        [row] = network.domain.decode(codes[np.newaxis], amounts[np.newaxis])
        raise UndecidedError(row)
    return index
