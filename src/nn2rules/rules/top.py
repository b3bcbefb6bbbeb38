"""The first rules of a list, and what is still proved of them."""

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
    "undecided",
    "undecided_at_least",
    "undecided_at_most",
)


def top_of(rules: "RuleList", k: int) -> "RuleList":
    """Return what `RuleList.top` does."""
    k = whole_number("top", k)
    if k >= len(rules):
        return rules
    # What was counted of all rules does not hold for some of them.
    kept = {key: v for key, v in rules.certificate.items() if key not in _COUNTED}
    if rules.scope == "support":
        return rules.take(range(k)).replace(certificate=kept)
    _refuse_uncounted(rules)
    default, different = _best_default(rules, k)
    kept |= {
        "method": f"the first {k:,} of {len(rules):,} rules",
        "different": different,
    }
    return rules.take(range(k)).replace(default=default, certificate=kept)


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
