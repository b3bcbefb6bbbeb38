"""What the first rules decide, drawn."""

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import MissingExtraError, OptionError
from nn2rules.language import label_text
from nn2rules.rules.facts import n_rows
from nn2rules.rules.matching import NO_RULE
from nn2rules.space import Rows, Value

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
            "plot: it is not known how much each rule decides; extract the rules with "
            "data, or draw RuleList.curve(rows)"
        )
    return _drawn(rules, known, whole, noun, axes)


def _drawn(
    rules: "RuleList", decided: list[int], whole: int, noun: str, axes: Any
) -> Any:
    """Draw a line for a list, and one for each class of a set."""
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
        # A name that begins with an underscore, or holds $, means something to it.
        shown = f"\u200b{label}".replace("$", r"\$") if label else None
        axes.step(range(len(shares)), shares, where="post", label=shown)
    first = "first rules of a class" if len(lines) > 1 else "first rules"
    axes.set(xlabel=first, ylabel=f"% of {noun} decided")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    axes.set_xlim(left=0)
    axes.set_ylim(0, 100)
    if rules.form == "set":
        axes.legend(frameon=False)
    return axes
