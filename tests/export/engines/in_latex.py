"""Exports that are LaTeX: the table read from the text, as TeX would set it."""

import re
from typing import Any

from export.engines.in_nn2rules import answers
from export.engines.in_words import rules_of_rows
from nn2rules.export.program import Prediction, Program

_COMMANDS = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textquotedbl": '"',
    "textquotesingle": "'",
    "textasciigrave": "`",
    "textendash": "–",
    "ldots": "…",
    "allowbreak": "",
}
_PIECE = re.compile(
    r"\\glyph\{(?P<code>[0-9A-F]+)\}|\\(?P<command>[a-z]+)\{\}|\$\\(?P<sign>[a-z]+)\$|(?P<minus>\$-\$)"
    r"|\\(?P<escaped>[{}$&#%_])|(?P<nothing>\{\})|(?P<plain>[^\\{}$&#%_~^\"'`])"
)
_SIGNS = {"leq": "≤", "geq": "≥", "neq": "≠", "times": "×"}


def execute(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Apply the rules that the first long table says."""
    return answers(rules_of_rows(table_of(made), program), program, rows)


def table_of(made: str) -> list[list[str]]:
    """Return the texts of the first long table."""
    lines = made.splitlines()
    start = next(i for i, x in enumerate(lines) if x.startswith(r"\begin{longtable}"))
    rows = []
    for line in lines[start:]:
        if line == r"\end{longtable}":
            break
        if line.endswith(r" \tabularnewline"):
            cells = line.removesuffix(r" \tabularnewline").split(" & ")
            rows.append([shown(cell) for cell in cells])
    return rows


def shown(text: str) -> str:
    """Return what TeX sets for a text; anything that it would not set is an error."""
    made, place = "", 0
    while place < len(text):
        found = _PIECE.match(text, place)
        assert found is not None, text[place:]
        place = found.end()
        if found["code"]:
            made += chr(int(found["code"], 16))
        elif found["command"]:
            made += _COMMANDS[found["command"]]
        elif found["minus"]:
            made += "−"
        elif found["sign"]:
            made += _SIGNS[found["sign"]]
        else:
            made += found["escaped"] or found["plain"] or ""
    return made
