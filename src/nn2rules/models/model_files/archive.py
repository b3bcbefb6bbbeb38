"""Zip archives that models come in, read with suspicion and within a limit."""

import json
import os
import zipfile
from typing import Any

from nn2rules.errors import FormatError
from nn2rules.files import MOST_BYTES, size_text


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
