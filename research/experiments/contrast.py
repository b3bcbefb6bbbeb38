"""Where this run and the paper's printed figures differ, and by how much."""

from collections.abc import Callable
from typing import NamedTuple

from research.experiments.measure import Measured
from research.experiments.printed import ACCURACY, FIDELITY, ON_ERRORS, RULES
from research.experiments.results import Result, Results
from research.experiments.table import (
    Cell,
    Figure,
    Kind,
    ResultColumn,
    ResultTable,
    Spread,
)


class Compared(NamedTuple):
    """A figure that both have: what it is, the paper's, and this run's."""

    words: str
    kind: Kind
    printed: float
    found: Spread

    @property
    def is_within(self) -> bool:
        """Whether the paper's figure lies within the spread, or there is none."""
        low, high = self.found.low, self.found.high
        if low is None or high is None:
            return True
        rounded = 0.0005 if self.kind == "share" else 0.0  # it prints three digits
        return low - rounded <= self.printed <= high + rounded

    @property
    def is_better(self) -> bool:
        """Whether the paper's figure is better: a larger share, or fewer rules."""
        mean = self.found.mean
        if mean is None or self.words == "rules, Memorization":
            return False
        if self.kind == "count":
            return mean > self.printed
        return mean < self.printed - 0.0005


def compared(result: Result) -> list[Compared]:
    """Return every printed figure of a data set, but those that are 1 by necessity."""
    name = result.case.name
    found = [
        _one(result, "accuracy of the network", ACCURACY[name]["network"], _accuracy)
    ]
    for words, printed, attribute in (
        ("fidelity", FIDELITY, "fidelity"),
        ("accuracy", ACCURACY, "accuracy"),
        ("fidelity on errors", ON_ERRORS, "on_errors"),
        ("rules", RULES, "n_rules"),
    ):
        for key, method in _COMPARED.items():
            number = printed[name].get(key)
            if number is None or (key == "full" and attribute != "n_rules"):
                continue
            text = f"{words}, {method}"
            found.append(_one(result, text, number, _score(key, attribute)))
    memorized = RULES[name]["memorized"]
    found.append(_one(result, "rules, Memorization", memorized, _memorized))
    return found


_COMPARED = {
    "tree-6": "decision tree",
    "simple-6": "simple TREPAN",
    "full": "NN2Rules(Full)",
    "support": "NN2Rules(Support)",
}


def _one(
    result: Result, words: str, printed: float, of: Callable[[Measured], float | None]
) -> Compared:
    kind: Kind = "count" if words.startswith("rules") else "share"
    return Compared(words, kind, printed, result.spread(of))


def _accuracy(found: Measured) -> float | None:
    return found.accuracy


def _memorized(found: Measured) -> float | None:
    return found.memorized


def _score(key: str, attribute: str) -> Callable[[Measured], float | None]:
    def of(found: Measured) -> float | None:
        number: float | None = getattr(found.scores[key], attribute)
        return number

    return of


def differences(results: Results) -> ResultTable | None:
    """Return this run minus the paper, figure by figure."""
    if not results.is_paper:
        return None
    rows = [
        (result.label, one.words, *_difference(one))
        for result in results.sets
        for one in compared(result)
    ]
    return ResultTable(
        "differences",
        "This run and the paper",
        "Every figure that the paper prints, except those that are 1 by necessity. "
        "The difference is the mean of this run minus the paper's figure. The last "
        "column says whether the paper's figure lies between the smallest and the "
        "largest of this run.",
        (
            ResultColumn("data set"),
            ResultColumn("figure"),
            ResultColumn("paper", "number"),
            ResultColumn("this run", "number"),
            ResultColumn("difference", "number"),
            ResultColumn("within the spread"),
        ),
        tuple(rows),
    )


def _difference(one: Compared) -> tuple[Cell, Cell, Cell, Cell]:
    mean, printed = one.found.mean, Figure(one.printed, one.kind)
    if mean is None:
        return printed, None, None, None
    is_share = one.kind == "share"
    gap = Figure(mean - one.printed, "change" if is_share else "gap")
    within = "yes" if one.is_within else "no"
    return printed, Figure(mean, one.kind), gap, within
