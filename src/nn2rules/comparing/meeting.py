"""Two domains become one: where they differ, and what they have in common."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nn2rules.comparing.common_feature import codes_in, common_feature
from nn2rules.domain import Domain
from nn2rules.errors import DomainError
from nn2rules.feature import Feature
from nn2rules.layer import Layer
from nn2rules.network import Network
from nn2rules.rules import RuleList


@dataclass(frozen=True, slots=True)
class Meeting:
    """The domain on which two are compared, and how their own domains differ.

    Attributes
    ----------
    domain : Domain
        All features of both; of each feature the values that both know. What does not
        have a feature does not look at it.
    differences : tuple of str
        A sentence for each feature that is not the same in both.
    """

    domain: Domain
    differences: tuple[str, ...]


def meeting_of(old: Domain, new: Domain, *, common: bool) -> Meeting:
    """Return where two domains meet.

    Raises
    ------
    DomainError
        If they differ and `common` is false, or if they have nothing in common.
    """
    old, new = old.uncut, new.uncut
    features: list[Feature | None] = []
    said: list[str] = []
    for feature in old.features:
        found: Feature | None = feature
        difference = ""
        if feature.name in new.names:
            found, difference = common_feature(feature, new.feature(feature.name))
        features.append(found)
        said += [difference] if difference else []
    features += [feature for feature in new.features if feature.name not in old.names]
    said += _features_of_one("old", old, new) + _features_of_one("new", new, old)
    if said and not common:
        raise DomainError(
            f"the two have different domains: {'; '.join(said)}; with common=True "
            f"(--common) they are compared on what they have in common"
        )
    empty = [name for name, met in zip(old.names, features, strict=False) if not met]
    if empty:
        raise DomainError(
            f"the two have nothing in common in the feature {empty[0]!r}, so no input "
            f"belongs to both: {'; '.join(said)}"
        )
    return Meeting(Domain(tuple(f for f in features if f is not None)), tuple(said))


def _features_of_one(side: str, own: Domain, other: Domain) -> list[str]:
    """Say which features only one of two domains has."""
    names = [repr(name) for name in own.names if name not in other.names]
    noun = "feature" if len(names) == 1 else "features"
    return [f"only the {side} one has the {noun} {', '.join(names)}"] if names else []


def columns_of(own: Domain, met: Domain) -> NDArray[np.int64]:
    """Return the column of each value of `met` in another domain; -1 if it has none."""
    found: list[int] = []
    for feature in met.features:
        if feature.name not in own.names:
            found += [-1] * len(feature)
            continue
        start = own.offsets_of[feature.name]
        codes = codes_in(own.feature(feature.name), feature)
        found += [start + code for code in codes]
    return np.array(found, dtype=np.int64)


def network_on(domain: Domain, network: Network) -> Network:
    """Return a network on the inputs of another domain that it knows.

    The tables of the first layer are those of the values that are left; of features
    that the network does not have they are 0.
    """
    if domain == network.domain:
        return network
    first, columns = network.layers[0], columns_of(network.domain, domain)
    weights = np.where((columns >= 0)[:, np.newaxis], first.weights[columns], 0.0)
    layer = Layer(weights, first.bias, first.activation, first.slope)
    return replace(network, domain=domain, layers=(layer, *network.layers[1:]))


def rules_on(
    domain: Domain, rules: RuleList
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return the boxes of rules on another domain, and the positions of their classes.

    Its ranges are cut where those of the rules are, or elsewhere, too. Rules that hold
    for none of its inputs are left out.
    """
    columns = columns_of(rules.domain, domain)
    boxes = rules.boxes[:, columns] | (columns < 0)
    left = np.logical_or.reduceat(boxes, domain.offsets[:-1], axis=1).all(axis=1)
    return boxes[left], rules.answers[left]


def cut_for(domain: Domain, *several: RuleList) -> Domain:
    """Return a domain with its ranges cut wherever rules cut theirs."""
    edges: dict[str, list[float]] = {}
    for feature in domain.features:
        if feature.limits is None:
            continue
        low, high = feature.limits
        own = [
            edge
            for rules in several
            if feature.name in rules.domain.names
            for edge in rules.domain.feature(feature.name).edges or ()
        ]
        edges[feature.name] = sorted({edge for edge in own if low < edge <= high})
    return domain.cut(edges)
