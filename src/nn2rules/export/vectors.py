"""Test vectors: inputs with their class and rule, for the receiving team."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

from nn2rules.export.card_program import CardProgram
from nn2rules.export.cells import LARGEST
from nn2rules.export.columns import Column
from nn2rules.export.program import Prediction, Program
from nn2rules.files import table_text
from nn2rules.language import unused
from nn2rules.space import (
    Grouped,
    Intervals,
    Range,
    Value,
    next_number,
    plain_number,
    previous_number,
)

_UNLISTED = ("unlisted", "unlisted_", "Unlisted value")


def examples(column: Column) -> list[list[Value]]:
    """Return, for each value of the feature, some cells that are this value.

    Examples
    --------
    >>> from nn2rules.export.columns import column_of
    >>> from nn2rules.space.feature import Feature
    >>> examples(column_of(Feature.bins("age", [25, 40], whole=True, missing=True)))
    [[24, 23], [25, 39, 32], [40, 41], [None]]
    """
    feature = column.feature
    found: list[list[Value]] = []
    for code, value in enumerate(feature.values):
        if code < feature.n_intervals:
            found.append(_numbers(column, code))
        elif isinstance(feature, Grouped):
            found.append(list(feature.groups[code]))
        else:
            found.append([] if value == feature.other is not None else [value])
        if None in found[-1]:
            found[-1] += column.gaps
        if feature.is_other(value):
            found[-1] += _unlisted(column)
    return found


def unknown_cells(column: Column) -> list[Value]:
    """Return cells of the column's kind that are outside the domain.

    Missing cells are among them, if they are outside the domain, in every spelling.
    """
    cells: list[Value] = [None]
    if column.kind == "text":
        cells += [*_unlisted(column), *column.gaps]
    if column.kind == "number":
        cells += [*_beyond(column), 0.5, -(2.0**60), 2.0**60, *_unlisted(column)]
    return [
        cell
        for cell in dict.fromkeys(cells)
        if not column.knows(None if cell in column.gaps else cell)
    ]


def _beyond(column: Column) -> list[Value]:
    """Return the numbers next to the limits of a range."""
    if not isinstance(column.feature, Range):
        return []
    low, high = column.feature.limits
    if column.whole:
        return [low - 1, high + 1, low + 0.5]
    return [
        float(previous_number(low, whole=False)),
        float(next_number(high, whole=False)),
    ]


def _unlisted(column: Column) -> list[Value]:
    """Return cells that are not listed."""
    feature = column.feature
    known: set[Value] = {*feature.categories, *feature.values}
    if column.kind == "truth":
        return []
    if column.kind == "text":
        return [next(text for text in _UNLISTED if text not in known)]
    free = (n for n in range(-1_000_003, -1_000_003 + len(known) + 2))
    return [next(number for number in free if number not in known)]


def _numbers(column: Column, code: int) -> list[Value]:
    """Return the first, the last and a middle number of a bin."""
    feature = column.feature
    assert isinstance(feature, Intervals), "asked only of bins"
    least, most = feature.limits if isinstance(feature, Range) else (None, None)
    starts: list[float | None] = [least, *feature.edges]
    low, above = starts[code], [*feature.edges, None][code]
    high = most if above is None else previous_number(above, whole=feature.whole)
    step = 1 if feature.whole else 0.5
    cells: list[float] = [0]
    if low is None and high is not None:
        cells = [high, max(high - step, -LARGEST)]
    elif low is not None and high is None:
        cells = [low, min(low + step, LARGEST)]
    elif low is not None and high is not None:
        middle = low + (high - low) / 2
        cells = [low, high, math.floor(middle) if feature.whole else middle]
    inside = [plain_number(cell) for cell in cells]
    return list(dict.fromkeys(inside))


Row = dict[str, Value]
Codes = NDArray[np.int64]

_TURN = 8  # of this many rows, one is drawn anywhere and one is outside the domain
_TRIES = (16, 256)  # inputs of a rule to try, until no rule before it covers one
_CANDIDATES = 16  # inputs, of which the one is taken that is closest to a change
_STEPS = 100_000  # of the search for such an input, where drawing finds none


def vectors_of(program: Program, n_rows: int) -> list[tuple[Row, Prediction | None]]:
    """Return inputs with their predictions; None means an error.

    Rules take turns, and each gets an input whose prediction it determines, unless none
    is found. From time to time an input is drawn from the whole domain, so that the
    default is used, too, or has a cell outside the domain: all kinds of those take
    turns. Numbers are at the ends of bins as often as between. Cells that a CSV file
    cannot distinguish from others are left out. The same program gives the same
    vectors.

    Of a scorecard, every second input is close to where the prediction changes. If a
    number alone changes it, the number is the last before the change, or the first
    after it.
    """
    drawn = _Drawing(program, np.random.default_rng(0)).rows()
    return [(row, program.predict(row)) for row in islice(drawn, n_rows)]


@dataclass(frozen=True)
class _Drawing:
    """Inputs of a program, drawn by turns."""

    program: Program
    draw: np.random.Generator

    def rows(self) -> Iterator[Row]:
        """Yield inputs without end."""
        n_rules, rule, stranger = len(self.program.boxes), 0, 0
        for turn in count():
            is_off = bool(self._unknown_cells) and turn % _TURN == _TURN - 1
            is_free = turn % _TURN == _TURN // 2 or is_off or not n_rules
            codes = (
                self._anywhere(1)[0] if is_free else self._determined(rule % n_rules)
            )
            row = self._row(codes)
            if isinstance(self.program, CardProgram) and turn % 2 and not is_off:
                row = self._close(self.program, after=bool(turn // 2 % 2))
            if is_off:
                name, cell = self._unknown_cells[stranger % len(self._unknown_cells)]
                row[name] = cell
            rule, stranger = rule + (not is_free), stranger + is_off
            yield row

    def _close(self, program: CardProgram, *, after: bool) -> Row:
        """Draw an input that is close to where the prediction changes."""

        def distance(row: Row) -> float:
            return program.distance(program.cells_of(row))

        rows = map(self._row, self._anywhere(_CANDIDATES))
        row = min(rows, key=distance)
        for place in self.draw.permutation(len(program.columns)).tolist():
            column = program.columns[place]
            if isinstance(column.feature, Range):
                ends = self._change(row, column)
                if ends is not None:
                    return {**row, column.name: ends[after]}
        return row

    def _change(self, row: Row, column: Column) -> tuple[Value, Value] | None:
        """Return two numbers of a range, next to each other, of different labels."""

        def label(number: float) -> Value:
            found = self.program.predict({**row, column.name: plain_number(number)})
            return None if found is None else found.label

        assert isinstance(column.feature, Range), "only ranges have limits"
        low, high = map(float, column.feature.limits)
        first = label(low)
        if label(high) == first:
            return None
        while True:
            middle = low + (high - low) / 2
            middle = float(math.floor(middle)) if column.whole else middle
            if not low < middle < high:
                return plain_number(low), plain_number(high)
            low, high = (middle, high) if label(middle) == first else (low, middle)

    @cached_property
    def _cells(self) -> list[list[list[Value]]]:
        """Of each value of each column, cells that a CSV file can hold."""
        return [
            [[c for c in cells if c is not None or not self._mixes(p)] for cells in own]
            for p, own in enumerate(map(examples, self.program.columns))
        ]

    @cached_property
    def _unknown_cells(self) -> list[tuple[str, Value]]:
        return [
            (column.name, cell)
            for place, column in enumerate(self.program.columns)
            for cell in unknown_cells(column)
            if cell is not None or not self._mixes(place)
        ]

    def _mixes(self, place: int) -> bool:
        """Tell whether an empty text is a value, and not missing."""
        column = self.program.columns[place]
        return column.kind == "text" and "" not in column.gaps

    def _row(self, codes: Codes) -> Row:
        row: Row = {}
        for place, column in enumerate(self.program.columns):
            cells = self._cells[place][codes[place]]
            row[column.name] = cells[int(self.draw.integers(len(cells)))]
        return row

    def _anywhere(self, number: int, rule: int | None = None) -> Codes:
        """Draw inputs of a rule, or of the domain, as codes."""
        offsets = self.program.offsets
        columns = []
        for place, cells in enumerate(self._cells):
            can_be = np.array([bool(own) for own in cells])
            if rule is not None:
                box = self.program.boxes[rule]
                inside = can_be & box[offsets[place] : offsets[place + 1]]
                can_be = inside if inside.any() else can_be
            columns.append(self.draw.choice(np.flatnonzero(can_be), size=number))
        return np.stack(columns, axis=1)

    def _determined(self, rule: int) -> Codes:
        """Draw an input that a rule determines; if none is found, one it covers."""
        offsets = self.program.offsets[:-1]
        before = self.program.boxes[:rule]
        for number in _TRIES:
            codes = self._anywhere(number, rule)
            taken = np.ones((rule, number), dtype=np.bool_)
            for place, offset in enumerate(offsets):
                taken &= before[:, offset + codes[:, place]]
            free = np.flatnonzero(~taken.any(axis=0))
            if free.size:
                chosen: Codes = codes[free[0]]
                return chosen
        some: Codes = codes[0]
        for place, code in self._searched(rule).items():
            some[place] = code
        return some

    def _searched(self, rule: int) -> dict[int, int]:
        """Return values that no rule before this one allows, if they are found."""
        offsets = self.program.offsets
        boxes = self.program.boxes
        masks = [
            {
                code: _bits(boxes[:rule, offsets[place] + code])
                for code, own in enumerate(cells)
                if own and boxes[rule, offsets[place] + code]
            }
            for place, cells in enumerate(self._cells)
        ]
        everywhere = frozenset(range(len(masks)))
        return _fixed(masks, (1 << rule) - 1, everywhere, count()) or {}


def _fixed(
    masks: list[dict[int, int]], left: int, places: frozenset[int], steps: Iterator[int]
) -> dict[int, int] | None:
    """Return values of some columns that no rule allows of those that are `left`.

    Rules are the bits of whole numbers; `masks` has those that allow a value.
    """
    if not left:
        return {}
    fewest = [
        (min((left & mask).bit_count() for mask in masks[place].values()), place)
        for place in places
        if masks[place]
    ]
    if not fewest or next(steps) > _STEPS:
        return None
    _, place = min(fewest)
    rests = [(left & mask, code) for code, mask in masks[place].items()]
    for rest, code in sorted(rests, key=lambda pair: pair[0].bit_count()):
        found = _fixed(masks, rest, places - {place}, steps)
        if found is not None:
            return {place: code, **found}
    return None


def _bits(flags: NDArray[np.bool_]) -> int:
    """Return flags as the bits of a whole number."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def vectors_text(program: Program, n_rows: int) -> str:
    """Return test vectors as CSV: the columns, the class, and the rule or the totals.

    Without a prediction these cells are empty; after the class, an error has ``error``.
    """
    header = [column.name for column in program.columns]
    for name in ("prediction", *program.beside):
        header.append(unused(name, header))
    failed: list[Value] = [None, "error", *[None] * (len(program.beside) - 1)]
    lines = []
    for row, found in vectors_of(program, n_rows):
        own = failed if found is None else [found.label, *found.beside]
        lines.append([_text(cell) for cell in (*row.values(), *own)])
    return table_text(header, lines)


def _text(cell: Value) -> str:
    return "" if cell is None else str(cell)
