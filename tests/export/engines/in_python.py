"""Exports that are Python modules, imported and run."""

from typing import Any

from nn2rules.export.card_program import CardProgram, Scored
from nn2rules.export.program import Prediction, Program


def execute(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Run an exported module."""
    module: dict[str, Any] = {}
    exec(compile(made, "exported.py", "exec"), module)
    return [_answer(module, program, row) for row in rows]


def _answer(module: dict[str, Any], program: Program, row: Any) -> Prediction | None:
    try:
        if isinstance(program, CardProgram):
            label, totals = module["predict_with_totals"](row)
            found: Prediction = Scored(label, None, totals)
        else:
            found = Prediction(*module["predict_with_rule"](row))
    except ValueError:
        return None
    assert module["predict"](row) == found.label
    return found
