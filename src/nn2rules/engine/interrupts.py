"""Ctrl-C, turned into a stop at a place where what is there is right."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from nn2rules.engine.budget import Meter


@contextmanager
def interruptible(meter: Meter) -> Iterator[None]:
    """Let Ctrl-C stop the work when it next looks at `meter`, and not before.

    Compiled code cannot be left with an exception: numba makes a `SystemError` of it.
    So the signal is only noted, and `Meter.spend` raises `KeyboardInterrupt`; at the
    latest it is raised at the end. A second Ctrl-C does not wait, nor does one that
    comes while other processes work. Where the program has its own handler, or in
    another thread than the main one, nothing is changed.
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
