"""Claims that a model answers as rules do."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover.thresholds import parts_of
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.errors import DomainError
from nn2rules.given_rows import GivenRows
from nn2rules.matching import NO_RULE
from nn2rules.network import Network
from nn2rules.other_network import other_network
from nn2rules.rules import RuleList
from nn2rules.text import label_text
from nn2rules.verifying.questions import MOST_WAYS, Codes, Kinds, Plain, Search
from nn2rules.verifying.region import Region, common_boxes


def _check_rules(network: Network, rules: RuleList) -> None:
    """Refuse rules about other features, values or classes than the network's."""
    unknown = [label for label in rules.classes if label not in network.classes]
    if unknown:
        known = ", ".join(repr(label) for label in network.classes)
        raise DomainError(
            f"the rules answer {unknown[0]!r}, and the model's classes are {known}"
        )
    ours, theirs = network.domain, rules.domain.uncut
    is_known = ours.names == theirs.names and all(
        (own.values, own.limits, own.whole) == (their.values, their.limits, their.whole)
        for own, their in zip(ours.features, theirs.features, strict=True)
    )
    if not is_known:
        raise DomainError(
            f"the rules are not about the inputs of this model: "
            f"{other_network(rules, network)}"
        )


def against_rules(network: Network, rules: RuleList, *, is_whole: bool) -> Plain:
    """Compare the network with rules: with their default, or where one decides."""
    _check_rules(network, rules)
    place_of = np.array([network.classes.index(label) for label in rules.classes])
    default = network.classes.index(rules.default)
    n_classes = len(network.classes)
    pairs = [(a, b) for a in range(n_classes) for b in range(n_classes) if a != b]
    way_of = np.zeros((n_classes, n_classes), dtype=np.uint8)
    is_few = len(pairs) <= MOST_WAYS
    for way, (answer, said) in enumerate(pairs, 1):
        way_of[answer, said] = way if is_few else 1
    ways = ["differs"]
    if is_few:
        names = [label_text(label) for label in network.classes]
        ways = [f"answered {names[a]}, rules {names[b]}" for a, b in pairs]
    is_each = not is_whole and rules.form == "set"

    def judge(
        answers: Sequence[Codes], codes: Codes, numbers: NDArray[np.float64] | None
    ) -> Kinds:
        own = GivenRows(network.domain, codes, numbers).codes_in(rules.domain)
        if is_each:
            return _each(rules, place_of, way_of, own, answers[0])
        fired = rules.match(own)
        said = np.append(place_of[rules.answers], default)[fired]
        kinds = way_of[answers[0], said]
        return kinds if is_whole else np.where(fired == NO_RULE, np.uint8(0), kinds)

    def searches(region: Region) -> Iterator[Search]:
        yield from _rule_searches(network, rules, region, place_of, is_each=is_each)
        if is_whole:
            above = [parts_of(rules.domain, box) for box in rules.boxes]
            ignored = _joined([region.impossible, *above])
            yield Search(network, default, region.within, ignored)

    return Plain((network,), tuple(ways), judge, searches, needs_inputs=True)


def _each(
    rules: RuleList,
    place_of: NDArray[np.int64],
    way_of: NDArray[np.uint8],
    codes: Codes,
    answers: Codes,
) -> Kinds:
    """Tell of which inputs some rule of a set is wrong."""
    kinds = np.zeros(len(codes), dtype=np.uint8)
    columns = codes + rules.domain.offsets[:-1]
    for box, answer in zip(rules.boxes, place_of[rules.answers], strict=True):
        wrong = box[columns].all(axis=1) & (answers != answer)
        kinds[wrong] = way_of[answers[wrong], answer]
    return kinds


def _rule_searches(
    network: Network,
    rules: RuleList,
    region: Region,
    place_of: NDArray[np.int64],
    *,
    is_each: bool,
) -> Iterator[Search]:
    """Yield a question for each rule: what those above it decide is left out."""
    above: list[Boxes] = []
    for box, answer in zip(rules.boxes, rules.answers, strict=True):
        own = parts_of(rules.domain, box)
        within = common_boxes(network.domain, region.within, own)
        ignored = _joined([region.impossible, *above])
        if len(within.allowed):
            yield Search(network, int(place_of[answer]), within, ignored)
        if not is_each:
            above.append(own)


def _joined(parts: Sequence[Boxes]) -> Boxes:
    return Boxes(
        np.vstack([part.allowed for part in parts]),
        np.concatenate([part.ends for part in parts]),
    )
