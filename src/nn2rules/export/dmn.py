"""Rules as a DMN 1.3 decision table, as rule engines run it and modelers show it.

The hit policy defines how the rows of the table are combined:

- FIRST: from the top. Rows for cells outside the domain are above the rules.
- UNIQUE: no two rows match together, because rules are cut into disjoint pieces.
- ANY: rows that match together have the same class; so there is no rule in the output.
- COLLECT: all rows that match.

With the last three, each row tests every column, because no row is above others; and
inputs that no rule covers have their own rows, because engines differ on defaults.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import BudgetExceededError, OptionError
from nn2rules.export.cells import Cells
from nn2rules.export.disjoint import disjoint, without
from nn2rules.export.feel import (
    ANYTHING,
    literal,
    unary_test,
    unknown_test,
    variables,
)
from nn2rules.export.program import (
    DEFAULT,
    NO_PREDICTION,
    Prediction,
    Program,
    RuleProgram,
    refuse_errors,
)
from nn2rules.export.xml_text import add, document, shown
from nn2rules.version import __version__

_MODEL = "https://www.omg.org/spec/DMN/20191111/MODEL/"
_PREFIXES = {
    "dmndi": "https://www.omg.org/spec/DMN/20191111/DMNDI/",
    "dc": "http://www.omg.org/spec/DMN/20180521/DC/",
    "di": "http://www.omg.org/spec/DMN/20180521/DI/",
}
TYPES = {"text": "string", "number": "number", "truth": "boolean"}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a decision table: a test for each column, the prediction, and a note."""

    tests: tuple[str, ...]
    prediction: Prediction
    note: str


@dataclass(frozen=True, slots=True)
class Table:
    """A decision table, with the rule beside the class or without it."""

    hit_policy: str
    rows: tuple[Row, ...]
    has_rule: bool


def table_text(program: RuleProgram, table: Table) -> str:
    """Return a decision table as the text of a DMN file."""
    names = variables([column.name for column in program.columns])
    root = definitions("Rules of a neural network", program.rules.digest)
    add(root, "description", description(program, names))
    _add_types(root, program, table)
    decision = add(root, "decision", id="decision", name="decision")
    kind = "prediction" if table.has_rule else TYPES[program.label_kind]
    if table.hit_policy == "COLLECT":
        kind = "predictions"
    add(decision, "variable", id="decision_variable", name="decision", typeRef=kind)
    for name in names:
        need = add(decision, "informationRequirement", id=f"need_{name}")
        add(need, "requiredInput", href=f"#input_{name}")
    _add_table(decision, program, table, names)
    add_inputs(root, program, names)
    _add_diagram(root, names)
    return document(root)


def definitions(name: str, digest: str) -> Element:
    """Return a DMN file without content."""
    return Element(
        "definitions",
        {
            "xmlns": _MODEL,
            **{f"xmlns:{prefix}": uri for prefix, uri in _PREFIXES.items()},
            "id": "definitions",
            "name": name,
            "namespace": f"urn:nn2rules:{digest}",
            "exporter": "nn2rules",
            "exporterVersion": __version__,
        },
    )


def add_inputs(root: Element, program: Program, names: Sequence[str]) -> None:
    """Append an input for each column."""
    for name, column in zip(names, program.columns, strict=True):
        data = add(root, "inputData", id=f"input_{name}", name=name)
        data.set("label", shown(column.name))
        variable = add(data, "variable", id=f"variable_{name}", name=name)
        variable.set("typeRef", TYPES[column.kind])


def add_decision(root: Element, name: str, kind: str, needs: Sequence[str]) -> Element:
    """Append a decision that needs others, and inputs, by the ids of these."""
    decision = add(root, "decision", id=name, name=name)
    add(decision, "variable", id=f"{name}_variable", name=name, typeRef=kind)
    for need in needs:
        required = add(decision, "informationRequirement", id=f"{name}_needs_{need}")
        is_input = need.startswith("input_")
        what = "requiredInput" if is_input else "requiredDecision"
        add(required, what, href=f"#{need}")
    return decision


def add_columns(made: Element, program: Program, names: Sequence[str]) -> None:
    """Append the columns of a decision table that are tested."""
    for name, column in zip(names, program.columns, strict=True):
        given = add(made, "input", label=shown(column.name))
        given.set("id", f"{made.attrib['id']}_column_{name}")
        expression = add(given, "inputExpression")
        expression.attrib |= {
            "id": f"{made.attrib['id']}_expression_{name}",
            "typeRef": TYPES[column.kind],
        }
        add(expression, "text", name)


def add_row(
    made: Element, number: int, note: str, tests: Sequence[str], cells: Sequence[str]
) -> None:
    """Append a row of a decision table."""
    start = f"{made.attrib['id']}_{number}"
    line = add(made, "rule", id=start)
    add(line, "description", shown(note))
    for place, test in enumerate(tests, 1):
        add(add(line, "inputEntry", id=f"{start}_in_{place}"), "text", test)
    for place, text in enumerate(cells, 1):
        add(add(line, "outputEntry", id=f"{start}_out_{place}"), "text", text)


def description(program: Program, names: tuple[str, ...]) -> str:
    """Return the header, and which variable is which column."""
    columns = [column.name for column in program.columns]
    pairs = dict(zip(names, columns, strict=True))
    lines = [f"{key}: {sentence}" for key, sentence in program.about]
    lines.append(f"columns, by variable: {json.dumps(pairs)}")
    return "\n".join(lines)


def _add_types(root: Element, program: RuleProgram, table: Table) -> None:
    """Append the type of a prediction that has a class and a rule."""
    if not table.has_rule:
        return
    prediction = add(root, "itemDefinition", id="type_prediction", name="prediction")
    for name, kind in (("class", program.label_kind), ("rule", "text")):
        part = add(prediction, "itemComponent", id=f"type_{name}", name=name)
        add(part, "typeRef", TYPES[kind])
    if table.hit_policy == "COLLECT":
        many = add(root, "itemDefinition", id="type_predictions", name="predictions")
        many.set("isCollection", "true")
        add(many, "typeRef", "prediction")


def _add_table(
    decision: Element, program: RuleProgram, table: Table, names: tuple[str, ...]
) -> None:
    made = add(decision, "decisionTable", id="table", hitPolicy=table.hit_policy)
    for name, column in zip(names, program.columns, strict=True):
        given = add(made, "input", id=f"column_{name}", label=shown(column.name))
        expression = add(given, "inputExpression", id=f"expression_{name}")
        expression.set("typeRef", TYPES[column.kind])
        add(expression, "text", name)
    outputs = {"class": TYPES[program.label_kind], "rule": "string"}
    for name in outputs if table.has_rule else ("class",):
        add(made, "output", id=f"output_{name}", name=name, typeRef=outputs[name])
    for number, row in enumerate(table.rows, 1):
        line = add(made, "rule", id=f"row_{number}")
        add(line, "description", shown(row.note))
        for place, test in enumerate(row.tests, 1):
            cell = add(line, "inputEntry", id=f"row_{number}_in_{place}")
            add(cell, "text", test)
        cells = (row.prediction.label, row.prediction.rule)[: 1 + table.has_rule]
        for place, value in enumerate(cells, 1):
            cell = add(line, "outputEntry", id=f"row_{number}_out_{place}")
            add(cell, "text", literal(value))


_WIDTH, _HEIGHT, _GAP, _MARGIN = 150, 50, 30, 100
_TOP, _BELOW = 100, 300  # of the decision, and of the inputs below it


def _add_diagram(root: Element, names: tuple[str, ...]) -> None:
    """Append the positions of the decision and its inputs, and the arrows."""
    diagram = add(
        add(root, "dmndi:DMNDI"), "dmndi:DMNDiagram", id="diagram", name="diagram"
    )
    across = len(names) * (_WIDTH + _GAP) - _GAP
    left = _MARGIN + (across - _WIDTH) // 2
    _add_shape(diagram, "decision", left, _TOP)
    for place, name in enumerate(names):
        at = _MARGIN + place * (_WIDTH + _GAP)
        _add_shape(diagram, f"input_{name}", at, _BELOW)
        edge = add(diagram, "dmndi:DMNEdge", id=f"edge_{name}")
        edge.set("dmnElementRef", f"need_{name}")
        _add_point(edge, at + _WIDTH // 2, _BELOW)
        _add_point(edge, left + _WIDTH // 2, _TOP + _HEIGHT)


def _add_shape(diagram: Element, element: str, x: int, y: int) -> None:
    shape = add(diagram, "dmndi:DMNShape", id=f"shape_{element}", dmnElementRef=element)
    size = {"width": str(_WIDTH), "height": str(_HEIGHT)}
    add(shape, "dc:Bounds", x=str(x), y=str(y), **size)


def _add_point(edge: Element, x: int, y: int) -> None:
    add(edge, "di:waypoint", x=str(x), y=str(y))


POLICIES = ("first", "any", "collect", "unique")

_LIMIT = 10_000  # rows; no modeler shows more


@dataclass(frozen=True, slots=True)
class _Piece:
    """Part of the inputs of a rule, with its prediction."""

    box: NDArray[np.bool_]
    prediction: Prediction


def write(program: RuleProgram, *, hit_policy: str | None = None) -> str:
    """Return rules as a DMN file.

    Parameters
    ----------
    program : RuleProgram
    hit_policy : {"first", "any", "collect", "unique"}, optional
        "first" for a list and "any" for a set, if not given.
    """
    policy = _checked(program, hit_policy)
    refuse_errors(program, "a decision table of DMN")
    rows = list(_first(program) if policy == "first" else _closed(program, policy))
    if not rows:
        rows = [Row((ANYTHING,) * len(program.columns), NO_PREDICTION, "no prediction")]
    return table_text(program, Table(policy.upper(), tuple(rows), policy != "any"))


def _checked(program: RuleProgram, given: str | None) -> str:
    form = program.rules.form
    if given is None:
        return "first" if form == "list" else "any"
    if given not in POLICIES:
        raise OptionError(
            f"hit_policy: {given!r}, expected one of {', '.join(POLICIES)}"
        )
    if form == "list" and given in ("any", "collect"):
        raise OptionError(
            f"hit_policy: {given!r} is for rules in any order, but these are a list, "
            f"tried from the top; use 'first' or 'unique', or extract a set"
        )
    return given


def _first(program: RuleProgram) -> Iterator[Row]:
    """Return rows to be tried from the top."""
    columns = program.columns
    assert program.outside is not None, "errors are refused"
    assert program.otherwise is not None, "errors are refused"
    for place, column in enumerate(columns):
        test = unknown_test(column)
        if test is not None:
            tests = [ANYTHING] * len(columns)
            tests[place] = test
            yield Row(
                tuple(tests), program.outside, f"outside the domain: {column.name}"
            )
    for branch in program.branches:
        if any(cells.is_empty for cells in branch.tests.values()):
            continue
        tests = [
            unary_test(column, branch.tests[place], closed=False)
            if place in branch.tests
            else ANYTHING
            for place, column in enumerate(columns)
        ]
        yield Row(tuple(tests), Prediction(branch.label, branch.name), branch.name)
    note = program.otherwise.rule or "no rule covers"
    yield Row((ANYTHING,) * len(columns), program.otherwise, note)


def _closed(program: RuleProgram, policy: str) -> Iterator[Row]:
    """Return rows in no order: each tests every column."""
    yield from _unknown_cells(program, is_disjoint=policy != "any")
    for piece in _pieces(program, policy):
        tests = _tests(program, piece.box)
        if tests is not None:
            yield Row(tests, piece.prediction, str(piece.prediction.rule))


def _unknown_cells(program: RuleProgram, *, is_disjoint: bool) -> Iterator[Row]:
    """Return rows for cells outside the domain, if those get a prediction.

    Disjoint rows have known cells in the columns before.
    """
    assert program.outside is not None, "errors are refused"
    if program.outside == NO_PREDICTION:
        return
    columns = program.columns
    known = [unary_test(column, column.known, closed=True) for column in columns]
    for place, column in enumerate(columns):
        test = unknown_test(column)
        if test is not None:
            before = known[:place] if is_disjoint else [ANYTHING] * place
            after = [ANYTHING] * (len(columns) - place - 1)
            yield Row(
                (*before, test, *after),
                program.outside,
                f"outside the domain: {column.name}",
            )


def _pieces(program: RuleProgram, policy: str) -> Iterator[_Piece]:
    """Return boxes with their predictions: rules, and what no rule covers."""
    offsets = program.offsets
    predictions = [Prediction(branch.label, branch.name) for branch in program.branches]
    boxes = [box[None] for box in program.boxes]
    everything = np.ones(offsets[-1], dtype=np.bool_)
    assert program.otherwise is not None, "errors are refused"
    try:
        if policy == "unique":
            boxes = disjoint(program.boxes, offsets, limit=_LIMIT)
        if program.otherwise != NO_PREDICTION:
            boxes.append(without(everything, program.boxes, offsets, limit=_LIMIT))
            predictions.append(program.otherwise)
    except BudgetExceededError:
        what = "rules" if policy == "unique" else f"the {DEFAULT}"
        raise OptionError(
            f"hit_policy: {policy!r} would need more than {_LIMIT:,} rows for {what}, "
            f"cut into disjoint pieces; 'first' needs one row for each rule, and "
            f"predicts the same class for every input"
        ) from None
    for pieces, prediction in zip(boxes, predictions, strict=True):
        for box in pieces:
            yield _Piece(box, prediction)


def _tests(program: RuleProgram, box: NDArray[np.bool_]) -> tuple[str, ...] | None:
    """Return a test for each column; None if no cell can pass one of them."""
    offsets = program.offsets
    tests = []
    for place, column in enumerate(program.columns):
        allowed = box[offsets[place] : offsets[place + 1]]
        cells: Cells = column.cells(allowed, closed=True)
        if cells.is_empty:
            return None
        tests.append(unary_test(column, cells, closed=True))
    return tuple(tests)
