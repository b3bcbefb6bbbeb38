"""Workers elsewhere: what they are sent, what they answer, and what if one is lost.

A piece of work is a few tasks, pickled. What all tasks share goes with the pieces of
the first work that needs it, and stays in the workers; one that does not have it says
so, and gets it. A task answers for itself, also if it fails, so an error that comes any
other way is the end of a worker, and the pieces that have no answer are done again.
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
_PIECES = 4  # for each worker, so that none waits long for the last
_REMEMBERED = 4
_MOST_SAID = 200  # characters of an engine's message


class _Answer(NamedTuple):
    """What a worker sends back: results, or an error of the work, or neither.

    Neither says that the worker does not have what the tasks share. `n_lost` workers
    had the piece before, as far as their engine tells.
    """

    start: int
    results: bytes | None = None
    error: BaseException | None = None
    n_lost: int = 0


_known: dict[str, Any] = {}
"""In a worker: what tasks share, of the last few jobs."""

_known_lock = threading.Lock()


def _answered(
    start: int, key: str, packed: bytes | None, piece: bytes, budget: Budget
) -> _Answer:
    """Do a piece of work in a worker."""
    try:
        version, said = pickle.loads(piece)
        if version != __version__:
            message = f"a worker has nn2rules {__version__}, and this is {version}"
            raise ClusterError(f"{message}; install the same on all")  # noqa: TRY301
        found = _shared_of(key, packed)
        if found is None:
            return _Answer(start)
        work, tasks = pickle.loads(said)
        meter = Meter(budget)
        with joblib.parallel_config(backend="threading", n_jobs=1):
            results = [work(found[0], task, meter) for task in tasks]
        packed = pickle.dumps(results, pickle.HIGHEST_PROTOCOL)
        return _Answer(start, packed, n_lost=_n_lost())
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  raised at home
        return _Answer(start, error=_portable(error))


def _shared_of(key: str, packed: bytes | None) -> tuple[Any] | None:
    """Return what tasks share, or None if this worker does not have it."""
    with _known_lock:  # a worker of Dask may have several threads
        if key not in _known:
            if packed is None:
                return None
            while len(_known) >= _REMEMBERED:
                _known.pop(next(iter(_known)))
            _known[key] = pickle.loads(zlib.decompress(packed))
        return (_known[key],)


def _n_lost() -> int:
    """Return how many workers Spark lost over this piece: it tells only them."""
    spark = sys.modules.get("pyspark")
    context = None if spark is None else spark.TaskContext.get()
    return 0 if context is None else int(context.attemptNumber())


def _portable(error: BaseException) -> BaseException:
    """Return an error that can be sent: itself, if it can."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001  whatever its maker did
        return ClusterError(f"a worker failed with {type(error).__name__}: {error}")
    return error


@dataclass(slots=True)
class Traffic:
    """What went to workers and back, in bytes, and what was lost with one of them."""

    sent: int = 0
    received: int = 0
    n_pieces: int = 0
    n_retried: int = 0


class _Job(NamedTuple):
    """Pieces of work, by where they start, and what they share."""

    pieces: Mapping[int, bytes]
    key: str
    packed: bytes
    meter: Meter


@dataclass(slots=True)
class Crew:
    """The workers of some work, started once."""

    n_jobs: int
    traffic: Traffic = field(default_factory=Traffic)
    is_busy: bool = False
    _parallel: Any = None
    _sent: set[str] = field(default_factory=set)
    _packed: tuple[Any, str, bytes] | None = None  # of what was shared last

    def done(
        self,
        work: Work,
        shared: Any,
        tasks: Sequence[Any],
        meter: Meter,
        *,
        size: int | None = None,
    ) -> Iterator[tuple[int, list[Any]]]:
        """Yield results and where they start, in any order; by default in few pieces.

        `size` is how many tasks a piece has.
        """
        meter.spend()  # nobody is called for work that has no time
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
            yield from self._done(_Job(pieces, key, packed, meter))
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
        """Return how many there are."""
        return max(1, int(active_backend()[0].effective_n_jobs(self.n_jobs)))

    def _done(self, job: _Job) -> Iterator[tuple[int, list[Any]]]:
        left, failures = dict(job.pieces), 0
        is_lacking = job.key not in self._sent
        self._sent.add(job.key)
        while left:
            n_full, is_lacking = self.n_workers() if is_lacking else 0, False
            try:
                for answer in self._answers(job, left, n_full):
                    if answer.results is None:
                        is_lacking = True
                        continue
                    failures = 0
                    if answer.n_lost:
                        self._warn("Spark lost a worker", 1, len(job.pieces))
                    self.traffic.received += len(answer.results)
                    del left[answer.start]
                    yield answer.start, pickle.loads(answer.results)
            except _Raised as raised:
                if isinstance(raised.error, BudgetExceededError):
                    job.meter.spend()  # it knows the whole budget
                raise raised.error from None
            except _Lost as lost:
                is_given_up = type(lost.error).__name__ == "KilledWorker"  # by Dask
                failures = _TRIES if is_given_up else failures + 1
                self.close()
                is_lacking = True
                self._tell(len(left), len(job.pieces), lost.error, failures)

    def _answers(
        self, job: _Job, left: Mapping[int, bytes], n_full: int
    ) -> Iterator[_Answer]:
        """Yield what workers answer to pieces; their time counts from when they go.

        The first `n_full` pieces bring what all share, one for each worker; whoever
        gets none of them, and lacks it, says so.
        """
        calls = [
            (start, job.key, job.packed if number < n_full else None, piece)
            for number, (start, piece) in enumerate(left.items())
        ]
        self.traffic.sent += sum(len(call[3]) + len(call[2] or b"") for call in calls)
        self.traffic.n_pieces += len(calls)
        delayed = joblib.delayed(_answered)
        try:
            with job.meter.stop.waiting():
                sent = (delayed(*call, job.meter.left()) for call in calls)
                answers = iter(self._open()(sent))
        except Exception as error:
            raise _Lost(error) from error
        try:
            while True:
                job.meter.spend()
                answer = self._next(answers, job.meter)
                if answer is None:
                    return
                if answer.error is not None:
                    raise _Raised(answer.error)
                yield answer
        finally:
            _drop(answers)

    def _next(self, answers: Iterator[_Answer], meter: Meter) -> _Answer | None:
        try:
            with meter.stop.waiting():
                return next(answers, None)
        except Exception as error:
            raise _Lost(error) from error

    def _open(self) -> Any:
        """Return joblib's workers; pieces are sent as these become free."""
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

    def _tell(
        self, n_left: int, n_pieces: int, error: Exception, failures: int
    ) -> None:
        """Say that work is done again, or, at last, that it cannot be done."""
        said = _said(error)
        if failures == _TRIES:
            raise ClusterError(
                f"workers failed {_TRIES} times at the same work, at last with: {said}"
            ) from error
        self._warn(f"a worker was lost ({said})", n_left, n_pieces)

    def _warn(self, what: str, n_again: int, n_pieces: int) -> None:
        self.traffic.n_retried += n_again
        message = f"{what}; {n_again} of {n_pieces} pieces of work done again"
        warnings.warn(RetryWarning(message), stacklevel=2)

    def close(self) -> None:
        """Let the workers go."""
        parallel, self._parallel = self._parallel, None
        if parallel is not None:
            with suppress(Exception):  # they may be gone
                parallel.__exit__(None, None, None)


def _drop(answers: Any) -> None:
    """Let go of what is still to come; joblib would warn of it."""
    with suppress(Exception), warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="joblib")
        getattr(answers, "close", list)()


class _Raised(Exception):  # noqa: N818  no error of ours
    """An error that the work itself raised, elsewhere."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class _Lost(Exception):  # noqa: N818  no error of ours
    """Whatever an engine raises when a worker is gone."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


def _piece(work: Work, tasks: Sequence[Any]) -> bytes:
    """Pack tasks; another version must be able to read which version it is."""
    said = pickle.dumps((work, list(tasks)), pickle.HIGHEST_PROTOCOL)
    return pickle.dumps((__version__, said), pickle.HIGHEST_PROTOCOL)


def _said(error: Exception) -> str:
    """Return the first sentence of an engine's message; Spark's has the reason last."""
    in_java = getattr(error, "java_exception", None)
    text = str(error if in_java is None else in_java.getMessage()).strip()
    first = re.split(r"\.\s|\n", text, maxsplit=1)[0].rstrip(".")
    return first.rpartition("Exception: ")[2][:_MOST_SAID] or type(error).__name__


def _cut(total: int, n_pieces: int) -> list[tuple[int, int]]:
    """Cut so many tasks into pieces of about the same size."""
    n_pieces = min(total, n_pieces)
    edges = [total * i // n_pieces for i in range(n_pieces + 1)] if total else [0]
    return list(pairwise(edges))
