"""One piece of work from beginning to end: its progress bar, Ctrl-C, and its workers.

The bar comes after a second, on stderr, and only on a terminal or in a notebook.
"""

import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from nn2rules.engine.limits import Meter, Progress
from nn2rules.engine.parallel import shared_workers
from nn2rules.errors import OptionError
from nn2rules.space._kernels.compiled import Watch

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichBar
    from rich.progress import TaskID

ProgressOption: TypeAlias = Progress | Literal[False] | None
"""A progress callback; False for none; None for a progress bar."""

_PATIENCE = 1.0  # seconds before a bar, or the note about compiling, appears
_PAUSE = 0.2  # seconds between two updates in a notebook
_FIRST_LINE = 15.0  # seconds before the first log line; minimum between two
COMPILING = "compiling kernels, once per machine"


class TerminalProgress:
    """A progress bar that appears if the work takes longer than a second.

    If compiling kernels takes longer than that, a note appears first.
    """

    def __init__(self, console: "Console") -> None:
        self._console, self._started = console, time.monotonic()
        self._bar: RichBar | None = None
        self._task: TaskID | None = None
        self._watch = Watch(lambda: console.print(COMPILING), _PATIENCE)
        self._watch.start()
        weakref.finalize(self, self._watch.stop)  # an error may come before `close`

    def __call__(self, what: str, share: float) -> None:
        """Show the current step and the fraction done."""
        if self._bar is None:
            if time.monotonic() - self._started < _PATIENCE:
                return
            self._start()
        assert self._bar is not None, "it was started"
        assert self._task is not None, "it was started"
        self._bar.update(self._task, description=what, completed=share)

    def _start(self) -> None:
        from rich import progress as rich_progress

        self._bar = rich_progress.Progress(
            rich_progress.TextColumn("{task.description}"),
            rich_progress.BarColumn(),
            rich_progress.TaskProgressColumn(),
            rich_progress.TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task("working", total=1.0)
        self._bar.start()

    def pause(self) -> None:
        """Hide the bar; it returns if the work goes on for another second."""
        if self._bar is not None:
            self._bar.stop()
        self._bar, self._started = None, time.monotonic()

    def close(self) -> None:
        """Remove the bar."""
        self._watch.stop()
        if self._bar is not None:
            self._bar.stop()


class LogProgress:
    """Occasional lines of progress for logs and pipes, which cannot be redrawn."""

    def __init__(
        self, console: "Console", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console, self._clock = console, clock
        self._started = clock()
        self._next = self._started + _FIRST_LINE

    def __call__(self, what: str, share: float) -> None:
        """Print the current step and the fraction done, if it is time for a line."""
        now = self._clock()
        if now >= self._next:
            spent = now - self._started
            self._next = now + max(_FIRST_LINE, spent / 2)
            self._console.print(f"after {spent:.0f} s: {what}, {share:.0%}")


class NotebookProgress(TerminalProgress):
    """Progress in a notebook: one line that is redrawn, and removed at the end.

    The progress bar of rich needs ipywidgets there and warns if they are missing.
    """

    def __init__(self, console: "Console") -> None:
        super().__init__(console)
        self._next = time.monotonic() + _PATIENCE
        self._line: Any = None

    def __call__(self, what: str, share: float) -> None:
        """Show the current step and the fraction done."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PAUSE
        text = {"text/plain": f"{what} … {share:.0%}"}
        if self._line is None:
            display = import_module("IPython.display").display
            self._line = display(text, raw=True, display_id=True)
        else:
            self._line.update(text, raw=True)

    def close(self) -> None:
        """Remove the line."""
        super().close()
        if self._line is not None:
            self._line.update({"text/plain": ""}, raw=True)


def progress_callback(shown: ProgressOption) -> Progress | TerminalProgress | None:
    """Return the callback for an option `progress`; None if nothing is shown."""
    if shown is False:
        return None
    if shown is not None:
        if not callable(shown):
            raise OptionError(
                f"progress: {shown!r}, expected a function of the current step and the "
                f"fraction done, or False for no progress"
            )
        return shown
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False)
    if not (console.is_terminal or console.is_jupyter):
        return None
    return (
        NotebookProgress(console) if console.is_jupyter else TerminalProgress(console)
    )


@contextmanager
def interruptible(meter: Meter) -> Iterator[None]:
    """Let Ctrl-C stop the work the next time it checks `meter`, and not before.

    An exception must not leave compiled code: numba turns it into a `SystemError`. So
    the signal is only recorded, and `Meter.spend` raises `KeyboardInterrupt`, or else
    the end of this block does. A second Ctrl-C takes effect at once, and so does one
    that arrives while other processes work. Nothing is changed if the program has its
    own signal handler, or outside of the main thread.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def note(_signal: int, _frame: FrameType | None) -> None:
        is_second, meter.stop.is_asked = meter.stop.is_asked, True
        if is_second or meter.stop.is_waiting:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if meter.stop.is_asked:
        raise KeyboardInterrupt


@contextmanager
def closing_progress(progress: Progress | TerminalProgress | None) -> Iterator[None]:
    """Remove the progress bar at the end, if `progress` is one."""
    try:
        yield
    finally:
        if isinstance(progress, TerminalProgress):
            progress.close()


@contextmanager
def session(
    meter: Meter,
    *,
    progress: Progress | TerminalProgress | None = None,
    n_jobs: int | None = None,
) -> Iterator[None]:
    """Do one piece of work that can be interrupted safely and cleans up after itself.

    Ctrl-C stops the work the next time it checks `meter`. Workers are started once. The
    progress bar is removed at the end: `progress`, or else that of the meter.
    """
    shown = meter.progress if progress is None else progress
    with closing_progress(shown), interruptible(meter), shared_workers(n_jobs):
        yield
