"""Rewrite the expected output of examples.

Usage: ``python scripts/rewrite_examples.py FILE…``

Examples in pages (.md) and in docstrings (.py) are run, and where one prints something
else than the file says, the file is changed. In README examples have no prompts: there
a ``python`` block is followed by a ``text`` block with what it prints. Read the
difference before you commit it.
"""

import contextlib
import doctest
import importlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")  # the same sums everywhere
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

SOURCE = Path(__file__).parents[1] / "src"


class _Recorder(doctest.DocTestRunner):
    """Keeps what each example printed, as (line of the source, wanted, printed)."""

    def __init__(self) -> None:
        super().__init__(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
        self.failures_found: list[tuple[int, doctest.Example, str]] = []

    def report_failure(
        self, _out: Any, test: doctest.DocTest, example: doctest.Example, got: str
    ) -> None:
        self.failures_found.append(((test.lineno or 0) + example.lineno, example, got))

    def report_unexpected_exception(
        self, _out: Any, _test: doctest.DocTest, _example: Any, exc_info: Any
    ) -> None:
        raise exc_info[1]


def _tests(path: Path) -> list[doctest.DocTest]:
    if path.suffix == ".py":
        name = ".".join(path.resolve().relative_to(SOURCE).with_suffix("").parts)
        module = importlib.import_module(name.removesuffix(".__init__"))
        return doctest.DocTestFinder(exclude_empty=True).find(module)
    parser = doctest.DocTestParser()
    names = {"__name__": "__main__"}
    return [parser.get_doctest(path.read_text("utf-8"), names, path.name, str(path), 0)]


def _shortened(printed: str) -> str:
    """Return what was printed; of a traceback, its first line and its last."""
    lines = printed.rstrip("\n").split("\n")
    if lines[0].startswith("Traceback"):
        lines = [lines[0], "...", lines[-1]]
    return "\n".join(lines)


_PAIR = re.compile(r"^```python\n(.*?)^```\n(\n```text\n(.*?)^```\n)?", re.M | re.S)


def with_output(page: str, folder: Path | None = None) -> str:
    """Return a page whose ``text`` blocks say what the block in front of each prints.

    The blocks of a page share their names, as the cells of a notebook do, and write
    files to `folder`, or to one that is removed.
    """
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            return with_output(page, Path(temporary))
    names: dict[str, Any] = {"__name__": "__main__"}

    def run(match: re.Match[str]) -> str:
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(io.StringIO()) as out,
        ):
            exec(compile(match[1], "an example", "exec"), names)
        if match[2] is None:
            return match[0]
        lines = [line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")]
        return f"```python\n{match[1]}```\n\n```text\n" + "\n".join(lines) + "\n```\n"

    return _PAIR.sub(run, page)


def rewrite(path: Path) -> int:
    """Rewrite one file; return how many examples were changed."""
    if path.name == "README.md":
        text = path.read_text("utf-8")
        rewritten = with_output(text)
        path.write_text(rewritten, "utf-8")
        return int(rewritten != text)
    recorder = _Recorder()
    for test in _tests(path):
        recorder.run(test, clear_globs=False)
    lines = path.read_text("utf-8").split("\n")
    for line, example, got in sorted(
        recorder.failures_found, key=lambda each: -each[0]
    ):
        start = line + example.source.count("\n")
        stop = start + example.want.count("\n")
        shown = [
            " " * example.indent + text if text else "<BLANKLINE>"
            for text in _shortened(got).split("\n")
        ]
        lines[start:stop] = [text.rstrip() for text in shown]
    path.write_text("\n".join(lines), "utf-8")
    return len(recorder.failures_found)


if __name__ == "__main__":
    for given in sys.argv[1:]:
        print(f"{given}: {rewrite(Path(given))} rewritten")
