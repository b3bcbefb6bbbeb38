"""What is released: the wheel and the sdist, and the versions that go with them.

`make release-check` tries more: other Pythons, the lowest and the newest versions.
"""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

sys.path.insert(0, str(ROOT / "scripts"))
import lock  # noqa: E402


def run(*command, **options):
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        check=False,
        capture_output=True,
        text=True,
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files_under(folder):
    found = (ROOT / folder).rglob("*")
    kept = (
        path for path in found if path.is_file() and "__pycache__" not in path.parts
    )
    return {path.relative_to(ROOT).as_posix() for path in kept}


def test_wheel_and_sdist_are_complete_and_the_wheel_runs(tmp_path):
    run(
        "build", "--no-isolation", "--outdir", tmp_path, ROOT
    )  # the wheel from the sdist
    [wheel], [sdist] = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")

    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert inside == {name.removeprefix("src/") for name in files_under("src")}

    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("src", "tests", "docs", "research", "scripts"):
        assert files_under(folder) <= names
    assert {"Makefile", "CONTRIBUTING.md", lock.LOCK.name} <= names

    place = tmp_path / "installed"
    run("pip", "install", "--quiet", "--no-deps", "--target", place, wheel)
    smoke = [sys.executable, ROOT / "scripts" / "smoke.py", "--quick"]
    done = subprocess.run(
        smoke,
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(place), "NUMBA_DISABLE_JIT": "1"},
    )
    assert done.stdout.endswith("is all there\n")


def test_the_lock_has_all_that_development_needs():
    lines = lock.LOCK.read_text("utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in pins)
    assert all(re.fullmatch(r"[0-9][0-9a-z.]*", version) for version in pins.values())
    named = [item for part in _parts() for item in part if isinstance(item, str)]
    for requirement in named:
        assert lock.normal(re.match(r"[\w.-]+", requirement)[0]) in pins, requirement


def _parts():
    project = SETTINGS["project"]
    yield project["dependencies"]
    yield from project["optional-dependencies"].values()
    yield from SETTINGS["dependency-groups"].values()


def test_bounds_are_the_same_everywhere():
    """A library has one lower bound, whichever extra or group names it."""
    bounds = {}
    for item in (item for part in _parts() for item in part if isinstance(item, str)):
        name, bound = re.match(r"([\w.-]+)(.*)", item).groups()
        bounds.setdefault(name, set()).add(bound)
    several = {name for name, found in bounds.items() if len(found) > 1}
    assert several <= {"pyspark", "torch"}  # a narrow version in dev, said there
