"""Cells of a file as texts, with their places: what a book is read from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nn2rules.errors import FormatError


@dataclass(frozen=True)
class Row:
    """The cells of a row, and the number by which people find it."""

    number: int
    cells: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing stands in it."""
        return not any(cell.strip() for cell in self.cells)

    def cell(self, index: int) -> str:
        """Return a cell; rows may end before the header does."""
        return self.cells[index] if index < len(self.cells) else ""


@dataclass(frozen=True)
class Sheets:
    """A decision table as it stands in a file.

    Attributes
    ----------
    path : str
    rows : list of Row
        The table; the first is the header.
    parts : mapping from keys to pairs of a text and its place
        What stands beside it.
    letters : bool
        Whether cells are called by letters and numbers, as in Excel files.
    described : list of tuples of texts
        For each feature what is said of it in words, if anything: name, kind, values.
    """

    path: str
    rows: list[Row]
    parts: Mapping[str, list[tuple[str, str]]] = field(default_factory=dict)
    letters: bool = False
    described: list[tuple[str, ...]] = field(default_factory=list)

    def place(self, row: Row, index: int) -> str:
        """Return where a cell stands, as people find it."""
        title = self.rows[0].cell(index).strip()
        named = f" ({title})" if title else ""
        if self.letters:
            return f"{self.path}, cell {letter(index)}{row.number}{named}"
        called = f"column {title!r}" if title else f"column {index + 1}"
        return f"{self.path}, line {row.number}, {called}"

    def error(self, row: Row, index: int, message: str) -> FormatError:
        """Return the error that says a message about a cell."""
        return FormatError(f"{self.place(row, index)}: {message}")


def letter(index: int) -> str:
    """Return what a spreadsheet calls a column.

    Examples
    --------
    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'AA')
    """
    text, number = "", index + 1
    while number:
        number, place = divmod(number - 1, 26)
        text = chr(ord("A") + place) + text
    return text
