"""Some of the rules of a list, or all in another order, and what is known of them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.frames import Rows
from nn2rules.matching import NO_RULE
from nn2rules.rules.digest import of_any
from nn2rules.rules.rule import Facts

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList


def taken(rules: "RuleList", positions: Any) -> "RuleList":
    """Return what `RuleList.take` does."""
    chosen = _checked_positions(positions, len(rules))
    is_prefix = np.array_equal(chosen, np.arange(len(chosen)))
    return rules.replace(
        boxes=rules.boxes[chosen],
        answers=rules.answers[chosen],
        facts=rules.facts[: len(chosen)] if is_prefix else None,
    )


def _checked_positions(positions: Any, n_rules: int) -> NDArray[np.int64]:
    given = np.asarray(positions)
    if not given.size:
        return np.zeros(0, dtype=np.int64)
    try:
        return np.asarray(np.arange(n_rules)[given])
    except (IndexError, ValueError):
        raise OptionError(
            f"take: {positions!r}, expected positions of {n_rules} rules, from 0"
        ) from None


def sorted_by_support(rules: "RuleList", rows: Rows) -> "RuleList":
    """Return what `RuleList.sorted_by_support` does."""
    if len(set(rules.answers.tolist())) > 1:
        raise OptionError("rules of several classes cannot be sorted by support")
    codes = rules.domain.encode(rows)
    ranked = taken(rules, np.argsort(-_support(rules, codes), kind="stable"))
    return ranked.replace(
        facts=[Facts(support=n) for n in _support(ranked, codes).tolist()],
        certificate=of_any(rules.certificate, rules.digest),
    )


def _support(rules: "RuleList", codes: NDArray[np.int64]) -> NDArray[np.int64]:
    fired = rules.match(codes)
    return np.bincount(fired[fired != NO_RULE], minlength=len(rules))
