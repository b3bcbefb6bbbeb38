"""Follow the steps of a proof: from the box of a rule down to boxes that are settled.

A step parts a box in two, or settles it. The halves are made here, from the box that
is parted, so they hold all of it whatever the file says; what the file can get wrong is
that a box is settled.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

from nn2rules.checker.bounds import Leads
from nn2rules.checker.evaluate import UNDECIDED, exact_class
from nn2rules.checker.lines import Floats
from nn2rules.checker.parts import Part, around, by_numbers, by_values, middle_of
from nn2rules.network import Network

_BOUND, _EXACT, _INSIDE, _APART, _SPLIT = range(5)
_AT_ONCE = 1 << 12


class RefusedError(Exception):
    """A proof that does not prove its rule, and why."""


@dataclass
class Walk:
    """Follows a proof of one claim.

    Attributes
    ----------
    network : Network
    index : int
        The position of the class that is claimed.
    leads : Leads
        The bounds for that class.
    left_out : sequence of Part
        Boxes whose inputs the claim leaves out.
    steps : bytes
        What the file says.
    """

    network: Network
    index: int
    leads: Leads
    left_out: Sequence[Part]
    steps: bytes
    _at: int = 0
    _waiting: list[Part] = field(default_factory=list)

    def follow(self, parts: Sequence[Part]) -> None:
        """Check that every input of the parts is of the class, or left out.

        Raises
        ------
        RefusedError
            If the steps do not show it.
        """
        for part in parts:
            open_ = [part]
            while open_:
                halves = self._step(*open_.pop())
                if halves is not None:
                    open_ += reversed(halves)
        if self._at != len(self.steps):
            raise RefusedError("it has steps that belong to no box")
        self._bound()

    def _step(self, allowed: NDArray[np.bool_], ends: Floats) -> list[Part] | None:
        """Take a step: return the halves of a box, or None once it is settled."""
        kind = self._number()
        if kind == _BOUND:
            self._waiting.append((allowed, ends))
            if len(self._waiting) >= _AT_ONCE:
                self._bound()
        elif kind == _EXACT:
            self._settle(allowed, ends)
        elif kind == _INSIDE:
            if not self._is_inside(allowed, ends, self._other()):
                raise RefusedError("a box is not inside the one it is said to be in")
        elif kind == _APART:
            return self._apart(allowed, ends, self._other(), self._number())
        else:
            return self._split(allowed, ends, kind - _SPLIT)
        return None

    def _number(self) -> int:
        """Read a whole number: seven bits of each byte, the lowest first."""
        number = shift = 0
        while True:
            if self._at >= len(self.steps) or shift > 28:
                raise RefusedError("its steps end before every box is settled")
            byte = self.steps[self._at]
            self._at += 1
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7

    def _other(self) -> Part:
        number = self._number()
        if number >= len(self.left_out):
            raise RefusedError("it leaves out what this rule must not leave out")
        return self.left_out[number]

    def _columns(self, feature: int) -> slice:
        offsets = self.network.domain.offsets
        if feature >= len(offsets) - 1:
            raise RefusedError("it parts a feature that does not exist")
        return slice(int(offsets[feature]), int(offsets[feature + 1]))

    def _bound(self) -> None:
        """Bound the boxes that wait for it."""
        if not self._waiting:
            return
        allowed = np.array([part[0] for part in self._waiting])
        ends = np.array([part[1] for part in self._waiting])
        self._waiting.clear()
        if not (self.leads.lowest(allowed, ends) > 0).all():
            raise RefusedError("a bound that it relies on is not positive")

    def _settle(self, allowed: NDArray[np.bool_], ends: Floats) -> None:
        """Work out the class of a box that is a single input."""
        domain = self.network.domain
        columns = np.flatnonzero(allowed)
        numbers = np.ones(len(domain.sizes))
        for feature, column in enumerate(domain.ranges.tolist()):
            if column >= 0 and allowed[column]:
                numbers[feature] = ends[0, feature]
                if ends[0, feature] != ends[1, feature]:
                    raise RefusedError("a box that is no single input is called one")
        if len(columns) != len(domain.sizes):
            raise RefusedError("a box that is no single input is called one")
        found = exact_class(self.network, columns - domain.offsets[:-1], numbers)
        if found == UNDECIDED:
            raise RefusedError("an input in its box is too close to a tie to tell")
        if found != self.index:
            raise RefusedError("an input in its box is of another class")

    def _is_inside(self, allowed: NDArray[np.bool_], ends: Floats, other: Part) -> bool:
        if (allowed & ~other[0]).any():
            return False
        ranges = self.network.domain.ranges
        used = np.flatnonzero((ranges >= 0) & allowed[ranges])
        limits = other[1][:, used]
        return bool(
            (limits[0] <= ends[0, used]).all() and (ends[1, used] <= limits[1]).all()
        )

    def _apart(
        self, allowed: NDArray[np.bool_], ends: Floats, other: Part, feature: int
    ) -> list[Part]:
        """Part a box into what another allows a feature, and the rest."""
        columns = self._columns(feature)
        own, ranged = allowed[columns], self.network.domain.features[feature].limits
        is_first = own & other[0][columns]
        if (is_first == own).all() and ranged is not None:
            if own.sum() == 1 and own[0]:
                is_whole = self.network.domain.features[feature].whole
                first, last = other[1][:, feature].tolist()
                cut = around(ends[0, feature], first, last, is_whole=is_whole)
                return self._by_numbers(allowed, ends, feature, *cut)
            is_first = np.zeros_like(own)
            is_first[0] = own[0]
        return _by_values(allowed, ends, columns, is_first)

    def _split(
        self, allowed: NDArray[np.bool_], ends: Floats, feature: int
    ) -> list[Part]:
        """Halve a box: values as the file says, a range in the middle."""
        columns = self._columns(feature)
        codes = np.flatnonzero(allowed[columns])
        if len(codes) > 1:
            n_bytes = (len(codes) + 7) // 8
            mask = np.frombuffer(self.steps[self._at : self._at + n_bytes], np.uint8)
            if len(mask) < n_bytes:
                raise RefusedError("its steps end before every box is settled")
            self._at += n_bytes
            is_first = np.zeros(columns.stop - columns.start, dtype=np.bool_)
            is_first[codes] = np.unpackbits(mask, bitorder="little")[: len(codes)]
            return _by_values(allowed, ends, columns, is_first)
        if self.network.domain.features[feature].limits is None or codes[0] != 0:
            raise RefusedError("it parts what has one value left")
        is_whole = self.network.domain.features[feature].whole
        cut = middle_of(*ends[:, feature].tolist(), is_whole=is_whole)
        return self._by_numbers(allowed, ends, feature, *cut)

    def _by_numbers(
        self,
        allowed: NDArray[np.bool_],
        ends: Floats,
        feature: int,
        to: float,
        at: float,
    ) -> list[Part]:
        """Part a range: up to a number, and from another on, with none between."""
        low, high = ends[:, feature].tolist()
        is_whole = self.network.domain.features[feature].whole
        after = to + 1 if is_whole else nextafter(to, inf)
        if not (low <= to < high and low < at <= high and to <= at <= after):
            raise RefusedError("it parts a range where it has nothing to part")
        return by_numbers((allowed, ends), feature, to, at)


def _by_values(
    allowed: NDArray[np.bool_],
    ends: Floats,
    columns: slice,
    is_first: NDArray[np.bool_],
) -> list[Part]:
    """Part the values that a box allows a feature."""
    own = allowed[columns]
    rest = own & ~is_first
    if not is_first.any() or not rest.any():
        raise RefusedError("it parts off no value, or all of them")
    return by_values((allowed, ends), columns, is_first)
