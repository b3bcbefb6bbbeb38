"""Work shared out: threads and processes side by side, and what is sent to workers."""

import pickle
import time
import zlib
from typing import Any

import joblib
import numpy as np
import pandas as pd
from bench_adult import trained
from timing import markdown

import nn2rules
from nn2rules.engine import Oracle
from nn2rules.engine.flat import empty_boxes
from nn2rules.engine.parallel.spread import shared_workers
from nn2rules.extraction.from_search.growing import Goal, Grower
from nn2rules.extraction.from_search.growth_context import (
    Cases,
    Grown,
    GrowthContext,
    Step,
    Wave,
)
from nn2rules.files import to_json
from nn2rules.space import random_inputs

ROWS, RULES = 10_000, 400
WORKERS = (1, 2)
SENT = (100_000, 10_000_000)


def spread() -> str:
    """Seconds for the same rules by threads and processes; bytes by rows."""
    train, _ = nn2rules.datasets.raw("adult")
    frame = pd.DataFrame(train.columns)
    network = nn2rules.read_network(trained((100,), frame, train.labels), data=frame)
    return f"{_scaling(network, frame[:ROWS])}\n\n{_bytes(network)}"


def _scaling(network: nn2rules.Network, frame: pd.DataFrame) -> str:
    """Time the same rules on more and more workers."""
    nn2rules.extract(network, frame[:50], time=1)  # what is compiled is compiled
    rows, texts, alone = [], set(), {}
    for backend in ("threading", "loky"):
        for n_jobs in WORKERS:
            with (
                joblib.parallel_config(backend, n_jobs=n_jobs),
                shared_workers() as pool,
            ):
                nn2rules.extract(network, frame[:200], max_rules=4)  # they are started
                pool.traffic.sent = pool.traffic.received = 0
                started = time.perf_counter()
                rules = nn2rules.extract(network, frame, max_rules=RULES)
                spent = time.perf_counter() - started
            texts.add(to_json(rules))
            alone.setdefault(backend, spent)
            kind = {"threading": "threads", "loky": "processes"}[backend]
            share = alone[backend] / spent / n_jobs
            sent = f"{pool.traffic.sent / 1e6:.1f} MB" if backend == "loky" else "–"
            rows.append((f"{n_jobs} {kind}", f"{spent:.1f} s", f"{share:.0%}", sent))
    if len(texts) != 1:
        raise AssertionError("the rules depend on who works")
    header = ("workers", "time", "efficiency", "sent")
    return (
        f"Raw Adult, {ROWS:,} rows, 100 units: the first {RULES} rules, the same bytes "
        f"each time. Efficiency is the time of one worker of the kind, divided by that "
        f"of all of them together.\n\n{markdown(header, rows)}"
    )


def _bytes(network: nn2rules.Network) -> str:
    """Measure what the driver holds and sends, by the number of rows."""
    header = ("rows", "held", "sent once to each worker", "sent with each wave")
    rows = [(f"{n_rows:,}", *_measured(network, n_rows)) for n_rows in SENT]
    return (
        f"Rows drawn at random from the same domain, all different: what the driver "
        f"holds for them, what each worker is sent, once, and with each wave, for one "
        f"of four pieces.\n\n{markdown(header, rows)}"
    )


def _measured(network: nn2rules.Network, n_rows: int) -> tuple[str, ...]:
    inputs = random_inputs(network.domain, n_rows, np.random.default_rng(0))
    answers = np.zeros(n_rows, dtype=np.int64)  # what they are says nothing of bytes
    answers[::4] = 1
    oracle = Oracle(network)
    grower = Grower(oracle, Cases(inputs, np.ones(n_rows), answers), Goal(False, 4, 0))
    every = np.ones(n_rows, dtype=np.bool_)
    wave = Wave(every, every, empty_boxes(oracle.nets[0], 0))
    noise = grower._noise(np.random.default_rng(0), 1)[0]
    steps = [
        Step(wave, Grown(grower._start(grower.hull([row]), noise), 0), False)
        for row in range(grower.widest // 4)
    ]
    sizes = (
        _held(grower.context),
        len(zlib.compress(pickle.dumps(grower.context, -1), 1)),
        len(pickle.dumps(steps, -1)),
    )
    return tuple(f"{size / 1e6:,.1f} MB" for size in sizes)


def _held(context: GrowthContext) -> int:
    """Return the bytes of all arrays that have something for each row."""
    arrays: list[Any] = [
        *context.row_index,
        *context.cases.inputs,
        context.cases.answers,
    ]
    return sum(
        array.nbytes
        for array in (*arrays, context.columns, context.covered_row_weights)
    )
