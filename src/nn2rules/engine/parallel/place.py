"""The address of a cluster: parse it, check that it answers, import its library."""

import logging
import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from nn2rules.errors import ClusterError, MissingExtraError, OptionError

PATIENCE = 10
"""Seconds to wait for a connection."""

LOCAL, AUTO = "local", "auto"
_KINDS = ("dask", "ray", "spark")
_EXPECTED = (
    "expected dask://HOST:PORT, ray://HOST:PORT, ray://auto or spark://HOST:PORT; "
    "dask://local, ray://local or spark://local for a cluster on this machine; or "
    "processes or threads"
)


@dataclass(frozen=True, slots=True)
class Place:
    """The address of a cluster, or a request to start one."""

    url: str
    kind: str
    where: str = ""
    workers: int = 0

    @property
    def is_local(self) -> bool:
        """Whether the cluster is to be started on this machine."""
        return self.where == LOCAL

    def reach(self) -> None:
        """Raise if nothing answers there, before a library retries for minutes."""
        parts = urlsplit(self.url)
        try:
            address = (parts.hostname or "", parts.port or 0)
            socket.create_connection(address, timeout=PATIENCE).close()
        except OSError as error:
            reason = error.strerror or error
            raise ClusterError(
                f"{self.url}: cannot connect ({reason}); check that the cluster is "
                f"running and can be reached from here"
            ) from None


def read_place(url: str) -> Place:
    """Parse the address of a cluster, and refuse what is not one."""
    wrong = OptionError(f"cluster: {url!r}, {_EXPECTED}")
    if url in ("processes", "threads"):
        return Place(url, url)
    try:
        parts = urlsplit(url)
        is_place = bool(parts.hostname and parts.port)
        options = dict(
            parse_qsl(parts.query, strict_parsing=True) if parts.query else ()
        )
    except (ValueError, AttributeError, TypeError):
        raise wrong from None
    where, is_local = parts.netloc, parts.netloc == LOCAL
    is_place = is_place or is_local or (parts.scheme == "ray" and where == AUTO)
    workers = options.pop("workers", "0") if is_local else "0"
    is_known = parts.scheme in _KINDS and not (parts.path or parts.fragment or options)
    if not is_known or not is_place or not workers.isdecimal():
        raise wrong
    return Place(url, parts.scheme, where, int(workers) or os.cpu_count() or 1)


def library(name: str, place: Place) -> Any:
    """Import a library, or raise an error that names the command to install it."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(name, place.kind, f"work on {place.url}") from None


@contextmanager
def quiet(*names: str) -> Iterator[None]:
    """Log only fatal messages of some libraries; errors are raised anyway."""
    below = [name for name in logging.root.manager.loggerDict if _is_below(name, names)]
    loggers = [logging.getLogger(name) for name in {*names, *below}]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _is_below(logger: str, names: tuple[str, ...]) -> bool:
    return any(logger.startswith(f"{name}.") for name in names)


@contextmanager
def warnings_off() -> Iterator[None]:
    """Ignore warnings of libraries while they are set up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
