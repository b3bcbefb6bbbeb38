"""Subclasses of joblib's cluster backends that report every result and every failure.

When Dask gives up a task, joblib's backend does not report it, and the work would hang;
when Dask replaces a worker, nothing is reported at all. Ray and Spark can return each
result as it arrives, but joblib makes results wait for each other. And joblib works in
this process once a cluster has a single worker left.

The user's own backend object is not changed: work runs on a subclass of it, with the
same client or session. When joblib's own processes drop work while it is dispatched, a
harmless ``KeyError`` of joblib's thread may appear on standard error. Only a hook for
the whole program could hide it.
"""

import asyncio
import warnings
from typing import Any
from weakref import WeakKeyDictionary

import joblib
from joblib.parallel import ParallelBackendBase, get_active_backend

from nn2rules.errors import RetryWarning

_reliable: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The user's backends, and those that replace them."""


def active_backend() -> tuple[Any, int | None]:
    """Return the reliable version of joblib's active backend, and its job count."""
    backend, n_jobs = get_active_backend(prefer="threads")
    make = _RELIABLE.get(type(backend).__name__)
    if make is None:
        return backend, n_jobs
    if backend not in _reliable:
        _reliable[backend] = make(backend)
    return _reliable[backend], n_jobs


def jobs_wanted(n_jobs: int | None) -> int:
    """Return the number of workers: as requested, or else all that there are.

    Never more local processes than cores: they would only take memory.
    """
    backend, configured = active_backend()
    wanted = n_jobs or configured or -1
    if type(backend).__name__ in ("LokyBackend", "MultiprocessingBackend"):
        wanted = min(wanted, max(2, joblib.cpu_count()))
    return wanted


class _AlwaysRemote(ParallelBackendBase):  # type: ignore[misc]
    """A backend that keeps working remotely when a single worker is left."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        return max(2, int(super().effective_n_jobs(n_jobs)))


class _Dask(_AlwaysRemote):
    """Dask's backend, which also reports failed tasks and lost workers."""

    _workers: frozenset[str] = frozenset()

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
                    f"{len(lost)} of {len(self._workers)} Dask workers were lost; Dask "
                    f"gave their tasks to others"
                ),
                stacklevel=2,
            )


class _Ray(ParallelBackendBase):  # type: ignore[misc]
    """Ray's backend, which returns results one by one."""

    supports_return_generator = True


class _Spark(_AlwaysRemote):
    """Spark's backend, which returns results one by one, with joblib's current API."""

    supports_retrieve_callback = True

    def submit(self, func: Any, callback: Any = None) -> Any:
        return self.apply_async(func, callback)

    def retrieve_result_callback(self, out: Any) -> Any:
        return _result(out)

    def abort_everything(self, ensure_ready: bool = True) -> None:  # noqa: ARG002
        """Stop the jobs; Spark's own method uses attributes that joblib removed."""
        self.terminate()


def _result(out: Any) -> Any:
    error = getattr(out, "exc", out)  # the wrapper in which joblib sends errors
    if isinstance(error, BaseException):
        raise error
    return out


def _on_dask(backend: Any) -> Any:
    return _subclass(_Dask, type(backend))(
        client=backend.client, **backend.submit_kwargs
    )


def _on_ray(backend: Any) -> Any:
    return _subclass(_Ray, type(backend))(
        nesting_level=backend.nesting_level,
        inner_max_num_threads=backend.inner_max_num_threads,
        ray_remote_args=backend.ray_remote_args,
        **backend.backend_kwargs,
    )


def _on_spark(backend: Any) -> Any:
    subclass = _subclass(_Spark, type(backend))
    reliable = subclass.__new__(subclass)
    vars(reliable).update(vars(backend))  # its session and resource settings
    return reliable


_RELIABLE = {
    "DaskDistributedBackend": _on_dask,
    "RayBackend": _on_ray,
    "SparkDistributedBackend": _on_spark,
}


def _subclass(mixin: type, backend: type) -> Any:
    """Return a subclass of a backend with some methods replaced."""
    return type(f"Reliable{backend.__name__}", (mixin, backend), {})
