"""Reading and writing files so that nothing is half-read or half-written."""

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nn2rules.errors import FormatError

MOST_BYTES = 1 << 31
"""The limit of a model file, packed or unpacked, in bytes."""

MOST_TEXT = 1 << 29
"""The limit of a text file, JSON or CSV, packed or unpacked, in bytes."""

MOST_ROWS = 4_000_000
"""The limit of rows in a table: each takes far more memory than in its file."""

MOST_CELLS = 1 << 24
"""The limit of cells in an Excel or Parquet file."""


def read_bytes(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """Return the content of a file; every failure becomes one sentence.

    A file of more than `most` bytes is refused, and so is a device without an end.
    """
    with opened(path) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise FormatError(
            f"{path}: the file is larger than {size_text(most)}, which is the limit"
        )
    return data


def check_readable(path: str | os.PathLike[str]) -> None:
    """Refuse a file that is missing, a folder, or not to be read by this user."""
    with opened(path):
        pass


def leads_out_of(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> bool:
    """Tell whether a path, its links followed, is outside of a folder.

    Examples
    --------
    >>> leads_out_of("models", "models/a/b.onnx"), leads_out_of("models", "models/../b")
    (False, True)
    """
    try:
        inside, target = Path(os.path.realpath(folder)), Path(os.path.realpath(path))
    except (OSError, ValueError):  # a name with a zero byte
        return True
    return not target.is_relative_to(inside)


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to read; every failure becomes one sentence."""
    try:
        with open(path, "rb") as stream:
            yield stream
    except FileNotFoundError:
        raise FormatError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise FormatError(f"{path}: this is a folder, not a file") from None
    except FormatError:  # a ValueError, too, from whoever reads
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"{path}: cannot be read: {reason}") from None


def size_text(n_bytes: int) -> str:
    """Return a size in words.

    Examples
    --------
    >>> size_text(1 << 31), size_text(3_000_000)
    ('2 GB', '3 MB')
    """
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20)):
        if n_bytes >= size:
            return f"{round(n_bytes / size):,} {unit}"
    return f"{n_bytes:,} bytes"


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file; every failure becomes one sentence."""
    return decoded(path, read_small(path))


def read_small(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file that is text, or no larger than texts are."""
    return read_bytes(path, MOST_TEXT)


def decoded(path: str | os.PathLike[str], data: bytes) -> str:
    """Return the content of a file as text."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(f"{path}: this is not a text file (UTF-8)") from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` to `path`, whole or not at all.

    The text goes to a temporary file beside `path`, which then takes its name. Links
    are followed; a device or a pipe is written to as it is.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError(
            f"{path}: cannot be written: a name or value contains half a character (a "
            f"lone surrogate)"
        ) from None
    write_bytes(path, data)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to `path`, whole or not at all; see `write_text`."""
    check_writable(path)
    with uninterrupted(), replacing(path) as stream:
        stream.write(data)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of `path` once all of it is written.

    A device or a pipe is written to as it is.
    """
    target = Path(os.path.realpath(path))
    if not _is_device(target):
        with replacing_file(path) as temporary, open(temporary, "wb") as stream:
            yield stream
        return
    try:
        with target.open("wb") as stream:
            yield stream
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror}") from None


@contextmanager
def replacing_file(path: str | os.PathLike[str]) -> Iterator[str]:
    """Name a new file, for others to write, that then takes the place of `path`."""
    target, temporary = Path(os.path.realpath(path)), None
    try:
        handle, temporary = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}."
        )
        os.close(handle)
        yield temporary
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until something short that must be complete is done."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals come to the main thread only
        return
    signals: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: signals.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if signals:
        signal.raise_signal(signal.SIGINT)


def check_writable(
    path: str | os.PathLike[str], *, keep: Iterable[str | os.PathLike[str] | None] = ()
) -> None:
    """Refuse a path that cannot be written to, before the work is done.

    Files to `keep` are those that the same command reads, or writes.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise FormatError(f"{path}: this is a folder, expected a file name")
    if not target.parent.is_dir():
        raise FormatError(f"{path}: there is no folder {target.parent}")
    if any(
        other is not None and Path(os.path.realpath(other)) == target for other in keep
    ) and not _is_device(target):
        raise FormatError(
            f"{path}: the same command has another use for this file; write to another"
        )
    if target.exists() and not os.access(target, os.W_OK):
        raise FormatError(f"{path}: no permission to write here")
    if not _is_device(target) and not os.access(target.parent, os.W_OK | os.X_OK):
        raise FormatError(
            f"{path}: no permission to write into the folder {target.parent}"
        )


def _is_device(target: Path) -> bool:
    """Tell whether this is a device or a pipe, which is written to as it is."""
    return target.exists() and not target.is_file()


def _mode(target: Path) -> int:
    """Return the permissions of `target`, or those a new file would get."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def check_folder(folder: str | os.PathLike[str]) -> Path:
    """Return a folder, its links followed; refuse one that cannot be written to.

    It may be missing, but not the folder that it is in.
    """
    target = Path(os.path.realpath(folder))
    if target.exists() and not target.is_dir():
        raise FormatError(f"{folder}: this is a file, expected a folder")
    if not target.parent.is_dir():
        raise FormatError(f"{folder}: there is no folder {target.parent}")
    place = target if target.exists() else target.parent
    if not os.access(place, os.W_OK | os.X_OK):
        raise FormatError(f"{folder}: no permission to write here")
    return target


@dataclass(frozen=True)
class Results:
    """What a command writes into a folder.

    Attributes
    ----------
    names : set of str
        Every file that it may write; at most one folder deep.
    key : str
        One that is always there.
    mark : str
        A text at its beginning that tells it from others.
    """

    names: frozenset[str]
    key: str
    mark: str

    def check(self, folder: str | os.PathLike[str]) -> Path:
        """Refuse a folder that cannot be written to, or that has other files.

        Returns
        -------
        Path
            The folder, with links followed.

        Raises
        ------
        FormatError
            If it is a file, has no parent, is not writable, or holds files that are not
            an earlier result.
        """
        target = check_folder(folder)
        if not os.access(target.parent, os.W_OK | os.X_OK):  # it is filled beside
            raise FormatError(f"{folder}: no permission to write here")
        foreign = self._foreign(target) if target.is_dir() else None
        if foreign is not None:
            raise FormatError(
                f"{folder}: the folder contains {foreign}, which is not a result of "
                f"this command; use a new or an empty folder"
            )
        return target

    def _foreign(self, target: Path) -> str | None:
        """Return the name of a file that is not ours, if there is one."""
        names = []
        for path in sorted(target.iterdir()):
            if path.name in self._folders and path.is_dir():
                names += [f"{path.name}/{inner}" for inner in sorted(os.listdir(path))]
            else:
                names.append(path.name)
        for name in names:
            if name not in self.names or not (target / name).is_file():
                return name
        if names and not self._is_ours(target / self.key):
            return self.key if self.key in names else names[0]
        return None

    def _is_ours(self, page: Path) -> bool:
        try:
            return self.mark in page.read_text(encoding="utf-8")[:2000]
        except (OSError, UnicodeDecodeError):
            return False

    def write(self, folder: str | os.PathLike[str], files: dict[str, bytes]) -> Path:
        """Write the files; nothing is ever half-written.

        They go to a temporary folder beside it first, and Ctrl-C waits meanwhile. A new
        folder then takes its name at once; in an old one, file after file is replaced,
        and what an earlier run left and this one has not is removed.

        Returns
        -------
        Path
            Its key file.
        """
        target = self.check(folder)
        temporary = None
        with uninterrupted():
            try:
                name = tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.")
                temporary = Path(name)
                _fill(temporary, files)
                if target.exists():
                    self._replace(temporary, target, files)
                else:
                    os.chmod(temporary, 0o777 & ~_mask())
                    os.rename(temporary, target)
            except OSError as error:
                raise FormatError(
                    f"{folder}: cannot be written: {error.strerror}"
                ) from None
            finally:
                if temporary is not None:
                    shutil.rmtree(temporary, ignore_errors=True)
        return Path(folder) / self.key

    def _replace(self, temporary: Path, target: Path, files: dict[str, bytes]) -> None:
        """Move the files into place, the key first: it marks the folder as ours."""
        for name in sorted(files, key=lambda name: (name != self.key, name)):
            (target / name).parent.mkdir(exist_ok=True)
            os.replace(temporary / name, target / name)
        for name in self.names - files.keys():
            (target / name).unlink(missing_ok=True)

    @property
    def _folders(self) -> set[str]:
        return {name.split("/")[0] for name in self.names if "/" in name}


def _fill(place: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = place / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
