"""Pages of the notebooks in docs/notebooks, run while the site is built.

Notebooks are stored without outputs. Here each is run from top to bottom, and a cell
that fails ends the build; so what the site shows is what the code gives today.
"""

import json
import re
import warnings
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

_PATIENCE = 120  # seconds that a cell may take
_SETTINGS = Config({"KernelManager": {"transport": "ipc"}})  # no port is opened
_FRAME = re.compile(r"<style scoped>.*?</style>\s*", re.DOTALL)


def pages(docs: Path) -> dict[str, str]:
    """Return the pages: their paths on the site, and their Markdown."""
    found = sorted((docs / "notebooks").glob("*.ipynb"))
    return {
        f"notebooks/{path.stem}.md": _page(path.name, path.read_text("utf-8"))
        for path in found
    }


@cache  # a site that is served is built again whenever a page changes
def _page(name: str, text: str) -> str:
    notebook = run(text)
    cells = [_cell(cell) for cell in notebook.cells]
    title, *rest = cells
    link = f'<a href="{name}" download>{name}</a>'
    origin = f"*This page is a notebook that was run when the site was built: {link}.*"
    return "\n\n".join([title, origin, *rest]) + "\n"


def run(text: str) -> Any:
    """Return a notebook with the outputs of its cells."""
    notebook = nbformat.reads(text, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries under the kernel
        NotebookClient(
            notebook,
            timeout=_PATIENCE,
            kernel_name="python3",
            coalesce_streams=True,
            config=_SETTINGS,
        ).execute()
    return notebook


def _cell(cell: Any) -> str:
    if cell.cell_type == "markdown":
        return str(cell.source)
    code = f"```python\n{cell.source}\n```"
    return "\n\n".join([code, *filter(None, map(_output, cell.outputs))])


def _output(output: Any) -> str:
    """Return what a cell gave: HTML or a picture where there is one, or else text."""
    if output.output_type == "stream":
        return _text(output.text)
    data = output.data
    if "text/html" in data:
        html = _FRAME.sub("", data["text/html"])
        html = html.replace('<table border="1" class="dataframe">', "<table>")
        return f'<div class="notebook-output">{"".join(html.splitlines())}</div>'
    if "image/png" in data:
        source = f"data:image/png;base64,{data['image/png'].strip()}"
        return f'<img alt="{escape(_named(data))}" src="{source}">'
    return _text(data["text/plain"])


def _named(data: Any) -> str:
    return str(data.get("text/plain", "figure"))


def _text(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""


def is_bare(text: str) -> bool:
    """Tell whether a notebook is stored as it should be: without outputs."""
    cells = json.loads(text)["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    return all(not cell["outputs"] and not cell["execution_count"] for cell in code)
