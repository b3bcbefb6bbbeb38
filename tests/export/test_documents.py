"""Rules as documents: Markdown that shows every text, LaTeX that compiles."""

import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from export.cases import case
from export.engines import in_latex, in_markdown
from export.executing import check_export, needs
from export.exportable import HOSTILE_TEXTS, exportable, rows_for
from export.test_books import hostile_rules
from golden import assert_golden
from nn2rules.export import latex, markdown, program_of
from nn2rules.language.text import quoted
from nn2rules.version import __version__

GOLDEN = Path(__file__).parent / "golden"
ENDINGS = {"markdown": ".md", "latex": ".tex"}
policies = st.sampled_from(["none", "default", "error"])


@pytest.mark.parametrize("form", ENDINGS)
@pytest.mark.parametrize("name", ["car list", "numbers, set for rows"])
def test_documents_are_as_they_were(form, name):
    path = GOLDEN / f"{name.replace(', ', '-').replace(' ', '-')}{ENDINGS[form]}"
    rules = case(name).rules
    made = rules.export(form).replace(r"\allowbreak{}", "")
    made = made.replace(rules.digest, "DIGEST")
    made = made.replace(rules.certificate["network"], "NETWORK")
    assert_golden(path, made.replace(__version__, "VERSION"))


@pytest.mark.parametrize("form", ENDINGS)
@given(rules=exportable(), unknown=policies, uncovered=policies)
@settings(max_examples=100)
def test_any_rules(form, rules, unknown, uncovered):
    rows = rows_for(program_of(rules))
    check_export(rules, form, rows, unknown=unknown, uncovered=uncovered)


@given(st.one_of(st.sampled_from(HOSTILE_TEXTS), st.text()).map(quoted))
def test_a_text_is_shown_as_it_is(text):
    assert in_latex.shown(latex.escaped(text)) == text
    shown = MarkdownIt("gfm-like", {"linkify": False}).render(
        f"| a |\n| --- |\n| {markdown.escaped(text)} |"
    )
    cells = re.findall(r"<td>(.*?)</td>", shown, re.DOTALL)
    assert [unescape(cell) for cell in cells] == [text]
    assert "<script" not in shown


def test_hostile_texts_are_text_in_html():
    shown = MarkdownIt("gfm-like", {"linkify": False}).render(
        hostile_rules().export("markdown")
    )
    assert "<script" not in shown
    assert "<a " not in shown
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in shown
    assert len(in_markdown.table_of(hostile_rules().export("markdown"))) == (
        len(HOSTILE_TEXTS) + 2
    )


def test_links_and_mails_are_text_on_platforms_that_make_links():
    for text in ("https://x.example", "www.x.example", "a@x.example"):
        assert text not in markdown.escaped(text)
    assert markdown.escaped(":smile:") == r"\:smile:"


@pytest.mark.parametrize("name", ["car list", "numbers, set for rows", "hostile"])
def test_latex_compiles(name, tmp_path):
    needs(shutil.which("xelatex") is not None, "XeLaTeX", "install texlive-xetex")
    rules = hostile_rules() if name == "hostile" else case(name).rules
    rules.export("latex", tmp_path / "rules.tex")
    command = ["xelatex", "-interaction=nonstopmode", "-halt-on-error", "rules.tex"]
    made = subprocess.run(
        command, cwd=tmp_path, capture_output=True, timeout=120, check=False
    )
    assert made.returncode == 0, made.stdout[-2000:]
    log = (tmp_path / "rules.log").read_text("utf-8", errors="replace")
    assert "Missing character" not in log
    assert (tmp_path / "rules.pdf").stat().st_size > 5_000


def test_no_sign_is_lost_for_want_of_a_font(tmp_path):
    """A sign of no font at all is shown by its number."""
    needs(shutil.which("xelatex") is not None, "XeLaTeX", "install texlive-xetex")
    needs(shutil.which("pdftotext") is not None, "pdftotext", "install poppler-utils")
    source = case("car list").rules.export("latex")
    source = source.replace(r"\section*{Features}", r"\glyph{E123} \glyph{00DF}")
    (tmp_path / "rules.tex").write_text(source, "utf-8")
    command = ["xelatex", "-interaction=batchmode", "rules.tex"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=True)
    text = subprocess.run(
        ["pdftotext", "rules.pdf", "-"], cwd=tmp_path, capture_output=True, check=True
    ).stdout.decode()
    assert "U+E123 ß" in text
