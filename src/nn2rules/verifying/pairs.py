"""Claims about two inputs that differ in some features alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nn2rules.boxes import Condition
from nn2rules.claims.claim import IndependentOf, Monotone
from nn2rules.engine import Meter, Oracle
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.engine.reaching import find_class, find_twins
from nn2rules.engine.twins import Pair
from nn2rules.errors import DomainError, OptionError
from nn2rules.feature import Feature
from nn2rules.network import Network
from nn2rules.parsing.allowed import plain_values
from nn2rules.values import is_number
from nn2rules.verifying.questions import class_index
from nn2rules.verifying.region import Region


@dataclass(frozen=True)
class Paired:
    """A claim about two inputs that differ in some features alone.

    Attributes
    ----------
    network : Network
    features : tuple of int
        In which they may differ.
    toward : int or None
        Of a claim about an order, the class that must not be lost.
    ranks : ndarray of float or None
        Of such a claim, the place of each value in the order in which the answer may
        only turn to `toward`; that of a number of a range is the number.
    is_increasing : bool
        Whether numbers stand in that order, and not in the reverse one.
    way : str
        What it is called when it is broken.
    """

    network: Network
    features: tuple[int, ...]
    toward: int | None = None
    ranks: NDArray[np.float64] | None = None
    is_increasing: bool = True
    way: str = "turns"

    def classes(self) -> Iterator[tuple[int, int]]:
        """Yield which classes break it: that of one input, and that of the other.

        Where there is an order, the first input has the lower rank.
        """
        every = range(len(self.network.classes))
        if self.toward is None:
            yield from combinations(every, 2)
            return
        for other in every:
            if other != self.toward:
                both = self.toward, other
                yield both if self.is_increasing else both[::-1]


def paired_of(claim: IndependentOf | Monotone, network: Network) -> Paired:
    """Return what a claim says of two inputs."""
    domain = network.domain
    if isinstance(claim, IndependentOf):
        return Paired(network, tuple(sorted(domain.index(n) for n in claim.features)))
    index = domain.index(claim.feature)
    feature = domain.features[index]
    if not feature.ordered:
        raise DomainError(
            f"feature {feature.name!r} has no order, so nothing grows along it; make "
            f"it one with Feature(…, ordered=True), or claim independent_of"
        )
    if claim.toward is None and len(network.classes) != 2:
        raise OptionError(
            f"monotone: the model has {len(network.classes)} classes; say which must "
            f"not be lost: toward=…"
        )
    toward = 1 if claim.toward is None else class_index(network, claim.toward)
    return Paired(
        network,
        (index,),
        toward,
        _ranks(network, index, feature),
        claim.increasing,
        "falls" if claim.increasing else "rises",
    )


def _ranks(network: Network, index: int, feature: Feature) -> NDArray[np.float64]:
    """Return the places of a feature's values: by their numbers, if they are such."""
    ranks = np.zeros(int(network.domain.offsets[-1]))
    start = int(network.domain.offsets[index])
    plain = sorted(plain_values(feature).codes)
    values = [feature.values[code] for code in plain]
    order = list(range(len(plain)))
    if all(is_number(value) for value in values):
        order = sorted(order, key=lambda place: values[place])  # type: ignore[arg-type, return-value]
    for rank, place in enumerate(order):
        ranks[start + plain[place]] = rank
    return ranks


def plain_only(paired: Paired) -> tuple[Condition, ...]:
    """Return that an ordered feature is not missing, and no value for others."""
    if paired.ranks is None:
        return ()
    feature = paired.network.domain.features[paired.features[0]]
    return (plain_values(feature).condition(feature),)


def is_dead(paired: Paired, region: Region) -> bool:
    """Tell whether features reach no unit that counts, in any value they have here."""
    network, domain = paired.network, paired.network.domain
    weights = network.layers[0].weights
    if len(network.layers) > 1:
        weights = weights[:, network.layers[1].weights.any(axis=1)]
    for index in paired.features:
        start, stop = domain.offsets[index : index + 2]
        allowed = region.within.allowed[:, start:stop].max(axis=0)
        rows = weights[start:stop][allowed]
        is_range = domain.ranges[index] >= 0 and allowed[0]
        if (rows != rows[0]).any() or (is_range and rows[0].any()):
            return False
    return True


def search_pair(paired: Paired, region: Region, meter: Meter) -> Pair | None:
    """Return two inputs that break a claim; None is a proof that there are none."""
    if is_dead(paired, region):
        return None
    for classes in paired.classes():
        found = find_twins(
            paired.network,
            paired.features,
            classes,
            region.within,
            region.impossible,
            meter,
            ranks=paired.ranks,
        )
        if found is not None:
            return found
    return None


class Partners:
    """Finds inputs that break a claim together with a given one."""

    def __init__(self, paired: Paired, region: Region, oracle: Oracle) -> None:
        self.paired, self.region, self._oracle = paired, region, oracle

    def partner(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64], answer: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """Return the other input, or None if there is none."""
        for allowed, ends in self._lines(codes, numbers, answer):
            found = self._ask(allowed, ends, answer)
            if found is not None:
                return found
        return None

    def _ask(
        self, allowed: NDArray[np.bool_], ends: NDArray[np.float64], answer: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        toward, ignored = self.paired.toward, self.region.impossible
        n_classes = len(self.paired.network.classes)
        if toward is None or answer == toward:
            found = self._oracle.ask(allowed, answer, ends=ends, ignoring=ignored)
        elif n_classes == 2:
            found = self._oracle.ask(allowed, 1 - toward, ends=ends, ignoring=ignored)
        else:
            boxes = Boxes(allowed[np.newaxis], ends[np.newaxis])
            found = find_class(
                self.paired.network, toward, boxes, ignored, self._oracle.meter
            )
        if found.proved or found.counterexample is None:
            return None
        assert found.numbers is not None, "the oracle tells them"
        return found.counterexample, found.numbers

    def _lines(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64], answer: int
    ) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.float64]]]:
        """Yield boxes of the inputs that may be the other one."""
        domain, paired = self.region.domain, self.paired
        columns = codes + domain.offsets[:-1]
        others = np.setdiff1d(np.arange(len(codes)), paired.features)
        for part in range(len(self.region.within.allowed)):
            within = self.region.within.allowed[part]
            ends = self.region.within.ends[part].copy()
            is_number = columns[others] == domain.ranges[others]
            amounts = numbers[others]
            inside = (ends[0, others] <= amounts) & (amounts <= ends[1, others])
            if not (within[columns[others]] & (inside | ~is_number)).all():
                continue
            box = np.zeros_like(within)
            box[columns[others]] = True
            ends[:, others] = amounts
            for index in paired.features:
                start, stop = domain.offsets[index : index + 2]
                box[start:stop] = within[start:stop]
            here = columns, numbers
            if paired.ranks is None or self._beyond(box, ends, here, answer):
                yield box, ends

    def _beyond(
        self,
        box: NDArray[np.bool_],
        ends: NDArray[np.float64],
        here: tuple[NDArray[np.int64], NDArray[np.float64]],
        answer: int,
    ) -> bool:
        """Keep what lies on the side on which the answer may be wrong, if anything."""
        domain, paired, (columns, numbers) = self.region.domain, self.paired, here
        assert paired.ranks is not None, "asked only where there is an order"
        [index] = paired.features
        start, stop = domain.offsets[index : index + 2]
        is_up = paired.is_increasing == (answer == paired.toward)
        if columns[index] == domain.ranges[index]:
            feature, number = domain.features[index], float(numbers[index])
            step = np.inf if is_up else -np.inf
            next_to = np.nextafter(number, step)
            if feature.whole:
                next_to = number + 1 if is_up else number - 1
            ends[0 if is_up else 1, index] = (
                max(ends[0, index], next_to) if is_up else min(ends[1, index], next_to)
            )
            return bool(ends[0, index] <= ends[1, index])
        own, ranks = paired.ranks[columns[index]], paired.ranks[start:stop]
        box[start:stop] &= ranks > own if is_up else ranks < own
        return bool(box[start:stop].any())
