"""Exports that are Python modules for polars."""

from typing import Any

import polars as pl

from export.engines.in_frames import answers, imported, typed
from nn2rules.export.program import Prediction, Program

_TYPES = {"text": pl.String, "number": pl.Float64, "truth": pl.Boolean}


def execute(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Run an exported module; errors come back as polars wraps them."""
    schema = {column.name: _TYPES[column.kind] for column in program.columns}

    def run(module: Any, given: Any) -> list[tuple[Any, ...]]:
        frame = pl.DataFrame(typed(program, given), schema=schema)
        try:
            found = frame.select(module["prediction"]()).to_series().to_list()
        except pl.exceptions.ComputeError as error:
            raise ValueError(str(error).removeprefix("ValueError: ")) from None
        return [tuple(each.values()) for each in found]

    return answers(imported(made), program, rows, run)
