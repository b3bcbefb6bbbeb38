"""Work of this machine: its threads, and joblib's processes."""

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import joblib

from nn2rules.engine.parallel.place import Place


@contextmanager
def threads(_place: Place) -> Iterator[None]:
    """Have threads of this process."""
    with joblib.parallel_config(backend="threading"):
        yield


@contextmanager
def processes(_place: Place) -> Iterator[None]:
    """Have other processes of this machine."""
    with joblib.parallel_config(backend="loky"):
        try:
            yield
        finally:
            _end_processes()


def _end_processes() -> None:
    """End joblib's processes, and do now what it leaves for the end of this one.

    The command line does not wait for that after Ctrl-C, and a folder that was never
    made would be missed by those who look after such things.
    """
    executor = import_module("joblib.externals.loky.reusable_executor")._executor
    if executor is None:
        return
    executor.shutdown(kill_workers=True)
    folders = getattr(executor, "_temp_folder_manager", None)
    for finalizer in list(getattr(folders, "_finalizers", {}).values()):
        atexit.unregister(finalizer)
        finalizer()
