"""How many inputs each class has, on domains of any size.

On a table this is a sum. Beyond it, branch and bound splits the domain into boxes that
are wholly of a class or wholly not; what is decided so far bounds the answer on both
sides, so the count can be stopped at any time. Boxes are split a few times each at
first, and then over again more often, so that the bounds are never those of one corner.
"""

import math
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from fractions import Fraction

from nn2rules.domain import Domain
from nn2rules.engine.budget import Meter
from nn2rules.engine.chances import value_chances
from nn2rules.engine.sorting import Tally, Tile, Weighed, cut, sort_tile
from nn2rules.engine.spreading import in_threads, spread
from nn2rules.engine.table import MOST_CLASSES, build_table, fits
from nn2rules.errors import BudgetExceededError, OptionError
from nn2rules.network import Network
from nn2rules.values import Value

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
