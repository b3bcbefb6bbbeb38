"""The probability of one class as a network of its own, with a single output.

Of two classes the score of one against the other says it. Of more, the probability of
class k is the sigmoid of -L, where L is the logarithm of the sum of exp(s_j - s_k) over
all other classes j. Two terms are joined by log(exp a + exp b) = b + softplus(a - b),
and b is softplus(b) - softplus(-b). So layers of softplus units make L exactly, and all
that is known of networks with a threshold holds of probabilities.
"""

import numpy as np
from numpy.typing import NDArray

from nn2rules.layer import Layer
from nn2rules.network import Network

_LABELS = (False, True)


def share_network(network: Network, index: int) -> Network:
    """Return a network of one output: True where a class is likelier than 1/2.

    With another threshold it is True where the class is likelier than that.

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
    """Join terms by two: a layer of softplus units, and the terms as sums of these."""
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
    found, start = [], 0
    for own in signs:
        sums = np.zeros(len(units))
        sums[start : start + len(own)] = own
        found.append(sums)
        start += len(own)
    weights = np.stack(units, axis=1)
    return Layer(weights, np.zeros(len(units)), "softplus"), found
