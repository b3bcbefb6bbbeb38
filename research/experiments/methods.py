"""The methods that are compared: rule lists, trees, and networks made to be read."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import Nn2RulesError, UnsupportedModelError
from nn2rules.extraction import extract
from nn2rules.learn import ReadableClassifier
from nn2rules.network import Network
from nn2rules.questions.evaluate import Evaluation
from nn2rules.rules import RuleList
from nn2rules.space import text_of
from research.baselines import DecisionTree, SimpleTrepan, Trepan
from research.experiments.cases import Case
from research.experiments.printed import EXACT, NAMES
from research.experiments.train import Trial

LARGEST_DOMAIN = 1 << 19
"""Up to so many inputs there are lists for the whole domain."""

_LARGEST_TIMED = 1 << 18  # the paper's own algorithm takes minutes beyond this

_OPTIONS: dict[str, dict[str, Any]] = {
    "full": {"form": "paper", "scope": "domain"},
    "support": {"form": "paper", "scope": "support"},
    "list": {"form": "list", "scope": "domain"},
    "support-list": {"form": "list", "scope": "support"},
}

Seconds = dict[str, float]


def is_small(network: Network) -> bool:
    """Tell whether everything is measured on all inputs of the domain."""
    return network.domain.n_inputs <= LARGEST_DOMAIN


def methods_for(network: Network) -> tuple[str, ...]:
    """Return the lists that fit: the paper's are for two classes, on small domains."""
    if not is_small(network):
        return ("support-list",)
    if len(network.classes) > 2:
        return ("list", "support-list")
    return tuple(_OPTIONS)


def timed(work: Callable[[], Any], name: str, seconds: Seconds) -> Any:
    """Return what `work` does, and note how long it took."""
    started = time.perf_counter()
    done = work()
    seconds[name] = time.perf_counter() - started
    return done


def extracted(trial: Trial, method: str, seconds: Seconds) -> RuleList:
    """Return a rule list of the network, each as its method defines it.

    The paper's rules are sorted by their support on the training rows; those of its
    Support have some.
    """
    options = dict(_OPTIONS[method])
    if options["form"] == "list":
        options |= {"seed": trial.seed, "n_jobs": -1}

    def work() -> Any:
        return extract(trial.network, data=trial.train_rows, **options)

    rules: RuleList = timed(work, method, seconds)
    return rules


def time_the_paper(trial: Trial, full: RuleList, seconds: Seconds) -> None:
    """Time the paper's own algorithm, where it can be run, and compare its rules."""
    if trial.network.domain.n_inputs > _LARGEST_TIMED:
        return

    def work() -> Any:
        return extract(trial.network, data=trial.train_rows, engine="paper")

    try:
        rules = timed(work, "algorithm", seconds)
    except UnsupportedModelError:  # it takes ReLU units and a single output
        return
    if not np.array_equal(rules.boxes, full.boxes):
        raise Nn2RulesError(
            "the paper's algorithm and the engine give different rules; this is an "
            "error of nn2rules, please report it"
        )


def refuse_inexact(method: str, found: Evaluation) -> None:
    """Stop if a list that must be exact is not, on every input of the domain.

    Raises
    ------
    Nn2RulesError
        If it differs from the network anywhere, or if this was not counted.
    """
    if method not in EXACT:
        return
    domain = found.domain
    if domain is None or domain.how != "counted" or domain.same != domain.inputs:
        raise Nn2RulesError(
            f"{NAMES[method]} does not answer as the network does on every input "
            f"({domain}); this is an error of nn2rules, please report it"
        )


def warm_up() -> None:
    """Load the compiled kernels, so that the first time measured is like the others."""
    from nn2rules import datasets
    from nn2rules.files import load_network

    network = load_network(datasets.network_file("tomato"))
    rows = datasets.load("tomato").train.rows
    for options in _OPTIONS.values():
        extract(network, data=rows, **options)


def grown(trial: Trial) -> dict[str, Callable[[Seconds], Any]]:
    """Return for each method what grows its tree on the training rows."""
    network, seed = trial.network, trial.seed
    labels = [network.classes[place] for place in trial.train_truth.tolist()]
    trees: dict[str, Any] = {
        "tree-6": DecisionTree(network.domain, random_state=seed),
        "tree": DecisionTree(network.domain, max_depth="validate", random_state=seed),
        "simple-6": SimpleTrepan(network, random_state=seed),
        "simple": SimpleTrepan(network, max_depth="validate", random_state=seed),
        "trepan": Trepan(network, random_state=seed),
    }

    def grow(method: str) -> Callable[[Seconds], Any]:
        tree = trees[method]
        return lambda seconds: timed(
            lambda: tree.fit(trial.train_rows, labels), method, seconds
        )

    return {method: grow(method) for method in trees}


def tree_answers(
    tree: Any, trial: Trial, codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the position of the class that a tree gives each row."""
    classes = trial.network.classes
    places = [classes.index(label) for label in tree.classes_.tolist()]
    return np.asarray(np.array(places)[tree.predict_codes(codes)], dtype=np.int64)


NAME = "Network made to be read"
ANOTHER = "The network made to be read is another one, trained on the same rows."


@dataclass(frozen=True)
class Readable:
    """What was measured on a network that is made to be read.

    Attributes
    ----------
    accuracy : float
        On the test rows.
    n_rules : int
        Of a list that equals it on every input of its domain.
    n_columns : int
        The columns that it asks for.
    """

    accuracy: float
    n_rules: int
    n_columns: int


def readable(case: Case, seed: int) -> Readable:
    """Train a network with this seed on the training rows, and check its rules.

    Raises
    ------
    OptionError, RowsError, UnknownValueError
        If there is nothing to learn from the training rows, or a test row has what no
        network can learn from them.
    Nn2RulesError
        If its rules differ from it on any input of its domain, or on any row.
    """
    model = ReadableClassifier(form="rules", random_state=seed, progress=False)
    model.fit(case.train.frame, [text_of(label) for label in case.train.labels])
    _refuse_inexact(model, (case.train.frame, case.test.frame))
    truth = [text_of(label) for label in case.test.labels]
    right = model.predict(case.test.frame) == np.array(truth)
    return Readable(
        accuracy=int(right.sum()) / len(right),
        n_rules=len(model.rules_),
        n_columns=len(model.network_.domain.features),
    )


def _refuse_inexact(model: ReadableClassifier, frames: Iterable[Any]) -> None:
    network, rules = model.network_, model.rules_
    asked = [
        (rules.predict_codes(codes), network.predict_codes(codes))
        for codes in network.domain.inputs()
    ]
    asked += [(rules.predict(frame), model.predict(frame)) for frame in frames]
    if not all(np.array_equal(given, wanted) for given, wanted in asked):
        raise Nn2RulesError(
            "the rules of a network that is made to be read do not answer as it does; "
            "this is an error of nn2rules, please report it"
        )
