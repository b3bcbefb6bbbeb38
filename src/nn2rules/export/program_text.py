"""What exporters of programs share: names, remarks, and a check of numbers."""

import re
import textwrap
from collections.abc import Collection, Iterator, Sequence

from nn2rules.errors import UnsupportedModelError
from nn2rules.export.cells import Cells
from nn2rules.export.program import Program, RuleProgram
from nn2rules.language import unused
from nn2rules.space import Value, is_number

_LONGEST_NAME = 40
_SIGNS = str.maketrans({"≤": "<=", "≥": ">=", "≠": "!=", "–": "-", "·": "and"})


def variables(
    program: Program, reserved: Collection[str], *, capital: bool = False
) -> list[str]:
    """Return a variable for each column, after its name where that can be read.

    Examples
    --------
    >>> from nn2rules import Domain, Feature, RuleList
    >>> from nn2rules.export.program import program_of
    >>> names = ("hours-per-week", "if", "hours per week", "?")
    >>> domain = Domain(tuple(Feature(name, (0, 1)) for name in names))
    >>> variables(program_of(RuleList(domain, (), 0, (0, 1))), {"if"})
    ['hours_per_week', 'if_', 'hours_per_week_', 'x3']
    """
    found: list[str] = []
    for place, column in enumerate(program.columns):
        name = re.sub(r"\W+", "_", column.name, flags=re.ASCII).strip("_")
        if not re.match("[A-Za-z]", name) or len(name) > _LONGEST_NAME:
            name = f"x{place}"
        name = name[0].upper() + name[1:] if capital else name
        found.append(unused(name, [*found, *reserved]))
    return found


def remark(text: str) -> str:
    r"""Return a text for a comment in any language: ASCII, on one line.

    Signs of rules are spelled out, and other characters beyond ASCII are escaped; so is
    a ``<`` that might end a script on a web page.

    Examples
    --------
    >>> remark("size ≠ 日\n</script>")
    'size != \\u65e5\\n\\x3c/script>'
    """
    plain = text.translate(_SIGNS).encode("unicode_escape").decode("ascii")
    return re.sub("<(?=[!/s])", r"\\x3c", plain, flags=re.IGNORECASE)


def remarks(program: RuleProgram, mark: str) -> Iterator[list[str]]:
    """Yield the text of each rule, as lines of comments that begin with a mark."""
    rules = program.rules
    for name, rule in zip(rules.names, rules.rules, strict=True):
        text = remark(f"{name}: {rules.rule_text(rule)}")
        yield textwrap.wrap(
            text,
            80,
            initial_indent=f"{mark} ",
            subsequent_indent=f"{mark}    ",
            break_long_words=False,
            break_on_hyphens=False,
        )


def selective_tests(program: RuleProgram) -> Iterator[list[tuple[int, Cells]]]:
    """Yield the tests of each rule, by column; those that fail most often come first.

    How often is guessed from how many values of the column a test allows.
    """
    offsets = program.offsets
    for box, branch in zip(program.boxes, program.branches, strict=True):
        shares = [
            (box[offsets[place] : offsets[place + 1]].mean(), place)
            for place in branch.tests
        ]
        yield [(place, branch.tests[place]) for _, place in sorted(shares)]


def check_doubles(program: RuleProgram, engine: str) -> None:
    """Refuse rules with numbers that 64-bit floating point cannot represent.

    A whole number beyond 2**53 may lie between two of them.
    """
    tests = [branch.tests for branch in program.branches]
    check_numbers(
        program,
        [
            [own[place] for own in tests if place in own]
            for place in range(len(program.columns))
        ],
        engine,
    )


def check_numbers(
    program: Program, cells: Sequence[Sequence[Cells]], engine: str
) -> None:
    """Refuse numbers in cells of each column that 64-bit numbers cannot represent."""
    for column, own in zip(program.columns, cells, strict=True):
        for each in (column.known, *own):
            ends = [end for i in each.intervals for end in (i.low, i.high)]
            for number in (*each.words, *ends):
                _check_double(number, f"feature {column.name!r}", engine)
    for label in program.classes:
        _check_double(label, "the classes", engine)


def _check_double(number: Value, where: str, engine: str) -> None:
    if is_number(number) and not _is_double(number):  # type: ignore[arg-type]
        raise UnsupportedModelError(
            f"{where}: {number} is not a 64-bit floating point number, and {engine} "
            f"has no others; use a text"
        )


def _is_double(number: float) -> bool:
    try:
        return float(number) == number
    except OverflowError:
        return False
