"""Scorecards as SQL, run by four databases and read again for the others."""

from functools import partial
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from export.card_cases import CARDS, ONE_TOTAL, card, card_rows, drawn_cards
from export.engines import in_sql
from export.executing import check_card
from export.test_sql import _names_are_held, _without_nul, postgres  # noqa: F401
from nn2rules import OptionError, UnsupportedModelError
from nn2rules.export import card_program_of
from nn2rules.export.sql_dialects import DIALECTS

policies = st.sampled_from(["none", "error"])
scales = st.sampled_from(["fine", "printed"])
texts_to_hold = _without_nul
any_card = drawn_cards().filter(_names_are_held)


def _check(drawn: Any, points: str, unknown: str, between: str, **options: Any) -> None:
    """Check a view, and expressions where a card has them."""
    try:
        program = card_program_of(drawn, points=points)
    except UnsupportedModelError:
        assume(False)
    rows = card_rows(program, 30)
    if "error" in (unknown, between):  # then an engine is asked for row after row
        rows = rows[:: 1 + len(rows) // 12]
    policy = {"points": points, "unknown": unknown, "between": between}
    check_card(drawn, "sql", rows, table="cases", **policy, **options)
    if len(program.beside) == 1 and not program.has_regions:
        check_card(drawn, "sql", rows, **policy, **options)


@settings(max_examples=20)
@given(any_card, scales, policies, policies)
def test_any_card_in_duckdb(drawn, points, unknown, between):
    _check(drawn, points, unknown, between)


def _in_sqlite(made: Any, program: Any, rows: Any) -> Any:
    query = partial(in_sql.in_sqlite, made, program)
    return in_sql.answers(program, rows, query, has_nan=False)


@settings(max_examples=6)
@given(any_card, scales, policies, policies)
def test_any_card_in_sqlite(drawn, points, unknown, between):
    _check(drawn, points, unknown, between, execute=_in_sqlite, dialect="sqlite")


def test_any_card_in_postgres(postgres):  # noqa: F811
    held = drawn_cards(_without_nul).filter(lambda c: _names_are_held(c, 50))

    def run(made: Any, program: Any, rows: Any) -> Any:
        query = partial(in_sql.in_postgres, postgres, made, program)
        return in_sql.answers(program, rows, query)

    @settings(max_examples=15)
    @given(held, scales, policies, policies)
    def check(drawn, points, unknown, between):
        _check(drawn, points, unknown, between, execute=run, dialect="postgres")

    check()


def _in_spark(made: Any, program: Any, rows: Any) -> Any:
    query = partial(in_sql.view_in_spark, made, program)
    return in_sql.answers(program, rows, query)


@pytest.mark.parametrize("name", CARDS)
def test_cards_in_spark(name):
    rows = card_rows(card_program_of(card(name)), 100)
    for points in ("fine", "printed"):
        check_card(
            card(name),
            "sql",
            rows,
            points=points,
            execute=_in_spark,
            dialect="spark",
            table="cases",
        )


@settings(max_examples=4)
@given(any_card, scales, st.just("none"), policies)
def test_any_card_in_spark(drawn, points, unknown, between):
    _check(drawn, points, unknown, between, execute=_in_spark, dialect="spark")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", CARDS)
def test_every_dialect_can_be_read_again(dialect, name):
    import sqlglot

    made = card(name).export("sql", dialect=dialect, table="cases")
    assert sqlglot.parse_one(made, dialect=dialect).key == "create"
    if name in ONE_TOTAL:
        made = card(name).export("sql", dialect=dialect, only="class")
        sqlglot.parse_one(made, dialect=dialect)


def test_points_of_features_are_those_of_the_page():
    given_card = card("whole points")
    program = card_program_of(given_card, points="printed")
    rows = [row for row in card_rows(program, 40) if program.predict(row).totals[0]]
    made = given_card.export("sql", points="printed", features=True)
    found = in_sql.in_duckdb(
        made, program, [[row[c.name] for c in program.columns] for row in rows]
    )
    points = given_card.points(rows)
    for row, values, total in zip(found, points.values, points.totals, strict=True):
        assert row[1] == total[0]
        assert [*row[2:]] == values[0].tolist()


def test_bad_options_are_one_sentence():
    with pytest.raises(OptionError, match="give the name of your table"):
        card("three classes").export("sql")
    with pytest.raises(OptionError, match="several columns of points"):
        card("parts").export("sql", features=True)
    with pytest.raises(OptionError, match="'class' or 'total'"):
        card("single").export("sql", only="rule")
    with pytest.raises(OptionError, match="only is for a single expression"):
        card("single").export("sql", only="class", table="cases")
