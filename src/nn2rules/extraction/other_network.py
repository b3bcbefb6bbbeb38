"""Whether a network is the one that rules were extracted from, and what differs.

A model that is read with other data becomes another network, because ranges and
categories come from the data. So weights are compared on the domain of the rules, if
the network has all of its values, and the differences are named.
"""

from dataclasses import replace

import numpy as np

from nn2rules.errors import DomainError
from nn2rules.extraction.certifying import network_digest
from nn2rules.language import label_text, limits_text, quoted, value_text
from nn2rules.network import Layer, Network
from nn2rules.rules import Description, certificate_of
from nn2rules.space import Domain, Feature, Range

_NAMED = 3
"""How many features, or values of a feature, a sentence lists."""

_READ_ONCE = (
    "read the model once, network = read_network(model, data=...), and use that "
    "network for both (extract --network writes it to a file)"
)


def other_network(rules: Description, network: Network) -> str | None:
    """Describe how a network differs from the one that rules were extracted from.

    Returns
    -------
    str or None
        The end of a sentence that states what differs and what to do. None if it is the
        same network, or if the rules do not record theirs and have the same domain.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> other_network(nn2rules.extract(network), network) is None
    True
    """
    recorded = certificate_of(rules).network
    differences = other_domain(rules, network)
    if not differences:
        if recorded is None or recorded == network_digest(network):
            return None
        return f"it has the features and classes of the rules, but {_weights(network)}"
    shown = "; ".join(differences[:_NAMED])
    more = len(differences) - _NAMED
    shown += f"; and {more} more" if more > 0 else ""
    is_other = set(network.domain.names) != set(rules.domain.names)
    if is_other or network.classes != rules.classes:
        return f"{shown}; use the model that the rules were extracted from"
    moved = _on_domain(network, rules.domain.uncut)
    if recorded is None or moved is None:
        return f"its domain differs ({shown}); {_READ_ONCE}"
    if network_digest(moved) == recorded:
        return (
            f"its weights are the same, but its domain differs ({shown}); {_READ_ONCE}"
        )
    return f"its domain differs ({shown}), and it has {_weights(network)}"


def _weights(network: Network) -> str:
    """Return that the weights differ, and what to do.

    The weights of a model that was read with other rows may differ in their last bits,
    because they are derived from samples of its numbers.
    """
    if network.origin is None:
        return (
            "other weights; use the model that the rules were extracted from, or "
            "extract them again"
        )
    return (
        f"weights that are not identical to the last bit: it is another model, or this "
        f"model was read with other rows; {_READ_ONCE}"
    )


def other_domain(rules: Description, network: Network) -> list[str]:
    """Describe how the features and classes of a network differ from those of rules."""
    ours, theirs = network.domain.uncurved, rules.domain.uncut
    differences = []
    if set(network.classes) != set(rules.classes):
        names = [", ".join(map(label_text, one.classes)) for one in (rules, network)]
        differences.append(
            f"the classes are {names[0]} in the rules, {names[1]} in the model"
        )
    elif network.classes != rules.classes:
        differences.append("the order of the classes differs")
    for one, other, whose in ((theirs, ours, "rules"), (ours, theirs, "model")):
        only = [quoted(name) for name in one.names if name not in other.names]
        if only:
            differences.append(
                f"only the {whose} have {_some(only)}".replace("l have", "l has")
            )
    shared = [name for name in theirs.names if name in ours.names]
    if not differences and ours.names != theirs.names:
        differences.append("the order of the features differs")
    for name in shared:
        differences += _other_values(theirs.feature(name), ours.feature(name))
    return differences


def _other_values(theirs: Feature, ours: Feature) -> list[str]:
    """Describe how a feature differs between the rules and the network."""
    if theirs == ours:
        return []
    name = quoted(theirs.name)
    if isinstance(theirs, Range) and isinstance(ours, Range):
        return [f"{limits_text(theirs)} in the rules, {_rest(ours)} in the model"]
    kinds = [feature.kind for feature in (theirs, ours)]
    if kinds[0] != kinds[1]:
        return [f"{name} is {kinds[0]} in the rules, {kinds[1]} in the model"]
    texts = []
    for one, other, whose in ((theirs, ours, "rules"), (ours, theirs, "model")):
        only = [value for value in one.values if value not in other.values]
        if only:
            values = _some([value_text(one, value) for value in only])
            texts.append(f"{values} only in the {whose}")
    return [
        f"{name}: {', '.join(texts) or 'its values have a different meaning or order'}"
    ]


def _rest(feature: Range) -> str:
    """Return the limits of a range, without its name."""
    return limits_text(feature).removeprefix(quoted(feature.name)).lstrip()


def _some(texts: list[str]) -> str:
    """Return the first few texts, and how many more there are."""
    more = len(texts) - _NAMED
    return ", ".join(texts[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _on_domain(network: Network, domain: Domain) -> Network | None:
    """Return a network on another domain; None if it lacks values of that domain."""
    if set(network.domain.names) != set(domain.names) or network.domain.has_curves:
        return None
    columns: list[int] = []
    for feature in domain.features:
        ours = network.domain.feature(feature.name)
        if ours.kind != feature.kind or ours.whole != feature.whole:
            return None
        start = int(network.domain.offsets[network.domain.index(feature.name)])
        first = 1 if isinstance(feature, Range) else 0
        if not all(value in ours.values for value in feature.values[first:]):
            return None
        places = [ours.values.index(value) for value in feature.values[first:]]
        columns += [start + place for place in [0][:first] + places]
    layer = network.layers[0]
    chosen = Layer(
        layer.weights[np.array(columns)], layer.bias, layer.activation, layer.slope
    )
    try:
        return replace(network, domain=domain, layers=(chosen, *network.layers[1:]))
    except DomainError:
        return None
