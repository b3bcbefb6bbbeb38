"""What is checked before a model file is read: trust, libraries, and archives."""

import json
import os
import re
import zipfile
from importlib.metadata import version
from typing import Any

from nn2rules.errors import FormatError
from nn2rules.files import MOST_BYTES, size_text

ALLOW = "allow it with --trust, in Python with trust=True"
"""How a user says that a file is to be trusted."""


def untrusted(path: str | os.PathLike[str], kind: str) -> FormatError:
    """Return the error of a file that runs code when it is read."""
    return FormatError(
        f"{path}: this is {kind}, and reading one runs whatever program its author put "
        f"into it; if you trust its author, {ALLOW}"
    )


def refuse_old(path: str | os.PathLike[str], library: str, safe: str) -> None:
    """Refuse to read with a library that is known to run code of such files."""
    found = version(library)
    if _numbers(found) < _numbers(safe):
        raise FormatError(
            f"{path}: {library} {found} is known to run code from such files; install "
            f"{library} {safe} or later, or, if you trust the file's author, {ALLOW}"
        )


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)[:2]]


def first_line(error: Exception) -> str:
    """Return the first line of what an error says."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]


def members(path: str | os.PathLike[str], kind: str) -> dict[str, bytes]:
    """Return the files of a zip archive by their names.

    `kind` says what the archive should be, for messages. Two members of one name, and
    names that lead out of a folder, are refused: other readers may take them otherwise.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            _refuse_odd(path, infos)
            return {info.filename: archive.read(info) for info in infos}
    except FormatError:
        raise
    except Exception:  # noqa: BLE001  a damaged archive raises anything
        raise FormatError(f"{path}: not a whole {kind}") from None


def _refuse_odd(path: str | os.PathLike[str], infos: list[zipfile.ZipInfo]) -> None:
    total = sum(info.file_size for info in infos)
    if total > MOST_BYTES:
        raise FormatError(
            f"{path}: the archive holds {size_text(total)} once it is unpacked; models "
            f"of {size_text(MOST_BYTES)} at most are read"
        )
    names = [info.filename for info in infos]
    for name in names:
        parts = name.replace("\\", "/").split("/")
        if names.count(name) > 1 or ".." in parts or parts[0] == "":
            raise FormatError(f"{path}: the archive has an odd member, {name!r}")


def parsed(data: bytes) -> Any:
    """Return a JSON document, refusing keys that occur twice in one object."""

    def single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key occurs twice")
        return found

    return json.loads(data, object_pairs_hook=single)
