"""Make `docs/report.png`: the top of the report of README's example.

Needs Chromium (`chromium` on the path). Run it after the report's page has changed::

    python scripts/make_picture.py
"""

import contextlib
import io
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "report.png"
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SIZE = "1180,1000"
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
    *("--no-first-run", "--disable-background-networking", "--disable-sync"),
)


def main() -> None:
    """Run README's quick start, write its report, and photograph that."""
    page = (ROOT / "README.md").read_text("utf-8")
    names: dict[str, Any] = {}
    for code in CODE.findall(page)[:2]:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, names)
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder) / "report.html"
        names["rules"].report(
            html,
            model=names["pipeline"],
            data=names["X"],
            labels=names["y"],
            title="Will the loan be paid back?",
        )
        command = ["chromium", *OPTIONS, f"--user-data-dir={folder}/profile"]
        command += [f"--window-size={SIZE}", f"--screenshot={PICTURE}", html.as_uri()]
        subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()
