"""How many inputs each class has, on domains of any size.

On a table this is a sum. Beyond it, branch and bound splits the domain into boxes that
are wholly of a class or wholly not; what is decided so far bounds the answer on both
sides, so the count can be stopped at any time.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import Domain, box_sizes
from nn2rules.engine._kernels.search import sort_boxes
from nn2rules.engine.budget import Meter
from nn2rules.engine.flat import boxes_at_once, claim, points, room, stack_of, workspace
from nn2rules.engine.table import MOST_CLASSES, build_table, fits, settle_codes
from nn2rules.errors import BudgetExceededError, DomainError
from nn2rules.network import Network
from nn2rules.spans import refuse_ranges
from nn2rules.values import Value

_BATCH = 4096


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of inputs of each class, or bounds on it.

    Attributes
    ----------
    classes : the class labels
    lower, upper : tuple of int
        For each class; equal when the count is exact.
    probability : tuple of (float, float)
        For each class, bounds on the probability of an input of it, under the
        probabilities given for the values (all alike if none).
    boxes : int
        Boxes searched.
    """

    classes: tuple[Value, ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    probability: tuple[tuple[float, float], ...]
    boxes: int

    @property
    def is_exact(self) -> bool:
        """Whether every class was counted to the last input."""
        return self.lower == self.upper


def count_classes(
    network: Network,
    *,
    probabilities: Mapping[str, Mapping[Value, float]] | None = None,
    meter: Meter | None = None,
) -> Counts:
    """Count the inputs of each class.

    Parameters
    ----------
    network : Network
    probabilities : mapping from features to mappings from values to probabilities
        Features are taken as independent; those not named have all values alike.
    meter : Meter, optional
        When its budget is spent the bounds reached so far are returned.

    Examples
    --------
    >>> from nn2rules import datasets, load
    >>> tomato = load(datasets.network_file("tomato"))
    >>> counts = count_classes(tomato)
    >>> counts.classes, counts.lower, counts.is_exact
    (('unripe', 'ripe'), (4, 2), True)
    """
    meter = meter or Meter()
    refuse_ranges(network.domain.features, "counting")
    chances = value_chances(network.domain, probabilities)
    fitting = fits(network.domain, meter.budget)
    fitting = fitting and len(network.classes) <= MOST_CLASSES
    if probabilities is None and fitting:
        total = network.domain.n_inputs
        counts = tuple(build_table(network, meter=meter).counts())
        shares = tuple((count / total, count / total) for count in counts)
        return Counts(network.classes, counts, counts, shares, 0)
    tallies = _tallies(network, chances, meter)
    total = network.domain.n_inputs
    lower = [tally.positive for tally in tallies]
    upper = [
        min(total - tally.negative, total - sum(lower) + own)
        for tally, own in zip(tallies, lower, strict=True)
    ]
    likely = tuple((t.likely, 1.0 - t.unlikely) for t in tallies)
    return Counts(network.classes, tuple(lower), tuple(upper), likely, meter.boxes)


@dataclass(slots=True)
class Tally:
    """What is decided of one class: inputs, and their probability from below."""

    positive: int = 0
    negative: int = 0
    likely: float = 0.0
    unlikely: float = 0.0

    def add(
        self, box_sizes: list[int], masses: NDArray[np.float64], *, is_in: bool
    ) -> None:
        """Count boxes that are wholly of the class, or wholly not."""
        mass = math.fsum(masses)
        if is_in:
            self.positive += sum(box_sizes)
            self.likely += mass * (1 - 2**-40)
        else:
            self.negative += sum(box_sizes)
            self.unlikely += mass * (1 - 2**-40)


def _tallies(
    network: Network, chances: NDArray[np.float64], meter: Meter
) -> list[Tally]:
    """Decide as much of each class as the budget allows."""
    tallies = [Tally() for _ in network.classes]
    is_binary = len(tallies) == 2
    with suppress(BudgetExceededError):
        for index in range(int(is_binary), len(tallies)):
            _sort(network, index, chances, tallies[index], meter)
    if is_binary:  # what is not of one class is of the other
        one = tallies[1]
        tallies[0] = Tally(one.negative, one.positive, one.unlikely, one.likely)
    return tallies


def _sort(
    network: Network,
    index: int,
    chances: NDArray[np.float64],
    tally: Tally,
    meter: Meter,
) -> None:
    """Split the domain into boxes of class `index` and boxes of others; count them."""
    net = claim(network, index)
    space, stack, top = workspace(net), stack_of(net), 1
    offsets, n_columns = network.domain.offsets, int(net.sizes[0])
    stack.allowed[0], stack.ends[0] = True, network.domain.limits
    decided, ties = room(net, _BATCH), points(net, _BATCH)
    answers = np.zeros(_BATCH, dtype=np.bool_)
    total, batch = network.domain.n_inputs, min(_BATCH, boxes_at_once(net))
    while top > 0:
        top, n_ties, n_decided, n_boxes = sort_boxes(
            net, space, stack, top, ties, decided, answers, meter.allowance(batch)
        )
        for is_in in (False, True):
            chosen = decided.allowed[:n_decided][answers[:n_decided] == is_in]
            tally.add(
                box_sizes(network.domain, chosen),
                _masses(offsets, chosen, chances),
                is_in=is_in,
            )
        for codes in ties.codes[:n_ties]:
            single = np.zeros((1, n_columns), dtype=np.bool_)
            single[0, offsets[:-1] + codes] = True
            is_in = settle_codes(network, codes) == index
            tally.add([1], _masses(offsets, single, chances), is_in=is_in)
        meter.spend(n_boxes)
        meter.report(
            f"counting class {network.classes[index]}",
            float((tally.positive + tally.negative) / total),
        )


def _masses(
    offsets: NDArray[np.int64], boxes: NDArray[np.bool_], chances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probability of each of `boxes`, within a relative error of 2**-41."""
    masses: NDArray[np.float64] = np.add.reduceat(
        boxes * chances, offsets[:-1], axis=1
    ).prod(axis=1)
    return masses


def value_chances(
    domain: Domain, probabilities: Mapping[str, Mapping[Value, float]] | None
) -> NDArray[np.float64]:
    """Return the probability of every value; of each feature they add up to 1."""
    chances: list[float] = []
    given = dict(probabilities or {})
    for feature in domain.features:
        if feature.name not in given:
            chances += [1 / len(feature)] * len(feature)
            continue
        own = dict(given.pop(feature.name))
        chances += _checked_chances(feature.name, feature.values, own)
    if given:
        raise DomainError(f"probabilities: there is no feature {next(iter(given))!r}")
    return np.array(chances)


def _checked_chances(
    name: str, values: Sequence[Value], own: dict[Value, float]
) -> list[float]:
    for value, chance in own.items():
        if value not in values:
            raise DomainError(f"probabilities: feature {name!r} has no value {value!r}")
        if not 0 <= chance <= 1:
            raise DomainError(
                f"probabilities: {chance} for {name!r} = {value!r}, expected 0 to 1"
            )
    total = math.fsum(own.values())
    if abs(total - 1) > 1e-9:
        raise DomainError(
            f"probabilities of feature {name!r} add up to {total:g}, expected 1"
        )
    return [own.get(value, 0.0) / total for value in values]
