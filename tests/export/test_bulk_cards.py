"""Files of rows scored through DuckDB, as the scorecard itself scores them."""

import csv
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from export.card_cases import CARDS, card, card_rows, drawn_cards
from export.engines.in_sql import arrow_table
from export.test_bulk import CHANGED, SPELLED, _is_held, _number, _tried
from nn2rules import (
    Domain,
    Feature,
    Layer,
    Network,
    OptionError,
    RowsError,
    Scorecard,
    UnknownValueError,
)
from nn2rules.errors import UndecidedError
from nn2rules.export import predict_file
from nn2rules.export.card_program import CardProgram, card_program_of

any_card = drawn_cards().filter(_is_held)


def _expected(given_card: Scorecard, rows: Any) -> list[tuple[Any, ...]]:
    """Return class and totals of rows, as the scorecard gives them, one by one."""
    return [_scored(given_card, row) for row in rows]


def _scored(given_card: Scorecard, row: Any) -> tuple[Any, ...]:
    n_totals = 1 if len(given_card.classes) == 2 else len(given_card.classes)
    try:
        totals = given_card.points([row]).totals[0].tolist()
    except UnknownValueError:
        return (None,) * (1 + n_totals)
    label = given_card.predict([row]).tolist()[0]
    shown = [None if math.isnan(total) else total for total in totals]
    return label, *shown


def _program(given_card: Scorecard) -> CardProgram:
    return card_program_of(given_card, points="fine")


def _added(given_card: Scorecard, row: Any) -> tuple[Any, ...]:
    n_totals = 1 if len(given_card.classes) == 2 else len(given_card.classes)
    return tuple(row)[-1 - n_totals :]


def _in_parquet(folder: Path, given_card: Scorecard, table: Any) -> list[Any]:
    pq.write_table(table, folder / "rows.parquet")
    predict_file(
        given_card, folder / "rows.parquet", folder / "out.parquet", unknown="none"
    )
    found = pq.read_table(folder / "out.parquet")
    assert found.column_names[: table.num_columns] == table.column_names
    columns = [column.to_pylist() for column in found.columns]
    return [_added(given_card, row) for row in zip(*columns, strict=True)]


def _as_text(given_card: Scorecard, expected: list[Any]) -> list[Any]:
    """Return answers with the labels as an export has them."""
    if _program(given_card).label_kind != "text":
        return expected
    return [
        (None if label is None else str(label), *totals) for label, *totals in expected
    ]


def _cells(given_card: Scorecard, number: int) -> Any:
    program = _program(given_card)
    rows = card_rows(program, number)
    cells = [[_number(row[c.name], c) for c in program.columns] for row in rows]
    return rows, arrow_table(program, cells)


@settings(max_examples=15)
@given(any_card)
def test_parquet_is_scored_as_rows_are(tmp_path_factory, drawn):
    rows, table = _cells(drawn, 30)
    found = _in_parquet(tmp_path_factory.mktemp("bulk"), drawn, table)
    assert found == _as_text(drawn, _expected(drawn, rows))


@pytest.mark.parametrize("name", CARDS)
def test_cards_in_bulk(name, tmp_path):
    """Rows at which the class changes are among them, and get the exact class."""
    rows, table = _cells(card(name), 400)
    found = _in_parquet(tmp_path, card(name), table)
    assert found == _expected(card(name), rows)
    assert len({label for label, *_ in found}) > 2


@settings(max_examples=15)
@given(any_card, st.randoms(use_true_random=False))
def test_csv_is_scored_as_texts_are(tmp_path_factory, drawn, rng):
    """Cells of CSV are texts, those of numbers too, spelled in any way."""
    folder = tmp_path_factory.mktemp("bulk")
    names = list(drawn.domain.names)
    rows = [
        {name: "" if row[name] is None else str(row[name]) for name in names}
        for row in card_rows(_program(drawn), 20)
    ]
    for spelled in SPELLED:
        rows.append({**rng.choice(rows), rng.choice(names): spelled})
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        writer.writerows([[*names, "id"], *([*r.values(), "1"] for r in rows)])
    predict_file(drawn, folder / "rows.csv", folder / "out.csv", unknown="none")
    with (folder / "out.csv").open(newline="", encoding="utf-8") as stream:
        _, *found = list(csv.reader(stream))
    assert [row[: len(names)] for row in found] == [[*row.values()] for row in rows]
    assert [_read(_added(drawn, row)) for row in found] == [
        ("" if label is None else str(label), *totals)
        for label, *totals in _expected(drawn, rows)
    ]


def _read(cells: tuple[str, ...]) -> tuple[Any, ...]:
    label, *totals = cells
    return label, *(float(total) if total else None for total in totals)


@settings(max_examples=15)
@given(any_card, st.randoms(use_true_random=False))
def test_columns_of_another_type_are_looked_up(tmp_path_factory, drawn, rng):
    rows = card_rows(_program(drawn), 20)
    rows += [{name: rng.choice([0, 1]) for name in drawn.domain.names}] * 3
    arrays = {}
    for name in drawn.domain.names:
        made = map(_tried([row[name] for row in rows]), CHANGED.values())
        arrays[name] = rng.choice([each for each in made if each is not None])
    table = pa.table(arrays)
    found = _in_parquet(tmp_path_factory.mktemp("bulk"), drawn, table)
    assert found == _as_text(drawn, _expected(drawn, table.to_pylist()))


def _tomatoes(slope: float = 0.01) -> Scorecard:
    domain = Domain(
        (Feature("color", ("red", "yellow")), Feature.real("weight", 50, 250))
    )
    layer = Layer([[1.5], [-1.0], [slope]], [-2.0], "sigmoid")
    return Scorecard.from_network(Network(domain, (layer,), ("unripe", "ripe")))


def test_totals_are_integers_where_all_of_them_are(tmp_path):
    table = pa.table({"color": ["red", None], "weight": [120.0, 90.0]})
    for digits, kind in ((0, int), (1, float)):
        given_card = _tomatoes().scaled(minimum=0, maximum=100, digits=digits)
        [first, second] = _in_parquet(tmp_path, given_card, table)
        assert type(first[1]) is kind
        assert first == _scored(given_card, {"color": "red", "weight": 120.0})
        assert second == (None, None)


def test_names_that_are_taken_get_others(tmp_path):
    columns = {"color": ["red"], "weight": [120.0], "Points": [1], "prediction": [2]}
    pq.write_table(pa.table(columns), tmp_path / "r.parquet")
    predict_file(_tomatoes(), tmp_path / "r.parquet", tmp_path / "o.parquet")
    assert pq.read_table(tmp_path / "o.parquet").column_names == [
        *columns,
        "prediction_",
        "points_",
    ]


def test_a_file_without_rows(tmp_path):
    none = pa.table({"color": pa.array([], pa.string()), "weight": pa.array([], "f8")})
    assert _in_parquet(tmp_path, _tomatoes(), none) == []


def test_mistakes_are_one_sentence(tmp_path):
    path, out = tmp_path / "r.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"color": ["red", "blue"], "weight": [60.0, 60.0]}), path)
    with pytest.raises(RowsError, match=r"r\.parquet, row 2: .*'color'.*'blue'"):
        predict_file(_tomatoes(), path, out)
    with pytest.raises(OptionError, match="a scorecard has no default class"):
        predict_file(_tomatoes(), path, out, unknown="default")
    pq.write_table(pa.table({"color": ["red"]}), path)
    with pytest.raises(RowsError, match="the feature 'weight' is missing"):
        predict_file(_tomatoes(), path, out)
    assert [each.name for each in tmp_path.iterdir()] == ["r.parquet"]


def test_a_row_that_cannot_be_decided_is_told(tmp_path, monkeypatch):
    def refuse(*_: Any) -> Any:
        raise UndecidedError({"color": "red"})

    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({"color": ["red"], "weight": [60.0]}), path)
    monkeypatch.setattr(Scorecard, "predictions", refuse)
    with pytest.raises(UndecidedError):
        predict_file(_tomatoes(), path, tmp_path / "out.parquet")
    assert [each.name for each in tmp_path.iterdir()] == ["r.parquet"]


# The command


def _run(folder: Path, *args: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "nn2rules", "predict", *args]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", ["single", "regions, three classes"])
def test_both_ways_of_the_command_write_the_same(tmp_path, name):
    """A size of memory sends a small CSV file the way of a large one."""
    card(name).save(tmp_path / "card.json")
    rows = card_rows(_program(card(name)), 50)
    names = list(card(name).domain.names)
    with (tmp_path / "r.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows(
            ["" if row[n] is None else row[n] for n in names] for row in rows
        )
    written = []
    for way, options in (("small", ()), ("large", ("--memory", "1GB"))):
        args = ("card.json", "r.csv", "--unknown", "none", *options)
        told = _run(tmp_path, *args, "-o", f"{way}.csv")
        assert told == (0, f"{len(rows)} rows written to {way}.csv\n", "")
        with (tmp_path / f"{way}.csv").open(newline="", encoding="utf-8") as stream:
            header, *lines = list(csv.reader(stream))
        written.append((header, [_read(_added(card(name), line)) for line in lines]))
        assert [line[: len(names)] for line in lines] == [
            ["" if row[n] is None else str(row[n]) for n in names] for row in rows
        ]
    assert written[0] == written[1]


def test_the_command_scores_parquet(tmp_path):
    _tomatoes().save(tmp_path / "card.json")
    columns = {"color": ["red", "yellow"], "weight": [120.0, 120.0]}
    pq.write_table(pa.table(columns), tmp_path / "r.parquet")
    told = _run(tmp_path, "card.json", "r.parquet", "-o", "out.csv")
    assert told == (0, "2 rows written to out.csv\n", "")
    [red, yellow] = _tomatoes().points(pa.table(columns).to_pylist()).totals[:, 0]
    assert (tmp_path / "out.csv").read_text() == (
        "color,weight,prediction,points\n"
        f"red,120.0,ripe,{red}\nyellow,120.0,unripe,{yellow}\n"
    )
    code, _, note = _run(
        tmp_path, "card.json", "r.parquet", "-o", "out.csv", "--unknown", "default"
    )
    assert code == 2
    assert "a scorecard has no default class" in note
