"""Rules as HTML for notebooks: the same page that is printed."""

from nn2rules.output import below, document, kept, paragraph, piece, table
from nn2rules.rules.head import Head
from nn2rules.rules.page import Block, Page, ShownRule

_LINE = 100  # characters of rules that have one line


def html_of_page(page: Page) -> str:
    """Return what `RuleList._repr_html_` does."""
    blocks = [_block(page, block) for block in page.blocks]
    rest = page.otherwise
    if page.form == "set" and rest is not None:
        blocks.append(f"<p>{piece(rest.then, 'strong')} {piece(rest.remark)}</p>")
    return document([*_head(page.head), *blocks])


def _head(head: Head) -> list[str]:
    """Return what stands above the rules."""
    parts = [paragraph(text, "warning") for text in head.warnings]
    if head.title:
        title, size = piece(head.title, "title"), piece(head.size, "faint")
        parts.append(f"<p>{title} &ensp; {size}</p>")
    parts += [paragraph(text) for text in head.sentences]
    if head.influences:
        items = [
            kept(piece(f"{name} {part}".rstrip())) for name, part in head.influences
        ]
        parts += [paragraph(head.turning), f"<p>{' &ensp; '.join(items)}</p>"]
    return parts


def _block(page: Page, block: Block) -> str:
    """Return a table with a row for each rule."""
    is_list = page.form == "list"
    words = [piece(block.title, "strong")] if block.title else []
    words += [piece(block.about, "faint")] if block.about else []
    title = "" if not words else f"<p>{' &ensp; '.join(words)}</p>"
    n_words = 3 if is_list else 2
    rows = [[*[""] * n_words, *(piece(name, "faint") for name in page.columns)]]
    rows = rows if page.columns else []
    rows += [_row(rule, is_list=is_list) for rule in block.rules]
    if block.hidden:
        more = [piece("…", "name"), *[""] * (n_words - 2), piece(block.hidden, "faint")]
        rows.append([*more, *[""] * len(page.columns)])
    if is_list and page.otherwise is not None:
        rows.append(_row(page.otherwise, is_list=True))
    numbers = [*[False] * n_words, *[True] * len(page.columns)]
    return title + table(rows, numbers)


def _row(rule: ShownRule, *, is_list: bool) -> list[str]:
    """Return the cells of a rule."""
    words = _words(rule)
    if is_list and rule.conditions:
        words = f"if {words}"
    then = [piece(rule.then, "strong")] if is_list else []
    numbers = (piece(number) for number in rule.numbers)
    return [piece(rule.name, "name"), *then, words, *numbers]


def _words(rule: ShownRule) -> str:
    """Return what a rule says: in one line or, if it is long, many values below."""
    remark = [rule.remark] if rule.remark else []
    said, lines = [*(c.text for c in rule.conditions), *remark], []
    long = [c for c in rule.conditions if c.is_long]
    if long and len(" · ".join(said)) > _LINE:
        said = [c.text for c in rule.conditions if not c.is_long]
        lines = [f"{piece(c.feature, 'name')} &ensp; {piece(c.allowed)}" for c in long]
        lines += [piece(text) for text in remark]
    *most, last = said or [""]
    pieces = [kept(f"{piece(text)} ·") for text in most]
    pieces += [kept(piece(last))] if last else [lines.pop(0)]
    return " ".join(pieces) + "".join(below(line) for line in lines)
