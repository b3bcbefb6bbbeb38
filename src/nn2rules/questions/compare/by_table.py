"""Compare two models input by input, and make rules that cover the differences."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, interruptible
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction import Limits, Rules, Work, effort_of, rule_set
from nn2rules.questions.compare.differences import (
    DifferenceBoxes,
    EngineResult,
    Pair,
    no_difference,
)
from nn2rules.questions.compare.predictors import Predictor, is_different
from nn2rules.space import Domain, Range


def compare_tables(
    domain: Domain,
    predictors: tuple[Predictor, Predictor],
    limits: Limits,
    meter: Meter,
    skipped: int,
) -> EngineResult:
    """Compare the predictions for every input, except where one is `skipped`."""
    try:
        old, new = (one.table(meter, limits.n_jobs) for one in predictors)
    except BudgetExceededError:
        return no_difference(domain, None, "table")
    where = np.flatnonzero(is_different(old, new, skipped))
    if not len(where):
        return no_difference(domain, True, "table")
    both = 256 * old[where].astype(np.int64) + new[where]
    different, kinds = np.unique(both, return_inverse=True)
    pairs = [divmod(pair, 256) for pair in different.tolist()]
    table = TableDifferences(domain, where, kinds, pairs, limits)
    inputs = table.counted()
    return EngineResult(
        False,
        "table",
        inputs,
        1 if inputs is None else sum(inputs.values()),
        table.example(),
        table.covering,
    )


@dataclass(frozen=True, eq=False)
class TableDifferences:
    """The inputs on which the two differ.

    Attributes
    ----------
    domain : Domain
        Ranges of rules are cut into parts, each of which is one input.
    where : ndarray of int
        The numbers of the inputs.
    kinds : ndarray of int
        Which of the `pairs` each input has.
    pairs : list of Pair
    limits : Limits
    """

    domain: Domain
    where: NDArray[np.int64]
    kinds: NDArray[np.int64]
    pairs: list[Pair]
    limits: Limits

    def counted(self) -> dict[Pair, int] | None:
        """Count the inputs of each pair; None with ranges of real numbers."""
        weights = [feature.counts for feature in self.domain.features]
        if None in weights:
            return None
        if not self.domain.has_ranges:
            counts = np.bincount(self.kinds).tolist()
            return dict(zip(self.pairs, counts, strict=True))
        codes = self.domain.codes_of(self.where)
        amounts = np.ones(len(codes), dtype=object)
        for index, weights_of_feature in enumerate(weights):
            amounts = (
                amounts * np.array(weights_of_feature, dtype=object)[codes[:, index]]
            )
        return {
            pair: int(np.sum(amounts[self.kinds == kind]))
            for kind, pair in enumerate(self.pairs)
        }

    def example(self) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
        """Return the first input, as codes and numbers of the uncut domain."""
        codes = self.domain.codes_of(self.where[:1])[0]
        if not self.domain.has_ranges:
            return codes, None
        numbers = np.ones(len(codes))
        for index, feature in enumerate(self.domain.features):
            if not isinstance(feature, Range):
                continue
            if codes[index] < feature.n_plain:
                starts = (feature.limits[0], *feature.edges)
                numbers[index] = starts[codes[index]]
            codes[index] = max(0, codes[index] - (feature.n_plain - 1))
        return codes, numbers

    def covering(self) -> DifferenceBoxes:
        """Return few boxes that contain exactly these inputs."""
        meter, domain = Meter(self.limits.spendable), self.domain
        effort = effort_of(self.limits.effort, domain.n_inputs)
        work = Work(effort, self.limits.seed, meter, self.limits.n_jobs)
        boxes = [np.zeros((0, int(domain.offsets[-1])), dtype=np.bool_)]
        pairs: list[Pair] = []
        table, is_complete = np.zeros(domain.n_inputs, dtype=np.uint8), True
        with interruptible(meter):
            for kind, pair in enumerate(self.pairs):
                inputs_of_kind = self.where[self.kinds == kind]
                table[inputs_of_kind] = 1
                try:
                    part = rule_set(table, domain.sizes, work, wanted=[1], default=0)
                except BudgetExceededError:
                    part, is_complete = meter.kept(), False
                table[inputs_of_kind] = 0
                if isinstance(part, Rules):
                    boxes.append(part.boxes)
                    pairs += [pair] * len(part)
                if not is_complete:
                    break
        return DifferenceBoxes(domain, np.concatenate(boxes), pairs, is_complete)
