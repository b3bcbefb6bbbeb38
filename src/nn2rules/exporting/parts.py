"""Cells that no test tells apart: the parts of a column.

However many cells a column can hold, rules ask few questions about it. Cells that all
of them answer alike are a *part*, so a table with a row for each part says all that a
rule needs to know of a cell: whether its test fails.
"""

import math
from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from nn2rules.exporting.cells import Cells
from nn2rules.exporting.columns import Column
from nn2rules.exporting.program import Program
from nn2rules.text import unused
from nn2rules.values import Value

Table = NDArray[np.uint8]
"""A row for each part. Its columns are the rules, the default, and *off the domain*: 1
where the test of a rule fails. The first column without any 1 answers."""


def words_of(program: Program, place: int) -> tuple[str, ...]:
    """Return every text that a column is compared with."""
    found = chain.from_iterable(cells.words for cells in _questions(program, place))
    return tuple(dict.fromkeys(word for word in found if isinstance(word, str)))


def table_of_words(program: Program, place: int) -> Table:
    """Return the parts of a column of texts: its words, any other text, missing."""
    words = words_of(program, place)
    return _table(program, place, [*words, unused("unlisted", words), None])


def cuts_of(program: Program, place: int) -> list[float]:
    """Return the numbers at which parts of a column of numbers begin.

    A part reaches from one of them to below the next. What is *above* a number begins
    at the float after it.
    """
    cuts: set[float] = set()
    for cells in _questions(program, place):
        for word in cells.words:
            cuts |= {_float(word), _after(word)}
        for each in cells.intervals:
            if each.low is not None:
                cuts.add(_after(each.low) if each.low_is_strict else _float(each.low))
            if each.high is not None:
                cuts.add(
                    _float(each.high) if each.high_is_strict else _after(each.high)
                )
    return sorted(cuts)


def table_of_numbers(program: Program, place: int) -> Table:
    """Return the parts of a column of numbers, or of true and false as 1 and 0.

    The first is below all cuts. If the column is of whole numbers, the same parts come
    again, for their numbers with a fraction. The last row is for missing.
    """
    starts = [-math.inf, *cuts_of(program, place)]
    cells: list[Value] = [*starts]
    if program.columns[place].whole:
        cells = [math.ceil(s) if math.isfinite(s) else s for s in starts]
        cells += map(_first_fraction, starts)
    return _table(program, place, [*cells, None])


def table_of_codes(program: Program, place: int) -> Table:
    """Return a row for each code of a feature, and one for any other."""
    start, stop = program.rules.domain.offsets[place : place + 2].tolist()
    table = np.zeros((stop - start + 1, len(program.branches) + 2), dtype=np.uint8)
    table[:-1, :-2] = ~program.rules.boxes[:, start:stop].T
    table[-1, :-1] = 1
    return table


def _table(program: Program, place: int, cells: list[Value]) -> Table:
    column = program.columns[place]
    table = np.zeros((len(cells), len(program.branches) + 2), dtype=np.uint8)
    fails: dict[Cells, list[bool]] = {}
    for index, branch in enumerate(program.branches):
        test = branch.tests.get(place)
        if test is None:
            continue
        if test not in fails:
            fails[test] = [not test.hold(cell) for cell in cells]
        table[:, index] = fails[test]
    off = [not _knows(column, cell) for cell in cells]
    table[off, :-1] = 1
    return table


def _knows(column: Column, cell: Value) -> bool:
    is_infinite = isinstance(cell, float) and math.isinf(cell)
    return column.known.hold(cell) if is_infinite else column.knows(cell)


def _questions(program: Program, place: int) -> Iterator[Cells]:
    yield program.columns[place].known
    for branch in program.branches:
        if place in branch.tests:
            yield branch.tests[place]


def _first_fraction(start: float) -> float:
    """Return the first number with a fraction from a number on, if there is one."""
    if math.isfinite(start) and start % 1:
        return start
    return _after(max(start, -(2.0**52)))  # there is none below


def _float(number: Value) -> float:
    return float(number)  # type: ignore[arg-type]


def _after(number: Value) -> float:
    return math.nextafter(_float(number), math.inf)
