"""Rules and scorecards as ES modules: one file each, for browsers and servers.

Every text of the user's is a literal of ASCII. Nothing in the file can end a script
element, so it may also be part of a web page. Numbers have 64 bits there as here.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from nn2rules.export.card_code import Language, card_body
from nn2rules.export.card_program import CardProgram
from nn2rules.export.card_text import check_card_doubles, own_names
from nn2rules.export.cells import Cells, Interval
from nn2rules.export.columns import Column
from nn2rules.export.program import Prediction, Program, RuleProgram
from nn2rules.export.program_text import (
    check_doubles,
    remarks,
    selective_tests,
    variables,
)
from nn2rules.space import Value

End: TypeAlias = Callable[[Prediction | None, str], str]
"""The statement that ends with a prediction, or with an error that tells a fact."""

_TYPES = {"text": "string", "number": "number", "truth": "boolean"}
_RESERVED = (
    *(
        "row",
        "cell",
        "predict",
        "predictWithRule",
        "predictWithTotals",
        "Math",
        "undefined",
        "NaN",
        "Infinity",
        "Number",
    ),
    *("arguments", "await", "break", "case", "catch", "class", "const", "continue"),
    *("debugger", "default", "delete", "do", "else", "enum", "eval", "export"),
    *("extends", "false", "finally", "for", "function", "if", "implements", "import"),
    *("in", "instanceof", "interface", "let", "new", "null", "package", "private"),
    *("protected", "public", "return", "static", "super", "switch", "this", "throw"),
    *("true", "try", "typeof", "var", "void", "while", "with", "yield"),
)
_WIDTH = 88

_HEAD = """\
// {what}
//
{header}
//
// A row maps the names of columns to cells. null, undefined and NaN are missing{gaps}.

/**
 * Return the class of a row, or null if there is no prediction.
 *
 * @param {{Readonly<Record<string, unknown>>}} row
 * @returns {{{label} | null}}
 */
export function predict(row) {{
  return {function}(row).class;
}}

/**
 * Return the class of a row, and {more}.
 *
 * @param {{Readonly<Record<string, unknown>>}} row
 * @returns {{{{ class: {label} | null, {beside} }}}}
 */
export function {function}(row) {{
{body}
}}

"""

_CELL = """\
/**
 * Return a cell of a row, or null if it is missing.
 *
 * @param {Readonly<Record<string, unknown>>} row
 * @param {string} name
 * @param {"string" | "number" | "boolean"} type
 * @param {unknown[]} gaps
 * @returns {any}
 */
function cell(row, name, type, gaps = []) {
  if (!(name in row)) {
    throw new TypeError(`the row has no column ${JSON.stringify(name)}`);
  }
  const value = row[name];
  if (value === null || value === undefined || Number.isNaN(value)) {
    return null;
  }
  if (typeof value !== type) {
    throw new TypeError(
      `column ${JSON.stringify(name)} has a ${typeof value}, expected a ` + type,
    );
  }
  return gaps.includes(value) ? null : value;
}
"""


def write(program: RuleProgram) -> str:
    """Return rules as the text of an ES module."""
    check_doubles(program, "JavaScript")
    body = [*_cells(program), *_guards(program, _end), *_rules(program)]
    words = {
        "what": "Rules extracted from a neural network.",
        "function": "predictWithRule",
        "more": "the name of the rule that determines it",
        "beside": "rule: string | null",
    }
    return _module(program, body, words)


def write_card(program: CardProgram) -> str:
    """Return a scorecard as the text of an ES module."""
    check_card_doubles(program, "JavaScript")
    body = [*_cells(program), *_guards(program, _end_card)]
    body += card_body(program, _names(program), _JAVASCRIPT)
    words = {
        "what": "A scorecard extracted from a neural network.",
        "function": "predictWithTotals",
        "more": "its total" if len(program.beside) == 1 else "the total of each class",
        "beside": "totals: (number | null)[]",
    }
    return _module(program, body, words)


def _module(program: Program, body: list[str], words: dict[str, str]) -> str:
    has_gaps = any(column.gaps for column in program.columns)
    head = _HEAD.format(
        header="\n".join(f"// {key}: {text}" for key, text in program.about),
        gaps=",\n// and so are the texts listed beside a column below"
        if has_gaps
        else "",
        label=" | ".join(_TYPES[kind] for kind in program.label_kinds),
        body="\n".join(f"  {line}" for line in body),
        **words,
    )
    return head + _CELL


def _cells(program: Program) -> Iterator[str]:
    for name, column in zip(_names(program), program.columns, strict=True):
        gaps = f", {_list(column.gaps)}" if column.gaps else ""
        kind = _TYPES[column.kind]
        yield f'const {name} = cell(row, {_value(column.name)}, "{kind}"{gaps});'


def _names(program: Program) -> list[str]:
    return variables(program, (*_RESERVED, *own_names(program)))


def _guards(program: Program, end: End) -> Iterator[str]:
    """Yield the tests of rows outside the domain."""
    for name, column in zip(_names(program), program.columns, strict=True):
        test = _unknown(name, column)
        if test is not None:
            fact = f"column {json.dumps(column.name)} has a value outside the domain"
            yield f"if ({test}) {{"
            yield f"  {end(program.outside, fact)}"
            yield "}"


def _unknown(name: str, column: Column) -> str | None:
    """Return the test of cells outside the domain; None if there are none."""
    known = column.known
    if known.negated:
        return None if known.missing else f"{name} === null"
    if not known.intervals:
        return _among(name, (*known.words, *_null(known.missing)), is_in=False)
    whole = f" && Number.isInteger({name})" if column.whole else ""
    return f"!({_test(name, known, may_miss=True, whole=whole)})"


def _rules(program: RuleProgram) -> Iterator[str]:
    names = _names(program)
    for branch, own, lines in zip(
        program.branches,
        selective_tests(program),
        remarks(program, "//"),
        strict=True,
    ):
        yield from lines
        tests = [
            _test(names[place], cells, may_miss=program.columns[place].known.missing)
            for place, cells in own
        ]
        yield from _if(tests)
        yield f"  {_end(Prediction(branch.label, branch.name), '')}"
        yield "}"
    yield _end(program.otherwise, "no rule covers this row")


def _if(tests: list[str]) -> Iterator[str]:
    if len(tests) > 1:
        tests = [f"({test})" if " || " in test else test for test in tests]
    line = f"if ({' && '.join(tests) or 'true'}) {{"
    if len(line) < _WIDTH - 2 or len(tests) == 1:
        yield line
        return
    yield "if ("
    yield from (f"  {test} &&" for test in tests[:-1])
    yield f"  {tests[-1]}"
    yield ") {"


def _end(prediction: Prediction | None, fact: str) -> str:
    if prediction is None:
        return f"throw new RangeError({_value(fact)});"
    label, rule = _value(prediction.label), _value(prediction.rule)
    return f"return {{ class: {label}, rule: {rule} }};"


def _returned(label: Value, totals: Sequence[str]) -> str:
    return f"return {{ class: {_value(label)}, totals: [{', '.join(totals)}] }};"


_JAVASCRIPT = Language(
    first="if ({}) {{",
    further="}} else if ({}) {{",
    rest="}} else {{",
    closing="}",
    sets="let ",
    stop=";",
    empty="// no points",
    mark="//",
    word="&&",
    floor="Math.floor",
    most="Math.max",
    least="Math.min",
    test=lambda name, cells, may_miss: _test(name, cells, may_miss=may_miss),
    scored=_returned,
    fails=lambda fact: _end(None, fact),
    nothing="null",
)


def _end_card(prediction: Prediction | None, fact: str) -> str:
    if prediction is None:
        return _end(None, fact)
    return _returned(None, ["null" for _ in prediction.beside])


def _test(name: str, cells: Cells, *, may_miss: bool, whole: str = "") -> str:
    """Return the test of some cells; for intervals, `whole` is added.

    null is asked about only where a cell may be missing.
    """
    if cells.negated:
        others = (*cells.words, *_null(may_miss and not cells.missing))
        return _among(name, others, is_in=False) or "true"
    listed = _among(name, (*cells.words, *_null(cells.missing)), is_in=True)
    inside = " || ".join(_inside(name, each) for each in cells.intervals)
    inside = f"({inside})" if len(cells.intervals) > 1 else inside
    if inside and may_miss and not cells.missing:
        inside = f"{name} !== null && {inside}"
    return " || ".join(filter(None, (listed, inside + whole))) or "false"


def _null(is_meant: bool) -> tuple[None, ...]:
    return (None,) if is_meant else ()


def _among(name: str, words: tuple[Value, ...], *, is_in: bool) -> str:
    """Return the test whether a cell is among words, or not; "" without words."""
    if not words:
        return ""
    if len(words) == 1:
        return f"{name} {'===' if is_in else '!=='} {_value(words[0])}"
    return f"{'' if is_in else '!'}{_list(words)}.includes({name})"


def _inside(name: str, interval: Interval) -> str:
    ends = []
    if interval.low is not None:
        sign = ">" if interval.low_is_strict else ">="
        ends.append(f"{name} {sign} {interval.low!r}")
    if interval.high is not None:
        sign = "<" if interval.high_is_strict else "<="
        ends.append(f"{name} {sign} {interval.high!r}")
    text = " && ".join(ends) or "true"
    return f"({text})" if len(ends) > 1 else text


def _list(words: tuple[Value, ...]) -> str:
    return f"[{', '.join(map(_value, words))}]"


def _value(value: Value) -> str:
    """Return a literal: JSON in ASCII, in which no text can end a script element."""
    return re.sub("<(?=[!/s])", r"\\u003c", json.dumps(value), flags=re.IGNORECASE)
