"""Docstrings as Markdown, for the reference: an extension of griffe.

Docstrings are written to be read in a terminal: a block behind ``::``, an example in
the middle of a text. This makes code blocks of both, outside of the section Examples,
which mkdocstrings knows itself.
"""

import re
from typing import Any

import griffe

_BLOCK = re.compile(r"(?:(?<=\S)::|^::)$", re.MULTILINE)
_EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!>>>).+\n?)*)+", re.MULTILINE)
_FLAG = re.compile(r"  # doctest: .*$", re.MULTILINE)
_SECTION = re.compile(r"^Examples\n-{3,}$", re.MULTILINE)


class MarkdownDocstrings(griffe.Extension):
    """Turns each docstring into Markdown as it is read."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Change the docstring of an object, if it has one."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Return a docstring with its blocks and examples as Markdown has them."""
    text = _BLOCK.sub(lambda found: ":" if _is_behind_a_word(found) else "", text)
    if _SECTION.search(text):
        return text
    return _EXAMPLE.sub(_fenced, text)


def _fenced(found: re.Match[str]) -> str:
    return f"```pycon\n{_FLAG.sub('', found[0].rstrip())}\n```\n"


def _is_behind_a_word(found: re.Match[str]) -> bool:
    """Tell whether a sign stands behind a word, and not in a line of its own."""
    return found.start() > 0 and found.string[found.start() - 1] != "\n"
