"""Rules as text for people: the page in lines of a given width."""

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nn2rules.errors import OptionError
from nn2rules.language import condition_text, label_text
from nn2rules.rules.facts import by_influence
from nn2rules.rules.head import Head
from nn2rules.rules.page import Block, Page, ShownCondition, ShownRule, unless_text
from nn2rules.space import whole_number

if TYPE_CHECKING:
    from nn2rules.rules.rule import Rule
    from nn2rules.rules.rule_list import RuleList

_GAP = "   "
_WIDE_NAME = 24  # a longer class, or feature, is not waited for by the others
_NARROWEST = 60
_ROOM = 24  # for the words of rules, however many columns there are


def text_of_page(page: Page, width: int) -> str:
    """Return a page as text, no line wider than `width` where words can be parted."""
    width = whole_number("width", width)
    if width < _NARROWEST:
        raise OptionError(f"width: {width}, expected {_NARROWEST} or more")
    table = _Table(page, width)
    parts = [_head(page.head, width)]
    blocks = [table.block(block) for block in page.blocks]
    if page.form == "list" and page.otherwise is not None:
        blocks[-1] += table.rule(page.otherwise)
    elif page.otherwise is not None:
        said = f"{page.otherwise.then}{_GAP}{page.otherwise.remark}"
        blocks.append(filled(_words(said), " ", width))
    is_short = len(parts[0]) <= 1 and len(blocks) <= 2
    parts = [part for part in (*parts, *blocks) if part]
    return ("\n" if is_short else "\n\n").join("\n".join(part) for part in parts)


def _head(head: Head, width: int) -> list[str]:
    """Return what stands above the rules."""
    lines = [
        line
        for text in head.warnings
        for line in filled(_words(" ".join(text.split())), " ", width)
    ]
    if head.title:
        both = f"{head.title}{_GAP}{head.size}"
        titles = [both] if cells(both) <= width else [head.title, head.size]
        lines += [
            line for title in titles for line in filled(_words(title), " ", width)
        ]
    for sentence in head.sentences:
        lines += filled(_words(sentence), " ", width)
    if head.influences:
        items = [f"{name} {part}".rstrip() for name, part in head.influences]
        lines += ["", *filled(_words(head.turning), " ", width)]
        lines += [f"  {line}" for line in filled(items, _GAP, width - 2)]
    return lines


class _Table:
    """Where the columns of a page are: names, rules, and numbers at the right."""

    def __init__(self, page: Page, width: int) -> None:
        rules = [rule for block in page.blocks for rule in block.rules]
        rest = [page.otherwise] if page.form == "list" and page.otherwise else []
        self.page, self.width = page, width
        self.name = max((len(rule.name) for rule in rules), default=0)
        labels = [cells(rule.then) for rule in (*rules, *rest)]
        self.label = max((n for n in labels if n <= _WIDE_NAME), default=0)
        numbers = [rule.numbers for rule in (*rules, *rest)]
        self.titles, self.area = [page.columns], width
        self._measure(numbers)
        if self.area == _ROOM or any(len(self._lines(rule)) > 1 for rule in rules):
            self.titles = [*zip(*(_stacked(t) for t in page.columns), strict=True)]
            self._measure(numbers)
        lines = [self._lines(rule)[0] for rule in (*rules, *rest)]
        lines += [_titled(block) for block in page.blocks]
        used = [n for n in map(cells, lines) if n <= self.area]
        self.area = max(used, default=self.area)

    def _measure(self, numbers: Sequence[Sequence[str]]) -> None:
        """Work out how wide the columns are, and how much is left for the rules."""
        columns = zip(*self.titles, *numbers, strict=True)
        self.numbers = [max(map(len, column)) for column in columns]
        taken = sum(n + len(_GAP) for n in self.numbers)
        self.area = max(self.width - taken, _ROOM)

    def block(self, block: Block) -> list[str]:
        """Return the lines of a block: its title, its rules, what is not shown."""
        lines, title = [], _titled(block)
        if cells(title) > self.area:
            lines, title = filled(_words(title), " ", self.width), ""
        *above, last = self.titles or [()]
        lines += [self._with_numbers("", titles) for titles in above]
        if title or last:
            lines.append(self._with_numbers(title, last))
        for rule in block.rules:
            lines += self.rule(rule)
        if block.hidden:
            start = f"{'…':>{self.name}}  "
            if self.page.form == "set":
                start = f" {'…':<{self.name}}  "
            found = filled(_words(block.hidden), " ", self.width - len(start))
            lines += [start + found[0], *(" " * len(start) + f for f in found[1:])]
        return lines

    def rule(self, rule: ShownRule) -> list[str]:
        """Return a rule in lines, the first of which has its numbers."""
        first, *others = self._lines(rule)
        return [self._with_numbers(first, rule.numbers), *others]

    def _with_numbers(self, text: str, numbers: Sequence[str]) -> str:
        space = " " * max(self.area - cells(text), 0)
        ends = zip(numbers, self.numbers, strict=True)
        return (text + space + "".join(f"{_GAP}{n:>{w}}" for n, w in ends)).rstrip()

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
            lines = [*_parted(answer.strip(), self.area - indent), *lines]
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
        if self.page.form == "set":
            return f" {rule.name:<{self.name}}  ", ""
        name = f"{rule.name:>{self.name}}  " if self.name else ""
        space = " " * max(self.label - cells(rule.then), 0)
        word = "if " if rule.conditions else ""
        return name, f"{rule.then}{space}  {word}"


def _titled(block: Block) -> str:
    return _GAP.join(part for part in (block.title, block.about) if part)


def _stacked(title: str) -> tuple[str, str]:
    """Return a title in two lines."""
    first, _, last = title.partition(" ")
    return first, last


def _words(text: str) -> list[str]:
    """Return the words of a sentence; a number stays with the sign that is its unit.

    Examples
    --------
    >>> _words("open (33.3 %) or > 99 % of 2")
    ['open', '(33.3 %)', 'or', '> 99 %', 'of', '2']
    """
    return re.split(r"(?<![<>]) (?!%)", text)


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
        *full, last = _parted(piece, width - cells(behind))
        lines[-1:] = [*full, last]
    return lines


def _parted(piece: str, width: int) -> list[str]:
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


def text_of_rule(rules: "RuleList", rule: "Rule") -> str:
    """Return what `RuleList.rule_text` does."""
    parts = [
        condition_text(rules.domain.feature(c.feature), c.values)
        for c in sorted(rule.conditions, key=by_influence(rules))
    ]
    premise = " and ".join(parts) if parts else "anything"
    unless = unless_text(rule.unless)
    return f"if {premise} then {label_text(rule.then)} {unless}".rstrip()
