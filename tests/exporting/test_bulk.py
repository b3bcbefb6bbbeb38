"""Files of rows answered through DuckDB, as the library answers them."""

import csv
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporting.cases import CASES, case
from exporting.engines.in_sql import arrow_table
from exporting.exportable import exportable, rows_for
from nn2rules import FormatError, OptionError, RowsError, RuleList
from nn2rules.exporting import program_of
from nn2rules.exporting.bulk import predict_file
from nn2rules.rules import OUTSIDE

lenient = st.sampled_from(["none", "default"])


def _expected(
    rules: RuleList, rows: Any, unknown: str, undecided: str
) -> list[tuple[Any, Any]]:
    """Return the class and the rule of rows, as the library finds them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = rules.predict(rows, unknown=unknown, undecided=undecided).tolist()
    fired = rules.apply(rows, unknown="none").tolist()
    is_support = rules.scope == "support"
    names = []
    for label, index in zip(labels, fired, strict=True):
        name = rules.names[index] if index >= 0 else "default"
        if index == -1 and is_support:
            name = "default (not proved)"
        policy = unknown if index == OUTSIDE else undecided
        is_nothing = policy == "none" and (index == OUTSIDE or index == -1)
        if index == -1 and not is_support:
            is_nothing = False
        names.append((None, None) if is_nothing else (label, name))
    return names


def _is_held(rules: RuleList) -> bool:
    names = [name.casefold() for name in rules.domain.names]
    return len(set(names)) == len(names) and all(
        name and "\0" not in name for name in names
    )


any_rules = exportable(max_rules=4).filter(_is_held)


@settings(max_examples=50)
@given(any_rules, lenient, lenient)
def test_parquet_is_answered_as_frames_are(tmp_path_factory, rules, unknown, undecided):
    folder = tmp_path_factory.mktemp("bulk")
    program = program_of(rules)
    rows = rows_for(program)
    cells = [[_number(row[c.name], c) for c in program.columns] for row in rows]
    pq.write_table(arrow_table(program, cells), folder / "rows.parquet")
    predict_file(
        rules,
        folder / "rows.parquet",
        folder / "out.parquet",
        unknown=unknown,
        undecided=undecided,
    )
    found = pq.read_table(folder / "out.parquet")
    answers = list(zip(*(found.column(i).to_pylist() for i in (-2, -1)), strict=True))
    expected = _expected(rules, rows, unknown, undecided)
    if program.label_kind == "text":
        expected = [(None if a is None else str(a), b) for a, b in expected]
    assert answers == expected


def _number(cell: Any, column: Any) -> Any:
    is_number = column.kind == "number" and cell is not None
    return float(cell) if is_number else cell


SPELLED = [
    *("", "NA", "nan", "1e3", "+5", ".5", "5.", "2.50", "-0", "007", "1e400", "0.1"),
    *("1e-400", "9007199254740993", "25", "24.999999999999999999", "true", "False"),
    *(" 5", "5 ", "999", "999.0", "1_000", "٣", "inf", "0x10", "17", "90", "90.0"),
]


@settings(max_examples=50)
@given(any_rules, lenient, lenient, st.randoms(use_true_random=False))
def test_csv_is_answered_as_texts_are(tmp_path_factory, rules, unknown, undecided, rng):
    """Cells of CSV are texts, those of numbers too, spelled in any way."""
    folder = tmp_path_factory.mktemp("bulk")
    program = program_of(rules)
    names = [column.name for column in program.columns]
    rows = [
        {name: "" if row[name] is None else str(row[name]) for name in names}
        for row in rows_for(program, 30)
    ]
    for spelled in SPELLED:
        row = dict(rng.choice(rows))
        row[rng.choice(names)] = spelled
        rows.append(row)
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        writer.writerows([[*names, "id"], *([*r.values(), "1"] for r in rows)])
    predict_file(
        rules,
        folder / "rows.csv",
        folder / "out.csv",
        unknown=unknown,
        undecided=undecided,
    )
    with (folder / "out.csv").open(newline="", encoding="utf-8") as stream:
        header, *found = list(csv.reader(stream))
    assert header[:-3] == names
    expected = _expected(rules, rows, unknown, undecided)
    assert [tuple(row[-2:]) for row in found] == [
        ("", "") if rule is None else (str(label), rule) for label, rule in expected
    ]
    assert [row[:-3] for row in found] == [list(row.values()) for row in rows]
