"""The rules as the page has them: features, conditions, what is known of each rule.

Many rules share a condition, so conditions stand once, and rules point at them.
"""

from typing import Any

from nn2rules.language import label_text, quoted, value_text
from nn2rules.rules import (
    RuleList,
    by_influence,
    is_right,
    is_true_alone,
    is_whole_domain,
    n_agreeing,
    shown_rule,
    unless_text,
)
from nn2rules.space import Feature


def plain_rules(rules: RuleList) -> dict[str, Any]:
    """Return rules as plain values."""
    conditions, pointers = _conditions(rules)
    return {
        "features": [_feature(feature) for feature in rules.domain.features],
        "classes": [label_text(label) for label in rules.classes],
        "default": rules.classes.index(rules.default),
        "form": rules.form,
        "scope": rules.scope,
        "is_right": is_right(rules),
        "is_whole": is_whole_domain(rules),
        "is_alone": is_true_alone(rules),
        "conditions": conditions,
        "rules": [_rule(rules, index, pointers[index]) for index in range(len(rules))],
    }


def _feature(feature: Feature) -> dict[str, Any]:
    """Return a feature; of a range its ends and where rules cut it."""
    first = 0 if feature.limits is None else feature.n_plain
    found: dict[str, Any] = {
        "name": quoted(feature.name),
        "values": [value_text(feature, value) for value in feature.values[first:]],
    }
    if feature.limits is not None:
        low, high = feature.limits
        found |= {"low": low, "high": high, "whole": feature.whole}
        found["edges"] = list(feature.edges or ())
    return found


def _conditions(rules: RuleList) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """Return the different conditions, and for each rule which of them it has."""
    found: list[dict[str, Any]] = []
    known: dict[tuple[int, bytes], int] = {}
    pointers: list[list[int]] = []
    key, offsets = by_influence(rules), rules.domain.offsets
    for index, rule in enumerate(rules.rules):
        own = []
        shown = shown_rule(rules, rule, ()).conditions
        chosen = sorted(rule.conditions, key=key)
        for condition, words in zip(chosen, shown, strict=True):
            place = rules.domain.index(condition.feature)
            allowed = rules.boxes[index, offsets[place] : offsets[place + 1]]
            name = place, allowed.tobytes()
            if name not in known:
                known[name] = len(found)
                bits = "".join("01"[bit] for bit in allowed.astype(int).tolist())
                found.append({"feature": place, "text": words.text, "allowed": bits})
            own.append(known[name])
        pointers.append(own)
    return found, pointers


def _rule(rules: RuleList, index: int, conditions: list[int]) -> dict[str, Any]:
    facts = rules.facts[index]
    found: dict[str, Any] = {
        "name": rules.names[index],
        "then": int(rules.answers[index]),
        "if": conditions,
        "fits": facts.fits,
        "fits_agree": facts.fits_agree,
        "decided": facts.support,
        "decided_agree": None,
        "inputs": facts.inputs,
        "probability": None if facts.probability is None else [*facts.probability],
    }
    if facts.accuracy is not None and facts.support is not None:
        found["decided_agree"] = n_agreeing(facts)
    unless = unless_text(facts.unless)
    if unless:
        found["unless"] = unless
    return {name: known for name, known in found.items() if known is not None}
