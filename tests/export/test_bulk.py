"""Files of rows answered through DuckDB, as the library answers them."""

import csv
import os
import signal
import subprocess
import sys
import time
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from export.cases import CASES, case
from export.engines.in_sql import arrow_table
from export.exportable import exportable, rows_for
from nn2rules import (
    Condition,
    Domain,
    Feature,
    FormatError,
    MissingExtraError,
    OptionError,
    RowsError,
    Rule,
    RuleList,
)
from nn2rules.export import program_of
from nn2rules.export.bulk import predict_file
from nn2rules.files import table_text
from nn2rules.rules import OUTSIDE
from nn2rules.space import Range

lenient = st.sampled_from(["none", "default"])


def _expected(
    rules: RuleList, rows: Any, unknown: str, uncovered: str
) -> list[tuple[Any, Any]]:
    """Return the class and the rule of rows, as the library finds them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = rules.predict(rows, unknown=unknown, uncovered=uncovered).tolist()
    fired = rules.apply(rows, unknown="none").tolist()
    is_support = rules.scope == "support"
    names = []
    for label, index in zip(labels, fired, strict=True):
        name = rules.names[index] if index >= 0 else "default"
        if index == -1 and is_support:
            name = "default (not proved)"
        policy = unknown if index == OUTSIDE else uncovered
        is_empty = policy == "none" and (index == OUTSIDE or index == -1)
        if index == -1 and not is_support:
            is_empty = False
        names.append((None, None) if is_empty else (label, name))
    return names


def _is_held(rules: RuleList) -> bool:
    names = [name.casefold() for name in rules.domain.names]
    return len(set(names)) == len(names) and all(
        name and "\0" not in name for name in names
    )


any_rules = exportable(max_rules=4).filter(_is_held)


@settings(max_examples=50)
@given(any_rules, lenient, lenient)
def test_parquet_is_answered_as_frames_are(tmp_path_factory, rules, unknown, uncovered):
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
        uncovered=uncovered,
    )
    found = pq.read_table(folder / "out.parquet")
    answers = list(zip(*(found.column(i).to_pylist() for i in (-2, -1)), strict=True))
    expected = _expected(rules, rows, unknown, uncovered)
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
def test_csv_is_answered_as_texts_are(tmp_path_factory, rules, unknown, uncovered, rng):
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
        uncovered=uncovered,
    )
    with (folder / "out.csv").open(newline="", encoding="utf-8") as stream:
        header, *found = list(csv.reader(stream))
    assert header[:-3] == names
    expected = _expected(rules, rows, unknown, uncovered)
    assert [tuple(row[-2:]) for row in found] == [
        ("", "") if rule is None else (str(label), rule) for label, rule in expected
    ]
    assert [row[:-3] for row in found] == [list(row.values()) for row in rows]


CHANGED = {
    "texts": lambda cells: pa.array([None if c is None else str(c) for c in cells]),
    "integers": lambda cells: pa.array(
        [None if c is None else int(c) for c in cells], pa.int64()
    ),
    "small integers": lambda cells: pa.array(
        [None if c is None else int(c) for c in cells], pa.int8()
    ),
    "halves": lambda cells: pa.array(cells, pa.float32()),
    "truths": lambda cells: pa.array(
        [None if c is None else {0: False, 1: True}[c] for c in cells], pa.bool_()
    ),
    "categories": lambda cells: pa.array(cells, pa.string()).dictionary_encode(),
}


@settings(max_examples=60)
@given(any_rules, st.randoms(use_true_random=False))
def test_columns_of_another_type_are_looked_up(tmp_path_factory, rules, rng):
    folder = tmp_path_factory.mktemp("bulk")
    program = program_of(rules)
    rows = rows_for(program, 40)
    rows += [{c.name: rng.choice([0, 1]) for c in program.columns} for _ in range(5)]
    arrays = {}
    for column in program.columns:
        cells = [row[column.name] for row in rows]
        made = [
            each for each in map(_tried(cells), CHANGED.values()) if each is not None
        ]
        arrays[column.name] = rng.choice(made)
    table = pa.table(arrays)
    pq.write_table(table, folder / "rows.parquet")
    predict_file(rules, folder / "rows.parquet", folder / "out.csv", unknown="none")
    with (folder / "out.csv").open(newline="", encoding="utf-8") as stream:
        _, *found = list(csv.reader(stream))
    expected = _expected(rules, table.to_pylist(), "none", "none")
    assert [tuple(row[-2:]) for row in found] == [
        ("", "") if rule is None else (str(label), rule) for label, rule in expected
    ]


def _tried(cells: list[Any]) -> Any:
    def change(to: Any) -> Any:
        try:
            return to(cells)
        except (ValueError, TypeError, KeyError, OverflowError, pa.ArrowException):
            return None

    return change


def _wide_rules() -> RuleList:
    """Make rules over columns whose values take several words of bits."""
    domain = Domain(
        (
            Feature("a", tuple(f"w{i}" for i in range(50))),
            Feature("b", tuple(range(150))),
            Feature("c", (False, True)),
            Feature("d", tuple(f"w{i}" for i in range(20))),
        )
    )
    draw = np.random.default_rng(0)
    boxes = draw.random((40, int(domain.offsets[-1]))) < 0.6
    boxes[:, domain.offsets[:-1]] = True
    answers = draw.integers(0, 2, size=40).tolist()
    return RuleList.from_boxes(domain, boxes, answers, "no", ("no", "yes"))


@pytest.mark.parametrize("as_text", [False, True])
def test_many_values_take_several_words(tmp_path, as_text):
    rules = _wide_rules()
    draw = np.random.default_rng(1)
    rows = [
        {
            "a": f"w{draw.integers(51)}",
            "b": int(draw.integers(-1, 151)),
            "c": bool(draw.integers(2)),
            "d": f"w{draw.integers(21)}",
        }
        for _ in range(3000)
    ]
    if as_text:
        rows = [{name: str(cell) for name, cell in row.items()} for row in rows]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    predict_file(
        rules, tmp_path / "rows.parquet", tmp_path / "out.parquet", unknown="none"
    )
    found = pq.read_table(tmp_path / "out.parquet").to_pylist()
    answers = [(row["prediction"], row["rule"]) for row in found]
    assert answers == _expected(rules, rows, "none", "none")
    assert len({rule for _, rule in answers}) > 10
    assert [{k: row[k] for k in "abcd"} for row in found] == rows


@pytest.mark.parametrize("name", CASES)
def test_cases_in_bulk(name, tmp_path):
    rules = case(name).rules
    program = program_of(rules)
    rows = rows_for(program, 2000)
    cells = [[_number(row[c.name], c) for c in program.columns] for row in rows]
    pq.write_table(arrow_table(program, cells), tmp_path / "rows.parquet")
    predict_file(
        rules, tmp_path / "rows.parquet", tmp_path / "out.parquet", unknown="none"
    )
    found = pq.read_table(tmp_path / "out.parquet").to_pylist()
    answers = [(row["prediction"], row["rule"]) for row in found]
    assert answers == _expected(rules, rows, "none", "none")


def _tomatoes(scope: str = "domain") -> RuleList:
    domain = Domain((Feature("color", ("red", "yellow")), Feature.bins("size", [2.5])))
    rule = Rule((Condition("color", ("red",)),), "ripe")
    return RuleList(domain, (rule,), "unripe", ("unripe", "ripe"), scope=scope)


def _written(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_an_unknown_value_is_named_with_its_row(tmp_path):
    rows = _written(tmp_path / "r.parquet", color=["red", "blue"], size=[1.0, 2.0])
    out = tmp_path / "out.parquet"
    with pytest.raises(RowsError, match=r"r\.parquet, row 2: .*'color'.*'blue'"):
        predict_file(_tomatoes(), rows, out)
    assert [path.name for path in tmp_path.iterdir()] == ["r.parquet"]


def test_open_rows_are_counted_or_refused(tmp_path):
    rows = _written(
        tmp_path / "r.parquet", color=["red", "yellow", "yellow"], size=[1.0, 2.0, 3.0]
    )
    out = tmp_path / "out.parquet"
    written = predict_file(_tomatoes("support"), rows, out)
    assert (written.n_rows, written.n_uncovered) == (3, 2)
    assert pq.read_table(out)["prediction"].to_pylist() == ["ripe", None, None]
    assert pq.read_table(out)["rule"].to_pylist()[1:] == [None, None]
    predict_file(_tomatoes("support"), rows, out, uncovered="default")
    assert pq.read_table(out)["rule"].to_pylist()[1:] == ["default (not proved)"] * 2
    message = "row 2: no rule covers 2 of 3 rows; this is the first"
    with pytest.raises(RowsError, match=message):
        predict_file(_tomatoes("support"), rows, out, uncovered="error")
    assert predict_file(_tomatoes(), rows, out, uncovered="error").n_uncovered == 0


def test_a_column_of_a_strange_type_is_refused(tmp_path):
    decimals = pa.array([Decimal("1.50"), None], pa.decimal128(10, 2))
    rows = _written(tmp_path / "r.parquet", color=["red", "red"], size=decimals)
    with pytest.raises(RowsError, match=r"'size' is of type DECIMAL\(10,2\), expected"):
        predict_file(_tomatoes(), rows, tmp_path / "out.parquet")


def test_names_that_differ_in_case_alone_are_refused(tmp_path):
    columns = {"color": ["red"], "size": [1.0], "Color": ["red"]}
    rows = _written(tmp_path / "r.parquet", **columns)
    with pytest.raises(FormatError, match="differ only in case"):
        predict_file(_tomatoes(), rows, tmp_path / "out.parquet")


def test_a_column_without_a_name_is_kept_in_csv(tmp_path):
    rows = tmp_path / "r.csv"
    rows.write_text(',color,size\n0,red,1\n1,yellow,"2"\n')
    predict_file(_tomatoes(), rows, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        ",color,size,prediction,rule",
        "0,red,1,ripe,1",
        "1,yellow,2,unripe,default",
    ]
    with pytest.raises(FormatError, match="a column has no name, or two"):
        predict_file(_tomatoes(), rows, tmp_path / "out.parquet")


def test_names_of_csv_stay_as_they_are(tmp_path):
    rows = tmp_path / "r.csv"
    rows.write_text("Color,color,size,rule\nx,red,1,z\n")
    predict_file(_tomatoes(), rows, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "Color,color,size,rule,prediction,rule_",
        "x,red,1,z,ripe,1",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("color,color\n", "the column 'color' occurs twice"),
        ("color\nred\n", "the feature 'size' is missing"),
        ("color,size\nred\n", "r.csv, line 2: 1 cell, expected 2"),
        ("color,size\nred,1\nblue,1\n", "r.csv, line 3: .*'blue'"),
    ],
)
def test_csv_that_does_not_fit_is_refused(tmp_path, text, message):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises((FormatError, RowsError), match=message):
        predict_file(_tomatoes(), tmp_path / "r.csv", tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


def test_what_is_no_parquet_file_is_refused(tmp_path):
    (tmp_path / "r.parquet").write_text("color,size\n")
    with pytest.raises(FormatError, match=r"r\.parquet: .*[Pp]arquet"):
        predict_file(_tomatoes(), tmp_path / "r.parquet", tmp_path / "out.csv")
    with pytest.raises(FormatError, match=r"ends with \.parquet or \.csv"):
        predict_file(_tomatoes(), tmp_path / "r.parquet", tmp_path / "out.txt")
    with pytest.raises(OptionError, match="expected a size such as 500MB"):
        predict_file(
            _tomatoes(), tmp_path / "r.parquet", tmp_path / "out.csv", memory="lots"
        )


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_file_may_be_larger_than_memory(tmp_path, suffix):
    """A row has so many letters, and none is like another."""
    import duckdb

    rows, out = tmp_path / "r.parquet", tmp_path / f"out.{suffix}"
    noise = "concat_ws('', " + ", ".join(["uuid()::text"] * 8) + ")"
    n_rows = 700_000
    with duckdb.connect() as base:
        base.execute(
            f"COPY (SELECT CASE WHEN i % 3 = 0 THEN 'red' ELSE 'yellow' END AS color, "
            f"random() * 5 AS size, {noise} AS note FROM range({n_rows}) t(i)) "
            f"TO '{rows}' (FORMAT parquet, ROW_GROUP_SIZE 20000)"
        )
    written = predict_file(_tomatoes(), rows, out, memory="200MB")
    assert rows.stat().st_size > 200_000_000
    assert written.n_rows == n_rows
    with duckdb.connect() as base:
        found = base.execute(
            f"SELECT count(*), count(*) FILTER ((color = 'red') = (rule = '1')) "
            f"FROM '{out}'"
        )
        assert found.fetchone() == (n_rows, n_rows)


# The command


CLI = [sys.executable, "-m", "nn2rules"]


def _told(folder: Path, *args: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [*CLI, *args], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_the_command_answers_parquet(tmp_path):
    _tomatoes("support").save(tmp_path / "rules.json")
    _written(tmp_path / "r.parquet", color=["red", "yellow"], size=[1.0, 2.0])
    told = _told(tmp_path, "predict", "rules.json", "r.parquet", "-o", "out.csv")
    assert told == (
        0,
        "2 rows written to out.csv\n",
        "note: no rule covers 1 of 2 rows; their prediction is empty\n",
    )
    assert (tmp_path / "out.csv").read_text() == (
        "color,size,prediction,rule\nred,1.0,ripe,1\nyellow,2.0,,\n"
    )
    code, printed, _ = _told(tmp_path, "predict", "rules.json", "r.parquet")
    assert (code, printed) == (
        0,
        "color,size,prediction,rule\nred,1,ripe,1\nyellow,2,,\n",
    )
    told = _told(
        tmp_path, "predict", "rules.json", "r.parquet", "--uncovered", "default"
    )
    assert told[1].endswith("yellow,2,unripe,default (not proved)\n")


def test_both_ways_of_the_command_write_the_same(tmp_path):
    """A size of memory sends a small CSV file the way of a large one."""
    rules = case("numbers, list for rows").rules
    rules.save(tmp_path / "rules.json")
    rows = rows_for(program_of(rules), 500)
    names = rules.domain.names
    lines = [["" if row[n] is None else str(row[n]) for n in names] for row in rows]
    (tmp_path / "r.csv").write_text(table_text(list(names), lines), encoding="utf-8")
    written = []
    for way, options in (("small", ()), ("large", ("--memory", "1GB"))):
        command = ("predict", "rules.json", "r.csv", "--unknown", "none", *options)
        code, _, note = _told(tmp_path, *command, "-o", f"{way}.csv")
        with (tmp_path / f"{way}.csv").open(newline="", encoding="utf-8") as stream:
            written.append((code, note, list(csv.reader(stream))))
    assert written[0] == written[1]
    assert len(written[0][2]) == len(rows) + 1


def test_an_interrupt_leaves_nothing_behind(tmp_path):
    import duckdb

    _tomatoes().save(tmp_path / "rules.json")
    with duckdb.connect() as base:
        base.execute(
            f"COPY (SELECT 'red' AS color, random() AS size, uuid()::text AS note "
            f"FROM range(8_000_000)) TO '{tmp_path / 'r.parquet'}' "
            f"(FORMAT parquet, COMPRESSION uncompressed)"
        )
    command = [*CLI, "predict", "rules.json", "r.parquet", "-o", "out.parquet"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while len(list(tmp_path.iterdir())) == 2 and running.poll() is None:
        time.sleep(0.01)
    assert running.poll() is None, "ended before it could be interrupted"
    time.sleep(0.2)
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=60)[1] == "interrupted\n"
    assert running.returncode == 130
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.parquet", "rules.json"]


def test_without_duckdb_the_extra_is_named(tmp_path, monkeypatch):
    rows = _written(tmp_path / "r.parquet", color=["red"], size=[1.0])
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"pip install \".\[sql\]\""):
        predict_file(_tomatoes(), rows, tmp_path / "out.parquet")


NAN, INF = float("nan"), float("inf")
NUMBER_FEATURES = {
    "range": Feature.real("f", 0.0, 10.0),
    "range or missing": Feature.real("f", 0.0, 10.0, missing=True),
    "whole": Feature.real("f", 0, 10, whole=True, missing=True),
    "bins": Feature.bins("f", [0, 5]),
    "bins or missing": Feature.bins("f", [0, 5], missing=True),
    "list": Feature("f", (1.5, 5.0)),
    "list or missing": Feature("f", (1.5, 5.0, None)),
    "list or other": Feature("f", (5.0, "other", None), other="other"),
}


def _each_value(feature: Feature) -> RuleList:
    """Return rules with a class for each value of a feature, or for part of a range."""
    allowed: list[tuple[Any, ...]] = [(value,) for value in feature.values]
    if isinstance(feature, Range):
        allowed = [((0, 4),), *([(None,)] if None in feature.values else [])]
    rules = [Rule((Condition("f", each),), f"c{n}") for n, each in enumerate(allowed)]
    classes = ("rest", *(rule.then for rule in rules))
    return RuleList(Domain((feature,)), tuple(rules), "rest", classes)


@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("numbers", [[0.0, 10.0], [5.0], [INF, 5.0], [], [None, 1.5]])
@pytest.mark.parametrize("name", NUMBER_FEATURES)
def test_nan_of_parquet_is_missing(tmp_path, name, numbers, statistics):
    """Statistics of Parquet leave NaN out, and DuckDB decides comparisons by them."""
    import duckdb

    rules = _each_value(NUMBER_FEATURES[name])
    cells = [NAN, *numbers, NAN]
    path, output = tmp_path / "rows.parquet", tmp_path / "out.parquet"
    column = pa.array(cells, pa.float64(), from_pandas=False)
    pq.write_table(pa.table({"f": column}), path, write_statistics=statistics)
    expected = rules.predict([{"f": cell} for cell in cells], unknown="none").tolist()
    predict_file(rules, path, output, unknown="none")
    assert pq.read_table(output)["prediction"].to_pylist() == expected
    case_text = rules.export("sql", only="class")
    rows = f"read_parquet('{path}')"
    found = duckdb.sql(f"SELECT {case_text} FROM {rows}").fetchall()
    assert [label for (label,) in found] == expected
    for label in set(expected) - {None}:  # a filter may skip parts of a file
        asked = f"SELECT count(*) FROM {rows} WHERE ({case_text}) = '{label}'"
        assert duckdb.sql(asked).fetchall() == [(expected.count(label),)]


HOSTILE_NAMES = [
    *("rows[1]", "a*", "b?", "{x,y}", "q'q", 'd"d', "s\\s", "~", "p%20", "file:x"),
    *("new\nline", "esc\x1b", "$HOME", "[a-b]", "[!x]", "]", "[", "**", "http:", "-o"),
]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_name_is_a_name_and_no_pattern(tmp_path, monkeypatch, name, suffix):
    monkeypatch.chdir(tmp_path)
    for other in ("rows1", "ab", "bc", "x", "y", "a"):
        _write_row(Path(f"{other}.{suffix}"), "another file")
    rows, output = Path(f"{name}.{suffix}"), Path(f"{name}.out.{suffix}")
    _write_row(rows, "the file that was named")
    before = set(tmp_path.iterdir())
    written = predict_file(_tomatoes(), rows, output)
    assert written.n_rows == 1
    assert set(tmp_path.iterdir()) - before == {tmp_path / output}
    assert b"the file that was named" in output.read_bytes()


def _write_row(path: Path, who: str) -> None:
    row = {"color": "red", "size": "3", "who": who}
    if path.suffix == ".csv":
        path.write_text(table_text(list(row), [list(row.values())]))
        return
    with open(path, "wb") as stream:
        pq.write_table(pa.table({key: [cell] for key, cell in row.items()}), stream)


def test_a_name_that_is_not_utf_8_is_read_and_not_written(tmp_path):
    named, output = tmp_path / os.fsdecode(b"\xff.parquet"), tmp_path / "out.parquet"
    _write_row(named, "the file that was named")
    predict_file(_tomatoes(), named, output)
    assert b"the file that was named" in output.read_bytes()
    with pytest.raises(FormatError, match="not UTF-8, which DuckDB needs; rename"):
        predict_file(_tomatoes(), output, named)


def test_a_name_is_read_beside_any_other(tmp_path):
    """DuckDB finds no file by a pattern beside one with a backslash in its name."""
    named = tmp_path / "a\\*[1].parquet"
    for path in (named, tmp_path / "\\?{b.parquet", tmp_path / "a\\b1.parquet"):
        _write_row(path, path.name)
    predict_file(_tomatoes(), named, tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["who"].to_pylist() == [named.name]


@pytest.mark.parametrize("name", ["rows.parquet", "rows[1].parquet"])
def test_without_links_no_other_file_is_read(tmp_path, monkeypatch, name):
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "symlink", refuse)
    _write_row(tmp_path / name, "the file that was named")
    _write_row(tmp_path / "rows1.parquet", "another file")
    predict_file(_tomatoes(), tmp_path / name, tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")["who"].to_pylist()
    assert found == ["the file that was named"]
