"""Claims about each input by itself: what they ask, and what violates them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError, OptionError
from nn2rules.extraction import other_network
from nn2rules.language import Region, label_text
from nn2rules.models import GivenRows
from nn2rules.network import Layer, Network
from nn2rules.questions.claims import (
    Equivalent,
    Implies,
    ProbabilityBetween,
    Subsumes,
    Unreachable,
)
from nn2rules.rules import NO_RULE, RuleList
from nn2rules.space import (
    Boxes,
    Value,
    common_boxes,
    did_you_mean,
    inside_each,
    joined,
    parts_of,
)

Codes: TypeAlias = NDArray[np.int64]

Violations: TypeAlias = NDArray[np.uint8]
"""For each input 0 where the claim holds, or the number of a way to violate it."""

MOST_WAYS = 200
"""The most ways to violate a claim that are told apart."""

Judge: TypeAlias = Callable[
    [Sequence[Codes], Codes, NDArray[np.float64] | None], Violations
]


@dataclass(frozen=True)
class Search:
    """One question of a search: whether all inputs, or none, are of a class."""

    network: Network
    index: int
    within: Boxes
    ignoring: Boxes
    is_never: bool = False


@dataclass(frozen=True)
class InputQuestion:
    """What a claim about each input by itself asks.

    Attributes
    ----------
    networks : tuple of Network
        Their predictions show whether it holds; all have the same domain.
    ways : tuple of str
        The ways in which it can be violated.
    judge : callable
        Takes their predictions and the inputs, and returns the violations.
    needs_inputs : bool
        Whether the predictions alone do not show it.
    searches : callable
        Takes a region, and yields questions; the claim holds if all are proved.
    breaking : tuple of (Network, set of int)
        An input violates it if one of these networks gives it one of these classes, and
        only one can; empty if that does not describe the claim.
    """

    networks: tuple[Network, ...]
    ways: tuple[str, ...]
    judge: Judge
    searches: Callable[[Region], Iterator[Search]]
    needs_inputs: bool = False
    breaking: tuple[tuple[Network, frozenset[int]], ...] = ()


def class_index(network: Network, label: Value) -> int:
    """Return the position of a class that a claim names."""
    if label not in network.classes:
        class_list = ", ".join(repr(class_list) for class_list in network.classes)
        hint = did_you_mean(label, network.classes)
        raise OptionError(
            f"there is no class {label!r}; the classes are {class_list}{hint}"
        )
    return network.classes.index(label)


_LABELS = (False, True)


def share_network(network: Network, index: int) -> Network:
    """Return a network with one output: True where a class has probability above 1/2.

    With another threshold, it is True where the probability is above that.

    Examples
    --------
    >>> from nn2rules import Domain, Feature
    >>> domain = Domain((Feature("size", ("small", "big")),))
    >>> scores = Layer([[0, 0, 0], [2, 0, 1]], [0, 0, 0], "softmax")
    >>> network = Network(domain, (scores,), ("a", "b", "c"))
    >>> one = share_network(network, 0)
    >>> rows = [{"size": "small"}, {"size": "big"}]
    >>> (1 / (1 + np.exp(-one.scores(rows)))).round(3).ravel().tolist()
    [0.333, 0.665]
    """
    last = network.layers[-1]
    before = network.layers[:-1]
    if network.is_binary:
        sign = 1.0 if index else -1.0
        layer = Layer(sign * last.weights, sign * last.bias, "sigmoid")
        return Network(network.domain, (*before, layer), _LABELS)
    layers = [*before, Layer(last.weights, last.bias, "identity")]
    others = [k for k in range(len(network.classes)) if k != index]
    ahead = np.eye(len(network.classes))
    terms = [ahead[k] - ahead[index] for k in others]
    while len(terms) > 1:
        layer, terms = _joined(terms)
        layers.append(layer)
    layers.append(Layer(-terms[0][:, np.newaxis], np.zeros(1), "sigmoid"))
    return Network(network.domain, tuple(layers), _LABELS)


def _joined(
    terms: list[NDArray[np.float64]],
) -> tuple[Layer, list[NDArray[np.float64]]]:
    """Join terms in pairs: a layer of softplus units, and the terms as sums of them."""
    units: list[NDArray[np.float64]] = []
    signs: list[list[float]] = []  # of the units of each new term
    for place in range(0, len(terms), 2):
        pair = terms[place : place + 2]
        last = pair[-1]
        units += [last, -last]
        signs.append([1.0, -1.0])
        if len(pair) == 2:
            units.append(pair[0] - last)
            signs[-1].append(1.0)
    sums_of, start = [], 0
    for unit_signs in signs:
        sums = np.zeros(len(units))
        sums[start : start + len(unit_signs)] = unit_signs
        sums_of.append(sums)
        start += len(unit_signs)
    weights = np.stack(units, axis=1)
    return Layer(weights, np.zeros(len(units)), "softplus"), sums_of


def _check_rules(network: Network, rules: RuleList) -> None:
    """Refuse rules for other features, values or classes than the network's."""
    unknown = [label for label in rules.classes if label not in network.classes]
    if unknown:
        class_list = ", ".join(repr(label) for label in network.classes)
        raise DomainError(
            f"the rules predict {unknown[0]!r}, but the model's classes are "
            f"{class_list}"
        )
    ours, theirs = network.domain, rules.domain.uncut
    is_known = ours.names == theirs.names and all(
        our.values == their.values and our.has_same_numbers(their)
        for our, their in zip(ours.features, theirs.features, strict=True)
    )
    if not is_known:
        raise DomainError(
            f"the rules are not for the inputs of this model: "
            f"{other_network(rules, network)}"
        )


def against_rules(
    network: Network, rules: RuleList, *, is_whole: bool
) -> InputQuestion:
    """Compare the network with rules: on all inputs, or those that rules cover."""
    _check_rules(network, rules)
    place_of = np.array([network.classes.index(label) for label in rules.classes])
    default = network.classes.index(rules.default)
    n_classes = len(network.classes)
    pairs = [(a, b) for a in range(n_classes) for b in range(n_classes) if a != b]
    way_of = np.zeros((n_classes, n_classes), dtype=np.uint8)
    is_few = len(pairs) <= MOST_WAYS
    for way, (answer, expected) in enumerate(pairs, 1):
        way_of[answer, expected] = way if is_few else 1
    ways = ["differs"]
    if is_few:
        names = [label_text(label) for label in network.classes]
        ways = [f"predicted {names[a]}, rules {names[b]}" for a, b in pairs]
    is_each = not is_whole and rules.form == "set"

    def judge(
        answers: Sequence[Codes], codes: Codes, numbers: NDArray[np.float64] | None
    ) -> Violations:
        cut_codes_of = GivenRows(network.domain, codes, numbers).codes_in(rules.domain)
        if is_each:
            return _each(rules, place_of, way_of, cut_codes_of, answers[0])
        fired = rules.match(cut_codes_of)
        expected = np.append(place_of[rules.answers], default)[fired]
        violations = way_of[answers[0], expected]
        return (
            violations
            if is_whole
            else np.where(fired == NO_RULE, np.uint8(0), violations)
        )

    def searches(region: Region) -> Iterator[Search]:
        yield from _rule_searches(network, rules, region, place_of, is_each=is_each)
        if is_whole:
            above = [parts_of(rules.domain, box) for box in rules.boxes]
            ignored = joined(network.domain, [region.impossible, *above])
            yield Search(network, default, region.within, ignored)

    return InputQuestion((network,), tuple(ways), judge, searches, needs_inputs=True)


def _each(
    rules: RuleList,
    place_of: NDArray[np.int64],
    way_of: NDArray[np.uint8],
    codes: Codes,
    answers: Codes,
) -> Violations:
    """Tell for which inputs some rule of a set is wrong."""
    violations = np.zeros(len(codes), dtype=np.uint8)
    held = inside_each(rules.domain, rules.boxes, codes)
    for is_held, answer in zip(held, place_of[rules.answers], strict=True):
        wrong = is_held & (answers != answer)
        violations[wrong] = way_of[answers[wrong], answer]
    return violations


def _rule_searches(
    network: Network,
    rules: RuleList,
    region: Region,
    place_of: NDArray[np.int64],
    *,
    is_each: bool,
) -> Iterator[Search]:
    """Yield a question for each rule, without what the rules above it cover."""
    above: list[Boxes] = []
    for box, answer in zip(rules.boxes, rules.answers, strict=True):
        rule_boxes = parts_of(rules.domain, box)
        within = common_boxes(network.domain, region.within, rule_boxes)
        ignored = joined(network.domain, [region.impossible, *above])
        if len(within.allowed):
            yield Search(network, int(place_of[answer]), within, ignored)
        if not is_each:
            above.append(rule_boxes)


def input_question(
    claim: Implies | Unreachable | ProbabilityBetween | Equivalent | Subsumes,
    network: Network,
) -> InputQuestion:
    """Return what a claim asks of a network."""
    if isinstance(claim, Implies):
        return _implies(network, class_index(network, claim.then))
    if isinstance(claim, Unreachable):
        return _unreachable(network, class_index(network, claim.label))
    if isinstance(claim, ProbabilityBetween):
        return _probability(network, claim)
    return against_rules(network, claim.rules, is_whole=isinstance(claim, Equivalent))


def _implies(network: Network, index: int) -> InputQuestion:
    others = [k for k in range(len(network.classes)) if k != index]
    way_of = np.zeros(len(network.classes), dtype=np.uint8)
    is_few = len(others) <= MOST_WAYS
    way_of[others] = np.arange(1, len(others) + 1) if is_few else 1
    ways = [f"predicted {label_text(network.classes[k])}" for k in others]

    def searches(region: Region) -> Iterator[Search]:
        yield Search(network, index, region.within, region.impossible)

    return InputQuestion(
        (network,),
        tuple(ways) if is_few else ("another class predicted",),
        lambda answers, _codes, _numbers: way_of[answers[0]],
        searches,
        breaking=((network, frozenset(others)),),
    )


def _unreachable(network: Network, index: int) -> InputQuestion:
    is_two = len(network.classes) == 2

    def searches(region: Region) -> Iterator[Search]:
        asked = 1 - index if is_two else index
        yield Search(
            network, asked, region.within, region.impossible, is_never=not is_two
        )

    return InputQuestion(
        (network,),
        (f"predicted {label_text(network.classes[index])}",),
        lambda answers, _codes, _numbers: (answers[0] == index).astype(np.uint8),
        searches,
        breaking=((network, frozenset((index,))),),
    )


def _probability(network: Network, claim: ProbabilityBetween) -> InputQuestion:
    """Ask whether thresholds at the two ends are ever crossed, which is exact.

    The probability is above `high` where a network with this threshold predicts class
    1. It is below `low` where one with that threshold does not: no score equals the
    log-odds of a threshold, except for 1/2, where the reverse network is asked.
    """
    of = claim.of
    if of is None:
        if len(network.classes) != 2:
            raise OptionError("probability_between: name the class, with of=…")
        of = network.classes[1]
    single = share_network(network, class_index(network, of))
    asked: list[tuple[Network, int, str]] = []  # and the class that violates the claim
    name = label_text(of)
    if claim.high < 1:
        least = max(claim.high, 0.0)
        if least == 0:
            raise OptionError("a probability is never 0, so not between 0 and 0")
        asked.append((replace(single, threshold=least), 1, f"above {claim.high}"))
    if claim.low > 0:
        if claim.low == 1:
            raise OptionError("a probability is never 1, so not between 1 and 1")
        if claim.low == 0.5:
            asked.append((_reversed(single), 1, f"below {claim.low}"))
        else:
            below = replace(single, threshold=claim.low)
            asked.append((below, 0, f"below {claim.low}"))

    def judge(answers: Sequence[Codes], codes: Codes, _numbers: object) -> Violations:
        violations = np.zeros(len(codes) if not answers else len(answers[0]), np.uint8)
        for way, (classes, (_, broken, _)) in enumerate(
            zip(answers, asked, strict=True), 1
        ):
            violations[classes == broken] = way
        return violations

    def searches(region: Region) -> Iterator[Search]:
        for limit_network, broken, _ in asked:
            yield Search(limit_network, 1 - broken, region.within, region.impossible)

    ways = tuple(f"probability of {name} {way}" for _, _, way in asked)
    breaking = tuple(
        (limit_network, frozenset((broken,))) for limit_network, broken, _ in asked
    )
    networks = tuple(limit_network for limit_network, _, _ in asked)
    return InputQuestion(networks, ways, judge, searches, breaking=breaking)


def _reversed(network: Network) -> Network:
    """Return a network whose only score has the other sign."""
    last = network.layers[-1]
    layer = Layer(-last.weights, -last.bias, "sigmoid")
    return replace(network, layers=(*network.layers[:-1], layer))


def classes_of(
    network: Network, codes: NDArray[np.int64], numbers: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the classes of inputs, exactly."""
    return network.predict_codes(codes, numbers if network.domain.has_ranges else None)


def violations_at(
    question: InputQuestion, codes: NDArray[np.int64], numbers: NDArray[np.float64]
) -> NDArray[np.uint8]:
    """Return how each of some inputs violates the claim."""
    answers = [classes_of(network, codes, numbers) for network in question.networks]
    has_ranges = bool(question.networks) and question.networks[0].domain.has_ranges
    return question.judge(answers, codes, numbers if has_ranges else None)
