"""Ctrl-C at any moment: the work ends, and what is kept is right."""

import os
import signal
import threading
import time

import numpy as np
from numpy.random import Generator

from fuzz.networks import network_on
from fuzz.questions import demand
from nn2rules import Network, RuleList, extract


def interrupt_extraction(rng: Generator) -> int:
    """Press Ctrl-C once while rules are extracted; compare what comes of it."""
    network = network_on(rng, rng.integers(3, 6, size=5).tolist())
    codes = np.concatenate(list(network.domain.inputs()))
    form = str(rng.choice(["list", "set"]))
    options = {"form": form, "effort": int(rng.integers(0, 4))}
    options["engine"] = str(rng.choice(["table", "search"]))
    options["n_jobs"] = int(rng.choice([1, 2]))
    if rng.integers(0, 2):
        rows = network.domain.decode(rng.permutation(codes)[:60])
        options |= {"data": rows, "scope": "support"}
    began = time.perf_counter()
    extract(network, **options)
    seconds = time.perf_counter() - began
    before = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(
        float(rng.uniform(0, 1.2)) * seconds, os.kill, (os.getpid(), signal.SIGINT)
    )
    kept: RuleList | None
    timer.start()
    try:
        kept = extract(network, **options)
        timer.join()  # it may come a moment later; that is no business of extract
        time.sleep(0.001)
    except KeyboardInterrupt as error:
        kept = getattr(error, "rules", None)
    timer.join()
    demand(signal.getsignal(signal.SIGINT) is before, "Ctrl-C is still taken", network)
    return 1 if kept is None else _right(network, kept, codes)


def _right(network: Network, rules: RuleList, codes: np.ndarray) -> int:
    """Compare rules with the network, where they say anything."""
    fired = rules.match(codes)
    answers = np.append(rules.answers, rules.classes.index(rules.default))[fired]
    claimed = np.ones(len(codes), dtype=bool) if rules.scope == "domain" else fired >= 0
    wrong = (answers != network.predict_codes(codes)) & claimed
    demand(not wrong.any(), f"{int(wrong.sum())} answers are wrong", network)
    return int(claimed.sum())
