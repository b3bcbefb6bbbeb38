"""The rules and the network, compared on some inputs.

Inputs are compared a chunk at a time, and chunks do not depend on each other. Results
are counted in the order of the inputs, regardless of which worker compared them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nn2rules.checker.claims import untrue
from nn2rules.checker.curves import number_from
from nn2rules.checker.read import Box, Codes, Floats, Read, holds
from nn2rules.checker.report import Counterexample
from nn2rules.checker.run_network import UNDECIDED, classify
from nn2rules.network import Network
from nn2rules.space import Curved, Value, plain_number

SHOWN = 5
"""Counterexamples kept."""

_DEFAULT = -1  # in place of a rule: none holds


class Seen(NamedTuple):
    """The result for a chunk of inputs.

    Attributes
    ----------
    wrong : list of Counterexample
        The first few of the inputs that are predicted differently.
    untrue : list of (int, Counterexample)
        Rules that are wrong alone although they claim not to be, each with an input.
    """

    inputs: int
    checked: int
    different: int
    undecided: int
    impossible: int
    uncovered: int
    unmet: int
    reached: Codes
    wrong: list[Counterexample]
    untrue: list[tuple[int, Counterexample]]


@dataclass(frozen=True)
class Pair:
    """The rules and the network, by which all inputs are compared.

    `chunk` is how many inputs are compared at a time.
    """

    network: Network
    read: Read
    names: Sequence[str]
    left_out: list[Box]
    unless: dict[int, list[int]]
    is_whole: bool
    any_order: bool
    is_two_sided: bool
    chunk: int

    def tile(self, tile: tuple[int, int]) -> list[Seen]:
        """Compare the inputs of the domain from one to another, by their numbers."""
        unless = dict(self.unless)
        return [
            self.seen(
                self.network.domain.codes_of(
                    np.arange(at, min(at + self.chunk, tile[1]))
                ),
                None,
                unless,
            )
            for at in range(*tile, self.chunk)
        ]

    def given(self, inputs: tuple[Codes, Floats | None]) -> list[Seen]:
        """Compare given inputs."""
        (codes, numbers), unless = inputs, dict(self.unless)
        return [
            self.seen(
                codes[at : at + self.chunk],
                None if numbers is None else numbers[at : at + self.chunk],
                unless,
            )
            for at in range(0, len(codes), self.chunk)
        ]

    def seen(
        self, codes: Codes, numbers: Floats | None, unless: dict[int, list[int]]
    ) -> Seen:
        """Compare a chunk; rules that are found untrue are taken from `unless`."""
        n_inputs, answers = len(codes), self.read.answers
        cells = self.read.cells(codes, numbers)
        possible = np.ones(len(codes), dtype=np.bool_)
        for box in self.left_out:
            possible &= ~holds(box, cells)
        codes, cells = codes[possible], cells[possible]
        numbers = None if numbers is None else numbers[possible]
        expected = classify(self.network, codes, numbers)
        fired = self._fired(cells, expected)
        left = (fired == _DEFAULT) & (not self.is_whole)
        undecided = (expected == UNDECIDED) & ~left
        wrong = (answers[fired] != expected) & ~left & ~undecided
        is_unmet = self.is_whole and self.is_two_sided

        def example(index: int, rule: int) -> Counterexample:
            amounts = None if numbers is None else numbers[index]
            row = self._row(codes[index], amounts)
            return self._example(row, int(expected[index]), rule)

        false = untrue(self.read, unless, cells, expected)
        for _, rule in false:
            unless.pop(rule)
        shown = np.flatnonzero(wrong)[:SHOWN].tolist()
        return Seen(
            inputs=n_inputs,
            checked=int((~left & ~undecided).sum()),
            different=int(wrong.sum()),
            undecided=int(undecided.sum()),
            impossible=int((~possible).sum()),
            uncovered=int(left.sum()),
            unmet=int((fired == _DEFAULT).sum()) if is_unmet else 0,
            reached=np.unique(fired[(fired != _DEFAULT) & ~undecided]),
            wrong=[example(index, int(fired[index])) for index in shown],
            untrue=[(rule, example(index, rule)) for index, rule in false],
        )

    def _fired(self, codes: Codes, expected: Codes) -> Codes:
        """Return which rule determines each prediction: the first that covers it.

        If the order means nothing, a wrong rule that covers it counts before others.
        """
        fired = np.full(len(codes), _DEFAULT)
        is_open = np.ones(len(codes), dtype=np.bool_)
        still_open, columns = np.arange(len(codes)), codes.T.copy()
        for number, box in enumerate(self.read.boxes):
            inside = still_open
            for feature, allowed in box.items():
                inside = inside[allowed[columns[feature][inside]]]
            fired[inside] = number
            if self.any_order:
                inside = inside[expected[inside] != self.read.answers[number]]
            if len(inside):
                is_open[inside] = False
                still_open = still_open[is_open[still_open]]
        return fired

    def _row(self, codes: Codes, numbers: Floats | None) -> dict[str, Value]:
        """Return an input as the user writes it."""
        row: dict[str, Value] = {}
        for place, feature in enumerate(self.network.domain.features):
            row[feature.name] = feature.values[codes[place]]
            if numbers is not None and place in self.read.starts and not codes[place]:
                number = float(numbers[place])
                if isinstance(feature, Curved):
                    number = number_from(feature.curve, number)
                row[feature.name] = plain_number(number)
        return row

    def _example(
        self, row: dict[str, Value], expected: int, fired: int
    ) -> Counterexample:
        labels = self.network.classes
        rule = None if fired == _DEFAULT else fired
        answer = labels[self.read.answers[fired]]
        name = "" if rule is None else self.names[rule]
        return Counterexample(row, labels[expected], answer, rule, name)


def tile_seen(pair: Pair, tile: tuple[int, int], _: object) -> list[Seen]:
    """Compare a tile of the domain, as a task."""
    return pair.tile(tile)


def given_seen(
    pair: Pair, inputs: tuple[Codes, Floats | None], _: object
) -> list[Seen]:
    """Compare given inputs, as a task."""
    return pair.given(inputs)
