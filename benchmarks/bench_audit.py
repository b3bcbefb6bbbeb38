"""Audits: all features, directions, groups and fragile rows, and the page."""

import time
from collections.abc import Sequence
from typing import Any

from bench_explain import NETWORKS
from timing import best_of, markdown

import nn2rules

PROTECTED = {"adult": ["sex"], "raw Adult 6-3": ["sex", "race"]}
SECONDS = 60.0


def audit() -> str:
    """Time of an audit, by table and by search, and of the page with its rules."""
    rows = [_measured(name, *NETWORKS[name]()) for name in PROTECTED]
    header = (
        "network",
        "rows",
        "how",
        "audit",
        "with the page",
        "sex flips",
        "undecided",
    )
    return (
        f"The table is built again each time. Beyond a table, {SECONDS:.0f} s are "
        f"given; directions that stay undecided use what is left of them.\n\n"
        + markdown(header, rows)
    )


def _measured(
    name: str, network: nn2rules.Network, rows: Sequence[Any]
) -> tuple[Any, ...]:
    plain = [{n: row[n] for n in network.domain.names} for row in rows]
    asked: dict[str, Any] = {"protected": PROTECTED[name], "time": SECONDS}
    str(nn2rules.audit(network, plain[:100], **{**asked, "time": 2}))  # compiled
    times = 3 if name == "adult" else 1
    found = nn2rules.audit(network, plain, **asked)
    seconds = best_of(lambda: nn2rules.audit(network, plain, **asked), times)
    started = time.perf_counter()
    str(found)
    page = time.perf_counter() - started
    sex = found.protected["sex"]
    return (
        name,
        f"{len(plain):,}",
        found.how,
        f"{seconds:.2f} s",
        f"{seconds + page:.2f} s",
        f"{sex.rows:,} rows",
        "; ".join(found.undecided) or "nothing",
    )
