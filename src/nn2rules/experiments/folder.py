"""The folder of results: created, or replaced file by file, and nobody else's."""

import os
import shutil
import tempfile
from pathlib import Path

from nn2rules.errors import FormatError
from nn2rules.formats.files import uninterrupted

MARK = '<meta name="generator" content="nn2rules paper">'
"""What tells a page of ours from others."""

PAGE = "index.html"

TABLES = (
    "data-sets",
    "fidelity",
    "fidelity-on-the-domain",
    "accuracy",
    "number-of-rules",
    "with-and-without",
    "fidelity-on-errors",
    "side-by-side",
    "support-at-the-same-number-of-rules",
    "rules-needed",
    "differences",
)
FIGURES = (
    "fidelity-bars",
    "fidelity-by-rules",
    "accuracy-by-rules",
    "errors-bars",
    "rules-needed",
)
OURS = frozenset(
    (
        PAGE,
        *(f"timings{ending}" for ending in (".md", ".csv", ".json")),
        *(f"tables/{name}{end}" for name in TABLES for end in (".md", ".csv", ".json")),
        *(f"figures/{name}{ending}" for name in FIGURES for ending in (".png", ".svg")),
    )
)
"""Every file that a run may write."""


def check_folder(folder: str | os.PathLike[str]) -> Path:
    """Refuse a folder that cannot be written to, or that holds others' files.

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
    target = Path(os.path.realpath(folder))
    if target.exists() and not target.is_dir():
        raise FormatError(f"{folder}: this is a file, expected a folder")
    if not target.parent.is_dir():
        raise FormatError(f"{folder}: there is no folder {target.parent}")
    for place in (target.parent, target):
        if place.exists() and not os.access(place, os.W_OK | os.X_OK):
            raise FormatError(f"{folder}: no permission to write here")
    foreign = _foreign(target) if target.is_dir() else None
    if foreign is not None:
        raise FormatError(
            f"{folder}: the folder holds {foreign}, which is not a result of this "
            f"command; give a new or an empty folder"
        )
    return target


def _foreign(target: Path) -> str | None:
    """Return the name of a file that is not ours, if there is one."""
    names = []
    for path in sorted(target.iterdir()):
        if path.name in ("tables", "figures") and path.is_dir():
            names += [f"{path.name}/{inner}" for inner in sorted(os.listdir(path))]
        else:
            names.append(path.name)
    for name in names:
        if name not in OURS or not (target / name).is_file():
            return name
    if names and not _is_ours(target / PAGE):
        return PAGE if PAGE in names else names[0]
    return None


def _is_ours(page: Path) -> bool:
    try:
        return MARK in page.read_text(encoding="utf-8")[:2000]
    except (OSError, UnicodeDecodeError):
        return False


def write_folder(folder: str | os.PathLike[str], files: dict[str, bytes]) -> Path:
    """Write the files; nothing is ever half-written.

    They go to a temporary folder beside it first, and Ctrl-C waits meanwhile. A new
    folder then takes its name at once; in an old one, file after file is replaced, and
    what an earlier run left and this one has not is removed.

    Returns
    -------
    Path
        The page.
    """
    target = check_folder(folder)
    temporary = None
    with uninterrupted():
        try:
            made = tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.")
            temporary = Path(made)
            _fill(temporary, files)
            if target.exists():
                _replace(temporary, target, files)
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
    return Path(folder) / PAGE


def _fill(place: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = place / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)


def _replace(temporary: Path, target: Path, files: dict[str, bytes]) -> None:
    """Move the files into place, the page first: it marks the folder as ours."""
    for name in sorted(files, key=lambda name: (name != PAGE, name)):
        (target / name).parent.mkdir(exist_ok=True)
        os.replace(temporary / name, target / name)
    for name in OURS - files.keys():
        (target / name).unlink(missing_ok=True)


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
