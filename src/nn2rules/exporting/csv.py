"""Rules as a decision table in a CSV file, which `nn2rules.load_rules` reads back."""

from nn2rules.exporting.header import header_of
from nn2rules.exporting.program import Program
from nn2rules.formats.books.as_csv import csv_of_book
from nn2rules.formats.books.table import book_of


def write(program: Program) -> str:
    """Return rules as the text of a CSV file."""
    return csv_of_book(book_of(program.rules), header_of(program))
