"""Curves: increasing functions of a number, such as a logarithm in front of a line.

A network may read a number x by ``z = curve(x)``. Its range is then one of z, and only
rows, rules and text have x. `Curve` is a function of floats that is defined here, and
not by a library: the real function, rounded to the nearest float. So it never falls,
on any machine, and a cut of z is exactly a cut of x: `first_from` and `last_to`.
"""

import math
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

from nn2rules.errors import DomainError

_PRECISIONS = (100, 400, 3200)
"""Bits that are worked out of a value; more where the first do not say its float."""

_SURE = 20
"""How many of these bits may be wrong: a few for each operation, 11 for exponents."""

_MOST_POWER = 100.0

_MOST_KNOWN = 1 << 20


@dataclass(frozen=True)
class Shape:
    """An increasing real function.

    Parameters
    ----------
    kind : str
        A name of `KINDS`.
    power : float, optional
        Of box-cox and yeo-johnson: lambda.
    knots : sequence of (float, float)
        Of quantiles: numbers, and the share of each. It goes along straight lines
        between them; where numbers are repeated it jumps, and has the mean there.
    """

    kind: str
    power: float | None = None
    knots: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise DomainError(
                f"a curve is one of {', '.join(KINDS)}, not {self.kind!r}"
            )
        if (self.power is not None) != (self.kind in _POWERS):
            raise DomainError(f"a curve of {_listed(_POWERS)}, and no other, has power")
        if self.power is not None and not abs(self.power) <= _MOST_POWER:
            raise DomainError(
                f"the power of a curve lies between -{_MOST_POWER:g} and "
                f"{_MOST_POWER:g}, not {self.power}"
            )
        if bool(self.knots) != (self.kind == "quantiles"):
            raise DomainError("a curve of quantiles, and no other, has knots")
        if not all(math.isfinite(part) for knot in self.knots for part in knot):
            raise DomainError("the knots of a curve are finite numbers")
        for (a, low), (b, high) in pairwise(self.knots):
            if a > b or low > high:
                raise DomainError("the knots of a curve do not fall")

    @cached_property
    def _columns(self) -> tuple[list[float], list[Fraction]]:
        return [x for x, _ in self.knots], [Fraction(y) for _, y in self.knots]

    def takes(self, number: float) -> bool:
        """Tell whether the function has a value there."""
        lowest = _LOWEST.get(self.kind, -math.inf)
        return number > lowest or (self.kind == "sqrt" and number == 0)

    def at(self, number: float) -> float:
        """Return the value at a number, rounded to the nearest float."""
        if self.kind == "quantiles":
            return float(self._share(number))
        if number not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[number] = self._rounded(number)
        return self._known[number]

    @cached_property
    def _known(self) -> dict[float, float]:
        """Values that were worked out before: rows are read more than once."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is known: elsewhere it is worked out again."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def _rounded(self, number: float) -> float:
        found = 0.0
        for precision in _PRECISIONS:
            value, scale = _value(self.kind, self.power, number, precision)
            error = abs(value) >> (precision - _SURE)
            low, found, high = (
                _float(value + e, scale) for e in (-error - 1, 0, error + 1)
            )
            if low == high or not value:
                break
        return found  # at the last, a tie: precise enough for it not to fall

    def _share(self, number: float) -> Fraction:
        """Return the share of a number among quantiles."""
        numbers, shares = self._columns
        if number <= numbers[0]:
            return shares[0]
        if number >= numbers[-1]:
            return shares[-1]
        after = bisect_left(numbers, number)
        if numbers[after] == number:
            last = bisect_right(numbers, number) - 1
            return (shares[after] + shares[last]) / 2
        low, high = Fraction(numbers[after - 1]), Fraction(numbers[after])
        part = (Fraction(number) - low) / (high - low)
        return shares[after - 1] + part * (shares[after] - shares[after - 1])


@dataclass(frozen=True)
class Curve:
    """A shape on a range of the user's numbers.

    Parameters
    ----------
    shape : Shape
    ends : (float, float)
        The range, in the user's units.
    whole : bool
        Whether its numbers are whole.

    Examples
    --------
    >>> curve = Curve(Shape("log2"), (1, 64))
    >>> curve(8), curve.number_at(3), curve.first_from(2.5)
    (3.0, 8.0, 5.65685424949238)
    """

    shape: Shape
    ends: tuple[float, float]
    whole: bool = False

    def __post_init__(self) -> None:
        low, high = self.ends
        if not -math.inf < low <= high < math.inf:
            raise DomainError(f"a curve has finite ends, not {low} to {high}")
        if not self.shape.takes(low):
            raise DomainError(f"the curve {self.shape.kind} has no value at {low}")
        if not all(math.isfinite(value) for value in self.limits):
            raise DomainError(f"the curve {self.shape.kind} is too large at its ends")

    @property
    def limits(self) -> tuple[float, float]:
        """The range of its values."""
        low, high = self.ends
        return self(low), self(high)

    def __call__(self, number: float) -> float:
        """Return the value at a number."""
        return self.shape.at(float(number)) + 0.0  # there is no -0.0

    def takes(self, number: float) -> bool:
        """Tell whether a finite number lies in the range."""
        is_inside = self.ends[0] <= number <= self.ends[1]
        return is_inside and (not self.whole or number == math.floor(number))

    def first_from(self, value: float) -> float | None:
        """Return the first number whose value is not below this; None if none is."""
        return self._first(lambda number: self(number) >= value)

    def last_to(self, value: float) -> float | None:
        """Return the last number whose value is not above this; None if none is."""
        low, high = self.ends
        if self(low) > value:
            return None
        after = self._first(lambda number: self(number) > value)
        return _plain(high, self.whole) if after is None else self.before(after)

    def number_at(self, value: float) -> float | None:
        """Return the shortest number that has this very value; None if none has."""
        first, last = self.first_from(value), self.last_to(value)
        if first is None or last is None or first > last:
            return None
        if self.whole:
            return first
        rounded = (float(f"{first / 2 + last / 2:.{n}g}") for n in range(1, 17))
        return next((number for number in rounded if first <= number <= last), first)

    def before(self, number: float) -> float:
        """Return the number before another one."""
        if self.whole:
            return int(number) - 1
        return math.nextafter(number, -math.inf)

    def after(self, number: float) -> float:
        """Return the number behind another one."""
        return int(number) + 1 if self.whole else math.nextafter(number, math.inf)

    def _first(self, is_there: Callable[[float], bool]) -> float | None:
        """Return the first number of which something is true, as of all behind it."""
        first, last = (self._place(end) for end in self.ends)
        if not is_there(self._number(last)):
            return None
        while first < last:
            middle = (first + last) // 2
            if is_there(self._number(middle)):
                last = middle
            else:
                first = middle + 1
        return self._number(last)

    def _place(self, number: float) -> int:
        """Return the place of a number among all that there are, in order."""
        if self.whole:
            return int(number)
        bits: int = struct.unpack("<q", struct.pack("<d", number))[0]
        return bits if bits >= 0 else -(bits & _ALL_BUT_SIGN)

    def _number(self, place: int) -> float:
        """Return the number at a place."""
        if self.whole:
            return place
        number: float = struct.unpack("<d", struct.pack("<q", abs(place)))[0]
        return number if place >= 0 else -number


_ALL_BUT_SIGN = (1 << 63) - 1

_POWERS = ("box-cox", "yeo-johnson")

KINDS = ("log", "log2", "log10", "log1p", "sqrt", *_POWERS, "quantiles")
"""The functions that a curve can be, each increasing wherever it has values."""

_LOWEST = {
    "log": 0.0,
    "log2": 0.0,
    "log10": 0.0,
    "log1p": -1.0,
    "sqrt": 0.0,
    "box-cox": 0.0,
}
"""Above these numbers functions have values, where they do not have them everywhere."""


def _listed(names: tuple[str, ...]) -> str:
    return " or ".join(names)


def _plain(number: float, is_whole: bool) -> float:
    return int(number) if is_whole else float(number)


@cache
def _context(precision: int) -> Any:
    from mpmath.ctx_mp import MPContext

    context = MPContext()
    context.prec = precision
    return context


def _value(
    kind: str, power: float | None, number: float, precision: int
) -> tuple[int, int]:
    """Return the value at a number, to about this many bits: a * 2**b, as (a, b)."""
    c = _context(precision)
    x = c.mpf(number)
    if kind in _POWERS:
        assert power is not None, "checked when it was made"
        found = _of_power(c, kind, c.mpf(power), x)
    elif kind in ("log2", "log10"):
        found = c.log(x) / c.log(int(kind.removeprefix("log")))
    else:
        found = {"log": c.log, "log1p": c.log1p, "sqrt": c.sqrt}[kind](x)
    sign, mantissa, exponent, n_bits = found._mpf_
    more = precision - n_bits  # those that are left out are 0
    whole = int(mantissa) << max(0, more)
    return -whole if sign else whole, exponent - max(0, more)


def _of_power(c: Any, kind: str, power: Any, x: Any) -> Any:
    """Return a number transformed by Box and Cox, or by Yeo and Johnson."""
    if kind == "box-cox":
        logarithm, sign = c.log(x), 1
    elif x >= 0:
        logarithm, sign = c.log1p(x), 1
    else:
        logarithm, sign, power = c.log1p(-x), -1, 2 - power
    if power == 0:
        return sign * logarithm
    return sign * c.expm1(power * logarithm) / power


def _float(value: int, scale: int) -> float:
    """Return the float that is nearest to value * 2**scale; infinity if none is."""
    try:
        return value * (1 << scale) / 1 if scale >= 0 else value / (1 << -scale)
    except OverflowError:
        return math.copysign(math.inf, value)
