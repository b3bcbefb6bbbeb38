"""Golden files: what was printed once, read by a person, and is to stay.

``make golden`` sets NN2RULES_GOLDEN: files are then written instead of compared.
"""

import os
from pathlib import Path


def assert_golden(path: Path, text: str) -> None:
    """Compare a text with a file, or write the file if it is to be rewritten."""
    if os.environ.get("NN2RULES_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text("utf-8"), (
        f"{path.name} differs; make golden rewrites it"
    )
