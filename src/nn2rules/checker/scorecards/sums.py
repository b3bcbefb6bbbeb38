"""Sums of points over the features, in whole numbers, and how small they can be.

A corner is a value of a feature, or an end of its range of numbers. Features are
independent, so over all inputs an affine function of sums is smallest at one corner of
each feature, and its minimum needs no search.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.checker.parts import Part, whole
from nn2rules.network import Layer
from nn2rules.space import Domain, Range

Form = tuple[Fraction, ...]
"""An affine function: a coefficient for each sum, and at the end a constant."""

Interval = tuple[Fraction, Fraction]

ZERO = Fraction(0)


class Corners:
    """The corners of a domain, or of a box in it.

    Attributes
    ----------
    columns : list of int
        The column of weights that each corner picks.
    amounts : list of Fraction
        The number that multiplies it: an end of a range, or 1.
    starts : list of int
        Where the corners of each feature begin.
    """

    def __init__(
        self,
        domain: Domain,
        part: Part | None = None,
        bins: Sequence[Sequence[Interval] | None] = (),
    ) -> None:
        """Begin with the corners of each feature; of bins, with the ends of each."""
        allowed, ends = whole(domain) if part is None else part
        self.columns: list[int] = []
        self.amounts: list[Fraction] = []
        self.starts: list[int] = []
        offsets = domain.offsets.tolist()
        for place, feature in enumerate(domain.features):
            self.starts.append(len(self.columns))
            listed = [at for at in range(*offsets[place : place + 2]) if allowed[at]]
            if isinstance(feature, Range) and allowed[offsets[place]]:
                own = [*map(Fraction, ends[:, place].tolist())]
                if bins and (cut := bins[place]) is not None:
                    own = [end for each in cut for end in each]
                self.columns += [listed[0]] * len(own)
                self.amounts += own
                listed = listed[1:]
            self.columns += listed
            self.amounts += [Fraction(1)] * len(listed)

    def values(self, points: list[Fraction]) -> list[Fraction]:
        """Return what points for each column add at each corner."""
        both = zip(self.columns, self.amounts, strict=True)
        return [points[column] * amount for column, amount in both]

    def reach(self, values: list[Fraction]) -> Interval:
        """Return the minimum and maximum of a sum, given its values at the corners."""
        ends = [*self.starts, len(values)]
        blocks = [values[start:stop] for start, stop in pairwise(ends)]
        return sum(map(min, blocks), ZERO), sum(map(max, blocks), ZERO)


class Sums:
    """The sums of first layers, side by side: of cards, or of a network's units."""

    def __init__(
        self, domain: Domain, *layers: Layer, part: Part | None = None
    ) -> None:
        self.corners = Corners(domain, part)
        weights = np.concatenate([layer.weights for layer in layers], axis=1)
        exact = [
            self.corners.values([*map(Fraction, column)])
            for column in weights.T.tolist()
        ]
        bases = [Fraction(base) for layer in layers for base in layer.bias.tolist()]
        self.scale = lcm(
            *(value.denominator for row in [*exact, bases] for value in row)
        )
        self.values = np.array(
            [[self._whole(value) for value in row] for row in exact], dtype=object
        )
        self.bases = [self._whole(base) for base in bases]
        self.number = len(bases)

    def _whole(self, value: Fraction) -> int:
        return value.numerator * (self.scale // value.denominator)

    def unit(self, index: int) -> Form:
        """Return one of the sums as a form."""
        return tuple(Fraction(place == index) for place in range(self.number + 1))

    def constant(self, number: Fraction) -> Form:
        """Return a form that is the same everywhere."""
        return (*[ZERO] * self.number, number)

    def at_corners(self, form: Form) -> tuple[NDArray[Any], int, int]:
        """Return what a form adds at each corner, its base, and what divides both."""
        below = lcm(*(number.denominator for number in form))
        *own, constant = [n.numerator * (below // n.denominator) for n in form]
        values = np.array(own, dtype=object) @ self.values
        base = sum(a * b for a, b in zip(own, self.bases, strict=True))
        return values, base + constant * self.scale, below * self.scale

    def least(self, form: Form) -> Fraction:
        """Return the minimum of a form over all inputs."""
        values, base, below = self.at_corners(form)
        least = np.minimum.reduceat(values, self.corners.starts)
        return Fraction(base + int(sum(least.tolist())), below)

    def most(self, form: Form) -> Fraction:
        """Return the maximum of a form over all inputs."""
        return -self.least(times(Fraction(-1), form))


def times(factor: Fraction, form: Form) -> Form:
    """Return a form times a number."""
    return tuple(factor * number for number in form)


def plus(one: Form, other: Form) -> Form:
    """Return the sum of two forms."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


def minus(one: Form, other: Form) -> Form:
    """Return the difference of two forms."""
    return tuple(a - b for a, b in zip(one, other, strict=True))


def is_multiple(one: Form, other: Form) -> bool:
    """Tell whether a form is another one times a number above 0."""
    place = next((index for index, number in enumerate(other) if number), None)
    if place is None:
        return not any(one)
    factor = one[place] / other[place]
    return factor > 0 and one == times(factor, other)
