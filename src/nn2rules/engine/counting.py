"""How many inputs each class has, on domains of any size.

On a table this is a sum. Beyond it, branch and bound splits the domain into boxes that
are wholly of a class or wholly not; what is decided so far bounds the answer on both
sides, so the count can be stopped at any time. Boxes are split a few times each at
first, and then over again more often, so that the bounds are never those of one corner.
"""

import math
from collections import deque
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.search import Stack, sort_boxes
from nn2rules.engine.flat import boxes_at_once, claim, points, room, stack_of, workspace
from nn2rules.engine.limits import Meter
from nn2rules.engine.parallel import in_threads, spread
from nn2rules.engine.probabilities import masses_of, value_chances
from nn2rules.engine.table import MOST_CLASSES, build_table, fits, settle_codes
from nn2rules.errors import BudgetExceededError, OptionError
from nn2rules.network import Network
from nn2rules.space import Boxes, Domain, Value, box_sizes

_BATCH = 4096
_TILES, _CUTS = 64, 256
_ROUNDING = Fraction(1, 1 << 40)  # far beyond the error of a product of float64


@dataclass(slots=True)
class Tally:
    """What is decided of one class: inputs, and their probability from below."""

    positive: int = 0
    negative: int = 0
    likely: Fraction = Fraction(0)
    unlikely: Fraction = Fraction(0)

    def add(
        self, box_sizes: list[int], masses: NDArray[np.float64], *, is_in: bool
    ) -> None:
        """Count boxes that are wholly of the class, or wholly not."""
        mass = Fraction(math.fsum(masses)) * (1 - _ROUNDING)
        if is_in:
            self.positive += sum(box_sizes)
            self.likely += mass
        else:
            self.negative += sum(box_sizes)
            self.unlikely += mass

    def raised_to(self, other: "Tally") -> "Tally":
        """Keep the better of both, in each part; return what that adds."""
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
        """Add what is decided of other inputs."""
        self.positive += other.positive
        self.negative += other.negative
        self.likely += other.likely
        self.unlikely += other.unlikely


class Weighed(NamedTuple):
    """A network, and how likely each value is: what all tiles share."""

    network: Network
    chances: NDArray[np.float64]


class Tile(NamedTuple):
    """A box to sort for a class, and what is known of it: a place of a stack."""

    of_class: int
    box: Stack


class Sorted(NamedTuple):
    """What came of a tile.

    Attributes
    ----------
    tally : Tally
    n_boxes : int
    is_open : bool
        Whether more splits would decide more.
    is_spent : bool
        Whether the budget ended the work.
    """

    tally: Tally
    n_boxes: int
    is_open: bool
    is_spent: bool


def cut(weighed: Weighed, index: int, tally: Tally, meter: Meter) -> list[Tile]:
    """Cut the domain into tiles, and count what is decided on the way.

    Of the boxes that are open, the widest is halved next.
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

    Boxes are open after so many splits; as narrow as they can be, they stay so.
    """
    (index, box), splits = task
    own = replace(meter, progress=None)
    sorting = _Sorting(weighed, index, Tally())
    _put(sorting.stack, box)
    top, n_boxes, n_open = 1, 0, 0
    try:
        own.spend()
        while top > 0:
            limit = own.allowance(sorting.at_once)
            top, n_sorted, n_left = sorting.step(top, limit, splits)
            n_boxes, n_open = n_boxes + n_sorted, n_open + n_left
            own.spend(n_sorted)
    except BudgetExceededError:
        return Sorted(sorting.tally, n_boxes, is_open=True, is_spent=True)
    is_open = n_open > 0 and splits < sorting.deepest
    return Sorted(sorting.tally, n_boxes, is_open, is_spent=False)


def _taken(stack: Stack, place: int) -> Stack:
    parts: list[Any] = [part[place : place + 1].copy() for part in stack]
    return Stack(*parts)


def _put(stack: Stack, box: Stack) -> None:
    for part, own in zip(stack, box, strict=True):
        part[:1] = own


class _Sorting:
    """Sorts the boxes of a stack for one class, `size` at a time."""

    def __init__(
        self, weighed: Weighed, index: int, tally: Tally, *, size: int = _BATCH
    ) -> None:
        self.weighed, self.index, self.tally = weighed, index, tally
        self.net = claim(weighed.network, index)
        self.stack, self._space = stack_of(self.net), workspace(self.net)
        self.deepest = len(self.stack.depth) - 3
        self.at_once = min(size, boxes_at_once(self.net))
        self._decided, self._ties = room(self.net, size), points(self.net, size)
        self._answers = np.zeros(size, dtype=np.bool_)

    def step(self, top: int, limit: int, deepest: int) -> tuple[int, int, int]:
        """Sort at most so many boxes, and count those that are decided.

        Returns what is left on the stack, how many boxes were sorted, and how many of
        them are open, and as deep as they may be.
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
        """Count boxes that were decided."""
        domain, chances = self.weighed.network.domain, self.weighed.chances
        for is_in in (False, True):
            chosen = np.flatnonzero(answers == is_in)
            boxes = Boxes(decided.allowed[chosen], decided.ends[chosen])
            masses = masses_of(domain, boxes, chances)
            self.tally.add(box_sizes(domain, boxes.allowed), masses, is_in=is_in)

    def _settle(self, codes: NDArray[np.int64], numbers: NDArray[np.float64]) -> None:
        """Count one input, by exact arithmetic."""
        network, chances = self.weighed
        is_in = settle_codes(network, codes, numbers) == self.index
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
        For each class; equal when the count is exact. None where a feature is a range
        of numbers: these inputs cannot be counted.
    probability : tuple of (float, float)
        For each class, bounds on the probability of an input of it, under the
        probabilities given for the values (all alike if none); numbers are evenly
        spread over their range.
    boxes : int
        Boxes searched.
    """

    classes: tuple[Value, ...]
    lower: tuple[int, ...] | None
    upper: tuple[int, ...] | None
    probability: tuple[tuple[float, float], ...]
    boxes: int

    @property
    def is_exact(self) -> bool:
        """Whether every class was counted to the last input."""
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
        Features are taken as independent; those not named have all values alike.
    meter : Meter, optional
        When its budget is spent the bounds reached so far are returned. Ranges of real
        numbers need one.
    n_jobs : int, optional
        How many threads, by default one on each core; the result is the same whatever
        their number.

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
    fitting = not domain.has_ranges and fits(domain, meter.budget)
    fitting = fitting and len(network.classes) <= MOST_CLASSES
    total = domain.n_inputs
    if probabilities is None and fitting:
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
        min(total - tally.negative, total - sum(lower) + own)
        for tally, own in zip(tallies, lower, strict=True)
    ]
    return Counts(network.classes, tuple(lower), tuple(upper), likely, meter.boxes)


def _refuse_endless(domain: Domain, meter: Meter) -> None:
    """Refuse to count where classes meet between real numbers, without a limit."""
    real = [f for f in domain.features if f.limits is not None and not f.whole]
    if real and meter.budget.seconds is None and meter.budget.boxes is None:
        raise OptionError(
            f"bounds for the numbers of {real[0].name!r} become closer without end; "
            f"give a budget: meter=Meter(Budget(seconds=10))"
        )


def _rounded(number: Fraction, *, down: bool) -> float:
    """Return the nearest float64 that is not on the wrong side of a share."""
    found = float(number)
    if down and found > number:
        return math.nextafter(found, 0.0)
    if not down and found < number:
        return math.nextafter(found, 1.0)
    return found


@dataclass
class _Counting:
    """Counts by search: tile by tile, in rounds, each with more splits."""

    weighed: Weighed
    tallies: list[Tally]
    meter: Meter
    n_jobs: int | None

    def count(self) -> None:
        """Decide as much of each class as the budget allows."""
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
        """Sort tiles anew, with so many splits; return those that more would help.

        With each comes what is known of it. Where boxes are counted, it is one tile
        after the other.
        """
        meter, still, is_spent = self.meter, [], False
        is_counted = meter.budget.boxes is not None
        many, n_jobs = (in_threads, 1) if is_counted else (spread, self.n_jobs)
        tasks = [(tile, splits) for tile, _ in open_]
        work = many(sort_tile, self.weighed, tasks, meter=meter, n_jobs=n_jobs)
        with closing(work) as results:
            for (tile, known), found in zip(open_, results, strict=True):
                whole, label = self.tallies[tile.of_class], self._label(tile)
                whole.join(known.raised_to(found.tally))
                meter.boxes += found.n_boxes
                is_spent |= found.is_spent
                still += [(tile, known)] if found.is_open else []
                decided = float(whole.likely + whole.unlikely)
                meter.report(f"counting class {label}", decided)
        return [] if is_spent else still

    def _label(self, tile: Tile) -> Value:
        return self.weighed.network.classes[tile.of_class]
