"""EXECUTORS: every format, run by its own engine.

An executor is a function ``execute(made, program, rows)``: the export, the program it
was made from (for the kinds of columns), and rows. It returns a `Prediction` for each
row, with the label as the engine gives it, or None if the engine raises an error.
"""

import math
import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from nn2rules.export import EXPORTERS, export
from nn2rules.export.card_program import card_program_of
from nn2rules.export.program import Prediction, program_of
from nn2rules.rules import RuleList
from nn2rules.scorecards import Scorecard
from nn2rules.space.values import Value

Rows = list[dict[str, Value]]
Execute = Callable[[Any, Any, Rows], list[Prediction | None]]

EXECUTORS = {
    "csv": "export.engines.in_nn2rules",
    "dmn": "export.engines.in_drools",
    "js": "export.engines.in_node",
    "json": "export.engines.in_nn2rules",
    "latex": "export.engines.in_latex",
    "markdown": "export.engines.in_markdown",
    "onnx": "export.engines.in_onnx",
    "pandas": "export.engines.in_pandas",
    "pmml": "export.engines.in_java",
    "polars": "export.engines.in_polars",
    "prolog": "export.engines.in_prolog",
    "python": "export.engines.in_python",
    "sql": "export.engines.in_sql",
    "xlsx": "export.engines.in_sheets",
}
"""The module that runs each format; it has a function `execute`."""


def executor(name: str) -> Execute:
    """Return what runs a format."""
    return import_module(EXECUTORS[name]).execute


def needs(is_there: bool, what: str, how: str) -> None:
    """Skip a test without its engine, saying so; in CI all engines must be there."""
    if is_there:
        return
    reason = f"{what} is not on this machine; {how}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def check_export(
    rules: RuleList,
    name: str,
    rows: Rows,
    *,
    unknown: str = "none",
    uncovered: str = "none",
    execute: Execute | None = None,
    **options: Any,
) -> None:
    """Compare the answers of an engine with those of the program, row by row."""
    program = program_of(
        rules, unknown=unknown, uncovered=uncovered, mixed=EXPORTERS[name].mixed
    )
    made = export(rules, name, unknown=unknown, uncovered=uncovered, **options)
    compare(made, program, rows, execute or executor(name))


def check_card(
    card: Scorecard,
    name: str,
    rows: Rows,
    *,
    unknown: str = "none",
    between: str = "none",
    points: str = "fine",
    execute: Execute | None = None,
    **options: Any,
) -> None:
    """Compare what an engine says of a scorecard with its program, row by row."""
    policies: Any = {"unknown": unknown, "between": between, "points": points}
    form = EXPORTERS[name]
    program = card_program_of(
        card, mixed=form.mixed, most=form.most, is_decimal=form.decimal, **policies
    )
    made = export(card, name, **policies, **options)
    compare(made, program, rows, execute or executor(name))


def compare(made: Any, program: Any, rows: Rows, execute: Execute) -> None:
    """Compare the answers of an engine with those of a program, row by row."""
    found = execute(made, program, rows)
    assert len(found) == len(rows)
    for row, answer in zip(rows, found, strict=True):
        expected = program.predict(row)
        assert _plain(answer) == _plain(expected), row


def _plain(answer: Prediction | None) -> tuple[object, ...] | None:
    """Return an answer with whole floats as integers, as engines mix the two."""
    if answer is None:
        return None
    label = answer.label
    if isinstance(label, float) and not isinstance(label, bool):
        label = int(label) if math.isfinite(label) and label == int(label) else label
    return type(label) is bool, label, *answer.beside
