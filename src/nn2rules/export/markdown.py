"""Rules and scorecards as Markdown: tables that wrap where they are shown.

Every sign that could mean something in Markdown, or in HTML, has a backslash before it.
"""

import re

from nn2rules.export.card_program import CardProgram
from nn2rules.export.card_text import card_parts
from nn2rules.export.program import RuleProgram
from nn2rules.export.rule_table import Line, RuleTable, rule_table_of
from nn2rules.output import Grid, Heading

_SIGNS = re.compile(
    r"[\\`*_{}\[\]<>&|~$#!@^]|:(?=//|[\w+-]+:)|(?<=www)\.", re.IGNORECASE
)


def write(program: RuleProgram) -> str:
    """Return rules as the text of a Markdown file."""
    page = rule_table_of(program)
    parts = [
        f"# {escaped(page.title)}",
        _about(page.about),
        _rules(page),
        "## Features",
        _table(("feature", "kind", "values"), ("", "", ""), page.features),
    ]
    return "\n\n".join(parts) + "\n"


def write_card(program: CardProgram) -> str:
    """Return the page of a scorecard as the text of a Markdown file."""
    parts: list[str] = []
    for part in card_parts(program):
        if isinstance(part, Grid):
            sides = tuple("r" if is_number else "" for is_number in part.numbers)
            parts.append(_table(part.header or ("",) * len(sides), sides, part.rows))
        elif isinstance(part, Heading):
            parts.append(f"# {escaped(part.text)}")
        else:
            parts.append(escaped(part.text))
    parts.insert(1, _about(program.about))
    return "\n\n".join(parts) + "\n"


def _about(about: tuple[tuple[str, str], ...]) -> str:
    return "\n".join(f"- {key}: {escaped(text)}" for key, text in about)


def escaped(text: str) -> str:
    r"""Return a text that Markdown shows as it is.

    Examples
    --------
    >>> print(escaped("a|b *c* <d>"))
    a\|b \*c\* \<d\>
    """
    return _SIGNS.sub(lambda found: f"\\{found[0]}", text)


def _rules(page: RuleTable) -> str:
    header = ("rule", "if", "then", *page.columns)
    sides = ("", "", "", *("r" for _ in page.columns))
    return _table(header, sides, [_cells(line) for line in page.lines])


def _cells(line: Line) -> tuple[str, ...]:
    return line.name, " and ".join(line.conditions), line.then, *line.numbers


def _table(
    header: tuple[str, ...],
    sides: tuple[str, ...],
    rows: "list[tuple[str, ...]] | tuple[tuple[str, ...], ...]",
) -> str:
    rule = ["---:" if side == "r" else "---" for side in sides]
    lines = [header, rule, *([escaped(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
