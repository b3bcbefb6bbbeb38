"""Rules as SQL, run by four databases and read again for the others."""

from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporting.cases import CASES, case
from exporting.engines import in_sql
from exporting.executing import check_export
from exporting.exportable import exportable, rows_for
from nn2rules import Domain, Feature, OptionError, RuleList, UnsupportedModelError
from nn2rules.exporting import export, program_of
from nn2rules.exporting.sql_dialects import DIALECTS

policies = st.sampled_from(["none", "default", "error"])


def _names_are_held(rules: RuleList, longest: int = 1 << 16) -> bool:
    names = rules.domain.names
    folded = {name.casefold() for name in names}
    return len(folded) == len(names) and all(
        name and "\0" not in name and "${" not in name and len(name.encode()) <= longest
        for name in names
    )


def _without_nul(text: str) -> bool:
    return "\0" not in text


any_rules = exportable().filter(_names_are_held)


@settings(max_examples=100)
@given(any_rules, policies, policies)
def test_any_rules_in_duckdb(rules, unknown, undecided):
    rows = rows_for(program_of(rules))
    check_export(rules, "sql", rows, unknown=unknown, undecided=undecided)


def _in_sqlite(made: Any, program: Any, rows: Any) -> Any:
    query = partial(in_sql.in_sqlite, made, program)
    return in_sql.answers(program, rows, query, has_nan=False)


@settings(max_examples=100)
@given(any_rules, policies, policies)
def test_any_rules_in_sqlite(rules, unknown, undecided):
    rows = rows_for(program_of(rules))
    check_export(
        rules,
        "sql",
        rows,
        unknown=unknown,
        undecided=undecided,
        execute=_in_sqlite,
        dialect="sqlite",
    )


@pytest.fixture(scope="module")
def postgres():
    with in_sql.postgres() as base:
        yield base


def _postgres_run(base: Any) -> Any:
    def run(made: Any, program: Any, rows: Any) -> Any:
        query = partial(in_sql.in_postgres, base, made, program)
        return in_sql.answers(program, rows, query)

    return run


def test_any_rules_in_postgres(postgres):
    held = exportable(_without_nul).filter(lambda r: _names_are_held(r, 63))

    @settings(max_examples=60)
    @given(held, policies, policies)
    def check(rules, unknown, undecided):
        rows = rows_for(program_of(rules))
        check_export(
            rules,
            "sql",
            rows,
            unknown=unknown,
            undecided=undecided,
            execute=_postgres_run(postgres),
            dialect="postgres",
        )

    check()
