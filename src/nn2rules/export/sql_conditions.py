"""What SQL queries are made of: conditions on cells, and rules over words of bits.

Every test is written without a negation around it, so that NULL never makes it true:
where a comparison is NULL, the test does not hold.

Hundreds of rules as conditions take DuckDB several times as long as words of bits, one
operation for each rule and word: see `bits` for what they mean, and
``benchmarks/results.md`` for the measurement.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nn2rules.export.bits import OUTSIDE_BIT, Bit, Bits
from nn2rules.export.cells import Cells, Interval, Kind
from nn2rules.export.columns import Column
from nn2rules.export.program import (
    NO_PREDICTION,
    Branch,
    Prediction,
    Program,
    RuleProgram,
)
from nn2rules.export.sql_dialects import DIALECTS, Dialect
from nn2rules.space import UNKNOWN, Value

ALWAYS = "1 = 1"
NEVER = "1 = 0"


def known_test(program: Program, dialect: Dialect) -> str:
    """Return the test of rows in the domain; ALWAYS if all rows are."""
    tests = [_known(column, dialect) for column in program.columns]
    return joined([test for test in tests if test != ALWAYS], "AND") or ALWAYS


def branch_test(branch: Branch, program: Program, dialect: Dialect) -> str:
    """Return the test of the rows of the domain that a rule covers."""
    tests = []
    for place, cells in branch.tests.items():
        column = program.columns[place]
        # NaN is missing, but larger than any number to most databases.
        is_open = column.kind == "number" and column.known.missing
        meant = branch.closed[place] if is_open else cells
        is_there = not column.known.missing
        tests.append(cells_test(column, meant, dialect, is_there=is_there))
    return joined(tests, "AND") or ALWAYS


def value_test(column: Column, cells: Cells, dialect: Dialect) -> str:
    """Return the test of closed cells that are in the domain."""
    if not column.whole or not cells.intervals:
        return cells_test(column, cells, dialect)
    name = dialect.identifier(column.name)
    numbers = cells_test(column, Cells(intervals=cells.intervals), dialect)
    whole = joined([numbers, f"{name} = {dialect.whole.format(name)}"], "AND")
    rest = Cells(words=cells.words, missing=cells.missing)
    if rest.is_empty:
        return whole
    return joined([cells_test(column, rest, dialect), whole], "OR")


def _known(column: Column, dialect: Dialect) -> str:
    return value_test(column, column.known, dialect)


def cells_test(
    column: Column, cells: Cells, dialect: Dialect, *, is_there: bool = False
) -> str:
    """Return the test of some cells; with `is_there`, none is missing."""
    name = dialect.identifier(column.name)
    if cells.negated and is_there and cells.words:
        return _among(name, column, cells, dialect)
    if cells.negated:
        return _all_but(name, column, cells, dialect)
    parts = []
    if cells.words:
        parts.append(
            _guarded(name, column, _among(name, column, cells, dialect), dialect)
        )
    parts += [
        _guarded(name, column, _inside(name, each, dialect), dialect)
        for each in cells.intervals
    ]
    if cells.missing:
        parts.append(_missing(name, column, dialect))
    return joined(parts, "OR") or NEVER


def joined(tests: list[str], word: str) -> str:
    """Return tests joined by AND or OR, each in parentheses where that is needed."""
    if len(tests) < 2:
        return "".join(tests)
    plain = [f"({t})" if f" {_OTHER[word]} " in t else t for t in tests]
    return f" {word} ".join(plain)


_OTHER = {"AND": "OR", "OR": "AND"}


def _guarded(name: str, column: Column, test: str, dialect: Dialect) -> str:
    """Return a test of numbers that NaN fails, however the engine compares it.

    The guard comes last: it is then worked out for few cells only.
    """
    if column.kind != "number" or not dialect.finite:
        return test
    return joined([test, dialect.finite.format(name)], "AND")


def _all_but(name: str, column: Column, cells: Cells, dialect: Dialect) -> str:
    """Return the test of all cells except some words."""
    if cells.missing and not cells.words:
        return ALWAYS
    words = cells.words if cells.missing else (*cells.words, *column.gaps)
    listed = Cells(words=words, negated=True)
    parts = [_among(name, column, listed, dialect)] if words else []
    has_nan = column.kind == "number" and bool(dialect.nan)
    nan = dialect.nan.format(name)
    if cells.missing:
        return joined([*parts, f"{name} IS NULL", *([nan] * has_nan)], "OR")
    parts = parts or [f"{name} IS NOT NULL"]
    return joined([*parts, *([f"NOT ({nan})"] * has_nan)], "AND")


def _missing(name: str, column: Column, dialect: Dialect) -> str:
    parts = [f"{name} IS NULL"]
    if column.kind == "number" and dialect.nan:
        parts.append(dialect.nan.format(name))
    if column.gaps:
        parts.append(_among(name, column, Cells(words=column.gaps), dialect))
    return joined(parts, "OR")


def _among(name: str, column: Column, cells: Cells, dialect: Dialect) -> str:
    """Return the test of cells that equal one of the words, or none if negated."""
    cell = dialect.cell.format(name) if column.kind == "text" else name
    words = [dialect.cell_word(word, column.kind) for word in cells.words]
    if len(words) == 1 or dialect.joins:
        sign, word = ("<>", "AND") if cells.negated else ("=", "OR")
        return joined([f"{cell} {sign} {each}" for each in words], word)
    return f"{cell} {'NOT ' * cells.negated}IN ({', '.join(words)})"


def _inside(name: str, interval: Interval, dialect: Dialect) -> str:
    parts = []
    if interval.low is not None:
        sign = ">" if interval.low_is_strict else ">="
        parts.append(f"{name} {sign} {dialect.literal(interval.low)}")
    if interval.high is not None:
        sign = "<" if interval.high_is_strict else "<="
        parts.append(f"{name} {sign} {dialect.literal(interval.high)}")
    return joined(parts, "AND") or ALWAYS


UNCOVERED, OUTSIDE = -1, -2
"""Positions of a row that no rule covers, and of one outside the domain."""

_DUCKDB = DIALECTS["duckdb"]


def prefix_for(names: Iterable[str]) -> str:
    """Return what the names of columns begin with that only the query has."""
    prefix, folded = "nn2rules", [name.casefold() for name in names]
    while any(name.startswith(prefix) for name in folded):
        prefix += "_"
    return prefix


def column_words(
    column: Column, own: tuple[Bit, ...], cell: str, looked: str | None = None
) -> dict[int, str]:
    """Return the bits that a cell sets, by word.

    Parameters
    ----------
    column : Column
    own : tuple of Bit
        The bits of the column.
    cell : str
        The name of the column in the query.
    looked : str, optional
        A column of codes that go before the cell; NULL where the cell is to be asked.
    """
    named = replace(column, feature=replace(column.feature, name=cell))
    words = {word: _word(named, own, word, looked) for word in {b.word for b in own}}
    if 0 not in words:
        words[0] = _outside(named, looked)
    return words


def column_code(column: Column, cell: str, looked: str | None = None) -> str:
    """Return the code of a cell, `UNKNOWN` outside the domain; see `column_words`."""
    named = replace(column, feature=replace(column.feature, name=cell))
    size, lines = len(column.feature), []
    for code in range(size):
        allowed = np.arange(size) == code
        own = column.cells(allowed, closed=True)
        if not own.is_empty:
            lines.append(f"WHEN {value_test(named, own, _DUCKDB)} THEN {code}")
    plain = " ".join(["CASE", *lines, f"ELSE {UNKNOWN} END"]) if lines else str(UNKNOWN)
    made = plain if looked is None else f"COALESCE({looked}, {plain})"
    return f"CAST({made} AS INTEGER)"


def _word(named: Column, own: tuple[Bit, ...], word: int, looked: str | None) -> str:
    outside = OUTSIDE_BIT if word == 0 else 0
    tests = " ".join(
        f"WHEN {value_test(named, bit.cells, _DUCKDB)} "
        f"THEN {bit.mask if bit.word == word else 0}"
        for bit in own
    )
    plain = f"CASE {tests} ELSE {outside} END"
    codes = " ".join(f"WHEN {b.code} THEN {b.mask}" for b in own if b.word == word)
    found = f"CASE {looked} {codes} WHEN -1 THEN {outside} ELSE 0 END"
    return _either(looked, found, plain)


def _outside(named: Column, looked: str | None) -> str:
    """Return whether a cell is outside the domain, if no word has that bit yet."""
    known = value_test(named, named.known, _DUCKDB)
    plain = f"CASE WHEN {known} THEN 0 ELSE {OUTSIDE_BIT} END"
    return _either(
        looked, f"CASE WHEN {looked} < 0 THEN {OUTSIDE_BIT} ELSE 0 END", plain
    )


def _either(looked: str | None, found: str, plain: str) -> str:
    if looked is not None:
        plain = f"CASE WHEN {looked} IS NOT NULL THEN {found} ELSE {plain} END"
    return f"CAST({plain} AS BIGINT)"


def position_of(
    bits: Bits,
    prefix: str,
    *,
    outside: str = str(OUTSIDE),
    uncovered: str = str(UNCOVERED),
) -> str:
    """Return the position of the rule that determines the prediction of a row.

    What `outside` and `uncovered` rows get may be an error.
    """
    lines = []
    for position, words in enumerate(bits.forbidden):
        tests = [
            f"({prefix}_w{word} & {mask}) = 0"
            for word, mask in enumerate(words)
            if mask
        ]
        lines.append(f"WHEN {' AND '.join(tests) or 'TRUE'} THEN {position}")
    inner = "\n".join(["CASE", *lines, f"ELSE {uncovered} END"]) if lines else uncovered
    is_outside = f"({prefix}_w0 & {OUTSIDE_BIT}) <> 0"
    return f"CAST(CASE WHEN {is_outside} THEN {outside} ELSE {inner} END AS INTEGER)"


def predictions_at(program: RuleProgram, prefix: str, kind: Kind) -> tuple[str, str]:
    """Return the class, of a kind, and the rule at the position of a row."""
    ends = [program.outside or NO_PREDICTION, program.otherwise or NO_PREDICTION]
    rules = [Prediction(branch.label, branch.name) for branch in program.branches]
    predictions = [*ends, *rules]  # the position -2 comes first
    type_name = _DUCKDB.label_type(program.classes, kind)
    place = f"{prefix}_k + 3"
    return (
        _picked([each.label for each in predictions], kind, type_name, place),
        _picked([each.rule for each in predictions], "text", "VARCHAR", place),
    )


def labels_at(
    place: str, labels: Sequence[Value], classes: Sequence[Value], kind: Kind
) -> str:
    """Return the label at a place, counted from 1; NULL where there is none."""
    return _picked(labels, kind, _DUCKDB.label_type(classes, kind), place)


def _picked(values: Sequence[Value], kind: Kind, type_name: str, place: str) -> str:
    literals = ", ".join(_literal(value, kind) for value in values)
    return f"CAST([{literals}] AS {type_name}[])[{place}]"


def _literal(value: Any, kind: Kind) -> str:
    return "NULL" if value is None else _DUCKDB.word(value, kind)
