"""Scorecards in every format that holds them, executed by its engine."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from export.card_cases import CARDS, card, card_rows, drawn_cards
from export.cases import known_rows
from export.engines import in_latex, in_markdown
from export.executing import check_card
from export.exportable import rows_for
from nn2rules import OptionError
from nn2rules.errors import UnsupportedModelError
from nn2rules.export import EXPORTERS, CardProgram, card_program_of
from nn2rules.output import Grid

FORMATS = [
    name
    for name in EXPORTERS
    if CardProgram.kind in EXPORTERS[name].writers
    and name not in ("xlsx", "markdown", "latex")
]
HELD: dict[str, tuple[str, ...]] = {
    "pmml": ("single", "whole points", "bins"),
}
"""What formats hold that do not hold all kinds."""

scales = st.sampled_from(["fine", "printed"])
policies = st.sampled_from(["none", "error"])


def check_program(given_card: Any, **options: Any) -> int:
    """Compare a program with its network; return how many rows have a class."""
    program = card_program_of(given_card, **options)
    rows = known_rows(program, card_rows(program))
    labels = given_card.network.predict(rows).tolist()
    n_proved = 0
    for row, label in zip(rows, labels, strict=True):
        found = program.predict(row)
        expected = str(label) if program.label_kind == "text" else label
        assert found.label in (None, expected), row
        n_proved += found.label is not None
    return n_proved


@settings(max_examples=150)
@given(drawn_cards(), scales)
def test_a_program_never_gives_another_class_than_the_network(drawn, points):
    try:
        card_program_of(drawn, points=points)
    except UnsupportedModelError:  # printed points have too many digits
        assume(False)
    check_program(drawn, points=points)


@pytest.mark.parametrize("name", CARDS)
@pytest.mark.parametrize("format_name", FORMATS)
def test_an_export_answers_as_its_program(format_name, name):
    given_card = card(name)
    if name not in HELD.get(format_name, CARDS):
        with pytest.raises(OptionError):
            given_card.export(format_name)
        return
    number = {"dmn": 24}.get(format_name, 300)
    rows = card_rows(card_program_of(given_card), number)
    options = {"table": "cases"} if format_name == "sql" else {}
    check_card(given_card, format_name, rows, **options)


@pytest.mark.parametrize("name", CARDS)
def test_nearly_all_rows_have_a_class(name):
    program = card_program_of(card(name))
    draw = np.random.default_rng(3)
    rows = known_rows(program, card_rows(program, 400, seed=int(draw.integers(99))))
    plain = [row for row in rows[:300] if program.predict(row).label is None]
    assert len(plain) <= 3


def test_bad_options_are_one_sentence():
    given_card = card("single")
    with pytest.raises(OptionError, match="uncovered is an option of rules"):
        given_card.export("python", uncovered="none")
    with pytest.raises(OptionError, match="no default class"):
        given_card.export("python", unknown="default")
    with pytest.raises(OptionError, match="expected 'fine' or 'printed'"):
        given_card.export("python", points="exact")
    with pytest.raises(OptionError, match="'none', 'nearest' or 'error'"):
        given_card.export("python", between="default")
    with pytest.raises(OptionError, match="cards without regions"):
        card("regions").export("python", between="nearest")


@pytest.mark.parametrize("format_name", ["python", "js", "pandas", "polars"])
def test_any_card_in_a_program(format_name):
    @settings(max_examples=40)
    @given(drawn_cards(), scales, policies, st.sampled_from(["none", "error"]))
    def check(drawn, points, unknown, between):
        try:
            program = card_program_of(drawn, points=points)
            made = drawn.export(format_name, points=points)
        except UnsupportedModelError:
            assume(False)
        assert isinstance(made, str)
        check_card(
            drawn,
            format_name,
            card_rows(program),
            points=points,
            unknown=unknown,
            between=between,
        )

    check()


@pytest.mark.parametrize("format_name", ["python", "js", "pandas", "polars"])
def test_the_nearest_class_on_request(format_name):
    for name in ("single", "three classes", "parts", "parts, three classes"):
        rows = card_rows(card_program_of(card(name), points="printed"), 100)
        check_card(card(name), format_name, rows, points="printed", between="nearest")
        program = card_program_of(card(name), points="printed", between="nearest")
        assert all(program.predict(row).label for row in known_rows(program, rows))


@pytest.mark.parametrize("format_name", ["dmn", "onnx"])
def test_any_card_in_an_engine(format_name):
    n_rows, examples = {"dmn": (8, 12), "onnx": (60, 30)}[format_name]
    options = {"missing": "<nothing>"} if format_name == "onnx" else {}

    @settings(max_examples=examples)
    @given(drawn_cards(), scales)
    def check(drawn, points):
        try:
            made = drawn.export(format_name, points=points, **options)
        except UnsupportedModelError:
            assume(False)
        assert made
        rows = card_rows(card_program_of(drawn), n_rows)
        check_card(drawn, format_name, rows, points=points, **options)

    check()


@pytest.mark.parametrize("name", CARDS)
def test_documents_have_the_lines_of_the_page(name):
    given_card = card(name)
    parts = [part for section in given_card.document().sections for part in section]
    grid = next(part for part in parts if isinstance(part, Grid))
    for format_name, table_of in (("markdown", in_markdown), ("latex", in_latex)):
        header, *rows = table_of.table_of(given_card.export(format_name))
        assert header == [*grid.header]
        assert rows == [[*row] for row in grid.rows]
    with pytest.raises(OptionError, match="a document predicts nothing"):
        given_card.export("markdown", unknown="error")


@pytest.mark.parametrize("name", ["single", "whole points", "bins", "parts"])
def test_printed_points_are_those_of_the_page(name):
    given_card = card(name)
    program = card_program_of(given_card, points="printed")
    rows = known_rows(program, rows_for(program, 100))  # none next to half a point
    totals = [program.predict(row).totals[0] for row in rows]
    assert totals == given_card.points(rows).totals[:, 0].tolist()


@pytest.mark.parametrize("format_name", ["python", "js", "pandas", "sql", "pmml"])
def test_bins_are_printed_points(format_name):
    rows = card_rows(card_program_of(card("bins"), points="printed"), 100)
    check_card(card("bins"), format_name, rows, points="printed")
