"""Exports that are Python modules over frames of pandas."""

from typing import Any

import pandas as pd

from export.engines.in_frames import answers, imported, typed
from nn2rules.export.program import Prediction, Program


def execute(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Run an exported module."""

    def run(module: Any, given: Any) -> list[tuple[Any, ...]]:
        frame = pd.DataFrame(typed(program, given), dtype=object)
        for column in program.columns:
            if column.kind == "number":
                frame[column.name] = frame[column.name].astype(float)
        found = module["predict"](frame)
        assert found.index.equals(frame.index)
        return list(found.itertuples(index=False, name=None))

    return answers(imported(made), program, rows, run)
