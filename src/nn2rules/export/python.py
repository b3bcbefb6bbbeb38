"""Rules as a Python module: one file without dependencies, with typed functions.

Every text of the user is written by `ascii`, so none can end a literal, and remarks are
ASCII on separate lines. A rule is an *if* over local variables. Its sets are constants
for Python, which builds them once.
"""

import builtins
import keyword
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from nn2rules.export.card_code import Language, card_body
from nn2rules.export.card_program import CardProgram
from nn2rules.export.card_text import own_names
from nn2rules.export.cells import Cells, Interval
from nn2rules.export.columns import Column
from nn2rules.export.program import Prediction, Program, RuleProgram
from nn2rules.export.program_text import remarks, selective_tests, variables
from nn2rules.space import Value

End: TypeAlias = Callable[[Prediction | None, str], str]
"""The statement that ends with a prediction, or with an error that tells a fact."""

_TYPES = {"text": "str", "number": "float", "truth": "bool"}
_RESERVED = (
    *("row", "predict", "predict_with_rule", "predict_with_totals", "Any", "Mapping"),
    "floor",
    *(*keyword.kwlist, *keyword.softkwlist, *dir(builtins)),
)
_WIDTH = 88

_HEAD = '''\
"""{what}

{header}

A row maps the names of columns to cells. None and NaN are missing{gaps}.
"""

from collections.abc import Mapping
{imports}from typing import Any
'''

_RULES = '''

def predict(row: Mapping[str, object]) -> {label} | None:
    """Return the class of a row, or None if there is no prediction."""
    return predict_with_rule(row)[0]


def predict_with_rule(
    row: Mapping[str, object],
) -> tuple[{label} | None, str | None]:
    """Return the class of a row, and the name of the rule that determines it."""
{body}
'''

_CARD = '''

def predict(row: Mapping[str, object]) -> {label} | None:
    """Return the class of a row, or None if there is no prediction."""
    return predict_with_totals(row)[0]


def predict_with_totals(
    row: Mapping[str, object],
) -> tuple[{label} | None, tuple[float | None, ...]]:
    """Return the class of a row, and {totals}."""
{body}
'''

_CELL = '''

def _cell(
    row: Mapping[str, object], name: str, kind: str, gaps: tuple[str, ...] = ()
) -> Any:
    """Return a cell of a row, or None if it is missing."""
    cell = row[name]
    if cell is None or cell != cell or cell in gaps:
        return None
    if isinstance(cell, str) != (kind == "text"):
        raise TypeError(f"column {name!r} has {cell!r}, expected a {kind}")
    return cell
'''


def write(program: RuleProgram) -> str:
    """Return rules as the text of a Python module."""
    body = [*_cells(program), *_guards(program, _end), *_rules(program)]
    head = _head(program, "Rules extracted from a neural network.")
    return head + _RULES.format(label=_label(program), body=_indented(body)) + _CELL


def write_card(program: CardProgram) -> str:
    """Return a scorecard as the text of a Python module."""
    body = [*_cells(program), *_guards(program, _end_card)]
    body += card_body(program, _names(program), _PYTHON)
    imports = "from math import floor\n" if any("floor(" in b for b in body) else ""
    head = _head(program, "A scorecard extracted from a neural network.", imports)
    totals = "its total" if len(program.beside) == 1 else "the total of each class"
    text = _CARD.format(label=_label(program), body=_indented(body), totals=totals)
    return head + text + _CELL


def _head(program: Program, what: str, imports: str = "") -> str:
    has_gaps = any(column.gaps for column in program.columns)
    return _HEAD.format(
        what=what,
        header="\n".join(f"{key}: {text}" for key, text in program.about),
        gaps=", and\nso are the texts listed beside a column below" if has_gaps else "",
        imports=imports,
    )


def _label(program: Program) -> str:
    return " | ".join(_TYPES[kind] for kind in program.label_kinds)


def _indented(body: list[str]) -> str:
    return "\n".join(f"    {line}" for line in body)


def _cells(program: Program) -> Iterator[str]:
    for name, column in zip(_names(program), program.columns, strict=True):
        gaps = f", {column.gaps!a}" if column.gaps else ""
        yield f"{name} = _cell(row, {column.name!a}, {column.kind!r}{gaps})"


def _names(program: Program) -> list[str]:
    return variables(program, (*_RESERVED, *own_names(program)))


def _guards(program: Program, end: End) -> Iterator[str]:
    """Yield the tests of rows outside the domain."""
    for name, column in zip(_names(program), program.columns, strict=True):
        test = _unknown(name, column)
        if test is not None:
            yield f"if {test}:"
            fact = f"column {column.name!r} has a value outside the domain"
            yield f"    {end(program.outside, fact)}"


def _unknown(name: str, column: Column) -> str | None:
    """Return the test of cells outside the domain; None if there are none."""
    known = column.known
    if known.negated:
        return None if known.missing else f"{name} is None"
    if not known.intervals:
        return _among(name, (*known.words, *_none(known.missing)), "not in")
    whole = f" and {name} == int({name})" if column.whole else ""
    return f"not ({_test(name, known, may_miss=True, whole=whole)})"


def _rules(program: RuleProgram) -> Iterator[str]:
    names = _names(program)
    for branch, own, lines in zip(
        program.branches,
        selective_tests(program),
        remarks(program, "#"),
        strict=True,
    ):
        yield from lines
        tests = [
            _test(names[place], cells, may_miss=program.columns[place].known.missing)
            for place, cells in own
        ]
        yield from _if(tests)
        yield f"    return {branch.label!a}, {branch.name!a}"
    yield _end(program.otherwise, "no rule covers this row")


def _if(tests: list[str]) -> Iterator[str]:
    if len(tests) > 1:
        tests = [f"({test})" if " or " in test else test for test in tests]
    line = f"if {' and '.join(tests) or 'True'}:"
    if len(line) < _WIDTH - 4 or len(tests) == 1:
        yield line
        return
    yield "if ("
    yield f"    {tests[0]}"
    yield from (f"    and {test}" for test in tests[1:])
    yield "):"


def _end(prediction: Prediction | None, fact: str) -> str:
    if prediction is None:
        return f"raise ValueError({fact!a})"
    return f"return {prediction.label!a}, {prediction.rule!a}"


def _returned(label: Value, totals: Sequence[str]) -> str:
    return f"return {label!a}, ({', '.join(totals)},)"


_PYTHON = Language(
    first="if {}:",
    further="elif {}:",
    rest="else:",
    closing="",
    sets="",
    stop="",
    empty="pass",
    mark="#",
    word="and",
    floor="floor",
    most="max",
    least="min",
    test=lambda name, cells, may_miss: _test(name, cells, may_miss=may_miss),
    scored=_returned,
    fails=lambda fact: _end(None, fact),
    nothing="None",
)


def _end_card(prediction: Prediction | None, fact: str) -> str:
    if prediction is None:
        return _end(None, fact)
    return _returned(None, ["None" for _ in prediction.beside])


def _test(name: str, cells: Cells, *, may_miss: bool, whole: str = "") -> str:
    """Return the test of some cells; for intervals, `whole` is added.

    None is asked about only where a cell may be missing.
    """
    if cells.negated:
        others = (*cells.words, *_none(may_miss and not cells.missing))
        return _among(name, others, "not in") or "True"
    listed = _among(name, (*cells.words, *_none(cells.missing)), "in")
    inside = " or ".join(_inside(name, each) for each in cells.intervals)
    inside = f"({inside})" if len(cells.intervals) > 1 else inside
    if inside and may_miss and not cells.missing:
        inside = f"{name} is not None and {inside}"
    return " or ".join(filter(None, (listed, inside + whole))) or "False"


def _none(is_meant: bool) -> tuple[None, ...]:
    return (None,) if is_meant else ()


def _among(name: str, words: tuple[Value, ...], sign: str) -> str:
    """Return the test whether a cell is among words, or not; "" without words."""
    if not words:
        return ""
    if words == (None,):
        return f"{name} is {'not ' if sign == 'not in' else ''}None"
    if len(words) == 1:
        return f"{name} {'!=' if sign == 'not in' else '=='} {words[0]!a}"
    return f"{name} {sign} {{{', '.join(ascii(word) for word in words)}}}"


def _inside(name: str, interval: Interval) -> str:
    low = high = ""
    if interval.low is not None:
        low = f"{interval.low!r} {'<' if interval.low_is_strict else '<='} "
    if interval.high is not None:
        high = f" {'<' if interval.high_is_strict else '<='} {interval.high!r}"
    return f"{low}{name}{high}" if low or high else "True"
