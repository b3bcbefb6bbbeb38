"""Some of the rules of a list, or all in another order, and what is known of them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.rules.certificate import certificate_of, of_any, of_some
from nn2rules.rules.matching import NO_RULE
from nn2rules.rules.rule import Facts
from nn2rules.space import Rows, whole_number

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList


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


def _refuse_uncounted(rules: "RuleList") -> None:
    known = certificate_of(rules)
    if known.is_approximate:
        raise OptionError("these rules are cut short already; cut the exact list")
    if not known.is_given or any(facts.inputs is None for facts in rules.facts):
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
