"""README: its examples print what it says, its figures are those measured."""

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nn2rules import cli

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import fill_results  # noqa: E402
import rewrite_examples  # noqa: E402

README = (ROOT / "README.md").read_text("utf-8")


def test_examples_print_what_the_page_says(tmp_path):
    assert rewrite_examples.with_output(README, tmp_path) == README
    with contextlib.chdir(tmp_path):
        for command in re.findall(r"^\$ nn2rules (.*)$", README, re.MULTILINE):
            done = CliRunner().invoke(cli.app, shlex.split(command))
            assert done.exit_code == 0, f"{command}: {done.output}"
    assert (tmp_path / "report.html").is_file()


def test_an_example_that_prints_something_else_is_seen():
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert rewrite_examples.with_output(page) == page.replace("3", "2")


@pytest.mark.parametrize("page", fill_results.pages(), ids=lambda page: page.name)
def test_figures_are_those_measured(page):
    text = page.read_text("utf-8")
    assert fill_results.filled(text) == text


def test_a_figure_that_was_not_measured_is_seen():
    with pytest.raises(KeyError):
        fill_results.filled("<!-- result: adult.beauty -->1<!-- end -->")


def test_a_table_that_was_not_measured_is_seen():
    page = "<!-- table: growth 1: milliseconds -->\n\n| 7 |\n\n<!-- end -->"
    assert "| 7 |" not in fill_results.filled(page)
    with pytest.raises(KeyError):
        fill_results.filled("<!-- result: reach / units=7 / rules -->1<!-- end -->")


def test_the_page_can_be_read_in_five_minutes():
    words = re.findall(r"\w[^\s|]*", re.sub(r"<!--.*?-->", "", README))
    assert len(words) <= 900
    assert ">>>" not in README
    assert "BLANKLINE" not in README


def test_links_lead_somewhere():
    for link in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", README):
        assert (ROOT / link).exists(), link


def test_running_an_example_prints_nothing_else():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        rewrite_examples.with_output("```python\nx = 1\n```\n")
    assert out.getvalue() == ""
