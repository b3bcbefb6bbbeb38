"""Grids of words and numbers, whatever medium shows them."""

from dataclasses import dataclass

from nn2rules.text import share


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of text below a header; `numbers` says which columns are such."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[bool, ...]


def amount(number: int | None) -> str:
    """Return a number, or nothing where it is not known."""
    return "" if number is None else f"{number:,}"


def part(number: int | None, total: int | None) -> str:
    """Return a share in percent, or nothing where it is not known."""
    return "" if number is None or not total else share(number, total)
