"""Parallel work: threads, processes, or a Dask, Ray or Spark cluster, through joblib.

`spread` distributes tasks; `cluster` chooses where they run, at an address that `place`
reads. `worker_pool` sends tasks to remote workers and repeats those that are lost;
`backends` has what `on_dask`, `on_ray` and `on_spark` report of each of them.
"""

from nn2rules.engine.parallel.cluster import cluster
from nn2rules.engine.parallel.spread import (
    as_completed,
    in_threads,
    is_remote,
    shared_workers,
    spread,
    until_time_is_up,
)

__all__ = [
    "as_completed",
    "cluster",
    "in_threads",
    "is_remote",
    "shared_workers",
    "spread",
    "until_time_is_up",
]
