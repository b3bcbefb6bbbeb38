"""A document as HTML for notebooks: tables and lines, escaped, without scripts.

Colours are those of the page around it, so that light and dark themes both work; only
faint lines and words have a colour of their own, half-transparent.
"""

import re
from collections.abc import Sequence
from html import escape

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
    ShownRule,
)

# Notebooks have styles for tables; a class said three times goes before them.
_STYLE = """\
.nn2rules{font-size:13px;line-height:1.45;color:inherit;max-width:72em;overflow-x:auto;\
overflow-wrap:anywhere}
.nn2rules table{border-collapse:collapse;table-layout:auto;margin:.4em 0 .9em;\
color:inherit}
.nn2rules td{padding:.15em .8em .15em 0;vertical-align:top;text-align:left;border:0;\
line-height:1.45;white-space:normal;max-width:none}
.nn2rules table tr:nth-child(n){background:none;\
border-top:1px solid rgba(128,128,128,.25)}
.nn2rules table tr:first-child{border-top:0}
.nn2rules td.number{text-align:right;white-space:nowrap;\
font-variant-numeric:tabular-nums}
.nn2rules .faint{opacity:.65}
.nn2rules .name{opacity:.65}
.nn2rules .short{white-space:nowrap}
.nn2rules .title,.nn2rules .strong{font-weight:600}
.nn2rules .piece{unicode-bidi:isolate}
.nn2rules .kept{display:inline-block}
.nn2rules .below{padding-left:1.5em;text-indent:-1.5em}
.nn2rules p{margin:.2em 0}
.nn2rules .warning{color:#b3261e;font-weight:600}
@media (prefers-color-scheme:dark){.nn2rules .warning{color:#f2b8b5}}
[data-jp-theme-light="true"] .nn2rules .warning,\
.vscode-light .nn2rules .warning{color:#b3261e}
[data-jp-theme-light="false"] .nn2rules .warning,\
.vscode-dark .nn2rules .warning{color:#f2b8b5}""".replace(".nn2rules", 3 * ".nn2rules")

_SHORT = 24  # characters that are not parted
_LINE = 100  # characters of rules that have one line
_SPACE = " &ensp; "


def html_of(document: Document) -> str:
    """Return a document as a notebook shows it."""
    parts: list[str] = []
    for section in document.sections:
        if isinstance(section, RuleTable):
            parts += _table_of_rules(section)
        else:
            parts += map(_html, section)
    inner = "\n".join(part for part in parts if part)
    return f'<div class="nn2rules"><style>{_STYLE}</style>\n{inner}\n</div>'


def _html(part: Part) -> str:
    """Return a part as HTML."""
    if isinstance(part, Heading):
        return f"<p>{_piece(part.text, part.kind)}</p>"
    if isinstance(part, Paragraph):
        return _paragraph(part) if part.text else ""
    if isinstance(part, Grid):
        return _grid(part)
    if isinstance(part, Items):
        return _items(part)
    return f"<p>{''.join(map(_inline, part.pieces))}</p>"


def _inline(piece: Piece | str) -> str:
    if isinstance(piece, Piece):
        return _piece(piece.text, piece.kind)
    return _SPACE if piece == GAP else escape(piece)


def _items(part: Items) -> str:
    """Return items in a row; between spaces they are kept whole."""
    pieces = map(_piece, part.texts)
    if part.between == GAP:
        return f"<p>{_SPACE.join(map(_kept, pieces))}</p>"
    return f"<p>{escape(part.between).join(pieces)}</p>"


def _piece(text: str, kind: str = "") -> str:
    """Return words of their own, regardless of the direction of their writing.

    Few characters are not parted, and spaces at the start are kept.

    Examples
    --------
    >>> _piece("a < b")
    '<span class="piece short">a &lt; b</span>'
    """
    kinds = ["piece", *["short"] * (len(text) <= _SHORT), *[kind] * bool(kind)]
    words = text.lstrip(" ")
    start = "&nbsp;" * 2 * (len(text) - len(words))
    return f'<span class="{" ".join(kinds)}">{start}{escape(words)}</span>'


def _kept(inner: str) -> str:
    """Return HTML that is parted only where it is wider than the page."""
    return f'<span class="kept">{inner}</span>'


def _below(inner: str) -> str:
    """Return HTML as a line of its own."""
    return f'<div class="below">{inner}</div>'


def _paragraph(part: Paragraph) -> str:
    """Return sentences, in which numbers stay with their unit."""
    named = f' class="{part.kind}"' if part.kind else ""
    words = re.sub(r"(?<=[<>]) | (?=%)", "\N{NO-BREAK SPACE}", part.text)
    return f"<p{named}>{escape(words)}</p>"


def _grid(grid: Grid) -> str:
    """Return a grid as a table."""
    kinds = grid.kinds or ("",) * len(grid.numbers)
    rows = [[_piece(text, "faint") for text in grid.header]] if any(grid.header) else []
    rows += [list(map(_piece, row, kinds)) for row in grid.rows]
    return _table(rows, grid.numbers)


def _table(rows: Sequence[Sequence[str]], numbers: Sequence[bool]) -> str:
    """Return rows of cells that are HTML already; some of the columns are numbers."""
    lines = []
    for row in rows:
        cells = [
            f'<td class="number">{cell}</td>' if is_number else f"<td>{cell}</td>"
            for cell, is_number in zip(row, numbers, strict=False)
        ]
        if len(row) < len(numbers):  # the last takes the place of all others
            cells[-1] = f'<td colspan="{len(numbers) - len(row) + 1}">{row[-1]}</td>'
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _table_of_rules(table: RuleTable) -> list[str]:
    """Return blocks of rules; of a set, what none decides comes below them."""
    blocks, rest = [_block(table, block) for block in table.blocks], table.otherwise
    if table.form == "set" and rest is not None:
        blocks.append(f"<p>{_piece(rest.then, 'strong')} {_piece(rest.remark)}</p>")
    return blocks


def _block(table: RuleTable, block: Block) -> str:
    """Return a table with a row for each rule."""
    is_list = table.form == "list"
    words = [_piece(block.title, "strong")] if block.title else []
    words += [_piece(block.about, "faint")] if block.about else []
    title = "" if not words else f"<p>{' &ensp; '.join(words)}</p>"
    n_words = 3 if is_list else 2
    rows = [[*[""] * n_words, *(_piece(name, "faint") for name in table.columns)]]
    rows = rows if table.columns else []
    rows += [_row(rule, is_list=is_list) for rule in block.rules]
    if block.hidden:
        more = [
            _piece("…", "name"),
            *[""] * (n_words - 2),
            _piece(block.hidden, "faint"),
        ]
        rows.append([*more, *[""] * len(table.columns)])
    if is_list and table.otherwise is not None:
        rows.append(_row(table.otherwise, is_list=True))
    numbers = [*[False] * n_words, *[True] * len(table.columns)]
    return title + _table(rows, numbers)


def _row(rule: ShownRule, *, is_list: bool) -> list[str]:
    """Return the cells of a rule."""
    words = _words(rule)
    if is_list and rule.conditions:
        words = f"if {words}"
    then = [_piece(rule.then, "strong")] if is_list else []
    numbers = (_piece(number) for number in rule.numbers)
    return [_piece(rule.name, "name"), *then, words, *numbers]


def _words(rule: ShownRule) -> str:
    """Return what a rule says: in one line or, if it is long, many values below."""
    remark = [rule.remark] if rule.remark else []
    said, lines = [*(c.text for c in rule.conditions), *remark], []
    long = [c for c in rule.conditions if c.is_long]
    if long and len(" · ".join(said)) > _LINE:
        said = [c.text for c in rule.conditions if not c.is_long]
        lines = [
            f"{_piece(c.feature, 'name')} &ensp; {_piece(c.allowed)}" for c in long
        ]
        lines += [_piece(text) for text in remark]
    *most, last = said or [""]
    pieces = [_kept(f"{_piece(text)} ·") for text in most]
    pieces += [_kept(_piece(last))] if last else [lines.pop(0)]
    return " ".join(pieces) + "".join(_below(line) for line in lines)
