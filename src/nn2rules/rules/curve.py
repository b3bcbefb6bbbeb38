"""What the first rules of a list achieve, however many one reads."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.frames import Rows
from nn2rules.matching import NO_RULE
from nn2rules.values import Value

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList


def curve_of(
    rules: "RuleList", rows: Rows, labels: Sequence[Value] | None
) -> dict[str, Any]:
    """Return what `RuleList.curve` does."""
    fired = rules.apply(rows)
    n_rows = max(len(fired), 1)
    order = np.where(fired == NO_RULE, len(rules), fired)
    default = rules.classes.index(rules.default)
    whole = np.array([*rules.answers.tolist(), default])[order]

    def by_rule(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Count chosen rows by the number of rules that decide them, from 0."""
        counted = np.bincount(order[chosen], minlength=len(rules) + 1)
        return np.concatenate([[0], np.cumsum(counted)])[: len(rules) + 1]

    ks = np.arange(len(rules) + 1)
    decided = by_rule(order < len(rules))
    curve: dict[str, Any] = {"rules": ks, "decided": decided / n_rows}
    truth = None if labels is None else rules.positions(labels, len(fired))
    if rules.scope == "support":  # of what they leave, nothing is proved
        if truth is not None:
            right = by_rule((whole == truth) & (order < len(rules)))
            curve["accuracy_on_decided"] = _shares(right, decided)
        return curve
    classes = range(len(rules.classes))
    left = np.stack([(whole == c).sum() - by_rule(whole == c) for c in classes])
    best = left.argmax(axis=0)
    curve["fidelity"] = (decided + left[best, ks]) / n_rows
    if truth is not None:
        lucky = np.stack([(truth == c).sum() - by_rule(truth == c) for c in classes])
        curve["accuracy"] = (by_rule(whole == truth) + lucky[best, ks]) / n_rows
    return curve


def _shares(parts: NDArray[np.int64], wholes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return shares; NaN where there is nothing to have a share of."""
    shares = np.full(len(parts), np.nan)
    np.divide(parts, wholes, out=shares, where=wholes > 0)
    return shares
