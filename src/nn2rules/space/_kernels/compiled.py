"""How kernels are compiled, and what keeps that short.

Nothing is compiled before it is first asked for, and then kept for all later runs on
the machine. How long the first run takes is a matter of how kernels are written:

* A kernel holds the code of all kernels that it calls, and theirs: what lies five calls
  deep is compiled five times. What one kernel alone calls is `inlined`, so once.
* A kernel is compiled anew for each type of its arguments, and the number -1 in a call
  has a type of its own. Kernels are given `np.int64` numbers, such as `NONE`.
* Whole arrays cost most: sorting, the largest of an array, or assigning one array to
  another, whose error message alone takes a second. Loops cost next to nothing.
"""

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numba.core import event

NONE: Any = np.int64(-1)
NOUGHT: Any = np.int64(0)
ONE: Any = np.int64(1)

_OPTIONS: Any = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}  # C calls none

kernel: Any = njit(**_OPTIONS)
"""Compile a function."""

inlined: Any = njit(inline="always", **_OPTIONS)
"""Make a function part of each kernel that calls it."""


def is_cached(function: Any) -> bool:
    """Tell whether a kernel was compiled on this machine before."""
    cache = getattr(function, "_cache", None)  # absent when the JIT is off
    if cache is None:
        return True
    module = function.py_func.__module__.rpartition(".")[2]
    pattern = f"{module}.{function.py_func.__name__}*.nbi"
    return any(Path(cache.cache_path).glob(pattern))


class Watch(event.Listener):
    """Says so, once, if compiling takes long; from `start` to `stop`.

    Meanwhile no garbage is looked for: compiling makes millions of objects that stay,
    and looking through them again and again takes a seventh of its time.
    """

    def __init__(self, say: Callable[[], None], patience: float) -> None:
        self._say, self._patience = say, patience
        self._depth, self._since, self._said = 0, 0.0, False
        self._watches = self._collects = False

    def start(self) -> None:
        """Watch from now on."""
        event.register("numba:compile", self)
        self._watches = True

    def stop(self) -> None:
        """Watch no longer."""
        if self._watches:
            event.unregister("numba:compile", self)
        self._watches = False

    def on_start(self, _event: event.Event) -> None:
        """Note that a kernel, or one that it calls, is being compiled."""
        if self._depth == 0:
            self._since = self._since or time.monotonic()
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1
        if not self._said and time.monotonic() - self._since >= self._patience:
            self._said = True
            self._say()

    def on_end(self, _event: event.Event) -> None:
        """Note that it is done."""
        self._depth -= 1
        if self._depth == 0 and self._collects:
            gc.enable()
