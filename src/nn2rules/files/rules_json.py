"""Rule lists as text: the format ``nn2rules-rules/1``.

::

    {"format": "nn2rules-rules/1", "form": "list", "scope": "domain",
     "features": [{"name": "color", "values": ["red", "yellow"]}, …],
     "classes": ["unripe", "ripe"],
     "rules": [{"name": "1", "if": {"color": ["red"], "size": ["medium", "big"]},
                "then": "ripe", "probability": [0.73, 0.73], "support": 12}],
     "default": "unripe", "certificate": {}}

The first rule whose conditions are true determines the class; a feature that is absent
is unrestricted; `default` is the class of the rest. A feature that is a range of
numbers has conditions such as ``"age": [[25, 39], null]``, with pairs of numbers, both
inclusive.
"""

import json
from collections.abc import Callable
from typing import Any

from nn2rules.errors import DomainError, OptionError
from nn2rules.files.domain_json import (
    domain_from_node,
    domain_to_object,
    labels_from_node,
)
from nn2rules.files.json_node import Node
from nn2rules.rules import FACTS, Facts, Rule, RuleList
from nn2rules.space import Condition, Domain, Range

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
_WHOLE = (
    "inputs",
    "possible",
    "different",
    "uncovered",
    "uncovered_at_least",
    "uncovered_at_most",
    "rows",
    "rows_covered",
    "rows_different",
    "labels_agree",
    "fewest_rules",
    "scorecard_lines",
)


def rules_from_node(document: Node) -> RuleList:
    """Read a rule list; any mistake in it is one error that names its place."""
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
    """Read a certificate, which names the rules it belongs to.

    One of an older version names none, and so belongs to none.
    """
    if "certificate" not in document:
        return {}
    return certificate_from_node(document["certificate"])


def certificate_from_node(certificate: Node) -> dict[str, Any]:
    """Read a certificate; see `_certificate`."""
    for key in _WHOLE:
        _whole(certificate, key)
    for key in ("rules", "network", "engine", "method", "version"):
        if key in certificate:
            certificate[key].string()
    if "complete" in certificate:
        certificate["complete"].boolean()
    for key in ("class_inputs", "class_rows"):
        if key in certificate:
            for number in certificate[key].items():
                number.integer()
    if "influence" in certificate:
        _check_influence(certificate["influence"])
    if "model" in certificate:
        certificate["model"].record()
    if "impossible" in certificate:
        _check_impossible(certificate["impossible"])
    found = certificate.record()
    return {**found, "rules": found.get("rules", "")} if found else {}


def _check_influence(node: Node) -> None:
    """Refuse an influence without the number of rows for each feature."""
    most = _whole(node, "rows")
    for _, number in node["of"].entries():
        if not 0 <= number.integer() <= (most or 0):
            raise number.error("expected a number of rows, at most all of them")


def _check_impossible(node: Node) -> None:
    """Refuse anything but boxes, from features to values, or a remark."""
    if isinstance(node.value, str):
        return
    for box in node.items():
        for _, values in box.entries():
            for value in values.items():
                value.scalar()


def _rule(item: Node, domain: Domain) -> Rule:
    item.only(("if", "then", "name", *FACTS))
    if "name" in item:  # for readers; it follows from the position of the rule
        item["name"].string()
    conditions = {}
    for name, values in item["if"].entries():
        if name not in domain.names:
            raise item["if"].error(f"there is no feature {name!r}")
        is_range = isinstance(domain.feature(name), Range)
        allowed = tuple(
            _pair(value) if is_range and type(value.value) is list else value.scalar()
            for value in values.items()
        )
        if len(set(allowed)) != len(allowed):
            raise values.error("a value occurs twice")
        conditions[name] = Condition(name, allowed)
    in_order = tuple(conditions[name] for name in domain.names if name in conditions)
    return Rule(
        in_order,
        item["then"].scalar(),
        _whole(item, "support"),
        _whole(item, "inputs"),
        _range(item["probability"]) if "probability" in item else None,
        _share(item["accuracy"]) if "accuracy" in item else None,
        _whole(item, "covered"),
        _whole(item, "covered_agree"),
        _numbers(item["unless"]) if "unless" in item else None,
    )


def facts_from_node(document: Node, n_rules: int) -> tuple[Facts, ...] | None:
    """Read what is known of rules: for each fact, a list with an entry for each rule.

    None if there are not as many entries as rules.
    """
    document.only(FACTS)
    columns: dict[str, list[Any]] = {}
    for name, column in document.entries():
        read = _READ_FACT[name]
        entries = column.items()
        if len(entries) != n_rules:
            return None
        columns[name] = [None if e.value is None else read(e) for e in entries]
    return tuple(
        Facts(**{name: column[index] for name, column in columns.items()})
        for index in range(n_rules)
    )


def _count(node: Node) -> int:
    number = node.integer()
    if number < 0:
        raise node.error("expected 0 or more")
    return number


def _numbers(node: Node) -> tuple[int, ...]:
    return tuple(number.integer() for number in node.items())


def _pair(node: Node) -> tuple[float, float]:
    ends = [end.number() for end in node.items()]
    if len(ends) != 2:
        raise node.error("expected a pair [low, high]")
    return ends[0], ends[1]


def _whole(item: Node, key: str) -> int | None:
    if key not in item:
        return None
    return _count(item[key])


def _share(node: Node) -> float:
    number = node.number()
    if not 0 <= number <= 1:
        raise node.error("expected a number from 0 to 1")
    return number


def _range(node: Node) -> tuple[float, float]:
    numbers = [end.number() for end in node.items()]
    if len(numbers) != 2 or not 0 <= numbers[0] <= numbers[1] <= 1:
        raise node.error("expected two numbers 0 ≤ low ≤ high ≤ 1")
    return numbers[0], numbers[1]


_READ_FACT: dict[str, Callable[[Node], Any]] = {
    "support": _count,
    "inputs": _count,
    "probability": _range,
    "accuracy": _share,
    "covered": _count,
    "covered_agree": _count,
    "unless": _numbers,
}


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
        "name": rule.name,
        "if": {c.feature: list(c.values) for c in rule.conditions},
        "then": rule.then,
    }
    for key in FACTS:
        value = getattr(rule, key)
        if value is not None:
            document[key] = list(value) if isinstance(value, tuple) else value
    return document
