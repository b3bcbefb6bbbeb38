"""Where the class changes along one score, enclosed by exact arithmetic.

The class of a network that sees its input only through one number, such as the score of
a linear model or the sum of a single hidden unit, changes at a few places along that
number. Each is enclosed between two rational numbers of which the classes are known,
so that for every activation, nothing rests on a rounded cut-off.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from nn2rules.network import UNDECIDED, Layer, settle
from nn2rules.scorecards.sums import Interval

NOT_MONOTONIC = ("gelu", "silu")
"""Activations that fall before they rise."""

_MOST_STEPS = 400


@dataclass(frozen=True, slots=True)
class Boundary:
    """A place along a score where the class changes.

    Attributes
    ----------
    last, first : Fraction
        Every score up to `last`, back to the boundary before, has the class `below`;
        every one from `first` on, to the next boundary, the class `above`.
    below, above : int
        Positions of classes.
    """

    last: Fraction
    first: Fraction
    below: int
    above: int


def is_monotonic(layer: Layer) -> bool:
    """Tell whether the activation of a layer never falls."""
    if layer.activation == "leaky_relu":
        return layer.slope is None or layer.slope >= 0
    return layer.activation not in NOT_MONOTONIC


def boundaries_of(
    layers: Sequence[Layer], threshold: float, reach: Interval, tolerance: Fraction
) -> tuple[int, tuple[Boundary, ...]]:
    """Return the class of the lowest score, and where the class changes above it.

    Parameters
    ----------
    layers : sequence of Layer
        Of a network with one input of one number, and one monotonic unit at most.
    threshold : float
    reach : (Fraction, Fraction)
        The lowest and the highest score.
    tolerance : Fraction
        How far `last` and `first` may lie apart.
    """

    def class_at(score: Fraction) -> int:
        return settle(layers, threshold, [(0, score)])  # type: ignore[list-item]

    low, high = _decided(class_at, reach)
    first_class, last_class = class_at(low), class_at(high)
    found: list[Boundary] = []
    pending = [(low, high, first_class, last_class)]
    while pending:
        low, high, below, above = pending.pop()
        if below == above:
            continue
        low, high, middle = _enclosed(class_at, low, high, below, above, tolerance)
        if middle is None:
            found.append(_at_simplest(class_at, Boundary(low, high, below, above)))
        else:
            between = class_at(middle)
            pending += [(middle, high, between, above), (low, middle, below, between)]
    return first_class, tuple(sorted(found, key=lambda one: one.last))


def _decided(class_at: Callable[[Fraction], int], reach: Interval) -> Interval:
    """Return two scores around a reach of which the class is known."""
    low, high = reach
    step = max(high - low, abs(high), abs(low), Fraction(1)) / 2**20
    while class_at(low) == UNDECIDED:
        low -= step
    while class_at(high) == UNDECIDED:
        high += step
    return low, high


def _enclosed(
    class_at: Callable[[Fraction], int],
    low: Fraction,
    high: Fraction,
    below: int,
    above: int,
    tolerance: Fraction,
) -> tuple[Fraction, Fraction, Fraction | None]:
    """Halve until two scores are near each other, or a third class is between them."""
    for _ in range(_MOST_STEPS):
        if high - low <= tolerance:
            break
        middle = (low + high) / 2
        found = class_at(middle)
        if found == UNDECIDED:  # a tie that no interval can tell: look beside it
            middle = (low + 2 * high) / 3
            found = class_at(middle)
        if found == below:
            low = middle
        elif found == above:
            high = middle
        elif found == UNDECIDED:
            break
        else:
            return low, high, middle
    return low, high, None


def _at_simplest(class_at: Callable[[Fraction], int], boundary: Boundary) -> Boundary:
    """Move an end to the simplest number between both: often where the tie is."""
    middle = _simplest_between(boundary.last, boundary.first)
    found = class_at(middle)
    last = middle if found == boundary.below else boundary.last
    first = middle if found == boundary.above else boundary.first
    return Boundary(last, first, boundary.below, boundary.above)


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator between two, both included.

    Examples
    --------
    >>> str(_simplest_between(Fraction(-1, 1000), Fraction(1, 900)))
    '0'
    >>> str(_simplest_between(Fraction(333, 1000), Fraction(334, 1000)))
    '1/3'
    """
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -_simplest_between(-high, -low)
    whole = low.__floor__()
    if whole == low or whole + 1 <= high:
        return Fraction(whole if whole == low else whole + 1)
    rest = _simplest_between(1 / (high - whole), 1 / (low - whole))
    return whole + 1 / rest
