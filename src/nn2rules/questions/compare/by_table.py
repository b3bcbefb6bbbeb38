"""Where two differ, input by input, and rules that hold exactly these inputs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, interruptible
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction import Limits, Rules, Work, effort_of, rule_set
from nn2rules.questions.compare.differences import Covering, Found, Pair, nothing
from nn2rules.questions.compare.predictors import Side, is_different
from nn2rules.space import Domain, counts_of_values


def compare_tables(
    domain: Domain, sides: tuple[Side, Side], how: Limits, meter: Meter, skipped: int
) -> Found:
    """Compare the answers to every input of a domain, but where one is `skipped`."""
    try:
        old, new = (side.table(meter, how.n_jobs) for side in sides)
    except BudgetExceededError:
        return nothing(domain, None, "table")
    where = np.flatnonzero(is_different(old, new, skipped))
    if not len(where):
        return nothing(domain, True, "table")
    both = 256 * old[where].astype(np.int64) + new[where]
    different, kinds = np.unique(both, return_inverse=True)
    pairs = [divmod(pair, 256) for pair in different.tolist()]
    table = Differing(domain, where, kinds, pairs, how)
    inputs = table.counted()
    return Found(
        False,
        "table",
        inputs,
        1 if inputs is None else sum(inputs.values()),
        table.example(),
        table.covering,
    )


@dataclass(frozen=True, eq=False)
class Differing:
    """The inputs on which two sides differ.

    Attributes
    ----------
    domain : Domain
        Ranges of rules are cut into parts, each of which stands for its numbers.
    where : ndarray of int
        The numbers of the inputs.
    kinds : ndarray of int
        Of each, which of the `pairs` it is.
    pairs : list of Pair
    how : Limits
    """

    domain: Domain
    where: NDArray[np.int64]
    kinds: NDArray[np.int64]
    pairs: list[Pair]
    how: Limits

    def counted(self) -> dict[Pair, int] | None:
        """Count the inputs of each pair; None where numbers are real."""
        weights = [counts_of_values(feature) for feature in self.domain.features]
        if None in weights:
            return None
        if not self.domain.has_ranges:
            counts = np.bincount(self.kinds).tolist()
            return dict(zip(self.pairs, counts, strict=True))
        codes = self.domain.codes_of(self.where)
        amounts = np.ones(len(codes), dtype=object)
        for index, own in enumerate(weights):
            amounts = amounts * np.array(own, dtype=object)[codes[:, index]]
        return {
            pair: int(np.sum(amounts[self.kinds == kind]))
            for kind, pair in enumerate(self.pairs)
        }

    def example(self) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
        """Return the first input, in the uncut domain."""
        codes = self.domain.codes_of(self.where[:1])[0]
        if not self.domain.has_ranges:
            return codes, None
        numbers = np.ones(len(codes))
        for index, feature in enumerate(self.domain.features):
            if feature.limits is None:
                continue
            if codes[index] < feature.n_plain:
                starts = (feature.limits[0], *(feature.edges or ()))
                numbers[index] = starts[codes[index]]
            codes[index] = max(0, codes[index] - (feature.n_plain - 1))
        return codes, numbers

    def covering(self) -> Covering:
        """Return boxes that hold these inputs and no others, as few as can be."""
        meter, domain = Meter(self.how.spendable), self.domain
        effort = effort_of(self.how.effort, domain.n_inputs)
        work = Work(effort, self.how.seed, meter, self.how.n_jobs)
        boxes = [np.zeros((0, int(domain.offsets[-1])), dtype=np.bool_)]
        pairs: list[Pair] = []
        table, is_complete = np.zeros(domain.n_inputs, dtype=np.uint8), True
        with interruptible(meter):
            for kind, pair in enumerate(self.pairs):
                own = self.where[self.kinds == kind]
                table[own] = 1
                try:
                    part = rule_set(table, domain.sizes, work, wanted=[1], default=0)
                except BudgetExceededError:
                    part, is_complete = meter.kept(), False
                table[own] = 0
                if isinstance(part, Rules):
                    boxes.append(part.boxes)
                    pairs += [pair] * len(part)
                if not is_complete:
                    break
        return Covering(domain, np.concatenate(boxes), pairs, is_complete)
