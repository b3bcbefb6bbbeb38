"""A trained net becomes a network: what its questions tell apart are its values."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import Domain
from nn2rules.layer import Layer
from nn2rules.network import Network
from nn2rules.training.columns import Cells
from nn2rules.training.net import Floats
from nn2rules.training.stages import Stage
from nn2rules.values import Value

_FEWEST_DIGITS, _MOST_DIGITS = 2, 17


def network_of(
    columns: Sequence[Cells], stage: Stage, classes: Sequence[Value]
) -> Network:
    """Return the network that answers as a trained net does.

    A feature for each column that it asks something of; the others are gone.
    """
    features, tables, start = [], [], 0
    weights = dict(zip(stage.asked, stage.net.first, strict=True))
    for column in columns:
        asked = range(start, start + column.n_questions)
        kept = [question - start for question in asked if question in weights]
        start += column.n_questions
        if not kept:
            continue
        feature, cells = column.feature(kept)
        said = column.answers[cells][:, kept].astype(np.float64)
        features.append(feature)
        tables.append(_summed(said, [weights[asked[k]] for k in kept]))
    domain = Domain(tuple(features))
    first = Layer(np.vstack(tables), stage.net.bias, "relu")
    last = "sigmoid" if len(stage.net.base) == 1 else "softmax"
    layers = (first, Layer(stage.net.last, stage.net.base, last))
    return Network(domain, layers, tuple(classes))


def _summed(said: Floats, weights: Sequence[Floats]) -> Floats:
    """Return the weights of values: those of every question they say yes to.

    They are added from the first to the last, so that what may only rise with each yes
    does so in floats, too.
    """
    total = np.zeros((len(said), len(weights[0])))
    for yes, own in zip(said.T, weights, strict=True):
        total = total + yes[:, np.newaxis] * own
    return total


def rounded(stage: Stage, answers: NDArray[np.bool_]) -> Stage:
    """Return the net with the fewest digits that answers all rows as before."""
    inputs = np.unique(answers[:, list(stage.asked)], axis=0).astype(np.float64)
    wanted = stage.net.classes(inputs)
    vector = stage.net.vector
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        net = stage.net.filled(np.round(vector, digits) + 0.0)
        if np.array_equal(net.classes(inputs), wanted):
            return Stage(stage.asked, net)
    return stage
