"""Everything that is measured on one network."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.questions.evaluate import RuleListEvaluation, evaluate
from nn2rules.rules import RuleList
from research.experiments.first_rules import (
    FirstRules,
    first_rules,
    fitted_default,
    fixed_default,
)
from research.experiments.methods import (
    Readable,
    Seconds,
    extracted,
    grown,
    is_small,
    methods_for,
    refuse_inexact,
    time_the_paper,
    tree_answers,
)
from research.experiments.train import Trial

Report = Callable[[str], None]


@dataclass(frozen=True)
class Score:
    """How well one method stands for the network, and how large it is.

    Attributes
    ----------
    fidelity, accuracy : float
        On the test rows.
    on_errors : float or None
        The fidelity on the test rows that the network gets wrong; None if it gets all
        right.
    on_domain : float or None
        The fidelity on all inputs; None where they are too many to count.
    n_rules : int
        Rules, or leaves of a tree.
    n_conditions : int or None
        Of all rules together; None for a tree.
    """

    fidelity: float
    accuracy: float
    on_errors: float | None
    on_domain: float | None
    n_rules: int
    n_conditions: int | None = None

    @property
    def per_rule(self) -> float | None:
        """The conditions of a rule, on average."""
        if self.n_conditions is None or not self.n_rules:
            return None
        return self.n_conditions / self.n_rules


@dataclass(frozen=True)
class Measured:
    """What was measured on one network.

    Attributes
    ----------
    seed : int
    n_inputs : int
    accuracy : float
        Of the network, on the test rows.
    n_errors : int
        The test rows that it gets wrong.
    memorized : int
        The different training rows of class 1.
    scores : dict from the key of a method to Score
    first : dict from the key of a list to FirstRules
        On the test rows.
    first_train : dict from the key of a list to FirstRules
        On the training rows.
    seconds : dict of str to float
    readable : Readable or None
        The network made to be read that has the same seed.
    unread : str
        Why there is none.
    """

    seed: int
    n_inputs: int
    accuracy: float
    n_errors: int
    memorized: int
    scores: dict[str, Score] = field(default_factory=dict)
    first: dict[str, FirstRules] = field(default_factory=dict)
    first_train: dict[str, FirstRules] = field(default_factory=dict)
    seconds: Seconds = field(default_factory=dict)
    readable: Readable | None = None
    unread: str = ""


def measure(
    trial: Trial, seconds: Seconds, *, is_first: bool, report: Report
) -> Measured:
    """Make all lists and trees of one network, and measure them.

    Parameters
    ----------
    trial : Trial
    seconds : dict
        What was timed so far; more is added.
    is_first : bool
        Whether to time the paper's own algorithm, too.
    report : callable
        Told what is done next.
    """
    network = trial.network
    answers = network.predict_codes(trial.test)
    right = answers == trial.test_truth
    positive = trial.train[trial.train_truth == 1]
    found = Measured(
        seed=trial.seed,
        n_inputs=network.domain.n_inputs,
        accuracy=int(right.sum()) / len(right),
        n_errors=int((~right).sum()),
        memorized=len(np.unique(positive, axis=0)),
        seconds=seconds,
    )
    _measure_trees(trial, found, answers, report)
    for method in methods_for(network):
        report(method)
        rules = extracted(trial, method, seconds)
        found.scores[method] = _list_score(trial, method, rules)
        _measure_first(trial, found, method, rules)
        if method == "full" and is_first:
            time_the_paper(trial, rules, seconds)
    return found


def _measure_trees(
    trial: Trial, found: Measured, answers: NDArray[np.int64], report: Report
) -> None:
    network = trial.network
    everything = np.zeros((0, len(network.domain.sizes)), dtype=np.int64)
    if is_small(network):
        everything = np.concatenate(list(network.domain.inputs()))
    wanted = network.predict_codes(everything)
    wrong = answers != trial.test_truth
    for method, grow in grown(trial).items():
        report(method)
        tree = grow(found.seconds)
        given = tree_answers(tree, trial, trial.test)
        alike = tree_answers(tree, trial, everything) == wanted
        found.scores[method] = Score(
            fidelity=_share(given == answers) or 0.0,
            accuracy=_share(given == trial.test_truth) or 0.0,
            on_errors=_share((given == answers)[wrong]),
            on_domain=_share(alike),
            n_rules=tree.n_rules(),
        )


def _list_score(trial: Trial, method: str, rules: RuleList) -> Score:
    # Beside trees, which predict every row, the default of a support list counts, too.
    whole = rules if rules.scope == "domain" else rules.replace(scope="domain")
    found: RuleListEvaluation = evaluate(
        trial.network, whole, trial.test_rows, _labels(trial), samples=0
    )
    refuse_inexact(method, found)
    counted = found.domain if is_small(trial.network) else None
    return Score(
        fidelity=found.on_covered.fidelity or 0.0,
        accuracy=found.on_covered.accuracy or 0.0,
        on_errors=found.on_covered.fidelity_where_wrong,
        on_domain=None if counted is None else counted.low,
        n_rules=found.n_rules,
        n_conditions=found.n_conditions,
    )


def _measure_first(trial: Trial, found: Measured, method: str, rules: RuleList) -> None:
    """Measure what the first rules of a list achieve, on both parts of the data."""
    if method in ("full", "support"):
        default = fixed_default(rules)
    else:
        default = fitted_default(rules, trial.network, trial.train)
    parts = (
        (found.first, trial.test, trial.test_truth),
        (found.first_train, trial.train, trial.train_truth),
    )
    for kept, rows, truth in parts:
        answers = trial.network.predict_codes(rows)
        kept[method] = first_rules(rules, default, answers, rows, truth)


def _labels(trial: Trial) -> list[Any]:
    classes = trial.network.classes
    return [classes[place] for place in trial.test_truth.tolist()]


def _share(holds: NDArray[np.bool_]) -> float | None:
    return int(holds.sum()) / len(holds) if len(holds) else None
