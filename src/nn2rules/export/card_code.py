"""Scorecards as statements of a programming language: sums, conditions, comparisons.

Python and JavaScript have the same statements for this in other signs, which a
`Language` holds.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nn2rules.export.card_program import CardProgram, Line, Rate, Region
from nn2rules.export.card_text import (
    TOO_CLOSE,
    decisions,
    form_text,
    ordered_lines,
    part_names,
    total_names,
)
from nn2rules.export.cells import Cells
from nn2rules.export.columns import Column
from nn2rules.export.program_text import remark
from nn2rules.space import Value


@dataclass(frozen=True, slots=True)
class Language:
    """The signs of a language.

    Attributes
    ----------
    first, further, rest, closing : str
        How a test begins, another one if it fails, what holds otherwise, and the end.
    sets : str
        How a variable begins that gets a value.
    stop : str
        What ends a statement.
    empty : str
        A block without statements.
    mark : str
        What begins a comment.
    word : str
        *And*.
    floor, most, least : str
        Functions.
    test : callable
        The test of some cells of a variable, and whether it may be missing.
    scored : callable
        The statement that returns a class and texts of totals.
    fails : callable
        The statement that raises an error.
    """

    first: str
    further: str
    rest: str
    closing: str
    sets: str
    stop: str
    empty: str
    mark: str
    word: str
    floor: str
    most: str
    least: str
    test: Callable[[str, Cells, bool], str]
    scored: Callable[[Value, Sequence[str]], str]
    fails: Callable[[str], str]
    nothing: str

    def tested(self, blocks: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
        """Yield blocks of statements with their tests; "" is no test."""
        for number, (test, body) in enumerate(blocks):
            if not test and number == 0:
                yield from body
                return
            if not test and not body:
                break
            head = self.further if number else self.first
            yield (head if test else self.rest).format(test)
            yield from (
                f"{_INDENT[self.closing]}{line}" for line in body or [self.empty]
            )
        if self.closing:
            yield self.closing


_INDENT = {"": "    ", "}": "  "}


def card_body(
    program: CardProgram, names: Sequence[str], language: Language
) -> Iterator[str]:
    """Yield the statements that score a row whose cells are known."""
    parts = part_names(program)
    for part, own in zip(parts, program.parts, strict=True):
        yield f"{language.sets}{part} = {own.start}{language.stop}"
    for name, column, lines in zip(names, program.columns, program.lines, strict=True):
        yield f"{language.mark} {remark(column.name)}"
        blocks = _points(name, column, lines, parts, language)
        yield from language.tested(list(blocks))
    for part, own in zip(parts, program.parts, strict=True):
        if own.below is not None:
            adding = f"{part} *= {own.below!r}{language.stop}"
            yield from language.tested([(f"{part} < 0", [adding])])
        for function, end in ((language.most, own.low), (language.least, own.high)):
            if end is not None:
                yield f"{part} = {function}({part}, {end}){language.stop}"
    for region in program.regions:
        tests = [
            f"{form_text(form, parts)} >= {least!r}"
            for form, least in region.conditions
        ]
        body = list(_decision(program, region, parts, language))
        yield from language.tested([(f" {language.word} ".join(tests), body)])
    if program.regions[-1].conditions:
        yield _too_close(program, (), language)


def _points(
    name: str,
    column: Column,
    lines: tuple[Line, ...],
    parts: list[str],
    language: Language,
) -> Iterator[tuple[str, list[str]]]:
    ordered = ordered_lines(lines)
    for number, line in enumerate(ordered, 1):
        is_last = number == len(ordered)
        test = ""
        if not is_last:
            test = language.test(name, line.cells, column.known.missing)
        yield (
            test,
            [
                f"{part} += {added_text(name, points, language.floor)}{language.stop}"
                for part, points in zip(parts, line.points, strict=True)
                if points != 0
            ],
        )


def added_text(name: str, points: int | Rate, floor: str) -> str:
    """Return points as they are added; those of a number by its rate."""
    if isinstance(points, int):
        return str(points)
    if points.whole:
        return f"{points.top} * {name}"
    inner = f"{float(points.top)!r} * {name} + {points.half!r}"
    if points.bottom != 1:
        inner = f"({inner}) / {points.bottom!r}"
    return f"{floor}({inner})"


def _decision(
    program: CardProgram, region: Region, parts: list[str], language: Language
) -> Iterator[str]:
    names = total_names(program) if region.totals else []
    for name, form in zip(names, region.totals, strict=True):
        if name not in parts:
            yield f"{language.sets}{name} = {form_text(form, parts)}{language.stop}"
    for test, label in decisions(program, region, names, language.word):
        end = _too_close(program, names, language)
        if label is not None:
            end = language.scored(label, _shown(program, names, language))
        yield from language.tested([(test, [end])])


def _shown(program: CardProgram, names: Sequence[str], language: Language) -> list[str]:
    unit = "" if program.unit == 1 else f" / {program.unit}"
    shown = [f"{name}{unit}" for name in names]
    return shown + [language.nothing] * (len(program.beside) - len(shown))


def _too_close(program: CardProgram, names: Sequence[str], language: Language) -> str:
    if program.between == "error":
        return language.fails(TOO_CLOSE)
    return language.scored(None, _shown(program, names, language))
