"""Texts and numbers as literals of SQL, exact in each dialect."""

from collections.abc import Callable
from fractions import Fraction

from nn2rules.errors import UnsupportedModelError

_STEP = 1 << 62
_LEAST_NORMAL = 2.0**-1022


def _is_control(sign: str) -> bool:
    return ord(sign) < 32 or 127 <= ord(sign) < 160 or sign in "\u2028\u2029"


def doubled(char: str, joint: str, prefix: str = "") -> Callable[[str], str]:
    """Return what writes texts in plain quotes, control characters by a function."""

    def write(text: str) -> str:
        parts, plain = [], ""
        for sign in text:
            if _is_control(sign):
                parts += [f"{prefix}'{plain}'"] if plain else []
                parts.append(f"{char}({ord(sign)})")
                plain = ""
            else:
                plain += "''" if sign == "'" else sign
        parts += [f"{prefix}'{plain}'"] if plain or not parts else []
        return parts[0] if len(parts) == 1 else f"({f' {joint} '.join(parts)})"

    return write


def escaped(special: str) -> Callable[[str], str]:
    """Return what writes texts with backslashes, `special` signs by their number."""

    def write(text: str) -> str:
        signs = (
            f"\\u{ord(sign):04x}"
            if _is_control(sign) or sign in special
            else f"\\{sign}"
            if sign in "\\'"
            else sign
            for sign in text
        )
        return f"'{''.join(signs)}'"

    return write


def with_exponent(number: float) -> str:
    """Return a number with an exponent, by which it is a float and no decimal."""
    text = repr(number)
    return text if "e" in text else f"{text}e0"


def with_exponent_normal(number: float) -> str:
    """Return the same, unless the number is nearer to 0 than SQL Server goes."""
    if 0 < abs(number) < _LEAST_NORMAL:
        raise UnsupportedModelError(
            f"the number {number} is nearer to 0 than any that SQL Server holds; give "
            f"the feature other edges"
        )
    return with_exponent(number)


def by_halves(number: float) -> str:
    """Return a number as a quotient of whole numbers, which SQLite rounds nowhere.

    Its reader of literals may be one bit off. It reads whole numbers as they are, and
    multiplies and divides by powers of two without rounding.
    """
    text = repr(number)
    digits = text.lstrip("-").partition("e")[0].replace(".", "").strip("0")
    if "e" not in text and len(digits) <= 15 and Fraction(text) == Fraction(number):
        return text
    top, bottom = number.as_integer_ratio()
    steps, power = "", 1 if bottom > 1 else _twos(top)
    if bottom == 1:
        top //= power
    sign, left = ("/", bottom) if bottom > 1 else ("*", power)
    while left > 1:
        step = min(left, _STEP)
        steps += f" {sign} {step}"
        left //= step
    return f"({top} * 1.0{steps} /* {text} */)"


def _twos(number: int) -> int:
    """Return the largest power of two that divides a number."""
    return number & -number
