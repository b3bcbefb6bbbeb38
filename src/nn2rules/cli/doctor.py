"""nn2rules doctor: what is installed, and what is not."""

import importlib.util
import os
import platform
from importlib.metadata import PackageNotFoundError, metadata, version

from joblib import cpu_count

import nn2rules
from nn2rules.cli.app import command
from nn2rules.extraction._kernels.box_growth import grow
from nn2rules.extraction._kernels.greedy import climb
from nn2rules.space._kernels.compiled import is_cached
from nn2rules.version import install_command

_REQUIRED = ("numpy", "numba", "narwhals", "typer", "rich")


@command("doctor")
def doctor() -> None:
    """Show what is installed, which extras are missing, and what is compiled."""
    print(f"nn2rules {nn2rules.__version__}, Python {platform.python_version()}")
    print(f"cores     {cpu_count()}")
    print(f"kernels   {_kernels()}")
    print("installed " + ", ".join(f"{name} {version(name)}" for name in _REQUIRED))
    print("extras")
    for extra, packages in _extras().items():
        missing = [name for name in packages if not _is_installed(name)]
        if missing:
            what = f"no {', '.join(missing)}: {install_command(extra)}"
        else:
            what = ", ".join(f"{name} {version(name)}" for name in packages)
        print(f"  {extra:<8}{what}")


def _kernels() -> str:
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        return "not compiled, because NUMBA_DISABLE_JIT is set; everything is slow"
    kernels = {"tables": is_cached(climb), "search": is_cached(grow)}
    compiled = [name for name, is_compiled in kernels.items() if is_compiled]
    if not compiled:
        return "not compiled yet; the first extraction compiles them"
    return f"compiled on this machine, for {' and '.join(compiled)}"


def _extras() -> dict[str, list[str]]:
    """Return the packages of each extra, as the package itself declares them."""
    declared = metadata("nn2rules")
    extras: dict[str, list[str]] = {
        str(extra): [] for extra in declared.get_all("Provides-Extra") or ()
    }
    for line in declared.get_all("Requires-Dist") or ():
        needed, _, marker = str(line).partition(";")
        extra = marker.partition("==")[2].strip(" '\"")
        if extra in extras:
            name = needed.split(">")[0].split("=")[0].split("[")[0]
            extras[extra].append(name.strip())
    return extras


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return importlib.util.find_spec(name) is not None
    return True
