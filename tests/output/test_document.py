"""Documents as text and as HTML, and what every result gets from its two methods."""

import json
from dataclasses import dataclass

import pytest

from nn2rules.errors import MissingExtraError, OptionError
from nn2rules.output import (
    GAP,
    Document,
    Grid,
    Heading,
    Items,
    Line,
    Paragraph,
    Piece,
    Result,
    frame_of,
    html_of,
    text_of,
)

GRID = Grid((("a", "1"), ("bcd", "22")), (False, True), ("name", "rows"))


@dataclass(frozen=True, slots=True)
class Counted(Result):
    """A result with the two methods that every result has."""

    number: int

    def document(self):
        """Return a title and a sentence."""
        return Document(((Heading("Counted"), Paragraph(f"{self.number} <rows>")),))

    def to_dict(self):
        """Return the number."""
        return {"número": self.number}


def test_a_result_needs_two_methods():
    found = Counted(3)
    assert str(found) == found.text() == "Counted\n3 <rows>"
    assert json.loads(found.to_json()) == found.to_dict()
    assert "número" in found.to_json()
    assert "3 &lt;rows&gt;" in found._repr_html_()
    with pytest.raises(TypeError, match="abstract"):
        Result()


def test_sections_are_apart_unless_the_page_is_short():
    title, more = (Heading("title"),), (Paragraph("more"),)
    assert text_of(Document((title, more, more))) == "title\nmore\nmore"
    assert text_of(Document((title, more, more, more))).count("\n\n") == 3
    assert text_of(Document(((*title, *more), more))) == "title\nmore\n\nmore"
    assert text_of(Document(())) == ""


def test_sentences_are_parted_only_to_a_width():
    text = " ".join(["word"] * 30)
    document = Document(((Paragraph(text, indent=2),),))
    assert text_of(document) == f"  {text}"
    lines = text_of(document, 60).splitlines()
    assert all(line.startswith("  word") and len(line) <= 60 for line in lines)
    with pytest.raises(OptionError, match="width: 59, expected 60 or more"):
        text_of(document, 59)


def test_a_number_stays_with_its_unit():
    text = "x" * 57 + " 5 %"
    assert text_of(Document(((Paragraph(text),),)), 60).splitlines()[1] == "5 %"
    parted = Paragraph(text, keeps_units=False)
    assert text_of(Document(((parted,),)), 60).splitlines()[1] == "%"


def test_a_line_is_parted_between_pieces_that_are_too_wide():
    line = Line((Piece("x" * 40, "title"), GAP, Piece("y" * 40, "faint")))
    document = Document(((line,),))
    assert text_of(document).splitlines() == ["x" * 40 + GAP + "y" * 40]
    assert text_of(document, 60).splitlines() == ["x" * 40, "y" * 40]
    assert '</span> &ensp; <span class="piece faint">' in html_of(document)


def test_a_grid_in_both_media():
    document = Document(((GRID,),))
    assert text_of(document) == "name  rows\na        1\nbcd     22"
    shown = html_of(document)
    assert '<span class="piece short faint">name</span>' in shown
    assert '<td class="number"><span class="piece short">22</span></td>' in shown


def test_the_last_cell_of_a_short_row_takes_the_rest_of_the_line():
    grid = Grid((("a", "1", "2"), ("b", "no such file")), (False, True, True))
    document = Document(((grid,),))
    assert text_of(document) == "a  1  2\nb  no such file"
    assert '<td colspan="2">' in html_of(document)


def test_a_wide_character_takes_two_cells():
    rows = (("尺寸", "1"), ("size", "2"))
    assert text_of(Document(((Grid(rows, (False, True)),),))) == "尺寸  1\nsize  2"


def test_the_last_column_is_parted_at_conditions():
    said = " · ".join(["color = red"] * 8)
    grid = Grid((("1", said),), (True, False), indent=2)
    lines = text_of(Document(((grid,),)), 60).splitlines()
    assert lines[0].startswith("  1  color = red · ")
    assert lines[1].startswith("     color = red")
    assert max(map(len, lines)) <= 60


def test_items_fill_lines():
    items = Items(("color = red",) * 9, " · ", 4)
    lines = text_of(Document(((items,),))).splitlines()
    assert len(lines) == 2
    assert lines[0].endswith(" ·")
    assert 'kept"' not in html_of(Document(((items,),))).partition("</style>")[2]


def test_an_empty_sentence_is_an_empty_line_of_text_only():
    document = Document(((Heading("a"), Paragraph(""), Heading("b")),))
    assert text_of(document) == "a\n\nb"
    assert "<p></p>" not in html_of(document)


def test_a_frame_names_what_is_missing(monkeypatch):
    def columns():
        raise AssertionError("the library comes first")

    with pytest.raises(OptionError, match="expected 'pandas', 'polars' or 'pyarrow'"):
        frame_of(columns, "spark")

    def missing():
        raise ModuleNotFoundError

    with pytest.raises(MissingExtraError, match="polars"):
        frame_of(missing, "polars")
    assert frame_of(lambda: {"a": [1]}, "pyarrow").to_pydict() == {"a": [1]}
