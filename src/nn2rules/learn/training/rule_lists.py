"""Short rule lists, and the networks that they are.

A list that was cut to few rules differs from its network on some inputs. But a rule
list *is* a network: a unit for each rule that is on where all of its conditions hold,
one for each that is on where the rule is the first, and an output. So the list becomes
the network, equal by construction. Of two classes, the probabilities remain those of
the uncut network wherever that one predicts the same class, so that rows are still
ranked by them; elsewhere they are next to 1/2.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import build_table
from nn2rules.extraction import extract, row_counts, table_certificate
from nn2rules.learn.training.targets import Floats, Targets
from nn2rules.models import given_rows
from nn2rules.network import Layer, Network
from nn2rules.rules import RuleList
from nn2rules.space import Rows, Value

_NEAR_TIE = 1 / 16
"""The score, above or below 0, where a list overrules its uncut network at least."""

_PRIOR_ROWS = 4.0
"""As if this many more rows of each rule had the shares of all rows."""


def short_list(
    network: Network, rows: Rows, labels: list[Value], max_rules: int
) -> RuleList:
    """Return a list of few rules that is like a network."""
    rules: RuleList = extract(
        network,
        data=rows,
        labels=labels,
        form="list",
        max_rules=max_rules,
        n_jobs=1,
        progress=False,
    )
    return rules


def network_of_list(
    rules: RuleList, uncut: Network, rows: Rows, targets: Targets
) -> Network:
    """Return a network that predicts what a rule list does, on every input.

    Parameters
    ----------
    rules : RuleList
        For the whole domain.
    uncut : Network
        The network that the list was made of: ReLU units and one layer above. For two
        classes, its probabilities are kept.
    rows, targets
        The training rows, for the probabilities of more than two classes.
    """
    units, limits = _rule_units(rules)
    hidden, last = uncut.layers
    first = Layer(
        np.hstack([hidden.weights, units]),
        np.concatenate([hidden.bias, limits]),
        "relu",
    )
    n_hidden, n_rules = len(hidden.bias), len(limits)
    own = np.eye(n_rules) - np.triu(np.ones((n_rules, n_rules)), 1)
    chosen = np.zeros((n_hidden + n_rules, n_hidden + n_rules))
    chosen[:n_hidden, :n_hidden] = np.eye(n_hidden)
    chosen[n_hidden:, n_hidden:] = own
    second = Layer(chosen, np.zeros(n_hidden + n_rules), "relu")
    default = rules.classes.index(rules.default)
    upper: tuple[Layer, ...]
    if len(rules.classes) == 2:
        upper = _of_two(rules.answers, default, last, _reach(hidden, last, uncut))
    else:
        scores = _class_scores(rules, default, rows, targets)
        upper = (_of_several(scores, n_hidden),)
    return Network(uncut.domain, (first, second, *upper), uncut.classes)


def _rule_units(rules: RuleList) -> tuple[Floats, Floats]:
    """Return units that are 1 where all conditions of a rule hold, and else below."""
    offsets = rules.domain.offsets.tolist()
    weights = rules.boxes.astype(np.float64).T
    n_conditions = np.zeros(len(rules.boxes))
    for start, end in pairwise(offsets):
        is_free = rules.boxes[:, start:end].all(axis=1)
        weights[start:end, is_free] = 0.0
        n_conditions += ~is_free
    return weights, 1.0 - n_conditions


def _reach(hidden: Layer, last: Layer, network: Network) -> float:
    """Return a power of two that no score of a network exceeds."""
    starts = network.domain.offsets[:-1]
    most = np.maximum.reduceat(hidden.weights, starts, axis=0).sum(axis=0) + hidden.bias
    reach = np.abs(last.weights[:, 0]) @ np.maximum(most, 0.0) + abs(last.bias[0])
    return float(2.0 ** np.ceil(np.log2(reach + 1.0) + 1))


def _of_two(
    answers: NDArray[np.int64], default: int, last: Layer, reach: float
) -> tuple[Layer, Layer]:
    """Return the layers that keep the uncut score where it has the class of the list.

    With c, 1 where the list predicts the second class and 0 elsewhere, and the uncut
    score u, the units are max(0, u − reach·(1 − c)), max(0, −u − reach·c) and c. The
    first is u where both predict the second class, and the second −u where both predict
    the first; otherwise they are 0.
    """
    n_hidden, n_rules = len(last.weights), len(answers)
    weights = np.zeros((n_hidden + n_rules, 3))
    bias = np.array([last.bias[0], -last.bias[0], float(default)])
    weights[:n_hidden, 0] = last.weights[:, 0]
    weights[:n_hidden, 1] = -last.weights[:, 0]
    weights[n_hidden:, 2] = answers - default
    weights[:, 0] += reach * weights[:, 2]
    weights[:, 1] -= reach * weights[:, 2]
    bias[0] -= reach * (1 - default)
    bias[1] -= reach * default
    decision = np.array([[1.0], [-1.0], [2 * _NEAR_TIE]])
    return (
        Layer(weights, bias, "relu"),
        Layer(decision, np.array([-_NEAR_TIE]), "sigmoid"),
    )


def _of_several(scores: Floats, n_hidden: int) -> Layer:
    """Return the layer with the scores of the rule that is the first, or the default.

    `scores` has a row for each rule, and one for the default.
    """
    weights = np.zeros((n_hidden + len(scores) - 1, scores.shape[1]))
    weights[n_hidden:] = scores[:-1] - scores[-1]
    return Layer(weights, scores[-1], "softmax")


def _class_scores(
    rules: RuleList, default: int, rows: Rows, targets: Targets
) -> Floats:
    """Return scores of the classes for each rule, from the training rows it covers.

    They are multiples of 1/16, and the class of the rule has the largest.
    """
    codes = rules.domain.encode(rows)
    fired = rules.match(codes)
    counts = np.zeros((len(rules.boxes) + 1, targets.n_classes))
    np.add.at(counts, fired, targets.shares * targets.weights[:, np.newaxis])
    shares = counts + _PRIOR_ROWS * targets.total / targets.n_rows
    scores: Floats = np.log(shares / shares.sum(axis=1, keepdims=True))
    scores = np.rint(scores / _NEAR_TIE) * _NEAR_TIE
    places = np.arange(len(scores))
    answers = np.append(rules.answers, default)
    rest = scores.copy()
    rest[places, answers] = -np.inf
    least = rest.max(axis=1) + _NEAR_TIE
    scores[places, answers] = np.maximum(scores[places, answers], least)
    return scores


def described(
    rules: RuleList, network: Network, rows: Rows, labels: list[Value]
) -> RuleList:
    """Return a list with the certificate of the network that it is.

    What was known about the uncut network is left out.
    """
    certificate: dict[str, Any] = table_certificate(network, build_table(network))
    certificate |= row_counts(network, given_rows(network, rows, labels))
    facts = [replace(fact, probability=None) for fact in rules.facts]
    return rules.replace(facts=tuple(facts), certificate=certificate)
