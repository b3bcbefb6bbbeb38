"""Work shared out: to threads here, or to whatever workers joblib was given.

All parallel work goes through `spread`. Within ``joblib.parallel_config(backend=…)``
that is processes, or a cluster of Dask, Ray or Spark; otherwise threads of this
process, as kernels let others run beside them. Results come in the order of the tasks,
and a task knows nothing of the others: what is found does not depend on who works.
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
from nn2rules.engine.parallel.worker_pool import Crew
from nn2rules.errors import BudgetExceededError

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")

_LOOK = 0.1  # seconds


def spread(
    work: Callable[[Shared, Task, Meter], Result],
    shared: Shared,
    tasks: Sequence[Task],
    *,
    meter: Meter,
    n_jobs: int | None = None,
) -> Generator[Result, None, None]:
    """Yield what `work` makes of each task, in order; by default on all cores.

    If one fails, those not begun are left out, and the others are asked to stop. Close
    it when done: it waits for them.

    Parameters
    ----------
    work : callable
        Is given what all share, a task, and a meter to look at. A function of a module,
        as other processes find it by its name.
    shared : object
        What all tasks have in common, and none changes.
    tasks : sequence
    meter : Meter
        Its time ends all work.
    n_jobs : int, optional
        How many threads, processes or workers; by default all that there are.

    Raises
    ------
    ClusterError
        If workers die again and again.

    Examples
    --------
    >>> list(spread(_product, 7, [1, 2, 3], meter=Meter()))
    [7, 14, 21]
    """
    with _crew(n_jobs) as crew:
        if crew is None:
            yield from in_threads(work, shared, tasks, meter=meter, n_jobs=n_jobs)
            return
        waiting, at = dict[int, list[Result]](), 0
        for start, results in crew.done(work, shared, tasks, meter):
            waiting[start] = results
            while at in waiting:
                ready = waiting.pop(at)
                yield from ready
                at += len(ready)


def as_done(
    work: Callable[[Shared, Task, Meter], Result],
    shared: Shared,
    tasks: Sequence[Task],
    *,
    meter: Meter,
    n_jobs: int | None = None,
) -> Generator[tuple[int, Result], None, None]:
    """Yield the number of each task and what `work` makes of it, the first done first.

    This is for tasks that take long: each is sent on its own. Otherwise as `spread`.

    Examples
    --------
    >>> sorted(as_done(_product, 7, [1, 2, 3], meter=Meter()))
    [(0, 7), (1, 14), (2, 21)]
    """
    with _crew(n_jobs) as crew:
        if crew is None:
            yield from _threads_as_done(work, shared, tasks, meter, n_jobs)
            return
        for start, results in crew.done(work, shared, tasks, meter, size=1):
            yield start, results[0]


def in_time(results: Generator[Result, None, None]) -> list[Result]:
    """Return the results that came before the time was over.

    Examples
    --------
    >>> in_time(spread(_product, 7, [1, 2, 3], meter=Meter()))
    [7, 14, 21]
    """
    found = []
    with suppress(BudgetExceededError), closing(results):
        for result in results:
            found.append(result)  # noqa: PERF402  one by one, as the next may not come
    return found


def _product(shared: int, task: int, _meter: Meter) -> int:
    return shared * task


def is_away() -> bool:
    """Tell whether work goes to other processes, so that large pieces are better."""
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
    """Do what `spread` does in this process, for work that changes what it is given.

    The threads are our own: joblib looks for results of its own every 10 ms.
    """
    n_threads = _n_threads(tasks, n_jobs)
    if n_threads <= 1:
        for task in tasks:
            yield work(shared, task, meter)
        return
    with _threads(n_threads, meter) as pool:
        futures = [pool.submit(work, shared, task, meter) for task in tasks]
        for future in futures:
            while not future.done():  # a signal must not have to wait
                wait([future], timeout=_LOOK)
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
                    future = done.get(timeout=_LOOK)
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
    """Have threads, which are asked to stop if the work fails."""
    pool = ThreadPoolExecutor(n_threads)
    try:
        yield pool
    except (BudgetExceededError, GeneratorExit):
        raise  # a spent budget stops the others, too
    except BaseException:
        meter.stop.is_asked = True
        raise
    finally:
        pool.shutdown(cancel_futures=True)


_kept: ContextVar[Crew | None] = ContextVar("_kept", default=None)


@contextmanager
def workers_kept(n_jobs: int | None = None) -> Iterator[Crew]:
    """Let all work within share the same workers, which are started once."""
    crew = _kept.get()
    if crew is not None:
        yield crew
        return
    crew = Crew(jobs_wanted(n_jobs))
    token = _kept.set(crew)
    try:
        yield crew
    finally:
        _kept.reset(token)
        crew.close()


@contextmanager
def _crew(n_jobs: int | None) -> Iterator[Crew | None]:
    """Have workers elsewhere; None if the work is to be done here.

    So it is where there is but one worker, and within work that has them all.
    """
    backend, _ = active_backend()
    kept, wanted = _kept.get(), jobs_wanted(n_jobs)
    is_alone = not is_away() or backend.effective_n_jobs(wanted) <= 1
    if is_alone or (kept is not None and kept.is_busy):
        yield None
        return
    crew = kept or Crew(wanted)
    try:
        yield crew
    finally:
        if crew is not kept:
            crew.close()
