"""Prove that a scorecard predicts as a network does, on every input.

In this order: the two are written with the same numbers; their classes are computed on
every input, where these are few; or the domain is split into parts on which both are
affine, and in each part their leads differ only by a factor, or it is proved that no
input gets two different classes. Where that fails, the domain is halved.
"""

from collections.abc import Callable

import numpy as np

from nn2rules.checker.draw import Inputs
from nn2rules.checker.parts import Part as Box
from nn2rules.checker.parts import by_numbers, by_values, middle_of, whole
from nn2rules.checker.run_network import UNDECIDED, classify
from nn2rules.checker.scorecards.decisions import Decision
from nn2rules.checker.scorecards.linear_parts import (
    Networks,
    Part,
    is_piecewise_linear,
)
from nn2rules.checker.scorecards.multipliers import LateError, Prover
from nn2rules.checker.scorecards.read_card import ReadCard
from nn2rules.checker.scorecards.sums import Corners, Sums
from nn2rules.network import Network
from nn2rules.space import Domain, Range


def same_by_parts(
    network: Network, card: ReadCard, is_late: Callable[[], bool]
) -> Inputs | bool:
    """Tell whether it is proved, box by box, that two networks predict alike.

    A box for which that is not proved is halved, down to single inputs. Returns one if
    it is predicted differently.

    Raises
    ------
    LateError
        At the time limit.
    """
    both = (network, card.same)
    if card.places != [*range(len(card.places))] or not all(
        map(is_piecewise_linear, both)
    ):
        return False
    boxes, is_sure = [whole(network.domain)], True
    while boxes:
        box = boxes.pop()
        if is_late():
            raise LateError
        halves = _halves(network, box)
        if not halves:
            inputs = _only_input(network.domain, box)
            ours, theirs = (int(classify(each, *inputs)[0]) for each in both)
            if ours != theirs and UNDECIDED not in (ours, theirs):
                return inputs
            is_sure &= UNDECIDED not in (ours, theirs)
        elif not _is_alike_in(network, card, box, is_late):
            boxes += halves
    return is_sure


def _is_alike_in(
    network: Network, card: ReadCard, box: Box, is_late: Callable[[], bool]
) -> bool:
    """Tell whether it is proved that no input of a box gets two classes."""
    both = (network, card.same)
    sums = Sums(network.domain, *(each.layers[0] for each in both), part=box)
    prover = Prover(sums, is_late)
    decisions = [Decision.of(each) for each in both]
    parts = Networks(prover, both).parts()
    return all(_is_alike(prover, decisions, part) for part in parts)


def _halves(network: Network, box: Box) -> list[Box]:
    """Halve a box along the feature that moves the sums most; [] for one input."""
    domain, (allowed, ends) = network.domain, box
    corners = Corners(domain, box)
    values = np.array([*map(float, corners.amounts)])[:, np.newaxis]
    with np.errstate(all="ignore"):
        values = values * network.layers[0].weights[corners.columns]
        spreads = np.nan_to_num(
            np.maximum.reduceat(values, corners.starts)
            - np.minimum.reduceat(values, corners.starts)
        ).max(axis=1)
    for place in np.argsort(-spreads, kind="stable").tolist():
        feature = domain.features[place]
        columns = slice(*domain.offsets[place : place + 2].tolist())
        own = np.flatnonzero(allowed[columns])
        if len(own) > 1:
            is_first = np.zeros(columns.stop - columns.start, dtype=np.bool_)
            is_first[own[: len(own) // 2]] = True
            return by_values(box, columns, is_first)
        low, high = ends[:, place].tolist()
        if isinstance(feature, Range) and own[0] == 0 and low < high:
            to, at = middle_of(low, high, is_whole=feature.whole)
            return by_numbers(box, place, to, at)
    return []


def _only_input(domain: Domain, box: Box) -> Inputs:
    """Return the only input of a box."""
    allowed, ends = box
    starts, stops = domain.offsets[:-1].tolist(), domain.offsets[1:].tolist()
    codes = np.array(
        [[int(allowed[a:b].argmax()) for a, b in zip(starts, stops, strict=True)]]
    )
    if not domain.has_ranges:
        return codes, None
    is_number = np.array([isinstance(feature, Range) for feature in domain.features])
    return codes, np.where(is_number & (codes == 0), ends[:1], 1.0)


def _is_alike(prover: Prover, decisions: list[Decision], part: Part) -> bool:
    """Tell whether no input of a part gets two different classes."""
    first, second = decisions
    ours, theirs = part.scores
    if first == second and first.is_same(ours, theirs):
        return True
    for index in range(first.n_classes):
        here = (*part.conditions, *first.where(ours, index))
        if not second.is_always(prover, theirs, index, here):
            return False
    return True
