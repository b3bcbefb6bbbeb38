"""Decision tables: rules go out to CSV and Excel files, and come back."""

import csv
import io
import re
import shutil
import subprocess
import warnings
import zipfile

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nn2rules
from export.cases import CASES, case
from export.engines.in_nn2rules import read_back
from export.executing import check_export, needs
from export.exportable import HOSTILE_TEXTS, exportable, rows_for
from nn2rules import (
    CertificateWarning,
    Condition,
    Domain,
    Feature,
    OptionError,
    Rule,
    RuleList,
)
from nn2rules.export import program_of

BOOKS = ["csv", "xlsx"]
policies = st.sampled_from(["none", "default", "error"])


@pytest.mark.parametrize("form", BOOKS)
@pytest.mark.parametrize("name", CASES)
def test_cases_come_back_with_all_that_is_known_of_them(form, name):
    rules = case(name).rules
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_back(rules.export(form)) == rules
    assert rules.certificate


@given(exportable())
@settings(max_examples=100)
def test_any_rules_come_back_from_csv(rules):
    assert read_back(rules.export("csv")) == rules


@given(exportable())
@settings(max_examples=60)
def test_any_rules_come_back_from_xlsx(rules):
    assert read_back(rules.export("xlsx")) == rules


@given(exportable(), policies, policies)
@settings(max_examples=60)
def test_what_comes_back_answers_as_the_program(rules, unknown, uncovered):
    rows = rows_for(program_of(rules))
    check_export(rules, "csv", rows, unknown=unknown, uncovered=uncovered)


@pytest.mark.parametrize("separator", [";", "\t"])
@given(rules=exportable())
@settings(max_examples=40)
def test_other_separators_are_read_and_trailing_cells_left_out(separator, rules):
    text = rules.export("csv").removeprefix("\ufeff")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    width = max(map(len, rows))
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=separator, lineterminator="\r\n")
    writer.writerows([*row, *([""] * (width - len(row)))] for row in rows)
    assert read_back("\ufeff" + stream.getvalue()) == rules


@given(exportable())
@settings(max_examples=60)
def test_no_cell_of_a_csv_file_acts_wherever_it_is_parted(rules):
    """Excel parts a file at commas or at semicolons, after the user's country."""
    text = rules.export("csv").removeprefix("\ufeff")
    for separator in ",;":
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        for row in reader:
            for cell in row:
                start = cell.lstrip("\"' ")
                is_number = re.fullmatch(r"-[\d.]+", start.partition(",")[0])
                if start is cell or separator == ";":
                    assert not start.startswith(("=", "+", "@", "|", "%", "\t")), cell
                    assert is_number or not cell.startswith("-"), cell


def hostile_rules() -> RuleList:
    """Every hostile text as a name, as a value, and as a class."""
    domain = Domain(tuple(Feature(t, tuple(HOSTILE_TEXTS)) for t in HOSTILE_TEXTS))
    rules = [
        Rule((Condition(name, (*HOSTILE_TEXTS[:place], HOSTILE_TEXTS[-1])),), name)
        for place, name in enumerate(HOSTILE_TEXTS)
    ]
    return RuleList(domain, rules, HOSTILE_TEXTS[0], HOSTILE_TEXTS)


@pytest.mark.parametrize("form", [*BOOKS, "json"])
def test_values_of_several_types_come_back(form):
    domain = Domain((Feature("x", (1, "one", 2.5, None)),))
    rules = [
        Rule((Condition("x", (value,)),), "yes") for value in domain.features[0].values
    ]
    book = RuleList(domain, rules, "no", ("no", "yes"))
    assert read_back(book.export(form)) == book


@pytest.mark.parametrize("form", BOOKS)
def test_hostile_names_values_and_classes(form):
    rules = hostile_rules()
    made = rules.export(form)
    assert made == rules.export(form)
    assert read_back(made) == rules


def test_an_excel_file_holds_no_formula_and_no_time():
    data = hostile_rules().export("xlsx")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {1980}
        for name in archive.namelist():
            assert b"<f>" not in archive.read(name)
    workbook = openpyxl.load_workbook(io.BytesIO(data))
    assert workbook.sheetnames == ["rules", "domain", "about"]
    for sheet in workbook:
        assert sheet.freeze_panes == "B2"
        assert sheet.auto_filter.ref
        for row in sheet.iter_rows():
            assert {cell.data_type for cell in row if cell.value is not None} <= {"s"}


@pytest.mark.parametrize("form", BOOKS)
def test_what_excel_takes_for_the_number_of_a_sign(form):
    values = ("_x000D_", "a_x0041_b", "_x005F_", "\r")
    domain = Domain((Feature("_x000A_", values),))
    rules = [Rule((Condition("_x000A_", (value,)),), value) for value in values]
    book = RuleList(domain, rules, values[0], values)
    assert read_back(book.export(form)) == book


def test_long_definitions_stand_in_several_cells():
    words = tuple(f"a rather long name of a value, number {i}" for i in range(2_000))
    domain = Domain((Feature("place", words),))
    rules = RuleList(domain, [Rule((Condition("place", words[:3]),), 1)], 0, (0, 1))
    for form in BOOKS:
        assert read_back(rules.export(form)) == rules
    half = RuleList(domain, [Rule((Condition("place", words[::2]),), 1)], 0, (0, 1))
    assert read_back(half.export("csv")) == half
    with pytest.raises(
        OptionError, match="rule 1 has more text on place than an Excel"
    ):
        half.export("xlsx")


SOFFICE = shutil.which("soffice")


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    """Return where LibreOffice keeps its settings; making them takes seconds."""
    return tmp_path_factory.mktemp("profile").as_uri()


@pytest.mark.parametrize("name", ["car list", "numbers, set for rows", "hostile"])
def test_libreoffice_shows_every_cell_as_it_was_written(name, tmp_path, profile):
    needs(SOFFICE is not None, "LibreOffice", "install libreoffice-calc-nogui")
    rules = hostile_rules() if name == "hostile" else case(name).rules
    rules.export("xlsx", tmp_path / "book.xlsx")
    option = (
        "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"
    )
    command = [
        *(SOFFICE, f"-env:UserInstallation={profile}"),
        *("--headless", "--convert-to", option, "--outdir", tmp_path),
        tmp_path / "book.xlsx",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    workbook = openpyxl.load_workbook(tmp_path / "book.xlsx")
    for sheet in workbook:
        text = (tmp_path / f"book-{sheet.title}.csv").read_text("utf-8")
        shown = list(csv.reader(io.StringIO(text, newline="")))
        written = [
            ["" if cell is None else str(cell) for cell in row]
            for row in sheet.iter_rows(values_only=True)
        ]
        assert [r for r in shown if any(r)] == [r for r in written if any(r)]


@pytest.mark.parametrize("form", BOOKS)
def test_libreoffice_saves_a_book_that_is_read_back(form, tmp_path, profile):
    needs(SOFFICE is not None, "LibreOffice", "install libreoffice-calc-nogui")
    rules = case("car list").rules
    rules.export(form, tmp_path / f"book.{form}")
    saved = tmp_path / "saved"
    command = [
        *(SOFFICE, f"-env:UserInstallation={profile}"),
        *("--headless", "--infilter=CSV:44,34,76,1" if form == "csv" else "--headless"),
        *("--convert-to", "xlsx", "--outdir", saved, tmp_path / f"book.{form}"),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    if form == "xlsx":
        assert nn2rules.load_rules(saved / "book.xlsx") == rules
    else:
        rows = openpyxl.load_workbook(saved / "book.xlsx").active.iter_rows()
        cells = [[cell.value for cell in row] for row in rows]
        assert not any(str(c).startswith("=") for row in cells for c in row)


def edited(tmp_path, form, change):
    """Return the path of a book that was edited: `change` gets its rows."""
    path = tmp_path / f"book.{form}"
    case("car list").rules.export(form, path)
    if form == "csv":
        text = path.read_text("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline="")))
        change(rows)
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(rows)
    else:
        workbook = openpyxl.load_workbook(path)
        sheet = workbook["rules"]
        rows = [["" if c is None else c for c in r] for r in sheet.values]
        change(rows)
        sheet.delete_rows(1, sheet.max_row)
        for row in rows:
            sheet.append(["" if c is None else c for c in row])
        workbook.save(path)
    return path


@pytest.mark.parametrize("form", BOOKS)
def test_an_edited_book_has_no_certificate(form, tmp_path):
    def change(rows):
        rows[1][6] = "low, med"

    path = edited(tmp_path, form, change)
    with pytest.warns(CertificateWarning, match="edited after it was written"):
        rules = nn2rules.load_rules(path)
    assert not rules.certificate
    assert rules.facts[0].inputs is None
    assert rules.rules[0].conditions == (Condition("safety", ("low", "med")),)
    found = nn2rules.compare(case("car list").network, rules)
    assert not found.equal
    report = nn2rules.check(case("car list").network, rules)
    assert not report.ok


@pytest.mark.parametrize("form", BOOKS)
def test_columns_may_move_and_remarks_are_left_out(form, tmp_path):
    def change(rows):
        for place, row in enumerate(rows):
            if row and len(row) > 8 and not str(row[0]).startswith("#"):
                row[1], row[2] = row[2], row[1]
                row.append("remarks" if place == 0 else "as agreed")

    assert nn2rules.load_rules(edited(tmp_path, form, change)) == case("car list").rules


def test_a_numbered_cell_of_excel_is_the_value_it_spells(tmp_path):
    def change(rows):
        assert rows[2][4] == "2"
        rows[2][4] = 2

    path = edited(tmp_path, "xlsx", change)
    assert nn2rules.load_rules(path) == case("car list").rules


@given(st.data())
@settings(max_examples=30)
def test_a_new_order_of_rules_is_a_new_list(data):
    rules = case("three classes, list").rules
    order = data.draw(st.permutations(range(len(rules))))
    lines = rules.export("csv").splitlines(keepends=True)
    body = [lines[1 + place] for place in order]
    made = "".join([lines[0], *body, *lines[1 + len(rules) :]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = read_back(made)
    assert found.boxes.tolist() == rules.take(order).boxes.tolist()
    assert (found.digest == rules.digest) == bool(found.certificate)
