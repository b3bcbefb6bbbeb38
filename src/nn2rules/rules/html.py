"""Rules as HTML for notebooks: the same page that is printed."""

from nn2rules.markup import document, paragraph, piece, table
from nn2rules.rules.head import Head
from nn2rules.rules.page import Block, Page, ShownRule


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
        items = [piece(f"{name} {part}".rstrip()) for name, part in head.influences]
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
    if is_list and page.otherwise is not None:
        rows.append(_row(page.otherwise, is_list=True))
    numbers = [*[False] * n_words, *[True] * len(page.columns)]
    hidden = paragraph(f"… {block.hidden}", "faint") if block.hidden else ""
    return title + table(rows, numbers) + hidden


def _row(rule: ShownRule, *, is_list: bool) -> list[str]:
    """Return the cells of a rule."""
    pieces = [piece(c.text) for c in rule.conditions]
    pieces += [piece(rule.remark)] if rule.remark else []
    words = " · ".join(pieces)
    if is_list and rule.conditions:
        words = f"if {words}"
    then = [piece(rule.then, "strong")] if is_list else []
    numbers = (piece(number) for number in rule.numbers)
    return [piece(rule.name, "name"), *then, words, *numbers]
