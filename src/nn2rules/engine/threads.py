"""Work shared out to threads, with results in order and one way to stop."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from joblib import effective_n_jobs

from nn2rules.engine.budget import Stop
from nn2rules.errors import BudgetExceededError

Result = TypeVar("Result")

_LOOK = 0.1  # seconds


def in_threads(
    tasks: Sequence[Callable[[], Result]], n_jobs: int | None, stop: Stop
) -> Generator[Result, None, None]:
    """Yield the result of each task, in order; by default on all cores.

    If one fails, those not begun are left out, and the others are asked to stop. Close
    it when done: it waits for them.
    """
    n_threads = min(effective_n_jobs(-1 if n_jobs is None else n_jobs), len(tasks))
    if n_threads <= 1:
        for task in tasks:
            yield task()
        return
    pool = ThreadPoolExecutor(n_threads)
    try:
        futures = [pool.submit(task) for task in tasks]
        for future in futures:
            while not future.done():  # a signal must not have to wait
                wait([future], timeout=_LOOK)
            yield future.result()
    except (BudgetExceededError, GeneratorExit):
        raise  # a spent budget stops the others, too
    except BaseException:
        stop.is_asked = True
        raise
    finally:
        pool.shutdown(cancel_futures=True)
