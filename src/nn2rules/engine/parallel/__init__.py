"""Where work is done: other processes, or a cluster of Dask, Ray or Spark."""

from nn2rules.engine.parallel.cluster import cluster
from nn2rules.engine.parallel.spread import (
    as_done,
    in_threads,
    in_time,
    is_away,
    spread,
    workers_kept,
)

__all__ = [
    "as_done",
    "cluster",
    "in_threads",
    "in_time",
    "is_away",
    "spread",
    "workers_kept",
]
