"""What the page says of features, groups and rows."""

from typing import TYPE_CHECKING

from nn2rules.auditing.findings import FragileRow, Group, Trend
from nn2rules.auditing.grids import Grid, amount, part
from nn2rules.explaining.wording import change_text
from nn2rules.text import count, label_text, quoted
from nn2rules.values import Value

if TYPE_CHECKING:
    from nn2rules.auditing.report import Audit

_GROUPS = 10  # so many groups are shown


def head_parts(audit: "Audit") -> tuple[str | Grid, ...]:
    """Return what was audited, and how sure it is."""
    size = [count(len(audit.domain.names), "feature")]
    inputs = audit.domain.n_numbers
    if inputs is not None:
        text = f"{inputs:,}" if inputs < 10**12 else f"{float(inputs):.1e}"
        size.append(f"{text} possible inputs")
    size.append(count(audit.rows, "row"))
    how = "All inputs were looked at: what is said of them is proved, and counted."
    if audit.how == "table" and audit.open:
        how = "There are few enough inputs to look at each, but not in this time."
    elif audit.how == "search":
        how = (
            "The inputs are too many to look at each: they were searched, so what is "
            "said of them is proved or open; rows are counted."
        )
    parts: list[str | Grid] = [" · ".join(size), how]
    if audit.open:
        parts.append(f"Open, as the budget was spent: {', '.join(audit.open)}.")
    return tuple(parts)


def influence_parts(audit: "Audit") -> tuple[str | Grid, ...]:
    """Return how often each feature turns an answer, and which are dead."""
    found = [one for one in audit.influence.values() if one.status != "dead"]
    parts: list[str | Grid] = []
    if found:
        has_inputs = any(one.inputs is not None for one in found)
        header = ("", "rows", "", *(("inputs", "") if has_inputs else ()), "")
        rows = []
        for one in found:
            inputs = (amount(one.inputs), part(one.inputs, one.of_inputs))
            rows.append(
                (
                    quoted(one.feature),
                    amount(one.rows),
                    part(one.rows, one.of_rows),
                    *(inputs if has_inputs else ()),
                    _remark(audit, one.status, one.of_rows),
                )
            )
        numbers = (False, *[True] * (len(header) - 2), False)
        parts.append(Grid(header, tuple(rows), numbers))
    if audit.dead:
        names = ", ".join(map(quoted, audit.dead))
        parts.append(f"Dead, proved never to turn an answer: {names}.")
    elif not any(one.status == "open" for one in found):
        parts.append("No feature is dead: each turns some answer.")
    return tuple(parts)


def _remark(audit: "Audit", status: str, of_rows: int | None) -> str:
    said = ["open"] if status == "open" else []
    if of_rows is not None and of_rows != audit.rows:
        said.append(f"of {of_rows:,} rows, drawn")
    return "; ".join(said)


def monotone_parts(audit: "Audit") -> tuple[str | Grid, ...]:
    """Return the direction of each ordered feature."""
    trends = [each for by in audit.monotone.values() for each in by.values()]
    if not trends:
        return ()
    has_classes = len(audit.classes) > 2
    rows = tuple(
        (
            quoted(trend.feature),
            *((label_text(trend.toward),) if has_classes else ()),
            trend.direction,
            _along(trend),
        )
        for trend in trends
    )
    toward = "the class named" if has_classes else label_text(audit.classes[1])
    said = f"Toward {toward}; a context is one choice of all other features."
    blank = ("",) * len(rows[0])
    return said, Grid(blank, rows, (False,) * len(rows[0]))


def _along(trend: Trend) -> str:
    """Say in how many contexts the class is gained and lost."""
    if trend.direction == "constant":
        return "it alone neither gains nor loses the class"
    said, is_counted = [], False
    for verdict, verb, number in (
        (trend.decreasing, "gained", trend.rises),
        (trend.increasing, "lost", trend.falls),
    ):
        if verdict is None or verdict.status == "proved":
            said.append(f"never {verb}")
        elif verdict.status == "open":
            said.append(f"open whether {verb}")
        elif number is None:
            said.append(f"{verb} in some contexts")
        else:
            said.append(f"{verb} in {number:,}")
            is_counted = True
    of = f" of {amount(trend.contexts)} contexts" if is_counted else ""
    if is_counted and said[-1].startswith("never"):
        said = [f"{said[0]}{of}", said[1]]
        of = ""
    return f"{label_text(trend.toward)} {', '.join(said)}{of}"


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
