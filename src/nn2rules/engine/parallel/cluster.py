"""`cluster`: choose where work runs, on this machine or on a cluster."""

import atexit
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module

import joblib

from nn2rules.engine.parallel.on_dask import dask
from nn2rules.engine.parallel.on_ray import ray
from nn2rules.engine.parallel.on_spark import spark
from nn2rules.engine.parallel.place import Place, read_place
from nn2rules.errors import ClusterError, Nn2RulesError


@contextmanager
def _threads(_place: Place) -> Iterator[None]:
    """Work in threads of this process."""
    with joblib.parallel_config(backend="threading"):
        yield


@contextmanager
def _processes(_place: Place) -> Iterator[None]:
    """Work in other processes of this machine."""
    with joblib.parallel_config(backend="loky"):
        try:
            yield
        finally:
            _end_processes()


def _end_processes() -> None:
    """End joblib's processes, and run its clean-up now instead of at exit.

    After Ctrl-C the command line does not wait for clean-up at exit, and joblib's
    resource tracker would then warn about temporary folders.
    """
    executor = import_module("joblib.externals.loky.reusable_executor")._executor
    if executor is None:
        return
    executor.shutdown(kill_workers=True)
    folders = getattr(executor, "_temp_folder_manager", None)
    for finalizer in list(getattr(folders, "_finalizers", {}).values()):
        atexit.unregister(finalizer)
        finalizer()


_KINDS: dict[str, Callable[[Place], AbstractContextManager[None]]] = {
    "threads": _threads,
    "processes": _processes,
    "dask": dask,
    "ray": ray,
    "spark": spark,
}

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def _same_signals() -> Iterator[None]:
    """Restore the signal handlers at the end: Spark replaces them for good."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals come to the main thread only
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # set from Python
                signal.signal(number, handler)


@contextmanager
def cluster(url: str) -> Iterator[None]:
    """Run all work of this block on a cluster; the results are the same.

    Parameters
    ----------
    url : str
        ``dask://HOST:PORT`` is a Dask scheduler, ``ray://HOST:PORT`` a Ray cluster,
        ``ray://auto`` the Ray cluster of this machine, and ``spark://HOST:PORT`` a
        Spark master. With ``local`` in place of the address, a cluster is started on
        this machine and stopped at the end. It has one worker per core, or the number
        given, as in ``dask://local?workers=4``. ``processes`` means worker processes
        on this machine without a cluster, and ``threads`` means threads of this
        process, which is the default.

    Raises
    ------
    ClusterError
        If the address cannot be reached, or the cluster has no workers.
    MissingExtraError
        If the library is not installed. The workers need it, too, and the same version
        of nn2rules.
    OptionError
        If `url` is none of these.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> with nn2rules.cluster("threads"):
    ...     rules = nn2rules.extract(network)
    >>> len(rules)
    1
    """
    place = read_place(url)
    with ExitStack() as stack:
        try:
            with _same_signals():
                stack.enter_context(_KINDS[place.kind](place))
        except Nn2RulesError:
            raise
        except Exception as error:
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            raise ClusterError(f"{url}: cannot use this cluster: {reason}") from error
        yield
