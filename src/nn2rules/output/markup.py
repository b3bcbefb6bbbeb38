"""HTML for notebooks: tables and lines, escaped, without scripts.

Colours are those of the page around it, so that light and dark themes both work; only
faint lines and words have a colour of their own, half-transparent.
"""

import re
from collections.abc import Iterable, Sequence
from html import escape

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


def document(parts: Iterable[str]) -> str:
    """Return parts, which are HTML already, as what a notebook shows."""
    inner = "\n".join(part for part in parts if part)
    return f'<div class="nn2rules"><style>{_STYLE}</style>\n{inner}\n</div>'


def piece(text: str, kind: str = "") -> str:
    """Return words of their own, whatever the direction of their writing.

    Few characters are not parted, and spaces at the start are kept.

    Examples
    --------
    >>> piece("a < b")
    '<span class="piece short">a &lt; b</span>'
    """
    kinds = ["piece", *["short"] * (len(text) <= _SHORT), *[kind] * bool(kind)]
    words = text.lstrip(" ")
    start = "&nbsp;" * 2 * (len(text) - len(words))
    return f'<span class="{" ".join(kinds)}">{start}{escape(words)}</span>'


def kept(inner: str) -> str:
    """Return HTML that is parted only where it is wider than the page."""
    return f'<span class="kept">{inner}</span>'


def below(inner: str) -> str:
    """Return HTML as a line of its own."""
    return f'<div class="below">{inner}</div>'


def paragraph(text: str, kind: str = "") -> str:
    """Return a line of plain words, in which numbers stay with their unit."""
    named = f' class="{kind}"' if kind else ""
    words = re.sub(r"(?<=[<>]) | (?=%)", "\N{NO-BREAK SPACE}", text)
    return f"<p{named}>{escape(words)}</p>"


def table(rows: Sequence[Sequence[str]], numbers: Sequence[bool]) -> str:
    """Return rows of cells that are HTML already; some of the columns are numbers."""
    lines = []
    for row in rows:
        cells = (
            f'<td class="number">{cell}</td>' if is_number else f"<td>{cell}</td>"
            for cell, is_number in zip(row, numbers, strict=True)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of plain text, of which all columns but the first are numbers."""
    width = max(map(len, rows), default=0)
    shown = [[piece(cell) for cell in row] for row in rows]
    return table(shown, [False, *[True] * (width - 1)])
