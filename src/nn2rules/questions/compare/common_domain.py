"""Two domains become one: where they differ, and what they have in common."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError
from nn2rules.language import label_text, unused, value_text
from nn2rules.network import Layer, Network
from nn2rules.rules import RuleList
from nn2rules.space import UNKNOWN, Domain, Feature, Lookup, Value, text_of

_NAMED = 5  # values that a sentence names

Codes = tuple[int, int]
"""Which value something is of the old feature, and of the new one."""


def common_feature(old: Feature, new: Feature) -> tuple[Feature | None, str]:
    """Return what two features of one name have in common, and how they differ.

    Raises
    ------
    DomainError
        If they are of different kinds.
    """
    kinds = [_kind(feature) for feature in (old, new)]
    if kinds[0] != kinds[1]:
        raise DomainError(
            f"feature {old.name!r} is {kinds[0]} in the old one and {kinds[1]} in the "
            f"new one; read both with the same values for it (domain=)"
        )
    if old.limits is not None:
        found, difference = _common_range(old, new)
    elif old.edges is not None:
        found, difference = _common_bins(old, new)
    elif old.groups is not None or new.groups is not None:
        found, difference = _common_groups(old, new)
    else:
        found, difference = _common_values(old, new)
    refused = tuple(dict.fromkeys([*old.not_missing, *new.not_missing]))
    if found is not None and found.not_missing != refused:
        found = replace(found, not_missing=refused)
    return found, difference


def codes_in(own: Feature, common: Feature) -> list[int]:
    """Return which value of a feature each value is of what it has in common.

    Both may be ranges, or bins, cut at different numbers; the second more finely.
    """
    lookup = Lookup(own)
    n_bins = 0 if common.edges is None else common.n_plain
    codes = []
    if common.edges is not None:
        first = -math.inf if common.limits is None else common.limits[0]
        assert own.edges is not None, "both have numbers"
        codes = [bisect_right(own.edges, start) for start in (first, *common.edges)]
    for code, value in enumerate(common.values[n_bins:], n_bins):
        if common.other is not None and value == common.other:
            codes.append(own.values.index(own.other))
        else:
            words = () if common.groups is None else common.groups[code]
            codes.append(lookup[words[0] if words else value])
    return codes


def _kind(feature: Feature) -> str:
    if feature.limits is not None:
        return f"a range of {'whole' if feature.whole else 'real'} numbers"
    return "a list of values" if feature.edges is None else "numbers in bins"


# Ranges and bins


def _common_range(old: Feature, new: Feature) -> tuple[Feature | None, str]:
    assert old.limits is not None, "both are ranges"
    assert new.limits is not None, "both are ranges"
    low, high = (
        max(old.limits[0], new.limits[0]),
        min(old.limits[1], new.limits[1]),
    )
    lookup = Lookup(new)
    beside = [value for value in old.values[1:] if lookup[value] > 0]
    if old.limits == new.limits and len(beside) + 1 == len(old) == len(new):
        return old, ""
    ends = [f"{f.limits[0]} to {f.limits[1]}" for f in (old, new) if f.limits]
    difference = f"feature {old.name!r} goes from {ends[0]} in the old one, {ends[1]} "
    difference += "in the new one"
    if old.limits == new.limits:
        difference = f"feature {old.name!r} has other values beside its range"
    mixed = [*_numbers_of_other(old, new), *_numbers_of_other(new, old)]
    if mixed:
        texts = ", ".join(map(text_of, mixed))
        difference += (
            f"; {texts}, special in one of the two and a number of the range in the "
            f"other, is not compared"
        )
    if low > high:
        return (Feature(old.name, tuple(beside)) if beside else None), difference
    found = Feature.real(
        old.name,
        low,
        high,
        whole=old.whole,
        special=[value for value in beside if value is not None],
        missing=None in beside,
    )
    return found, difference


def _numbers_of_other(one: Feature, other: Feature) -> list[Value]:
    """Return the special values of one range that are numbers of another."""
    lookup = Lookup(other)
    return [value for value in one.values[1:] if lookup[value] == 0]


def _common_bins(old: Feature, new: Feature) -> tuple[Feature, str]:
    """Return bins so narrow that each lies in one bin of both features."""
    rests = [{*feature.values[feature.n_plain :]} for feature in (old, new)]
    is_cut_so = (old.edges, old.whole) == (new.edges, new.whole)
    has_other = old.other is not None and new.other is not None
    if is_cut_so and rests[0] == rests[1] and old.other == new.other:
        return old, ""
    whole = old.whole or new.whole
    edges = {*(old.edges or ()), *(new.edges or ())}
    if whole:  # the numbers from an edge on are those from the next whole one on
        edges = {math.ceil(edge) for edge in edges}
    missing = all(None in rest for rest in rests)
    found = Feature.bins(old.name, tuple(sorted(edges)), missing=missing, whole=whole)
    if has_other:
        other = unused(str(old.other), [text_of(value) for value in found.values])
        found = replace(found, values=(*found.values, other), other=other)
    return found, f"feature {old.name!r}: {', '.join(_bin_differences(old, new))}"


def _bin_differences(old: Feature, new: Feature) -> list[str]:
    found = []
    if old.edges != new.edges:
        cuts = [", ".join(map(str, f.edges or ())) for f in (old, new)]
        found.append(
            f"the bins are cut at {cuts[0]} in the old one, {cuts[1]} in the new one"
        )
    if old.whole != new.whole:
        found.append("only one of the two takes whole numbers alone")
    if (None in old.values) != (None in new.values):
        found.append("only one of the two can be missing")
    if (old.other is None) != (new.other is None):
        found.append("only one of the two takes any other value")
    return found or ["the two name other values differently"]


# Words, one by one or in groups


def _common_values(old: Feature, new: Feature) -> tuple[Feature | None, str]:
    differences = [
        f"only the {side} one has {_listed(one, other)}"
        for side, one, other in (("old", old, new), ("new", new, old))
        if _unlisted(one, other)
    ]
    if (old.other is None) != (new.other is None):
        differences.append("only one of the two takes any other value")
    if not differences and old.other == new.other:
        return old, ""
    difference = f"feature {old.name!r}: {', '.join(differences)}" * bool(differences)
    words, others, _ = _common_words(old, new)
    values = [group[0] for codes, group in words.items() if codes != others]
    if not values and others is None:
        return None, difference
    rest = [value for value in values if value is None]
    values = [value for value in values if value is not None]
    other = None
    if others is not None:
        other = unused(str(old.other), [text_of(v) for v in (*values, *rest)])
    values = [*values, *rest, *([] if other is None else [other])]
    is_of_old = all(value in old.values for value in values)
    labels = None
    if old.labels is not None and is_of_old:
        shown = dict(zip(old.values, old.labels, strict=True))
        labels = tuple(shown[value] for value in values)
    return Feature(
        old.name,
        tuple(values),
        ordered=old.ordered and all(v in (*old.values, other) for v in values),
        labels=labels,
        other=other,
    ), difference


def _common_groups(old: Feature, new: Feature) -> tuple[Feature | None, str]:
    """Return groups of words so small that each lies in one value of both features."""
    if old == new:
        return old, ""
    words, others, unknown = _common_words(old, new)
    differences = []
    if unknown:
        texts = ", ".join(label_text(word) for word in unknown[:_NAMED])
        differences.append(f"only one of the two knows {texts}")
    if (old.other is None) != (new.other is None):
        differences.append("only one of the two takes any other value")
    difference = f"feature {old.name!r}: {', '.join(differences)}" * bool(differences)
    if not words:
        return None, difference
    place = None if others is None else list(words).index(others)
    return Feature.grouped(old.name, list(words.values()), other=place), difference


def _common_words(
    old: Feature, new: Feature
) -> tuple[dict[Codes, list[Value]], Codes | None, list[Value]]:
    """Return the words that both know, the codes of others, and all other words.

    Words are by their codes in both. Of words that read the same there is one.
    """
    lookups = [Lookup(old), Lookup(new)]
    words: dict[Codes, list[Value]] = {}
    unknown: list[Value] = []
    for word in dict.fromkeys([*old.words, *new.words]):
        codes = (lookups[0][word], lookups[1][word])
        if UNKNOWN in codes:
            unknown.append(word)
            continue
        same = words.setdefault(codes, [])
        if text_of(word) not in map(text_of, same):
            same.append(word)
    others = None
    if old.other is not None and new.other is not None:
        others = (old.values.index(old.other), new.values.index(new.other))
        words.setdefault(others, [])
    return words, others, unknown


def _listed(one: Feature, other: Feature) -> str:
    unlisted = _unlisted(one, other)
    texts = [value_text(one, value) for value in unlisted[:_NAMED]]
    more = len(unlisted) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more else "")


def _unlisted(one: Feature, other: Feature) -> Sequence[Value]:
    """Return the values that only the first of two features lists."""
    lookup = Lookup(other)
    rest = UNKNOWN if other.other is None else other.values.index(other.other)
    return [
        value
        for value in one.values
        if lookup[value] == UNKNOWN
        or (lookup[value] == rest and text_of(value) != other.other)
    ]


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
