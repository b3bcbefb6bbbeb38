"""Printed numbers as people write them."""

from decimal import Decimal
from fractions import Fraction


def number_text(number: Fraction) -> str:
    """Return a number with a finite decimal fraction, as people write it.

    Examples
    --------
    >>> number_text(Fraction(-1234567, 100)), number_text(Fraction(1, 8))
    ('−12,345.67', '0.125')
    """
    digits = 0
    while number * 10**digits % 1 and digits < 400:
        digits += 1
    decimal = Decimal(int(abs(number) * 10**digits)).scaleb(-digits)
    text = f"{decimal:,f}"
    return f"−{text}" if number < 0 else text
