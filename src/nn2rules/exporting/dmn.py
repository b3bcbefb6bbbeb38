"""Rules as a decision table of DMN 1.3, as rule engines run it and modelers show it.

The hit policy says how rows of the table are taken together:

- FIRST: from the top. Rows for cells off the domain stand above the rules.
- UNIQUE: no two rows hold together, as rules are cut to pieces that do not overlap.
- ANY: rows that hold together say the same; so there is the class, and no rule.
- COLLECT: all rows that hold.

Under the last three, each row tests every column, since no row can stand above others;
and what no rule decides has rows of its own, as engines do not agree on defaults.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import BudgetExceededError, OptionError
from nn2rules.exporting.cells import Cells
from nn2rules.exporting.disjoint import disjoint, without
from nn2rules.exporting.dmn_file import Row, Table, table_text
from nn2rules.exporting.feel import ANYTHING, strangers_test, unary_test
from nn2rules.exporting.program import DEFAULT, NOTHING, Answer, Program

POLICIES = ("first", "any", "collect", "unique")

_LIMIT = 10_000  # rows; no modeler shows more


@dataclass(frozen=True, slots=True)
class _Piece:
    """Part of the inputs of a rule, with its answer."""

    box: NDArray[np.bool_]
    answer: Answer


def write(program: Program, *, hit_policy: str | None = None) -> str:
    """Return rules as a DMN file.

    Parameters
    ----------
    program : Program
    hit_policy : {"first", "any", "collect", "unique"}, optional
        "first" for a list and "any" for a set, if not given.
    """
    policy = _checked(program, hit_policy)
    _refuse_errors(program)
    rows = list(_first(program) if policy == "first" else _closed(program, policy))
    if not rows:
        rows = [Row((ANYTHING,) * len(program.columns), NOTHING, "no answer")]
    return table_text(program, Table(policy.upper(), tuple(rows), policy != "any"))


def _checked(program: Program, given: str | None) -> str:
    form = program.rules.form
    if given is None:
        return "first" if form == "list" else "any"
    if given not in POLICIES:
        raise OptionError(
            f"hit_policy: {given!r}, expected one of {', '.join(POLICIES)}"
        )
    if form == "list" and given in ("any", "collect"):
        raise OptionError(
            f"hit_policy: {given!r} takes rules in no order, and these are a list, "
            f"tried from the top; take 'first' or 'unique', or extract a set"
        )
    return given


def _refuse_errors(program: Program) -> None:
    for name, answer in (
        ("unknown", program.outside),
        ("undecided", program.otherwise),
    ):
        if answer is None:
            raise OptionError(
                f"{name}: 'error', and a decision table of DMN cannot raise an error; "
                f"take 'none' or 'default'"
            )


def _first(program: Program) -> Iterator[Row]:
    """Return rows to be tried from the top."""
    columns = program.columns
    assert program.outside is not None, "errors are refused"
    assert program.otherwise is not None, "errors are refused"
    for place, column in enumerate(columns):
        test = strangers_test(column)
        if test is not None:
            tests = [ANYTHING] * len(columns)
            tests[place] = test
            yield Row(tuple(tests), program.outside, f"off the domain: {column.name}")
    for branch in program.branches:
        if any(cells.is_nothing for cells in branch.tests.values()):
            continue
        tests = [
            unary_test(column, branch.tests[place], closed=False)
            if place in branch.tests
            else ANYTHING
            for place, column in enumerate(columns)
        ]
        yield Row(tuple(tests), Answer(branch.label, branch.name), branch.name)
    note = program.otherwise.rule or "no rule decides"
    yield Row((ANYTHING,) * len(columns), program.otherwise, note)


def _closed(program: Program, policy: str) -> Iterator[Row]:
    """Return rows in no order: each tests every column."""
    yield from _strangers(program, is_apart=policy != "any")
    for piece in _pieces(program, policy):
        tests = _tests(program, piece.box)
        if tests is not None:
            yield Row(tests, piece.answer, str(piece.answer.rule))


def _strangers(program: Program, *, is_apart: bool) -> Iterator[Row]:
    """Return rows for cells off the domain, where those are answered.

    Rows that are to be apart hold known cells in the columns before.
    """
    assert program.outside is not None, "errors are refused"
    if program.outside == NOTHING:
        return
    columns = program.columns
    known = [unary_test(column, column.known, closed=True) for column in columns]
    for place, column in enumerate(columns):
        test = strangers_test(column)
        if test is not None:
            before = known[:place] if is_apart else [ANYTHING] * place
            after = [ANYTHING] * (len(columns) - place - 1)
            yield Row(
                (*before, test, *after),
                program.outside,
                f"off the domain: {column.name}",
            )


def _pieces(program: Program, policy: str) -> Iterator[_Piece]:
    """Return boxes with their answers: rules, and what no rule decides."""
    rules, offsets = program.rules, program.rules.domain.offsets.tolist()
    answers = [Answer(branch.label, branch.name) for branch in program.branches]
    boxes = [box[None] for box in rules.boxes]
    everything = np.ones(offsets[-1], dtype=np.bool_)
    assert program.otherwise is not None, "errors are refused"
    try:
        if policy == "unique":
            boxes = disjoint(rules.boxes, offsets, limit=_LIMIT)
        if program.otherwise != NOTHING:
            boxes.append(without(everything, rules.boxes, offsets, limit=_LIMIT))
            answers.append(program.otherwise)
    except BudgetExceededError:
        what = "rules" if policy == "unique" else f"the {DEFAULT}"
        raise OptionError(
            f"hit_policy: {policy!r} would need more than {_LIMIT:,} rows for {what}, "
            f"cut to pieces that do not overlap; 'first' needs one for each rule, and "
            f"gives the same class to every input"
        ) from None
    for pieces, answer in zip(boxes, answers, strict=True):
        for box in pieces:
            yield _Piece(box, answer)


def _tests(program: Program, box: NDArray[np.bool_]) -> tuple[str, ...] | None:
    """Return a test for each column; None if no cell can pass one of them."""
    offsets: Sequence[int] = program.rules.domain.offsets.tolist()
    tests = []
    for place, column in enumerate(program.columns):
        allowed = box[offsets[place] : offsets[place + 1]]
        cells: Cells = column.cells(allowed, closed=True)
        if cells.is_nothing:
            return None
        tests.append(unary_test(column, cells, closed=True))
    return tuple(tests)
