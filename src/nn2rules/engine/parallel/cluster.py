"""One function for all clusters."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from nn2rules.engine.parallel.on_dask import dask
from nn2rules.engine.parallel.on_ray import ray
from nn2rules.engine.parallel.on_spark import spark
from nn2rules.engine.parallel.on_this_machine import processes, threads
from nn2rules.engine.parallel.place import Place, read_place
from nn2rules.errors import ClusterError, Nn2RulesError

_KINDS: dict[str, Callable[[Place], AbstractContextManager[None]]] = {
    "threads": threads,
    "processes": processes,
    "dask": dask,
    "ray": ray,
    "spark": spark,
}

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def _same_signals() -> Iterator[None]:
    """Leave Ctrl-C to whoever had it: Spark takes it, and keeps it for good."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals come to the main thread only
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # one that Python knows
                signal.signal(number, handler)


@contextmanager
def cluster(url: str) -> Iterator[None]:
    """Do all work within on a cluster; what is found is the same.

    Parameters
    ----------
    url : str
        ``dask://HOST:PORT`` is a scheduler of Dask, ``ray://HOST:PORT`` a Ray cluster
        and ``ray://auto`` the one of this machine, ``spark://HOST:PORT`` a master of
        Spark. With ``local`` instead, one is started on this machine and stopped at the
        end, with a worker for each core, or as many as ``dask://local?workers=4`` says.
        ``processes`` are those of this machine without a cluster, and ``threads`` those
        of this process, as by default.

    Raises
    ------
    ClusterError
        If nobody answers there, or nobody works there.
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
            said = str(error).strip().partition("\n")[0] or type(error).__name__
            raise ClusterError(f"{url}: no work can be done there: {said}") from error
        yield
