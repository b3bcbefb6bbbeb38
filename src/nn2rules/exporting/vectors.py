"""Test vectors: inputs with the class and the rule that the receiving team must get."""

from collections.abc import Iterator

import numpy as np

from nn2rules.exporting.examples import examples, strangers
from nn2rules.exporting.program import Answer, Program
from nn2rules.formats.table import table_text
from nn2rules.text import unused
from nn2rules.values import Value

Row = dict[str, Value]

_OFF = 10  # every so many rows, one is off the domain


def vectors_of(program: Program, n_rows: int) -> list[tuple[Row, Answer | None]]:
    """Return inputs with their answers; None stands for an error.

    Rules take turns, so each decides some; numbers are at the ends of bins as often as
    between; now and then a cell is off the domain. The same program gives the same
    vectors.
    """
    rows = _rows(program)
    drawn = (next(rows) for _ in range(n_rows))
    return [(row, program.answer(row)) for row in drawn]


def _rows(program: Program) -> Iterator[Row]:
    draw = np.random.default_rng(0)
    cells = [examples(column) for column in program.columns]
    odd = [(place, strangers(c)) for place, c in enumerate(program.columns)]
    odd = [(place, found) for place, found in odd if found]
    boxes = program.rules.boxes
    offsets = program.rules.domain.offsets.tolist()
    number = 0
    while True:
        row: list[Value] = []
        for place, choices in enumerate(cells):
            codes = np.arange(len(choices))
            if len(boxes):
                box = boxes[number % len(boxes), offsets[place] : offsets[place + 1]]
                codes = np.flatnonzero(box)
            values = choices[int(draw.choice(codes))]
            row.append(values[int(draw.integers(len(values)))])
        number += 1
        if odd and number % _OFF == 0:
            place, found = odd[int(draw.integers(len(odd)))]
            row[place] = found[int(draw.integers(len(found)))]
        names = (column.name for column in program.columns)
        yield dict(zip(names, row, strict=True))


def vectors_text(program: Program, n_rows: int) -> str:
    """Return test vectors as CSV: the columns, the class and the rule.

    No answer is two empty cells, and an error the rule ``error``.
    """
    names = [column.name for column in program.columns]
    header = [*names, *(unused(name, names) for name in ("prediction", "rule"))]
    lines = []
    for row, answer in vectors_of(program, n_rows):
        label, rule = ("", "error") if answer is None else (answer.label, answer.rule)
        lines.append([_text(cell) for cell in (*row.values(), label, rule)])
    return table_text(header, lines)


def _text(cell: Value) -> str:
    return "" if cell is None else str(cell)
