"""The smallest and the largest score that the inputs of a box reach."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.activations import ACTIVATIONS
from nn2rules.engine._kernels.search import minimise
from nn2rules.engine.answer import check_box
from nn2rules.engine.budget import Meter
from nn2rules.engine.flat import boxes_at_once, flatten, workspace
from nn2rules.errors import OptionError
from nn2rules.layer import Layer
from nn2rules.network import Network
from nn2rules.values import Value


@dataclass(frozen=True, slots=True)
class ScoreRange:
    """Where the scores of a box end, each end enclosed between two numbers.

    Attributes
    ----------
    low, high : (float, float)
        The exact smallest (largest) score lies between these two.
    at_low, at_high : dict
        Inputs that reach the two ends, within the enclosure.
    """

    low: tuple[float, float]
    high: tuple[float, float]
    at_low: dict[str, Value]
    at_high: dict[str, Value]

    @property
    def probability(self) -> tuple[float, float]:
        """A range that holds the probability of class 1 of every input of the box."""
        return self.probability_of(1)

    def probability_of(self, index: int) -> tuple[float, float]:
        """Return a range that holds the probability of one of two classes."""
        low, high = self.low[0], self.high[1]
        scores = [low, high] if index == 1 else [-high, -low]
        ends = ACTIVATIONS["sigmoid"].floats(np.array(scores))
        return outwards(float(ends[0]), float(ends[1]))


def outwards(low: float, high: float) -> tuple[float, float]:
    """Widen a range of probabilities by more than the rounding of the sigmoid."""
    return (
        float(max(0.0, np.nextafter(low * (1 - 2**-40), -1))),
        float(min(1.0, np.nextafter(high * (1 + 2**-40), 2))),
    )


def score_range(
    network: Network,
    box: NDArray[np.bool_],
    *,
    index: int = 0,
    tolerance: float = 0.0,
    meter: Meter | None = None,
) -> ScoreRange:
    """Return the smallest and the largest score of a box.

    Parameters
    ----------
    network : Network
    box : ndarray of bool, shape (n_columns,)
    index : int
        Which score, if there are several.
    tolerance : float
        The enclosures may be this wide, and the search is then shorter. With 0 they are
        as narrow as the certified error of float64.
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
    low, at_low = _minimum(network, box, index, 1.0, tolerance, meter)
    high, at_high = _minimum(network, box, index, -1.0, tolerance, meter)
    decoded = network.domain.decode(np.array([at_low, at_high]))
    return ScoreRange(low, (-high[1], -high[0]), decoded[0], decoded[1])


def _minimum(
    network: Network,
    box: NDArray[np.bool_],
    index: int,
    sign: float,
    tolerance: float,
    meter: Meter,
) -> tuple[tuple[float, float], NDArray[np.int64]]:
    """Enclose the smallest value of `sign` times a score, and say where it is."""
    last = network.layers[-1]
    only = Layer(sign * last.weights[:, [index]], sign * last.bias[[index]], "identity")
    net = flatten((*network.layers[:-1], only), network.domain.offsets)
    error = float(net.error[0])
    if not np.isfinite(error):  # something may overflow: nothing is sure of any input
        first = [int(np.argmax(part)) for part in np.split(box, net.offsets[1:-1])]
        return (-np.inf, np.inf), np.array(first)
    space = workspace(net)
    stack = np.zeros((len(box) + 2, len(box)), dtype=np.bool_)
    stack[0], top = box, 1
    best, floor = np.inf, np.inf
    best_input = np.zeros(len(network.domain.sizes), dtype=np.int64)
    while top > 0:
        best, floor, top, n_boxes = minimise(
            net,
            space,
            stack,
            top,
            tolerance,
            best,
            floor,
            best_input,
            meter.allowance(boxes_at_once(net)),
        )
        meter.spend(n_boxes)
    return (min(float(floor), float(best) - error), float(best) + error), best_input
