"""Docstrings as the reference can show them: an extension of griffe.

Docstrings are written to be read in a terminal. Here a block behind ``::``, or an
example in the middle of a text, becomes a code block, as Markdown has it. And two ways
to write parameters are spelt out, since griffe misreads them: of ``a, b : …`` it would
give both the type and the default of a, and of ``{"a", "b"}`` it takes a for the
default.
"""

import re
from typing import Any

import griffe

_BLOCK = re.compile(r"(?:(?<=\S)::|^::)$", re.MULTILINE)
_CHOICES = re.compile(r"^(\w[\w, ]*) : \{(.+)\}", re.MULTILINE)
_EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!>>>).+\n?)*)+", re.MULTILINE)
_EXAMPLES = re.compile(r"^Examples\n-{3,}$", re.MULTILINE)
_FLAG = re.compile(r"  # doctest: .*$", re.MULTILINE)
_PARAMETERS = re.compile(
    r"^Parameters\n-{3,}\n(.*?)(?=^\w[\w ]*\n-{3,}$|\Z)", re.MULTILINE | re.DOTALL
)
_SEVERAL = re.compile(r"^(\w+(?:, \w+)+)( : .*)?\n((?:(?: +.*)?\n?)*)", re.MULTILINE)


class ShownDocstrings(griffe.Extension):
    """Changes each docstring as it is read."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Change the docstring of an object, if it has one."""
        if obj.docstring is not None:
            obj.docstring.value = as_shown(obj.docstring.value)


def as_shown(text: str) -> str:
    """Return a docstring with code blocks, and with each parameter on its own."""
    text = _BLOCK.sub(lambda found: ":" if _is_behind_a_word(found) else "", text)
    text = _PARAMETERS.sub(lambda found: _spelt_out(found[0]), text)
    if _EXAMPLES.search(text):
        return text
    return _EXAMPLE.sub(_fenced, text)


def _is_behind_a_word(found: re.Match[str]) -> bool:
    """Tell whether a sign stands behind a word, and not in a line of its own."""
    return found.start() > 0 and found.string[found.start() - 1] != "\n"


def _spelt_out(section: str) -> str:
    """Return a section of parameters with one name a line, and choices as words."""
    return _SEVERAL.sub(_each, _CHOICES.sub(r"\1 : one of \2", section))


def _each(found: re.Match[str]) -> str:
    names, kind, body = found[1].split(", "), found[2] or "", found[3]
    return "".join(f"{name}{kind}\n{body.rstrip()}\n" for name in names) + "\n"


def _fenced(found: re.Match[str]) -> str:
    return f"```pycon\n{_FLAG.sub('', found[0].rstrip())}\n```\n"
