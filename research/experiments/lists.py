"""The rule lists of one network: the paper's two, nn2rules' two, each timed."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from nn2rules.errors import Nn2RulesError, UnsupportedModelError
from nn2rules.extraction.extract import extract
from nn2rules.network.network import Network
from nn2rules.questions.evaluate import Evaluation
from nn2rules.rules import RuleList
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

    def work() -> RuleList:
        return extract(trial.network, data=trial.train_rows, **options)

    rules: RuleList = timed(work, method, seconds)
    return rules


def time_the_paper(trial: Trial, full: RuleList, seconds: Seconds) -> None:
    """Time the paper's own algorithm, where it can be run, and compare its rules."""
    if trial.network.domain.n_inputs > _LARGEST_TIMED:
        return

    def work() -> RuleList:
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
