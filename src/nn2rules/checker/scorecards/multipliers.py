"""Prove that an affine function is at least 0 wherever some conditions are met.

The proof is one number for each condition, its multiplier, none below 0. If the
function less the conditions, each times its multiplier, is at least 0 on all inputs,
then so is the function wherever the conditions are at least 0. That is verified in
whole numbers. Where the multipliers come from does not matter: here from a linear
program in float64, and if that is too close, once more in fractions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.checker.draw import Inputs
from nn2rules.checker.scorecards.simplex import solve
from nn2rules.checker.scorecards.sums import (
    ZERO,
    Corners,
    Form,
    Sums,
    is_multiple,
    minus,
    times,
)
from nn2rules.space import Domain, Range

_SMALL = 6000
"""Numbers of a linear program that is solved in fractions, too."""

_CLOSE = 1e-7
"""A minimum, as a share of the largest number, that float64 may have wrong."""

_GOALS = 6


class LateError(Exception):
    """The time limit was reached."""


class Prover:
    """Proves statements about all inputs.

    Parameters
    ----------
    sums : Sums
        What forms are functions of.
    is_late : callable
        Whether the time limit was reached; then `LateError` is raised.
    """

    def __init__(self, sums: Sums, is_late: Callable[[], bool]) -> None:
        self.sums, self.is_late = sums, is_late

    def proves(
        self, form: Form, conditions: Sequence[Form], *, strict: bool = False
    ) -> bool:
        """Tell whether a form is proved to be at least 0, or above 0 if `strict`.

        Wherever conditions are at least 0; a false result says nothing.
        """
        if self._is_enough(form, strict=strict):
            return True
        for condition in conditions:
            if is_multiple(form[:-1], condition[:-1]) and any(condition[:-1]):
                place = next(i for i, number in enumerate(condition) if number)
                factor = form[place] / condition[place]
                left = form[-1] - factor * condition[-1]
                if left > 0 or (left == 0 and not strict):
                    return True
        if not conditions:
            return False
        if self.is_late():
            raise LateError
        return self._by_program(form, conditions, strict=strict)

    def is_empty(self, conditions: Sequence[Form]) -> bool:
        """Tell whether it is proved that no input meets all conditions."""
        return self.proves(self.sums.constant(ZERO), conditions, strict=True)

    def inputs_in(
        self,
        domain: Domain,
        conditions: Sequence[Form],
        random: np.random.Generator,
        number: int,
    ) -> Inputs:
        """Draw inputs that probably meet some conditions.

        Linear programs with random goals have solutions at the border; between some of
        these, inputs are drawn.
        """
        corners = self.sums.corners
        shape = len(corners.columns)
        rows = [_Row.of(self.sums, each).numbers(exact=False) for each in conditions]
        table = np.array([np.zeros(shape + 1), *rows])
        found = []
        for _ in range(_GOALS):
            table[0, :-1] = random.normal(size=shape)
            solution = solve(table, corners.starts, exact=False)
            if solution is not None and solution.is_feasible:
                found.append(solution.weights)
        if not found:
            found = [np.ones(shape)]
        shares = random.dirichlet(np.ones(len(found)), number) @ np.array(found)
        return _drawn_by(domain, corners, np.maximum(shares, 0.0), random)

    def _is_enough(self, form: Form, *, strict: bool) -> bool:
        least = self.sums.least(form)
        return least > 0 or (least == 0 and not strict)

    def _by_program(
        self, form: Form, conditions: Sequence[Form], *, strict: bool
    ) -> bool:
        """Look for multipliers in float64, and where that is too close in fractions."""
        program = _Program(self.sums, form, conditions)
        left, is_close = program.remainder(exact=False)
        if left is not None and self._is_enough(left[0], strict=strict or left[1]):
            return True
        if not is_close or program.size > _SMALL:
            return False
        left, _ = program.remainder(exact=True)
        return left is not None and self._is_enough(left[0], strict=strict or left[1])


class _Program:
    """A linear program: how small a form can be where conditions are met."""

    def __init__(self, sums: Sums, form: Form, conditions: Sequence[Form]) -> None:
        self.sums, self.form, self.conditions = sums, form, conditions
        self.rows = [_Row.of(sums, each) for each in (form, *conditions)]
        self.size = (len(sums.corners.starts) + len(conditions)) * len(
            sums.corners.columns
        )

    def remainder(self, *, exact: bool) -> tuple[tuple[Form, bool] | None, bool]:
        """Return what is left of the form when conditions are taken off it.

        With it comes whether it must be above 0, since no input meets the conditions,
        and whether it may be below 0 only because float64 is not exact.
        """
        kind = object if exact else np.float64
        table = np.array([row.numbers(exact=exact) for row in self.rows], dtype=kind)
        found = solve(table, self.sums.corners.starts, exact=exact)
        if found is None:
            return None, False
        left, goal = self.form, self.rows[0]
        if not found.is_feasible:
            left = self.sums.constant(ZERO)
        for multiplier, row, condition in zip(
            found.multipliers, self.rows[1:], self.conditions, strict=True
        ):
            if multiplier > 0:
                factor = Fraction(multiplier) * goal.unit / row.unit
                left = minus(left, times(factor, condition))
        if not found.is_feasible:
            return (left, True), True
        is_close = any(self.form) and abs(found.least) < _CLOSE
        return (left, False), bool(is_close)


@dataclass(frozen=True)
class _Row:
    """A form at the corners, in whole numbers.

    Attributes
    ----------
    values : list of int
        At the corners, and at the end the constant.
    size : int
        The largest of their magnitudes.
    unit : Fraction
        What that is as a number.
    """

    values: list[int]
    size: int
    unit: Fraction

    @classmethod
    def of(cls, sums: Sums, form: Form) -> "_Row":
        """Return a form at the corners."""
        values, base, below = sums.at_corners(form)
        numbers = [*values.tolist(), base]
        size = max(map(abs, numbers)) or 1
        return cls(numbers, size, Fraction(size, below))

    def numbers(self, *, exact: bool) -> list[Any]:
        """Return numbers of which the largest has the magnitude 1."""
        if exact:
            return [Fraction(value, self.size) for value in self.values]
        return [value / self.size for value in self.values]


def _drawn_by(
    domain: Domain,
    corners: Corners,
    shares: NDArray[np.float64],
    random: np.random.Generator,
) -> Inputs:
    """Draw inputs by the shares of their corners; numbers between the ends."""
    offsets, number = domain.offsets.tolist(), len(shares)
    codes = np.zeros((number, len(domain.features)), dtype=np.int64)
    amounts = np.ones(codes.shape)
    ends = [*corners.starts, len(corners.columns)]
    for place, feature in enumerate(domain.features):
        own = shares[:, ends[place] : ends[place + 1]] + 1e-12
        total = own.cumsum(axis=1)
        drawn = random.random((number, 1)) * total[:, -1:]
        chosen = (drawn > total).sum(axis=1)
        columns = np.array(corners.columns[ends[place] : ends[place + 1]])
        codes[:, place] = columns[chosen] - offsets[place]
        if isinstance(feature, Range):
            low, high = map(float, feature.limits)
            share = own[:, 1] / (own[:, 0] + own[:, 1])
            numbers = np.clip((1 - share) * low + share * high, low, high)
            numbers = np.rint(numbers) if feature.whole else numbers
            amounts[:, place] = np.where(codes[:, place] == 0, numbers, 1.0)
    return codes, amounts if domain.has_ranges else None
