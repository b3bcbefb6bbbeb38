"""Rules as a rule set of PMML 4.4, in which the first rule that matches counts.

A rule set always predicts, so if some rows get no prediction, it is put into a model of
one segment, whose predicate is true of all rows that do get one.
"""

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from nn2rules.errors import UnsupportedModelError
from nn2rules.export.cells import Cells, Interval, complement
from nn2rules.export.columns import Column
from nn2rules.export.program import (
    NO_PREDICTION,
    Branch,
    Prediction,
    Program,
    RuleProgram,
    refuse_errors,
)
from nn2rules.export.xml_text import add, document, refuse_beyond
from nn2rules.language import unused
from nn2rules.space import Range, Value
from nn2rules.version import __version__

_TAME = re.compile(r"[\w.+/%-]+( [\w.+/%-]+)*", re.ASCII)


def text_of(value: Value) -> str:
    """Return a value as the text of an attribute."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = value if isinstance(value, str) else repr(value)
    refuse_beyond(text, "the value")
    return text


def predicate(column: Column, cells: Cells, *, closed: bool) -> Element:
    """Return what is true of some cells of a column.

    Unless it is closed, the cell is assumed to be known.
    """
    gaps = column.gaps
    if cells.negated:
        is_gap_out = not cells.missing and (closed or column.known.missing)
        inside = _outside(column, (*cells.words, *(gaps if is_gap_out else ())))
        return either([_is(column, "isMissing"), inside]) if cells.missing else inside
    parts = [_is(column, "isMissing")] if cells.missing else []
    words = (*cells.words, *(gaps if cells.missing else ()))
    parts += _among(column, words)
    parts += [_within(column, interval) for interval in cells.intervals]
    return either(parts)


def known(column: Column, fraction: str, cells: Cells | None = None) -> Element:
    """Return what is true of the cells on the domain, or of some of them.

    `fraction` is the field that holds what numbers have behind the point.
    """
    cells = column.known if cells is None else cells
    if not column.whole or not cells.intervals:
        return predicate(column, cells, closed=True)
    is_whole = _compare(fraction, "equal", "0")
    within = [_within(column, interval) for interval in cells.intervals]
    numbers = both([either(within), is_whole])
    rest = Cells(words=cells.words, missing=cells.missing)
    if rest.is_empty:
        return numbers
    return either([predicate(column, rest, closed=True), numbers])


def strange(column: Column, fraction: str) -> Element | None:
    """Return what is true of the cells outside the domain; None if there are none."""
    rest = complement(column.known)
    if column.kind == "truth":
        words = tuple(w for w in (False, True) if w not in column.known.words)
        rest = Cells(words=words, missing=rest.missing)
    parts = [] if rest.is_empty else [predicate(column, rest, closed=True)]
    if column.whole:
        is_broken = _compare(fraction, "notEqual", "0")
        special = [
            _compare(column.name, "notEqual", text_of(word))
            for word in column.known.words
        ]
        parts.append(both([is_broken, *special]))
    return either(parts) if parts else None


def both(parts: Sequence[Element]) -> Element:
    """Return what is true if all parts are."""
    return _joined("and", parts) if parts else Element("True")


def either(parts: Sequence[Element]) -> Element:
    """Return what is true if one of the parts is."""
    return _joined("or", parts) if parts else Element("False")


def _joined(how: str, parts: Sequence[Element]) -> Element:
    if len(parts) == 1:
        return parts[0]
    made = Element("CompoundPredicate", booleanOperator=how)
    for part in parts:
        is_same = part.tag == made.tag and part.attrib == made.attrib
        made.extend(list(part) if is_same else [part])
    return made


def _compare(field: str, operator: str, value: str) -> Element:
    return Element("SimplePredicate", field=field, operator=operator, value=value)


def _is(column: Column, operator: str) -> Element:
    return Element("SimplePredicate", field=column.name, operator=operator)


def _among(column: Column, words: Sequence[Value]) -> list[Element]:
    tame, others = _parted(column, words)
    parts = [_set(column, "isIn", tame)] if tame else []
    return [*parts, *(_compare(column.name, "equal", text) for text in others)]


def _outside(column: Column, words: Sequence[Value]) -> Element:
    if not words:
        return _is(column, "isNotMissing")
    tame, others = _parted(column, words)
    parts = [_set(column, "isNotIn", tame)] if tame else []
    parts += [_compare(column.name, "notEqual", text) for text in others]
    return both(parts)


def _parted(column: Column, words: Sequence[Value]) -> tuple[list[str], list[str]]:
    """Return the words for a list, and those that are compared one by one."""
    texts = [text_of(word) for word in words]
    is_text = column.kind != "number"
    tame = [text for text in texts if is_text and _TAME.fullmatch(text)]
    if len(tame) < 2:
        return [], texts
    return tame, [text for text in texts if text not in tame]


def _set(column: Column, operator: str, words: Sequence[str]) -> Element:
    made = Element("SimpleSetPredicate", field=column.name, booleanOperator=operator)
    listed = Element("Array", type="string", n=str(len(words)))
    listed.text = " ".join(f'"{word}"' for word in words)
    made.append(listed)
    return made


def _within(column: Column, interval: Interval) -> Element:
    """Return the numbers from one end to another."""
    ends = []
    if interval.low is not None:
        operator = "greaterThan" if interval.low_is_strict else "greaterOrEqual"
        ends.append(_compare(column.name, operator, text_of(interval.low)))
    if interval.high is not None:
        operator = "lessThan" if interval.high_is_strict else "lessOrEqual"
        ends.append(_compare(column.name, operator, text_of(interval.high)))
    return both(ends) if ends else _is(column, "isNotMissing")


SEGMENT = "rules"


@dataclass(frozen=True, slots=True)
class Names:
    """What the fields are called that are not the user's.

    `beside` is the rule, or the total of a scorecard.
    """

    target: str
    prediction: str
    beside: str
    fractions: tuple[str, ...]


def write(program: RuleProgram) -> str:
    """Return rules as a PMML file."""
    refuse_errors(program, "a rule set of PMML")
    names = names_of(program)
    root = start(program, "Rules of a neural network")
    _add_classes(add_dictionary(root, program, names), program)
    add_fractions(root, program, names)
    _add_model(root, program, names)
    return document(root)


def start(program: Program, description: str) -> Element:
    """Return a PMML file that only says what it is."""
    root = Element("PMML", {"xmlns": "http://www.dmg.org/PMML-4_4", "version": "4.4"})
    header = add(root, "Header", description=description)
    add(header, "Application", name="nn2rules", version=__version__)
    for key, sentence in program.about:
        add(header, "Annotation", f"{key}: {sentence}")
    return root


def names_of(program: Program, target: str = "class") -> Names:
    """Return names of fields that no column has."""
    taken = [column.name for column in program.columns]
    made = []
    wanted = [f"fraction of column {n}" for n in range(1, len(taken) + 1)]
    for name in (target, "prediction", program.beside[0], *wanted):
        made.append(unused(name, taken))
        taken.append(made[-1])
    return Names(made[0], made[1], made[2], tuple(made[3:]))


def add_dictionary(root: Element, program: Program, names: Names) -> Element:
    """Append the fields, with their valid values where engines agree on the others.

    The target, which comes last, is returned without its type.
    """
    fields = add(root, "DataDictionary", numberOfFields=str(len(program.columns) + 1))
    for column in program.columns:
        _refuse_name(column.name)
        is_number = column.kind == "number"
        field = add(fields, "DataField", name=column.name)
        field.set("optype", "continuous" if is_number else "categorical")
        field.set("dataType", "double" if is_number else "string")
        if _is_declared(column):
            for interval in column.known.intervals:
                ends = (text_of(interval.low), text_of(interval.high))
                both_in = add(field, "Interval", closure="closedClosed")
                both_in.attrib |= dict(
                    zip(("leftMargin", "rightMargin"), ends, strict=True)
                )
            for word in column.known.words:
                add(field, "Value", value=text_of(word))
    return add(fields, "DataField", name=names.target)


def _add_classes(target: Element, program: RuleProgram) -> None:
    """Let the target be a class."""
    target.attrib |= {"optype": "categorical", "dataType": label_type(program)}
    for label in program.classes:
        text = str(label) if program.label_kind == "text" else text_of(label)
        refuse_beyond(text, "the class")
        add(target, "Value", value=text)


def _refuse_name(name: str) -> None:
    if not name:
        raise UnsupportedModelError(
            "a column has no name, and a field of PMML must have one; name it"
        )
    refuse_beyond(name, "the name of the column")


def _is_declared(column: Column) -> bool:
    """Tell whether other cells can be taken for missing, both being outside.

    What is done with a value that is not declared is left to engines otherwise.
    """
    cells = column.known
    if cells.missing or cells.negated:
        return False
    if column.kind == "number":  # with values beside it, a range would not count
        return isinstance(column.feature, Range) and not cells.words
    return True


def label_type(program: Program) -> str:
    """Return the type of classes; true and false are texts, as columns of them are."""
    return "double" if program.label_kind == "number" else "string"


def add_fractions(root: Element, program: Program, names: Names) -> None:
    """Append what whole numbers have behind the point, to be compared with 0."""
    pairs = zip(program.columns, names.fractions, strict=True)
    whole = [(column, name) for column, name in pairs if column.whole]
    if not whole:
        return
    fields = add(root, "TransformationDictionary")
    for column, name in whole:
        field = add(fields, "DerivedField", name=name, optype="continuous")
        field.set("dataType", "double")
        apply = add(field, "Apply", function="modulo", mapMissingTo="0")
        add(apply, "FieldRef", field=column.name)
        add(apply, "Constant", "1", dataType="double")


def _add_model(root: Element, program: RuleProgram, names: Names) -> None:
    """Append the rule set, in a segment where some rows get no prediction."""
    unknown_cells, tests = _unknown_cells(program, names), _branch_tests(program)
    is_predicted = _predicted(program, names, unknown_cells, tests)
    parent = root
    if is_predicted is not None:
        outer = _added_model(root, "MiningModel", program, names, in_segment=True)
        segments = add(outer, "Segmentation", multipleModelMethod="selectFirst")
        parent = add(segments, "Segment", id=SEGMENT)
        parent.append(is_predicted)
    model = _added_model(parent, "RuleSetModel", program, names, in_segment=False)
    rules = add(model, "RuleSet")
    add(rules, "RuleSelectionMethod", criterion="firstHit")
    is_same = program.outside == program.otherwise != NO_PREDICTION
    if is_same and tests:  # the rule of both is the last; names of rules are unique
        rules = add(rules, "CompoundRule")
        rules.append(_known(program, names))
    elif program.outside != NO_PREDICTION and not is_same and unknown_cells is not None:
        _add_rule(rules, program.outside, unknown_cells)
    for branch, test in zip(program.branches, tests, strict=True):
        _add_rule(rules, Prediction(branch.label, branch.name), test)
    if program.otherwise != NO_PREDICTION:
        _add_rule(model[-1], program.otherwise, Element("True"))


def _added_model(
    parent: Element, kind: str, program: RuleProgram, names: Names, *, in_segment: bool
) -> Element:
    """Append a model with its fields, and return it."""
    model = add(parent, kind, functionName="classification", algorithmName="nn2rules")
    schema = add_schema(model, program)
    add(schema, "MiningField", name=names.target, usageType="target")
    output = add(model, "Output")
    kinds = {
        names.prediction: ("predictedValue", label_type(program)),
        names.beside: ("entityId", "string"),
    }
    for name, (feature, data_type) in kinds.items():
        field = add(output, "OutputField", name=name, optype="categorical")
        field.attrib |= {"dataType": data_type, "feature": feature}
    if in_segment:
        field.set("segmentId", SEGMENT)
    return model


def add_schema(model: Element, program: Program) -> Element:
    """Append the fields that a model reads, and return them."""
    schema = add(model, "MiningSchema")
    for column in program.columns:
        field = add(schema, "MiningField", name=column.name)
        field.set("missingValueTreatment", "asIs")
        invalid = "asMissing" if _is_declared(column) else "asIs"
        field.set("invalidValueTreatment", invalid)
    return schema


def _unknown_cells(program: RuleProgram, names: Names) -> Element | None:
    """Return what is true of rows outside the domain; None if there are none."""
    pairs = zip(program.columns, names.fractions, strict=True)
    parts = [strange(column, fraction) for column, fraction in pairs]
    found = [part for part in parts if part is not None]
    return either(found) if found else None


def _branch_tests(program: RuleProgram) -> list[Element]:
    return [_test(program.columns, branch) for branch in program.branches]


def _test(columns: Sequence[Column], branch: Branch) -> Element:
    tests = branch.tests.items()
    return both([predicate(columns[p], cells, closed=False) for p, cells in tests])


def _predicted(
    program: RuleProgram,
    names: Names,
    unknown_cells: Element | None,
    tests: list[Element],
) -> Element | None:
    """Return what is true of the rows that get a prediction; None if all do."""
    is_open = program.otherwise == NO_PREDICTION
    any_rule = either([deepcopy(test) for test in tests])
    if program.outside != NO_PREDICTION:
        if not is_open:
            return None
        return either(
            [*([] if unknown_cells is None else [deepcopy(unknown_cells)]), any_rule]
        )
    is_known = _known(program, names)
    return both([is_known, any_rule]) if is_open else is_known


def _known(program: RuleProgram, names: Names) -> Element:
    """Return what is true of rows of the domain."""
    pairs = zip(program.columns, names.fractions, strict=True)
    return both([known(c, name) for c, name in pairs if strange(c, name) is not None])


def _add_rule(rules: Element, prediction: Prediction | None, test: Element) -> None:
    assert prediction is not None, "errors are refused"
    assert prediction.rule is not None, "it is a prediction"
    refuse_beyond(prediction.rule, "the name of the rule")
    rule = add(rules, "SimpleRule", id=prediction.rule, score=text_of(prediction.label))
    rule.append(deepcopy(test))
