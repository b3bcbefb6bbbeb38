"""Two domains become one: where they differ, and what they have in common."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import Domain
from nn2rules.errors import DomainError
from nn2rules.feature import UNKNOWN, Feature, Lookup
from nn2rules.layer import Layer
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.text import label_text, value_text
from nn2rules.values import Value, text_of

_NAMED = 5  # values that a sentence names


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
            found, difference = _met(feature, new.feature(feature.name))
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


def _met(old: Feature, new: Feature) -> tuple[Feature | None, str]:
    """Return what two features of one name have in common, and how they differ."""
    kinds = [_kind(feature) for feature in (old, new)]
    name = f"feature {old.name!r}"
    if kinds[0] != kinds[1]:
        raise DomainError(
            f"{name} is {kinds[0]} in the old one and {kinds[1]} in the new one; read "
            f"both with the same values for it (domain=)"
        )
    if old.limits is not None:
        return _met_ranges(old, new)
    if old.edges is not None:
        return _met_bins(old, new)
    if old.groups is not None or new.groups is not None:
        return _met_groups(old, new)
    said = [
        f"only the {side} one has {_listed(one, other)}"
        for side, one, other in (("old", old, new), ("new", new, old))
        if _missing(one, other)
    ]
    if (old.other is None) != (new.other is None):
        said.append("only one of the two takes any other value")
    if not said:
        return old, ""
    return _met_values(old, new), f"{name}: {', '.join(said)}"


def _kind(feature: Feature) -> str:
    if feature.limits is not None:
        return f"a range of {'whole' if feature.whole else 'real'} numbers"
    return "a list of values" if feature.edges is None else "numbers in bins"


def _missing(one: Feature, other: Feature) -> list[Value]:
    """Return the values that only the first of two features has."""
    return [value for value in one.values if _code(other, value) is None]


def _listed(one: Feature, other: Feature) -> str:
    missing = _missing(one, other)
    texts = [value_text(one, value) for value in missing[:_NAMED]]
    more = len(missing) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more else "")


def _met_ranges(old: Feature, new: Feature) -> tuple[Feature | None, str]:
    assert old.limits is not None, "both are ranges"
    assert new.limits is not None, "both are ranges"
    low, high = (
        max(old.limits[0], new.limits[0]),
        min(old.limits[1], new.limits[1]),
    )
    beside = [value for value in old.values[1:] if _code(new, value) is not None]
    is_same = old.limits == new.limits and len(beside) + 1 == len(old) == len(new)
    if is_same:
        return old, ""
    ends = [f"{f.limits[0]} to {f.limits[1]}" for f in (old, new) if f.limits]
    said = f"feature {old.name!r} goes from {ends[0]} in the old one, {ends[1]} in "
    said += "the new one"
    if old.limits == new.limits:
        said = f"feature {old.name!r} has other values beside its range"
    if low > high:
        return None, said
    found = Feature.real(
        old.name,
        low,
        high,
        whole=old.whole,
        special=[value for value in beside if value is not None],
        missing=None in beside,
    )
    return found, said


def _met_bins(old: Feature, new: Feature) -> tuple[Feature, str]:
    """Return bins so narrow that each lies in one bin of both features."""
    rests = [feature.values[feature.n_plain :] for feature in (old, new)]
    is_cut_so = (old.edges, old.whole) == (new.edges, new.whole)
    if is_cut_so and rests[0] == rests[1]:
        return old, ""
    found = Feature.bins(
        old.name,
        tuple(sorted({*(old.edges or ()), *(new.edges or ())})),
        missing=all(None in rest for rest in rests),
        whole=old.whole and new.whole,
    )
    what = "only one of the two can be missing"
    if not is_cut_so:
        cuts = [", ".join(map(str, f.edges or ())) for f in (old, new)]
        what = f"the bins are cut at {cuts[0]} in the old one, {cuts[1]} in the new one"
    return found, f"feature {old.name!r}: {what}"


def _met_values(old: Feature, new: Feature) -> Feature | None:
    """Return the values that two features know; one for others knows all that exist."""
    kept = [v for v in old.values if not _is_other(old, v) and _knows(new, v)]
    added = [
        value
        for value in _missing(new, old)
        if not _is_other(new, value) and _knows(old, value)
    ]
    rest = [value for value in kept if value is None]
    kept = [value for value in kept if value is not None]
    both = old.other is not None and new.other is not None
    if not (kept or added or rest or both):
        return None
    labels = None
    if old.labels is not None and not added:
        shown = dict(zip(old.values, old.labels, strict=True))
        known = [*kept, *rest, *([old.other] if both else [])]
        labels = tuple(shown[value] for value in known)
    return Feature(
        old.name,
        (*kept, *added, *rest, *([old.other] if both else [])),
        ordered=old.ordered and not added,
        labels=labels,
        other=old.other if both else None,
    )


def _met_groups(old: Feature, new: Feature) -> tuple[Feature | None, str]:
    """Return groups of words so small that each lies in one value of both features."""
    if old == new:
        return old, ""
    lookups = [Lookup(old), Lookup(new)]
    groups: dict[tuple[int, ...], list[Value]] = {}
    unknown: list[Value] = []
    for word in dict.fromkeys([*old.words, *new.words]):
        codes = tuple(lookup[word] for lookup in lookups)
        if UNKNOWN in codes:
            unknown.append(word)
        else:
            groups.setdefault(codes, []).append(word)
    rest = None
    if old.other is not None and new.other is not None:
        strangers = (old.values.index(old.other), new.values.index(new.other))
        groups.setdefault(strangers, [])
        rest = list(groups).index(strangers)
    said = []
    if unknown:
        texts = ", ".join(label_text(word) for word in unknown[:_NAMED])
        said.append(f"only one of the two knows {texts}")
    if (old.other is None) != (new.other is None):
        said.append("only one of the two takes any other value")
    difference = f"feature {old.name!r}: {', '.join(said)}" if said else ""
    if not groups:
        return None, difference
    return Feature.grouped(old.name, list(groups.values()), other=rest), difference


def _is_other(feature: Feature, value: Value) -> bool:
    """Tell whether a value stands for others; what is missing never does."""
    return feature.other is not None and value == feature.other


def _knows(feature: Feature, value: Value) -> bool:
    is_other = feature.other is not None and value is not None
    return is_other or _code(feature, value) is not None


def _code(feature: Feature, value: Value) -> int | None:
    """Return which value of a feature equals one, or reads the same."""
    if value in feature.values:
        return feature.values.index(value)
    texts = [None if own is None else text_of(own) for own in feature.values]
    if value is None or text_of(value) not in texts:
        return None
    return texts.index(text_of(value))


def codes_of(own: Feature, met: Feature) -> list[int]:
    """Return which value of a feature each value is of what it has in common.

    Both may be ranges, or bins, cut at different numbers; the second more finely.
    """
    if met.groups is not None:
        lookup = Lookup(own)
        return [
            lookup[group[0]] if group else own.values.index(own.other)
            for group in met.groups
        ]
    if own.edges is None:
        return [
            _known(own, value, is_other=_is_other(met, value)) for value in met.values
        ]
    starts: Sequence[float] = met.edges or ()
    first = -np.inf if met.limits is None else met.limits[0]
    plain = [bisect_right(own.edges, start) for start in (first, *starts)]
    rest = met.values[met.n_plain :]
    return [*plain, *(own.n_plain + own.values[own.n_plain :].index(v) for v in rest)]


def _known(feature: Feature, value: Value, *, is_other: bool) -> int:
    """Return the code of a value that a feature has, or that its one for others is."""
    code = None if is_other else _code(feature, value)
    return feature.values.index(feature.other) if code is None else code


def columns_of(own: Domain, met: Domain) -> NDArray[np.int64]:
    """Return the column of each value of `met` in another domain; -1 if it has none."""
    found: list[int] = []
    for feature in met.features:
        if feature.name not in own.names:
            found += [-1] * len(feature)
            continue
        start = own.offsets_of[feature.name]
        codes = codes_of(own.feature(feature.name), feature)
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
