"""Whether a network is the one that rules were extracted from; if not, what differs.

A model that is read with other data becomes another network: ranges and categories come
from the data. So the weights are compared on the domain of the rules, wherever the
network has all of its values, and what differs is named.
"""

from dataclasses import replace

import numpy as np

from nn2rules.errors import DomainError
from nn2rules.extraction.certifying import network_digest
from nn2rules.language import label_text, limits_text, quoted, value_text
from nn2rules.network import Layer, Network
from nn2rules.rules import Description, certificate_of
from nn2rules.space import Domain, Feature

_NAMED = 3
"""How many features, or values of one, a sentence names."""

_READ_ONCE = (
    "read the model once, network = read_network(model, data=...), and give that "
    "network to both (extract --network writes it to a file)"
)


def other_network(rules: Description, network: Network) -> str | None:
    """Say how a network differs from the one that rules were extracted from.

    Returns
    -------
    str or None
        Half a sentence that says what differs and what to do. None if it is that
        network, or if the rules do not record theirs and have the same domain.

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
        return f"it has the features and classes of the rules but {_weights(network)}"
    shown = "; ".join(differences[:_NAMED])
    more = len(differences) - _NAMED
    shown += f"; and {more} more" if more > 0 else ""
    is_other = set(network.domain.names) != set(rules.domain.names)
    if is_other or network.classes != rules.classes:
        return f"{shown}; give the model that the rules were extracted from"
    moved = _on_domain(network, rules.domain.uncut)
    if recorded is None or moved is None:
        return f"it has another domain ({shown}); {_READ_ONCE}"
    if network_digest(moved) == recorded:
        return f"it has the same weights but another domain ({shown}); {_READ_ONCE}"
    return f"it has another domain ({shown}) and {_weights(network)}"


def _weights(network: Network) -> str:
    """Say that weights differ, and what to do.

    Those of a model that was read are found from samples of its numbers, so other rows
    give the same weights but for their last bits.
    """
    if network.origin is None:
        return (
            "other weights; give the model that the rules were extracted from, or "
            "extract them again"
        )
    return (
        f"not the same weights to the last bit: it is of another model, or of this "
        f"model read with other rows; {_READ_ONCE}"
    )


def other_domain(rules: Description, network: Network) -> list[str]:
    """Say how the features and classes of a network differ from those of rules."""
    ours, theirs = network.domain.uncurved, rules.domain.uncut
    found = []
    if set(network.classes) != set(rules.classes):
        names = [", ".join(map(label_text, one.classes)) for one in (rules, network)]
        found.append(
            f"the classes of the rules are {names[0]}, of the model {names[1]}"
        )
    elif network.classes != rules.classes:
        found.append("the classes have another order")
    for one, other, whose in ((theirs, ours, "rules"), (ours, theirs, "model")):
        only = [quoted(name) for name in one.names if name not in other.names]
        if only:
            found.append(
                f"only the {whose} have {_some(only)}".replace("l have", "l has")
            )
    shared = [name for name in theirs.names if name in ours.names]
    if not found and ours.names != theirs.names:
        found.append("the features have another order")
    for name in shared:
        found += _other_values(theirs.feature(name), ours.feature(name))
    return found


def _other_values(theirs: Feature, ours: Feature) -> list[str]:
    """Say how a feature differs: the rules' and the network's."""
    if theirs == ours:
        return []
    name = quoted(theirs.name)
    if theirs.limits is not None and ours.limits is not None:
        return [f"{limits_text(theirs)} in the rules, {_rest(ours)} in the model"]
    kinds = [_kind(feature) for feature in (theirs, ours)]
    if kinds[0] != kinds[1]:
        return [f"{name} is {kinds[0]} in the rules, {kinds[1]} in the model"]
    said = []
    for one, other, whose in ((theirs, ours, "rules"), (ours, theirs, "model")):
        only = [value for value in one.values if value not in other.values]
        if only:
            texts = _some([value_text(one, value) for value in only])
            said.append(f"{texts} only in the {whose}")
    return [f"{name}: {', '.join(said) or 'its values have another meaning or order'}"]


def _rest(feature: Feature) -> str:
    """Return what a range holds, without its name."""
    return limits_text(feature).removeprefix(quoted(feature.name)).lstrip()


def _kind(feature: Feature) -> str:
    if feature.limits is not None:
        return "a range"
    if feature.edges is not None:
        return "numbers in bins"
    return "a list of values" if feature.groups is None else "groups of categories"


def _some(texts: list[str]) -> str:
    """Return the first of some texts, and how many more there are."""
    more = len(texts) - _NAMED
    return ", ".join(texts[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _on_domain(network: Network, domain: Domain) -> Network | None:
    """Return a network on another domain; None if it lacks one of its values."""
    if set(network.domain.names) != set(domain.names) or network.domain.has_curves:
        return None
    columns: list[int] = []
    for feature in domain.features:
        own = network.domain.feature(feature.name)
        if _kind(own) != _kind(feature) or own.whole != feature.whole:
            return None
        start = int(network.domain.offsets[network.domain.index(feature.name)])
        first = 0 if feature.limits is None else 1
        if not all(value in own.values for value in feature.values[first:]):
            return None
        places = [own.values.index(value) for value in feature.values[first:]]
        columns += [start + place for place in [0][:first] + places]
    layer = network.layers[0]
    chosen = Layer(
        layer.weights[np.array(columns)], layer.bias, layer.activation, layer.slope
    )
    try:
        return replace(network, domain=domain, layers=(chosen, *network.layers[1:]))
    except DomainError:
        return None
