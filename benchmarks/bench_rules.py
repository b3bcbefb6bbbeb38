"""Benchmarks of lists and sets: how many rules, and how fast."""

import csv
import gzip
import time
from pathlib import Path

import numpy as np
from timing import best_of, markdown
from wide_adult import wide_adult

import nn2rules
from nn2rules.errors import BudgetExceededError
from nn2rules.network import certified

NAMES = ("car", "nursery", "contraception", "adult")
CHESS = Path(__file__).parent / "chess"
SHARES = (0.90, 0.95, 0.99, 1.00)


def lists() -> str:
    """Rules for every input, each result checked on the whole domain."""
    rows = []
    for name in NAMES:
        network = nn2rules.load(nn2rules.datasets.network_file(name))
        codes = np.concatenate(list(network.domain.inputs()))
        offsets = network.domain.offsets
        plain = best_of(
            lambda n=network, o=offsets, c=codes: certified.scores(n.layers, o, c), 9
        )
        paper = nn2rules.extract(network, form="paper")
        cells = [name, f"{len(codes):,}", f"{len(paper):,}"]
        for form in ("list", "set"):
            nn2rules.extract(network, form=form, effort=0)
            started = time.perf_counter()
            rules = nn2rules.extract(network, form=form)
            seconds = time.perf_counter() - started
            report = nn2rules.check(network, rules)
            assert report.ok, report
            fewest = rules.certificate.get("fewest_rules")
            bound = "" if fewest is None else f" (≥ {fewest})"
            cells += [
                f"{len(rules)}{bound}",
                f"{seconds:.2f} s, {seconds / plain:,.0f} ×",
            ]
        rows.append((*cells, f"{1000 * plain:.2f} ms"))
    header = ("network", "inputs", "paper", "list", "time of the list")
    return (
        markdown((*header, "set", "time of the set", "numpy"), rows)
        + "\n\nTimes are also given as multiples of one evaluation of all inputs in "
        "plain numpy, in the same run. Every result was checked on every input by "
        "`nn2rules.check`. A set cannot have fewer rules than the number in brackets."
    )


def support() -> str:
    """Rules of an ordered list needed to decide shares of the training rows."""
    rows = []
    for name in NAMES:
        network = nn2rules.load(nn2rules.datasets.network_file(name))
        data = nn2rules.datasets.load(name)
        started = time.perf_counter()
        rules = nn2rules.extract(network, data=data.train.rows, scope="support")
        seconds = time.perf_counter() - started
        decided = rules.curve(data.train.rows)["covered"]
        needed = [int(np.argmax(decided >= share - 1e-12)) for share in SHARES]
        fired = rules.apply(data.test.rows) >= 0
        same = rules.predict(data.test.rows) == network.predict(data.test.rows)
        rows.append(
            (
                name,
                *needed,
                f"{seconds:.1f} s",
                f"{100 * fired.mean():.2f}%",
                f"{100 * same[fired].mean():.2f}%",
                f"{100 * same.mean():.2f}%",
            )
        )
    fidelity = ("fidelity where covered", "fidelity with the default")
    header = ("network", "90%", "95%", "99%", "100%", "time", "test rows covered")
    return markdown((*header, *fidelity), rows)


def chess() -> str:
    """Support scope on a domain of 10^11 inputs."""
    network = nn2rules.load(CHESS / "network.json")
    with gzip.open(CHESS / "rows.csv.gz", "rt") as stream:
        data = list(csv.DictReader(stream))
    rows = []
    nn2rules.extract(network, data=data[:50], scope="support")
    for form, target in (
        ("set", "won"),
        ("set", "nowin"),
        ("set", None),
        ("list", None),
    ):
        started = time.perf_counter()
        rules = nn2rules.extract(
            network, data=data, scope="support", form=form, target=target
        )
        seconds = time.perf_counter() - started
        rows.append((form, target or "both", len(rules), f"{seconds:.1f} s"))
    shuffled = np.random.default_rng(0).permutation(len(data))
    cut = len(data) * 4 // 5
    known = [data[index] for index in shuffled[:cut]]
    unseen = [data[index] for index in shuffled[cut:]]
    rules = nn2rules.extract(network, data=known, scope="support")
    fired = rules.apply(unseen) >= 0
    same = rules.predict(unseen) == network.predict(unseen)
    return (
        markdown(("form", "class", "rules", "time"), rows)
        + f"\n\nOf {len(unseen)} unseen rows, {len(rules)} rules made from the other "
        f"{len(known)} decide {100 * fired.mean():.1f}%, {int(same[fired].sum())} of "
        f"{int(fired.sum())} as the network does; with the default "
        f"{100 * same.mean():.1f}% get the network's prediction."
    )


def wide() -> str:
    """A domain of more than 10^9 inputs, domain scope: what is proved when."""
    network, accuracy = wide_adult()
    rng = np.random.default_rng(0)
    sizes = network.domain.sizes
    sample = rng.integers(sizes, size=(100_000, len(sizes)))
    rows = []
    for seconds in (5, 15, 45):
        budget = nn2rules.Budget(seconds=seconds)
        try:
            rules = nn2rules.extract(network, budget=budget)
        except BudgetExceededError as stopped:
            rules = stopped.rules
        fired = rules.apply_codes(sample) >= 0
        same = rules.predict_codes(sample) == network.predict_codes(sample)
        assert same[fired].all()
        rows.append((f"{seconds} s", f"{len(rules):,}", f"{100 * fired.mean():.1f}%"))
    return (
        f"Adult with {len(sizes)} features, {network.domain.n_inputs:,} inputs, 6-3 "
        f"network, test accuracy {accuracy:.3f}. The share is of 100,000 inputs drawn "
        f"at random; on those covered, rules and network agree.\n\n"
        + markdown(("budget", "rules proved", "inputs covered"), rows)
    )
