"""How much of the domain rules decide.

Numbers are taken as evenly spread over their ranges, values as alike.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from nn2rules.rules.union import covered
from nn2rules.text import share

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList


@dataclass(frozen=True, slots=True)
class Volume:
    """A share of the domain, or certain bounds on it.

    Attributes
    ----------
    lower, upper : Fraction
        Equal where the share is known exactly.
    """

    lower: Fraction
    upper: Fraction

    @property
    def is_exact(self) -> bool:
        """Whether the share is known exactly."""
        return self.lower == self.upper

    def __str__(self) -> str:
        ends = [
            share(part.numerator, part.denominator) for part in (self.lower, self.upper)
        ]
        return " to ".join(dict.fromkeys(ends))


def volume_of(rules: "RuleList") -> Volume:
    """Return the share of the domain that rules decide, and not the default."""
    found = covered(rules.domain, rules.boxes)
    return Volume(
        Fraction(found.lower, found.total), Fraction(found.upper, found.total)
    )
