"""Benchmarks of the exact engine."""

import time
from pathlib import Path

import numpy as np
from networks import one_hot, plain_scores, random_boxes, random_network
from timing import best_of, markdown

import nn2rules
from nn2rules.engine import Budget, Meter, Oracle, build_table
from nn2rules.errors import BudgetExceededError

NAMES = ("car", "nursery", "contraception", "adult")
FIGURE = Path(__file__).parents[1] / "docs" / "explanation" / "growth.svg"


def network_of(name: str) -> nn2rules.Network:
    return nn2rules.load(nn2rules.datasets.network_file(name))


def paper() -> str:
    """The paper's form: its own algorithm against the engine, in one run."""
    rows = []
    for name in NAMES:
        network = network_of(name)
        started = time.perf_counter()
        slow = nn2rules.extract(network, form="paper", engine="paper")
        slow_seconds = time.perf_counter() - started
        fast = nn2rules.extract(network, form="paper")
        assert fast.rules == slow.rules, name
        seconds = best_of(lambda n=network: nn2rules.extract(n, form="paper"))
        rows.append(
            (
                name,
                f"{len(fast):,}",
                f"{slow_seconds:.2f} s",
                f"{1000 * seconds:.1f} ms",
                f"{slow_seconds / seconds:.0f}",
            )
        )
    header = ("network", "rules", 'engine="paper"', "engine", "times faster")
    return markdown(header, rows)


def table() -> str:
    """The certified truth table against plain matrix products."""
    rows = []
    for name in NAMES:
        network = network_of(name)
        codes = np.concatenate(list(network.domain.inputs()))
        matrix = one_hot(network.domain, codes)
        plain = best_of(lambda n=network, m=matrix: plain_scores(n, m) > 0, 9)
        certified = best_of(lambda n=network: build_table(n), 9)
        rows.append(
            (
                name,
                f"{len(codes):,}",
                f"{1000 * plain:.2f} ms",
                f"{1000 * certified:.2f} ms",
                f"{certified / plain:.2f}",
            )
        )
    large = random_network([10] * 8, [6, 3])
    started = time.perf_counter()
    counts = build_table(large, n_jobs=-1).counts()
    seconds = time.perf_counter() - started
    header = ("network", "inputs", "numpy", "certified table", "ratio")
    return (
        markdown(header, rows)
        + f"\n\nA domain of {sum(counts):,} inputs, 6-3 network, a byte each: "
        f"{seconds:.1f} s, {sum(counts) / seconds / 1e6:.1f} million inputs per second."
    )


def oracle() -> str:
    """Questions answered by search, and how many need no branching."""
    cases = [
        ("adult-6-3", network_of("adult"), 0.5),
        ("adult-6-3", network_of("adult"), 0.2),
        ("64-32, 20 features of 4 values", random_network([4] * 20, [64, 32]), 0.0),
        ("64-32, 20 features of 4 values", random_network([4] * 20, [64, 32]), 0.1),
        ("64-32, 20 features of 4 values", random_network([4] * 20, [64, 32]), 0.2),
    ]
    rows = []
    for name, network, chance in cases:
        rows.append((name, f"{chance:g}", *_ask(network, chance, 500)[1:]))
    header = ("network", "chance of a value", "questions/s", "without branching")
    return markdown((*header, "boxes per question", "proved"), rows)


def _ask(network: nn2rules.Network, chance: float, count: int) -> tuple[object, ...]:
    """Ask about random boxes; return the seconds a question and shares."""
    searcher = Oracle(network, Meter(Budget(seconds=30)))
    boxes = list(random_boxes(network.domain, count, chance))
    searcher.ask(boxes[0], 1)
    searcher = Oracle(network, Meter(Budget(seconds=30)))
    started = time.perf_counter()
    proved = asked = 0
    try:
        for box in boxes:
            proved += searcher.ask(box, 1).proved
            asked += 1
    except BudgetExceededError:
        pass
    seconds = (time.perf_counter() - started) / max(asked, 1)
    return (
        seconds,
        f"{1 / seconds:,.0f}",
        f"{100 * searcher.n_immediate / max(asked, 1):.0f}%",
        f"{searcher.meter.boxes / max(asked, 1):.1f}",
        f"{100 * proved / max(asked, 1):.0f}%",
    )


def growth() -> str:
    """Time against the size of the domain, hidden units, and depth."""
    parts = {
        "inputs, by table (6-3 network, milliseconds)": [
            (10**k, 1000 * best_of(lambda n=n: build_table(n), 1 if k > 6 else 3))
            for k, n in ((k, random_network([10] * k, [6, 3])) for k in range(3, 9))
        ],
        "inputs, by search (6-3 network, microseconds per question)": [
            (10**k, 1e6 * _ask(random_network([10] * k, [6, 3]), 0.1, 300)[0])
            for k in range(6, 16, 3)
        ],
        "hidden units (8 features of 4 values, microseconds per question)": [
            (w, 1e6 * _ask(random_network([4] * 8, [w]), 0.1, 100)[0])
            for w in (8, 16, 32, 64, 128, 256)
        ],
        "hidden layers of 8 (8 features of 4 values, microseconds per question)": [
            (d, 1e6 * _ask(random_network([4] * 8, [8] * d), 0.1, 100)[0])
            for d in range(1, 7)
        ],
    }
    _draw(parts)
    tables = [
        markdown(
            (title.split(" (")[0], title.split(", ")[-1].rstrip(")")),
            [(f"{x:,}", f"{y:,.1f}") for x, y in points],
        )
        for title, points in parts.items()
    ]
    return "\n\n".join(tables)


def _draw(parts: dict[str, list[tuple[float, float]]]) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "nn2rules"  # the same figure, byte for byte
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
    for axis, (title, points) in zip(axes.flat, parts.items()):
        axis.loglog(*zip(*points), marker="o", color="black")
        axis.set_xlabel(title.split(" (")[0])
        axis.set_ylabel(title.split(", ")[-1].rstrip(")"))
        axis.grid(alpha=0.3)
    figure.savefig(FIGURE, metadata={"Date": None})
    plt.close(figure)
