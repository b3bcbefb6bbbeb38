"""The site is built as `make docs` builds it, with its notebooks run, and searched."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import nn2rules
from nn2rules import errors

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
SHOWN = {
    "adult": "sex alone flips the prediction",
    "credit": "EQUAL: the rules predict as the network does on every input.",
    "versions": "Proved: the rules below cover exactly the inputs that differ",
}
"""What is in the outputs of each notebook, and not in its cells."""


WORDS = ("counterfactu", "monoton", "fair", "advers", "audit")
"""Stems that people of the field search for."""

NOT_SHOWN = {"__version__"}
"""Public names that need no page."""


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
    finds_the_words_of_the_field(site)
    shows_examples_as_people_read_them(site)
    has_every_public_name(site)
    loads_nothing_from_elsewhere(pages)
    leads_somewhere(pages)


def built(folder):
    """Build the site; a warning, a dead link or a failing cell ends it."""
    options = ["-q", "-W", "--keep-going", "-d", folder.with_name("doctrees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, DOCS, folder],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def has_what_was_written(site):
    for page in DOCS.rglob("*.md"):
        assert (site / page.relative_to(DOCS).with_suffix(".html")).is_file()
    for notebook in NOTEBOOKS:
        html = (site / "notebooks" / f"{notebook.stem}.html").read_text("utf-8")
        assert SHOWN[notebook.stem] in html


def finds_the_words_of_the_field(site):
    """Search works from disk: its index is a script that lists all words."""
    index = (site / "searchindex.js").read_text("utf-8")
    for word in WORDS:
        assert f'"{word}"' in index or f"{word}:" in index, word


def shows_examples_as_people_read_them(site):
    for path in site.rglob("*.html"):
        text = path.read_text("utf-8")
        assert "&lt;BLANKLINE&gt;" not in text, path
        assert "# doctest:" not in text, path


def has_every_public_name(site):
    folder = site / "reference" / "python"
    html = "".join(path.read_text("utf-8") for path in folder.iterdir())
    for name in set(nn2rules.__all__) - NOT_SHOWN:
        assert re.search(rf'id="(module-)?nn2rules(\.\w+)*\.{name}"', html), name


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


def test_every_public_name_has_one_place_in_the_reference():
    text = "".join(
        path.read_text("utf-8") for path in (DOCS / "reference/python").glob("*.md")
    )
    headings = re.findall(r"^## (?:nn2rules\.)?(\w+)$", text, re.MULTILINE)
    assert len(headings) == len(set(headings))
    assert set(headings) == set(nn2rules.__all__) - NOT_SHOWN


def test_links_outside_of_docs_lead_somewhere():
    for page in DOCS.rglob("*.md"):
        text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", text):
            assert (page.parent / link).exists(), (page, link)


def is_bare(text):
    """Tell whether a notebook is stored as it should be: without outputs."""
    code = [c for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
    return all(not cell["outputs"] and not cell["execution_count"] for cell in code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path):
    assert is_bare(path.read_text("utf-8"))
    first = json.loads(path.read_text("utf-8"))["cells"][0]
    assert "".join(first["source"]).startswith("# ")


def test_a_notebook_with_outputs_is_seen():
    cell = {"cell_type": "code", "outputs": [{}], "execution_count": None}
    assert not is_bare(json.dumps({"cells": [cell]}))


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
