"""Work of Ray."""

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
    """Have workers of Ray: those of a cluster, or some that are started."""
    engine = library("ray", place)
    register = library("ray.util.joblib", place).register_ray
    if place.where not in (LOCAL, AUTO):
        place.reach()
    with quiet("ray"), _no_word_of_raylets():
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
    with warnings_off(), _no_word_to_others():
        engine.init(log_to_driver=False, logging_level=logging.CRITICAL, **options)


@contextmanager
def _no_word_to_others() -> Iterator[None]:
    """Keep a Ray that is started from telling its makers how it is used."""
    name = "RAY_USAGE_STATS_ENABLED"
    was_said = name in os.environ
    os.environ.setdefault(name, "0")
    try:
        yield
    finally:
        if not was_said:
            del os.environ[name]


@contextmanager
def _no_word_of_raylets() -> Iterator[None]:
    """Keep Ray from writing to the standard output that a worker died."""
    worker: Any = import_module("ray._private.worker")
    before = worker.print_to_stdstream
    worker.print_to_stdstream = lambda *_args, **_options: None
    try:
        yield
    finally:
        worker.print_to_stdstream = before
