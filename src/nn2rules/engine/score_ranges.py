"""The minimum and the maximum score over a box."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from operator import itemgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.search import minimise
from nn2rules.engine.flat import (
    boxes_per_check,
    empty_inputs,
    empty_stack,
    flatten,
    workspace,
)
from nn2rules.engine.limits import Meter
from nn2rules.engine.linear_programs import Hull
from nn2rules.engine.proof_or_counterexample import check_box, checked_ends
from nn2rules.engine.region_programs import Near, Part, few_regions, part_of, rows_of
from nn2rules.engine.regions import LinearRegions
from nn2rules.errors import BudgetExceededError, OptionError
from nn2rules.network import ACTIVATIONS, Layer, Network, exact_scores
from nn2rules.space import Box, Inputs, Value

_MOST_SPLITS = 1_000
"""At most this many parts of regions are looked at for one end of a range."""


@dataclass(frozen=True, slots=True)
class ScoreRange:
    """The minimum and the maximum score over a box, each between two bounds.

    Attributes
    ----------
    low, high : (float, float)
        Bounds on the exact minimum (maximum) score.
    at_low, at_high : dict
        Inputs that reach the minimum and the maximum, within the bounds.
    """

    low: tuple[float, float]
    high: tuple[float, float]
    at_low: dict[str, Value]
    at_high: dict[str, Value]

    @property
    def probability(self) -> tuple[float, float]:
        """Bounds on the probability of class 1 over all inputs of the box."""
        return self.probability_of(1)

    def probability_of(self, index: int) -> tuple[float, float]:
        """Return bounds on the probability of one of two classes."""
        low, high = self.low[0], self.high[1]
        scores = [low, high] if index == 1 else [-high, -low]
        ends = ACTIVATIONS["sigmoid"].floats(np.array(scores))
        return widened(float(ends[0]), float(ends[1]))


def widened(low: float, high: float) -> tuple[float, float]:
    """Widen a range of probabilities by more than the rounding of the sigmoid."""
    return (
        float(max(0.0, np.nextafter(low * (1 - 2**-40), -1))),
        float(min(1.0, np.nextafter(high * (1 + 2**-40), 2))),
    )


def score_range(
    network: Network,
    box: NDArray[np.bool_],
    *,
    ends: NDArray[np.float64] | None = None,
    index: int = 0,
    tolerance: float = 0.0,
    meter: Meter | None = None,
) -> ScoreRange:
    """Return the minimum and the maximum score over a box.

    Parameters
    ----------
    network : Network
    box : ndarray of bool, shape (n_columns,)
    ends : ndarray of shape (2, n_features), optional
        Where the box's ranges of numbers begin and end; by default as in the domain.
    index : int
        Position of the score, if there are several.
    tolerance : float
        How far apart the bounds may be; a larger tolerance makes the search shorter.
        With 0 they are as close as the certified error of float64 allows.
    meter : Meter, optional
        The budget to spend.

    Examples
    --------
    >>> from nn2rules import datasets, load
    >>> tomato = load(datasets.network_file("tomato"))
    >>> ends = score_range(tomato, np.ones(5, dtype=bool))
    >>> [round(end) for end in (*ends.low, *ends.high)], ends.at_high["color"]
    ([-1, -1, 1, 1], 'red')
    """
    check_box(network.domain, box)
    n_scores = len(network.layers[-1].bias)
    if not isinstance(index, int | np.integer) or not 0 <= index < n_scores:
        raise OptionError(f"index: there is no score {index!r} among {n_scores}")
    if not tolerance >= 0:
        raise OptionError(f"tolerance: {tolerance}, expected 0 or more")
    meter = meter or Meter()
    domain = network.domain
    within = box, domain.limits if ends is None else checked_ends(domain, box, ends)
    low, at_low = _minimum(network, within, index, 1.0, tolerance, meter)
    high, at_high = _minimum(network, within, index, -1.0, tolerance, meter)
    decoded = [
        network.domain.decode(at.codes, at.numbers)[0] for at in (at_low, at_high)
    ]
    return ScoreRange(low, (-high[1], -high[0]), decoded[0], decoded[1])


def _minimum(
    network: Network,
    within: tuple[NDArray[np.bool_], NDArray[np.float64]],
    index: int,
    sign: float,
    tolerance: float,
    meter: Meter,
) -> tuple[tuple[float, float], Inputs]:
    """Bound the minimum of `sign` times a score, and return where it is reached."""
    last = network.layers[-1]
    only = Layer(sign * last.weights[:, [index]], sign * last.bias[[index]], "identity")
    net = flatten((*network.layers[:-1], only), network.domain)
    error, best_at = float(net.error[0]), empty_inputs(net, 1)
    box, ends = within
    if not np.isfinite(error):  # a score may overflow, so it has no bounds
        for feature, part in enumerate(np.split(box, net.offsets[1:-1])):
            best_at.codes[0, feature] = np.argmax(part)
        best_at.numbers[0] = ends[0]
        return (-np.inf, np.inf), best_at
    if network.domain.has_ranges:  # parts of a range never get below the slack
        tolerance = max(tolerance, 8 * float(net.slack[-1]))
    space, stack, top = workspace(net), empty_stack(net), 1
    stack.allowed[0], stack.ends[0] = box, ends
    best, floor = np.inf, np.inf
    while top > 0:
        best, floor, top, n_boxes = minimise(
            net,
            space,
            stack,
            top,
            tolerance,
            best,
            floor,
            best_at,
            meter.allowance(boxes_per_check(net)),
        )
        meter.spend(n_boxes)
        if top + 1 >= len(stack.allowed):
            raise BudgetExceededError(
                "the extreme score was not found: the search reached boxes that are "
                "narrower than the rounding error of the bounds"
            )
    return (min(float(floor), float(best) - error), float(best) + error), best_at


# By linear regions


def exact_score_range(
    network: Network,
    box: Box,
    *,
    index: int = 0,
    tolerance: float = 1e-12,
    meter: Meter | None = None,
) -> ScoreRange | None:
    """Return the smallest and the largest score of a box; None without few regions.

    The enclosures are proved. Each end is as near as a float can be, relative to the
    tolerance, unless the box would have to be split too often.

    Parameters
    ----------
    network : Network
    box : Box
    index : int
        Which score, if there are several.
    tolerance : float
        How wide an enclosure may be, relative to the larger of its end and 1.
    meter : Meter, optional
        The budget to spend.

    Examples
    --------
    >>> from nn2rules import Domain, Feature, Layer
    >>> domain = Domain((Feature.real("x", -2, 2), Feature("f", ("a", "b"))))
    >>> hidden = Layer([[1, -1], [0, 1], [0, 0]], [0, 0], "relu")
    >>> network = Network(
    ...     domain, (hidden, Layer([[1], [1]], [-1], "sigmoid")), ("no", "yes")
    ... )
    >>> ends = exact_score_range(network, (np.ones(3, dtype=bool), domain.limits))
    >>> ends.low, ends.at_low, ends.high, ends.at_high["f"]
    ((-1.0, -1.0), {'x': 0, 'f': 'b'}, (2.0, 2.0), 'a')
    """
    meter = meter or Meter()
    regions = few_regions(network, box, meter, one_class=False)
    if regions is None or not len(regions):
        return None
    lower, upper = (
        _HighestScore(network, index, sign, box, tolerance).search(regions, meter)
        for sign in (-1, 1)
    )
    if lower is None or upper is None:
        return None
    (lowest, at_low), (highest, at_high) = lower, upper
    [low, high] = network.domain.decode(
        np.vstack([at_low.codes, at_high.codes]),
        np.vstack([at_low.numbers, at_high.numbers]),
    )
    return ScoreRange((-lowest[1], -lowest[0]), highest, low, high)


_Limited: TypeAlias = tuple[Fraction, int, Part, Near]
"""Part of a region with the largest value that a score may have there, negated, and a
number that tells it from others."""


@dataclass(frozen=True, slots=True)
class _HighestScore:
    """Looks for the largest value of a score, times a sign, in the regions of a box."""

    network: Network
    index: int
    sign: int
    box: Box
    tolerance: float

    def search(
        self, regions: LinearRegions, meter: Meter
    ) -> tuple[tuple[float, float], Inputs] | None:
        """Return between which numbers it lies, and an input of the smaller one."""
        heap: list[_Limited] = []
        done: list[Fraction] = []
        numbers = count()
        for region in regions:
            self._push(heap, done, next(numbers), part_of(region), self.box)
        best: tuple[Fraction, Inputs] | None = None
        for _ in range(_MOST_SPLITS):
            if not heap or self._is_narrow(best, -heap[0][0]):
                break
            meter.spend()
            limit, _, part, near = heapq.heappop(heap)
            better = self._evaluated(near)
            best = better if best is None else max(best, better, key=itemgetter(0))
            halves = near.halves(None)
            for half in halves:
                self._push(heap, done, next(numbers), part, half)
            done += [] if halves else [-limit]
        if best is None:
            return None
        limits = [*done, *(-limit for limit, *_ in heap), best[0]]
        return (_below(best[0]), -_below(-max(limits))), best[1]

    def _push(
        self,
        heap: list[_Limited],
        done: list[Fraction],
        number: int,
        part: Part,
        box: Box,
    ) -> None:
        """Add a region in a box, with the largest value that it may have."""
        hull = Hull(self.network, box)
        assert part.scores is not None, "no region is left in one piece for its class"
        row = [self.sign * int(n) for n in part.scores.numbers[self.index]]
        sides = [hull.function(side) for side in part.sides]
        bound = hull.bound(hull.function(row), sides)
        if bound.value is None:
            return
        limit, point = bound.value / part.scores.scale, bound.point
        if point is None:
            done.append(limit)
        else:
            near = Near(self.network.domain, box, hull, [point], point)
            heapq.heappush(heap, (-limit, number, part, near))

    def _evaluated(self, near: Near) -> tuple[Fraction, Inputs]:
        """Return the largest exact value at inputs near to a point."""
        inputs = near.inputs(near.points)
        values = [
            self.sign * exact_scores(self.network.layers, picks)[self.index]
            for picks in self._picks(inputs)
        ]
        place = max(range(len(values)), key=values.__getitem__)
        return values[place], rows_of(inputs, [place])

    def _picks(self, inputs: Inputs) -> Iterator[list[tuple[int, float]]]:
        starts = self.network.domain.offsets[:-1]
        for codes, numbers in zip(inputs.codes, inputs.numbers, strict=True):
            yield [*zip((starts + codes).tolist(), numbers.tolist(), strict=True)]

    def _is_narrow(self, best: tuple[Fraction, Inputs] | None, limit: Fraction) -> bool:
        if best is None:
            return False
        size = max(abs(limit), Fraction(1))
        return limit - best[0] <= Fraction(self.tolerance) * size


def _below(number: Fraction) -> float:
    """Return the largest float that is at most a number."""
    try:
        near = float(number)
    except OverflowError:
        return -np.inf if number < 0 else float(np.finfo(np.float64).max)
    return near if near <= number else float(np.nextafter(near, -np.inf))
