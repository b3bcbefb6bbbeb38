"""Try nn2rules as users install it: wheel and sdist, with old and new libraries.

    python scripts/try_versions.py                        # all of it
    python scripts/try_versions.py --python 3.12 --versions lowest --extras sklearn

For every Python and both ends of what ``pyproject.toml`` allows (the lowest version of
each dependency that has a wheel, and the newest), a fresh environment is made by uv,
the wheel is installed, and ``scripts/smoke.py`` is run in it, outside of this folder.
The sdist is installed for each Python, too, and only asked whether it is complete. A
Python that uv neither finds nor can fetch fails its try. The exit code is 1 if a try
fails.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13")
VERSIONS = {"lowest": "lowest-direct", "newest": "highest"}
EXTRAS = ("onnx", "plot", "sklearn")
"""By default; torch and keras are large, and are tried by ``--extras torch,keras``."""


@dataclass(frozen=True)
class Try:
    """An environment to make: which Python, which versions, from which file."""

    python: str
    versions: str
    file: Path

    @property
    def is_sdist(self) -> bool:
        """Whether a wheel is still to be made of the file."""
        return self.file.name.endswith(".tar.gz")

    def __str__(self) -> str:
        kind = "sdist" if self.is_sdist else "wheel"
        return f"Python {self.python}, {self.versions} versions, {kind}"


class FailedError(Exception):
    """A command failed; carries what it printed."""


def run(*command: object, cwd: Path = ROOT) -> str:
    """Run a command and return what it prints."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise FailedError((done.stdout + done.stderr).strip())
    return done.stdout


def built(folder: Path) -> list[Path]:
    """Build the wheel and the sdist."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    return sorted(folder.glob("*.whl")) + sorted(folder.glob("*.tar.gz"))


def tried(attempt: Try, extras: list[str], folder: Path) -> str:
    """Install into a fresh environment, and run the smoke test there."""
    uv = (sys.executable, "-m", "uv")
    run(*uv, "venv", "--clear", "--python", attempt.python, folder / "env")
    python = folder / "env" / "bin" / "python"
    pins = folder / "pins.txt"
    wanted = [part for extra in extras for part in ("--extra", extra)]
    pinned = run(
        *(*uv, "pip", "compile", "--quiet", "--no-header", "--no-annotate"),
        *("--resolution", VERSIONS[attempt.versions], "--python", python),
        *("--only-binary", ":all:"),  # the lowest that has a wheel for this Python
        *(*wanted, ROOT / "pyproject.toml"),
    )
    pins.write_text(pinned)
    target = f"nn2rules[{','.join(extras)}] @ {attempt.file.as_uri()}"
    run(*uv, "pip", "install", "--python", python, "--constraint", pins, target)
    parts = ["--quick"] if attempt.is_sdist else extras
    return run(python, ROOT / "scripts" / "smoke.py", *parts, cwd=folder)


def attempts(given: argparse.Namespace, files: list[Path]) -> list[Try]:
    """Return what is to be tried: the wheel with all versions, the sdist with new."""
    wheel, sdist = files
    made = [Try(p, v, wheel) for p in given.python for v in given.versions]
    return made + [Try(p, "newest", sdist) for p in given.python if given.sdist]


def main() -> int:
    """Try everything that was asked for, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--python", nargs="+", default=PYTHONS)
    parser.add_argument("--versions", nargs="+", default=VERSIONS, choices=VERSIONS)
    parser.add_argument("--extras", default=",".join(EXTRAS))
    parser.add_argument("--sdist", action=argparse.BooleanOptionalAction, default=True)
    given = parser.parse_args()
    extras = [extra for extra in given.extras.split(",") if extra]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for attempt in attempts(given, built(folder / "dist")):
            started = time.monotonic()
            try:
                said = tried(attempt, extras, folder)
            except FailedError as error:
                failed += 1
                said = f"FAILED\n{error}"
            print(f"{attempt} ({time.monotonic() - started:.0f} s)\n{said.strip()}\n")
    print(f"{failed} failed" if failed else "all work")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
