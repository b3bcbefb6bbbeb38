"""Descriptions of networks in the languages of other engines, one module for each.

::

    RuleList ───program_of───────▶ RuleProgram ─┐
                                                ├─write_program─▶ python · sql · dmn · …
    Scorecard ──card_program_of──▶ CardProgram ─┘

What this room exports is a `Program`: columns, the cells that each holds, and a
prediction for every row. A format is a function ``write(program, *, …)`` that looks at
nothing else and returns the export, text or bytes; its keyword arguments are the
options of the format. `EXPORTERS` names the module of each format; most have a second
function, for scorecards. To add a format, write a module and name it there.

`program` and `card_program` make programs of rules and of scorecards, from `columns`
and `cells`; `disjoint` and `bits` are other ways to decide which rule applies. Writers
share `program_text`, `card_text`, `card_code`, `rule_table`, `sql_conditions`,
`sql_dialects`, `feel` and `xml_text`. `vectors` writes test vectors. `bulk` predicts
the rows of large files, which `bulk_source` opens and `bulk_query` asks.

To export another kind of description, derive a class from `Program` (`program.py` says
what it has to answer; `card_program.py` does it for scorecards), with a ``kind`` of its
own, and give the formats that can hold it another function beside ``write``: it shares
columns, conditions on cells and names with the first. Name it in `Format.writers` under
that kind. `write_program` then does the rest: options, test vectors, files. Imports
`scorecards`, `rules`, `files`, `output`, `language` and `space`.
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
from nn2rules.export.card_program import (
    FINE,
    Between,
    CardProgram,
    Points,
    card_program_of,
)
from nn2rules.export.program import Policy, Program, RuleProgram, program_of
from nn2rules.export.vectors import vectors_text
from nn2rules.files import check_writable, write_bytes, write_text
from nn2rules.rules import RuleList
from nn2rules.scorecards import Scorecard
from nn2rules.space import whole_number

__all__ = [
    "EXPORTERS",
    "Between",
    "CardProgram",
    "Format",
    "Points",
    "Policy",
    "Program",
    "RuleProgram",
    "card_program_of",
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
    most : int
        How many units totals of scorecards may have that its engines add up exactly.
    decimal : bool
        Whether its engines work with decimal numbers rather than in float64.
    """

    what: str
    suffix: str
    writers: Mapping[str, str]
    typed: bool = True
    escape: str = ""
    mixed: bool = False
    most: int = FINE
    decimal: bool = False


def _writers(rules: str, card: str | None = None) -> dict[str, str]:
    """Return the writers of a format for rules, and for scorecards."""
    cards = {} if card is None else {CardProgram.kind: card}
    return {RuleProgram.kind: rules} | cards


_JSON_ESCAPE = "\\u{:04x}"
_XML_ESCAPE = "&#x{:x};"

EXPORTERS = {
    "csv": Format(
        "a decision table with a row for each rule",
        ".csv",
        _writers("own_formats.write_csv"),
        typed=False,
    ),
    "dmn": Format(
        "a DMN 1.3 decision table, or tables of points",
        ".dmn",
        _writers("dmn.write", "dmn_card.write"),
        escape=_XML_ESCAPE,
        decimal=True,
    ),
    "js": Format(
        "an ES module without dependencies",
        ".mjs",
        _writers("js.write", "js.write_card"),
        mixed=True,
    ),
    "json": Format(
        "the JSON format nn2rules-rules/1",
        ".json",
        _writers("own_formats.write_json", "own_formats.write_card_json"),
        typed=False,
        escape=_JSON_ESCAPE,
    ),
    "latex": Format(
        "a document for XeLaTeX",
        ".tex",
        _writers("latex.write", "latex.write_card"),
        typed=False,
    ),
    "markdown": Format(
        "a document with a table",
        ".md",
        _writers("markdown.write", "markdown.write_card"),
        typed=False,
    ),
    "onnx": Format(
        "an ONNX model that takes columns, or codes",
        ".onnx",
        _writers("onnx.write", "onnx_card.write"),
    ),
    "pandas": Format(
        "a Python module for pandas data frames",
        ".py",
        _writers("data_frames.write_pandas", "data_frames.write_card_pandas"),
        mixed=True,
    ),
    "pmml": Format(
        "a PMML 4.4 rule set, or scorecard",
        ".pmml",
        _writers("pmml.write", "pmml_card.write"),
        escape=_XML_ESCAPE,
        most=10**9,  # JPMML rounds down to integers of 32 bits
    ),
    "polars": Format(
        "a Python module with a polars expression",
        ".py",
        _writers("data_frames.write_polars", "data_frames.write_card_polars"),
    ),
    "prolog": Format(
        "a module for SWI-Prolog", ".pl", _writers("prolog.write"), mixed=True
    ),
    "python": Format(
        "a Python module without dependencies",
        ".py",
        _writers("python.write", "python.write_card"),
        mixed=True,
    ),
    "sql": Format(
        "SQL expressions, or a view of a table",
        ".sql",
        _writers("sql.write", "sql_card.write"),
    ),
    "xlsx": Format(
        "a decision table for Excel, or a scorecard with formulas",
        ".xlsx",
        _writers("own_formats.write_xlsx", "xlsx_card.write"),
        typed=False,
        most=10**9,  # spreadsheets have 15 digits
    ),
}
"""The formats, by name."""


def export(
    description: RuleList | Scorecard,
    format: str,  # noqa: A002  the word that users know
    path: str | os.PathLike[str] | None = None,
    *,
    unknown: Policy = "none",
    tests: int | None = None,
    **options: Any,
) -> str | bytes:
    """Return rules or a scorecard in another language; see `Description.export`."""
    if not isinstance(description, RuleList | Scorecard):
        raise OptionError(
            f"a {type(description).__name__}, expected a RuleList or a Scorecard"
        )
    is_card = isinstance(description, Scorecard)
    own = {name: options.pop(name) for name in _OWN[is_card] if name in options}
    kind = CardProgram.kind if is_card else RuleProgram.kind
    _check_options(format, kind, options)
    form = EXPORTERS[format]
    make: Any = card_program_of if is_card else program_of
    if is_card:
        own |= {"most": form.most, "is_decimal": form.decimal}
    program = make(
        description,
        unknown=unknown,
        typed=form.typed or tests is not None or (is_card and format == "xlsx"),
        mixed=form.mixed,
        **own,
    )
    return write_program(program, format, path, tests=tests, **options)


_OWN = {False: ("uncovered",), True: ("points", "between")}
"""Options of all formats, for rules and for scorecards."""


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
        if name in (*_OWN[False], *_OWN[True]):
            others = "rules" if name in _OWN[False] else "scorecards"
            raise OptionError(f"{name} is an option of {others}, not of {kind}")
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise OptionError(f"the format {format!r} has no option {name!r}; {has}")
