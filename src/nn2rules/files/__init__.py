"""Files: inputs are validated when read, outputs are written completely or not at all.

`loading` reads and writes networks, rules, scorecards and summaries as JSON:
`network_json`, `rules_json`, `scorecard_json` and `summary_json`, which share
`domain_json` and `json_node`; the formats are described in `docs/reference/formats.md`.
`decision_tables` are rules that people edit. `tables` reads rows of users from CSV,
Parquet (`parquet`) and Excel files (`workbook`). `safe_files` opens and writes all of
them. Imports `summaries`, `scorecards`, `rules`, `network`, `language` and `space`.
"""

from nn2rules.files.decision_tables import (
    book_of,
    csv_of_book,
    kind_text,
    letter,
    set_text,
    values_text,
    workbook_bytes,
    xlsx_of_book,
)
from nn2rules.files.json_node import Node, parse_json
from nn2rules.files.loading import (
    from_json,
    is_table,
    load,
    load_description,
    load_network,
    load_rules,
    save,
    schema,
    to_json,
)
from nn2rules.files.safe_files import (
    MOST_BYTES,
    Results,
    check_folder,
    check_readable,
    check_writable,
    decoded,
    leads_out_of,
    read_bytes,
    read_text,
    replacing,
    replacing_file,
    size_text,
    uninterrupted,
    write_bytes,
    write_text,
)
from nn2rules.files.summary_json import summary_object
from nn2rules.files.tables import (
    PARQUET,
    Table,
    cell_text,
    read_rows,
    read_table,
    table_text,
)
from nn2rules.files.workbook import openpyxl_for

__all__ = [
    "MOST_BYTES",
    "PARQUET",
    "Node",
    "Results",
    "Table",
    "book_of",
    "cell_text",
    "check_folder",
    "check_readable",
    "check_writable",
    "csv_of_book",
    "decoded",
    "from_json",
    "is_table",
    "kind_text",
    "leads_out_of",
    "letter",
    "load",
    "load_description",
    "load_network",
    "load_rules",
    "openpyxl_for",
    "parse_json",
    "read_bytes",
    "read_rows",
    "read_table",
    "read_text",
    "replacing",
    "replacing_file",
    "save",
    "schema",
    "set_text",
    "size_text",
    "summary_object",
    "table_text",
    "to_json",
    "uninterrupted",
    "values_text",
    "workbook_bytes",
    "write_bytes",
    "write_text",
    "xlsx_of_book",
]
