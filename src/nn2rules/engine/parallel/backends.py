"""What joblib's backends need so that no answer, and no failure, is waited for in vain.

Of a task that Dask gives up, joblib's backend tells nobody, and the work would wait for
ever; of a worker that Dask replaced, nobody hears at all. Ray and Spark could hand over
each result as it comes, and joblib has them wait for each other. Where a cluster has
one worker left, joblib would do its work in this process.
"""

import asyncio
import threading
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import joblib
from joblib.parallel import get_active_backend

from nn2rules.errors import RetryWarning


def active_backend() -> tuple[Any, int | None]:
    """Return the backend that joblib was given, made sound, and how many jobs."""
    backend, n_jobs = get_active_backend(prefer="threads")
    if not hasattr(backend, "_nn2rules"):
        backend._nn2rules = _sound(backend)
    return backend._nn2rules, n_jobs


def jobs_wanted(n_jobs: int | None) -> int:
    """Return how many workers to have: as many as said, or as many as there are.

    Of processes of this machine never more than cores: they would only take memory.
    """
    backend, configured = active_backend()
    wanted = n_jobs or configured or -1
    if type(backend).__name__ in ("LokyBackend", "MultiprocessingBackend"):
        wanted = min(wanted, max(2, joblib.cpu_count()))
    return wanted


def _sound(backend: Any) -> Any:
    """Return a backend that answers to every task, as soon as it is done."""
    kind = type(backend).__name__
    if kind == "LokyBackend":
        forgive_loky()
    if kind == "DaskDistributedBackend":
        return _dask()(client=backend.client, **backend.submit_kwargs)
    if kind == "RayBackend":
        backend.supports_return_generator = True
    if kind == "SparkDistributedBackend":
        backend.supports_retrieve_callback = True
        backend.retrieve_result_callback = _result
        backend.submit = backend.apply_async  # as joblib calls it now
        backend.effective_n_jobs = partial(_two_at_least, backend.effective_n_jobs)
        backend.abort_everything = partial(_cancel, backend)
    return backend


@cache
def forgive_loky() -> None:
    """Keep a harmless error of joblib's own thread from being told with a traceback.

    Work that is dropped while it is handed out is looked for once more after all
    processes were ended, and of course it is not there.
    """
    tell = threading.excepthook

    def told(lost: threading.ExceptHookArgs) -> None:
        is_joblibs = type(lost.thread).__name__ == "_ExecutorManagerThread"
        if not (is_joblibs and lost.exc_type is KeyError):
            tell(lost)

    threading.excepthook = told


def _two_at_least(effective_n_jobs: Callable[[int], int], n_jobs: int) -> int:
    return max(2, effective_n_jobs(n_jobs))


def _result(out: Any) -> Any:
    error = getattr(out, "exc", out)  # as joblib sends it
    if isinstance(error, BaseException):
        raise error
    return out


def _cancel(backend: Any, ensure_ready: bool = True) -> None:  # noqa: ARG001
    """Stop the jobs of Spark; its own way asks joblib for what is no longer there."""
    backend.terminate()


@cache
def _dask() -> Callable[..., Any]:
    """Make the class once Dask is there; joblib imports it."""
    from joblib._dask import DaskDistributedBackend

    class Watched(DaskDistributedBackend):  # type: ignore[misc]
        """Dask's backend: tasks that fail are answered, lost workers are told."""

        _workers: frozenset[str] = frozenset()

        def effective_n_jobs(self, n_jobs: int) -> int:
            return _two_at_least(super().effective_n_jobs, n_jobs)

        async def _collect(self) -> None:
            while self._continue:
                async for future, result in self.waiting_futures:
                    pending = self._results.pop(future)
                    callback = self._callbacks.pop(future)
                    failed = result[1] if future.status == "error" else result
                    if future.status == "finished":
                        pending.set_result(result)
                    else:
                        pending.set_exception(failed)
                    callback(result if future.status == "finished" else failed)
                await asyncio.sleep(0.01)

        def retrieve_result_callback(self, out: Any) -> Any:
            return super().retrieve_result_callback(_result(out))

        def start_call(self) -> None:
            self._workers = frozenset(self.client.nthreads())
            super().start_call()

        def stop_call(self) -> None:
            super().stop_call()
            lost = self._workers - self.client.nthreads().keys()
            if lost:
                warnings.warn(
                    RetryWarning(
                        f"{len(lost)} of {len(self._workers)} Dask workers went away; "
                        f"Dask gave what they had to others"
                    ),
                    stacklevel=2,
                )

    return Watched
