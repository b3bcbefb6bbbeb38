"""Where work is done: other processes, or a cluster of Dask, Ray or Spark."""

from nn2rules.clusters.entry import cluster

__all__ = ["cluster"]
