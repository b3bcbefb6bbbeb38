"""Files of rows: the same table in CSV, Parquet and Excel means the same."""

import gzip
import io
import json
import zipfile
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import joblib
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from typer.testing import CliRunner

from nn2rules.cli import app
from nn2rules.errors import FormatError, MissingExtraError
from nn2rules.files import parquet, read_table, safe_files, workbook

FRAME = pd.DataFrame(
    {
        "amount": [250.0, 900.5, 4000.0, 7700.0, None, 1200.0] * 5,
        "duration": [6, 12, 24, 48, 36, 9] * 5,
        "job": ["clerk", "NA", None, "manager", "clerk", "01"] * 5,
        "owner": [True, False, True, False, False, True] * 5,
        "opened": pd.to_datetime(["2024-01-31", "2024-02-01"] * 15),
        "y": ["good", "good", "good", "bad", "bad", "good"] * 5,
    }
)
KINDS = ("rows.csv", "rows.csv.gz", "rows.parquet", "rows.xlsx")


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_csv(path, index=False)
    return path


def sheet_of(path: Path, *rows: list[object]) -> Path:
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    workbook.save(path)
    return path


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    words = OneHotEncoder(handle_unknown="ignore")
    pipeline = make_pipeline(
        ColumnTransformer(
            [
                ("numbers", numbers, ["amount", "duration"]),
                ("words", words, ["owner"]),
            ]
        ),
        LogisticRegression(C=100),
    )
    pipeline.fit(FRAME[["amount", "duration", "owner"]], FRAME["y"])
    path = tmp_path_factory.mktemp("model") / "model.joblib"
    joblib.dump(pipeline, path)
    return path


@pytest.mark.parametrize("name", KINDS)
def test_the_cells_of_a_table_mean_the_same_in_every_kind_of_file(
    tmp_path: Path, name: str
) -> None:
    rows = read_table(write(FRAME, tmp_path / name)).typed()

    expected = read_table(write(FRAME, tmp_path / "expected.csv")).typed()
    assert rows == expected
    assert [[type(cell) for cell in row.values()] for row in rows] == [
        [type(cell) for cell in row.values()] for row in expected
    ]
    assert rows[4] == {
        "amount": None,
        "duration": 36,
        "job": "clerk",
        "owner": False,
        "opened": "2024-01-31",
        "y": "bad",
    }


def test_rules_and_predictions_are_the_same_from_every_kind_of_file(
    tmp_path: Path, model: Path
) -> None:
    columns = ["amount", "duration", "owner", "y"]
    made, predicted, explained = {}, {}, {}
    for name in KINDS:
        data = write(FRAME[columns], tmp_path / name)
        rules = tmp_path / "rules.json"
        options = ("--data", data, "--labels", "y", "--form", "rules")
        run("extract", model, "--trust", *options, "-o", rules)
        content = json.loads(rules.read_text())
        content["certificate"].pop("seconds", None)
        made[name] = content["rules"], content["features"]
        predicted[name] = [
            line.rsplit(",", 2)[1:] for line in run("predict", rules, data).split()
        ]
        explained[name] = run(
            *("explain", model, data, "--trust", "--data", data, "--top", 3)
        )

    assert all(made[name] == made["rows.csv"] for name in KINDS)
    assert all(predicted[name] == predicted["rows.csv"] for name in KINDS)
    assert all(explained[name] == explained["rows.csv"] for name in KINDS)


def test_text_that_spells_numbers_stays_text_where_the_file_has_types(
    tmp_path: Path,
) -> None:
    frame = pd.DataFrame({"branch": ["01", "02", ""]})
    kept = [{"branch": "01"}, {"branch": "02"}, {"branch": None}]

    assert read_table(write(frame, tmp_path / "a.parquet")).typed() == kept
    path = sheet_of(tmp_path / "a.xlsx", ["branch", "x"], ["01", 1], ["02", 1])
    assert [row["branch"] for row in read_table(path).typed()] == ["01", "02"]


def test_a_sheet_with_text_among_numbers_is_read_as_csv_is(tmp_path: Path) -> None:
    path = sheet_of(tmp_path / "a.xlsx", ["a", "b"], [1, 1], ["n/a", "x"], ["3", 2.5])

    assert read_table(path).typed() == [
        {"a": 1, "b": "1"},
        {"a": None, "b": "x"},
        {"a": 3, "b": "2.5"},
    ]


def test_every_type_of_arrow_that_holds_one_value_is_read(tmp_path: Path) -> None:
    moment = datetime(2024, 1, 31, 9, 30)
    table = pa.table(
        {
            "decimal": pa.array([Decimal("12.30"), None], pa.decimal128(9, 2)),
            "float": pa.array([float("nan"), 2.0], pa.float32()),
            "words": pa.array(["a", "b"]).dictionary_encode(),
            "large": pa.array(["a", None], pa.large_string()),
            "day": pa.array([date(2024, 1, 31), None]),
            "moment": pa.array([moment, moment], pa.timestamp("ns")),
            "nothing": pa.nulls(2),
            "__index_level_0__": [0, 1],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")

    first, second = read_table(tmp_path / "a.parquet").typed()

    assert list(first.values()) == [
        *(12.3, None, "a", "a", "2024-01-31", "2024-01-31 09:30:00", None),
    ]
    assert list(second.values()) == [
        *(None, 2, "b", None, None, "2024-01-31 09:30:00", None),
    ]


@pytest.mark.parametrize("name", ["rows[1].parquet", "*.parquet", "a?.parquet"])
def test_a_name_is_a_name_and_no_pattern(tmp_path: Path, name: str) -> None:
    for other in ("rows1.parquet", "ab.parquet"):
        pq.write_table(pa.table({"a": ["other"]}), tmp_path / other)
    pq.write_table(pa.table({"a": ["own"]}), tmp_path / name)

    assert read_table(tmp_path / name).rows == [{"a": "own"}]


def test_places_are_named_as_people_find_them(tmp_path: Path) -> None:
    path = sheet_of(tmp_path / "a.xlsx", ["a", "b"], [1, 2], [None, None], [3, 4])

    assert read_table(path).place(1) == f"{path}, row 4"


def _bad_columns(path: Path) -> None:
    pq.write_table(pa.table({"ok": [1], "many": [[1, 2]]}), path)


def _formula(path: Path) -> None:
    sheet_of(path, ["a", "b"], [1, "=A2*2"])


def _error(path: Path) -> None:
    sheet_of(path, ["a", "b"], [1, "#DIV/0!"])


def _several(path: Path) -> None:
    made = openpyxl.Workbook()
    for title in ("Rows", "Notes"):
        made.create_sheet(title).append(["a"])
    made.save(path)


def _merged(path: Path) -> None:
    made = openpyxl.load_workbook(sheet_of(path, ["a", "b"], [1, 2], [None, 3]))
    made.active.merge_cells("A2:A3")
    made.save(path)


def _wide(path: Path) -> None:
    sheet_of(path, ["a"], [1, 2])


def _twice(path: Path) -> None:
    sheet_of(path, ["a", "a"], [1, 2])


def _nothing(path: Path) -> None:
    sheet_of(path)


def _cut_short(path: Path) -> None:
    whole = io.BytesIO()
    pq.write_table(pa.table({"a": [1]}), whole)
    path.write_bytes(whole.getvalue()[:-20])


def _no_zip(path: Path) -> None:
    path.write_bytes(b"a,b\n1,2\n")


@pytest.mark.parametrize(
    ("suffix", "make", "message"),
    [
        (".parquet", _bad_columns, r"the column 'many' has the type list.*leave"),
        (".xlsx", _formula, r"sheet 'Sheet', cell B2: this is a formula"),
        (".xlsx", _error, r"cell B2: this is an error of the spreadsheet"),
        (".xlsx", _several, r"several sheets, 'Rows', 'Notes', expected one"),
        (".xlsx", _merged, r"the cells A2:A3 are merged"),
        (".xlsx", _wide, r"row 2: 2 cells, expected 1"),
        (".xlsx", _twice, r"the column 'a' occurs twice"),
        (".xlsx", _nothing, r"the workbook is empty"),
        (".parquet", _cut_short, r"Parquet file is damaged or truncated"),
        (".parquet", _no_zip, r"Parquet file is damaged or truncated"),
        (".xlsx", _no_zip, r"Excel file .* is damaged or truncated"),
        (".xls", _no_zip, r"\.xlsx spreadsheets are read; save it as"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(
    tmp_path: Path, suffix: str, make: object, message: str
) -> None:
    path = tmp_path / f"a{suffix}"
    make(path)

    with pytest.raises(FormatError, match=message):
        read_table(path)


def test_a_small_parquet_file_cannot_fill_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1] * 5000, "b": [None] * 5000}), path)
    monkeypatch.setattr(parquet, "MOST_CELLS", 9999)

    with pytest.raises(FormatError, match="5,000 rows of 2 columns, but at most"):
        read_table(path)

    long = [f"{'x' * 5000}{i}" for i in range(5000)]  # of which prefixes are shared
    pq.write_table(
        pa.table({"a": long}),
        path,
        use_dictionary=False,
        column_encoding={"a": "DELTA_BYTE_ARRAY"},
    )
    assert path.stat().st_size < 1 << 20
    monkeypatch.setattr(parquet, "MOST_CELLS", safe_files.MOST_CELLS)
    monkeypatch.setattr(parquet, "MOST_TEXT", 1 << 23)
    with pytest.raises(FormatError, match=r"larger than .* when unpacked"):
        read_table(path)


def test_a_text_in_many_rows_is_held_once(tmp_path: Path) -> None:
    word = "x" * 100_000
    pq.write_table(pa.table({"a": [word] * 900}), tmp_path / "a.parquet")

    rows = read_table(tmp_path / "a.parquet").rows

    assert len({id(row["a"]) for row in rows}) == 1


def test_a_sheet_is_read_no_further_than_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sheet_of(tmp_path / "a.xlsx", ["a", "b"], [1, 2])
    made = openpyxl.load_workbook(path)
    made.active["A900000"] = 1
    made.save(path)
    monkeypatch.setattr(workbook, "MOST_CELLS", 1000)

    with pytest.raises(FormatError, match="more than 1,000 cells"):
        read_table(path)


def test_a_sheet_is_read_whole_whatever_it_says_of_its_size(tmp_path: Path) -> None:
    path = sheet_of(tmp_path / "a.xlsx", ["a", "b"], [1, 2], [3, 4])
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b'ref="A1:B3"', b'ref="A1:A2"')
    with zipfile.ZipFile(path, "w") as new:
        for name, content in parts.items():
            new.writestr(name, content)

    assert read_table(path).rows == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


@pytest.mark.parametrize(
    ("name", "library"), [("a.parquet", "pyarrow"), ("a.xlsx", "openpyxl")]
)
def test_a_missing_library_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, library: str
) -> None:
    path = write(FRAME, tmp_path / name)
    monkeypatch.setitem(__import__("sys").modules, library, None)

    with pytest.raises(MissingExtraError, match=f"needs {library}|pip install"):
        read_table(path)


def test_gzip_is_known_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a\n1\n"))

    assert read_table(tmp_path / "a.csv.gz").rows == [{"a": "1"}]


def test_durations_in_parquet_are_refused_with_the_conversion(tmp_path):
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"wait": pd.to_timedelta([1, 2], unit="D")}).to_parquet(path)
    with pytest.raises(FormatError, match="to_timedelta") as error:
        read_table(path)
    assert "the column 'wait' has the type duration" in str(error.value)
