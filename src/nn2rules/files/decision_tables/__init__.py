"""Rules as a decision table that people edit, in a CSV or an Excel file.

A row is a rule and a column is a feature. `cells` says what is in a cell; `writing`
makes a table of rules, and `reading` makes rules of a table; `sheets` writes tables to
the two kinds of files, and reads them. In code, such a table in a file is a book.
"""

from nn2rules.files.decision_tables.reading import rules_of_book
from nn2rules.files.decision_tables.sheets import (
    csv_of_book,
    is_book,
    letter,
    set_text,
    sheets_of_csv,
    sheets_of_xlsx,
    workbook_bytes,
    xlsx_of_book,
)
from nn2rules.files.decision_tables.writing import book_of, kind_text, values_text

__all__ = [
    "book_of",
    "csv_of_book",
    "is_book",
    "kind_text",
    "letter",
    "rules_of_book",
    "set_text",
    "sheets_of_csv",
    "sheets_of_xlsx",
    "values_text",
    "workbook_bytes",
    "xlsx_of_book",
]
