"""HTML for notebooks: tables and lines, escaped, without scripts.

Colours are those of the page around it, so that light and dark themes both work; only
faint lines and words have a colour of their own, half-transparent.
"""

from collections.abc import Iterable, Sequence
from html import escape

_STYLE = """\
.nn2rules{font-size:13px;line-height:1.45;color:inherit;max-width:72em;overflow-x:auto}
.nn2rules table{border-collapse:collapse;table-layout:auto;margin:.4em 0 .9em;\
color:inherit}
.nn2rules td{padding:.15em .8em .15em 0;vertical-align:top;text-align:left;border:0;\
white-space:normal;max-width:none}
.nn2rules table tr:nth-child(n){background:none;\
border-top:1px solid rgba(128,128,128,.25)}
.nn2rules table tr:first-child{border-top:0}
.nn2rules td.number{text-align:right;white-space:nowrap;\
font-variant-numeric:tabular-nums}
.nn2rules .faint{opacity:.65}
.nn2rules .name{opacity:.65;white-space:nowrap}
.nn2rules .title,.nn2rules .strong{font-weight:600}
.nn2rules .piece{unicode-bidi:isolate;display:inline-block;max-width:60em;\
overflow-wrap:anywhere}
.nn2rules p{margin:.2em 0}
.nn2rules .warning{color:#b3261e;font-weight:600}
@media (prefers-color-scheme:dark){.nn2rules .warning{color:#f2b8b5}}
[data-jp-theme-light="true"] .nn2rules .warning,\
.vscode-light .nn2rules .warning{color:#b3261e}
[data-jp-theme-light="false"] .nn2rules .warning,\
.vscode-dark .nn2rules .warning{color:#f2b8b5}"""


def document(parts: Iterable[str]) -> str:
    """Return parts, which are HTML already, as what a notebook shows."""
    inner = "\n".join(part for part in parts if part)
    return f'<div class="nn2rules"><style>{_STYLE}</style>\n{inner}\n</div>'


def piece(text: str, kind: str = "") -> str:
    """Return words that stay together, whatever the direction of their writing.

    Examples
    --------
    >>> piece("a < b")
    '<span class="piece">a &lt; b</span>'
    """
    return f'<span class="{f"piece {kind}".strip()}">{escape(text)}</span>'


def paragraph(text: str, kind: str = "") -> str:
    """Return a line of plain words."""
    named = f' class="{kind}"' if kind else ""
    return f"<p{named}>{escape(text)}</p>"


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
