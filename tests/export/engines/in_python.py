"""Exports that are Python modules, imported and run."""

from typing import Any

from nn2rules.export.program import Answer, Program


def execute(made: Any, program: Program, rows: Any) -> list[Answer | None]:
    """Run an exported module."""
    module: dict[str, Any] = {}
    exec(compile(made, "exported.py", "exec"), module)
    return [_answer(module, row) for row in rows]


def _answer(module: dict[str, Any], row: Any) -> Answer | None:
    try:
        found = Answer(*module["decide"](row))
    except ValueError:
        return None
    assert module["predict"](row) == found.label
    return found
