"""Remote workers: what is sent to them, what they return, and recovery from failures.

A piece of work is a few pickled tasks. The object that all tasks share is sent with the
first pieces that need it and kept by the workers; a worker that does not have it
replies so, and gets it. Errors of a task are part of its reply. So any other error
means that a worker was lost, and the pieces without a reply are repeated.
"""

import pickle
import re
import sys
import threading
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple

import joblib

from nn2rules.engine.limits import Budget, Meter
from nn2rules.engine.parallel.backends import active_backend
from nn2rules.errors import BudgetExceededError, ClusterError, RetryWarning
from nn2rules.version import __version__

Work = Callable[[Any, Any, Meter], Any]

_TRIES = 4
_PIECES = 4  # per worker, so that none waits long for the last one
_REMEMBERED = 4
_MAX_MESSAGE = 200  # characters of a library's error message


class _Reply(NamedTuple):
    """What a worker returns: results, or an error of the work, or neither.

    Neither means that the worker does not have the shared object. `n_lost` workers
    were lost with this piece before, as far as the cluster reports it.
    """

    start: int
    results: bytes | None = None
    error: BaseException | None = None
    n_lost: int = 0


_shared_objects: dict[str, Any] = {}
"""In a worker: the shared objects of the last few jobs."""

_shared_lock = threading.Lock()


def _run_piece(
    start: int, key: str, packed: bytes | None, piece: bytes, budget: Budget
) -> _Reply:
    """Do a piece of work in a worker."""
    try:
        version, payload = pickle.loads(piece)
        if version != __version__:
            message = f"a worker has nn2rules {__version__}, this process {version}"
            raise ClusterError(f"{message}; install the same version everywhere")  # noqa: TRY301
        shared = _shared_of(key, packed)
        if shared is None:
            return _Reply(start)
        work, tasks = pickle.loads(payload)
        meter = Meter(budget)
        with joblib.parallel_config(backend="threading", n_jobs=1):
            results = [work(shared[0], task, meter) for task in tasks]
        packed = pickle.dumps(results, pickle.HIGHEST_PROTOCOL)
        return _Reply(start, packed, n_lost=_n_lost())
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  raised by the caller
        return _Reply(start, error=_portable(error))


def _shared_of(key: str, packed: bytes | None) -> tuple[Any] | None:
    """Return the shared object in a tuple; None if this worker does not have it."""
    with _shared_lock:  # a Dask worker may have several threads
        if key not in _shared_objects:
            if packed is None:
                return None
            while len(_shared_objects) >= _REMEMBERED:
                _shared_objects.pop(next(iter(_shared_objects)))
            _shared_objects[key] = pickle.loads(zlib.decompress(packed))
        return (_shared_objects[key],)


def _n_lost() -> int:
    """Return how many workers Spark lost over this piece; only the task can see it."""
    spark = sys.modules.get("pyspark")
    context = None if spark is None else spark.TaskContext.get()
    return 0 if context is None else int(context.attemptNumber())


def _portable(error: BaseException) -> BaseException:
    """Return an error that can be pickled: itself, if possible."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001  pickling may fail in any way
        return ClusterError(f"a worker failed with {type(error).__name__}: {error}")
    return error


@dataclass(slots=True)
class Traffic:
    """How many bytes were sent and received, and how many pieces were repeated."""

    sent: int = 0
    received: int = 0
    n_pieces: int = 0
    n_retried: int = 0


class _Job(NamedTuple):
    """Pieces of work by the index of their first task, and the shared object."""

    pieces: Mapping[int, bytes]
    key: str
    packed: bytes
    meter: Meter


@dataclass(slots=True)
class WorkerPool:
    """Remote workers, started once."""

    n_jobs: int
    traffic: Traffic = field(default_factory=Traffic)
    is_busy: bool = False
    _parallel: Any = None
    _sent: set[str] = field(default_factory=set)
    _packed: tuple[Any, str, bytes] | None = None  # the last shared object

    def results(
        self,
        work: Work,
        shared: Any,
        tasks: Sequence[Any],
        meter: Meter,
        *,
        size: int | None = None,
    ) -> Iterator[tuple[int, list[Any]]]:
        """Yield lists of results, each with the index of its first task, in any order.

        `size` is the number of tasks per piece; by default the pieces are few.
        """
        meter.spend()  # nothing is sent if time is up
        key, packed = self._shared(shared)
        n_pieces = (
            _PIECES * self.n_workers() if size is None else -(-len(tasks) // size)
        )
        pieces = {
            start: _piece(work, tasks[start:stop])
            for start, stop in _cut(len(tasks), n_pieces)
        }
        self.is_busy = True
        try:
            yield from self._run(_Job(pieces, key, packed, meter))
        except BaseException:
            self.close()
            raise
        finally:
            self.is_busy = False

    def _shared(self, shared: Any) -> tuple[str, bytes]:
        if self._packed is None or self._packed[0] is not shared:
            packed = zlib.compress(pickle.dumps(shared, pickle.HIGHEST_PROTOCOL), 1)
            self._packed = shared, sha256(packed).hexdigest(), packed
        return self._packed[1:]

    def n_workers(self) -> int:
        """Return the number of workers."""
        return max(1, int(active_backend()[0].effective_n_jobs(self.n_jobs)))

    def _run(self, job: _Job) -> Iterator[tuple[int, list[Any]]]:
        left, failures = dict(job.pieces), 0
        needs_shared = job.key not in self._sent
        self._sent.add(job.key)
        while left:
            n_full, needs_shared = self.n_workers() if needs_shared else 0, False
            try:
                for reply in self._replies(job, left, n_full):
                    if reply.results is None:
                        needs_shared = True
                        continue
                    failures = 0
                    if reply.n_lost:
                        self._warn("Spark lost a worker", 1, len(job.pieces))
                    self.traffic.received += len(reply.results)
                    del left[reply.start]
                    yield reply.start, pickle.loads(reply.results)
            except _Raised as raised:
                if isinstance(raised.error, BudgetExceededError):
                    job.meter.spend()  # its message states the full budget
                raise raised.error from None
            except _Lost as lost:
                is_given_up = type(lost.error).__name__ == "KilledWorker"  # by Dask
                failures = _TRIES if is_given_up else failures + 1
                self.close()
                needs_shared = True
                self._report_failure(len(left), len(job.pieces), lost.error, failures)

    def _replies(
        self, job: _Job, left: Mapping[int, bytes], n_full: int
    ) -> Iterator[_Reply]:
        """Yield the replies to pieces; the time limit counts from when each is sent.

        The first `n_full` pieces carry the shared object, one for each worker. A worker
        that gets none of them and does not have it replies so.
        """
        calls = [
            (start, job.key, job.packed if number < n_full else None, piece)
            for number, (start, piece) in enumerate(left.items())
        ]
        self.traffic.sent += sum(len(call[3]) + len(call[2] or b"") for call in calls)
        self.traffic.n_pieces += len(calls)
        delayed = joblib.delayed(_run_piece)
        try:
            with job.meter.stop.waiting():
                sent = (delayed(*call, job.meter.left()) for call in calls)
                replies = iter(self._open()(sent))
        except Exception as error:
            raise _Lost(error) from error
        try:
            while True:
                job.meter.spend()
                reply = self._next(replies, job.meter)
                if reply is None:
                    return
                if reply.error is not None:
                    raise _Raised(reply.error)
                yield reply
        finally:
            _drop(replies)

    def _next(self, replies: Iterator[_Reply], meter: Meter) -> _Reply | None:
        try:
            with meter.stop.waiting():
                return next(replies, None)
        except Exception as error:
            raise _Lost(error) from error

    def _open(self) -> Any:
        """Return joblib's workers; pieces are sent as workers become free."""
        if self._parallel is None:
            backend, _ = active_backend()
            streams = backend.supports_return_generator
            self._parallel = joblib.Parallel(
                n_jobs=self.n_jobs,
                backend=backend,
                batch_size=1,
                pre_dispatch="n_jobs",
                return_as="generator_unordered" if streams else "list",
            )
            self._parallel.__enter__()
        return self._parallel

    def _report_failure(
        self, n_left: int, n_pieces: int, error: Exception, failures: int
    ) -> None:
        """Warn that work is repeated, or raise after too many failures."""
        reason = _reason(error)
        if failures == _TRIES:
            raise ClusterError(
                f"giving up after {_TRIES} worker failures; last error: {reason}"
            ) from error
        self._warn(f"a worker was lost ({reason})", n_left, n_pieces)

    def _warn(self, what: str, n_again: int, n_pieces: int) -> None:
        self.traffic.n_retried += n_again
        message = f"{what}; {n_again} of {n_pieces} pieces of work are repeated"
        warnings.warn(RetryWarning(message), stacklevel=2)

    def close(self) -> None:
        """Release the workers."""
        parallel, self._parallel = self._parallel, None
        if parallel is not None:
            with suppress(Exception):  # they may be gone
                parallel.__exit__(None, None, None)


def _drop(replies: Any) -> None:
    """Discard outstanding replies, about which joblib would warn."""
    with suppress(Exception), warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="joblib")
        getattr(replies, "close", list)()


class _Raised(Exception):  # noqa: N818  internal
    """An error that the work itself raised in a worker."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class _Lost(Exception):  # noqa: N818  internal
    """An error that a cluster raised because a worker was lost."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


def _piece(work: Work, tasks: Sequence[Any]) -> bytes:
    """Pickle tasks; any version must be able to read the version."""
    payload = pickle.dumps((work, list(tasks)), pickle.HIGHEST_PROTOCOL)
    return pickle.dumps((__version__, payload), pickle.HIGHEST_PROTOCOL)


def _reason(error: Exception) -> str:
    """Return the first sentence of an error message; Spark's has the reason last."""
    in_java = getattr(error, "java_exception", None)
    text = str(error if in_java is None else in_java.getMessage()).strip()
    first = re.split(r"\.\s|\n", text, maxsplit=1)[0].rstrip(".")
    return first.rpartition("Exception: ")[2][:_MAX_MESSAGE] or type(error).__name__


def _cut(total: int, n_pieces: int) -> list[tuple[int, int]]:
    """Cut tasks into pieces of about the same size."""
    n_pieces = min(total, n_pieces)
    edges = [total * i // n_pieces for i in range(n_pieces + 1)] if total else [0]
    return list(pairwise(edges))
