"""Every command that takes rules takes a decision table."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import nn2rules
from nn2rules import cli

BOOKS = ["csv", "xlsx"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    nn2rules.save(network, "net.json")
    nn2rules.extract(network, progress=False).save("rules.json")
    Path("rows.csv").write_text("color,size\nred,big\nyellow,big\nred,small\n")
    for book in BOOKS:
        assert (
            run("export", "rules.json", "-f", book, "-o", f"book.{book}").exit_code == 0
        )
    text = Path("book.csv").read_text("utf-8-sig")
    assert "red,all but small" in text
    Path("edited.csv").write_text(text.replace("red,all but small", "red,"), "utf-8")


def run(*args: str) -> Result:
    return CliRunner().invoke(cli.app, args, prog_name="nn2rules")


@pytest.mark.parametrize("book", BOOKS)
def test_a_book_is_as_good_as_the_rules_it_was_made_from(book):
    path = f"book.{book}"
    for command in (
        ["check", "net.json", path],
        ["compare", "rules.json", path],
        ["compare", "net.json", path],
        ["verify", "net.json", "--claim", f'equivalent to "{path}"'],
    ):
        result = run(*command)
        assert result.exit_code == 0, (command, result.output)
        assert result.stderr == ""
    assert (
        run("predict", path, "rows.csv").output
        == run("predict", "rules.json", "rows.csv").output
    )
    python = run("export", path, "-f", "python").output
    assert python == run("export", "rules.json", "-f", "python").output
    explained = run("explain", "net.json", "rows.csv", "--rules", path)
    same = run("explain", "net.json", "rows.csv", "--rules", "rules.json")
    assert explained.exit_code == 0, explained.output
    assert explained.output == same.output


def test_an_edited_book_is_judged_anew():
    result = run("check", "net.json", "edited.csv")
    assert result.exit_code == 1
    assert "color = 'red', size = 'small'" in result.stdout
    assert "edited after it was written" in result.stderr
    result = run("compare", "net.json", "edited.csv")
    assert result.exit_code == 1
    assert "unripe → ripe" in result.stdout
    assert run("compare", "rules.json", "edited.csv").exit_code == 1
    claim = 'equivalent to "edited.csv"'
    assert run("verify", "net.json", "--claim", claim).exit_code == 1
    answers = run("predict", "edited.csv", "rows.csv").stdout
    assert answers.splitlines()[3] == "red,small,ripe,1"


def test_a_mistake_is_one_sentence():
    text = Path("book.csv").read_text("utf-8").replace("red,all but small", "rd,")
    Path("book.csv").write_text(text, "utf-8")
    result = run("check", "net.json", "book.csv")
    assert result.exit_code == 2
    assert result.stderr == (
        "error: book.csv, line 2, column 'color': 'rd' is not a value of this column; "
        "did you mean red?\n"
    )


def test_an_excel_file_is_not_printed():
    result = run("export", "rules.json", "-f", "xlsx")
    assert result.exit_code == 2
    assert "write it to a file with -o rules.xlsx" in result.stderr
