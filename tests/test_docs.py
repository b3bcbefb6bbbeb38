"""The site is built as `make docs` builds it, notebooks run, and what it holds."""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

import nn2rules
from nn2rules import errors
from nn2rules.cli import COMMANDS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
SHOWN = {
    "adult": "sex alone turns the answer",
    "credit": "EQUAL: the rules answer as the network does on every input.",
    "versions": "Proved: the rules below hold exactly the inputs that differ",
}
"""What stands in the outputs of each notebook, and not in its cells."""

sys.path.insert(0, str(ROOT / "scripts"))
import notebook_pages  # noqa: E402
import reference_pages  # noqa: E402
from docstring_text import as_shown  # noqa: E402


class Links(HTMLParser):
    """Collects what a page loads, where it leads, and what can be led to in it."""

    def __init__(self, html):
        super().__init__()
        self.loaded, self.links, self.anchors = [], [], set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):  # noqa: D102
        given = dict(attrs)
        self.anchors |= {given.get("id"), given.get("name")}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in ("canonical", "prev", "next"):
            self.loaded.append(given.get("href"))
        elif tag in ("script", "img", "iframe", "source"):
            self.loaded.append(given.get("src"))


def test_the_site(tmp_path):
    """All in one test, since building takes its time, and runs the notebooks."""
    site = built(tmp_path / "site")
    pages = {path: Links(path.read_text("utf-8")) for path in site.rglob("*.html")}
    has_what_was_written(site)
    shows_examples_as_people_read_them(site)
    has_every_public_name(site)
    loads_nothing_from_elsewhere(pages)
    leads_somewhere(pages)


def built(folder):
    """Build the site; a warning, a link to nowhere or a failing cell ends it."""
    made = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", folder],
        cwd=ROOT,
        check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    return folder


def has_what_was_written(site):
    for page in DOCS.rglob("*.md"):
        assert (site / page.relative_to(DOCS).with_suffix(".html")).is_file()
    for notebook in NOTEBOOKS:
        html = (site / "notebooks" / f"{notebook.stem}.html").read_text("utf-8")
        assert "ipywidgets" not in html
        assert SHOWN[notebook.stem] in html
    commands = (site / "reference" / "commands.html").read_text("utf-8")
    for module in COMMANDS:
        name = module.__name__.rpartition(".")[2].replace("_", "-")
        assert f'id="nn2rules-{name}"' in commands


def shows_examples_as_people_read_them(site):
    for path in site.rglob("*.html"):
        text = path.read_text("utf-8")
        assert "&lt;BLANKLINE&gt;" not in text, path
        assert "# doctest:" not in text, path


def has_every_public_name(site):
    html = "".join(
        path.read_text("utf-8") for path in (site / "reference" / "api").iterdir()
    )
    for name in set(nn2rules.__all__) - set(reference_pages.NOT_SHOWN):
        assert re.search(rf'id="nn2rules(\.\w+)*\.{name}"', html), name


def loads_nothing_from_elsewhere(pages):
    for path, page in pages.items():
        for source in filter(None, page.loaded):
            parts = urlsplit(source)
            assert parts.scheme in ("", "data"), (path, source)
            assert not parts.netloc, (path, source)


def leads_somewhere(pages):
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert goal.exists(), (path, link)
            if parts.fragment and goal in pages:
                assert unquote(parts.fragment) in pages[goal].anchors, (path, link)


def test_every_page_is_in_the_nav():
    """Also said by the build; here without building."""
    listed = set(re.findall(r"^ +- .*?([\w/-]+\.md)$", settings_text(), re.MULTILINE))
    for page in DOCS.rglob("*.md"):
        assert page.relative_to(DOCS).as_posix() in listed
    made = {f"notebooks/{path.stem}.md" for path in NOTEBOOKS}
    assert made <= listed


def settings_text():
    return (ROOT / "mkdocs.yml").read_text("utf-8")


def test_the_nav_names_no_page_twice():
    def pages(item):
        if isinstance(item, str):
            return [item]
        values = item if isinstance(item, list) else item.values()
        return [page for value in values for page in pages(value)]

    listed = pages(yaml.safe_load(settings_text())["nav"])
    assert len(listed) == len(set(listed))


def test_every_public_name_has_one_page():
    named = [name for group in reference_pages.GROUPS.values() for name in group.names]
    assert len(named) == len(set(named))
    assert set(named) == set(nn2rules.__all__) - set(reference_pages.NOT_SHOWN)


def test_links_outside_of_docs_lead_somewhere():
    for page in DOCS.rglob("*.md"):
        text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", text):
            assert (page.parent / link).exists(), (page, link)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path):
    assert notebook_pages.is_bare(path.read_text("utf-8"))
    first = json.loads(path.read_text("utf-8"))["cells"][0]
    assert "".join(first["source"]).startswith("# ")


def test_a_notebook_with_outputs_is_seen():
    cell = {"cell_type": "code", "outputs": [{}], "execution_count": None}
    assert not notebook_pages.is_bare(json.dumps({"cells": [cell]}))


def test_every_error_has_its_words():
    page = (DOCS / "reference" / "error-messages.md").read_text("utf-8")
    kinds = {
        name: item
        for name, item in vars(errors).items()
        if isinstance(item, type) and item.__module__ == errors.__name__
    }
    headings = re.findall(r"^### (\w+)\n\n(.*)$", page, re.MULTILINE)
    shown = dict(headings)
    bases = {"Nn2RulesError", "Nn2RulesWarning"}
    assert len(shown) == len(headings)
    assert set(shown) == set(kinds) - bases
    for name, sentence in shown.items():
        assert sentence.startswith(kinds[name].__doc__.splitlines()[0]), name


def test_docstrings_become_markdown():
    assert as_shown("Parts::\n\n    a  b") == "Parts:\n\n    a  b"
    assert as_shown("Parts\n\n::\n\n    a  b") == "Parts\n\n\n\n    a  b"
    example = "It is so:\n\n>>> 1 + 1\n2\n\nAlways."
    assert as_shown(example).split("\n\n")[1] == "```pycon\n>>> 1 + 1\n2\n```"
    kept = "It adds.\n\nExamples\n--------\n>>> 1 + 1\n2"
    assert as_shown(kept) == kept


def test_each_parameter_is_spelt_out():
    text = """Do it.

Parameters
----------
how, why : str
    As it is said.
form : {"list", "set"}, optional
    Of the two.

Returns
-------
a, b : int
    Two."""
    shown = as_shown(text)
    assert "how : str\n    As it is said.\nwhy : str\n    As it is said.\n" in shown
    assert 'form : one of "list", "set", optional\n    Of the two.' in shown
    assert shown.endswith("\na, b : int\n    Two.")
