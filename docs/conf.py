"""How Sphinx builds the site: `make docs`.

The pages are those of this folder, which are also read where the code is and run as
tests. Four come from elsewhere in the repository (`INCLUDED`); the reference of Python
is made from docstrings, notebooks run while the site is built. Nothing is loaded from
other machines, neither while it is built nor while it is read.
"""

import os
import re
import sys
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import Any

from numpydoc.xref import DEFAULT_LINKS

DOCS = Path(__file__).parent
ROOT = DOCS.parent

# Notebooks train networks: the same sums on every processor.
os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("KERAS_BACKEND", "torch")
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "scripts")]

import command_reference  # noqa: E402

project = "nn2rules"
author = "The nn2rules developers"
copyright = "2026, the nn2rules developers"  # noqa: A001
version = release = re.search(
    r'__version__ = "(.+)"', (ROOT / "src/nn2rules/version.py").read_text("utf-8")
)[1]

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}
default_role = "py:obj"
suppress_warnings = ["mystnb.unknown_mime_type"]

myst_enable_extensions = ["colon_fence", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4
nb_execution_mode = os.environ.get("NN2RULES_NOTEBOOKS", "force")
nb_execution_raise_on_error = True
nb_execution_timeout = 240
nb_merge_streams = True

autosummary_generate = False
autodoc_typehints = "none"  # numpydoc shows the types that the docstrings name
numpydoc_show_class_members = True
numpydoc_show_inherited_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
# Types of Python are named, not linked: their pages are on another machine.
numpydoc_xref_aliases = {word: word for word in DEFAULT_LINKS} | {
    name: f"nn2rules.{name}"
    for name in (
        "Budget",
        "Condition",
        "Domain",
        "Feature",
        "Layer",
        "Network",
        "Rule",
        "RuleList",
        "Verdict",
    )
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "nn2rules"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}

INCLUDED = {
    "CHANGELOG.md": "project/changelog",
    "CONTRIBUTING.md": "project/contributing",
    "SECURITY.md": "project/security",
    "benchmarks/results.md": "project/benchmarks",
}
"""Pages of the repository that are pages of the site: where they are, and become."""

_LINK = re.compile(r"(?<!!)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
_FILES: set[str] = set()


def read_page(_app: Any, name: str, source: list[str]) -> None:
    """Lead the links of a page to where things are on the site."""
    at_home = {page: path for path, page in INCLUDED.items()}
    if name in at_home:
        source[0] = (ROOT / at_home[name]).read_text("utf-8")
    if name == "reference/commands":
        source[0] = command_reference.reference()
    home = at_home.get(name, f"docs/{name}.md")

    def link(match: re.Match[str]) -> str:
        target = normpath(join(dirname(home), match[1]))
        goal = _place(target)
        if goal is None:
            return match[0]
        return f"]({relpath(goal, dirname(name) or '.')}{match[2] or ''})"

    if not home.endswith(".ipynb"):
        source[0] = _LINK.sub(link, source[0])


def _place(target: str) -> str | None:
    """Return where the site has a file of the repository, as a path within docs."""
    if target in INCLUDED:
        return f"{INCLUDED[target]}.md"
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    if (ROOT / target).is_file():
        _FILES.add(target)
        return f"../{target}"
    return None


def setup(app: Any) -> None:
    """Register what this file adds to Sphinx."""
    app.connect("source-read", read_page)
