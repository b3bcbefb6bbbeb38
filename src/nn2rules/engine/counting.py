"""How many inputs each class has, on domains of any size.

On a table this is a sum. Beyond it, branch and bound splits the domain into boxes that
are wholly of a class or wholly not; what is decided so far bounds the answer on both
sides, so the count can be stopped at any time. Boxes are split a few times each at
first, and then over again more often, so that the bounds are never those of one corner.
"""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import Domain, box_sizes
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.engine._kernels.search import sort_boxes
from nn2rules.engine.budget import Meter
from nn2rules.engine.chances import masses_of, value_chances
from nn2rules.engine.flat import boxes_at_once, claim, points, room, stack_of, workspace
from nn2rules.engine.table import MOST_CLASSES, build_table, fits, settle_codes
from nn2rules.errors import BudgetExceededError, OptionError
from nn2rules.network import Network
from nn2rules.values import Value

_BATCH = 4096
_FIRST_SPLITS, _MORE_SPLITS = 6, 3
_ROUNDING = Fraction(1, 1 << 40)  # far beyond the error of a product of float64


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
        counts = tuple(build_table(network, meter=meter).counts())
        shares = tuple((count / total, count / total) for count in counts)
        return Counts(network.classes, counts, counts, shares, 0)
    tallies = _tallies(network, chances, meter)
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

    def raise_to(self, other: "Tally") -> None:
        """Keep the better of both, in each part."""
        self.positive = max(self.positive, other.positive)
        self.negative = max(self.negative, other.negative)
        self.likely = max(self.likely, other.likely)
        self.unlikely = max(self.unlikely, other.unlikely)


def _tallies(
    network: Network, chances: NDArray[np.float64], meter: Meter
) -> list[Tally]:
    """Decide as much of each class as the budget allows."""
    tallies = [Tally() for _ in network.classes]
    is_binary = len(tallies) == 2
    open_ = list(range(int(is_binary), len(tallies)))
    splits = _FIRST_SPLITS
    with suppress(BudgetExceededError):
        while open_:
            open_ = [
                index
                for index in open_
                if not _sort(network, index, chances, tallies[index], meter, splits)
            ]
            splits += _MORE_SPLITS
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
    splits: int,
) -> bool:
    """Split the domain into boxes of class `index` and boxes of others; count them.

    Tells whether nothing more can be decided: no box is left after so many `splits`,
    or the boxes have become as narrow as they can.
    """
    net, domain, found = claim(network, index), network.domain, Tally()
    space, stack, top = workspace(net), stack_of(net), 1
    stack.allowed[0], stack.ends[0] = True, domain.limits
    decided, ties = room(net, _BATCH), points(net, _BATCH)
    answers = np.zeros(_BATCH, dtype=np.bool_)
    batch, n_open, deepest = min(_BATCH, boxes_at_once(net)), 0, len(stack.depth) - 3
    try:
        while top > 0:
            top, n_ties, n_decided, n_boxes, n_left = sort_boxes(
                net,
                space,
                stack,
                top,
                ties,
                decided,
                answers,
                meter.allowance(batch),
                min(splits, deepest),
            )
            n_open += n_left
            _add(network, chances, found, decided, answers[:n_decided])
            for codes, numbers in zip(
                ties.codes[:n_ties], ties.numbers[:n_ties], strict=True
            ):
                is_in = settle_codes(network, codes, numbers) == index
                _add_point(network, chances, found, codes, numbers, is_in=is_in)
            meter.spend(n_boxes)
            meter.report(
                f"counting class {network.classes[index]}",
                float(found.likely + found.unlikely),
            )
    finally:
        tally.raise_to(found)
    return n_open == 0 or splits >= deepest


def _add(
    network: Network,
    chances: NDArray[np.float64],
    tally: Tally,
    decided: Boxes,
    answers: NDArray[np.bool_],
) -> None:
    """Count boxes that were decided."""
    for is_in in (False, True):
        chosen = np.flatnonzero(answers == is_in)
        boxes = Boxes(decided.allowed[chosen], decided.ends[chosen])
        sizes = box_sizes(network.domain, boxes.allowed)
        tally.add(sizes, masses_of(network.domain, boxes, chances), is_in=is_in)


def _add_point(
    network: Network,
    chances: NDArray[np.float64],
    tally: Tally,
    codes: NDArray[np.int64],
    numbers: NDArray[np.float64],
    *,
    is_in: bool,
) -> None:
    """Count one input."""
    allowed = np.zeros((1, len(chances)), dtype=np.bool_)
    allowed[0, network.domain.offsets[:-1] + codes] = True
    one = Boxes(allowed, np.stack([numbers, numbers])[np.newaxis])
    tally.add([1], masses_of(network.domain, one, chances), is_in=is_in)
