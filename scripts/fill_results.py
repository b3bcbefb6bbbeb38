"""Write measured figures into README and docs, from `benchmarks/headline.json`.

A page names a figure in a comment in front of it, and another comment ends it::

    <!-- result: adult.support -->188<!-- end -->

Counts get thousands separators; shares become per cent. Run it after
``python benchmarks/run.py headline``. A test fails where a page differs.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = ROOT / "benchmarks" / "headline.json"
MARK = re.compile(r"(<!-- result: ([\w.-]+) -->)(.*?)(<!-- end -->)", re.DOTALL)


def pages() -> list[Path]:
    """Return the pages that may cite figures."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text: str) -> str:
    """Return the text of a page with each figure as it was measured."""
    results = json.loads(FILE.read_text("utf-8"))

    def figure(match: re.Match[str]) -> str:
        value = results
        for key in match[2].split("."):
            value = value[key]
        return f"{match[1]}{_shown(value)}{match[4]}"

    return MARK.sub(figure, text)


def _shown(value: object) -> str:
    return f"{value:.1%}" if isinstance(value, float) else f"{value:,}"


if __name__ == "__main__":
    for page in pages():
        text = page.read_text("utf-8")
        if filled(text) != text:
            page.write_text(filled(text), "utf-8")
            print(f"filled {page.relative_to(ROOT)}")
