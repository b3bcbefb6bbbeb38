"""Rule lists as text: the format ``nn2rules-rules/1``.

::

    {"format": "nn2rules-rules/1", "form": "list", "scope": "domain",
     "features": [{"name": "color", "values": ["red", "yellow"]}, …],
     "classes": ["unripe", "ripe"],
     "rules": [{"if": {"color": ["red"], "size": ["medium", "big"]}, "then": "ripe",
                "probability": [0.73, 0.73], "support": 12}],
     "default": "unripe", "certificate": {}}

The first rule whose conditions hold answers; a feature that is absent is unrestricted;
`default` answers the rest.
"""

import json
from typing import Any

from nn2rules.domain import Domain
from nn2rules.errors import DomainError, OptionError
from nn2rules.formats.domain import domain_from_node, domain_to_object, labels_from_node
from nn2rules.formats.node import Node
from nn2rules.rules import Condition, Rule, RuleList

FORMAT = "nn2rules-rules/1"

_KEYS = (
    "format",
    "form",
    "scope",
    "features",
    "classes",
    "rules",
    "default",
    "certificate",
)


def rules_from_node(document: Node) -> RuleList:
    """Read a rule list; whatever is wrong gets one error that names its place."""
    document.only(_KEYS)
    domain = domain_from_node(document["features"])
    try:
        return RuleList(
            domain,
            tuple(_rule(item, domain) for item in document["rules"].items()),
            document["default"].scalar(),
            labels_from_node(document["classes"]),
            form=document["form"].string(),  # type: ignore[arg-type]
            scope=document["scope"].string(),  # type: ignore[arg-type]
            certificate=_certificate(document),
        )
    except (DomainError, OptionError) as error:
        raise document.error(str(error)) from None


def _certificate(document: Node) -> dict[str, Any]:
    if "certificate" not in document:
        return {}
    return {key: node.value for key, node in document["certificate"].entries()}


def _rule(item: Node, domain: Domain) -> Rule:
    item.only(("if", "then", "probability", "support"))
    conditions = {}
    for name, values in item["if"].entries():
        if name not in domain.names:
            raise item["if"].error(f"there is no feature {name!r}")
        allowed = tuple(value.scalar() for value in values.items())
        if len(set(allowed)) != len(allowed):
            raise values.error("a value occurs twice")
        conditions[name] = Condition(name, allowed)
    support = item["support"].integer() if "support" in item else None
    probability = None
    if "probability" in item:
        numbers = [end.number() for end in item["probability"].items()]
        if len(numbers) != 2 or not 0 <= numbers[0] <= numbers[1] <= 1:
            raise item["probability"].error("expected two numbers 0 ≤ low ≤ high ≤ 1")
        probability = (numbers[0], numbers[1])
    in_order = tuple(conditions[name] for name in domain.names if name in conditions)
    return Rule(in_order, item["then"].scalar(), support, probability)


def rules_to_json(rules: RuleList) -> str:
    """Write a rule list, a rule to a line; reading it gives an equal one."""
    document = {
        "format": FORMAT,
        "form": rules.form,
        "scope": rules.scope,
        "features": domain_to_object(rules.domain),
        "classes": list(rules.classes),
        "rules": [],
        "default": rules.default,
        "certificate": dict(rules.certificate),
    }
    lines = ",\n  ".join(_dumps(_rule_object(rule)) for rule in rules.rules)
    listed = f"[\n  {lines}\n ]" if lines else "[]"
    entries = (
        f"{_dumps(key)}: {listed if key == 'rules' else _dumps(value)}"
        for key, value in document.items()
    )
    return "{" + ",\n ".join(entries) + "}\n"


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _rule_object(rule: Rule) -> dict[str, Any]:
    document: dict[str, Any] = {
        "if": {c.feature: list(c.values) for c in rule.conditions},
        "then": rule.then,
    }
    if rule.probability is not None:
        document["probability"] = list(rule.probability)
    if rule.support is not None:
        document["support"] = rule.support
    return document
