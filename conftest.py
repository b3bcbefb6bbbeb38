"""Settings of every test run, the examples of the docs included.

Models are trained in tests and docs. These settings make training repeatable on other
processors, and must be there before numpy is.
"""

import os
import signal
from collections.abc import Iterator
from types import FrameType

import pytest

os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")  # the same sums everywhere
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("KERAS_BACKEND", "torch")  # TensorFlow is not needed here

collect_ignore_glob = ["*conftest.py"]  # settings hold no examples, and share one name

_LONGEST = 900
"""Seconds after which a test has failed, however busy the machine is."""


def pytest_configure() -> None:
    """Take Ctrl-C, which shells let background jobs and their children ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """End a test that does not end."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        pytest.fail(f"the test took more than {_LONGEST} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_LONGEST)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
