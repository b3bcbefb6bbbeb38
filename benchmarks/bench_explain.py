"""Explaining rows: reasons, smallest counterfactuals, and the same by a solver."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
from bench_adult import trained
from highs import fewest_changes
from timing import markdown

import nn2rules
from nn2rules.files import read_table

ROWS, PATIENCE = 10, 60.0
CHESS = Path(__file__).parent / "chess"


def explain() -> str:
    """Time for a row, and how many times a mixed-integer programme takes."""
    rows = [_measured(name, *made()) for name, made in NETWORKS.items()]
    header = (
        "network",
        "inputs",
        "a reason",
        "a smallest reason",
        "smallest counterfactuals",
    )
    return (
        f"Medians of {ROWS} rows; the table of adult is in memory. All "
        f"counterfactuals of the smallest size and the radius are found; HiGHS looks "
        f"for one of them, for {PATIENCE:.0f} s at most. The ratio is that of total "
        f"times.\n\n"
        + markdown((*header, "the same by HiGHS", "times faster", "equal sizes"), rows)
    )


def _adult() -> tuple[nn2rules.Network, Sequence[Any]]:
    network = nn2rules.load(nn2rules.datasets.network_file("adult"))
    return network, nn2rules.datasets.load("adult").train.to_frame().to_dict("records")


def _chess() -> tuple[nn2rules.Network, Sequence[Any]]:
    network = nn2rules.load(CHESS / "network.json")
    return network, read_table(CHESS / "rows.csv.gz").rows


def _raw_adult() -> tuple[nn2rules.Network, Sequence[Any]]:
    train, _ = nn2rules.datasets.raw("adult")
    frame = pd.DataFrame(train.columns)
    model = trained((6, 3), frame, train.labels)
    return nn2rules.read_network(model, data=frame), frame.to_dict("records")


NETWORKS: dict[str, Callable[[], tuple[nn2rules.Network, Sequence[Any]]]] = {
    "adult": _adult,
    "chess": _chess,
    "raw Adult 6-3": _raw_adult,
}


def _measured(
    name: str, network: nn2rules.Network, rows: Sequence[Any]
) -> tuple[Any, ...]:
    chosen = [dict(rows[i * len(rows) // ROWS]) for i in range(ROWS)]
    for smallest in (False, True):  # what is compiled is compiled
        nn2rules.explain(network, chosen[0], smallest=smallest)
    times: dict[str, list[float]] = {}
    same = 0
    for row in chosen:
        options: dict[str, dict[str, Any]] = {
            "reason": {"counterfactuals": False, "widen": False},
            "smallest": {"counterfactuals": False, "widen": False, "smallest": True},
            "both": {"widen": False},
        }
        for kind, asked in options.items():
            started = time.perf_counter()
            found = nn2rules.explain(network, row, **asked)
            times.setdefault(kind, []).append(time.perf_counter() - started)
        started = time.perf_counter()
        fewest = fewest_changes(network, row, PATIENCE)
        times.setdefault("solver", []).append(time.perf_counter() - started)
        same += fewest == found.cost
    both = zip(times["both"], times["reason"], strict=True)
    changes = [max(whole - reason, 1e-6) for whole, reason in both]
    return (
        name,
        f"{float(network.domain.n_numbers or 0):.1e}".replace("0.0e+00", "uncounted"),
        _shown(times["reason"]),
        _shown(times["smallest"]),
        _shown(changes),
        _shown(times["solver"]),
        f"{sum(times['solver']) / sum(changes):,.0f}",
        f"{same} of {ROWS}",
    )


def _shown(seconds: Sequence[float]) -> str:
    return f"{1000 * median(seconds):.1f} ms"
