"""What the first k rules of a list achieve, for every k, on rows it has not seen."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.network import Network
from nn2rules.rules import NO_RULE, RuleList

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class FirstRules:
    """Counts for k = 0, 1, … and all rules.

    Attributes
    ----------
    n_rows, n_errors : int
        The rows, and those on which the network is wrong.
    same, right, same_on_errors : ndarray of int, shape (n_rules + 1,)
        The rows that the first k rules and a default answer as the network does, or
        as labelled; and of the network's errors, those answered as it does.
    """

    n_rows: int
    n_errors: int
    same: Counts
    right: Counts
    same_on_errors: Counts

    @property
    def n_rules(self) -> int:
        """The number of rules."""
        return len(self.same) - 1

    def needed(self, percent: int) -> int | None:
        """Return how many rules answer as the network does on so many rows.

        None if not even all of them do.
        """
        enough = np.flatnonzero(100 * self.same >= percent * self.n_rows)
        return int(enough[0]) if len(enough) else None

    def fidelity(self, most: int) -> float:
        """Return the fidelity of the first rules, `most` of them at most."""
        return int(self.same[min(most, self.n_rules)]) / self.n_rows

    def on_errors(self, most: int) -> float | None:
        """Return the same on the network's errors; None if it makes none."""
        if not self.n_errors:
            return None
        return int(self.same_on_errors[min(most, self.n_rules)]) / self.n_errors

    def at_shares(self, percents: Counts) -> tuple[list[float], list[float]]:
        """Return fidelity and accuracy of the first so many percent of the rules."""
        ks = np.rint(percents * self.n_rules / 100).astype(np.int64)
        return (
            (self.same[ks] / self.n_rows).tolist(),
            (self.right[ks] / self.n_rows).tolist(),
        )


def fixed_default(rules: RuleList) -> Counts:
    """Return the list's own default for every k, as the paper has it."""
    default = rules.classes.index(rules.default)
    return np.full(len(rules) + 1, default, dtype=np.int64)


def fitted_default(rules: RuleList, network: Network, train: Counts) -> Counts:
    """Return for every k the class that most rows left by the first k rules have.

    The rows are those of `train`, with the network's answers; where as many are of the
    list's own default, or none are left, it stays.
    """
    answers = network.predict_codes(train)
    order = _order(rules, train)
    left = np.stack(
        [_left(order[answers == c], len(rules)) for c in range(len(rules.classes))]
    )
    own = rules.classes.index(rules.default)
    return np.where(left[own] == left.max(axis=0), own, left.argmax(axis=0))


def first_rules(
    rules: RuleList,
    default: Counts,
    answers: Counts,
    rows: Counts,
    truth: Counts,
) -> FirstRules:
    """Count on `rows` what the first k rules achieve.

    Parameters
    ----------
    rules : RuleList
    default : ndarray of int, shape (n_rules + 1,)
        For every k the class of what the first k rules do not decide.
    answers, truth : ndarray of int, shape (n_rows,)
        The network's class of each row, and the true one.
    rows : ndarray of int, shape (n_rows, n_features)

    Notes
    -----
    Takes O(rows + rules) for each class, after one pass that finds for each row the
    rule that decides it.
    """
    order = _order(rules, rows)
    given = np.append(rules.answers, -1)[order]
    wrong = answers != truth
    every = np.ones(len(rows), dtype=np.bool_)

    def counted(wanted: Counts, among: NDArray[np.bool_]) -> Counts:
        """Count for each k the rows among some that are answered as wanted."""
        total = _decided(order[among & (given == wanted)], len(rules))
        for c in range(len(rules.classes)):
            left = _left(order[among & (wanted == c)], len(rules))
            total = total + np.where(default == c, left, 0)
        return total

    return FirstRules(
        n_rows=len(rows),
        n_errors=int(wrong.sum()),
        same=counted(answers, every),
        right=counted(truth, every),
        same_on_errors=counted(answers, wrong),
    )


def _order(rules: RuleList, rows: Counts) -> Counts:
    """Return for each row the rule that decides it; their number if none does."""
    fired = rules.match(rows)
    return np.where(fired == NO_RULE, len(rules), fired)


def _decided(order: Counts, n_rules: int) -> Counts:
    """Count for each k the rows that the first k rules decide."""
    by_rule = np.bincount(order, minlength=n_rules + 1)[:n_rules]
    return np.concatenate([[0], np.cumsum(by_rule)])


def _left(order: Counts, n_rules: int) -> Counts:
    return len(order) - _decided(order, n_rules)
