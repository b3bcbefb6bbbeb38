"""Rules, and what cannot occur, in the codes of a network."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import Domain
from nn2rules.errors import DomainError, OptionError
from nn2rules.feature import Feature
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.values import Value, text_of

Codes = NDArray[np.int64]
Box = dict[int, NDArray[np.bool_]]  # feature → which of its codes are allowed


def read_rules(network: Network, rules: RuleList) -> tuple[list[Box], Codes]:
    """Return the boxes of the rules, and the classes of the rules and the default."""
    classes = _positions("classes", network.classes, rules.classes)
    places = _positions("features", network.domain.names, rules.domain.names)
    codes: dict[str, dict[Value, int]] = {}
    for feature in rules.domain.features:
        ours, what = network.domain.feature(feature.name), f"feature {feature.name!r}"
        codes[feature.name] = _positions(what, ours.values, feature.values)
        _refuse_other_rows(ours, feature)
    boxes: list[Box] = []
    for rule in rules.rules:
        boxes.append({})
        for condition in rule.conditions:
            known = codes[condition.feature]
            allowed = np.zeros(len(known), dtype=np.bool_)
            allowed[[known[value] for value in condition.values]] = True
            boxes[-1][places[condition.feature]] = allowed
    labels = (*(rule.then for rule in rules.rules), rules.default)
    return boxes, np.array([classes[label] for label in labels])


def _positions(
    what: str, ours: Sequence[Value], theirs: Sequence[Value]
) -> dict[Value, int]:
    """Return where each of `theirs` (the rules') is among `ours` (the network's).

    Equal ones match; failing that, those that read the same, as 1 and "1" do.
    """
    texts = {text_of(item): index for index, item in enumerate(ours)}
    found: dict[Value, int] = {}
    for item in theirs:
        index = ours.index(item) if item in ours else texts.get(text_of(item))
        if index is None:
            raise DomainError(f"{what}: the rules have {item!r}, the network has not")
        if index in found.values():
            raise DomainError(f"{what}: the rules have {item!r} twice")
        found[item] = index
    for index, item in enumerate(ours):
        if index not in found.values():
            raise DomainError(f"{what}: the network has {item!r}, the rules have not")
    return found


def _refuse_other_rows(ours: Feature, theirs: Feature) -> None:
    """Refuse features that have the same values, but not for the same cells."""
    for name in ("edges", "other"):
        if getattr(ours, name) != getattr(theirs, name):
            raise DomainError(
                f"feature {ours.name!r}: the rules have {name} "
                f"{getattr(theirs, name)!r}, the network has {getattr(ours, name)!r}, "
                f"so rows of data mean another input to each"
            )


def read_impossible(domain: Domain, given: Any) -> list[Box]:
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
            box[feature] = _allowed(domain.features[feature], listed, index)
        boxes.append(box)
    return boxes


def _allowed(feature: Feature, values: list[Any], index: int) -> NDArray[np.bool_]:
    """Tell which values of a feature are listed; each of those must be one of them."""
    texts = [text_of(value) for value in feature.values]
    for value in values:
        if isinstance(value, list | dict) or text_of(value) not in texts:
            raise OptionError(
                f"impossible[{index}]: feature {feature.name!r} has no value {value!r}"
            )
    return np.isin(texts, [text_of(value) for value in values])


def holds(box: Box, codes: Codes) -> NDArray[np.bool_]:
    """Tell which inputs lie in a box."""
    inside = np.ones(len(codes), dtype=np.bool_)
    for feature, allowed in box.items():
        inside &= allowed[codes[:, feature]]
    return inside
