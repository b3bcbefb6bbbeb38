"""Scorecards as ONNX models: points are looked up, added, and compared, in float64.

Each cell becomes the number of its part, as for rules; a table has the points of the
parts. Points are whole numbers, so the order of sums makes no difference.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nn2rules.errors import UnsupportedModelError
from nn2rules.export.card_program import CardProgram, Form, Part, Rate, Region
from nn2rules.export.card_text import check_card_doubles
from nn2rules.export.onnx import (
    VALUES,
    check,
    describe,
    graph_of,
    info,
    input_name,
    knows,
    labels_tensor,
    model_of,
    number_index,
    numbers_of,
    serialized,
    texts_of,
    type_of,
    word_index,
)

_OUTPUTS = (
    "A row without a prediction has the class {none}; a total that is not there is NaN."
)


def write(program: CardProgram, *, missing: str = "") -> bytes:
    """Return a scorecard as an ONNX model, in bytes.

    Parameters
    ----------
    program : CardProgram
    missing : str
        The text that is missing in columns of texts, which have no other.
    """
    check_card_doubles(program, "ONNX")
    check(program, missing, is_read=True)
    if program.label_kind == "text" and "" in program.labels:
        raise UnsupportedModelError(
            "a class is an empty text, which an ONNX model gives for no prediction; "
            "rename the class"
        )
    return serialized(lambda: _Writer(program, missing).model())


class _Writer:
    """The steps from columns to the class and the totals."""

    def __init__(self, program: CardProgram, missing: str) -> None:
        self.program, self.missing = program, missing
        self.graph = graph_of(program)

    def model(self) -> Any:
        """Return the model."""
        program = self.program
        kinds = {"text": "STRING", "number": "DOUBLE", "truth": "DOUBLE"}
        given = [
            info(input_name(program, place), kinds[column.kind])
            for place, column in enumerate(program.columns)
        ]
        sums, outside = self._sums()
        counted = [
            self._counted(part, total)
            for part, total in zip(program.parts, sums, strict=True)
        ]
        position, totals = self._by_regions(counted, outside)
        outputs = self._outputs(position, totals, outside)
        model = model_of(self.graph, "scorecard", given, outputs)
        texts = (VALUES.format(missing=ascii(self.missing)), _OUTPUTS)
        describe(model, program, "A scorecard", texts, self.missing)
        return model

    def _number(self, number: float) -> str:
        return self.graph.tensor(np.float64(number))

    def _sums(self) -> tuple[list[str], str]:
        """Return the sum of each part, and which rows are outside the domain."""
        graph, program = self.graph, self.program
        sums = [""] * len(program.parts)
        outside = ""
        for place, column in enumerate(program.columns):
            if column.kind == "text":
                cells = texts_of(program, place)
                index = word_index(program, place, graph, self.missing)
            else:
                cells = numbers_of(program, place)
                index = number_index(program, place, graph, len(cells))
            lines = [self._line(place, cell) for cell in cells]
            unknown = graph.tensor(np.array([line < 0 for line in lines]))
            is_outside = graph.node("Gather", [unknown, index])
            outside = graph.node("Or", [outside, is_outside]) if outside else is_outside
            for part in range(len(sums)):
                made = self._points(place, part, lines, index)
                sums[part] = (
                    graph.node("Add", [sums[part], made])
                    if sums[part]
                    else (
                        graph.node(
                            "Add", [self._number(program.parts[part].start), made]
                        )
                    )
                )
        return sums, outside

    def _line(self, place: int, cell: Any) -> int:
        """Return the line of a cell; -1 for one outside the domain."""
        if not knows(self.program.columns[place], cell):
            return -1
        lines = self.program.lines[place]
        return next(n for n, line in enumerate(lines) if line.cells.matches(cell))

    def _points(self, place: int, part: int, lines: list[int], index: str) -> str:
        """Return the points of a column in a part."""
        graph, own = self.graph, self.program.lines[place]
        given = [own[line].points[part] if line >= 0 else 0 for line in lines]
        table = [0.0 if isinstance(p, Rate) else float(p) for p in given]
        points = graph.node("Gather", [graph.tensor(np.array(table)), index])
        rates = [p for p in given if isinstance(p, Rate)]
        if not rates:
            return points
        is_slope = graph.tensor(np.array([isinstance(p, Rate) for p in given]))
        name = input_name(self.program, place)
        product = graph.node("Mul", [self._number(rates[0].top), name])
        if not rates[0].whole:
            product = graph.node("Add", [product, self._number(rates[0].half)])
            product = graph.node("Div", [product, self._number(rates[0].bottom)])
            product = graph.node("Floor", [product])
        has_slope = graph.node("Gather", [is_slope, index])
        return graph.node("Where", [has_slope, product, points])

    def _counted(self, part: Part, total: str) -> str:
        """Return what the sums of a part count."""
        graph = self.graph
        if part.below is not None:
            smaller = graph.node("Mul", [self._number(part.below), total])
            is_below = graph.node("Less", [total, self._number(0)])
            total = graph.node("Where", [is_below, smaller, total])
        if part.low is not None:
            low = self._number(part.low)
            is_below = graph.node("Less", [total, low])
            total = graph.node("Where", [is_below, low, total])
        if part.high is not None:
            high = self._number(part.high)
            is_above = graph.node("Greater", [total, high])
            total = graph.node("Where", [is_above, high, total])
        return total

    def _form(self, form: Form, counted: Sequence[str], outside: str) -> str:
        """Return a sum of parts, in the order of the form."""
        graph = self.graph
        start = graph.tensor(np.array([float(form.start)] * 2))
        flag = graph.node("Cast", [outside], to=type_of("INT64"))
        total = graph.node("Gather", [start, flag])
        for place, weight in form.weights:
            product = graph.node("Mul", [self._number(weight), counted[place]])
            total = graph.node("Add", [total, product])
        return total

    def _is_at_least(self, total: str, end: str) -> str:
        is_below = self.graph.node("Less", [total, end])
        return self.graph.node("Not", [is_below])

    def _by_regions(
        self, counted: Sequence[str], outside: str
    ) -> tuple[str, list[str]]:
        """Return the position of the class of each row, and the totals."""
        graph, n_totals = self.graph, len(self.program.beside)
        position, totals = "", [""] * n_totals
        if self.program.regions[-1].conditions:
            position, totals = self._position(None), [self._number(np.nan)] * n_totals
        for region in reversed(self.program.regions):
            made = [self._form(form, counted, outside) for form in region.totals]
            decided = self._decided(region, made)
            shown = made or [self._number(np.nan)] * len(totals)
            if not region.conditions:
                position, totals = decided, shown
                continue
            here = ""
            for form, least in region.conditions:
                value = self._form(form, counted, outside)
                holds = self._is_at_least(value, self._number(least))
                here = graph.node("And", [here, holds]) if here else holds
            position = graph.node("Where", [here, decided, position])
            totals = [
                graph.node("Where", [here, own, total])
                for own, total in zip(shown, totals, strict=True)
            ]
        return position, totals

    def _decided(self, region: Region, totals: Sequence[str]) -> str:
        """Return the position of the class that totals prove."""
        graph, program = self.graph, self.program
        if region.margin is not None:
            return self._furthest(region.margin, totals)
        position = self._position(region.label)
        for sign, number, label in reversed(program.steps(region)):
            end = self._number(number)
            if sign == ">=":
                holds = self._is_at_least(totals[0], end)
            else:
                holds = graph.node("Greater", [totals[0], end])
            position = graph.node("Where", [holds, self._position(label), position])
        return position

    def _furthest(self, margin: float, totals: Sequence[str]) -> str:
        """Return the position of the total that is ahead of all others."""
        graph, is_near = self.graph, self.program.between == "nearest"
        position = self._position(None)
        for place in reversed(range(len(totals))):
            ahead = ""
            for other, total in enumerate(totals):
                if other == place:
                    continue
                lead = graph.node("Sub", [totals[place], total])
                end = self._number(0 if is_near else margin)
                holds = self._is_at_least(lead, end)
                ahead = graph.node("And", [ahead, holds]) if ahead else holds
            own = graph.tensor(np.int64(place))
            position = graph.node("Where", [ahead, own, position])
        return position

    def _position(self, label: Any) -> str:
        places = [p for p, each in enumerate(self.program.labels) if each is label]
        place = places[0] if label is not None else len(self.program.labels)
        return self.graph.tensor(np.int64(place))

    def _outputs(self, position: str, totals: Sequence[str], outside: str) -> list[Any]:
        """Give the class and the totals of each row."""
        from onnx import helper

        graph, program = self.graph, self.program
        nothing = self._position(None)
        position = graph.node("Where", [outside, nothing, position])
        labels, kind = labels_tensor(program, graph, [*program.labels, None])
        name = graph.name("class")
        graph.nodes.append(helper.make_node("Gather", [labels, position], [name]))
        outputs = [info(name, kind)]
        taken = [*graph.taken, name]
        for wanted, total in zip(program.beside, totals, strict=True):
            name = graph.name(wanted)
            while name in taken:
                name += "_"
            taken.append(name)
            points = graph.node("Div", [total, self._number(program.unit)])
            inputs = [outside, self._number(np.nan), points]
            graph.nodes.append(helper.make_node("Where", inputs, [name]))
            outputs.append(info(name, "DOUBLE"))
        return outputs
