"""Distribute tasks to threads, or to the workers of joblib's active backend.

All parallel work goes through `spread`. Within ``joblib.parallel_config(backend=…)`` it
uses processes, or a Dask, Ray or Spark cluster; otherwise threads of this process, as
kernels release the GIL. Results come in the order of the tasks, and tasks do not depend
on each other, so the results do not depend on where they run.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from queue import Empty, SimpleQueue
from typing import TypeVar

from joblib.parallel import get_active_backend

from nn2rules.engine.limits import Meter
from nn2rules.engine.parallel.backends import active_backend, jobs_wanted
from nn2rules.engine.parallel.worker_pool import WorkerPool
from nn2rules.errors import BudgetExceededError

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")

_POLL = 0.1  # seconds


def spread(
    work: Callable[[Shared, Task, Meter], Result],
    shared: Shared,
    tasks: Sequence[Task],
    *,
    meter: Meter,
    n_jobs: int | None = None,
) -> Generator[Result, None, None]:
    """Yield the result of `work` for each task, in order; by default on all cores.

    If a task fails, waiting tasks are dropped and running ones are asked to stop. Close
    the generator when done: it waits for them.

    Parameters
    ----------
    work : callable
        Called with the shared object, a task, and a meter to check. Must be a function
        of a module, as other processes import it by name.
    shared : object
        An object that all tasks use and none changes.
    tasks : sequence
    meter : Meter
        Its time limit ends all work.
    n_jobs : int, optional
        Number of threads, processes or workers; by default all.

    Raises
    ------
    ClusterError
        If workers fail repeatedly.

    Examples
    --------
    >>> list(spread(_product, 7, [1, 2, 3], meter=Meter()))
    [7, 14, 21]
    """
    with _remote_workers(n_jobs) as pool:
        if pool is None:
            yield from in_threads(work, shared, tasks, meter=meter, n_jobs=n_jobs)
            return
        waiting, following = dict[int, list[Result]](), 0
        for start, results in pool.results(work, shared, tasks, meter):
            waiting[start] = results
            while following in waiting:
                ready = waiting.pop(following)
                yield from ready
                following += len(ready)


def as_completed(
    work: Callable[[Shared, Task, Meter], Result],
    shared: Shared,
    tasks: Sequence[Task],
    *,
    meter: Meter,
    n_jobs: int | None = None,
) -> Generator[tuple[int, Result], None, None]:
    """Yield the index and the result of each task, in the order in which they finish.

    For long tasks: each is sent separately. Otherwise the same as `spread`.

    Examples
    --------
    >>> sorted(as_completed(_product, 7, [1, 2, 3], meter=Meter()))
    [(0, 7), (1, 14), (2, 21)]
    """
    with _remote_workers(n_jobs) as pool:
        if pool is None:
            yield from _threads_as_done(work, shared, tasks, meter, n_jobs)
            return
        for start, results in pool.results(work, shared, tasks, meter, size=1):
            yield start, results[0]


def until_time_is_up(results: Generator[Result, None, None]) -> list[Result]:
    """Return the results that arrived before time was up.

    Examples
    --------
    >>> until_time_is_up(spread(_product, 7, [1, 2, 3], meter=Meter()))
    [7, 14, 21]
    """
    arrived = []
    with suppress(BudgetExceededError), closing(results):
        for result in results:
            arrived.append(result)  # noqa: PERF402  the next one may not arrive
    return arrived


def _product(shared: int, task: int, _meter: Meter) -> int:
    return shared * task


def is_remote() -> bool:
    """Return whether work goes to other processes, where large pieces are better."""
    backend, _ = active_backend()
    return not getattr(backend, "supports_sharedmem", False)


def in_threads(
    work: Callable[[Shared, Task, Meter], Result],
    shared: Shared,
    tasks: Sequence[Task],
    *,
    meter: Meter,
    n_jobs: int | None = None,
) -> Generator[Result, None, None]:
    """Do the same as `spread` in this process, for work that changes its arguments.

    This does not use joblib's threads: joblib polls for results every 10 ms.
    """
    n_threads = _n_threads(tasks, n_jobs)
    if n_threads <= 1:
        for task in tasks:
            yield work(shared, task, meter)
        return
    with _threads(n_threads, meter) as pool:
        futures = [pool.submit(work, shared, task, meter) for task in tasks]
        for future in futures:
            while not future.done():  # so that signals are handled
                wait([future], timeout=_POLL)
            yield future.result()


def _threads_as_done(
    work: Callable[[Shared, Task, Meter], Result],
    shared: Shared,
    tasks: Sequence[Task],
    meter: Meter,
    n_jobs: int | None,
) -> Iterator[tuple[int, Result]]:
    done = SimpleQueue[Future[Result]]()
    with _threads(max(1, _n_threads(tasks, n_jobs)), meter) as pool:
        numbers = {
            pool.submit(work, shared, task, meter): n for n, task in enumerate(tasks)
        }
        for future in numbers:
            future.add_done_callback(done.put)
        for _ in tasks:
            while True:
                try:
                    future = done.get(timeout=_POLL)
                    break
                except Empty:
                    meter.spend()
            yield numbers[future], future.result()


def _n_threads(tasks: Sequence[Task], n_jobs: int | None) -> int:
    backend, configured = get_active_backend(require="sharedmem")
    n_threads = int(backend.effective_n_jobs(n_jobs or configured or -1))
    return min(n_threads, len(tasks))


@contextmanager
def _threads(n_threads: int, meter: Meter) -> Iterator[ThreadPoolExecutor]:
    """Provide threads, which are asked to stop if the work fails."""
    pool = ThreadPoolExecutor(n_threads)
    try:
        yield pool
    except (BudgetExceededError, GeneratorExit):
        raise  # the other threads see the spent budget themselves
    except BaseException:
        meter.stop.is_asked = True
        raise
    finally:
        pool.shutdown(cancel_futures=True)


_kept: ContextVar[WorkerPool | None] = ContextVar("_kept", default=None)


@contextmanager
def shared_workers(n_jobs: int | None = None) -> Iterator[WorkerPool]:
    """Start workers once, and share them among all work in this block."""
    pool = _kept.get()
    if pool is not None:
        yield pool
        return
    pool = WorkerPool(jobs_wanted(n_jobs))
    token = _kept.set(pool)
    try:
        yield pool
    finally:
        _kept.reset(token)
        pool.close()


@contextmanager
def _remote_workers(n_jobs: int | None) -> Iterator[WorkerPool | None]:
    """Provide remote workers; None if the work is to be done in this process.

    That is so if there is only one worker, or if all of them are busy with outer work.
    """
    backend, _ = active_backend()
    kept, wanted = _kept.get(), jobs_wanted(n_jobs)
    is_local = not is_remote() or backend.effective_n_jobs(wanted) <= 1
    if is_local or (kept is not None and kept.is_busy):
        yield None
        return
    pool = kept or WorkerPool(wanted)
    try:
        yield pool
    finally:
        if pool is not kept:
            pool.close()
