"""Rewrite the expected output of examples.

Usage: ``python scripts/rewrite_examples.py FILE…``

Examples in pages (.md) and in docstrings (.py) are run, and where one prints something
else than the file says, the file is changed. Read the difference before you commit it.
"""

import doctest
import importlib
import os
import sys
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


def rewrite(path: Path) -> int:
    """Rewrite one file; return how many examples were changed."""
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
