"""A piece of work from beginning to end: its bar, Ctrl-C, and its workers."""

from collections.abc import Iterator
from contextlib import contextmanager

from nn2rules.engine.limits import Meter, Progress, interruptible
from nn2rules.engine.parallel import workers_kept
from nn2rules.engine.progress import Bar


@contextmanager
def closing_bar(progress: Progress | Bar | None) -> Iterator[None]:
    """Take the bar away at the end, if it is one that shows the progress."""
    try:
        yield
    finally:
        if isinstance(progress, Bar):
            progress.close()


@contextmanager
def session(
    meter: Meter,
    *,
    progress: Progress | Bar | None = None,
    n_jobs: int | None = None,
) -> Iterator[None]:
    """Work on one question: stop at a safe place, and leave nothing behind.

    Ctrl-C stops the work when it next looks at `meter`. Workers are started once. At
    the end the bar is taken away: `progress`, or else that of the meter.
    """
    told = meter.progress if progress is None else progress
    with closing_bar(told), interruptible(meter), workers_kept(n_jobs):
        yield
