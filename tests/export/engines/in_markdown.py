"""Exports that are Markdown: rendered, and the table read as a reader does."""

from typing import Any

from markdown_it import MarkdownIt

from export.engines.in_nn2rules import answers
from export.engines.in_words import rules_of_rows
from nn2rules.export.program import Prediction, Program


def execute(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Apply the rules that the first table says."""
    return answers(rules_of_rows(table_of(made), program), program, rows)


def table_of(made: str) -> list[list[str]]:
    """Return the texts of the first table, as they are shown."""
    rows: list[list[str]] = []
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(made):
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        if token.type == "inline" and rows:
            for piece in token.children or []:
                assert piece.type in ("text", "text_special"), piece
            rows[-1].append("".join(piece.content for piece in token.children or []))
    return rows
