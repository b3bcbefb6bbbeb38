"""Scorecards as a `Scorecard` of PMML 4.4, with reason codes.

A characteristic is a feature, and the points of a number are a complex partial score.
The scorecard is in a segment for rows of the domain, so others have no score. The class
follows from the total, as an output field: of the scorecard and not of the model around
it, because JPMML refuses fields that refer to an output of a segment that did not run.
"""

from xml.etree.ElementTree import Element

from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.export.card_program import CardProgram, Line, Rate
from nn2rules.export.card_text import check_card_doubles, ordered_lines
from nn2rules.export.columns import Column
from nn2rules.export.pmml import (
    SEGMENT,
    Names,
    add_dictionary,
    add_fractions,
    add_schema,
    both,
    known,
    label_type,
    names_of,
    start,
    strange,
    text_of,
)
from nn2rules.export.program import refuse_errors
from nn2rules.export.xml_text import add, document
from nn2rules.language import unused
from nn2rules.scorecards.sums import reach_of
from nn2rules.space import Value

_MOST_REASONS = 4


def write(program: CardProgram) -> str:
    """Return a scorecard as a PMML file."""
    refuse_errors(program, "a scorecard of PMML")
    check_card_doubles(program, "PMML")
    if program.card.kind != "single" and not _is_one_column(program):
        raise OptionError(
            "a Scorecard of PMML has one column of points, and this card has several; "
            "use another format, such as 'sql' or 'onnx'"
        )
    if max(map(abs, program.parts[0].reach)) >= 2**31:
        raise UnsupportedModelError(
            "the printed points have more digits than engines of PMML add up exactly; "
            "scale the card with fewer digits, or export points='fine'"
        )
    names = names_of(program, "points")
    root = start(program, "A scorecard of a neural network")
    target = add_dictionary(root, program, names)
    target.attrib |= {"optype": "continuous", "dataType": "double"}
    add_fractions(root, program, names)
    _add_model(root, program, names)
    return document(root)


def _is_one_column(program: CardProgram) -> bool:
    """Tell whether the points of one card are the total."""
    return program.card.kind == "classes" and len(program.parts) == 1


def _add_model(root: Element, program: CardProgram, names: Names) -> None:
    """Append the scorecard, in a segment of rows of the domain."""
    pairs = zip(program.columns, names.fractions, strict=True)
    outer = add(
        root, "MiningModel", functionName="regression", algorithmName="nn2rules"
    )
    _add_fields(outer, program, names)
    segments = add(outer, "Segmentation", multipleModelMethod="selectFirst")
    segment = add(segments, "Segment", id=SEGMENT)
    tests = [known(c, name) for c, name in pairs if strange(c, name) is not None]
    segment.append(both(tests))
    _add_card(segment, program, names)


def _add_card(parent: Element, program: CardProgram, names: Names) -> None:
    model = add(
        parent, "Scorecard", functionName="regression", algorithmName="nn2rules"
    )
    model.attrib |= {
        "initialScore": str(program.parts[0].start),
        "useReasonCodes": "true",
        "reasonCodeAlgorithm": "pointsBelow",
        "baselineMethod": "max",
    }
    _add_fields(model, program, names)
    _add_output(model, program, names)
    found = add(model, "Characteristics")
    for place, (column, lines) in enumerate(
        zip(program.columns, program.lines, strict=True)
    ):
        most = reach_of(program.table.columns[0].points, program.table.blocks[place])[1]
        best = most / program.table.step
        one = add(found, "Characteristic", name=f"points of column {place + 1}")
        one.set("reasonCode", column.name)
        one.set("baselineScore", text_of(float(best)))
        for line in ordered_lines(lines):
            _add_attribute(one, column, line, names.fractions[place])


def _add_attribute(parent: Element, column: Column, line: Line, fraction: str) -> None:
    [points] = line.points
    attribute = add(parent, "Attribute")
    attribute.append(known(column, fraction, line.cells))
    if isinstance(points, int):
        attribute.set("partialScore", str(points))
        return
    partial = add(attribute, "ComplexPartialScore")
    _add_product(partial, column, points)


def _add_product(parent: Element, column: Column, rate: Rate) -> None:
    """Append the product of a number and its slope, rounded."""
    if not rate.whole:
        parent = add(parent, "Apply", function="floor")
        if rate.bottom != 1:
            parent = add(parent, "Apply", function="/")
        added = add(parent, "Apply", function="+")
        if rate.bottom != 1:
            _add_number(parent, rate.bottom)
        parent = added
    product = add(parent, "Apply", function="*")
    _add_number(product, rate.top)
    add(product, "FieldRef", field=column.name)
    if not rate.whole:
        _add_number(parent, rate.half)


def _add_fields(model: Element, program: CardProgram, names: Names) -> None:
    schema = add_schema(model, program)
    add(schema, "MiningField", name=names.target, usageType="target")


def _add_output(model: Element, program: CardProgram, names: Names) -> None:
    """Append the total, the class that it proves, and reason codes."""
    output = add(model, "Output")
    taken = [*(c.name for c in program.columns), names.prediction, names.beside]
    score = names.beside
    if program.unit != 1:
        score = unused("score", taken)
    field = add(output, "OutputField", name=score, optype="continuous")
    field.attrib |= {"dataType": "double", "feature": "predictedValue"}
    if program.unit != 1:
        field = add(output, "OutputField", name=names.beside, optype="continuous")
        field.attrib |= {"dataType": "double", "feature": "transformedValue"}
        divided = add(field, "Apply", function="/")
        add(divided, "FieldRef", field=score)
        _add_number(divided, program.unit)
    field = add(output, "OutputField", name=names.prediction, optype="categorical")
    field.attrib |= {"dataType": label_type(program), "feature": "transformedValue"}
    _add_class(field, program, score)
    for rank in range(1, min(_MOST_REASONS, len(program.columns)) + 1):
        name = unused(f"reason {rank}", [*taken, score])
        field = add(output, "OutputField", name=name, optype="categorical")
        field.attrib |= {"dataType": "string", "feature": "reasonCode"}
        field.attrib |= {"rank": str(rank)}


def _add_class(parent: Element, program: CardProgram, score: str) -> None:
    """Append the class that a score proves: comparisons, one within another."""
    [region] = program.regions
    signs = {">=": "greaterOrEqual", ">": "greaterThan"}
    for sign, number, label in program.steps(region):
        choice = add(parent, "Apply", function="if")
        compared = add(choice, "Apply", function=signs[sign])
        add(compared, "FieldRef", field=score)
        _add_number(compared, number)
        _add_label(choice, program, label)
        parent = choice
    _add_label(parent, program, region.label)


def _add_label(parent: Element, program: CardProgram, label: Value) -> None:
    if label is None:
        add(parent, "Constant", missing="true", dataType=label_type(program))
        return
    text = str(label) if program.label_kind == "text" else text_of(label)
    add(parent, "Constant", text, dataType=label_type(program))


def _add_number(parent: Element, number: float) -> None:
    add(parent, "Constant", text_of(float(number)), dataType="double")
