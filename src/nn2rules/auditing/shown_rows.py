"""What the page says of rows: what becomes of groups, and which rows are fragile."""

from typing import TYPE_CHECKING

from nn2rules.auditing.findings import FragileRow, Group
from nn2rules.auditing.grids import Grid, amount, part
from nn2rules.explaining.wording import change_text
from nn2rules.text import count, label_text, quoted
from nn2rules.values import Value

if TYPE_CHECKING:
    from nn2rules.auditing.report import Audit

_GROUPS = 10  # so many groups are shown


def shares_parts(audit: "Audit") -> tuple[str | Grid, ...]:
    """Return the classes of each group."""
    parts: list[str | Grid] = []
    shown = audit.classes[1:] if len(audit.classes) == 2 else audit.classes
    for name, groups in audit.shares.items():
        has_labels = any(group.labels is not None for group in groups)
        header = (quoted(name), "rows", *(f"answered {label_text(c)}" for c in shown))
        if has_labels:
            header += tuple(f"labelled {label_text(c)}" for c in shown)
        largest = sorted(groups, key=lambda group: -group.rows)[:_GROUPS]
        kept = [group for group in groups if group in largest]
        rows = tuple(_group(group, shown) for group in kept)
        parts.append(Grid(header, rows, (False, *[True] * (len(header) - 1))))
        if len(kept) < len(groups):
            left = sum(group.rows for group in groups) - sum(g.rows for g in kept)
            more = count(len(groups) - len(kept), "more group")
            parts.append(f"… and {more} with {count(left, 'row')}")
    return tuple(parts)


def _group(group: Group, shown: tuple[Value, ...]) -> tuple[str, ...]:
    counts = [group.classes[label] for label in shown]
    if group.labels is not None:
        counts += [group.labels[label] for label in shown]
    shares = (part(number, group.rows) for number in counts)
    return group.text, amount(group.rows), *shares


def fragile_parts(audit: "Audit") -> tuple[str | Grid, ...]:
    """Return the rows with the smallest margins, and what turns them."""
    if not audit.fragile:
        return ()
    said = "Rows, from 0, with the smallest margins, and the fewest changes that turn"
    rows = tuple(
        (
            str(one.place),
            f"× {one.times:,}" if one.times > 1 else "",
            label_text(one.explanation.answer),
            f"{one.explanation.margin:.2g}",
            turned_by(one),
        )
        for one in audit.fragile
    )
    header = ("row", "", "answer", "margin", "turns with")
    return f"{said} each.", Grid(header, rows, (True, False, False, True, False))


def turned_by(one: FragileRow) -> str:
    """Say what turns a row: the first of the fewest changes."""
    found = one.explanation
    if not found.changes:
        return "nothing" if found.proved.fewest else "open"
    more = len(found.changes) - 1
    said = change_text(found, found.changes[0])
    return f"{said} · or {count(more, 'other way')}" if more else said
