"""Descriptions of networks in the languages of other engines, one module for each.

::

    RuleList ──program_of──▶ RuleProgram ──write_program──▶ python · sql · dmn · …

This room may import everything below it: rules, files, language, space. What it exports
is a `Program`: columns, the cells that each holds, and an answer for every row. A
format is a function ``write(program, *, …)`` that looks at nothing else and returns the
export, text or bytes; its keyword arguments are the options of the format. To add one,
write a module and name it in `EXPORTERS`.

To export another kind of description, such as a scorecard, derive a class from
`Program` (`program.py` says what it has to answer), with a ``kind`` of its own, and
give the formats that can hold it a second function beside ``write``: it shares columns,
conditions on cells and names with the first. Name it in `Format.writers` under that
kind. `write_program` then does the rest: options, test vectors, files.
"""

import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from nn2rules.errors import OptionError
from nn2rules.export.bulk import predict_file
from nn2rules.export.program import Policy, Program, RuleProgram, program_of
from nn2rules.export.vectors import vectors_text
from nn2rules.files import check_writable, write_bytes, write_text
from nn2rules.rules import RuleList
from nn2rules.space import whole_number

__all__ = [
    "EXPORTERS",
    "Format",
    "Policy",
    "Program",
    "RuleProgram",
    "export",
    "options_of",
    "predict_file",
    "program_of",
    "tests_path",
    "write_program",
]


@dataclass(frozen=True, slots=True)
class Format:
    """What descriptions can be exported to.

    Attributes
    ----------
    what : str
        What it is, in one line.
    suffix : str
        How the names of its files end.
    writers : mapping from kinds of programs to "module.function"
        What writes it, within this package.
    typed : bool
        Whether each column has one type; formats for nn2rules or for people need not.
    escape : str
        How its texts escape a character by its number; empty if they cannot.
    mixed : bool
        Whether it keeps classes of several types as they are; else they are texts.
    """

    what: str
    suffix: str
    writers: Mapping[str, str]
    typed: bool = True
    escape: str = ""
    mixed: bool = False


def _rules(writer: str) -> dict[str, str]:
    """Return the writers of a format for rules."""
    return {RuleProgram.kind: writer}


_JSON_ESCAPE = "\\u{:04x}"
_XML_ESCAPE = "&#x{:x};"

EXPORTERS = {
    "csv": Format(
        "a decision table with a row for each rule",
        ".csv",
        _rules("own_formats.write_csv"),
        typed=False,
    ),
    "dmn": Format(
        "a DMN 1.3 decision table, with its diagram",
        ".dmn",
        _rules("dmn.write"),
        escape=_XML_ESCAPE,
    ),
    "js": Format(
        "an ES module without dependencies", ".mjs", _rules("js.write"), mixed=True
    ),
    "json": Format(
        "the JSON format nn2rules-rules/1",
        ".json",
        _rules("own_formats.write_json"),
        typed=False,
        escape=_JSON_ESCAPE,
    ),
    "latex": Format(
        "a document for XeLaTeX", ".tex", _rules("latex.write"), typed=False
    ),
    "markdown": Format(
        "a document with a table", ".md", _rules("markdown.write"), typed=False
    ),
    "onnx": Format(
        "an ONNX model that takes columns, or codes", ".onnx", _rules("onnx.write")
    ),
    "pandas": Format(
        "a Python module for pandas data frames",
        ".py",
        _rules("data_frames.write_pandas"),
        mixed=True,
    ),
    "pmml": Format(
        "a PMML 4.4 rule set", ".pmml", _rules("pmml.write"), escape=_XML_ESCAPE
    ),
    "polars": Format(
        "a Python module with a polars expression",
        ".py",
        _rules("data_frames.write_polars"),
    ),
    "prolog": Format(
        "a module for SWI-Prolog", ".pl", _rules("prolog.write"), mixed=True
    ),
    "python": Format(
        "a Python module without dependencies",
        ".py",
        _rules("python.write"),
        mixed=True,
    ),
    "sql": Format("SQL expressions, or a view of a table", ".sql", _rules("sql.write")),
    "xlsx": Format(
        "a decision table for Excel",
        ".xlsx",
        _rules("own_formats.write_xlsx"),
        typed=False,
    ),
}
"""The formats, by name."""


def export(
    rules: RuleList,
    format: str,  # noqa: A002  the word that users know
    path: str | os.PathLike[str] | None = None,
    *,
    unknown: Policy = "none",
    uncovered: Policy = "none",
    tests: int | None = None,
    **options: Any,
) -> str | bytes:
    """Return rules in the language of another engine; see `RuleList.export`."""
    if not isinstance(rules, RuleList) and format != "json":
        raise OptionError(
            f"a {type(rules).__name__} is exported as json only; for other formats, "
            f"extract rules: nn2rules.extract(model, data, form='rules')"
        )
    _check_options(format, RuleProgram.kind, options)
    program = program_of(
        rules,
        unknown=unknown,
        uncovered=uncovered,
        typed=EXPORTERS[format].typed or tests is not None,
        mixed=EXPORTERS[format].mixed,
    )
    return write_program(program, format, path, tests=tests, **options)


def write_program(
    program: Program,
    format: str,  # noqa: A002
    path: str | os.PathLike[str] | None = None,
    *,
    tests: int | None = None,
    **options: Any,
) -> str | bytes:
    """Return a program in the language of another engine, and write it to a path.

    With `tests`, that many test vectors are written beside it.
    """
    _check_options(format, program.kind, options)
    if path is not None:
        check_writable(path)
    if tests is not None:
        whole_number("tests", tests, 1)
        if path is None:
            raise OptionError("tests are written beside the export, which needs a path")
        check_writable(tests_path(path), keep=(path,))
    made: str | bytes = _writer(format, program.kind)(program, **options)
    vectors = None if tests is None else vectors_text(program, tests)
    if path is not None and vectors is not None:
        write_text(tests_path(path), vectors)
    if path is not None:
        write_text(path, made) if isinstance(made, str) else write_bytes(path, made)
    return made


def tests_path(path: str | os.PathLike[str]) -> Path:
    """Return where test vectors are written, beside the export."""
    return Path(path).with_suffix(".tests.csv")


def options_of(format: str, kind: str = RuleProgram.kind) -> tuple[str, ...]:  # noqa: A002
    """Return the names of the options that a format has for a kind of programs."""
    return tuple(list(inspect.signature(_writer(format, kind)).parameters)[1:])


def _writer(format: str, kind: str) -> Any:  # noqa: A002
    if format not in EXPORTERS:
        known = ", ".join(EXPORTERS)
        raise OptionError(f"format: {format!r}, expected one of {known}")
    writers = EXPORTERS[format].writers
    if kind not in writers:
        able = ", ".join(
            name for name, each in EXPORTERS.items() if kind in each.writers
        )
        raise OptionError(
            f"format: {format!r} cannot hold {kind}; expected one of {able}"
        )
    module, _, function = writers[kind].partition(".")
    return getattr(import_module(f"{__name__}.{module}"), function)


def _check_options(format: str, kind: str, options: Mapping[str, Any]) -> None:  # noqa: A002
    known = options_of(format, kind)
    for name in options:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise OptionError(f"the format {format!r} has no option {name!r}; {has}")
