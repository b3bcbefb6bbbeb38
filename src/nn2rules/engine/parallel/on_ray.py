"""Workers of Ray."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import joblib

from nn2rules.engine.parallel.place import (
    AUTO,
    LOCAL,
    Place,
    library,
    quiet,
    warnings_off,
)
from nn2rules.errors import ClusterError


@contextmanager
def ray(place: Place) -> Iterator[None]:
    """Work on Ray: on a running cluster, or on local workers started here."""
    engine = library("ray", place)
    register = library("ray.util.joblib", place).register_ray
    if place.where not in (LOCAL, AUTO):
        place.reach()
    with quiet("ray"), _no_worker_messages():
        was_there = engine.is_initialized() and place.where == AUTO
        if not was_there:
            _start(engine, place)
        register()
        try:
            n_jobs = int(engine.cluster_resources().get("CPU", 0))
            if not n_jobs:
                raise ClusterError(f"{place.url}: the cluster has no workers")
            with joblib.parallel_config(backend="ray", n_jobs=n_jobs):
                yield
        finally:
            if not was_there:
                engine.shutdown()


def _start(engine: Any, place: Place) -> None:
    options: dict[str, Any] = {"address": place.url}
    if place.where in (LOCAL, AUTO):
        options["address"] = place.where
    if place.is_local:
        options |= {"num_cpus": place.workers, "include_dashboard": False}
    with warnings_off(), _no_usage_statistics():
        engine.init(log_to_driver=False, logging_level=logging.CRITICAL, **options)


@contextmanager
def _no_usage_statistics() -> Iterator[None]:
    """Turn off the usage statistics that Ray sends."""
    name = "RAY_USAGE_STATS_ENABLED"
    was_set = name in os.environ
    os.environ.setdefault(name, "0")
    try:
        yield
    finally:
        if not was_set:
            del os.environ[name]


@contextmanager
def _no_worker_messages() -> Iterator[None]:
    """Keep Ray from printing to standard output that a worker died."""
    worker: Any = import_module("ray._private.worker")
    before = worker.print_to_stdstream
    worker.print_to_stdstream = lambda *_args, **_options: None
    try:
        yield
    finally:
        worker.print_to_stdstream = before
