"""An audit as one page: sections of sentences and grids."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from nn2rules.language import (
    condition_text,
    count,
    input_conditions,
    label_text,
    quoted,
    share,
    value_words,
)
from nn2rules.output import Document, Grid, Heading, Paragraph, Part
from nn2rules.questions.explain import change_text
from nn2rules.questions.verify import Verdict
from nn2rules.rules import Rule, RuleList
from nn2rules.space import Value, whole_number

if TYPE_CHECKING:
    from nn2rules.questions.audit.result import (
        Audit,
        FragileRow,
        Group,
        Protected,
        Trend,
    )

INFLUENCE = "What can turn an answer, alone"
"""The title of the section on all features."""


def _grid(
    header: tuple[str, ...],
    rows: Iterable[tuple[str, ...]],
    numbers: tuple[bool, ...],
) -> Grid:
    return Grid(tuple(rows), numbers, header, indent=2)


def amount(number: int | None) -> str:
    """Return a number, or nothing where it is not known."""
    return "" if number is None else f"{number:,}"


def part(number: int | None, total: int | None) -> str:
    """Return a share in percent, or nothing where it is not known."""
    return "" if number is None or not total else share(number, total)


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
        parts.append(_grid(header, tuple(rows), numbers))
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
    return said, _grid(blank, rows, (False,) * len(rows[0]))


def _along(trend: "Trend") -> str:
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


def protected_parts(audit: "Audit", top: int) -> tuple[str | Grid, ...]:
    """Return what is said of each protected feature."""
    parts: list[str | Grid] = []
    for feature, found in audit.protected.items():
        name = quoted(feature)
        parts += [""] if parts else []
        if found.status == "unseen":
            parts.append(
                f"{name} is no feature of the model, which does not see it. Other "
                f"features may still go along with it; the groups below show that."
            )
        elif found.status == "never":
            parts.append(f"{name} alone never turns an answer: proved for every input.")
        elif found.status == "open":
            why = "" if found.verdict is None else f" ({found.verdict.reason})"
            parts.append(
                f"{name} is open{why}: no input was found at which it alone turns the "
                f"answer, and none is excluded."
            )
        else:
            parts += _turning(audit, found, top)
    return tuple(parts)


def _turning(audit: "Audit", found: "Protected", top: int) -> list[str | Grid]:
    """Say of how many, which way, and by which rules."""
    verdict = found.verdict
    assert verdict is not None, "it was verified"
    amounts = []
    if found.rows is not None and found.of_rows:
        part = share(found.rows, found.of_rows)
        amounts.append(f"of {found.rows:,} of {count(found.of_rows, 'row')} ({part})")
    if found.inputs is not None and found.of_inputs:
        part = share(found.inputs, found.of_inputs)
        total = count(found.of_inputs, "input")
        amounts.append(f"at {found.inputs:,} of {total} ({part})")
    said = f": {', and '.join(amounts)}" if amounts else ""
    parts: list[str | Grid] = [f"{quoted(found.feature)} alone turns the answer{said}."]
    parts += [_ways(verdict)] if len(verdict.ways) > 1 or _is_telling(verdict) else []
    parts += [] if len(parts) > 1 else _by_value(audit, found)
    rules = found.rules
    if rules is None:
        parts += _example(audit, verdict)
    elif top:
        parts += _rules(rules, top)
    return parts


def _is_telling(verdict: Verdict) -> bool:
    return any(way != "turns" for way in verdict.ways)


def _ways(verdict: Verdict) -> Grid:
    """Return which answer each value gets, and how often that is so."""
    ways = sorted(verdict.ways, key=lambda way: -verdict.row_ways.get(way, 0))
    rows = tuple(
        (amount(verdict.row_ways.get(way, 0)), amount(verdict.ways[way]), way)
        for way in ways
    )
    return _grid(("rows", "inputs", "answers"), rows, (True, True, False))


def _by_value(audit: "Audit", found: "Protected") -> list[str | Grid]:
    """Return what the rows that turn would get with each value."""
    if not found.answers:
        return []
    feature = audit.domain.feature(found.feature)
    header = ("if all of these rows had", *map(label_text, audit.classes))
    rows = tuple(
        (value_words(feature, value), *(amount(n) for n in by_class.values()))
        for value, by_class in found.answers.items()
    )
    return [_grid(header, rows, (False, *[True] * len(audit.classes)))]


def _rules(rules: RuleList, top: int) -> list[str | Grid]:
    """Return the first rules of each way to turn."""
    verb = "holds" if len(rules) == 1 else "hold"
    first = "" if len(rules) == 1 else "; the first"
    parts: list[str | Grid] = [
        f"{count(len(rules), 'rule')} {verb} exactly these inputs{first}:"
    ]
    by_way: dict[str, list[Rule]] = {}
    for rule in rules.rules:
        by_way.setdefault(str(rule.then), []).append(rule)
    ways = sorted(by_way, key=lambda way: -(by_way[way][0].covered or 0))
    for way in ways:
        shown = tuple(
            (amount(rule.covered), amount(rule.inputs), rule_words(rules, rule))
            for rule in by_way[way][:top]
        )
        parts.append(_grid(("rows", "inputs", way), shown, (True, True, False)))
    return parts


def rule_words(rules: RuleList, rule: Rule) -> str:
    """Return the conditions of a rule."""
    return " · ".join(
        condition_text(rules.domain.feature(c.feature), c.values)
        for c in rule.conditions
    )


def _example(audit: "Audit", verdict: Verdict) -> list[str | Grid]:
    """Return two inputs that differ in the feature alone, where there are no rules."""
    found, answer = verdict.counterexample, verdict.answer
    if not isinstance(found, tuple) or not isinstance(answer, tuple):
        return []
    one, other = found
    where = "of this row" if verdict.distance == 0 else "here"
    shared = [name for name in one if one[name] == other[name]]
    rows = [
        (
            " · ".join(
                input_conditions(
                    audit.domain, {n: row[n] for n in row if n not in shared}
                )
            ),
            label_text(label),
        )
        for row, label in zip(found, answer, strict=True)
    ]
    same = {name: one[name] for name in shared}
    said = " · ".join(input_conditions(audit.domain, same))
    return [
        f"For example {where}:",
        _grid(("",), ((said,),), (False,)),
        _grid(("", ""), tuple(rows), (False, False)),
    ]


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
        parts.append(_grid(header, rows, (False, *[True] * (len(header) - 1))))
        if len(kept) < len(groups):
            left = sum(group.rows for group in groups) - sum(g.rows for g in kept)
            more = count(len(groups) - len(kept), "more group")
            parts.append(f"… and {more} with {count(left, 'row')}")
    return tuple(parts)


def _group(group: "Group", shown: tuple[Value, ...]) -> tuple[str, ...]:
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
    return f"{said} each.", _grid(header, rows, (True, False, False, True, False))


def turned_by(one: "FragileRow") -> str:
    """Say what turns a row: the first of the fewest changes."""
    found = one.explanation
    if not found.changes:
        return "nothing" if found.proved.fewest else "open"
    more = len(found.changes) - 1
    said = change_text(found, found.changes[0])
    return f"{said} · or {count(more, 'other way')}" if more else said


def document_of(audit: "Audit", top: int) -> Document:
    """Return the page, with the `top` rules of each way to turn."""
    top = whole_number("top", top)
    asked = " or ".join(label_text(label) for label in audit.classes)
    sections = {
        f"Audit: {asked}?": _head(audit),
        "Protected features": protected_parts(audit, top),
        INFLUENCE: influence_parts(audit),
        "Which way the answer goes as a feature grows": monotone_parts(audit),
        "What becomes of groups": shares_parts(audit),
        "The most fragile rows": fragile_parts(audit),
    }
    return Document(
        tuple(
            (Heading(title), *map(_part, parts))
            for title, parts in sections.items()
            if parts
        )
    )


def _part(part: str | Grid) -> Part:
    return Paragraph(part, keeps_units=False) if isinstance(part, str) else part


def _head(audit: "Audit") -> tuple[str | Grid, ...]:
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
    parts: list[str | Grid] = [*audit.warnings, " · ".join(size), how]
    if audit.open:
        parts.append(
            f"Still open (by default a minute is spent; --time or time= gives more): "
            f"{', '.join(audit.open)}."
        )
    return tuple(parts)
