"""Pages on exports write files, to a folder of their own; some need an engine.

Without its engine a page is skipped, which is said; in CI all engines must be there.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

NEEDS = {"export-to-pmml.md": ("java", "Java")}
"""The command that a page needs, and what provides it."""


@pytest.fixture(autouse=True)
def _page(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    name = request.node.path.name
    if name.startswith("export-to-"):
        monkeypatch.chdir(tmp_path)
    command, what = NEEDS.get(name, ("", ""))
    if not command or shutil.which(command):
        yield
        java = sys.modules.get("jpmml_evaluator.py4j")
        if java is not None and java.Py4JBackend.gateway is not None:
            java.Py4JBackend.destroyGateway()
        return
    reason = f"the examples of this page need {what}, which is not on this machine"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
