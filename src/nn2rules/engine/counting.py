"""How many inputs each class has and how likely they are, on domains of any size.

On a table this is a sum. Beyond it, branch and bound splits the domain into boxes whose
inputs all have a class or all do not. The boxes classified so far bound the count on
both sides, so it can be stopped at any time. Every box is split a few times before any
is split more often, so that no part of the domain is left out.
"""

import math
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.search import Stack, sort_boxes
from nn2rules.engine.flat import (
    boxes_per_check,
    claim,
    empty_boxes,
    empty_inputs,
    empty_stack,
    workspace,
)
from nn2rules.engine.limits import Meter
from nn2rules.engine.parallel import in_threads, spread
from nn2rules.engine.table import MOST_CLASSES, build_table, exact_class, fits_in_memory
from nn2rules.errors import BudgetExceededError, DomainError, OptionError
from nn2rules.network import Network
from nn2rules.space import Boxes, Domain, Feature, Range, Value, box_sizes, volumes

_BATCH = 4096
_TILES, _CUTS = 64, 256
_LARGE = 1e300
_ROUNDING = Fraction(1, 1 << 40)  # far beyond the error of a product of float64


@dataclass(slots=True)
class Tally:
    """Counts for one class: inputs, and lower bounds on their probability."""

    positive: int = 0
    negative: int = 0
    likely: Fraction = Fraction(0)
    unlikely: Fraction = Fraction(0)

    def add(
        self, box_sizes: list[int], masses: NDArray[np.float64], *, is_in: bool
    ) -> None:
        """Count boxes whose inputs are all of the class, or all not."""
        mass = Fraction(math.fsum(masses)) * (1 - _ROUNDING)
        if is_in:
            self.positive += sum(box_sizes)
            self.likely += mass
        else:
            self.negative += sum(box_sizes)
            self.unlikely += mass

    def raised_to(self, other: "Tally") -> "Tally":
        """Keep the larger of both counts, each by itself; return the increase."""
        better = Tally(
            max(self.positive, other.positive),
            max(self.negative, other.negative),
            max(self.likely, other.likely),
            max(self.unlikely, other.unlikely),
        )
        gain = Tally(
            better.positive - self.positive,
            better.negative - self.negative,
            better.likely - self.likely,
            better.unlikely - self.unlikely,
        )
        self.join(gain)
        return gain

    def join(self, other: "Tally") -> None:
        """Add the counts of other inputs."""
        self.positive += other.positive
        self.negative += other.negative
        self.likely += other.likely
        self.unlikely += other.unlikely


class Weighed(NamedTuple):
    """What all tiles share: a network, and the probability of each value."""

    network: Network
    chances: NDArray[np.float64]


class Tile(NamedTuple):
    """A box to classify for a class, with its bounds: an entry of a stack."""

    of_class: int
    box: Stack


class Sorted(NamedTuple):
    """The result of a tile.

    Attributes
    ----------
    tally : Tally
    n_boxes : int
    is_open : bool
        Whether more splits would classify more.
    is_spent : bool
        Whether the budget ended the work.
    """

    tally: Tally
    n_boxes: int
    is_open: bool
    is_spent: bool


def cut(weighed: Weighed, index: int, tally: Tally, meter: Meter) -> list[Tile]:
    """Cut the domain into tiles, and count the boxes classified on the way.

    The widest of the remaining boxes is halved next.
    """
    sorting = _Sorting(weighed, index, tally, size=1)
    stack = sorting.stack
    stack.allowed[0], stack.ends[0] = True, weighed.network.domain.limits
    open_ = deque([_taken(stack, 0)])
    for _ in range(_CUTS):
        if not 0 < len(open_) < _TILES:
            break
        _put(stack, open_.popleft())
        top, n_boxes, _ = sorting.step(1, 1, sorting.deepest)
        open_.extend(_taken(stack, place) for place in range(top))
        meter.spend(n_boxes)
    return [Tile(index, box) for box in open_]


def sort_tile(weighed: Weighed, task: tuple[Tile, int], meter: Meter) -> Sorted:
    """Split a tile into boxes of a class and boxes of others, and count them.

    Boxes that are not classified after the given number of splits are left out.
    """
    (index, box), splits = task
    quiet_meter = replace(meter, progress=None)
    sorting = _Sorting(weighed, index, Tally())
    _put(sorting.stack, box)
    top, n_boxes, n_open = 1, 0, 0
    try:
        quiet_meter.spend()
        while top > 0:
            limit = quiet_meter.allowance(sorting.at_once)
            top, n_sorted, n_left = sorting.step(top, limit, splits)
            n_boxes, n_open = n_boxes + n_sorted, n_open + n_left
            quiet_meter.spend(n_sorted)
    except BudgetExceededError:
        return Sorted(sorting.tally, n_boxes, is_open=True, is_spent=True)
    is_open = n_open > 0 and splits < sorting.deepest
    return Sorted(sorting.tally, n_boxes, is_open, is_spent=False)


def _taken(stack: Stack, place: int) -> Stack:
    parts: list[Any] = [part[place : place + 1].copy() for part in stack]
    return Stack(*parts)


def _put(stack: Stack, box: Stack) -> None:
    for array, entry in zip(stack, box, strict=True):
        array[:1] = entry


class _Sorting:
    """Classifies the boxes of a stack for one class, `size` at a time."""

    def __init__(
        self, weighed: Weighed, index: int, tally: Tally, *, size: int = _BATCH
    ) -> None:
        self.weighed, self.index, self.tally = weighed, index, tally
        self.net = claim(weighed.network, index)
        self.stack, self._space = empty_stack(self.net), workspace(self.net)
        self.deepest = len(self.stack.depth) - 3
        self.at_once = min(size, boxes_per_check(self.net))
        self._decided, self._ties = (
            empty_boxes(self.net, size),
            empty_inputs(self.net, size),
        )
        self._answers = np.zeros(size, dtype=np.bool_)

    def step(self, top: int, limit: int, deepest: int) -> tuple[int, int, int]:
        """Classify at most `limit` boxes, and count them.

        Returns how many boxes are left on the stack, how many were searched, and how
        many of those were left out because they were split `deepest` times.
        """
        top, n_ties, n_decided, n_boxes, n_left = sort_boxes(
            self.net,
            self._space,
            self.stack,
            top,
            self._ties,
            self._decided,
            self._answers,
            limit,
            min(deepest, self.deepest),
        )
        self._add(self._decided, self._answers[:n_decided])
        for codes, numbers in zip(
            self._ties.codes[:n_ties], self._ties.numbers[:n_ties], strict=True
        ):
            self._settle(codes, numbers)
        return top, n_boxes, n_left

    def _add(self, decided: Boxes, answers: NDArray[np.bool_]) -> None:
        """Count boxes that were classified."""
        domain, chances = self.weighed.network.domain, self.weighed.chances
        for is_in in (False, True):
            chosen = np.flatnonzero(answers == is_in)
            boxes = Boxes(decided.allowed[chosen], decided.ends[chosen])
            masses = masses_of(domain, boxes, chances)
            self.tally.add(box_sizes(domain, boxes.allowed), masses, is_in=is_in)

    def _settle(self, codes: NDArray[np.int64], numbers: NDArray[np.float64]) -> None:
        """Count one input, using exact arithmetic."""
        network, chances = self.weighed
        is_in = exact_class(network, codes, numbers) == self.index
        allowed = np.zeros((1, len(chances)), dtype=np.bool_)
        allowed[0, network.domain.offsets[:-1] + codes] = True
        one = Boxes(allowed, np.stack([numbers, numbers])[np.newaxis])
        self.tally.add([1], masses_of(network.domain, one, chances), is_in=is_in)


_FIRST_SPLITS, _MORE_SPLITS = 6, 3


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of inputs of each class, or bounds on it.

    Attributes
    ----------
    classes : the class labels
    lower, upper : tuple of int, or None
        For each class; equal if the count is exact. None if a feature is a range of
        numbers, whose inputs cannot be counted.
    probability : tuple of (float, float)
        For each class, bounds on the probability that an input has this class, given
        the probabilities of the values (uniform by default). Numbers are uniform on
        their range.
    boxes : int
        Number of boxes searched.
    """

    classes: tuple[Value, ...]
    lower: tuple[int, ...] | None
    upper: tuple[int, ...] | None
    probability: tuple[tuple[float, float], ...]
    boxes: int

    @property
    def is_exact(self) -> bool:
        """Whether the count of every class is exact."""
        return self.lower is not None and self.lower == self.upper


def count_classes(
    network: Network,
    *,
    probabilities: Mapping[str, Mapping[Value, float]] | None = None,
    meter: Meter | None = None,
    n_jobs: int | None = None,
) -> Counts:
    """Count the inputs of each class.

    Parameters
    ----------
    network : Network
    probabilities : mapping from features to mappings from values to probabilities
        Features are independent of each other; those not named are uniform.
    meter : Meter, optional
        When its budget is spent, the current bounds are returned. Domains with ranges
        of real numbers need a budget.
    n_jobs : int, optional
        Number of threads, by default one per core; the result does not depend on it.

    Examples
    --------
    >>> from nn2rules import datasets, load
    >>> tomato = load(datasets.network_file("tomato"))
    >>> counts = count_classes(tomato)
    >>> counts.classes, counts.lower, counts.is_exact
    (('unripe', 'ripe'), (4, 2), True)
    """
    meter = meter or Meter()
    domain = network.domain
    _refuse_endless(domain, meter)
    chances = value_chances(domain, probabilities)
    has_table = not domain.has_ranges and fits_in_memory(domain, meter.budget)
    has_table = has_table and len(network.classes) <= MOST_CLASSES
    total = domain.n_inputs
    if probabilities is None and has_table:
        counts = tuple(build_table(network, meter=meter, n_jobs=n_jobs).counts())
        shares = tuple((count / total, count / total) for count in counts)
        return Counts(network.classes, counts, counts, shares, 0)
    tallies = [Tally() for _ in network.classes]
    _Counting(Weighed(network, chances), tallies, meter, n_jobs).count()
    likely = tuple(
        (_rounded(t.likely, down=True), _rounded(1 - t.unlikely, down=False))
        for t in tallies
    )
    if domain.has_ranges:
        return Counts(network.classes, None, None, likely, meter.boxes)
    lower = [tally.positive for tally in tallies]
    upper = [
        min(total - tally.negative, total - sum(lower) + count)
        for tally, count in zip(tallies, lower, strict=True)
    ]
    return Counts(network.classes, tuple(lower), tuple(upper), likely, meter.boxes)


def _refuse_endless(domain: Domain, meter: Meter) -> None:
    """Refuse to count on ranges of real numbers without a limit."""
    real = [f for f in domain.features if isinstance(f, Range) and not f.whole]
    if real and meter.budget.seconds is None and meter.budget.boxes is None:
        raise OptionError(
            f"feature {real[0].name!r} is a range of real numbers, on which counting "
            f"never ends; give a budget: meter=Meter(Budget(seconds=10))"
        )


def _rounded(number: Fraction, *, down: bool) -> float:
    """Return the nearest float64 that is at most, or at least, a probability."""
    nearest = float(number)
    if down and nearest > number:
        return math.nextafter(nearest, 0.0)
    if not down and nearest < number:
        return math.nextafter(nearest, 1.0)
    return nearest


@dataclass
class _Counting:
    """Counts by search, tile by tile, in rounds with more and more splits."""

    weighed: Weighed
    tallies: list[Tally]
    meter: Meter
    n_jobs: int | None

    def count(self) -> None:
        """Classify as much of the domain as the budget allows."""
        is_binary, open_, splits = len(self.tallies) == 2, [], _FIRST_SPLITS
        with suppress(BudgetExceededError):
            for index in range(int(is_binary), len(self.tallies)):
                tiles = cut(self.weighed, index, self.tallies[index], self.meter)
                open_ += [(tile, Tally()) for tile in tiles]
            while open_:
                open_ = self._round(open_, splits)
                splits += _MORE_SPLITS
        if is_binary:  # what is not of one class is of the other
            one = self.tallies[1]
            self.tallies[0] = Tally(
                one.negative, one.positive, one.unlikely, one.likely
            )

    def _round(
        self, open_: list[tuple[Tile, Tally]], splits: int
    ) -> list[tuple[Tile, Tally]]:
        """Classify tiles again, with more splits; return those that need even more.

        Each tile comes with its counts so far. If the budget limits boxes, tiles are
        classified one after the other.
        """
        meter, remaining, is_spent = self.meter, [], False
        is_counted = meter.budget.boxes is not None
        many, n_jobs = (in_threads, 1) if is_counted else (spread, self.n_jobs)
        tasks = [(tile, splits) for tile, _ in open_]
        work = many(sort_tile, self.weighed, tasks, meter=meter, n_jobs=n_jobs)
        with closing(work) as results:
            for (tile, counted), result in zip(open_, results, strict=True):
                total, label = self.tallies[tile.of_class], self._label(tile)
                total.join(counted.raised_to(result.tally))
                meter.boxes += result.n_boxes
                is_spent |= result.is_spent
                remaining += [(tile, counted)] if result.is_open else []
                done = float(total.likely + total.unlikely)
                meter.report(f"counting class {label}", done)
        return [] if is_spent else remaining

    def _label(self, tile: Tile) -> Value:
        return self.weighed.network.classes[tile.of_class]


def masses_of(
    domain: Domain, boxes: Boxes, chances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probability of each of `boxes`, within a relative error of 2**-41."""
    parts = boxes.allowed * chances
    for index, feature in enumerate(domain.features):
        if isinstance(feature, Range):
            low, high = boxes.ends[:, 0, index], boxes.ends[:, 1, index]
            parts[:, domain.ranges[index]] *= _width(feature, low, high)
    masses: NDArray[np.float64] = np.add.reduceat(
        parts, domain.offsets[:-1], axis=1
    ).prod(axis=1)
    return masses


def _width(
    feature: Feature, low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the fraction of a range of numbers that lies between two ends."""
    assert isinstance(feature, Range), "asked only of ranges"
    first, last = map(float, feature.limits)
    if feature.whole:
        return (high - low + 1) / (last - first + 1)
    if first == last:
        return np.ones_like(low)
    scale = 0.5 if max(-first, last) > _LARGE else 1.0  # so that nothing overflows
    return (scale * high - scale * low) / (scale * last - scale * first)


def value_chances(
    domain: Domain, probabilities: Mapping[str, Mapping[Value, float]] | None
) -> NDArray[np.float64]:
    """Return the probability of every value; they add up to 1 for each feature."""
    chances: list[float] = []
    remaining = dict(probabilities or {})
    for feature in domain.features:
        if feature.name not in remaining:
            chances += [float(part) for part in volumes(feature)]
            continue
        if isinstance(feature, Range):
            raise DomainError(
                f"probabilities: feature {feature.name!r} is a range of numbers, which "
                f"are always uniform"
            )
        by_value = dict(remaining.pop(feature.name))
        chances += _checked_chances(feature.name, feature.values, by_value)
    if remaining:
        name = next(iter(remaining))
        raise DomainError(f"probabilities: there is no feature {name!r}")
    return np.array(chances)


def _checked_chances(
    name: str, values: Sequence[Value], by_value: dict[Value, float]
) -> list[float]:
    for value, chance in by_value.items():
        if value not in values:
            raise DomainError(f"probabilities: feature {name!r} has no value {value!r}")
        if not 0 <= chance <= 1:
            raise DomainError(
                f"probabilities: {chance} for {name!r} = {value!r}, expected 0 to 1"
            )
    total = math.fsum(by_value.values())
    if abs(total - 1) > 1e-9:
        raise DomainError(
            f"probabilities of feature {name!r} add up to {total:g}, expected 1"
        )
    return [by_value.get(value, 0.0) / total for value in values]
