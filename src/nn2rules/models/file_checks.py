"""Checks before a model file is read: trust, library versions, zip archives."""

import json
import os
import re
import zipfile
from importlib.metadata import version
from typing import Any

from nn2rules.errors import FormatError
from nn2rules.files import MOST_BYTES, size_text

ALLOW = "allow it with --trust (in Python, trust=True)"
"""How a user says that a file can be trusted."""

_DATA_FILES = (
    *(".arrow", ".csv", ".feather", ".gz", ".ods", ".parquet", ".tsv", ".txt", ".xls"),
    *(".xlsx", ".zip"),
)


def is_data_file(path: str | os.PathLike[str]) -> bool:
    """Tell from the name whether a file holds a table of data, not a model."""
    return str(path).lower().endswith(_DATA_FILES)


def untrusted(path: str | os.PathLike[str], kind: str) -> FormatError:
    """Return the error for a file that can run code when it is loaded."""
    return FormatError(
        f"{path} is {kind}, and loading it can run code that its author put into it; "
        f"if you trust the author, {ALLOW}"
    )


def refuse_old(path: str | os.PathLike[str], library: str, safe: str) -> None:
    """Refuse to read with a library version that is known to run code of such files."""
    installed = version(library)
    if _numbers(installed) < _numbers(safe):
        raise FormatError(
            f"{path}: {library} {installed} can run code from such files; install "
            f"{library} {safe} or later, or, if you trust the file's author, {ALLOW}"
        )


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)[:2]]


def first_line(error: Exception) -> str:
    """Return the first line of an error message."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]


def members(path: str | os.PathLike[str], kind: str) -> dict[str, bytes]:
    """Return the files of a zip archive by their names.

    `kind` is what the archive should be, for messages. Two members with one name, and
    names that lead out of the folder, are refused: other readers may treat them
    differently.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            _refuse_odd(path, infos)
            return {info.filename: archive.read(info) for info in infos}
    except FormatError:
        raise
    except Exception:  # noqa: BLE001  a damaged archive raises anything
        raise FormatError(f"{path} is damaged, or is not a {kind}") from None


def _refuse_odd(path: str | os.PathLike[str], infos: list[zipfile.ZipInfo]) -> None:
    total = sum(info.file_size for info in infos)
    if total > MOST_BYTES:
        raise FormatError(
            f"{path}: the archive unpacks to {size_text(total)}; nn2rules reads at "
            f"most {size_text(MOST_BYTES)}"
        )
    names = [info.filename for info in infos]
    for name in names:
        parts = name.replace("\\", "/").split("/")
        if names.count(name) > 1 or ".." in parts or parts[0] == "":
            raise FormatError(f"{path}: the archive has an unexpected member {name!r}")


def parsed(data: bytes) -> Any:
    """Parse JSON, refusing keys that occur twice in one object."""

    def single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            raise ValueError("a key occurs twice")
        return entries

    return json.loads(data, object_pairs_hook=single)
