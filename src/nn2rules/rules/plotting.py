"""What the first rules decide, drawn."""

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from nn2rules.errors import MissingExtraError, OptionError
from nn2rules.rules.known import n_rows
from nn2rules.text import label_text

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList


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
