"""The common domain of two models: how their domains differ, and what they share."""

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
from nn2rules.space import (
    UNKNOWN,
    Binned,
    Domain,
    Feature,
    Intervals,
    Listed,
    Lookup,
    Range,
    Value,
    text_of,
)

_NAMED = 5  # values that a sentence names

Codes = tuple[int, int]
"""The codes of a value in the old feature and in the new one."""


def common_feature(old: Feature, new: Feature) -> tuple[Feature | None, str]:
    """Return what two features of one name share, and how they differ.

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
    shared: Feature | None
    match old, new:
        case Range(), Range():
            shared, difference = _common_range(old, new)
        case Binned(), Binned():
            shared, difference = _common_bins(old, new)
        case Listed(), Listed():
            shared, difference = _common_values(old, new)
        case _:
            shared, difference = _common_groups(old, new)
    refused = tuple(dict.fromkeys([*old.not_missing, *new.not_missing]))
    if shared is not None and shared.not_missing != refused:
        shared = replace(shared, not_missing=refused)
    return shared, difference


def codes_in(feature: Feature, common: Feature) -> list[int]:
    """Return the code in a feature of each value of the shared feature.

    Both may be ranges or bins with different cuts; the shared one is cut more finely.
    """
    lookup = Lookup(feature)
    n_bins = common.n_intervals
    codes = []
    if isinstance(common, Intervals) and isinstance(feature, Intervals):
        first = common.limits[0] if isinstance(common, Range) else -math.inf
        codes = [bisect_right(feature.edges, start) for start in (first, *common.edges)]
    for code, value in enumerate(common.values[n_bins:], n_bins):
        if common.is_other(value):
            codes.append(feature.other_code)
        else:
            categories = common.categories_at(code)
            codes.append(lookup[categories[0] if categories else value])
    return codes


def _kind(feature: Feature) -> str:
    if isinstance(feature, Range):
        return f"a range of {'whole' if feature.whole else 'real'} numbers"
    return "numbers in bins" if isinstance(feature, Binned) else "a list of values"


# Ranges and bins


def _common_range(old: Range, new: Range) -> tuple[Feature | None, str]:
    low, high = (
        max(old.limits[0], new.limits[0]),
        min(old.limits[1], new.limits[1]),
    )
    lookup = Lookup(new)
    beside = [value for value in old.values[1:] if lookup[value] > 0]
    if old.limits == new.limits and len(beside) + 1 == len(old) == len(new):
        return old, ""
    ends = [f"{f.limits[0]} to {f.limits[1]}" for f in (old, new)]
    difference = f"feature {old.name!r} goes from {ends[0]} in the old one, {ends[1]} "
    difference += "in the new one"
    if old.limits == new.limits:
        difference = f"feature {old.name!r} has other special values"
    mixed = [*_numbers_of_other(old, new), *_numbers_of_other(new, old)]
    if mixed:
        texts = ", ".join(map(text_of, mixed))
        difference += (
            f"; {texts}, special in one of the two and a number of the range in the "
            f"other, is not compared"
        )
    if low > high:
        return (Feature(old.name, tuple(beside)) if beside else None), difference
    shared = Feature.real(
        old.name,
        low,
        high,
        whole=old.whole,
        special=[value for value in beside if value is not None],
        missing=None in beside,
    )
    return shared, difference


def _numbers_of_other(one: Feature, other: Feature) -> list[Value]:
    """Return the special values of one range that are numbers of another."""
    lookup = Lookup(other)
    return [value for value in one.values[1:] if lookup[value] == 0]


def _common_bins(old: Binned, new: Binned) -> tuple[Feature, str]:
    """Return bins so narrow that each lies in one bin of both features."""
    rests = [{*feature.beside} for feature in (old, new)]
    is_cut_so = (old.edges, old.whole) == (new.edges, new.whole)
    has_other = old.other is not None and new.other is not None
    if is_cut_so and rests[0] == rests[1] and old.other == new.other:
        return old, ""
    is_whole = old.whole or new.whole
    edges = {*old.edges, *new.edges}
    if is_whole:  # the numbers from an edge on are those from the next whole one on
        edges = {math.ceil(edge) for edge in edges}
    missing = all(None in uncovered for uncovered in rests)
    shared = Feature.bins(
        old.name, tuple(sorted(edges)), missing=missing, whole=is_whole
    )
    if has_other:
        other = unused(str(old.other), [text_of(value) for value in shared.values])
        shared = replace(shared, values=(*shared.values, other), other=other)
    return shared, f"feature {old.name!r}: {', '.join(_bin_differences(old, new))}"


def _bin_differences(old: Binned, new: Binned) -> list[str]:
    differences = []
    if old.edges != new.edges:
        cuts = [", ".join(map(str, f.edges)) for f in (old, new)]
        differences.append(
            f"the bins are cut at {cuts[0]} in the old one, {cuts[1]} in the new one"
        )
    if old.whole != new.whole:
        differences.append("only one of the two is limited to whole numbers")
    if (None in old.values) != (None in new.values):
        differences.append("only one of the two can be missing")
    if (old.other is None) != (new.other is None):
        differences.append("only one of the two accepts other values")
    return differences or ["the two name other values differently"]


# Categories, one by one or in groups


def _common_values(old: Feature, new: Feature) -> tuple[Feature | None, str]:
    differences = [
        f"only the {side} one has {_listed(one, other)}"
        for side, one, other in (("old", old, new), ("new", new, old))
        if _unlisted(one, other)
    ]
    if (old.other is None) != (new.other is None):
        differences.append("only one of the two accepts other values")
    if not differences and old.other == new.other:
        return old, ""
    difference = f"feature {old.name!r}: {', '.join(differences)}" * bool(differences)
    categories, others, _ = _common_categories(old, new)
    values = [group[0] for codes, group in categories.items() if codes != others]
    if not values and others is None:
        return None, difference
    uncovered = [value for value in values if value is None]
    values = [value for value in values if value is not None]
    other = None
    if others is not None:
        other = unused(str(old.other), [text_of(v) for v in (*values, *uncovered)])
    values = [*values, *uncovered, *([] if other is None else [other])]
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
    """Return groups of categories that each lie in one value of both features."""
    if old == new:
        return old, ""
    categories, others, unknown = _common_categories(old, new)
    differences = []
    if unknown:
        texts = ", ".join(label_text(category) for category in unknown[:_NAMED])
        differences.append(f"only one of the two has {texts}")
    if (old.other is None) != (new.other is None):
        differences.append("only one of the two accepts other values")
    difference = f"feature {old.name!r}: {', '.join(differences)}" * bool(differences)
    if not categories:
        return None, difference
    place = None if others is None else list(categories).index(others)
    return Feature.grouped(old.name, list(categories.values()), other=place), difference


def _common_categories(
    old: Feature, new: Feature
) -> tuple[dict[Codes, list[Value]], Codes | None, list[Value]]:
    """Return the shared categories, the codes of other values, and the rest.

    Categories are keyed by their codes in both. Of equal texts only one is kept.
    """
    lookups = [Lookup(old), Lookup(new)]
    categories: dict[Codes, list[Value]] = {}
    unknown: list[Value] = []
    for category in dict.fromkeys([*old.categories, *new.categories]):
        codes = (lookups[0][category], lookups[1][category])
        if UNKNOWN in codes:
            unknown.append(category)
            continue
        same = categories.setdefault(codes, [])
        if text_of(category) not in map(text_of, same):
            same.append(category)
    others = None
    if old.other is not None and new.other is not None:
        others = (old.other_code, new.other_code)
        categories.setdefault(others, [])
    return categories, others, unknown


def _listed(one: Feature, other: Feature) -> str:
    unlisted = _unlisted(one, other)
    texts = [value_text(one, value) for value in unlisted[:_NAMED]]
    more = len(unlisted) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more else "")


def _unlisted(one: Feature, other: Feature) -> Sequence[Value]:
    """Return the values that only the first of two features has."""
    lookup = Lookup(other)
    uncovered = other.other_code
    return [
        value
        for value in one.values
        if lookup[value] == UNKNOWN
        or (lookup[value] == uncovered and text_of(value) != other.other)
    ]


@dataclass(frozen=True, slots=True)
class SharedDomain:
    """The domain on which two models are compared, and how their own domains differ.

    Attributes
    ----------
    domain : Domain
        All features of both, each with the values that both have. A model without a
        feature ignores it.
    differences : tuple of str
        A sentence for each feature that differs.
    """

    domain: Domain
    differences: tuple[str, ...]


def shared_domain_of(old: Domain, new: Domain, *, common: bool) -> SharedDomain:
    """Return the shared domain of two domains.

    Raises
    ------
    DomainError
        If they differ and `common` is false, or if they have nothing in common.
    """
    old, new = old.uncut, new.uncut
    features: list[Feature | None] = []
    differences: list[str] = []
    for feature in old.features:
        shared: Feature | None = feature
        difference = ""
        if feature.name in new.names:
            shared, difference = common_feature(feature, new.feature(feature.name))
        features.append(shared)
        differences += [difference] if difference else []
    features += [feature for feature in new.features if feature.name not in old.names]
    differences += _features_of_one("old", old, new) + _features_of_one("new", new, old)
    if differences and not common:
        raise DomainError(
            f"the two have different domains: {'; '.join(differences)}; with "
            f"common=True (--common) they are compared on what they share"
        )
    empty = [
        name for name, shared in zip(old.names, features, strict=False) if not shared
    ]
    if empty:
        raise DomainError(
            f"the two share no value of feature {empty[0]!r}, so there is no input to "
            f"compare: {'; '.join(differences)}"
        )
    return SharedDomain(
        Domain(tuple(f for f in features if f is not None)), tuple(differences)
    )


def _features_of_one(side: str, domain: Domain, other: Domain) -> list[str]:
    """Return a sentence on the features that only one of two domains has."""
    names = [repr(name) for name in domain.names if name not in other.names]
    noun = "feature" if len(names) == 1 else "features"
    return [f"only the {side} one has the {noun} {', '.join(names)}"] if names else []


def columns_of(domain: Domain, shared: Domain) -> NDArray[np.int64]:
    """Return the column of each shared value in another domain, or -1."""
    columns: list[int] = []
    for feature in shared.features:
        if feature.name not in domain.names:
            columns += [-1] * len(feature)
            continue
        start = domain.offsets_of[feature.name]
        codes = codes_in(domain.feature(feature.name), feature)
        columns += [start + code for code in codes]
    return np.array(columns, dtype=np.int64)


def network_on(domain: Domain, network: Network) -> Network:
    """Return a network on the shared domain.

    The first layer keeps the weights of the shared values. Features that the network
    does not have get weight 0.
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

    Its ranges are cut at least where the rules need it. Rules that cover none of its
    inputs are left out.
    """
    columns = columns_of(rules.domain, domain)
    boxes = rules.boxes[:, columns] | (columns < 0)
    left = np.logical_or.reduceat(boxes, domain.offsets[:-1], axis=1).all(axis=1)
    return boxes[left], rules.answers[left]


def _edges(feature: Feature) -> tuple[float, ...]:
    return feature.edges if isinstance(feature, Intervals) else ()


def cut_for(domain: Domain, *several: RuleList) -> Domain:
    """Return a domain whose ranges are cut wherever the rules cut theirs."""
    edges: dict[str, list[float]] = {}
    for feature in domain.features:
        if not isinstance(feature, Range):
            continue
        low, high = feature.limits
        edges_of_rules = [
            edge
            for rules in several
            if feature.name in rules.domain.names
            for edge in _edges(rules.domain.feature(feature.name))
        ]
        edges[feature.name] = sorted(
            {edge for edge in edges_of_rules if low < edge <= high}
        )
    return domain.cut(edges)
