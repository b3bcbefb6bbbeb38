"""OUTPUT: what results look like, as text, HTML, JSON and data frames.

::

    document ──▶ text   lines of a given width
            └──▶ html   what notebooks show
    result              a document and plain values; the rest follows

Imports `space`.
"""

from nn2rules.output.document import (
    GAP,
    Block,
    Document,
    Grid,
    Heading,
    Items,
    Line,
    Paragraph,
    Part,
    Piece,
    RuleTable,
    Section,
    ShownCondition,
    ShownRule,
)
from nn2rules.output.html import html_of
from nn2rules.output.result import Backend, Result, frame_of
from nn2rules.output.text import text_of

__all__ = [
    "GAP",
    "Backend",
    "Block",
    "Document",
    "Grid",
    "Heading",
    "Items",
    "Line",
    "Paragraph",
    "Part",
    "Piece",
    "Result",
    "RuleTable",
    "Section",
    "ShownCondition",
    "ShownRule",
    "frame_of",
    "html_of",
    "text_of",
]
