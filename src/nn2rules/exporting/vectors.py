"""Test vectors: inputs with the class and the rule that the receiving team must get."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

from nn2rules.exporting.examples import examples, strangers
from nn2rules.exporting.program import Answer, Program
from nn2rules.formats.table import table_text
from nn2rules.text import unused
from nn2rules.values import Value

Row = dict[str, Value]
Codes = NDArray[np.int64]

_TURN = 8  # of so many rows, one is drawn anywhere, one is off the domain
_TRIES = (16, 256)  # inputs of a rule, until one is not decided before it
_STEPS = 100_000  # of the search for such an input, where drawing finds none


def vectors_of(program: Program, n_rows: int) -> list[tuple[Row, Answer | None]]:
    """Return inputs with their answers; None stands for an error.

    Rules take turns, and each gets an input that it decides, unless none is found. Now
    and then an input is drawn from the whole domain, which the default may decide, and
    now and then one has a cell off the domain: all kinds of those take turns, too.
    Numbers are at the ends of bins as often as between. Cells that a CSV file cannot
    tell from others are left out. The same program gives the same vectors.
    """
    drawn = _Drawing(program, np.random.default_rng(0)).rows()
    return [(row, program.answer(row)) for row in islice(drawn, n_rows)]


@dataclass(frozen=True)
class _Drawing:
    """Inputs of a program, drawn by turns."""

    program: Program
    draw: np.random.Generator

    def rows(self) -> Iterator[Row]:
        """Yield inputs without end."""
        n_rules, rule, stranger = len(self.program.branches), 0, 0
        for turn in count():
            is_off = bool(self._strangers) and turn % _TURN == _TURN - 1
            is_free = turn % _TURN == _TURN // 2 or is_off or not n_rules
            codes = self._anywhere(1)[0] if is_free else self._decided(rule % n_rules)
            row = self._row(codes)
            if is_off:
                name, cell = self._strangers[stranger % len(self._strangers)]
                row[name] = cell
            rule, stranger = rule + (not is_free), stranger + is_off
            yield row

    @cached_property
    def _cells(self) -> list[list[list[Value]]]:
        """Of each value of each column, cells that a CSV file can hold."""
        return [
            [[c for c in cells if c is not None or not self._mixes(p)] for cells in own]
            for p, own in enumerate(map(examples, self.program.columns))
        ]

    @cached_property
    def _strangers(self) -> list[tuple[str, Value]]:
        return [
            (column.name, cell)
            for place, column in enumerate(self.program.columns)
            for cell in strangers(column)
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
        offsets = self.program.rules.domain.offsets.tolist()
        columns = []
        for place, cells in enumerate(self._cells):
            can_be = np.array([bool(own) for own in cells])
            if rule is not None:
                box = self.program.rules.boxes[rule]
                inside = can_be & box[offsets[place] : offsets[place + 1]]
                can_be = inside if inside.any() else can_be
            columns.append(self.draw.choice(np.flatnonzero(can_be), size=number))
        return np.stack(columns, axis=1)

    def _decided(self, rule: int) -> Codes:
        """Draw an input that a rule decides; if none is found, one that it allows."""
        offsets = self.program.rules.domain.offsets[:-1]
        before = self.program.rules.boxes[:rule]
        for number in _TRIES:
            codes = self._anywhere(number, rule)
            taken = np.ones((rule, number), dtype=np.bool_)
            for place, offset in enumerate(offsets.tolist()):
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
        """Return values by which a rule is rid of all before it, if they are found."""
        offsets = self.program.rules.domain.offsets.tolist()
        boxes = self.program.rules.boxes
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
