"""What a user sees while work takes its time: a bar, and a word about compiling.

The bar comes after a second, on stderr, and only on a terminal or in a notebook.
"""

import time
import weakref
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from nn2rules.engine.limits import Progress
from nn2rules.errors import OptionError
from nn2rules.space._kernels.compiled import Watch

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichBar
    from rich.progress import TaskID

Shown: TypeAlias = Progress | Literal[False] | None
"""Who is told how far the work is: a function, nobody, or the user, by a bar."""

_PATIENCE = 1.0  # seconds before a bar appears, or a word about compiling
_PAUSE = 0.2  # seconds between two lines of a notebook
_FIRST_LINE = 15.0  # seconds before a line in a log, and at least between two
COMPILING = "compiling kernels, once per machine"


class Bar:
    """A progress bar that appears if the work takes longer than a second.

    If kernels are compiled for longer than that, it says so first.
    """

    def __init__(self, console: "Console") -> None:
        self._console, self._started = console, time.monotonic()
        self._bar: RichBar | None = None
        self._task: TaskID | None = None
        self._watch = Watch(lambda: console.print(COMPILING), _PATIENCE)
        self._watch.start()
        weakref.finalize(self, self._watch.stop)  # an error may come before `close`

    def __call__(self, what: str, share: float) -> None:
        """Show what is being done, and the share that is done."""
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
        """Take the bar away; it is back if the work goes on for a second."""
        if self._bar is not None:
            self._bar.stop()
        self._bar, self._started = None, time.monotonic()

    def close(self) -> None:
        """Take the bar away."""
        self._watch.stop()
        if self._bar is not None:
            self._bar.stop()


class Lines:
    """A line now and then, where nothing can be written anew: in logs and pipes."""

    def __init__(
        self, console: "Console", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console, self._clock = console, clock
        self._started = clock()
        self._next = self._started + _FIRST_LINE

    def __call__(self, what: str, share: float) -> None:
        """Say what is being done, and the share that is done, if it is time."""
        now = self._clock()
        if now >= self._next:
            spent = now - self._started
            self._next = now + max(_FIRST_LINE, spent / 2)
            self._console.print(f"after {spent:.0f} s: {what}, {share:.0%}")


class NotebookBar(Bar):
    """The same in a notebook: a line that is written anew, and taken away at the end.

    The bar of rich would need ipywidgets there, and complains where they are missing.
    """

    def __init__(self, console: "Console") -> None:
        super().__init__(console)
        self._next = time.monotonic() + _PATIENCE
        self._line: Any = None

    def __call__(self, what: str, share: float) -> None:
        """Show what is being done, and the share that is done."""
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
        """Take the line away."""
        super().close()
        if self._line is not None:
            self._line.update({"text/plain": ""}, raw=True)


def teller(shown: Shown) -> Progress | Bar | None:
    """Return who is told how far the work is."""
    if shown is False:
        return None
    if shown is not None:
        if not callable(shown):
            raise OptionError(
                f"progress: {shown!r}, expected a function that is told what is being "
                f"done and the share that is done; or False, for none"
            )
        return shown
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False)
    if not (console.is_terminal or console.is_jupyter):
        return None
    return NotebookBar(console) if console.is_jupyter else Bar(console)
