"""Exports that are Python modules over data frames, imported and run."""

from collections.abc import Callable
from typing import Any

from nn2rules.export.program import Prediction, Program

Answers = Callable[[dict[str, Any], Any], list[tuple[Any, Any]]]


def imported(made: str) -> dict[str, Any]:
    """Return what a module defines."""
    module: dict[str, Any] = {}
    exec(compile(made, "exported.py", "exec"), module)
    return module


def answers(module: Any, rows: Any, run: Answers) -> list[Prediction | None]:
    """Return the answers of a module; where it fails, those to each row alone."""
    try:
        return [Prediction(label, rule) for label, rule in run(module, rows)]
    except ValueError as error:
        if not str(error).startswith(("unknown value: row ", "no rule covers this")):
            raise
        if len(rows) == 1:
            return [None]
    return [answers(module, [row], run)[0] for row in rows]


def typed(program: Program, rows: Any) -> dict[str, list[Any]]:
    """Return rows as columns, numbers as floats, every other missing one as NaN."""
    made = {}
    for column in program.columns:
        cells = [row[column.name] for row in rows]
        if column.kind == "number":
            cells = [
                (float("nan") if n % 2 else None) if c is None else float(c)
                for n, c in enumerate(cells)
            ]
        made[column.name] = cells
    return made
