"""Bins as people read them: where the numbers of a value begin and end.

Features that are `Intervals` have bins. So have categories with labels such as
``17–41``, ``42–65`` and ``66+``, which are read as whole numbers.
"""

import re
from itertools import pairwise
from math import inf

from nn2rules.space.feature import Feature
from nn2rules.space.feature_kinds import Intervals
from nn2rules.space.values import edge_text

Cut = tuple[str, bool]
"""A number, and whether the numbers below a cut include it."""

_BETWEEN = re.compile(r"(-?[0-9]{1,18})(?:–|-| to )(-?[0-9]{1,18})")
_FROM = re.compile(r"(-?[0-9]{1,18})\+")
_BELOW = re.compile(r"< ?(-?[0-9]{1,18})")
_ONE = re.compile(r"-?[0-9]{1,18}")


def has_bins(feature: Feature) -> bool:
    """Tell whether rules say the numbers that values stand for.

    Examples
    --------
    >>> has_bins(Feature("age", ("low", "high"), True, ("17–41", "42–90")))
    True
    >>> has_bins(Feature("age", ("low", "high"), True, ("17–41", "41–90")))
    False
    """
    if feature.labels is None:
        return isinstance(feature, Intervals)
    return bool(_numbers(feature))


def has_odd_bins(feature: Feature) -> bool:
    """Tell whether some labels are bins, but not all, or not such that adjoin."""
    if feature.labels is None or has_bins(feature):
        return False
    return any(_is_bin(label) for label in feature.labels)


def cut_below(feature: Feature, place: int) -> Cut:
    """Return the cut below a bin, of which there is none below the first."""
    if feature.labels is not None:
        return str(_numbers(feature)[place][0]), False
    assert isinstance(feature, Intervals), "asked only of bins"
    return edge_text(feature.edges[place - 1])


def cut_above(feature: Feature, place: int) -> Cut:
    """Return the cut above a bin, of which there is none above the last."""
    if feature.labels is not None:
        return str(_numbers(feature)[place][1]), True
    assert isinstance(feature, Intervals), "asked only of bins"
    edge = feature.edges[place]
    return (str(edge - 1), True) if feature.whole else edge_text(edge)


def _numbers(feature: Feature) -> list[tuple[float, float]]:
    """Return the ends of the bins that labels name; none if they are no such bins.

    Only where each begins with the whole number after the one before it is it plain
    which bin a number is in.
    """
    if not feature.ordered or feature.labels is None:
        return []
    labels = [
        label
        for label, value in zip(feature.labels, feature.values, strict=True)
        if feature.is_ordinary(value)
    ]
    ends = [_ends(label) for label in labels]
    found = [pair for pair in ends if pair is not None]
    if len(found) < len(ends) or not any(map(_is_bin, labels)):
        return []
    if any(low > high for low, high in found):
        return []
    adjoining = all(below[1] + 1 == above[0] for below, above in pairwise(found))
    return found if adjoining else []


def _is_bin(label: str) -> bool:
    return _ONE.fullmatch(label) is None and _ends(label) is not None


def _ends(label: str) -> tuple[float, float] | None:
    """Return the first and the last number that a label names."""
    if found := _BETWEEN.fullmatch(label):
        return int(found[1]), int(found[2])
    if found := _FROM.fullmatch(label):
        return int(found[1]), inf
    if found := _BELOW.fullmatch(label):
        return -inf, int(found[1]) - 1
    return (int(label), int(label)) if _ONE.fullmatch(label) else None
