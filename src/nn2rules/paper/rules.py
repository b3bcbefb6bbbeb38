"""From the output neuron to a rule list: NN2Rules(Full) and NN2Rules(Support)."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from nn2rules.domain import Domain, Rows
from nn2rules.errors import OptionError
from nn2rules.network import Network
from nn2rules.paper.forward import forward
from nn2rules.paper.merge import merge
from nn2rules.paper.order import feature_order
from nn2rules.paper.select_weights import Prefix
from nn2rules.rules import Condition, Rule, RuleList

LARGEST_MEASURED = 1 << 26
"""The largest domain on which the error of an approximation is measured."""


def paper_rules(
    network: Network,
    *,
    data: Rows = None,
    scope: Literal["domain", "support"] = "domain",
    order: Sequence[str] | None = None,
    approximate: str | None = None,
) -> RuleList:
    """Extract the rules of class 1 with the algorithm of the paper.

    Parameters
    ----------
    network : Network
        With ReLU units and one output.
    data : frame, list of dicts, or array of codes, optional
        Rows on which support is counted; rules come in descending order of it.
    scope : {"domain", "support"}
        All rules, the paper's *Full*; or only those with support above zero, the
        paper's *Support*, which needs `data`.
    order : sequence of str, optional
        The order in which rules fix the features; by default the authors'.
    approximate : {None, "soft-binary"}
        Treat sigmoid units as 0 or 1. The certificate of the result then says on how
        many inputs of the domain it differs from the network.

    Returns
    -------
    RuleList
        No two of its rules hold for the same input. Without rules if the network
        never answers class 1, with one rule without conditions if it always does.
    """
    if scope == "support" and data is None:
        raise OptionError("scope='support' needs data, the rows to count support on")
    positions = feature_order(network, order)
    output = forward(network, positions, approximate)[-1].neurons[0]
    sizes = [network.domain.sizes[index] for index in positions]
    active = ((piece.prefix, None) for piece in output if piece.active)
    rules = RuleList(
        network.domain,
        tuple(
            Rule(conditions_of(prefix, network.domain, positions), network.classes[1])
            for prefix, _ in merge(active, sizes)
        ),
        network.classes[0],
        network.classes,
        form="set",
    )
    certificate = _certificate(network, rules, approximate)
    rules = replace(rules, certificate=certificate)
    if data is None:
        return rules
    rules = rules.sorted_by_support(data)
    if scope == "domain":
        return rules
    supported = tuple(rule for rule in rules.rules if rule.support)
    return replace(rules, rules=supported, scope="support")


def conditions_of(
    prefix: Prefix, domain: Domain, order: Sequence[int]
) -> tuple[Condition, ...]:
    """Return the conditions that a prefix stands for, in the order of the rules."""
    features = (domain.features[index] for index in order)
    return tuple(
        Condition(feature.name, (feature.values[code],))
        for feature, code in zip(features, prefix, strict=False)
        if len(feature) > 1  # the only value of a feature is no condition
    )


def _certificate(
    network: Network, rules: RuleList, approximate: str | None
) -> dict[str, Any]:
    """State what is proved; measure the error of an approximation on all inputs."""
    inputs = network.domain.n_inputs
    hidden = {layer.activation for layer in network.layers[:-1]}
    if approximate is None or "sigmoid" not in hidden:
        positive = sum(_size(rule, network.domain) for rule in rules.rules)
        return {
            "engine": "paper",
            "method": "exact integer arithmetic",
            "inputs": inputs,
            "class_inputs": [inputs - positive, positive],
            "different": 0,
        }
    if inputs > LARGEST_MEASURED:
        raise OptionError(
            f"approximate={approximate!r}: its error is measured on every input, and "
            f"the domain has {inputs:,}; the most is {LARGEST_MEASURED:,}"
        )
    positive = different = 0
    for codes in network.domain.inputs():
        truth = network.predict_codes(codes) == 1
        positive += int(truth.sum())
        different += int(((rules.match(codes) >= 0) != truth).sum())
    return {
        "engine": "paper",
        "method": approximate,
        "inputs": inputs,
        "class_inputs": [inputs - positive, positive],
        "different": different,
    }


def _size(rule: Rule, domain: Domain) -> int:
    """Return the number of inputs that meet a rule with one value a condition."""
    fixed = (len(domain.feature(c.feature)) for c in rule.conditions)
    return domain.n_inputs // math.prod(fixed)
