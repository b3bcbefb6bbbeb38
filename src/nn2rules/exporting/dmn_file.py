"""A decision table as a file of DMN: the model, and the diagram that modelers show."""

import json
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from nn2rules.exporting.feel import literal, variables
from nn2rules.exporting.header import header_of
from nn2rules.exporting.program import Answer, Program
from nn2rules.exporting.xml_text import add, document, shown
from nn2rules.version import __version__

_MODEL = "https://www.omg.org/spec/DMN/20191111/MODEL/"
_PREFIXES = {
    "dmndi": "https://www.omg.org/spec/DMN/20191111/DMNDI/",
    "dc": "http://www.omg.org/spec/DMN/20180521/DC/",
    "di": "http://www.omg.org/spec/DMN/20180521/DI/",
}
_TYPES = {"text": "string", "number": "number", "truth": "boolean"}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a decision table: a test for each column, the answer, and a note."""

    tests: tuple[str, ...]
    answer: Answer
    note: str


@dataclass(frozen=True, slots=True)
class Table:
    """A decision table; the rule that answers is told beside the class, or is not."""

    hit_policy: str
    rows: tuple[Row, ...]
    has_rule: bool


def table_text(program: Program, table: Table) -> str:
    """Return a decision table as the text of a DMN file."""
    names = variables([column.name for column in program.columns])
    root = Element(
        "definitions",
        {
            "xmlns": _MODEL,
            **{f"xmlns:{prefix}": uri for prefix, uri in _PREFIXES.items()},
            "id": "definitions",
            "name": "Rules of a neural network",
            "namespace": f"urn:nn2rules:{program.rules.digest}",
            "exporter": "nn2rules",
            "exporterVersion": __version__,
        },
    )
    add(root, "description", _description(program, names))
    _add_types(root, program, table)
    decision = add(root, "decision", id="decision", name="decision")
    kind = "answer" if table.has_rule else _TYPES[program.label_kind]
    if table.hit_policy == "COLLECT":
        kind = "answers"
    add(decision, "variable", id="decision_variable", name="decision", typeRef=kind)
    for name in names:
        need = add(decision, "informationRequirement", id=f"need_{name}")
        add(need, "requiredInput", href=f"#input_{name}")
    _add_table(decision, program, table, names)
    for name, column in zip(names, program.columns, strict=True):
        data = add(root, "inputData", id=f"input_{name}", name=name)
        data.set("label", shown(column.name))
        variable = add(data, "variable", id=f"variable_{name}", name=name)
        variable.set("typeRef", _TYPES[column.kind])
    _add_diagram(root, names)
    return document(root)


def _description(program: Program, names: tuple[str, ...]) -> str:
    """Return the header, and which variable is which column."""
    columns = [column.name for column in program.columns]
    pairs = dict(zip(names, columns, strict=True))
    lines = [f"{key}: {sentence}" for key, sentence in header_of(program)]
    lines.append(f"columns, by variable: {json.dumps(pairs)}")
    return "\n".join(lines)


def _add_types(root: Element, program: Program, table: Table) -> None:
    """Append the type of an answer that is a class and a rule."""
    if not table.has_rule:
        return
    answer = add(root, "itemDefinition", id="type_answer", name="answer")
    for name, kind in (("class", program.label_kind), ("rule", "text")):
        part = add(answer, "itemComponent", id=f"type_{name}", name=name)
        add(part, "typeRef", _TYPES[kind])
    if table.hit_policy == "COLLECT":
        many = add(root, "itemDefinition", id="type_answers", name="answers")
        many.set("isCollection", "true")
        add(many, "typeRef", "answer")


def _add_table(
    decision: Element, program: Program, table: Table, names: tuple[str, ...]
) -> None:
    made = add(decision, "decisionTable", id="table", hitPolicy=table.hit_policy)
    for name, column in zip(names, program.columns, strict=True):
        given = add(made, "input", id=f"column_{name}", label=shown(column.name))
        expression = add(given, "inputExpression", id=f"expression_{name}")
        expression.set("typeRef", _TYPES[column.kind])
        add(expression, "text", name)
    outputs = {"class": _TYPES[program.label_kind], "rule": "string"}
    for name in outputs if table.has_rule else ("class",):
        add(made, "output", id=f"output_{name}", name=name, typeRef=outputs[name])
    for number, row in enumerate(table.rows, 1):
        line = add(made, "rule", id=f"row_{number}")
        add(line, "description", shown(row.note))
        for place, test in enumerate(row.tests, 1):
            cell = add(line, "inputEntry", id=f"row_{number}_in_{place}")
            add(cell, "text", test)
        told = (row.answer.label, row.answer.rule)[: 1 + table.has_rule]
        for place, value in enumerate(told, 1):
            cell = add(line, "outputEntry", id=f"row_{number}_out_{place}")
            add(cell, "text", literal(value))


_WIDTH, _HEIGHT, _GAP, _MARGIN = 150, 50, 30, 100
_TOP, _BELOW = 100, 300  # where the decision stands, and the inputs under it


def _add_diagram(root: Element, names: tuple[str, ...]) -> None:
    """Append where the decision and its inputs stand, and the arrows between them."""
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
