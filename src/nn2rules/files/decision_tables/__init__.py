"""Books: rules as a decision table that people edit, in a CSV or an Excel file.

A row is a rule and a column is a feature. `cells` says what stands in a cell;
`writing` makes a table of rules, and `reading` makes rules of one; `sheets` puts tables
into the two kinds of files, and takes them out.
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
