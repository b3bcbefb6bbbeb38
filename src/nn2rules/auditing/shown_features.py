"""What the page says of features: what they turn, and which way."""

from typing import TYPE_CHECKING

from nn2rules.auditing.findings import Trend
from nn2rules.auditing.grids import Grid, amount, part
from nn2rules.text import label_text, quoted

if TYPE_CHECKING:
    from nn2rules.auditing.report import Audit


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
