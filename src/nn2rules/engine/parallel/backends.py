"""What joblib's backends need so that no answer, and no failure, is waited for in vain.

Of a task that Dask gives up, joblib's backend tells nobody, and the work would wait for
ever; of a worker that Dask replaced, nobody hears at all. Ray and Spark could hand over
each result as it comes, and joblib has them wait for each other. Where a cluster has
one worker left, joblib would do its work in this process.

Backends that the user chose stay as they are: work goes to subclasses of theirs, on the
same client or session. Work that joblib's own processes drop while it is handed out may
leave a harmless ``KeyError`` of joblib's thread on standard error: that thread looks
for the work once more, and only a hook for the whole program could keep it quiet.
"""

import asyncio
import warnings
from typing import Any
from weakref import WeakKeyDictionary

import joblib
from joblib.parallel import ParallelBackendBase, get_active_backend

from nn2rules.errors import RetryWarning

_sound_ones: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""Backends that were chosen, and those that take their place."""


def active_backend() -> tuple[Any, int | None]:
    """Return a backend like the one that joblib was given, made sound, and the jobs."""
    backend, n_jobs = get_active_backend(prefer="threads")
    make = _SOUND.get(type(backend).__name__)
    if make is None:
        return backend, n_jobs
    if backend not in _sound_ones:
        _sound_ones[backend] = make(backend)
    return _sound_ones[backend], n_jobs


def jobs_wanted(n_jobs: int | None) -> int:
    """Return how many workers to have: as many as said, or as many as there are.

    Of processes of this machine never more than cores: they would only take memory.
    """
    backend, configured = active_backend()
    wanted = n_jobs or configured or -1
    if type(backend).__name__ in ("LokyBackend", "MultiprocessingBackend"):
        wanted = min(wanted, max(2, joblib.cpu_count()))
    return wanted


class _NeverHere(ParallelBackendBase):  # type: ignore[misc]
    """A backend that joblib does not replace by this process if one worker is left."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        return max(2, int(super().effective_n_jobs(n_jobs)))


class _Dask(_NeverHere):
    """Dask's backend: tasks that fail are answered, lost workers are told."""

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
                    f"{len(lost)} of {len(self._workers)} Dask workers went away; "
                    f"Dask gave what they had to others"
                ),
                stacklevel=2,
            )


class _Ray(ParallelBackendBase):  # type: ignore[misc]
    """Ray's backend: results come one by one."""

    supports_return_generator = True


class _Spark(_NeverHere):
    """Spark's backend: results come one by one, and as joblib asks for them now."""

    supports_retrieve_callback = True

    def submit(self, func: Any, callback: Any = None) -> Any:
        return self.apply_async(func, callback)

    def retrieve_result_callback(self, out: Any) -> Any:
        return _result(out)

    def abort_everything(self, ensure_ready: bool = True) -> None:  # noqa: ARG002
        """Stop the jobs; Spark's own way asks joblib for what is no longer there."""
        self.terminate()


def _result(out: Any) -> Any:
    error = getattr(out, "exc", out)  # as joblib sends it
    if isinstance(error, BaseException):
        raise error
    return out


def _on_dask(backend: Any) -> Any:
    return _kind(_Dask, type(backend))(client=backend.client, **backend.submit_kwargs)


def _on_ray(backend: Any) -> Any:
    return _kind(_Ray, type(backend))(
        nesting_level=backend.nesting_level,
        inner_max_num_threads=backend.inner_max_num_threads,
        ray_remote_args=backend.ray_remote_args,
        **backend.backend_kwargs,
    )


def _on_spark(backend: Any) -> Any:
    kind = _kind(_Spark, type(backend))
    made = kind.__new__(kind)
    vars(made).update(vars(backend))  # its session, and what each task may take
    return made


_SOUND = {
    "DaskDistributedBackend": _on_dask,
    "RayBackend": _on_ray,
    "SparkDistributedBackend": _on_spark,
}


def _kind(sound: type, known: type) -> Any:
    """Return a class of backends: those that are known, made sound."""
    return type(f"Sound{known.__name__}", (sound, known), {})
