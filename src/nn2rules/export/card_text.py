"""What exporters of scorecards share: names of sums, and the order of decisions."""

from collections.abc import Callable, Iterator, Sequence

from nn2rules.errors import OptionError
from nn2rules.export.card_program import CardProgram, Form, Line, Region
from nn2rules.export.program import Program
from nn2rules.export.program_text import check_numbers
from nn2rules.output import Grid, Heading, Paragraph
from nn2rules.space import Value

TOO_CLOSE = "the total is too close to a cut-off for rounded points"
"""What an error says about a row of which the points prove no class."""


def card_parts(program: CardProgram) -> Iterator[Heading | Paragraph | Grid]:
    """Yield the parts of the page of a scorecard, for documents.

    They hold the printed points, so other options make no sense.
    """
    for name, default in (("unknown", "none"), ("between", "none")):
        if getattr(program, name) != default:
            raise OptionError(
                f"{name}: {getattr(program, name)!r}, but a document predicts nothing"
            )
    for section in program.card.document().sections:
        assert isinstance(section, tuple), "a scorecard has no rules"
        for part in section:
            if isinstance(part, Heading | Paragraph | Grid):
                yield part


def part_names(program: CardProgram) -> list[str]:
    """Return a variable for each part: ``total`` if it is the only total."""
    if program.card.kind == "single":
        return ["total"] if program.parts else []
    return [f"part_{number}" for number in range(1, len(program.parts) + 1)]


def total_names(program: CardProgram) -> list[str]:
    """Return a variable for each total."""
    if len(program.beside) == 1:
        return ["total"]
    return [f"total_{number}" for number in range(1, len(program.beside) + 1)]


def own_names(program: Program) -> list[str]:
    """Return the variables that no column may have."""
    if not isinstance(program, CardProgram):
        return []
    return [*part_names(program), *total_names(program)]


def check_card_doubles(program: CardProgram, engine: str) -> None:
    """Refuse a card with numbers that 64-bit floating point cannot represent."""
    cells = [[line.cells for line in lines] for lines in program.lines]
    check_numbers(program, cells, engine)


def ordered_lines(lines: tuple[Line, ...]) -> list[Line]:
    """Return the lines of a column in the order in which they are tried.

    Missing cells come first, so that no other test meets one, then those that are
    listed. The last line needs no test, because the cell is known.
    """
    return sorted(
        lines,
        key=lambda line: (
            line.cells.negated,
            not line.cells.missing,
            bool(line.cells.intervals),
        ),
    )


def form_text(
    form: Form, names: Sequence[str], number: Callable[[float], str] = repr
) -> str:
    """Return a sum of weighted parts, added in the order of the form.

    Examples
    --------
    >>> form_text(Form(3, ((0, 1), (2, -1), (1, 0.5))), ["a", "b", "c"])
    '3 + a - c + 0.5 * b'
    >>> form_text(Form(0, ((1, -1),)), ["a", "b"])
    '-b'
    """
    text = number(form.start) if form.start or not form.weights else ""
    for place, weight in form.weights:
        size = "" if abs(weight) == 1 else f"{number(abs(weight))} * "
        sign = "-" if weight < 0 else "+"
        term = f"{size}{names[place]}"
        if text:
            text += f" {sign} {term}"
        else:
            text = f"-{term}" if weight < 0 else term
    return text


def decisions(
    program: CardProgram,
    region: Region,
    names: Sequence[str],
    word: str,
    number: Callable[[float], str] = repr,
) -> Iterator[tuple[str, Value]]:
    """Yield tests of totals with the class that each proves, None if too close.

    The first test that holds counts; the last one is empty, and always holds. `word`
    joins several comparisons, and `number` writes numbers.
    """
    if region.margin is None:
        for sign, end, label in program.steps(region):
            yield f"{names[0]} {sign} {number(end)}", label
        yield "", region.label
        return
    is_near = program.between == "nearest"
    for place, label in enumerate(program.labels):
        tests = [
            f"{names[place]} >= {other}"
            if is_near
            else f"{names[place]} - {other} >= {number(region.margin)}"
            for index, other in enumerate(names)
            if index != place
        ]
        yield f" {word} ".join(tests), label
    yield "", None
