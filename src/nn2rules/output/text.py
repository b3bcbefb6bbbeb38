"""A document as text, in lines of a given width or as long as they come."""

import re
import unicodedata
from collections.abc import Sequence

from nn2rules.errors import OptionError
from nn2rules.output.document import (
    GAP,
    Block,
    Document,
    Grid,
    Heading,
    Items,
    Paragraph,
    Part,
    Piece,
    RuleTable,
    ShownCondition,
    ShownRule,
)
from nn2rules.space import whole_number

_WIDE_NAME = 24  # a longer class, or feature, is not waited for by the others
_NARROWEST = 60
_ROOM = 24  # for the words of rules and grids, however many columns there are
_ITEMS = 88  # the width of items where sentences have none


def text_of(document: Document, width: int | None = None) -> str:
    """Return a document as text, no line wider than `width` where words can be parted.

    Without a width, each sentence is a line. A short page has no empty lines.
    """
    if width is not None:
        width = whole_number("width", width)
        if width < _NARROWEST:
            raise OptionError(f"width: {width}, expected {_NARROWEST} or more")
    sections: list[list[str]] = []
    for section in document.sections:
        if isinstance(section, RuleTable):
            sections += _table_lines(section, width or _ITEMS)
        else:
            sections.append([line for part in section for line in _lines(part, width)])
    is_short = len(sections) <= 3 and all(len(lines) <= 1 for lines in sections[:1])
    shown = ("\n".join(lines) for lines in sections if lines)
    return ("\n" if is_short else "\n\n").join(shown)


def _lines(part: Part, width: int | None) -> list[str]:
    """Return the lines of a part."""
    if isinstance(part, Heading):
        return [part.text]
    if isinstance(part, Grid):
        return _grid_lines(part, width)
    if isinstance(part, Items):
        room, margin = (width or _ITEMS) - part.indent, " " * part.indent
        return [margin + line for line in filled(part.texts, part.between, room)]
    if isinstance(part, Paragraph):
        return _sentences(part, width)
    texts = [piece.text if isinstance(piece, Piece) else piece for piece in part.pieces]
    line = "".join(texts)
    if width is None or cells(line) <= width:
        return [line]
    pieces = [piece.text for piece in part.pieces if isinstance(piece, Piece)]
    return [line for text in pieces for line in filled(words(text), " ", width)]


def _sentences(part: Paragraph, width: int | None) -> list[str]:
    text, margin = part.text, " " * part.indent
    if width is None:
        return [margin + text]
    if part.kind == "warning":  # it may quote what others wrote, with line breaks
        text = " ".join(text.split())
    pieces = words(text) if part.keeps_units else text.split(" ")
    return [margin + line for line in filled(pieces, " ", width - part.indent)]


def _grid_lines(grid: Grid, width: int | None) -> list[str]:
    """Return a grid; its last column is parted where the line would be too long."""
    margin = " " * grid.indent
    rows = [grid.header, *grid.rows] if any(grid.header) else list(grid.rows)
    if not grid.is_aligned:
        return [margin + grid.gap.join(row) for row in rows]
    lines, widths = [], _widths(grid, rows)
    room = None
    if width is not None:
        taken = grid.indent + sum(wide + len(grid.gap) for wide in widths[:-1])
        room = max(_ROOM, width - taken)
    for row in rows:
        *first, rest = [
            _padded(text, wide - _size(grid, text), is_number=is_number)
            for text, wide, is_number in zip(row, widths, grid.numbers, strict=False)
        ]
        start = margin + "".join(text + grid.gap for text in first)
        if len(row) < len(widths):
            lines.append(start + row[-1])
            continue
        own = [rest]
        if room is not None and not grid.numbers[-1]:
            separator = " · " if " · " in row[-1] else " "
            own = filled(row[-1].split(separator), separator, room)
        blank = " " * cells(start)
        lines += [
            f"{blank if i else start}{line}".rstrip() for i, line in enumerate(own)
        ]
    return lines


def _size(grid: Grid, text: str) -> int:
    return len(text) if grid.counts_characters else cells(text)


def _widths(grid: Grid, rows: Sequence[Sequence[str]]) -> list[int]:
    """Return how wide each column is; of rows with few cells only the first counts."""
    full = [row for row in rows if len(row) == len(grid.numbers)]
    return [
        max((_size(grid, row[i]) for row in (full if i else rows)), default=0)
        for i in range(len(grid.numbers))
    ]


def _padded(text: str, space: int, *, is_number: bool) -> str:
    return " " * space + text if is_number else text + " " * space


def _table_lines(table: RuleTable, width: int) -> list[list[str]]:
    """Return rules as sections: one for each block, and for what none decides."""
    columns = _Columns(table, width)
    sections, rest = [columns.block(block) for block in table.blocks], table.otherwise
    if rest is None:
        return sections
    if table.form == "list":
        sections[-1] += columns.rule(rest)
        return sections
    return [*sections, filled(words(f"{rest.then}{GAP}{rest.remark}"), " ", width)]


class _Columns:
    """Where the columns of rules are: names, rules, and numbers at the right."""

    def __init__(self, table: RuleTable, width: int) -> None:
        rules = [rule for block in table.blocks for rule in block.rules]
        rest = [table.otherwise] if table.form == "list" and table.otherwise else []
        self.form, self.width = table.form, width
        self.name = max((len(rule.name) for rule in rules), default=0)
        labels = [cells(rule.then) for rule in (*rules, *rest)]
        self.label = max((n for n in labels if n <= _WIDE_NAME), default=0)
        numbers = [rule.numbers for rule in (*rules, *rest)]
        self.titles, self.area = [table.columns], width
        self._measure(numbers)
        if self.area == _ROOM or any(len(self._lines(rule)) > 1 for rule in rules):
            self.titles = [*zip(*(_stacked(t) for t in table.columns), strict=True)]
            self._measure(numbers)
        lines = [self._lines(rule)[0] for rule in (*rules, *rest)]
        lines += [_titled(block) for block in table.blocks]
        used = [n for n in map(cells, lines) if n <= self.area]
        self.area = max(used, default=self.area)

    def _measure(self, numbers: Sequence[Sequence[str]]) -> None:
        """Work out how wide the columns are, and how much is left for the rules."""
        columns = zip(*self.titles, *numbers, strict=True)
        self.numbers = [max(map(len, column)) for column in columns]
        taken = sum(n + len(GAP) for n in self.numbers)
        self.area = max(self.width - taken, _ROOM)

    def block(self, block: Block) -> list[str]:
        """Return the lines of a block: its title, its rules, what is not shown."""
        lines, title = [], _titled(block)
        if cells(title) > self.area:
            lines, title = filled(words(title), " ", self.width), ""
        *above, last = self.titles or [()]
        lines += [self._with_numbers("", titles) for titles in above]
        if title or last:
            lines.append(self._with_numbers(title, last))
        for rule in block.rules:
            lines += self.rule(rule)
        if block.hidden:
            start = f"{'…':>{self.name}}  "
            if self.form == "set":
                start = f" {'…':<{self.name}}  "
            found = filled(words(block.hidden), " ", self.width - len(start))
            lines += [start + found[0], *(" " * len(start) + f for f in found[1:])]
        return lines

    def rule(self, rule: ShownRule) -> list[str]:
        """Return a rule in lines, the first of which has its numbers."""
        first, *others = self._lines(rule)
        return [self._with_numbers(first, rule.numbers), *others]

    def _with_numbers(self, text: str, numbers: Sequence[str]) -> str:
        space = " " * max(self.area - cells(text), 0)
        ends = zip(numbers, self.numbers, strict=True)
        return (text + space + "".join(f"{GAP}{n:>{w}}" for n, w in ends)).rstrip()

    def _lines(self, rule: ShownRule) -> list[str]:
        """Return the words of a rule: in one line, or long conditions below."""
        name, answer = self._start(rule)
        remark = [rule.remark] if rule.remark else []
        whole = (
            name + answer + " · ".join([*(c.text for c in rule.conditions), *remark])
        )
        if cells(whole) <= self.area:
            return [whole]
        is_wide = cells(answer) > _WIDE_NAME + 5
        indent = len(name) + (4 if is_wide else cells(answer))
        long = [c for c in rule.conditions if c.is_long]
        short = [c.text for c in rule.conditions if not c.is_long]
        beside, last = ([], remark) if long else (remark, [])
        lines = filled([*short, *beside], " · ", self.area - indent)
        if is_wide:
            lines = [*parted(answer.strip(), self.area - indent), *lines]
        for condition in long:
            # Only the first line of a rule has numbers behind it.
            room = (self.width if lines[0] else self.area) - indent
            lines += _own_line(condition, long, room)
        lines += filled(last, " ", self.area - indent)
        first, *others = [line for line in lines if line]
        start = name if is_wide else name + answer
        return [start + first, *(" " * indent + line for line in others)]

    def _start(self, rule: ShownRule) -> tuple[str, str]:
        """Return the name of a rule and, in a list, its class."""
        if self.form == "set":
            return f" {rule.name:<{self.name}}  ", ""
        name = f"{rule.name:>{self.name}}  " if self.name else ""
        space = " " * max(self.label - cells(rule.then), 0)
        word = "if " if rule.conditions else ""
        return name, f"{rule.then}{space}  {word}"


def _titled(block: Block) -> str:
    return GAP.join(part for part in (block.title, block.about) if part)


def _stacked(title: str) -> tuple[str, str]:
    """Return a title in two lines."""
    first, _, last = title.partition(" ")
    return first, last


def _own_line(
    condition: ShownCondition, others: Sequence[ShownCondition], width: int
) -> list[str]:
    """Return a condition below others: the feature, and beside it what it may be."""
    names = [cells(other.feature) for other in others]
    name = max((n for n in names if n <= _WIDE_NAME), default=0)
    start = condition.feature + " " * max(name - cells(condition.feature), 0) + "  "
    indent = cells(start) if cells(start) <= _WIDE_NAME + 2 else 4
    found = filled(condition.allowed.split(" "), " ", width - indent)
    if cells(start) > indent:
        return [
            *filled([start.rstrip()], "", width),
            *(f"    {line}" for line in found),
        ]
    return [start + found[0], *(" " * indent + line for line in found[1:])]


def words(text: str) -> list[str]:
    """Return the words of a sentence; a number stays with the sign that is its unit.

    Examples
    --------
    >>> words("open (33.3 %) or > 99 % of 2")
    ['open', '(33.3 %)', 'or', '> 99 %', 'of', '2']
    """
    return re.split(r"(?<![<>]) (?!%)", text)


def filled(pieces: Sequence[str], separator: str, width: int) -> list[str]:
    """Return pieces in lines of a width, parted behind separators where possible.

    Examples
    --------
    >>> filled(["color = red", "size ≠ small", "age ≥ 40"], " · ", 28)
    ['color = red · size ≠ small ·', 'age ≥ 40']
    """
    lines, end = [""], separator.rstrip()
    for index, piece in enumerate(pieces):
        behind = end if index < len(pieces) - 1 else ""
        joined = lines[-1] + separator + piece if lines[-1] else piece
        if cells(joined + behind) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines[-1] += end
            lines.append("")
        *full, last = parted(piece, width - cells(behind))
        lines[-1:] = [*full, last]
    return lines


def parted(piece: str, width: int) -> list[str]:
    """Return a piece in lines: at spaces, or, of a word that is wider, anywhere."""
    lines = [""]
    for word in piece.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cells(joined) <= width:
            lines[-1] = joined
            continue
        rest = word
        if lines[-1]:
            lines.append("")
        while len(rest) > 1 and cells(rest) > width:
            cut = _fitting(rest, width)
            lines[-1:] = [rest[:cut], ""]
            rest = rest[cut:]
        lines[-1] = rest
    return lines


def _fitting(text: str, width: int) -> int:
    """Return how many characters of a text fit into a width, at least one."""
    cut = 1
    while cut < len(text) and cells(text[: cut + 1]) <= width:
        cut += 1
    return cut


def cells(text: str) -> int:
    """Return how wide a text is on a terminal.

    Examples
    --------
    >>> cells("size"), cells("尺寸")
    (4, 4)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )
