"""EXPORTERS: rules in the languages of other engines, one module for each.

::

    RuleList ──program_of──▶ Program ──▶ python · sql · dmn · pmml · onnx · …

An exporter is a module with a function ``write(program, *, …)`` that returns the
export, text or bytes. Its keyword arguments are the options of the format.
"""

import inspect
import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from nn2rules.errors import OptionError
from nn2rules.export.bulk import predict_file
from nn2rules.export.program import Policy, program_of
from nn2rules.export.vectors import vectors_text
from nn2rules.files import check_writable, write_bytes, write_text
from nn2rules.rules import RuleList
from nn2rules.space import whole_number

__all__ = ["predict_file"]


@dataclass(frozen=True, slots=True)
class Format:
    """What rules can be exported to.

    Attributes
    ----------
    module : str
        Where it is written, within this package.
    what : str
        What it is, in a line.
    suffix : str
        How the names of its files end.
    typed : bool
        Whether its columns have one type each; what nn2rules itself reads, or people,
        need not.
    escape : str
        How its texts spell a character by its number; empty where they cannot.
    mixed : bool
        Whether it keeps classes of several types as they are; else they are texts.
    """

    module: str
    what: str
    suffix: str
    typed: bool = True
    escape: str = ""
    mixed: bool = False


_JSON_ESCAPE = "\\u{:04x}"
_XML_ESCAPE = "&#x{:x};"

EXPORTERS = {
    "csv": Format("csv", "a decision table, a row for each rule", ".csv", False),
    "dmn": Format(
        "dmn",
        "a decision table of DMN 1.3, with its diagram",
        ".dmn",
        escape=_XML_ESCAPE,
    ),
    "js": Format("js", "an ES module without dependencies", ".mjs", mixed=True),
    "json": Format(
        "json", "rules as nn2rules-rules/1", ".json", False, escape=_JSON_ESCAPE
    ),
    "latex": Format("latex", "a document for XeLaTeX", ".tex", False),
    "markdown": Format("markdown", "a document with a table", ".md", False),
    "onnx": Format("onnx", "an ONNX model over columns, or over codes", ".onnx"),
    "pandas": Format(
        "pandas", "a Python module over frames of pandas", ".py", mixed=True
    ),
    "pmml": Format("pmml", "a rule set of PMML 4.4", ".pmml", escape=_XML_ESCAPE),
    "polars": Format("polars", "a Python module with an expression of polars", ".py"),
    "prolog": Format("prolog", "clauses for SWI-Prolog", ".pl", mixed=True),
    "python": Format(
        "python", "a Python module without dependencies", ".py", mixed=True
    ),
    "sql": Format("sql", "SQL: expressions, or a view of a table", ".sql"),
    "xlsx": Format("xlsx", "a decision table for Excel", ".xlsx", False),
}
"""What rules can be exported to, by name."""


def export(
    rules: RuleList,
    format: str,  # noqa: A002  the word that users know
    path: str | os.PathLike[str] | None = None,
    *,
    unknown: Policy = "none",
    undecided: Policy = "none",
    tests: int | None = None,
    **options: Any,
) -> str | bytes:
    """Return rules in the language of another engine; see `RuleList.export`."""
    writer = _writer(format)
    _check_options(format, options)
    typed = EXPORTERS[format].typed or tests is not None
    program = program_of(
        rules,
        unknown=unknown,
        undecided=undecided,
        typed=typed,
        mixed=EXPORTERS[format].mixed,
    )
    if path is not None:
        check_writable(path)
    if tests is not None:
        whole_number("tests", tests, 1)
        if path is None:
            raise OptionError("tests are written beside the export; give it a path")
        check_writable(tests_path(path), keep=(path,))
    made: str | bytes = writer(program, **options)
    vectors = None if tests is None else vectors_text(program, tests)
    if path is not None and vectors is not None:
        write_text(tests_path(path), vectors)
    if path is not None:
        write_text(path, made) if isinstance(made, str) else write_bytes(path, made)
    return made


def tests_path(path: str | os.PathLike[str]) -> Path:
    """Return where test vectors are written, beside the export."""
    return Path(path).with_suffix(".tests.csv")


def options_of(format: str) -> tuple[str, ...]:  # noqa: A002
    """Return the names of the options that a format has."""
    return tuple(list(inspect.signature(_writer(format)).parameters)[1:])


def _writer(format: str) -> Any:  # noqa: A002
    if format not in EXPORTERS:
        known = ", ".join(EXPORTERS)
        raise OptionError(f"format: {format!r}, expected one of {known}")
    return import_module(f"{__name__}.{EXPORTERS[format].module}").write


def _check_options(format: str, options: dict[str, Any]) -> None:  # noqa: A002
    known = options_of(format)
    for name in options:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise OptionError(f"the format {format!r} has no option {name!r}; {has}")
