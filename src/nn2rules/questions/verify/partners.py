"""Inputs that break a claim together with a given one."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Oracle, find_class
from nn2rules.language import Region
from nn2rules.questions.verify.pairs import Paired
from nn2rules.space import Boxes, next_number, previous_number


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
