"""What workers are asked to do in tests; they find these functions by their names."""

import os
import signal
import time
from pathlib import Path

from nn2rules.engine.flat import flatten
from nn2rules.engine.table import _classify, _limits
from nn2rules.errors import BudgetExceededError, UndecidedError, UnknownValueError


def times(shared, task, _meter):
    return shared * task


def late_first(shared, task, _meter):
    time.sleep(shared if task == 0 else 0.0)
    return task


def whoami(_shared, _task, _meter):
    time.sleep(0.02)
    return os.getpid()


class OddError(Exception):
    """Cannot be pickled, as many are not."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")
        self.lock = open(os.devnull)  # noqa: SIM115


ERRORS = {
    "unknown": lambda: UnknownValueError("color", "blue", ("red", "green"), row=3),
    "budget": lambda: BudgetExceededError("the budget of 3 boxes is spent"),
    "undecided": lambda: UndecidedError({"color": "red"}),
    "value": lambda: ValueError("no such thing", 7),
    "odd": lambda: OddError("this", "that"),
}


def fails(folder, task, _meter):
    """Note that it was asked, and fail on one task."""
    number, name = task
    if name is not None:
        Path(folder, f"asked-{os.getpid()}-{time.monotonic_ns()}").touch()
        raise ERRORS[name]()
    return number


def endless(_shared, task, meter):
    """Work until the meter says that it is enough."""
    while True:
        time.sleep(0.01)
        meter.spend()


def marked(folder, task, _meter):
    """Leave a mark, and sleep."""
    Path(folder, f"{task}-{os.getpid()}").touch()
    time.sleep(30)


def dies_once(marker, task, _meter):
    """End its own process the first time that it comes to a task."""
    if task == 3:
        _die_once(marker)
    return task * task


def dies(_shared, _task, _meter):
    os.kill(os.getpid(), signal.SIGKILL)


def _die_once(marker):
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return
    time.sleep(0.2)  # the others are at work
    os.kill(os.getpid(), signal.SIGKILL)


def classifies(shared, tile, meter):
    """Do what `build_table` does, and die once."""
    network, marker = shared
    if tile[0] > 0:
        _die_once(marker)
    net = flatten(network.layers, network.domain)
    return _classify((net, network, *_limits(network)), tile, meter)
