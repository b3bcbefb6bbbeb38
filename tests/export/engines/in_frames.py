"""Exports that are Python modules over data frames, imported and run."""

from collections.abc import Callable
from typing import Any

from nn2rules.export.card_program import CardProgram, Scored
from nn2rules.export.program import Prediction, Program

Answers = Callable[[dict[str, Any], Any], list[tuple[Any, ...]]]


def imported(made: str) -> dict[str, Any]:
    """Return what a module defines."""
    module: dict[str, Any] = {}
    exec(compile(made, "exported.py", "exec"), module)
    return module


def answers(
    module: Any, program: Program, rows: Any, run: Answers
) -> list[Prediction | None]:
    """Return the answers of a module; where it fails, those to each row alone."""
    try:
        return [_answer(program, found) for found in run(module, rows)]
    except ValueError as error:
        if not str(error).startswith(_MEANT):
            raise
        if len(rows) == 1:
            return [None]
    return [answers(module, program, [row], run)[0] for row in rows]


_MEANT = ("unknown value: row ", "no rule covers this", "the total is too close")


def _answer(program: Program, found: tuple[Any, ...]) -> Prediction:
    label, *beside = found
    if isinstance(program, CardProgram):
        known = (None if isinstance(t, float) and t != t else t for t in beside)
        return Scored(label, None, tuple(known))
    return Prediction(label, *beside)


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
