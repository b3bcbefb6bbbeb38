"""Claims about two inputs that differ only in some features."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Oracle, PairQuestion, find_class
from nn2rules.errors import DomainError, OptionError
from nn2rules.language import Region, plain_values
from nn2rules.network import Network
from nn2rules.questions.claims import IndependentOf, Monotonic
from nn2rules.questions.verify.single_inputs import InputQuestion, class_index
from nn2rules.space import Boxes, Condition, Feature, next_number, previous_number

Point = tuple[NDArray[np.int64], NDArray[np.float64]]


Question: TypeAlias = InputQuestion | PairQuestion


def pair_question(claim: IndependentOf | Monotonic, network: Network) -> PairQuestion:
    """Return what a claim asks of two inputs."""
    domain = network.domain
    if isinstance(claim, IndependentOf):
        return PairQuestion(
            network, tuple(sorted(domain.index(n) for n in claim.features))
        )
    index = domain.index(claim.feature)
    feature = domain.features[index]
    if not feature.ordered:
        raise DomainError(
            f"feature {feature.name!r} has no order, so nothing is monotonic in it; "
            f"declare it as ordered in the domain (ordered=True), or claim that the "
            f"prediction is independent of it"
        )
    if claim.toward is None and len(network.classes) != 2:
        raise OptionError(
            f"monotonic: the model has {len(network.classes)} classes; name the one "
            f"that must not be lost, with toward=…"
        )
    toward = 1 if claim.toward is None else class_index(network, claim.toward)
    return PairQuestion(
        network,
        (index,),
        toward,
        _ranks(network, index, feature),
        claim.increasing,
    )


def way_of(question: PairQuestion) -> str:
    """Return the name of a violation."""
    if question.toward is None:
        return "flips"
    return "falls" if question.is_increasing else "rises"


def _ranks(network: Network, index: int, feature: Feature) -> NDArray[np.float64]:
    """Return the place of each value of a feature in its order."""
    ranks = np.zeros(int(network.domain.offsets[-1]))
    start = int(network.domain.offsets[index])
    for code, place in feature.places.items():
        ranks[start + code] = place
    return ranks


def ordered_values(question: PairQuestion) -> tuple[Condition, ...]:
    """Return the condition that an ordered feature has a value in the order."""
    if question.ranks is None:
        return ()
    feature = question.network.domain.features[question.features[0]]
    return (plain_values(feature).condition(feature),)


def in_order(question: PairQuestion, points: list[Point]) -> list[Point]:
    """Return two inputs in the order of the feature, if there is one."""
    if question.ranks is None:
        return points
    domain, [index] = question.network.domain, question.features

    def rank(point: Point) -> float:
        column = domain.offsets[index] + point[0][index]
        if column == domain.ranges[index]:
            return float(point[1][index])
        assert question.ranks is not None, "there is an order"
        return float(question.ranks[column])

    return sorted(points, key=rank)


class Partners:
    """Finds an input that violates a claim together with a given one."""

    def __init__(self, question: PairQuestion, region: Region, oracle: Oracle) -> None:
        self.question, self.region, self._oracle = question, region, oracle

    def partner(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64], answer: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """Return the other input, or None if there is none."""
        for allowed, ends in self._lines(codes, numbers, answer):
            other = self._ask(allowed, ends, answer)
            if other is not None:
                return other
        return None

    def _ask(
        self, allowed: NDArray[np.bool_], ends: NDArray[np.float64], answer: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        toward, ignored = self.question.toward, self.region.impossible
        n_classes = len(self.question.network.classes)
        if toward is None or answer == toward:
            answer_found = self._oracle.ask(
                allowed, answer, ends=ends, ignoring=ignored
            )
        elif n_classes == 2:
            answer_found = self._oracle.ask(
                allowed, 1 - toward, ends=ends, ignoring=ignored
            )
        else:
            boxes = Boxes(allowed[np.newaxis], ends[np.newaxis])
            answer_found = find_class(
                self.question.network, toward, boxes, ignored, self._oracle.meter
            )
        if answer_found.proved or answer_found.counterexample is None:
            return None
        assert answer_found.numbers is not None, "the oracle tells them"
        return answer_found.counterexample, answer_found.numbers

    def _lines(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64], answer: int
    ) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.float64]]]:
        """Yield boxes of the inputs that can be the other one."""
        domain, question = self.region.domain, self.question
        columns = codes + domain.offsets[:-1]
        others = np.setdiff1d(np.arange(len(codes)), question.features)
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
            for index in question.features:
                start, stop = domain.offsets[index : index + 2]
                box[start:stop] = within[start:stop]
            here = columns, numbers
            if question.ranks is None or self._beyond(box, ends, here, answer):
                yield box, ends

    def _beyond(
        self,
        box: NDArray[np.bool_],
        ends: NDArray[np.float64],
        here: tuple[NDArray[np.int64], NDArray[np.float64]],
        answer: int,
    ) -> bool:
        """Keep the side on which the prediction may be wrong; tell if it is empty."""
        domain, question, (columns, numbers) = self.region.domain, self.question, here
        assert question.ranks is not None, "asked only where there is an order"
        [index] = question.features
        start, stop = domain.offsets[index : index + 2]
        is_up = question.is_increasing == (answer == question.toward)
        if columns[index] == domain.ranges[index]:
            feature, number = domain.features[index], float(numbers[index])
            following = next_number if is_up else previous_number
            next_to = following(number, whole=feature.whole)
            ends[0 if is_up else 1, index] = (
                max(ends[0, index], next_to) if is_up else min(ends[1, index], next_to)
            )
            return bool(ends[0, index] <= ends[1, index])
        own_rank, ranks = question.ranks[columns[index]], question.ranks[start:stop]
        box[start:stop] &= ranks > own_rank if is_up else ranks < own_rank
        return bool(box[start:stop].any())
