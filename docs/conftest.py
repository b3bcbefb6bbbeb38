"""Pages on exports write files, to a folder of their own; some need an engine.

Without its engine a page is skipped, which is said; in CI all engines must be there.
"""

import atexit
import os
import shutil
import sys
from pathlib import Path

import pytest

NEEDS = {"export-to-pmml.md": ("java", "Java")}
"""The command that a page needs, and what provides it."""


@pytest.fixture(autouse=True)
def _page(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = request.node.path.name
    if name.startswith("export-to-"):
        monkeypatch.chdir(tmp_path)
    command, what = NEEDS.get(name, ("", ""))
    if not command or shutil.which(command):
        if name == "export-to-pmml.md":
            atexit.register(_stop_java)
        return
    reason = f"the examples of this page need {what}, which is not on this machine"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def _stop_java() -> None:
    """End the process that the page started, if it is still there."""
    java = sys.modules.get("jpmml_evaluator.py4j")
    if java is not None and java.Py4JBackend.gateway is not None:
        java.Py4JBackend.destroyGateway()
