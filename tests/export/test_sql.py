"""Rules as SQL, run by four databases and read again for the others."""

from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from export.cases import CASES, case
from export.engines import in_sql
from export.executing import check_export
from export.exportable import exportable, rows_for
from nn2rules import (
    Domain,
    Feature,
    OptionError,
    RuleList,
    UnsupportedModelError,
    extract,
)
from nn2rules.export import export, program_of
from nn2rules.export.sql_dialects import DIALECTS
from nn2rules.language.text import unused
from nn2rules.network import Layer, Network

policies = st.sampled_from(["none", "default", "error"])


def _names_are_held(rules: RuleList, longest: int = 1 << 16) -> bool:
    names = rules.domain.names
    folded = {name.casefold() for name in names}
    return len(folded) == len(names) and all(
        name and "\0" not in name and "${" not in name and len(name.encode()) <= longest
        for name in names
    )


def _without_tiny_edges(rules: RuleList) -> bool:
    edges = [edge for f in rules.domain.features for edge in getattr(f, "edges", ())]
    return all(edge == 0 or abs(edge) > 1e-307 for edge in edges)


def _without_nul(text: str) -> bool:
    return "\0" not in text


any_rules = exportable().filter(_names_are_held)


@settings(max_examples=100)
@given(any_rules, policies, policies)
def test_any_rules_in_duckdb(rules, unknown, uncovered):
    rows = rows_for(program_of(rules))
    check_export(rules, "sql", rows, unknown=unknown, uncovered=uncovered)


def _in_sqlite(made: Any, program: Any, rows: Any) -> Any:
    query = partial(in_sql.in_sqlite, made, program)
    return in_sql.answers(program, rows, query, has_nan=False)


@settings(max_examples=100)
@given(any_rules, policies, policies)
def test_any_rules_in_sqlite(rules, unknown, uncovered):
    rows = rows_for(program_of(rules))
    check_export(
        rules,
        "sql",
        rows,
        unknown=unknown,
        uncovered=uncovered,
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
    def check(rules, unknown, uncovered):
        rows = rows_for(program_of(rules))
        check_export(
            rules,
            "sql",
            rows,
            unknown=unknown,
            uncovered=uncovered,
            execute=_postgres_run(postgres),
            dialect="postgres",
        )

    check()


def _in_spark(_made: Any, program: Any, rows: Any) -> Any:
    """Run the column expressions, which are exported one by one."""
    made = tuple(_spark_column(program, answer) for answer in ("class", "rule"))
    return in_sql.answers(program, rows, partial(in_sql.in_spark, made, program))


def _spark_column(program: Any, answer: str) -> Any:
    return export(
        program.rules,
        "sql",
        unknown=program.unknown,
        uncovered=program.uncovered,
        dialect="spark",
        only=answer,
    )


@settings(max_examples=15)
@given(any_rules, st.sampled_from(["none", "default"]), policies)
def test_any_rules_in_spark(rules, unknown, uncovered):
    rows = rows_for(program_of(rules))
    check_export(
        rules,
        "sql",
        rows,
        unknown=unknown,
        uncovered=uncovered,
        execute=_in_spark,
        dialect="spark",
    )


def _domain(*words: str) -> Domain:
    return Domain((Feature("a", ("x", "y", *words)), Feature.bins("n", [0.1])))


def test_spark_changes_no_text_with_a_dollar():
    rules = RuleList.from_boxes(
        _domain("${spark.app.name}"),
        [[False, False, True, True, True]],
        [1],
        "no",
        ("no", "yes"),
    )
    rows = rows_for(program_of(rules))
    check_export(rules, "sql", rows, execute=_in_spark, dialect="spark")


# The others: read again by sqlglot, and run by DuckDB once it has translated them


def _translated(dialect: str) -> Any:
    import sqlglot
    from sqlglot import exp

    def plain(tree: Any) -> None:
        """Write in DuckDB's way what sqlglot leaves as it is."""
        for node in list(tree.find_all(exp.Collate)):
            node.replace(node.this)
        for node in list(tree.find_all(exp.National)):
            node.replace(exp.Literal.string(node.name))
        for node in list(tree.find_all(exp.DataType)):
            is_bit = node.this == exp.DataType.Type.BIT
            node.replace(exp.DataType.build("BOOLEAN" if is_bit else node.this))
        while node := tree.find(exp.Add):
            node.replace(exp.DPipe(this=node.left, expression=node.right))

    def run(made: Any, program: Any, rows: Any) -> Any:
        known = made.replace("NCHAR(", "CHAR(")  # sqlglot takes it for a type
        tree = sqlglot.parse_one(f"SELECT {known}", read=dialect)
        plain(tree)
        again = tree.sql(dialect="duckdb", comments=False).removeprefix("SELECT ")
        query = partial(in_sql.in_duckdb, again, program)
        has_nan = bool(DIALECTS[dialect].nan)
        return in_sql.answers(program, rows, query, has_nan=has_nan)

    return run


RUN_HERE = {"duckdb", "postgres", "spark", "sqlite"}


@pytest.mark.parametrize("dialect", sorted(DIALECTS.keys() - RUN_HERE))
def test_any_rules_read_by_sqlglot(dialect):
    held = exportable().filter(lambda r: _names_are_held(r, 128))
    if dialect == "bigquery":
        held = held.filter(lambda r: not any("." in n for n in r.domain.names))
    if dialect == "tsql":
        held = held.filter(_without_tiny_edges)

    @settings(max_examples=25)
    @given(held, st.sampled_from(["none", "default"]))
    def check(rules, unknown):
        rows = rows_for(program_of(rules))
        check_export(
            rules,
            "sql",
            rows,
            unknown=unknown,
            execute=_translated(dialect),
            dialect=dialect,
        )

    check()


# Views


@cache
def _view_cells(name: str) -> Any:
    program = program_of(case(name).rules)
    rows = rows_for(program, 300)
    return program, rows


def _check_view(name: str, run: Any, dialect: str) -> None:
    program, rows = _view_cells(name)
    view = program.rules.export("sql", dialect=dialect, table="cases")
    found = in_sql.answers(
        program,
        rows,
        lambda cells: run(view, program, cells),
        has_nan=bool(DIALECTS[dialect].nan),
    )
    assert len(found) == len(rows)
    assert found == [program.predict(row) for row in rows]


def _in_duckdb_view(view: Any, program: Any, cells: Any) -> Any:
    label, rule = (
        in_sql.quoted(unused(name, {n.casefold() for n in program.rules.domain.names}))
        for name in ("prediction", "rule")
    )
    order = in_sql.quoted(in_sql.row_number(program))
    base = in_sql.duckdb_table(program, cells)
    base.execute(view)
    names = base.execute("DESCRIBE cases_predicted").fetchall()
    assert len(names) == len(program.columns) + 3
    return base.execute(
        f"SELECT {label}, {rule} FROM cases_predicted ORDER BY {order}"
    ).fetchall()


@pytest.mark.parametrize("most", [0, 1000])
@pytest.mark.parametrize("name", CASES)
def test_views_in_duckdb(name, most, monkeypatch):
    monkeypatch.setattr("nn2rules.export.sql.MANY", most)
    _check_view(name, _in_duckdb_view, "duckdb")


@pytest.mark.parametrize("most", [-1, 1000])
def test_views_of_any_rules_in_duckdb(most, monkeypatch):
    monkeypatch.setattr("nn2rules.export.sql.MANY", most)

    @settings(max_examples=60)
    @given(any_rules, policies, policies)
    def check(rules, unknown, uncovered):
        def run(made: Any, program: Any, rows: Any) -> Any:
            query = partial(_in_duckdb_view, made, program)
            return in_sql.answers(program, rows, query)

        check_export(
            rules,
            "sql",
            rows_for(program_of(rules)),
            unknown=unknown,
            uncovered=uncovered,
            execute=run,
            table="cases",
        )

    check()


@pytest.mark.parametrize("name", CASES)
def test_views_in_sqlite(name):
    def run(view: Any, program: Any, cells: Any) -> Any:
        with in_sql.sqlite(program, cells) as base:
            base.execute(view)
            return base.execute(
                "SELECT prediction, rule FROM cases_predicted ORDER BY nr"
            ).fetchall()

    _check_view(name, run, "sqlite")


@pytest.mark.parametrize("name", CASES)
def test_views_in_postgres(name, postgres):
    def run(view: Any, program: Any, cells: Any) -> Any:
        with in_sql.postgres_table(postgres, program, cells):
            postgres.execute(view.replace("CREATE VIEW", "CREATE TEMP VIEW"))
            return postgres.execute(
                "SELECT prediction, rule FROM cases_predicted ORDER BY nr"
            ).fetchall()

    _check_view(name, run, "postgres")


@pytest.mark.parametrize("name", CASES)
def test_views_in_spark(name):
    def run(view: Any, program: Any, cells: Any) -> Any:
        session = in_sql.spark()
        in_sql.spark_frame(program, cells).createOrReplaceTempView("cases")
        session.sql("DROP VIEW IF EXISTS cases_predicted")
        session.sql(view.replace("CREATE VIEW", "CREATE TEMP VIEW").rstrip(";\n"))
        found = session.sql("SELECT prediction, rule FROM cases_predicted ORDER BY nr")
        return [tuple(row) for row in found.collect()]

    _check_view(name, run, "spark")


# What cannot be


def test_an_unknown_dialect_lists_the_others():
    with pytest.raises(OptionError, match="'cobol', expected one of bigquery, "):
        case("car list").rules.export("sql", dialect="cobol")


def test_a_view_has_both_answers():
    with pytest.raises(OptionError, match="omit only or table"):
        case("car list").rules.export("sql", table="cases", only="rule")
    with pytest.raises(OptionError, match="only: 'x', expected 'class' or 'rule'"):
        case("car list").rules.export("sql", only="x")
    with pytest.raises(OptionError, match=r"table: 'a\.', expected a name"):
        case("car list").rules.export("sql", table="a.")


def _rules_over(*features: Feature) -> RuleList:
    return RuleList(Domain(features), (), "no", ("no", "yes"))


@pytest.mark.parametrize("name", ["", "a\0", "x" * 64])
def test_a_name_that_postgres_cannot_hold_is_refused(name):
    rules = _rules_over(Feature(name, ("x", "y")))
    with pytest.raises(UnsupportedModelError, match="cannot be a name in the dialect"):
        rules.export("sql", dialect="postgres")


def test_a_text_that_postgres_cannot_hold_is_refused():
    rules = _rules_over(Feature("a", ("x\0", "y")))
    with pytest.raises(UnsupportedModelError, match="a sign that no text of the"):
        rules.export("sql", dialect="postgres")


def test_names_that_differ_in_case_alone_are_refused():
    rules = _rules_over(Feature("a", ("x", "y")), Feature("A", ("x", "y")))
    with pytest.raises(UnsupportedModelError, match="differ only in case"):
        rules.export("sql", dialect="duckdb")
    assert '"A" IN' in rules.export("sql", dialect="postgres")


def test_numbers_that_no_column_holds_are_refused():
    with pytest.raises(UnsupportedModelError, match="9007199254740993 is no 64-bit"):
        _rules_over(Feature("a", (2**53 + 1, 2))).export("sql")
    with pytest.raises(UnsupportedModelError, match="than any that SQL Server holds"):
        _rules_over(Feature("a", (1e-310, 2))).export("sql", dialect="tsql")


def test_whole_numbers_are_exact_in_a_column_of_integers():
    import duckdb

    made = _rules_over(Feature("a", (1e16, 2))).export("sql", only="class")
    with duckdb.connect() as base:
        cells = "SELECT unnest([2, 10000000000000000, 10000000000000001]) AS a"
        found = base.execute(f"SELECT {made} FROM ({cells})").fetchall()
    assert [row[0] for row in found] == ["no", "no", None]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_sqlite_reads_the_same_number(number):
    import sqlite3

    literal = DIALECTS["sqlite"].literal(number)
    base = sqlite3.connect(":memory:")
    found = base.execute(f"SELECT {literal} = ?", [number]).fetchone()
    base.close()
    assert found == (1,)


def test_whole_classes_stay_whole_in_duckdb():
    import duckdb

    size = Feature("size", ("small", "big"))
    classify = Layer([[-1.0], [1.0]], [0.0], "sigmoid")
    rules = extract(Network(Domain((size,)), (classify,), (0, 1)), form="list")
    rows = "(VALUES ('small'), ('big'), ('huge')) AS cases(size)"
    found = duckdb.sql(f"SELECT {export(rules, 'sql')} FROM {rows}").fetchall()
    assert [repr(label) for label, _ in found] == ["0", "1", "None"]


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda each: each.name)
def test_classes_have_a_type_of_their_own(dialect):
    whole = dialect.label_type((0, 1), "number")
    assert whole == dialect.whole_type != dialect.types["number"]
    assert dialect.label_type((0, 0.5), "number") == dialect.types["number"]
    assert dialect.label_type((0, 1 << 64), "number") == dialect.types["number"]
    assert dialect.label_type((False, True), "truth") == dialect.types["truth"]
