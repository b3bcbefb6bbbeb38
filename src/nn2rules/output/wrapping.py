"""Lines of a given width: where words are parted, and how wide they are."""

import re
import unicodedata
from collections.abc import Sequence


def words(text: str) -> list[str]:
    """Return the words of a sentence; a number stays with the sign that is its unit.

    Examples
    --------
    >>> words("open (33.3 %) or > 99 % of 2")
    ['open', '(33.3 %)', 'or', '> 99 %', 'of', '2']
    """
    return re.split(r"(?<![<>]) (?!%)", text)


def filled(pieces: Sequence[str], separator: str, width: int) -> list[str]:
    """Return pieces in lines of a width, parted behind separators where possible.

    Examples
    --------
    >>> filled(["color = red", "size ≠ small", "age ≥ 40"], " · ", 28)
    ['color = red · size ≠ small ·', 'age ≥ 40']
    """
    lines, end = [""], separator.rstrip()
    for index, piece in enumerate(pieces):
        behind = end if index < len(pieces) - 1 else ""
        joined = lines[-1] + separator + piece if lines[-1] else piece
        if cells(joined + behind) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines[-1] += end
            lines.append("")
        *full, last = parted(piece, width - cells(behind))
        lines[-1:] = [*full, last]
    return lines


def parted(piece: str, width: int) -> list[str]:
    """Return a piece in lines: at spaces, or, of a word that is wider, anywhere."""
    lines = [""]
    for word in piece.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cells(joined) <= width:
            lines[-1] = joined
            continue
        rest = word
        if lines[-1]:
            lines.append("")
        while len(rest) > 1 and cells(rest) > width:
            cut = _fitting(rest, width)
            lines[-1:] = [rest[:cut], ""]
            rest = rest[cut:]
        lines[-1] = rest
    return lines


def _fitting(text: str, width: int) -> int:
    """Return how many characters of a text fit into a width, at least one."""
    cut = 1
    while cut < len(text) and cells(text[: cut + 1]) <= width:
        cut += 1
    return cut


def cells(text: str) -> int:
    """Return how wide a text is on a terminal.

    Examples
    --------
    >>> cells("size"), cells("尺寸")
    (4, 4)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )
