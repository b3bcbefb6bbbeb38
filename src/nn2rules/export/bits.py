"""Rules as masks of bits, for engines that try many of them on many rows.

Every value of every column is one bit of a few words. A row sets the bits of its cells,
and a rule covers it if none of them is among the bits that the rule forbids: one
operation for each word instead of a comparison for each condition.
"""

from dataclasses import dataclass

import numpy as np

from nn2rules.export.cells import Cells
from nn2rules.export.program import RuleProgram

WORD = 62
"""How many bits a word has, so that none is ever negative, and one is left."""

OUTSIDE_BIT = 1 << WORD
"""The bit of the first word that a row sets which is outside the domain."""


@dataclass(frozen=True, slots=True)
class Bit:
    """The bit of a value: its column, its code there, and the cells that set it."""

    place: int
    code: int
    word: int
    mask: int
    cells: Cells


@dataclass(frozen=True, slots=True)
class Bits:
    """A program as masks.

    Attributes
    ----------
    bits : tuple of Bit
        One for each value, columns one after the other.
    n_words : int
    forbidden : tuple of tuples of int
        For each rule the bits that it forbids, word by word.
    """

    bits: tuple[Bit, ...]
    n_words: int
    forbidden: tuple[tuple[int, ...], ...]

    def of_column(self, place: int) -> tuple[Bit, ...]:
        """Return the bits of a column."""
        return tuple(bit for bit in self.bits if bit.place == place)


def bits_of(program: RuleProgram) -> Bits:
    """Return a program as masks.

    Examples
    --------
    >>> from nn2rules import Condition, Domain, Feature, Rule, RuleList
    >>> from nn2rules.export.program import program_of
    >>> domain = Domain((Feature("color", ("red", "yellow")),))
    >>> rule = Rule((Condition("color", ("red",)),), "ripe")
    >>> rules = RuleList(domain, (rule,), "unripe", ("unripe", "ripe"))
    >>> bits_of(program_of(rules)).forbidden
    ((2,),)
    """
    bits: list[Bit] = []
    word = used = 0
    for place, column in enumerate(program.columns):
        size = len(column.feature)
        if used and used + size > WORD:  # a column in one word is looked at once
            word, used = word + 1, 0
        for code in range(size):
            if used == WORD:
                word, used = word + 1, 0
            own = np.zeros(size, dtype=np.bool_)
            own[code] = True
            cells = column.cells(own, closed=True)
            bits.append(Bit(place, code, word, 1 << used, cells))
            used += 1
    forbidden = []
    for box in program.boxes.tolist():
        words = [0] * (word + 1)
        for is_allowed, bit in zip(box, bits, strict=True):
            words[bit.word] |= 0 if is_allowed else bit.mask
        forbidden.append(tuple(words))
    return Bits(tuple(bits), word + 1, tuple(forbidden))
