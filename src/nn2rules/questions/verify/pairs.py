"""Claims about two inputs that differ in some features alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Oracle, find_class
from nn2rules.errors import DomainError, OptionError
from nn2rules.language import Region, plain_values
from nn2rules.network import Network
from nn2rules.questions.claims import IndependentOf, Monotone
from nn2rules.questions.verify.single_inputs import class_index
from nn2rules.space import Boxes, Condition, Feature, next_number, previous_number

Point = tuple[NDArray[np.int64], NDArray[np.float64]]


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
            f"feature {feature.name!r} has no order, so nothing grows along it; give "
            f"it one where the domain is made (ordered=True), or claim that the answer "
            f"is independent of it"
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
    """Return the places of a feature's values in its order."""
    ranks = np.zeros(int(network.domain.offsets[-1]))
    start = int(network.domain.offsets[index])
    for code, place in feature.places.items():
        ranks[start + code] = place
    return ranks


def plain_only(paired: Paired) -> tuple[Condition, ...]:
    """Return that an ordered feature is not missing, and no value for others."""
    if paired.ranks is None:
        return ()
    feature = paired.network.domain.features[paired.features[0]]
    return (plain_values(feature).condition(feature),)


def breaks(paired: Paired, classes: Sequence[int]) -> bool:
    """Tell whether the answers to two inputs, in their order, break a claim."""
    one, other = classes
    if paired.toward is None:
        return one != other
    return (one, other) in set(paired.classes())


def in_order(paired: Paired, points: list[Point]) -> list[Point]:
    """Return two inputs in the order of the feature, if there is one."""
    if paired.ranks is None:
        return points
    domain, [index] = paired.network.domain, paired.features

    def rank(point: Point) -> float:
        column = domain.offsets[index] + point[0][index]
        if column == domain.ranges[index]:
            return float(point[1][index])
        assert paired.ranks is not None, "there is an order"
        return float(paired.ranks[column])

    return sorted(points, key=rank)


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
            following = next_number if is_up else previous_number
            next_to = following(number, whole=feature.whole)
            ends[0 if is_up else 1, index] = (
                max(ends[0, index], next_to) if is_up else min(ends[1, index], next_to)
            )
            return bool(ends[0, index] <= ends[1, index])
        own, ranks = paired.ranks[columns[index]], paired.ranks[start:stop]
        box[start:stop] &= ranks > own if is_up else ranks < own
        return bool(box[start:stop].any())
