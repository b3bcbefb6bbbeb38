"""Rules as a decision table in an Excel file; `nn2rules.load_rules` reads it back."""

from nn2rules.exporting.header import header_of
from nn2rules.exporting.program import Program
from nn2rules.formats.books.as_xlsx import xlsx_of_book
from nn2rules.formats.books.table import book_of


def write(program: Program) -> bytes:
    """Return rules as the bytes of an Excel file."""
    return xlsx_of_book(book_of(program.rules), header_of(program))
