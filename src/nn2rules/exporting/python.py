"""Rules as a Python module: one file without dependencies, with typed functions.

Every text of the user's is written by `ascii`, so none can end a literal.
"""

from collections.abc import Iterator

from nn2rules.exporting.cells import Cells, Interval
from nn2rules.exporting.columns import Column
from nn2rules.exporting.header import header_of
from nn2rules.exporting.program import Answer, Program

_TYPES = {"text": "str", "number": "float", "truth": "bool"}

_MODULE = '''\
"""Rules that were extracted from a neural network.

{header}

A row maps the names of columns to cells; None, NaN and the empty text are missing.
"""

from collections.abc import Mapping
from typing import Any


def predict(row: Mapping[str, object]) -> {label} | None:
    """Return the class of a row, or None for no answer."""
    return decide(row)[0]


def decide(row: Mapping[str, object]) -> tuple[{label} | None, str | None]:
    """Return the class of a row, and the rule that says so."""
{body}


def _cell(row: Mapping[str, object], name: str, kind: str) -> Any:
    cell = row[name]
    if cell is None or cell != cell or cell == "":
        return cell if cell == "" and kind == "text" else None
    is_kind = isinstance(cell, str) if kind == "text" else not isinstance(cell, str)
    if not is_kind:
        raise TypeError(f"column {{name!r}} holds {{cell!r}}, expected a {{kind}}")
    return cell
'''


def write(program: Program) -> str:
    """Return rules as the text of a Python module."""
    header = "\n".join(f"{key}: {text}" for key, text in header_of(program))
    return _MODULE.format(
        header=header,
        label=_TYPES[program.label_kind],
        body="\n".join(f"    {line}" for line in _body(program)),
    )


def _body(program: Program) -> Iterator[str]:
    for place, column in enumerate(program.columns):
        yield f"x{place} = _cell(row, {column.name!a}, {column.kind!r})"
        if column.gaps:
            yield f"if x{place} in {_words(column.gaps)}:"
            yield f"    x{place} = None"
    for place, column in enumerate(program.columns):
        yield f"if not ({_known(place, column)}):"
        yield f"    {_end(program.outside, f'unknown value in column {column.name}')}"
    for branch in program.branches:
        tests = [f"({_test(p, cells)})" for p, cells in branch.tests.items()]
        yield f"if {' and '.join(tests) or 'True'}:"
        yield f"    return {branch.label!a}, {branch.name!a}"
    yield _end(program.otherwise, "no rule decides this row")


def _end(answer: Answer | None, fact: str) -> str:
    if answer is None:
        return f"raise ValueError({fact!a})"
    return f"return {answer.label!a}, {answer.rule!a}"


def _known(place: int, column: Column) -> str:
    test = _test(place, column.known)
    if not column.whole:
        return test
    words = _words((None, *column.known.words))
    return f"({test}) and (x{place} in {words} or x{place} == int(x{place}))"


def _test(place: int, cells: Cells) -> str:
    """Return what holds of the cells that are meant."""
    name, parts = f"x{place}", []
    if cells.but:
        inside = f"{name} not in {_words(cells.words)}" if cells.words else "True"
        return (
            f"{name} is None or {inside}"
            if cells.missing
            else (f"{name} is not None and {inside}")
        )
    if cells.missing:
        parts.append(f"{name} is None")
    if cells.words:
        parts.append(f"{name} in {_words(cells.words)}")
    if cells.intervals:
        inside = " or ".join(_inside(name, each) for each in cells.intervals)
        parts.append(f"{name} is not None and ({inside})")
    return " or ".join(parts) or "False"


def _words(words: tuple[object, ...]) -> str:
    return "{" + ", ".join(ascii(word) for word in words) + "}"


def _inside(name: str, interval: Interval) -> str:
    low = high = ""
    if interval.low is not None:
        low = f"{interval.low!r} {'<' if interval.low_is_strict else '<='} "
    if interval.high is not None:
        high = f" {'<' if interval.high_is_strict else '<='} {interval.high!r}"
    return f"{low}{name}{high}" if low or high else "True"
