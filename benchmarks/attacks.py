"""Inputs that try to find a rule wrong: drawn at random, and walked downhill."""

from typing import Any

import numpy as np

import nn2rules
from nn2rules.space import Range

_WALKS, _STEPS = 200, 40


def survived(
    network: nn2rules.Network, rules: nn2rules.RuleList, rule: int, drawn: int, rng: Any
) -> int:
    """Attack one rule; return with how many inputs, none of which it got wrong."""
    codes, numbers = _inside(rules, rule, drawn, rng)
    n_wrong = int((network.predict_codes(codes, numbers) != rules.answers[rule]).sum())
    codes, numbers = codes[:_WALKS], numbers[:_WALKS]
    lead = _lead(network, codes, numbers, rules.answers[rule])
    for _ in range(_STEPS):  # of each walk one feature moves, if that is downhill
        others, amounts = _inside(rules, rule, len(codes), rng)
        feature = rng.integers(codes.shape[1], size=len(codes))
        places = np.arange(len(codes)), feature
        tried, lengths = codes.copy(), numbers.copy()
        tried[places], lengths[places] = others[places], amounts[places]
        found = _lead(network, tried, lengths, rules.answers[rule])
        n_wrong += int((found < 0).sum())
        lower = found < lead
        codes[lower], numbers[lower], lead[lower] = (
            tried[lower],
            lengths[lower],
            found[lower],
        )
    assert n_wrong == 0, f"rule {rule} is wrong on {n_wrong} inputs"
    return drawn + _WALKS * _STEPS


def _lead(network: nn2rules.Network, codes: Any, numbers: Any, answer: int) -> Any:
    """Return by how much a class leads; below 0 where it is not the answer."""
    scores = network.scores_codes(codes, numbers)
    if scores.ndim == 1:
        return scores if answer == 1 else -scores
    others = np.delete(scores, answer, axis=1).max(axis=1)
    return scores[:, answer] - others


def _inside(rules: nn2rules.RuleList, rule: int, number: int, rng: Any) -> Any:
    """Draw inputs of a rule's box; of ranges also numbers at the very ends."""
    domain, start = rules.domain, 0
    codes = np.zeros((number, len(domain.features)), dtype=np.int64)
    numbers = np.ones(codes.shape)
    for index, feature in enumerate(domain.features):
        allowed = np.flatnonzero(rules.boxes[rule][start : start + len(feature)])
        start += len(feature)
        codes[:, index] = rng.choice(allowed, number)
        if isinstance(feature, Range):
            _draw_numbers(feature, codes[:, index], numbers[:, index], rng)
    return codes, numbers


def _draw_numbers(feature: Any, codes: Any, numbers: Any, rng: Any) -> None:
    """Turn cells of a range into numbers of them, and codes into the network's."""
    n_cells = len(feature.edges) + 1
    lows = np.array([feature.limits[0], *feature.edges], dtype=np.float64)
    after = np.array([*feature.edges, np.inf])
    highs = after - 1 if feature.whole else np.nextafter(after, -np.inf)
    highs[-1] = feature.limits[1]
    is_number = codes < n_cells
    cell = np.where(is_number, codes, 0)
    share = rng.choice([0.0, 1.0, np.nan], len(codes), p=[0.1, 0.1, 0.8])
    share = np.where(np.isnan(share), rng.random(len(codes)), share)
    drawn = np.clip(
        (1 - share) * lows[cell] + share * highs[cell], lows[cell], highs[cell]
    )
    drawn = np.floor(drawn) if feature.whole else drawn
    numbers[:] = np.where(is_number, drawn, 1.0)
    codes[:] = np.where(is_number, 0, codes - n_cells + 1)
