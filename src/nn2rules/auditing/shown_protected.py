"""What the page says of protected features."""

from typing import TYPE_CHECKING

from nn2rules.auditing.findings import Protected
from nn2rules.auditing.grids import Grid, amount
from nn2rules.input_text import input_conditions, value_words
from nn2rules.rules import Rule, RuleList
from nn2rules.text import (
    condition_text,
    count,
    label_text,
    quoted,
    share,
)
from nn2rules.verifying import Verdict

if TYPE_CHECKING:
    from nn2rules.auditing.report import Audit


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


def _turning(audit: "Audit", found: Protected, top: int) -> list[str | Grid]:
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
    return Grid(("rows", "inputs", "answers"), rows, (True, True, False))


def _by_value(audit: "Audit", found: Protected) -> list[str | Grid]:
    """Return what the rows that turn would get with each value."""
    if not found.answers:
        return []
    feature = audit.domain.feature(found.feature)
    header = ("if all of these rows had", *map(label_text, audit.classes))
    rows = tuple(
        (value_words(feature, value), *(amount(n) for n in by_class.values()))
        for value, by_class in found.answers.items()
    )
    return [Grid(header, rows, (False, *[True] * len(audit.classes)))]


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
    ways = sorted(by_way, key=lambda way: -(by_way[way][0].fits or 0))
    for way in ways:
        shown = tuple(
            (amount(rule.fits), amount(rule.inputs), rule_words(rules, rule))
            for rule in by_way[way][:top]
        )
        parts.append(Grid(("rows", "inputs", way), shown, (True, True, False)))
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
        Grid(("",), ((said,),), (False,)),
        Grid(("", ""), tuple(rows), (False, False)),
    ]
