"""What the site shows beside the pages in docs/, as hooks of mkdocs.

The pages of docs/ are written to be read where the code is, and are run as tests. For
the site this module

* makes pages from code: the reference of Python, and of the command line;
* runs the notebooks, and makes pages of them (``notebook_pages``);
* takes in what lies outside of docs/ and is linked to: ``SECURITY.md``, a source file;
* shows examples as people read them, without the marks that doctest needs.
"""

import os
import re
import sys
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
import notebook_pages
import reference_pages

ROOT = Path(__file__).parent.parent
TAKEN_IN = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "benchmarks/results.md": "project/benchmarks.md",
}
"""Pages of the project that are pages of the site, too: where they are, and become."""

_LINK = re.compile(r"(?<!!)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^```(?:python|pycon)\n(>>> .*?)^```$", re.MULTILINE | re.DOTALL)
_BLANK = re.compile(r"^<BLANKLINE>$", re.MULTILINE)
_DIRECTIVE = re.compile(r"  # doctest: \+\w+$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and those that are taken in."""
    made = reference_pages.pages() | notebook_pages.pages(Path(config.docs_dir))
    made |= {page: (ROOT / path).read_text("utf-8") for path, page in TAKEN_IN.items()}
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(
    markdown: str, page: Page, config: MkDocsConfig, files: Files, **_: Any
) -> str:
    """Lead links to where things are on the site, and tidy the examples."""
    path = page.file.src_uri
    at_home = {page: home for home, page in TAKEN_IN.items()}
    home = at_home.get(path, f"docs/{path}")  # where links of this page start

    def link(found: re.Match[str]) -> str:
        target = normpath(join(dirname(home), found[1]))
        goal = _on_site(target, files, config)
        if goal is None:
            return found[0]
        return f"]({relpath(goal, dirname(path) or '.')}{found[2] or ''})"

    return _FENCE.sub(_tidied, _LINK.sub(link, markdown))


def _on_site(target: str, files: Files, config: MkDocsConfig) -> str | None:
    """Return where the site has a file of the project; take source files in."""
    if target in TAKEN_IN:
        return TAKEN_IN[target]
    if target.startswith("docs/"):
        return target.removeprefix("docs/").replace(".ipynb", ".md")
    if not (ROOT / target).is_file():
        return None  # mkdocs says that the link leads nowhere
    place = f"source/{target}.txt"
    if files.get_file_from_path(place) is None:
        text = (ROOT / target).read_text("utf-8")
        taken = File.generated(config, place, content=text)
        files.append(taken)
    return place


def _tidied(found: re.Match[str]) -> str:
    """Return an example as a person would see it at the prompt."""
    shown = _DIRECTIVE.sub("", _BLANK.sub("", found[1]))
    return f"```pycon\n{shown.rstrip()}\n```"


os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")
