"""From the output neuron to a rule list: NN2Rules(Full) and NN2Rules(Support)."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from nn2rules.errors import OptionError
from nn2rules.extraction.certifying import paper_certificate
from nn2rules.extraction.paper.forward import forward
from nn2rules.extraction.paper.prefixes import feature_order, merge, prefix_boxes
from nn2rules.extraction.paper.select_weights import Prefix
from nn2rules.models import by_support, given_rows, needs_rows
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.space import Rows, box_sizes

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
    data : frame or list of dicts, optional
        Rows on which support is counted; rules are in descending order of support.
    scope : {"domain", "support"}
        All rules, the paper's *Full*; or only those with support above zero, the
        paper's *Support*, which needs `data`.
    order : sequence of str, optional
        The order in which rules fix the features; by default the authors' order.
    approximate : {None, "soft-binary"}
        Treat sigmoid units as 0 or 1. The certificate of the result then says on how
        many inputs of the domain it differs from the network.

    Returns
    -------
    RuleList
        No two of its rules cover the same input. There are no rules if the network
        never predicts class 1, and one rule without conditions if it always does.
    """
    needs_rows(scope, data, None)
    rows = None if data is None else given_rows(network, data)
    positions = feature_order(network, order)
    output = forward(network, positions, approximate)[-1].neurons[0]
    sizes = [network.domain.sizes[index] for index in positions]
    active = ((piece.prefix, None) for piece in output if piece.active)
    prefixes = [prefix for prefix, _ in merge(active, sizes)]
    rules = prefix_rules(network, positions, prefixes)
    rules = rules.replace(certificate=_certificate(network, rules, approximate))
    return rules if rows is None else by_support(rules, rows, scope)


def prefix_rules(
    network: Network, order: Sequence[int], prefixes: Sequence[Prefix]
) -> RuleList:
    """Return the rule list of class 1 that `prefixes` stand for."""
    return RuleList.from_boxes(
        network.domain,
        prefix_boxes(network.domain, order, prefixes),
        np.ones(len(prefixes), dtype=np.int64),
        network.classes[0],
        network.classes,
        form="set",
    )


def _certificate(
    network: Network, rules: RuleList, approximate: str | None
) -> dict[str, Any]:
    """Return the certificate; measures the error of an approximation on all inputs."""
    inputs = network.domain.n_inputs
    hidden = {layer.activation for layer in network.layers[:-1]}
    if approximate is None or "sigmoid" not in hidden:
        positive = sum(box_sizes(network.domain, rules.boxes))  # no two overlap
        counts = [inputs - positive, positive]
        return paper_certificate(network, "exact integer arithmetic", counts, 0)
    if inputs > LARGEST_MEASURED:
        raise OptionError(
            f"approximate={approximate!r}: its error is measured on every input; the "
            f"domain has {inputs:,}, the maximum is {LARGEST_MEASURED:,}"
        )
    positive = different = 0
    for codes in network.domain.inputs():
        truth = network.predict_codes(codes) == 1
        positive += int(truth.sum())
        different += int(((rules.match(codes) >= 0) != truth).sum())
    counts = [inputs - positive, positive]
    return paper_certificate(network, approximate, counts, different)
