"""The command export: what it writes, and one sentence for every mistake."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

import nn2rules
from export.card_cases import card
from export.cases import case
from export.executing import check_export
from nn2rules import cli, datasets
from nn2rules.export import (
    EXPORTERS,
    CardProgram,
    card_program_of,
    export,
    options_of,
)
from nn2rules.export.program import program_of
from nn2rules.export.vectors import vectors_text


def run(*args: str) -> Result:
    return CliRunner().invoke(cli.app, ["export", *args], prog_name="nn2rules")


def refused(*args: str) -> str:
    """Run a command that fails; return its one sentence."""
    result = run(*args)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    return " ".join(result.stderr.split())


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.json"
    nn2rules.save(case("car list").rules, path)
    return str(path)


@pytest.mark.parametrize("name", EXPORTERS)
def test_every_format_is_written(name, rules, tmp_path):
    """The same bytes on every run, and those that the library gives."""
    files = [tmp_path / f"made{number}{EXPORTERS[name].suffix}" for number in (1, 2)]
    for path in files:
        result = run(rules, "--format", name, "-o", str(path))
        assert result.exit_code == 0, result.output
        assert result.stdout.split() == ["written", "to", *str(path).split()]
    made = export(nn2rules.load(rules), name)
    expected = made.encode() if isinstance(made, str) else made
    assert [path.read_bytes() for path in files] == [expected] * 2
    assert len(list(tmp_path.iterdir())) == 3  # and nothing else is left there


@pytest.mark.parametrize("name", EXPORTERS)
def test_every_format_is_printed_or_refused(name, rules):
    made = export(nn2rules.load(rules), name)
    if isinstance(made, bytes):
        fact = f"the format '{name}' is not text; write it to a file with -o rules"
        assert fact in refused(rules, "--format", name)
    else:
        result = run(rules, "--format", name)
        assert result.exit_code == 0
        assert result.stdout.rstrip("\n") == made.rstrip("\n")


def test_the_real_program_is_the_same_in_another_process(rules, tmp_path):
    """Nothing depends on the hashes of Python, which differ from run to run."""
    found = []
    for seed in ("1", "2"):
        path = tmp_path / f"made{seed}.py"
        program = [sys.executable, "-m", "nn2rules", "export", rules]
        subprocess.run(
            [*program, "-f", "python", "-o", str(path), "--tests", "20"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
        tests = path.with_suffix(".tests.csv")
        found.append((path.read_bytes(), tests.read_bytes()))
    assert found[0] == found[1]


def test_the_list_has_every_format_and_its_options():
    result = run("--list")
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert lines.keys() == EXPORTERS.keys()
    for name, line in lines.items():
        assert EXPORTERS[name].what in line
        for option in options_of(name):
            assert f"--{option.replace('_', '-')}" in line


def test_a_model_is_told_from_an_excel_file(tmp_path):
    path = tmp_path / "model.skops"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", "{}")
    said = run(str(path), "-f", "sql").stderr
    assert "neither a rules file (.json) nor a decision table" in said.replace(
        "\n", " "
    )
    assert "use nn2rules extract to extract rules from a model" in said.replace(
        "\n", " "
    )


def test_every_option_of_every_format_is_one_of_the_command():
    [command] = [
        c for c in cli.app.registered_commands if c.callback.__name__ == "export"
    ]
    known = command.callback.__wrapped__.__annotations__
    for name in EXPORTERS:
        assert known.keys() >= {*options_of(name)}


def test_vectors_are_written_beside_the_export(rules, tmp_path):
    path = tmp_path / "car.py"
    result = run(rules, "-f", "python", "-o", str(path), "--tests", "30")
    assert result.exit_code == 0
    assert f"test vectors written to {tmp_path / 'car.tests.csv'}" in " ".join(
        result.stdout.split("\n")
    )
    text = (tmp_path / "car.tests.csv").read_bytes().decode()
    assert text == vectors_text(program_of(nn2rules.load(rules)), 30)


def test_options_reach_the_format(rules, tmp_path):
    path = tmp_path / "car.onnx"
    result = run(rules, "-f", "onnx", "--inputs", "codes", "-o", str(path))
    assert result.exit_code == 0, result.output
    assert path.read_bytes() == nn2rules.load(rules).export("onnx", inputs="codes")


def test_policies_reach_the_format(rules, tmp_path):
    path = tmp_path / "car.py"
    assert (
        run(rules, "-f", "python", "-o", str(path), "--unknown", "error").exit_code == 0
    )
    assert path.read_text() == nn2rules.load(rules).export("python", unknown="error")


def test_no_format(rules):
    fact = "RULES and --format are needed; --list shows the formats"
    assert fact in refused(rules)
    assert fact in refused("--format", "python")


def test_an_unknown_format(rules):
    assert "format: 'cobol', expected one of" in refused(rules, "-f", "cobol")


def test_an_option_of_another_format(rules):
    said = refused(rules, "-f", "python", "--dialect", "duckdb")
    assert "the format 'python' has no option 'dialect'; it has none" in said


def test_a_network_instead_of_rules():
    said = refused(str(datasets.network_file("car")), "-f", "python")
    assert "this file contains a network, expected rules" in said


def test_no_such_file(tmp_path):
    said = refused(str(tmp_path / "none.json"), "-f", "python")
    assert "there is no such file" in said


@pytest.mark.parametrize("number", ["0", "-1"])
def test_no_vectors(rules, tmp_path, number):
    path = tmp_path / "car.py"
    said = refused(rules, "-f", "python", "-o", str(path), "--tests", number)
    assert "expected a whole number from 1 on" in said
    assert not path.exists()


def test_vectors_without_a_file(rules):
    said = refused(rules, "-f", "python", "--tests", "5")
    assert "tests are written beside the export, which needs a path" in said


def test_files_that_cannot_be_written(rules, tmp_path):
    assert "this is a folder" in refused(rules, "-f", "python", "-o", str(tmp_path))
    nowhere = str(tmp_path / "none" / "x.py")
    assert "there is no folder" in refused(rules, "-f", "python", "-o", nowhere)
    assert "another use for this file" in refused(rules, "-f", "python", "-o", rules)


def test_nothing_is_written_where_vectors_cannot_be(rules, tmp_path):
    path = tmp_path / "car.py"
    (tmp_path / "car.tests.csv").mkdir()
    said = refused(rules, "-f", "python", "-o", str(path), "--tests", "5")
    assert "car.tests.csv: this is a folder" in said
    assert not path.exists()


def test_vectors_do_not_replace_the_rules(rules, tmp_path):
    taken = tmp_path / "car.tests.csv"
    os.replace(rules, taken)
    before = taken.read_bytes()
    path = str(tmp_path / "car.py")
    said = refused(str(taken), "-f", "python", "-o", path, "--tests", "5")
    assert "another use for this file" in said
    assert taken.read_bytes() == before
    assert not os.path.exists(path)


def test_a_refusal_leaves_the_file_as_it_was(rules, tmp_path):
    path = tmp_path / "car.onnx"
    path.write_text("before")
    said = refused(rules, "-f", "onnx", "--unknown", "error", "-o", str(path))
    assert "an ONNX model cannot raise an error" in said
    assert path.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 2


def test_the_docs_name_every_format():
    page = Path(__file__).parents[2] / "docs" / "how-to" / "export-rules.md"
    rows = [line for line in page.read_text().splitlines() if line.startswith("| `")]
    named = " ".join(row.split("|")[1] for row in rows)
    assert [name for name in EXPORTERS if f"`{name}`" not in named] == []


OBEYED = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
"""What a terminal obeys, or what turns text around."""


@pytest.fixture
def hostile(tmp_path):
    """Rules whose names and classes are made to be obeyed by a terminal."""
    name, label = "\x1b[2J\x1b]0;pwned\x07n\u202e", "yes\x9b31m"
    domain = nn2rules.Domain((nn2rules.Feature(name, ("a", "b")),))
    rule = nn2rules.Rule((nn2rules.Condition(name, ("a",)),), label)
    path = tmp_path / "rules.json"
    nn2rules.save(nn2rules.RuleList(domain, (rule,), "no", ("no", label)), path)
    return path


@pytest.mark.parametrize("name", [n for n, f in EXPORTERS.items() if f.suffix])
def test_nothing_that_a_terminal_obeys_is_printed(name, hostile):
    result = run(str(hostile), "--format", name)
    assert not re.search(OBEYED, result.stdout)
    assert not re.search(OBEYED, result.stderr)
    if name == "json":
        assert json.loads(result.stdout) == json.loads(hostile.read_text())
    if name == "sql":
        assert "write to a file with -o rules.sql" in " ".join(result.stderr.split())


def test_what_is_printed_of_xml_is_read_as_it_was(tmp_path):
    domain = nn2rules.Domain((nn2rules.Feature("f", ("a", "b\u202e")),))
    rule = nn2rules.Rule((nn2rules.Condition("f", ("b\u202e",)),), "yes")
    rules, path = nn2rules.RuleList(domain, (rule,), "no", ("no", "yes")), "r.json"
    nn2rules.save(rules, tmp_path / path)
    for name in ("dmn", "pmml"):
        printed = run(str(tmp_path / path), "--format", name).stdout
        assert not re.search(OBEYED, printed)
        as_read = [ElementTree.canonicalize(t) for t in (printed, export(rules, name))]
        assert as_read[0] == as_read[1]


def test_a_file_keeps_control_characters(hostile, tmp_path):
    made = tmp_path / "rules.sql"
    assert run(str(hostile), "--format", "sql", "-o", str(made)).exit_code == 0
    assert made.read_text() == export(nn2rules.load(hostile), "sql")
    assert "\x1b[2J" in made.read_text()


def test_predictions_with_control_characters_go_to_a_file_only(rules, tmp_path):
    rows = tmp_path / "rows\x1b[2J.csv"
    domain = nn2rules.load(rules).domain
    cells = [str(feature.values[0]) for feature in domain.features]
    text = (
        ",".join([*domain.names, "note"]) + "\n" + ",".join([*cells, "\x9b31m"]) + "\n"
    )
    rows.write_text(text)
    command = ["predict", rules, str(rows)]
    result = CliRunner().invoke(cli.app, command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "cells contain the control character '\\x9b'" in " ".join(
        result.stderr.split()
    )
    assert not re.search(OBEYED, result.stderr)  # nor does the name of the file
    result = CliRunner().invoke(cli.app, [*command, "-o", str(tmp_path / "out.csv")])
    assert result.exit_code == 0, result.output
    assert "\x9b31m" in (tmp_path / "out.csv").read_text()


def test_classes_of_several_types_stay_what_they_are():
    domain = nn2rules.Domain((nn2rules.Feature("f", ("a", "b", "c")),))
    rules = nn2rules.RuleList(
        domain,
        (
            nn2rules.Rule((nn2rules.Condition("f", ("a",)),), True),
            nn2rules.Rule((nn2rules.Condition("f", ("b",)),), "m"),
        ),
        2.5,
        (True, "m", 2.5),
    )
    rows = [{"f": cell} for cell in "abc"]
    for name in ("python", "pandas", "js", "prolog", "json", "csv"):
        check_export(rules, name, rows)
    module: dict[str, Any] = {}
    exec(export(rules, "python"), module)
    assert [module["predict"](row) for row in rows] == [True, "m", 2.5]
    assert "-> float | str | bool | None:" in export(rules, "python")


# Scorecards


@pytest.fixture
def card_file(tmp_path):
    def write(name: str) -> str:
        path = tmp_path / "card.json"
        nn2rules.save(card(name), path)
        return str(path)

    return write


CARD_FORMATS = [
    name for name, form in EXPORTERS.items() if CardProgram.kind in form.writers
]


@pytest.mark.parametrize("name", CARD_FORMATS)
def test_a_card_is_written_in_every_format(name, card_file, tmp_path):
    path = tmp_path / f"made{EXPORTERS[name].suffix}"
    result = run(card_file("whole points"), "-f", name, "-o", str(path))
    assert result.exit_code == 0, result.output
    made = export(card("whole points"), name)
    assert path.read_bytes() == (made.encode() if isinstance(made, str) else made)


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (["--points", "printed"], {"points": "printed"}),
        (["--between", "nearest"], {"between": "nearest"}),
        (["--between", "error", "--unknown", "error"], {"between": "error"}),
        (["--features"], {"features": True}),
        (["--only", "total", "--dialect", "postgres"], {"only": "total"}),
        (["--table", "cases", "--features", "--points", "printed"], {"table": "cases"}),
    ],
)
def test_options_of_cards_reach_the_format(flags, options, card_file):
    result = run(card_file("single"), "-f", "sql", *flags)
    assert result.exit_code == 0, result.output
    if "--dialect" in flags:
        options = options | {"dialect": "postgres"}
    if "--unknown" in flags:
        options = options | {"unknown": "error"}
    if options.get("table"):
        options = options | {"features": True, "points": "printed"}
    made = export(card("single"), "sql", **options)
    assert result.stdout == made
    assert made != export(card("single"), "sql")


@pytest.mark.parametrize(
    ("name", "flags", "message"),
    [
        (
            "single",
            ["-f", "prolog"],
            "'prolog' cannot hold scorecards; expected one of",
        ),
        ("single", ["-f", "csv"], "'csv' cannot hold scorecards; expected one of"),
        ("single", ["-f", "sql", "--uncovered", "error"], "is an option of rules"),
        ("single", ["-f", "sql", "--unknown", "default"], "has no default class"),
        ("single", ["-f", "python", "--features"], "has no option 'features'"),
        (
            "parts",
            ["-f", "sql", "--features"],
            "this one has several columns of points",
        ),
        ("three classes", ["-f", "sql"], "give the name of your table (table=)"),
        (
            "regions",
            ["-f", "python", "--between", "nearest"],
            "'nearest' is for cards without regions",
        ),
    ],
)
def test_what_a_card_cannot_be_is_one_sentence(name, flags, message, card_file):
    assert message in refused(card_file(name), *flags)


def test_rules_have_no_points(rules):
    said = refused(rules, "-f", "sql", "--points", "printed")
    assert "points is an option of scorecards, not of rules" in said


def test_vectors_of_a_card_are_written_beside_it(card_file, tmp_path):
    path = tmp_path / "card.py"
    flags = ("--tests", "40", "--points", "printed", "--between", "nearest")
    result = run(card_file("single"), "-f", "python", "-o", str(path), *flags)
    assert result.exit_code == 0, result.output
    program = card_program_of(card("single"), points="printed", between="nearest")
    text = (tmp_path / "card.tests.csv").read_bytes().decode()
    assert text == vectors_text(program, 40)
    header, *lines = text.splitlines()
    assert header.endswith(",prediction,total")
    assert len(lines) == 40
