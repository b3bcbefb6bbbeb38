"""Whatever is wrong in a decision table is named with its cell."""

import csv
import io
import json

import openpyxl
import pytest

import nn2rules
from export.cases import case
from nn2rules import Condition, Domain, Feature, FormatError, Rule, RuleList


def tomatoes() -> RuleList:
    domain = Domain(
        (
            Feature("color", ("red", "green", "yellow")),
            Feature.real("weight", 0, 500, missing=True),
        )
    )
    heavy = Rule(
        (Condition("color", ("red",)), Condition("weight", ((50, 500),))), "ripe"
    )
    return RuleList(domain, [heavy], "unripe", ("unripe", "ripe"))


def rows_of_book():
    text = tomatoes().export("csv").removeprefix("\ufeff")
    return list(csv.reader(io.StringIO(text, newline="")))


def loaded(tmp_path, rows):
    path = tmp_path / "book.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return nn2rules.load_rules(path)


def put(line, column, text):
    def change(rows):
        rows[line][column] = text

    return change


def without_rows(start):
    def change(rows):
        rows[:] = [row for row in rows if not (row and row[0].startswith(start))]

    return change


def twice(start):
    def change(rows):
        rows += [row for row in rows if row and row[0].startswith(start)]

    return change


MISTAKES = [
    (
        put(1, 1, "gren"),
        "line 2, column 'color': 'gren' is not a value .*did you mean green",
    ),
    (put(1, 2, "≥ 1,5"), "line 2, column 'weight': '1,5' is ambiguous"),
    (put(1, 2, "≥ 60 and < 50"), "line 2, column 'weight': .*wrong way round"),
    (
        put(1, 3, ""),
        "line 2, column 'class': the class is empty; expected one of unripe",
    ),
    (
        put(1, 3, "rip"),
        "line 2, column 'class': there is no class 'rip'; did you mean ripe",
    ),
    (put(1, 3, "blue"), "there is no class 'blue'; expected one of unripe, ripe"),
    (put(1, 3, '"ripe'), "line 2, column 'class': the quotation mark is not closed"),
    (
        put(0, 1, "colour"),
        "line 1, column 'colour': this column is not a feature; did you mean 'color'",
    ),
    (
        put(0, 1, "zzzz"),
        "this column is not a feature; name a column for your own notes 'remarks'",
    ),
    (put(0, 1, "weight"), "line 1, column 'weight': there is a second column"),
    (put(0, 1, ""), "there is no column 'color'; the table needs one"),
    (put(0, 3, "remarks"), "there is no column 'class'; the table needs one"),
    (put(2, 1, "red"), "line 3, column 'color': the default has no conditions"),
    (put(2, 0, "2"), "there is no row named 'default'"),
    (put(1, 0, "default"), "the default has no conditions"),
    (lambda rows: rows[1].append("more"), "'more' has no header above it"),
    (
        lambda rows: rows.insert(3, rows[1]),
        "line 4, column 'rule': this row is below the default",
    ),
    (
        without_rows("# book"),
        "not a decision table of nn2rules: there is no entry 'book'",
    ),
    (
        without_rows("# feature"),
        "there is no entry 'feature', which lists the values",
    ),
    (twice("# book"), "there is a second entry 'book'"),
    (twice("# feature"), "features.*color"),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistakes_name_the_cell(number, tmp_path):
    change, reason = MISTAKES[number]
    rows = rows_of_book()
    assert loaded(tmp_path, rows) == tomatoes()
    change(rows)
    with pytest.raises(FormatError, match=reason) as found:
        loaded(tmp_path, rows)
    assert str(found.value).startswith(str(tmp_path / "book.csv"))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("key", "change", "reason"),
    [
        (
            "# book",
            lambda d: d.update(form="tree"),
            "form: 'tree', expected list or set",
        ),
        (
            "# book",
            lambda d: d.update(format="x"),
            'format: expected "nn2rules-book/1"',
        ),
        (
            "# book",
            lambda d: d.pop("classes"),
            "line 13, entry 'book': the key 'classes'",
        ),
        ("# book", lambda d: d.update(classes=["a"]), "no class 'ripe'|two classes"),
        (
            "# feature",
            lambda d: d.pop("name"),
            "entry 'feature': the key 'name' is missing",
        ),
        (
            "# feature",
            lambda d: d.update(values=[1, 1]),
            "entry 'feature': .*repeats the value 1",
        ),
    ],
)
def test_definitions_that_are_broken(key, change, reason, tmp_path):
    rows = rows_of_book()
    row = next(row for row in rows if row and row[0] == key)
    document = json.loads(row[1])
    change(document)
    row[1] = json.dumps(document)
    with pytest.raises(FormatError, match=reason):
        loaded(tmp_path, rows)


def test_a_definition_that_is_no_json(tmp_path):
    rows = rows_of_book()
    next(row for row in rows if row and row[0] == "# feature")[1] = "{oops"
    with pytest.raises(FormatError, match="line 14, entry 'feature': not valid JSON"):
        loaded(tmp_path, rows)


def test_any_other_csv_file_is_no_book(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("color,size\nred,big\n")
    with pytest.raises(FormatError, match="this is not a decision table of nn2rules"):
        nn2rules.load_rules(path)


def test_files_that_are_not_what_they_are_called(tmp_path):
    path = tmp_path / "book.xlsx"
    path.write_text("color,size\n")
    with pytest.raises(
        FormatError, match=r"this Excel file .* is damaged or truncated"
    ):
        nn2rules.load_rules(path)
    openpyxl.Workbook().save(path)
    with pytest.raises(
        FormatError, match="there is no sheet 'rules'; a decision table"
    ):
        nn2rules.load_rules(path)
    path = tmp_path / "book.csv"
    path.write_bytes("≥".encode("utf-16"))
    with pytest.raises(FormatError, match="CSV UTF-8"):
        nn2rules.load_rules(path)
    path.write_text('rule,"color\n')
    with pytest.raises(FormatError, match="line 1: not readable as CSV"):
        nn2rules.load_rules(path)


@pytest.mark.parametrize(
    ("cell", "value", "reason"),
    [
        ("B2", "=1+1", "cell B2: this is a formula, expected text"),
        ("B2", "gren", r"sheet 'rules', cell B2 \(color\): 'gren' is not a value"),
        ("D2", None, r"sheet 'rules', cell D2 \(class\): the class is empty"),
    ],
)
def test_cells_of_excel_are_named(cell, value, reason, tmp_path):
    path = tmp_path / "book.xlsx"
    tomatoes().export("xlsx", path)
    workbook = openpyxl.load_workbook(path)
    workbook["rules"][cell] = value
    workbook.save(path)
    with pytest.raises(FormatError, match=reason):
        nn2rules.load_rules(path)


def test_a_date_that_excel_made_is_named(tmp_path):
    from datetime import datetime

    path = tmp_path / "book.xlsx"
    tomatoes().export("xlsx", path)
    workbook = openpyxl.load_workbook(path)
    workbook["rules"]["B2"] = datetime(2024, 5, 1)
    workbook.save(path)
    with pytest.raises(FormatError, match="cell B2: this is a date, expected text"):
        nn2rules.load_rules(path)


def test_words_that_no_longer_fit_their_definition_are_refused(tmp_path):
    path = tmp_path / "book.xlsx"
    tomatoes().export("xlsx", path)
    workbook = openpyxl.load_workbook(path)
    workbook["domain"]["C2"] = "red, green, blue"
    workbook.save(path)
    with pytest.raises(
        FormatError, match="sheet 'domain', row 2: 'red, green, blue' contradicts"
    ):
        nn2rules.load_rules(path)
    workbook["domain"]["C2"] = None
    workbook.save(path)
    assert nn2rules.load_rules(path) == tomatoes()


def test_a_network_is_no_rules_and_rules_are_no_network(tmp_path):
    nn2rules.save(case("car list").network, tmp_path / "car.json")
    with pytest.raises(FormatError, match="this file contains a network"):
        nn2rules.load_rules(tmp_path / "car.json")
    tomatoes().export("csv", tmp_path / "book.csv")
    with pytest.raises(FormatError, match="not a model"):
        nn2rules.load_model(tmp_path / "book.csv")


def test_a_cell_far_beyond_the_table_is_named(tmp_path):
    path = tmp_path / "book.xlsx"
    case("car list").rules.export("xlsx", path)
    book = openpyxl.load_workbook(path)
    book["rules"].cell(1_048_576, 16_384).value = "x"
    book.save(path)
    with pytest.raises(FormatError, match="cell XFD1048576: 'x' has no header"):
        nn2rules.load_rules(path)
