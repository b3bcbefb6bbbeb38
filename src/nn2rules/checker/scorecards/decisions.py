"""Which class wins, told from scores that are affine functions."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from nn2rules.checker.run_network import logit_between
from nn2rules.checker.scorecards.multipliers import Prover
from nn2rules.checker.scorecards.sums import Form, minus, times
from nn2rules.network import Network

Scores = tuple[Form, ...]


@dataclass(frozen=True)
class Decision:
    """How a network decides by its scores.

    Attributes
    ----------
    n_classes : int
    threshold : float
    """

    n_classes: int
    threshold: float

    @classmethod
    def of(cls, network: Network) -> "Decision":
        """Return how a network decides."""
        return cls(len(network.classes), network.threshold)

    @cached_property
    def _logit(self) -> tuple[Fraction, Fraction]:
        return logit_between(self.threshold)

    def lead(self, scores: Scores, one: int, other: int) -> tuple[Form, bool]:
        """Return a form, and whether it must be above 0 for one class to beat another.

        If it need not be above 0, it must be at least 0.
        """
        if len(scores) > 1:
            return minus(scores[one], scores[other]), other < one
        if one:
            return _less(scores[0], self._logit[1]), True
        return _less(times(Fraction(-1), scores[0]), -self._logit[0]), False

    def reach(self, scores: Scores, one: int, other: int) -> Form:
        """Return a form that is at least 0 wherever one class beats another."""
        if len(scores) > 1:
            return minus(scores[one], scores[other])
        if one:
            return _less(scores[0], self._logit[0])
        return _less(times(Fraction(-1), scores[0]), -self._logit[1])

    def others(self, index: int) -> list[int]:
        """Return all other classes."""
        return [place for place in range(self.n_classes) if place != index]

    def is_always(
        self, prover: Prover, scores: Scores, index: int, conditions: tuple[Form, ...]
    ) -> bool:
        """Tell whether a class is proved to win wherever conditions are met."""
        return all(
            prover.proves(form, conditions, strict=strict)
            for form, strict in (
                self.lead(scores, index, other) for other in self.others(index)
            )
        )

    def is_never(
        self, prover: Prover, scores: Scores, index: int, conditions: tuple[Form, ...]
    ) -> bool:
        """Tell whether a class is proved to win nowhere that conditions are met."""
        for other in self.others(index):
            form, strict = self.lead(scores, other, index)
            if prover.proves(form, conditions, strict=strict):
                return True
        return prover.is_empty((*conditions, *self.where(scores, index)))

    def where(self, scores: Scores, index: int) -> tuple[Form, ...]:
        """Return forms that are at least 0 wherever a class wins."""
        return tuple(self.reach(scores, index, other) for other in self.others(index))

    def is_same(self, scores: Scores, others: Scores) -> bool:
        """Tell whether two scores decide alike: their leads differ by a factor."""
        if len(scores) != len(others):
            return False
        if len(scores) == 1:
            is_half = self._logit[0] == self._logit[1]
            return scores == others or (is_half and _factor(scores, others) is not None)
        leads = [minus(score, scores[0]) for score in scores[1:]]
        return (
            _factor(leads, [minus(score, others[0]) for score in others[1:]])
            is not None
        )


def _less(form: Form, number: Fraction) -> Form:
    return (*form[:-1], form[-1] - number)


def _factor(
    ours: "Scores | list[Form]", theirs: "Scores | list[Form]"
) -> Fraction | None:
    """Return the number above 0 by which forms differ from others, if there is one."""
    pairs = [
        (a, b)
        for one, other in zip(ours, theirs, strict=True)
        for a, b in zip(one, other, strict=True)
    ]
    if any((a == 0) != (b == 0) for a, b in pairs):
        return None
    factors = {a / b for a, b in pairs if b}
    if not factors:
        return Fraction(1)
    return factors.pop() if len(factors) == 1 and min(factors) > 0 else None
