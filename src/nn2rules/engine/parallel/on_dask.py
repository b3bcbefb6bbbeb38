"""Workers of Dask."""

import logging
import multiprocessing
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import joblib

from nn2rules.engine.parallel.place import PATIENCE, Place, library, quiet
from nn2rules.errors import ClusterError


@contextmanager
def dask(place: Place) -> Iterator[None]:
    """Work on Dask: on a running scheduler, or on local workers started here."""
    distributed = library("distributed", place)
    with ExitStack() as stack:
        stack.enter_context(quiet("distributed"))
        address: Any = f"tcp://{place.where}"
        if place.is_local:
            address = stack.enter_context(_dask_here(distributed, place))
        else:
            place.reach()
        client = stack.enter_context(
            distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        )
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise ClusterError(f"{place.url}: the scheduler has no workers") from None
        with joblib.parallel_config(backend="dask", client=client):
            yield


@contextmanager
def _dask_here(distributed: Any, place: Place) -> Iterator[Any]:
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(1)  # a worker that runs the script that starts it; see the error below
    try:
        with _ignoring_ctrl_c():
            local = distributed.LocalCluster(
                n_workers=place.workers,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # with None it would be 8787
                silence_logs=logging.CRITICAL,
            )
    except RuntimeError:
        raise ClusterError(
            f"{place.url}: the Dask workers do not start; in a script, the code that "
            f'starts them must be below: if __name__ == "__main__":'
        ) from None
    with local:
        yield local


@contextmanager
def _ignoring_ctrl_c() -> Iterator[None]:
    """Start processes that ignore Ctrl-C.

    A terminal sends it to all processes, and each of these would print a traceback.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals come to the main thread only
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
