"""Work of Dask."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import joblib

from nn2rules.clusters.place import PATIENCE, Place, library, quiet
from nn2rules.errors import ClusterError


@contextmanager
def dask(place: Place) -> Iterator[None]:
    """Have workers of Dask: those of a scheduler, or some that are started."""
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
    try:
        local = distributed.LocalCluster(
            n_workers=place.workers,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )
    except RuntimeError as error:
        raise ClusterError(
            f"{place.url}: the workers of Dask do not start; in a script, what starts "
            f'them must stand below: if __name__ == "__main__":'
        ) from error
    with local:
        yield local
