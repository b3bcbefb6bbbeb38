"""Rules as a decision table in a CSV file, which `nn2rules.load_rules` reads back."""

from nn2rules.export.header import header_of
from nn2rules.export.program import Program
from nn2rules.files import book_of, csv_of_book


def write(program: Program) -> str:
    """Return rules as the text of a CSV file."""
    return csv_of_book(book_of(program.rules), header_of(program))
