"""Rules as SQL of DuckDB over words of bits: one operation for each rule and word.

Hundreds of rules as conditions take DuckDB several times as long as these, see
`bits` for what they mean and ``benchmarks/results.md`` for the measurement.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from nn2rules.export.bits import OUTSIDE_BIT, Bit, Bits
from nn2rules.export.cells import Kind
from nn2rules.export.columns import Column
from nn2rules.export.program import NOTHING, Answer, Program
from nn2rules.export.sql_dialects import DIALECTS
from nn2rules.export.sql_tests import value_test

OPEN, OUTSIDE = -1, -2
"""Positions of a row that no rule decides, and of one off the domain."""

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
    """Return whether a cell is off the domain, of a column without the first word."""
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
    bits: Bits, prefix: str, *, outside: str = str(OUTSIDE), undecided: str = str(OPEN)
) -> str:
    """Return the position of the first rule that decides a row.

    What `outside` and `undecided` rows get may be an error.
    """
    lines = []
    for position, words in enumerate(bits.forbidden):
        tests = [
            f"({prefix}_w{word} & {mask}) = 0"
            for word, mask in enumerate(words)
            if mask
        ]
        lines.append(f"WHEN {' AND '.join(tests) or 'TRUE'} THEN {position}")
    inner = "\n".join(["CASE", *lines, f"ELSE {undecided} END"]) if lines else undecided
    is_outside = f"({prefix}_w0 & {OUTSIDE_BIT}) <> 0"
    return f"CAST(CASE WHEN {is_outside} THEN {outside} ELSE {inner} END AS INTEGER)"


def answers_at(program: Program, prefix: str, kind: Kind) -> tuple[str, str]:
    """Return the class, of a kind, and the rule at the position of a row."""
    ends = [program.outside or NOTHING, program.otherwise or NOTHING]
    rules = [Answer(branch.label, branch.name) for branch in program.branches]
    answers = [*ends, *rules]  # the position -2 comes first
    type_name = _DUCKDB.label_type(program.rules.classes, kind)
    labels = [_literal(each.label, kind) for each in answers]
    names = [_literal(each.rule, "text") for each in answers]
    return (
        f"CAST([{', '.join(labels)}] AS {type_name}[])[{prefix}_k + 3]",
        f"CAST([{', '.join(names)}] AS VARCHAR[])[{prefix}_k + 3]",
    )


def _literal(value: Any, kind: Kind) -> str:
    return "NULL" if value is None else _DUCKDB.word(value, kind)
