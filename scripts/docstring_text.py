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
_SECTION = re.compile(r"^Examples\n-{3,}$", re.MULTILINE)


class MarkdownDocstrings(griffe.Extension):
    """Turns each docstring into Markdown as it is read."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Change the docstring of an object, if it has one."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Return a docstring with its blocks and examples as Markdown has them.

    Examples
    --------
    >>> print(as_markdown("It is so:\\n\\n>>> 1 + 1\\n2\\n\\nAlways."))
    It is so:
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    Always.
    """
    text = _BLOCK.sub(
        lambda found: ":" if found.start() and _behind(found) else "", text
    )
    if _SECTION.search(text):
        return text
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)


def _behind(found: re.Match[str]) -> bool:
    """Tell whether a sign stands behind a word, and not in a line of its own."""
    return found.string[found.start() - 1] != "\n"
