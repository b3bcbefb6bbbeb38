"""Rules as clauses for SWI-Prolog: one module without dependencies, a clause a rule.

Texts are strings and names of columns are atoms, both quoted, in ASCII, so none can end
its literal. Cells become 64-bit numbers before they are compared: SWI-Prolog rounds a
whole number when it compares it with a float, so one that would be rounded is refused.
"""

from collections.abc import Iterator

from nn2rules.errors import UnsupportedModelError
from nn2rules.export.cells import Cells, Interval
from nn2rules.export.columns import Column
from nn2rules.export.program import Prediction, RuleProgram
from nn2rules.export.program_text import (
    check_doubles,
    remarks,
    selective_tests,
    variables,
)
from nn2rules.space import Value

_TYPES = {"text": "string", "number": "number", "truth": "bool"}
_RESERVED = ("Row", "Class", "Rule", "Found", "Name", "Cell", "Value")

_MODULE = """\
% Rules extracted from a neural network.
%
{header}
%
% A row is a dict, or a list of pairs Name-Value. Names of columns are atoms, texts
% are strings, true and false are atoms. The atom null is missing, and so is NaN{gaps}.

:- module(decision_rules, [predict/2, predict/3]).
:- set_prolog_flag(double_quotes, string).

%!  predict(+Row, -Class) is det.
%
%   Class is the class of a row, or null if there is no prediction.

predict(Row, Class) :-
    predict(Row, Class, _).

%!  predict(+Row, -Class, -Rule) is det.
%
%   Class is the class of a row, and Rule the name of the rule that determines it.

predict(Row, Class, Rule) :-
{cells},
    (   outside_domain({row}, {found})
    ->  {outside}
    ;   rule({row}, Found)
    ->  Found = Class-Rule
    ;   {otherwise}
    ).

%   outside_domain(+Row, -Name, -Value): a cell has a value outside the domain.

{guards}

%   rule(+Row, -ClassAndRule): the first clause that holds determines the class.

{rules}

%   cell(+Row, +Name, +Type, +Gaps, -Cell): a cell of a row, null if it is missing.

cell(Row, Name, Type, Gaps, Cell) :-
    (   held(Row, Name, Value)
    ->  true
    ;   throw(error(existence_error(column, Name), _))
    ),
    (   ground(Value)
    ->  true
    ;   throw(error(instantiation_error, context(_, Name)))
    ),
    (   is_gap(Value, Gaps)
    ->  Cell = null
    ;   typed(Type, Value, Cell)
    ->  true
    ;   throw(error(type_error(Type, Value), context(_, Name)))
    ).

held(Row, Name, Value) :-
    (   is_dict(Row)
    ->  get_dict(Name, Row, Value)
    ;   memberchk(Name-Value, Row)
    ).

is_gap(null, _) :- !.
is_gap(Value, _) :-
    float(Value),
    Value =\\= Value,
    !.
is_gap(Value, Gaps) :-
    memberchk(Value, Gaps).

typed(string, Value, Value) :-
    string(Value).
typed(bool, true, true).
typed(bool, false, false).
typed(number, Value, Cell) :-
    number(Value),
    Cell is float(Value),
    (   float(Value)
    ->  true
    ;   rational(Cell) =:= Value
    ->  true
    ;   throw(error(representation_error(double), Value))
    ).
"""


def write(program: RuleProgram) -> str:
    """Return rules as the text of a Prolog module."""
    check_doubles(program, "this export to Prolog")
    names = variables(program, _RESERVED, capital=True)
    has_gaps = any(column.gaps for column in program.columns)
    return _MODULE.format(
        header="\n".join(f"% {key}: {text}" for key, text in program.about),
        gaps=",\n% and so are the texts listed beside a column below"
        if has_gaps
        else "",
        cells=",\n".join(f"    {line}" for line in _cells(program, names)),
        row=f"row({', '.join(names)})",
        found="Name, Value" if program.outside is None else "_, _",
        outside=_end(program.outside, "domain_error(Name, Value)"),
        otherwise=_end(program.otherwise, "existence_error(rule, Row)"),
        guards="\n".join(_guards(program, names)),
        rules="\n".join(_rules(program, names)),
    )


def _end(prediction: Prediction | None, fact: str) -> str:
    if prediction is None:
        return f"throw(error({fact}, _))"
    return f"Class = {_value(prediction.label)}, Rule = {_value(prediction.rule)}"


def _cells(program: RuleProgram, names: list[str]) -> Iterator[str]:
    for name, column in zip(names, program.columns, strict=True):
        gaps = ", ".join(map(_value, column.gaps))
        kind = _TYPES[column.kind]
        yield f"cell(Row, {_atom(column.name)}, {kind}, [{gaps}], {name})"


def _guards(program: RuleProgram, names: list[str]) -> Iterator[str]:
    """Yield the clauses that find cells outside the domain."""
    has_some = False
    for place, (name, column) in enumerate(zip(names, program.columns, strict=True)):
        test = _unknown(name, column)
        if test is not None:
            has_some = True
            row = _row(names, {place})
            yield f"outside_domain({row}, {_atom(column.name)}, {name}) :-"
            yield f"    {test}."
    if not has_some:
        yield "outside_domain(_, _, _) :-\n    fail."


def _row(names: list[str], used: set[int]) -> str:
    cells = (name if place in used else "_" for place, name in enumerate(names))
    return f"row({', '.join(cells)})"


def _unknown(name: str, column: Column) -> str | None:
    """Return the test of cells outside the domain; None if there are none."""
    known = column.known
    if known.negated:
        return None if known.missing else f"{name} == null"
    whole = f", float_fractional_part({name}) =:= 0" if column.whole else ""
    return f"\\+ ( {_test(name, known, may_miss=True, whole=whole)} )"


def _rules(program: RuleProgram, names: list[str]) -> Iterator[str]:
    for branch, own, lines in zip(
        program.branches,
        selective_tests(program),
        remarks(program, "%"),
        strict=True,
    ):
        yield from lines
        tests = {
            place: _test(
                names[place], cells, may_miss=program.columns[place].known.missing
            )
            for place, cells in own
        }
        tests = {place: test for place, test in tests.items() if test != "true"}
        answer = f"{_value(branch.label)}-{_value(branch.name)}"
        head = f"rule({_row(names, set(tests))}, {answer})"
        yield f"{head} :-" if tests else f"{head}."
        if tests:
            parts = (f"( {t} )" if " ; " in t else t for t in tests.values())
            yield ",\n".join(f"    {test}" for test in parts) + "."
    if not program.branches:
        yield "rule(_, _) :-\n    fail."


def _test(name: str, cells: Cells, *, may_miss: bool, whole: str = "") -> str:
    """Return a goal that succeeds for some cells.

    For intervals, `whole` is added. null is tested only if a cell may be missing.
    """
    if cells.negated:
        words = [_unlike(name, word, may_miss=may_miss) for word in cells.words]
        not_null = [f"{name} \\== null"] if may_miss and not cells.missing else []
        return ", ".join((*not_null, *words)) or "true"
    parts = [f"{name} == null"] if cells.missing else []
    numbers = [f"{name} =:= {_value(w)}" for w in cells.words if _is_number(w)]
    inside = " ; ".join(_inside(name, each) for each in cells.intervals)
    inside = f"( {inside} )" if len(cells.intervals) > 1 and whole else inside
    numbers += [inside + whole] if inside else []
    if numbers and may_miss:  # also after a null: goals are tried again
        goal = " ; ".join(numbers)
        goal = f"( {goal} )" if " ; " in goal else goal
        numbers = [f"number({name}), {goal}"]
    texts = [word for word in cells.words if not _is_number(word)]
    if len(texts) > 1:
        parts.append(f"memberchk({name}, [{', '.join(map(_value, texts))}])")
    elif texts:
        parts.append(f"{name} == {_value(texts[0])}")
    return " ; ".join((*parts, *numbers)) or "fail"


def _unlike(name: str, word: Value, *, may_miss: bool) -> str:
    """Return a goal that succeeds for cells other than a word."""
    if not _is_number(word):
        return f"{name} \\== {_value(word)}"
    goal = f"{name} =\\= {_value(word)}"
    return f"( {name} == null ; number({name}), {goal} )" if may_miss else goal


def _inside(name: str, interval: Interval) -> str:
    ends = []
    if interval.low is not None:
        sign = ">" if interval.low_is_strict else ">="
        ends.append(f"{name} {sign} {interval.low!r}")
    if interval.high is not None:
        sign = "<" if interval.high_is_strict else "=<"
        ends.append(f"{name} {sign} {interval.high!r}")
    return ", ".join(ends) or "true"


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _value(value: Value) -> str:
    """Return a value as Prolog reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    return _quoted(value, '"') if isinstance(value, str) else repr(value)


def _atom(text: str) -> str:
    return _quoted(text, "'")


def _quoted(text: str, quote: str) -> str:
    return f"{quote}{''.join(_sign(sign, quote) for sign in text)}{quote}"


def _sign(sign: str, quote: str) -> str:
    if " " <= sign <= "~" and sign not in (quote, "\\"):
        return sign
    code = ord(sign)
    if 0xD800 <= code < 0xE000:
        raise UnsupportedModelError(
            "a name or value contains half a character (a lone surrogate), which "
            "Prolog cannot store; rename it"
        )
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"
