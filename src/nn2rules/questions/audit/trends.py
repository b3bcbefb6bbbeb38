"""Which way the answer goes along features with an order."""

from collections.abc import Mapping
from itertools import product
from typing import TypeAlias

from nn2rules.network import Network
from nn2rules.questions.audit.findings import Direction, Influence, Trend
from nn2rules.questions.audit.sharing import Question, Sharing, verdicts
from nn2rules.questions.claims import monotone
from nn2rules.questions.verify import Asker, Verdict
from nn2rules.space import Value

_Key: TypeAlias = tuple[str, Value, bool]
"""A feature, a class, and whether the answer is asked to go there as it grows."""

_SHORT = 0.25  # of its share of the time, before the others had theirs


def followed(network: Network) -> dict[str, tuple[Value, ...]]:
    """Return the features that have an order, and the classes they are followed to.

    Of two classes the second says all.
    """
    classes = network.classes[1:] if len(network.classes) == 2 else network.classes
    return {f.name: classes for f in network.domain.features if f.ordered}


def trends(
    asker: Asker, influence: Mapping[str, Influence], sharing: Sharing
) -> dict[str, dict[Value, Trend]]:
    """Return which way the answer goes along each ordered feature, to each class.

    What is open after a short time is asked again in the time that is left.
    """
    keys: list[_Key] = []
    for name, classes in followed(asker.network).items():
        own = [(name, *rest) for rest in product(classes, (True, False))]
        if influence[name].status == "dead":
            sharing.skip(len(own))
        else:
            keys += own
    asked = _ask(asker, keys, sharing, _SHORT)
    still = [key for key, verdict in asked.items() if verdict.status == "open"]
    if sharing.limits.seconds is not None:
        sharing.expect(len(still) + 1)
        asked |= _ask(asker, still, sharing)
    return {
        name: {label: _trend(asked, name, label) for label in classes}
        for name, classes in followed(asker.network).items()
    }


def _ask(
    asker: Asker, keys: list[_Key], sharing: Sharing, part: float = 1.0
) -> dict[_Key, Verdict]:
    questions = [
        Question(name, monotone(name, increasing=is_up, toward=label))
        for name, label, is_up in keys
    ]
    return dict(zip(keys, verdicts(asker, questions, sharing, part), strict=True))


def _trend(asked: Mapping[_Key, Verdict], name: str, label: Value) -> Trend:
    if (name, label, True) not in asked:
        return Trend(name, label, "constant")
    both = asked[name, label, True], asked[name, label, False]
    return Trend(name, label, direction_of(*both), *both)


def direction_of(increasing: Verdict, decreasing: Verdict) -> Direction:
    """Return the direction that two verdicts make.

    What is proved to be increasing is called so, even where it is open whether it is
    constant.
    """
    up, down = increasing.status, decreasing.status
    if (up, down) == ("refuted", "refuted"):
        return "neither"
    if up == "proved":
        return "constant" if down == "proved" else "increasing"
    return "decreasing" if down == "proved" else "open"
