"""Write requirements-dev.lock: the versions that development and CI were last run with.

    make lock
    pip install --editable . --group dev --constraint requirements-dev.lock

Only names and versions stand in it, no place to get them from. What is local to one
machine, as the build behind a + of PyTorch, is left out.
"""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements-dev.lock"
HEADER = "# Made by `make lock`: what development was last tested with.\n"


def main() -> None:
    """Write the versions of everything that development needs, as installed here."""
    found: dict[str, str] = {}
    for requirement in _wanted():
        _add(requirement, found)
    lines = [f"{name}=={version}\n" for name, version in sorted(found.items())]
    LOCK.write_text(HEADER + "".join(lines), "utf-8")


def _wanted() -> list[str]:
    """Return what pyproject.toml names: dependencies, extras and groups."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = settings["project"]
    parts = [project["dependencies"], *project["optional-dependencies"].values()]
    parts += settings["dependency-groups"].values()
    return [item for part in parts for item in part if isinstance(item, str)]


def _add(requirement: str, found: dict[str, str]) -> None:
    """Add a distribution, and those that it needs, if they are installed."""
    name, _, marker = requirement.partition(";")
    if "extra ==" in marker:
        return
    name = normal(re.match(r"[\w.-]+", name.strip())[0])  # type: ignore[index]
    if name in found:
        return
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        return  # for another Python, or another system
    found[name] = installed.version.partition("+")[0]
    for needed in installed.requires or ():
        _add(needed, found)


def normal(name: str) -> str:
    """Return a name of a distribution as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
