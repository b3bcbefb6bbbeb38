"""Affine functions of the first layer's sums, in fractions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Affine:
    """An affine function of the first pre-activations, exactly.

    Attributes
    ----------
    coefficients : tuple of Fraction
        One for each unit of the first layer.
    constant : Fraction
    """

    coefficients: tuple[Fraction, ...]
    constant: Fraction

    def at(self, sums: Sequence[Fraction]) -> Fraction:
        """Return its value at some first pre-activations."""
        terms = zip(self.coefficients, sums, strict=True)
        return sum((a * y for a, y in terms if a), self.constant)
