"""Scorecards as DMN 1.3: tables of points with hit policy COLLECT and SUM.

A row of such a table tests one column and gives its points. The decision on the total
has the class and the total; it is null for rows outside the domain. FEEL has decimal
numbers of 34 digits, so all sums are exact.
"""

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from nn2rules.export.card_program import CardProgram, Line, Part, Rate, Region
from nn2rules.export.card_text import decisions, form_text, part_names, total_names
from nn2rules.export.columns import Column
from nn2rules.export.dmn import (
    TYPES,
    add_columns,
    add_decision,
    add_inputs,
    add_row,
    definitions,
    description,
)
from nn2rules.export.feel import (
    ANYTHING,
    literal,
    unary_test,
    unknown_test,
    variables,
)
from nn2rules.export.program import refuse_errors
from nn2rules.export.xml_text import add, document
from nn2rules.language import unused
from nn2rules.space import Value


def write(program: CardProgram) -> str:
    """Return a scorecard as a DMN file."""
    refuse_errors(program, "a decision of DMN")
    names = variables([column.name for column in program.columns])
    root = definitions("A scorecard of a neural network", program.card.digest)
    add(root, "description", description(program, names))
    writer = _Writer(program, names)
    writer.add_types(root)
    writer.add_decision(root)
    for place in range(len(program.parts)):
        writer.add_points(root, place)
    writer.add_outside(root)
    add_inputs(root, program, names)
    return document(root)


class _Writer:
    """Writes the decisions of a card. Names of its own are none of a column."""

    def __init__(self, program: CardProgram, names: Sequence[str]) -> None:
        self.program, self.names = program, names
        taken = [*names]
        for wanted in ("outside", *(f"points_{n + 1}" for n in self._places)):
            taken.append(unused(wanted, taken))
        self.outside, *self.points = taken[len(names) :]
        self.parts = [unused(name, taken) for name in part_names(program)]
        self.totals = [unused(name, taken) for name in total_names(program)]
        self.inputs = [f"input_{name}" for name in names]

    @property
    def _places(self) -> range:
        return range(len(self.program.parts))

    def add_types(self, root: Element) -> None:
        """Append the type of a prediction: the class and the totals."""
        kind = add(root, "itemDefinition", id="type_prediction", name="prediction")
        kinds = {"class": TYPES[self.program.label_kind]}
        kinds |= dict.fromkeys(self._total_keys(), "number")
        for name, type_name in kinds.items():
            part = add(kind, "itemComponent", id=f"type_{name}", name=name)
            add(part, "typeRef", type_name)

    def _total_keys(self) -> list[str]:
        return total_names(self.program)

    def add_decision(self, root: Element) -> None:
        """Append the decision on the total."""
        needs = [*self.points, self.outside]
        decision = add_decision(root, "decision", "prediction", needs)
        made = add(decision, "literalExpression", id="decision_expression")
        add(made, "text", self._expression())

    def _expression(self) -> str:
        """Return the class and the totals as a context, null outside the domain."""
        text = "null"
        if self.program.regions[-1].conditions:
            text = self._context([], "null")
        for region in reversed(self.program.regions):
            tests = [
                f"{form_text(form, self._counted(), literal)} >= {literal(least)}"
                for form, least in region.conditions
            ]
            outcome = self._outcome(region)
            text = (
                f"if {' and '.join(tests)} then {outcome} else {text}"
                if tests
                else outcome
            )
        return f"if {self.outside} then null else {text}"

    def _counted(self) -> list[str]:
        """Return what each part counts."""
        return [
            _counted(part, f"({literal(part.start)} + {points})")
            for part, points in zip(self.program.parts, self.points, strict=True)
        ]

    def _outcome(self, region: Region) -> str:
        totals = [
            f"({form_text(form, self._counted(), literal)})" for form in region.totals
        ]
        text = ""
        for test, label in decisions(self.program, region, totals, "and", literal):
            shown = literal(self._label(label))
            if not test:
                return self._context(totals, text + shown)
            text += f"if {test} then {shown} else "
        raise AssertionError("the last decision has no test")

    def _label(self, label: Value) -> Value:
        is_text = self.program.label_kind == "text" and label is not None
        return str(label) if is_text else label

    def _context(self, totals: Sequence[str], label: str) -> str:
        unit = f" / {self.program.unit}" if self.program.unit != 1 else ""
        shown = [f"{total}{unit}" for total in totals] or ["null"] * len(self.totals)
        pairs = zip(self._total_keys(), shown, strict=True)
        return f"{{class: {label}, {', '.join(f'{k}: {v}' for k, v in pairs)}}}"

    def add_points(self, root: Element, place: int) -> None:
        """Append the table of the points of a part."""
        name = self.points[place]
        decision = add_decision(root, name, "number", self.inputs)
        table = add(decision, "decisionTable", id=f"table_{name}")
        table.attrib |= {"hitPolicy": "COLLECT", "aggregation": "SUM"}
        add_columns(table, self.program, self.names)
        add(table, "output", id=f"output_{name}", name="points", typeRef="number")
        rows = list(self._rows(place))
        if not rows:
            rows = [("no points", [ANYTHING] * len(self.names), "0")]
        for number, (note, tests, points) in enumerate(rows, 1):
            add_row(table, number, note, tests, [points])

    def _rows(self, place: int) -> Iterator[tuple[str, list[str], str]]:
        columns, program = self.program.columns, self.program
        for index, (column, lines) in enumerate(
            zip(columns, program.lines, strict=True)
        ):
            for line in lines:
                tests = [ANYTHING] * len(columns)
                tests[index] = unary_test(column, line.cells, closed=True)
                points = self._points(self.names[index], line, place)
                yield column.name, tests, points

    def _points(self, name: str, line: Line, place: int) -> str:
        points = line.points[place]
        if not isinstance(points, Rate):
            return literal(points)
        product = f"{literal(points.top)} * {name}"
        if points.whole:
            return product
        inner = f"{product} + {literal(points.half)}"
        if points.bottom != 1:
            inner = f"({inner}) / {literal(points.bottom)}"
        return f"floor({inner})"

    def add_outside(self, root: Element) -> None:
        """Append the table that tells rows outside the domain."""
        decision = add_decision(root, self.outside, "boolean", self.inputs)
        table = add(decision, "decisionTable", id="table_outside", hitPolicy="FIRST")
        add_columns(table, self.program, self.names)
        add(table, "output", id="output_outside", name="outside", typeRef="boolean")
        rows = list(self._unknown(self.program.columns))
        rows.append(("on the domain", [ANYTHING] * len(self.names), "false"))
        for number, (note, tests, cell) in enumerate(rows, 1):
            add_row(table, number, note, tests, [cell])

    def _unknown(
        self, columns: Sequence[Column]
    ) -> Iterator[tuple[str, list[str], str]]:
        for index, column in enumerate(columns):
            test = unknown_test(column)
            if test is not None:
                tests = [ANYTHING] * len(columns)
                tests[index] = test
                yield f"outside the domain: {column.name}", tests, "true"


def _counted(part: Part, made: str) -> str:
    if part.below is not None:
        made = f"(if {made} < 0 then {literal(part.below)} * {made} else {made})"
    if part.low is not None:
        made = f"max({literal(part.low)}, {made})"
    if part.high is not None:
        made = f"min({literal(part.high)}, {made})"
    return made
