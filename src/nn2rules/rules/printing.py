"""Rules as text for people."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from nn2rules.text import condition_text, count, label_text, limits_text, quoted, share
from nn2rules.values import whole_number

if TYPE_CHECKING:
    from nn2rules.rules.rule import Rule
    from nn2rules.rules.rule_list import RuleList


_NAMED = 3  # rules that a rule leans on are named; of more, two and their number


def text_of_rules(rules: "RuleList", top: int | None) -> str:
    """Return what `RuleList.text` does."""
    if top is not None:
        top = whole_number("top", top)
    shown = len(rules) if top is None else min(top, len(rules))
    width = len(str(len(rules)))
    lines = [
        f"{index:>{width}}. {rules.rule_text(rule)}"
        for index, rule in enumerate(rules.rules[:shown], 1)
    ]
    indent = " " * (width + 2) if len(rules) else ""
    if shown < len(rules):
        lines.append(f"{indent}… and {count(len(rules) - shown, 'more rule')}")
    note = "  [not proved]" if rules.scope == "support" else ""
    lines.append(f"{indent}otherwise {label_text(rules.default)}{note}")
    return "\n".join((*rules.warnings(), *_numbers(rules), *lines))


def _numbers(rules: "RuleList") -> list[str]:
    """Say which numbers there are: ranges, or only those that occur."""
    model = rules.certificate.get("model")
    bent = model.get("not_along_a_line") if isinstance(model, Mapping) else None
    texts = []
    for feature in rules.domain.features:
        if feature.limits is not None:
            texts.append(limits_text(feature))
        elif isinstance(bent, list) and feature.name in bent:
            texts.append(f"{quoted(feature.name)} the {feature.n_plain:,} that occur")
    return [f"numbers: {'; '.join(texts)}"] if texts else []


def warnings_of(rules: "RuleList") -> list[str]:
    """Return what `RuleList.warnings` does."""
    found, different = [], rules.certificate.get("different")
    if isinstance(different, int) and different > 0:
        inputs = rules.n_possible
        found.append(
            f"APPROXIMATE ({rules.certificate.get('method')}): not the network's "
            f"answer on {different:,} of {count(inputs, 'input')} "
            f"({share(different, inputs)})"
        )
    return [*found, *_stood_for(rules), *_probed(rules)]


def _stood_for(rules: "RuleList") -> list[str]:
    """Say where the model answers otherwise, since one word stands for all others."""
    model = rules.certificate.get("model")
    numbers = model if isinstance(model, Mapping) else {}
    n_rows, n_agreeing = numbers.get("rows"), numbers.get("rows_agreeing")
    if not isinstance(n_rows, int) or not isinstance(n_agreeing, int):
        return []
    n_other = n_rows - n_agreeing
    if n_other < 1:
        return []
    return [
        f"OTHER VALUES: the model itself answers otherwise on {n_other:,} of "
        f"{count(n_rows, 'given row')}, where a word stands for all others here"
    ]


def _probed(rules: "RuleList") -> list[str]:
    """Say which steps of the model were only probed, by the certificate."""
    model = rules.certificate.get("model")
    if not isinstance(model, Mapping) or not isinstance(model.get("probed"), list):
        return []
    steps, n_rows = ", ".join(map(str, model["probed"])), model.get("probed_rows")
    tried = count(n_rows, "row") if isinstance(n_rows, int) else "rows"
    if not steps:
        return []
    return [
        f"READ BY PROBING ({steps}): that each column is treated on its own was tried "
        f"on {tried}, and is not proved"
    ]


def names_by_influence(rules: "RuleList") -> list[str]:
    """Return the features' names, those that turn the answer of most rows first.

    By the certificate; where it says nothing they stay in the order of the domain.
    """
    influence = rules.certificate.get("influence")
    of = influence.get("of") if isinstance(influence, Mapping) else None
    given = of if isinstance(of, Mapping) else {}
    counts = {name: n for name, n in given.items() if isinstance(n, int)}
    return sorted(rules.domain.names, key=lambda name: -counts.get(name, 0))


def text_of_rule(rules: "RuleList", rule: "Rule") -> str:
    """Return what `RuleList.rule_text` does."""
    rank = {name: place for place, name in enumerate(names_by_influence(rules))}
    parts = [
        condition_text(rules.domain.feature(c.feature), c.values)
        for c in sorted(rule.conditions, key=lambda c: rank[c.feature])
    ]
    premise = " and ".join(parts) if parts else "anything"
    answer = f"{label_text(rule.then)}{_unless_text(rule.unless)}"
    return f"if {premise} then {answer}{_facts_text(rules, rule)}"


def _unless_text(unless: tuple[int, ...] | None) -> str:
    """Say which rules above a rule leans on: all of them if they are few."""
    if not unless:
        return ""
    named = [f"{number:,}" for number in unless]
    if len(named) > _NAMED:
        named = [*named[: _NAMED - 1], f"{len(named) - _NAMED + 1:,} others above"]
    *most, last = named
    return f" unless {', '.join(most)} or {last}" if most else f" unless {last}"


def _facts_text(rules: "RuleList", rule: "Rule") -> str:
    """Return what is known of a rule, in brackets."""
    parts = []
    if rule.support is not None:
        parts.append(count(rule.support, "row"))
    if rule.accuracy is not None:
        parts.append(f"{100 * rule.accuracy:.0f} % right")
    if rule.inputs is not None:
        parts.append(f"{share(rule.inputs, rules.n_possible)} of inputs")
    if rule.probability is not None:
        low, high = rule.probability  # rounded outwards: the range must hold
        ends = math.floor(100 * low) / 100, math.ceil(100 * high) / 100
        parts.append(f"p {ends[0]:.2f} to {ends[1]:.2f}")
    return f"  [{', '.join(parts)}]" if parts else ""
