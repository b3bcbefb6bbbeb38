"""Exports that nn2rules itself reads back, and applies."""

import tempfile
from pathlib import Path
from typing import Any

from nn2rules import RuleList
from nn2rules.export.card_program import CardProgram, card_program_of
from nn2rules.export.program import (
    DEFAULT,
    NO_PREDICTION,
    UNPROVED,
    Prediction,
    Program,
)
from nn2rules.files import load_description
from nn2rules.rules import OUTSIDE


def execute(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Read an export back from a file, and apply it."""
    if isinstance(program, CardProgram):
        again = card_program_of(
            read_back(made),
            unknown=program.unknown,
            between=program.between,
            mixed=program.mixed,
        )
        return [again.predict(row) for row in rows]
    return answers(read_back(made), program, rows)


def read_back(made: str | bytes) -> Any:
    """Return what was exported; what kind it is, its content says."""
    data = made.encode() if isinstance(made, str) else made
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export"
        path.write_bytes(data)
        return load_description(path)


def answers(rules: RuleList, program: Program, rows: Any) -> list[Prediction | None]:
    """Return what rules answer, with the policies of a program for all other rows."""
    is_text = program.label_kind == "text"
    labels = [str(label) if is_text else label for label in rules.classes]
    default = labels[rules.classes.index(rules.default)]
    is_open = rules.scope == "support"
    proved = Prediction(default, DEFAULT)
    unproved = Prediction(default, UNPROVED)
    ends = {"none": NO_PREDICTION, "default": proved, "error": None}
    found: list[Prediction | None] = []
    for index in rules.apply(rows, unknown="none").tolist():
        if index == OUTSIDE:
            found.append(ends[program.unknown])
        elif index >= 0:
            found.append(Prediction(labels[rules.answers[index]], rules.names[index]))
        elif is_open:
            found.append({**ends, "default": unproved}[program.uncovered])
        else:
            found.append(proved)
    return found
