"""Rules as a decision table in an Excel file; `nn2rules.load_rules` reads it back."""

from nn2rules.export.header import header_of
from nn2rules.export.program import Program
from nn2rules.files import book_of, xlsx_of_book


def write(program: Program) -> bytes:
    """Return rules as the bytes of an Excel file."""
    return xlsx_of_book(book_of(program.rules), header_of(program))
