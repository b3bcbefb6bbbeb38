"""Rules and impossible inputs, written in codes that suit both sides.

The network has one code for all numbers of a range, and the number beside it. The
conditions of rules cut a range into cells. Here each cell has a code of its own: within
a cell no condition begins or ends, so rules cannot tell its numbers apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.checker.curves import near_ends, values_of_none, values_of_span
from nn2rules.errors import DomainError, OptionError
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.space import (
    Binned,
    Curved,
    Domain,
    Feature,
    Grouped,
    Range,
    Value,
    text_of,
)

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Box = dict[int, NDArray[np.bool_]]  # feature → which of its codes are allowed
Spans = list[tuple[float, float]]  # of numbers, both ends included

RULES_HAVE = "the rules have"
"""How messages begin that say what the other side has, and the network has not."""


@dataclass(frozen=True)
class Read:
    """Rules as this package compares them.

    Attributes
    ----------
    boxes : list of Box
    spans : list of mappings from features to spans
        Of each rule, which numbers of a range it allows, if not all.
    answers : ndarray of int
        The positions of the classes of the rules, and last that of the default.
    starts : mapping from features to ascending numbers
        Where the cells of each range begin; the first at its lower end.
    near : mapping from features to ascending numbers
        Of ranges that are read along curves: values at ends of spans, and next to
        there. Spans and cells are of values, too.
    nowhere : mapping from features to spans
        Of these ranges: cells of values that no number has.
    """

    boxes: list[Box]
    spans: list[dict[int, Spans]]
    answers: Codes
    starts: dict[int, Floats]
    near: dict[int, Floats] = field(default_factory=dict)
    nowhere: dict[int, Spans] = field(default_factory=dict)

    def cells(self, codes: Codes, numbers: Floats | None) -> Codes:
        """Return codes in which every cell of a range has one of its own."""
        if numbers is None:
            return codes
        found = codes.copy()
        for feature, starts in self.starts.items():
            cell = np.searchsorted(starts, numbers[:, feature], side="right") - 1
            beside = codes[:, feature] + len(starts) - 1
            found[:, feature] = np.where(codes[:, feature] == 0, cell, beside)
        return found


def read_rules(network: Network, rules: RuleList) -> Read:
    """Return the rules in the codes of the network, with ranges cut into cells."""
    classes = positions("classes", network.classes, rules.classes)
    places = positions("features", network.domain.names, rules.domain.names)
    codes: dict[str, dict[Value, int]] = {}
    starts: dict[int, Floats] = {}
    near: dict[int, Floats] = {}
    nowhere: dict[int, Spans] = {}
    for feature in rules.domain.features:
        ours, what = network.domain.feature(feature.name), f"feature {feature.name!r}"
        refuse_other_rows(ours, feature)
        known = positions(what, listed_values(ours), listed_values(feature))
        refuse_other_groups(ours, feature, known)
        if isinstance(ours, Range):
            place = places[feature.name]
            said = _spans_in(rules, feature.name)
            starts[place] = _starts(ours, [_own_span(ours, span) for span in said])
            if isinstance(ours, Curved):
                near[place] = near_ends(ours.curve, said)
                nowhere[place] = values_of_none(ours.curve, said, starts[place])
            known = {value: len(starts[place]) + c for value, c in known.items()}
        codes[feature.name] = known
    boxes: list[Box] = []
    spans: list[dict[int, Spans]] = []
    for rule in rules.rules:
        boxes.append({})
        spans.append({})
        for condition in rule.conditions:
            place, known = places[condition.feature], codes[condition.feature]
            values: Any = condition.values
            begins = starts.get(place, np.zeros(0))
            allowed = np.zeros(len(begins) + len(known), dtype=np.bool_)
            ours = network.domain.features[place]
            own = [_own_span(ours, value) for value in values if _is_span(value)]
            for low, high in own:
                allowed[: len(begins)] |= (low <= begins) & (begins <= high)
            allowed[[known[v] for v in values if not _is_span(v)]] = True
            boxes[-1][place] = allowed
            if place in starts:
                spans[-1][place] = own
    labels = (*(rule.then for rule in rules.rules), rules.default)
    answers = np.array([classes[label] for label in labels])
    return Read(boxes, spans, answers, starts, near, nowhere)


def _is_span(value: Value | tuple[float, float]) -> bool:
    return isinstance(value, tuple)


def _own_span(ours: Feature, span: tuple[float, float]) -> tuple[float, float]:
    """Return a span of numbers as the network has it: of a curve, one of values."""
    return values_of_span(ours, span) if isinstance(ours, Curved) else span


def listed_values(feature: Feature) -> Sequence[Value]:
    """Return the values that are no numbers of a range."""
    if not isinstance(feature, Range):
        return feature.values
    return feature.values[len(feature.edges) + 1 :]


def _spans_in(rules: RuleList, name: str) -> Spans:
    """Return all spans that conditions on a feature allow."""
    return [
        value
        for rule in rules.rules
        for condition in rule.conditions
        for value in condition.values
        if condition.feature == name and isinstance(value, tuple)
    ]


def _starts(feature: Range, spans: Spans) -> Floats:
    """Return where the cells begin: at the lower ends, and next to the upper ones."""
    first, last = feature.limits
    found = {float(first)} | {float(low) for low, _ in spans}
    for _, high in spans:
        after = high + 1 if feature.whole else float(np.nextafter(high, np.inf))
        found |= {after} if high < last else set()
    return np.array(sorted(found))


def positions(
    what: str,
    ours: Sequence[Value],
    theirs: Sequence[Value],
    they_have: str = RULES_HAVE,
) -> dict[Value, int]:
    """Return where each of `theirs` (the rules') is among `ours` (the network's).

    Equal ones match; failing that, those that read the same, as 1 and "1" do.
    """
    texts = {text_of(item): index for index, item in enumerate(ours)}
    found: dict[Value, int] = {}
    for item in theirs:
        index = ours.index(item) if item in ours else texts.get(text_of(item))
        if index is None:
            raise DomainError(f"{what}: {they_have} {item!r}, the network has not")
        if index in found.values():
            raise DomainError(f"{what}: {they_have} {item!r} twice")
        found[item] = index
    for index, item in enumerate(ours):
        if index not in found.values():
            raise DomainError(f"{what}: the network has {item!r}, {they_have} not")
    return found


def refuse_other_rows(
    ours: Feature, theirs: Feature, they_have: str = RULES_HAVE
) -> None:
    """Refuse features with the same values for different cells of a table."""
    ours = ours.uncurved
    is_range = isinstance(ours, Range) and isinstance(theirs, Range)
    if _limits(ours) != _limits(theirs) or (is_range and ours.whole != theirs.whole):
        raise DomainError(
            f"feature {ours.name!r}: {they_have} {_range_text(theirs)}, the network "
            f"has {_range_text(ours)}"
        )
    for name, own, other in (
        ("edges", _edges(ours), _edges(theirs)),
        ("other", ours.other, theirs.other),
    ):
        if own != other:
            raise DomainError(
                f"feature {ours.name!r}: {they_have} {name} {other!r}, the network "
                f"has {own!r}, so rows of data mean another input to each"
            )


def _limits(feature: Feature) -> tuple[float, float] | None:
    return feature.limits if isinstance(feature, Range) else None


def _edges(feature: Feature) -> tuple[float, ...] | None:
    """Return where bins are cut; rules cut a range anywhere."""
    return feature.edges if isinstance(feature, Binned) else None


def refuse_other_groups(
    ours: Feature,
    theirs: Feature,
    places: dict[Value, int],
    they_have: str = RULES_HAVE,
) -> None:
    """Refuse groups with the same name for different categories."""
    if not isinstance(ours, Grouped) and not isinstance(theirs, Grouped):
        return
    for code, value in enumerate(theirs.values):
        what = f"feature {ours.name!r}, the group {value!r}"
        positions(what, _words(ours, places[value]), _words(theirs, code), they_have)


def _words(feature: Feature, code: int) -> Sequence[Value]:
    """Return the words that find a value; of that for others, those listed."""
    if isinstance(feature, Grouped):
        return feature.groups[code]
    return () if _is_other(feature, code) else (feature.values[code],)


def _is_other(feature: Feature, code: int) -> bool:
    """Tell whether a value means all others that are not listed; None is one, too."""
    return feature.is_other(feature.values[code])


def _range_text(feature: Feature) -> str:
    if not isinstance(feature, Range):
        return "a list of values"
    kind = "whole numbers" if feature.whole else "numbers"
    return f"{kind} from {feature.limits[0]} to {feature.limits[1]}"


def read_impossible(domain: Domain, given: Any, starts: dict[int, Floats]) -> list[Box]:
    """Return the boxes of inputs that cannot occur, which the caller leaves out."""
    if not isinstance(given, list | tuple):
        raise OptionError(
            f"impossible: a {type(given).__name__}, expected a list of dicts from "
            f"features to values"
        )
    boxes: list[Box] = []
    for index, conditions in enumerate(given):
        if not isinstance(conditions, dict) or not conditions:
            raise OptionError(
                f"impossible[{index}]: {conditions!r}, expected a dict from features "
                f"to values"
            )
        box: Box = {}
        for name, values in conditions.items():
            listed = list(values) if isinstance(values, list | tuple) else [values]
            feature = domain.index(name)
            allowed = _allowed(domain.features[feature], listed, index)
            cells = np.zeros(len(starts.get(feature, ())), dtype=np.bool_)
            box[feature] = np.concatenate([cells, allowed])
        boxes.append(box)
    return boxes


def _allowed(feature: Feature, values: list[Any], index: int) -> NDArray[np.bool_]:
    """Tell which values of a feature are listed; each of those must be one of them."""
    texts = [text_of(value) for value in listed_values(feature)]
    beside = "" if not isinstance(feature, Range) else " beside its range of numbers"
    given = {text_of(v) for v in values if not isinstance(v, list | dict | tuple)}
    known = set(texts)
    for code, name in enumerate(texts if isinstance(feature, Grouped) else ()):
        words = {text_of(word) for word in _words(feature, code)}
        if words <= given and not _is_other(feature, code):
            given, known = given | {name}, known | words
    for value in values:
        if isinstance(value, list | dict | tuple) or text_of(value) not in known:
            raise OptionError(
                f"impossible[{index}]: feature {feature.name!r} has no value {value!r}"
                f"{beside}"
            )
    return np.isin(texts, [*given])


def holds(box: Box, codes: Codes) -> NDArray[np.bool_]:
    """Tell which inputs lie in a box."""
    inside = np.ones(len(codes), dtype=np.bool_)
    for feature, allowed in box.items():
        inside &= allowed[codes[:, feature]]
    return inside
