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

INFLUENCE = "Predictions that flip when only one feature changes"
"""The title of the section on the influence of all features."""


def _grid(
    header: tuple[str, ...],
    rows: Iterable[tuple[str, ...]],
    numbers: tuple[bool, ...],
) -> Grid:
    return Grid(tuple(rows), numbers, header, indent=2)


def amount(number: int | None) -> str:
    """Return a number as text; empty if not known."""
    return "" if number is None else f"{number:,}"


def part(number: int | None, total: int | None) -> str:
    """Return a share in percent; empty if not known."""
    return "" if number is None or not total else share(number, total)


def influence_parts(audit: "Audit") -> tuple[str | Grid, ...]:
    """Return how often each feature flips predictions, and which never do."""
    influential = [
        one for one in audit.influence.values() if one.status != "independent"
    ]
    parts: list[str | Grid] = []
    if influential:
        has_inputs = any(one.inputs is not None for one in influential)
        header = ("", "rows", "", *(("inputs", "") if has_inputs else ()), "")
        rows = []
        for one in influential:
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
    if audit.independent_of:
        names = ", ".join(map(quoted, audit.independent_of))
        parts.append(f"Never flips a prediction (proved for every input): {names}.")
    elif not any(one.status == "undecided" for one in influential):
        parts.append("Every feature flips some prediction.")
    return tuple(parts)


def _remark(audit: "Audit", status: str, of_rows: int | None) -> str:
    remarks = ["undecided"] if status == "undecided" else []
    if of_rows is not None and of_rows != audit.rows:
        remarks.append(f"in a sample of {of_rows:,} rows")
    return "; ".join(remarks)


def monotonicity_parts(audit: "Audit") -> tuple[str | Grid, ...]:
    """Return the monotonicity in each ordered feature."""
    trends = [each for by in audit.monotonicity.values() for each in by.values()]
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
    intro = (
        f"Whether {toward} is gained or lost as a feature grows, for each combination "
        f"of the other features."
    )
    blank = ("",) * len(rows[0])
    return intro, _grid(blank, rows, (False,) * len(rows[0]))


def _along(trend: "Trend") -> str:
    """Return for how many combinations the class is gained and lost."""
    if trend.direction == "constant":
        return "never gained or lost"
    phrases, is_counted = [], False
    for verdict, verb, number in (
        (trend.decreasing, "gained", trend.rises),
        (trend.increasing, "lost", trend.falls),
    ):
        if verdict is None or verdict.status == "proved":
            phrases.append(f"never {verb}")
        elif verdict.status == "undecided":
            phrases.append(f"undecided whether {verb}")
        elif number is None:
            phrases.append(f"{verb} for some combinations")
        else:
            phrases.append(f"{verb} for {number:,}")
            is_counted = True
    of = f" of {amount(trend.contexts)}" if is_counted else ""
    if is_counted and phrases[-1].startswith("never"):
        phrases = [f"{phrases[0]}{of}", phrases[1]]
        of = ""
    return f"{label_text(trend.toward)} {', '.join(phrases)}{of}"


def protected_parts(audit: "Audit", top: int) -> tuple[str | Grid, ...]:
    """Return the effect of each protected feature."""
    parts: list[str | Grid] = []
    for feature, effect in audit.protected.items():
        name = quoted(feature)
        parts += [""] if parts else []
        if effect.status == "unseen":
            parts.append(
                f"{name} is not a feature of the model. Other features may still be "
                f"correlated with it: see the outcomes by group below."
            )
        elif effect.status == "independent":
            parts.append(f"{name} alone never flips a prediction (proved).")
        elif effect.status == "undecided":
            why = "" if effect.verdict is None else f" ({effect.verdict.reason})"
            parts.append(
                f"{name} is undecided{why}: no input was found for which it alone "
                f"flips the prediction, but there may be one."
            )
        else:
            parts += _flipping(audit, effect, top)
    return tuple(parts)


def _flipping(audit: "Audit", effect: "Protected", top: int) -> list[str | Grid]:
    """Return how often a feature flips predictions, in which way, and rules."""
    verdict = effect.verdict
    assert verdict is not None, "it was verified"
    amounts = []
    if effect.rows is not None and effect.of_rows:
        part = share(effect.rows, effect.of_rows)
        amounts.append(
            f"for {effect.rows:,} of {count(effect.of_rows, 'row')} ({part})"
        )
    if effect.inputs is not None and effect.of_inputs:
        part = share(effect.inputs, effect.of_inputs)
        total = count(effect.of_inputs, "input")
        amounts.append(f"for {effect.inputs:,} of {total} ({part})")
    amounts_text = f": {', and '.join(amounts)}" if amounts else ""
    parts: list[str | Grid] = [
        f"{quoted(effect.feature)} alone flips the prediction{amounts_text}."
    ]
    parts += [_ways(verdict)] if len(verdict.ways) > 1 or _has_ways(verdict) else []
    parts += [] if len(parts) > 1 else _by_value(audit, effect)
    rules = effect.rules
    if rules is None:
        parts += _example(audit, verdict)
    elif top:
        parts += _rules(rules, top)
    return parts


def _has_ways(verdict: Verdict) -> bool:
    return any(way != "flips" for way in verdict.ways)


def _ways(verdict: Verdict) -> Grid:
    """Return the prediction for each value, and how often that is so."""
    ways = sorted(verdict.ways, key=lambda way: -verdict.row_ways.get(way, 0))
    rows = tuple(
        (amount(verdict.row_ways.get(way, 0)), amount(verdict.ways[way]), way)
        for way in ways
    )
    return _grid(("rows", "inputs", "predictions"), rows, (True, True, False))


def _by_value(audit: "Audit", effect: "Protected") -> list[str | Grid]:
    """Return the predictions that the flipped rows would get with each value."""
    if not effect.predictions:
        return []
    feature = audit.domain.feature(effect.feature)
    header = ("if all of these rows had", *map(label_text, audit.classes))
    rows = tuple(
        (value_words(feature, value), *(amount(n) for n in by_class.values()))
        for value, by_class in effect.predictions.items()
    )
    return [_grid(header, rows, (False, *[True] * len(audit.classes)))]


def _rules(rules: RuleList, top: int) -> list[str | Grid]:
    """Return the first rules of each way to flip."""
    verb = "covers" if len(rules) == 1 else "cover"
    first = "" if len(rules) == 1 else "; the first ones"
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
    """Return two inputs that differ only in the feature, if there are no rules."""
    inputs, predictions = verdict.counterexample, verdict.prediction
    if not isinstance(inputs, tuple) or not isinstance(predictions, tuple):
        return []
    one, other = inputs
    where = ", this row" if verdict.distance == 0 else ""
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
        for row, label in zip(inputs, predictions, strict=True)
    ]
    shared_values = {name: one[name] for name in shared}
    shared_text = " · ".join(input_conditions(audit.domain, shared_values))
    return [
        f"For example{where}:",
        _grid(("",), ((shared_text,),), (False,)),
        _grid(("", ""), tuple(rows), (False, False)),
    ]


_GROUPS = 10  # most groups shown


def group_parts(audit: "Audit") -> tuple[str | Grid, ...]:
    """Return the outcomes of each group."""
    parts: list[str | Grid] = []
    shown = audit.classes[1:] if len(audit.classes) == 2 else audit.classes
    for name, groups in audit.groups.items():
        has_labels = any(group.labels is not None for group in groups)
        header = (quoted(name), "rows", *(f"predicted {label_text(c)}" for c in shown))
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
    """Return the rows with the smallest margins, and what flips them."""
    if not audit.fragile:
        return ()
    intro = "The rows (numbered from 0) with the smallest margins, and what flips them."
    rows = tuple(
        (
            str(one.number),
            f"× {one.count:,}" if one.count > 1 else "",
            label_text(one.explanation.prediction),
            f"{one.explanation.margin:.2g}",
            flip_text(one),
        )
        for one in audit.fragile
    )
    header = ("row", "", "prediction", "margin", "flips with")
    return intro, _grid(header, rows, (True, False, False, True, False))


def flip_text(one: "FragileRow") -> str:
    """Return what flips a row: the first counterfactual."""
    explanation = one.explanation
    if not explanation.counterfactuals:
        return "nothing" if explanation.proved.fewest else "undecided"
    more = len(explanation.counterfactuals) - 1
    text = change_text(explanation, explanation.counterfactuals[0])
    return f"{text} · or {count(more, 'other')}" if more else text


def document_of(audit: "Audit", top: int) -> Document:
    """Return the page, with the `top` rules of each way to flip."""
    top = whole_number("top", top)
    question = " or ".join(label_text(label) for label in audit.classes)
    sections = {
        f"Audit: {question}?": _head(audit),
        "Protected features": protected_parts(audit, top),
        INFLUENCE: influence_parts(audit),
        "Monotonicity": monotonicity_parts(audit),
        "Outcomes by group": group_parts(audit),
        "Most fragile rows": fragile_parts(audit),
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
    """Return what was audited, and how certain the results are."""
    size = [count(len(audit.domain.names), "feature")]
    inputs = audit.domain.n_numbers
    if inputs is not None:
        text = f"{inputs:,}" if inputs < 10**12 else f"{float(inputs):.1e}"
        size.append(f"{text} possible inputs")
    size.append(count(audit.rows, "row"))
    how = "Every input was evaluated, so the results are proved and counted."
    if audit.how == "table" and audit.undecided:
        how = "There was not enough time to evaluate every input."
    elif audit.how == "search":
        how = (
            "There are too many inputs to evaluate each one. They were searched, so "
            "results are proved or undecided; rows are counted."
        )
    parts: list[str | Grid] = [*audit.warnings, " · ".join(size), how]
    if audit.undecided:
        parts.append(
            f"Undecided (the default limit is a minute; --time or time= sets another): "
            f"{', '.join(audit.undecided)}."
        )
    return tuple(parts)
