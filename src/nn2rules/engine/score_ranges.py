"""The minimum and the maximum score over a box."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.search import minimise
from nn2rules.engine.answer import check_box, checked_ends
from nn2rules.engine.flat import (
    boxes_per_check,
    empty_inputs,
    empty_stack,
    flatten,
    workspace,
)
from nn2rules.engine.limits import Meter
from nn2rules.errors import BudgetExceededError, OptionError
from nn2rules.network import ACTIVATIONS, Layer, Network
from nn2rules.space import Inputs, Value


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
