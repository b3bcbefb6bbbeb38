"""Books: rules as a decision table that people edit, in a CSV or an Excel file.

A row is a rule and a column is a feature. `cells` says what stands in a cell, and
`reading_cells` reads it; `table` makes a table of rules, and `reading` makes rules of
one; `as_csv` and `as_xlsx` are the two kinds of files.
"""
