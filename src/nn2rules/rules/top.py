"""The first rules of a list, and what is still proved of them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nn2rules.errors import OptionError
from nn2rules.values import whole_number

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList

_COUNTED = (
    "rules",
    "fewest_rules",
    "rows",
    "rows_decided",
    "rows_different",
    "undecided",
    "undecided_at_least",
    "undecided_at_most",
    "coverage",
)


def top_of(rules: "RuleList", k: int) -> "RuleList":
    """Return what `RuleList.top` does."""
    k = whole_number("top", k)
    if k >= len(rules):
        return rules
    kept = of_some(rules.certificate)
    if rules.scope == "support":
        return rules.take(range(k)).replace(certificate=kept)
    _refuse_uncounted(rules)
    default, different = _best_default(rules, k)
    kept |= {
        "method": f"the first {k:,} of {len(rules):,} rules",
        "different": different,
    }
    if not different and "coverage" in rules.certificate:  # of every input, still
        kept["coverage"] = rules.certificate["coverage"]
    return rules.take(range(k)).replace(default=default, certificate=kept)


def shortened(
    rules: "RuleList", max_rules: int | None, fidelity: float | None
) -> "RuleList":
    """Return the first rules: so many at most, or as many as reach a fidelity."""
    if fidelity is not None:
        total = rules.n_possible
        low, high = 0, len(rules)
        while low < high:  # fidelity grows with the number of rules
            middle = (low + high) // 2
            different = top_of(rules, middle).certificate["different"]
            if (total - different) / total >= fidelity:
                high = middle
            else:
                low = middle + 1
        max_rules = low if max_rules is None else min(low, max_rules)
    return rules if max_rules is None else top_of(rules, max_rules)


def of_some(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """Return a certificate without what does not hold for some of the rules."""
    return {key: v for key, v in certificate.items() if key not in _COUNTED}


def _refuse_uncounted(rules: "RuleList") -> None:
    if rules.certificate.get("different"):
        raise OptionError("these rules are cut short already; cut the exact list")
    if not rules.certificate or any(facts.inputs is None for facts in rules.facts):
        raise OptionError(
            "only rules with a certificate that carry the number of inputs they decide "
            "can be cut short; those found by search carry none"
        )


def _best_default(rules: "RuleList", k: int) -> tuple[Any, int]:
    """Return the class of most inputs that k rules leave, and the number of others."""
    decided = [facts.inputs or 0 for facts in rules.facts]
    left = np.zeros(len(rules.classes), dtype=object)
    for answer, number in zip(rules.answers[k:], decided[k:], strict=True):
        left[answer] += number
    left[rules.classes.index(rules.default)] += rules.n_possible - sum(decided)
    best = int(np.argmax(left))
    return rules.classes[best], int(left.sum() - left[best])
