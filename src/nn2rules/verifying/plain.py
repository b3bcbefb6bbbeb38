"""Claims about each input for itself: what is asked, and what breaks them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from nn2rules.claims.claim import (
    Equivalent,
    Implies,
    ProbabilityBetween,
    Subsumes,
    Unreachable,
)
from nn2rules.errors import OptionError
from nn2rules.layer import Layer
from nn2rules.network import Network
from nn2rules.text import label_text
from nn2rules.verifying.against_rules import against_rules
from nn2rules.verifying.questions import (
    MOST_WAYS,
    Codes,
    Kinds,
    Plain,
    Search,
    class_index,
)
from nn2rules.verifying.region import Region
from nn2rules.verifying.shares import share_network


def plain_of(
    claim: Implies | Unreachable | ProbabilityBetween | Equivalent | Subsumes,
    network: Network,
) -> Plain:
    """Return what a claim asks of a network."""
    if isinstance(claim, Implies):
        return _implies(network, class_index(network, claim.then))
    if isinstance(claim, Unreachable):
        return _unreachable(network, class_index(network, claim.label))
    if isinstance(claim, ProbabilityBetween):
        return _probability(network, claim)
    return against_rules(network, claim.rules, is_whole=isinstance(claim, Equivalent))


def _implies(network: Network, index: int) -> Plain:
    others = [k for k in range(len(network.classes)) if k != index]
    way_of = np.zeros(len(network.classes), dtype=np.uint8)
    is_few = len(others) <= MOST_WAYS
    way_of[others] = np.arange(1, len(others) + 1) if is_few else 1
    ways = [f"answered {label_text(network.classes[k])}" for k in others]

    def searches(region: Region) -> Iterator[Search]:
        yield Search(network, index, region.within, region.impossible)

    return Plain(
        (network,),
        tuple(ways) if is_few else ("answered otherwise",),
        lambda answers, _codes, _numbers: way_of[answers[0]],
        searches,
        breaking=((network, frozenset(others)),),
    )


def _unreachable(network: Network, index: int) -> Plain:
    is_two = len(network.classes) == 2

    def searches(region: Region) -> Iterator[Search]:
        asked = 1 - index if is_two else index
        yield Search(
            network, asked, region.within, region.impossible, is_never=not is_two
        )

    return Plain(
        (network,),
        (f"answered {label_text(network.classes[index])}",),
        lambda answers, _codes, _numbers: (answers[0] == index).astype(np.uint8),
        searches,
        breaking=((network, frozenset((index,))),),
    )


def _probability(network: Network, claim: ProbabilityBetween) -> Plain:
    """Ask whether thresholds at the two ends are ever crossed, which is exact.

    The probability is above `high` where a network with this threshold answers class
    1. It is below `low` where one with that threshold does not: no score is the
    logarithm of odds but for 1/2, where the reverse network is asked.
    """
    of = claim.of
    if of is None:
        if len(network.classes) != 2:
            raise OptionError("probability_between: say of which class: of=…")
        of = network.classes[1]
    single = share_network(network, class_index(network, of))
    asked: list[tuple[Network, int, str]] = []  # the class that breaks the claim
    name = label_text(of)
    if claim.high < 1:
        least = max(claim.high, 0.0)
        if least == 0:
            raise OptionError("a probability is never 0, so none is between 0 and 0")
        asked.append((replace(single, threshold=least), 1, f"above {claim.high}"))
    if claim.low > 0:
        if claim.low == 1:
            raise OptionError("a probability is never 1, so none is between 1 and 1")
        if claim.low == 0.5:
            asked.append((_reversed(single), 1, f"below {claim.low}"))
        else:
            below = replace(single, threshold=claim.low)
            asked.append((below, 0, f"below {claim.low}"))

    def judge(answers: Sequence[Codes], codes: Codes, _numbers: object) -> Kinds:
        kinds = np.zeros(len(codes) if not answers else len(answers[0]), np.uint8)
        for way, (found, (_, broken, _)) in enumerate(
            zip(answers, asked, strict=True), 1
        ):
            kinds[found == broken] = way
        return kinds

    def searches(region: Region) -> Iterator[Search]:
        for own, broken, _ in asked:
            yield Search(own, 1 - broken, region.within, region.impossible)

    ways = tuple(f"probability of {name} {way}" for _, _, way in asked)
    breaking = tuple((own, frozenset((broken,))) for own, broken, _ in asked)
    networks = tuple(own for own, _, _ in asked)
    return Plain(networks, ways, judge, searches, breaking=breaking)


def _reversed(network: Network) -> Network:
    """Return a network whose only score has the other sign."""
    last = network.layers[-1]
    layer = Layer(-last.weights, -last.bias, "sigmoid")
    return replace(network, layers=(*network.layers[:-1], layer))
