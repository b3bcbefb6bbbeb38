"""Rules as text for people."""

import math
from typing import TYPE_CHECKING

from nn2rules.text import condition_text, count, label_text, share

if TYPE_CHECKING:
    from nn2rules.rules.rule import Rule
    from nn2rules.rules.rule_list import RuleList


def text_of_rules(rules: "RuleList", top: int | None) -> str:
    """Return what `RuleList.text` does."""
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
    return "\n".join((*rules.warnings(), *lines))


def warnings_of(rules: "RuleList") -> list[str]:
    """Return what `RuleList.warnings` does."""
    different = rules.certificate.get("different")
    if not isinstance(different, int) or different < 1:
        return []
    inputs = rules.certificate.get("possible", rules.domain.n_inputs)
    return [
        f"APPROXIMATE ({rules.certificate.get('method')}): not the network's answer "
        f"on {different:,} of {count(inputs, 'input')} ({share(different, inputs)})"
    ]


def text_of_rule(rules: "RuleList", rule: "Rule") -> str:
    """Return what `RuleList.rule_text` does."""
    parts = [
        condition_text(rules.domain.feature(c.feature), c.values)
        for c in rule.conditions
    ]
    premise = " and ".join(parts) if parts else "anything"
    return f"if {premise} then {label_text(rule.then)}{_facts_text(rules, rule)}"


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
