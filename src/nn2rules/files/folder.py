"""A folder of results: created, or replaced file by file, and nobody else's."""

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from nn2rules.errors import FormatError
from nn2rules.files.safe_files import uninterrupted


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
        foreign = self._foreign(target) if target.is_dir() else None
        if foreign is not None:
            raise FormatError(
                f"{folder}: the folder holds {foreign}, which is not a result of this "
                f"command; give a new or an empty folder"
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
                made = tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.")
                temporary = Path(made)
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
