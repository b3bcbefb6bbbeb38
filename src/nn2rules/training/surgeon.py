"""Which question a network can do best without: the optimal brain surgeon, by groups.

Near a minimum the loss is a bowl. Setting the weights of a question to zero costs least
if all other weights give way as the bowl says, and that cost can be computed for every
question at once from the inverse of its curvature (Hassibi and Stork, 1993; here for
the weights of a question together, with the curvature of Gauss and Newton).

The weights of the last layer stay as they are. The bowl would let them make up for a
question by means of the units that ask it, which do no longer, once it is gone.
"""

from dataclasses import replace

import numpy as np

from nn2rules.training.net import Floats, Lessons, Net, shares_of

_MOST_LESSONS = 4000
"""So many kinds of rows, those with most rows, say how the bowl is curved."""


class Surgeon:
    """Costs of questions, and the net without some of them.

    Parameters
    ----------
    net : Net
        Trained, or nearly so.
    taught : Lessons
    decay : float
        The penalty it was trained with.
    """

    def __init__(self, net: Net, taught: Lessons, decay: float) -> None:
        self._net, self._inverse = net, np.linalg.inv(_curvature(net, taught, decay))
        self._vector = _movable(net)
        self.left = [*range(len(net.first))]
        """The questions that are left, as positions among the first ones."""

    def costs(self) -> Floats:
        """Return what the loss grows by without each question that is left."""
        n_units = self._net.first.shape[1]
        size = self._net.first.size
        blocks = self._inverse[:size, :size].reshape(
            -1, n_units, size // n_units, n_units
        )
        own = blocks[self.left, :, self.left, :]
        weights = self._vector[:size].reshape(-1, n_units)[self.left]
        solved = np.linalg.solve(own, weights[:, :, np.newaxis])[:, :, 0]
        found: Floats = (weights * solved).sum(axis=1) / 2
        return found

    def drop(self, index: int) -> None:
        """Leave out one of the questions that are left; the others make up for it."""
        question = self.left.pop(index)
        own = self._own(question)
        beside, inner = self._inverse[:, own], self._inverse[own, own]
        self._vector = self._given_way(question)
        self._inverse = self._inverse - beside @ np.linalg.solve(inner, beside.T)

    def net_without(self, index: int) -> Net:
        """Return the net without one more of the questions that are left."""
        left = [*self.left]
        return self._net_of(self._given_way(left.pop(index)), left)

    @property
    def net(self) -> Net:
        """The net with the questions that are left."""
        return self._net_of(self._vector, self.left)

    def _net_of(self, vector: Floats, left: list[int]) -> Net:
        n_first, n_units = self._net.first.size, self._net.bias.size
        return replace(
            self._net,
            first=vector[:n_first].reshape(self._net.first.shape)[left],
            bias=vector[n_first : n_first + n_units],
            base=vector[n_first + n_units :],
        )

    def _given_way(self, question: int) -> Floats:
        """Return the weights where those of a question are zero."""
        own = self._own(question)
        solved = np.linalg.solve(self._inverse[own, own], self._vector[own])
        moved: Floats = self._vector - self._inverse[:, own] @ solved
        moved[own] = 0.0
        return moved

    def _own(self, question: int) -> slice:
        n_units = self._net.first.shape[1]
        return slice(question * n_units, (question + 1) * n_units)


def rough_costs(net: Net, taught: Lessons, decay: float) -> Floats:
    """Return what the loss grows by without each question, if nothing makes up for it.

    That needs no matrix, and so can be asked of thousands.
    """
    before = taught.inputs @ net.first + net.bias
    shares = shares_of(np.maximum(before, 0.0) @ net.last + net.base)
    curved = np.full(net.first.shape, decay)
    for spread in _spreads(shares):
        back = (spread @ net.last.T) * (before > 0)
        curved += (taught.inputs**2).T @ (back**2 * taught.weights[:, np.newaxis])
    found: Floats = (net.first**2 * curved).sum(axis=1) / 2
    return found


def _movable(net: Net) -> Floats:
    """Return the weights that give way."""
    return np.concatenate([net.first.ravel(), net.bias, net.base])


def _curvature(net: Net, taught: Lessons, decay: float) -> Floats:
    """Return the curvature of the loss by Gauss and Newton, with its penalty."""
    heavy = np.argsort(-taught.weights, kind="stable")[:_MOST_LESSONS]
    inputs, weights = taught.inputs[heavy], taught.weights[heavy]
    weights = weights / weights.sum()
    before = inputs @ net.first + net.bias
    hidden = np.maximum(before, 0.0)
    shares = shares_of(hidden @ net.last + net.base)
    size = _movable(net).size
    curvature = np.zeros((size, size))
    for spread in _spreads(shares):
        apart = spread * np.sqrt(weights)[:, np.newaxis]
        back = (apart @ net.last.T) * (before > 0)
        steep = np.hstack(
            [
                (inputs[:, :, np.newaxis] * back[:, np.newaxis, :]).reshape(
                    len(inputs), -1
                ),
                back,
                apart,
            ]
        )
        curvature += steep.T @ steep
    curvature[np.diag_indices(size)] += decay + _FLOOR
    return curvature


_FLOOR = 1e-8
"""Without it what no row tells would have no inverse."""


def _spreads(shares: Floats) -> list[Floats]:
    """Return columns whose squares add up to how the outputs vary around the shares."""
    if shares.shape[1] == 1:
        return [np.sqrt(shares * (1 - shares))]
    found = []
    for index in range(shares.shape[1]):
        root = np.sqrt(shares[:, index])
        spread = -shares * root[:, np.newaxis]
        spread[:, index] += root
        found.append(spread)
    return found
