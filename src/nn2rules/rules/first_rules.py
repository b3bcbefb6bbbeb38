"""Some of the rules of a list, and what the first of them achieve."""

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import MissingExtraError, OptionError
from nn2rules.language import label_text
from nn2rules.rules.certificate import certificate_of, of_any, of_some
from nn2rules.rules.facts import n_rows
from nn2rules.rules.matching import NO_RULE
from nn2rules.rules.rule import Facts
from nn2rules.space import Rows, Value, whole_number

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList


def top_of(rules: "RuleList", k: int) -> "RuleList":
    """Return what `RuleList.top` does."""
    k = whole_number("top", k)
    if k >= len(rules):
        return rules
    certificate = of_some(rules.certificate)
    if rules.scope == "support":
        return rules.take(range(k)).replace(certificate=certificate)
    _refuse_uncounted(rules)
    default, different = _best_default(rules, k)
    certificate |= {
        "method": f"the first {k:,} of {len(rules):,} rules",
        "different": different,
    }
    if not different and "coverage" in rules.certificate:  # still about every input
        certificate["coverage"] = rules.certificate["coverage"]
    return rules.take(range(k)).replace(default=default, certificate=certificate)


def shortened(
    rules: "RuleList", max_rules: int | None, fidelity: float | None
) -> "RuleList":
    """Return the first rules: at most this many, or as many as reach a fidelity."""
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
    certificate = certificate_of(rules)
    if certificate.is_approximate:
        raise OptionError("these rules are already shortened; shorten the exact list")
    if not certificate.is_given or any(facts.inputs is None for facts in rules.facts):
        raise OptionError(
            "only rules with a certificate and the number of inputs that each "
            "determines can be shortened; rules found by search do not have it"
        )


def _best_default(rules: "RuleList", k: int) -> tuple[Any, int]:
    """Return the most frequent class of what k rules leave, and how many differ."""
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
    indices = np.asarray(positions)
    if not indices.size:
        return np.zeros(0, dtype=np.int64)
    try:
        return np.asarray(np.arange(n_rules)[indices])
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


def curve_of(
    rules: "RuleList", rows: Rows, labels: Sequence[Value] | None
) -> dict[str, Any]:
    """Return what `RuleList.curve` does."""
    fired = rules.apply(rows)
    n_rows = max(len(fired), 1)
    order = np.where(fired == NO_RULE, len(rules), fired)
    default = rules.classes.index(rules.default)
    predicted = np.array([*rules.answers.tolist(), default])[order]

    def by_rule(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Count how many of the chosen rows the first k rules cover, for k from 0."""
        counted = np.bincount(order[chosen], minlength=len(rules) + 1)
        return np.concatenate([[0], np.cumsum(counted)])[: len(rules) + 1]

    ks = np.arange(len(rules) + 1)
    covered = by_rule(order < len(rules))
    curve: dict[str, Any] = {"rules": ks, "covered": covered / n_rows}
    truth = None if labels is None else rules.positions(labels, len(fired))
    if rules.scope == "support":  # nothing is claimed about the rest
        if truth is not None:
            right = by_rule((predicted == truth) & (order < len(rules)))
            curve["accuracy_on_covered"] = _shares(right, covered)
        return curve
    classes = range(len(rules.classes))
    left = np.stack([(predicted == c).sum() - by_rule(predicted == c) for c in classes])
    best = left.argmax(axis=0)
    curve["fidelity"] = (covered + left[best, ks]) / n_rows
    if truth is not None:
        lucky = np.stack([(truth == c).sum() - by_rule(truth == c) for c in classes])
        curve["accuracy"] = (by_rule(predicted == truth) + lucky[best, ks]) / n_rows
    return curve


def _shares(parts: NDArray[np.int64], wholes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return shares; NaN where the total is 0."""
    shares = np.full(len(parts), np.nan)
    np.divide(parts, wholes, out=shares, where=wholes > 0)
    return shares


def plot_of(rules: "RuleList", axes: Any) -> Any:
    """Return what `RuleList.plot` does."""
    noun, whole = "rows", n_rows(rules)
    decided = [facts.support for facts in rules.facts]
    if None in decided or whole is None:
        noun, whole = "inputs", rules.n_possible
        decided = [facts.inputs for facts in rules.facts]
        whole = None if rules.domain.has_ranges else whole
    known = [number for number in decided if number is not None]
    if len(known) < len(decided) or not known or not whole:
        raise OptionError(
            "plot: the rows that each rule determines are unknown; extract the rules "
            "with data, or draw RuleList.curve(rows)"
        )
    return _drawn(rules, known, whole, noun, axes)


def _drawn(
    rules: "RuleList", decided: list[int], whole: int, noun: str, axes: Any
) -> Any:
    """Draw one line for a list, or one for each class of a set."""
    try:
        from matplotlib import pyplot, ticker
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "plot()") from None
    if axes is None:
        _, axes = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    answers = rules.answers.tolist()
    lines: dict[str, list[int]] = {}
    for answer, number in zip(answers, decided, strict=True):
        label = label_text(rules.classes[answer]) if rules.form == "set" else ""
        lines.setdefault(label, []).append(number)
    for label, numbers in lines.items():
        shares = [100 * part / whole for part in accumulate(numbers, initial=0)]
        # matplotlib gives leading underscores and dollar signs a special meaning.
        shown = f"\u200b{label}".replace("$", r"\$") if label else None
        axes.step(range(len(shares)), shares, where="post", label=shown)
    first = "first rules of a class" if len(lines) > 1 else "first rules"
    axes.set(xlabel=first, ylabel=f"% of {noun} covered")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    axes.set_xlim(left=0)
    axes.set_ylim(0, 100)
    if rules.form == "set":
        axes.legend(frameon=False)
    return axes
