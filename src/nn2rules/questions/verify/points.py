"""Inputs that may break a claim: what is answered there, and who is their partner."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nn2rules.network import Network
from nn2rules.questions.verify.nearest import Point
from nn2rules.questions.verify.pairs import Paired
from nn2rules.questions.verify.questions import Plain
from nn2rules.questions.verify.tables import Judged


def classes_of(
    network: Network, codes: NDArray[np.int64], numbers: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the classes of inputs, exactly."""
    return network.predict_codes(codes, numbers if network.domain.has_ranges else None)


def judged_one_by_one(
    plain: Plain, codes: NDArray[np.int64], numbers: NDArray[np.float64]
) -> NDArray[np.uint8]:
    """Judge inputs one by one."""
    answers = [classes_of(network, codes, numbers) for network in plain.networks]
    has_ranges = bool(plain.networks) and plain.networks[0].domain.has_ranges
    return plain.judge(answers, codes, numbers if has_ranges else None)


def breaks(paired: Paired, classes: Sequence[int]) -> bool:
    """Tell whether the answers to two inputs, in their order, break a claim."""
    one, other = classes
    if paired.toward is None:
        return one != other
    return (one, other) in set(paired.classes())


def partner_of(paired: Paired, judged: Judged, place: int) -> int:
    """Return an input that breaks a claim together with one, the nearest of them."""
    shape = judged.kinds.shape
    own = list(np.unravel_index(place, shape))
    index = tuple(
        slice(None) if axis in paired.features else own[axis]
        for axis in range(len(shape))
    )
    places = np.arange(judged.kinds.size).reshape(shape)[index].ravel()
    classes = judged.classes.ravel()[places]
    counts = judged.possible.ravel()[places]
    answer = judged.classes.ravel()[place]
    if paired.ranks is None:
        return int(places[counts & (classes != answer)][0])
    [axis] = paired.features
    start = paired.network.domain.offsets[axis]
    ranks = paired.ranks[start + judged.listed[axis]]
    rank = ranks[own[axis]]
    is_up = paired.is_increasing == (answer == paired.toward)
    beyond = ranks > rank if is_up else ranks < rank
    is_other = (classes == paired.toward) != (answer == paired.toward)
    chosen = np.flatnonzero(counts & beyond & is_other)
    return int(places[chosen[np.argmin(np.abs(ranks[chosen] - rank))]])


def in_order(paired: Paired, points: list[Point]) -> list[Point]:
    """Return two inputs in the order of the feature, if there is one."""
    if paired.ranks is None:
        return points
    domain, [index] = paired.network.domain, paired.features

    def rank(point: Point) -> float:
        column = domain.offsets[index] + point[0][index]
        if column == domain.ranges[index]:
            return float(point[1][index])
        assert paired.ranks is not None, "there is an order"
        return float(paired.ranks[column])

    return sorted(points, key=rank)
