"""Rules as a Python module for polars: an expression over the columns of a frame."""

from nn2rules.export.cells import Kind
from nn2rules.export.in_numpy import CORE, data_of, header_text
from nn2rules.export.program import Program

_MODULE = '''\
"""Rules that were extracted from a neural network, for frames of polars.

{header}

``decide(frame)`` returns a frame, lazy or not, with two more columns, "prediction" and
"rule". ``decision()`` is the expression behind it, a struct of the two.
"""

import numpy as np
import polars as pl
import polars.selectors

{data}
ANSWER = pl.Struct({{"prediction": pl.{label}, "rule": pl.String}})


def decide(frame):
    """Return a frame with the columns "prediction" and "rule" added."""
    return frame.with_columns(decision().struct.unnest())


def decision():
    """Return the expression of the class and the rule."""
    columns = pl.selectors.by_name(*(column["name"] for column in COLUMNS))
    return pl.struct(columns).map_batches(_decided, return_dtype=ANSWER)


def _decided(rows):
    cells = rows.struct.unnest()
    codes = [_codes(cells.get_column(c["name"]).alias("cell"), c) for c in COLUMNS]
    fired = pl.Series(_fired(codes, len(rows)))
    made = []
    for (name, dtype), values in zip(ANSWER.to_schema().items(), zip(*ANSWERS)):
        made.append(pl.Series(name, values, dtype=dtype).gather(fired))
    return pl.DataFrame(made).to_struct("decision")


def _codes(cells, column):
    kind, dtype = column["kind"], cells.dtype
    if dtype == pl.Null:
        return np.full(len(cells), column["missing"])
    if kind == "number":
        if not dtype.is_integer() and not dtype.is_float():
            _refuse(column["name"], dtype, "numbers")
        if dtype.is_float():
            cells = cells.cast(pl.Float64).fill_nan(None)
        filled = cells.fill_null(0).to_numpy()
        return _number_codes(filled, cells.is_null().to_numpy(), column)
    if kind == "text" and dtype in (pl.Categorical, pl.Enum):
        cells = cells.cast(pl.String)
    if cells.dtype != (pl.String if kind == "text" else pl.Boolean):
        _refuse(column["name"], dtype, "texts" if kind == "text" else "true and false")
    different = cells.drop_nulls().unique()
    codes = [_word_code(cell, column) for cell in different.to_list()]
    if len(different):
        found = cells.replace_strict(
            different, codes, default=column["missing"], return_dtype=pl.Int64
        )
        return found.to_numpy()
    return np.full(len(cells), column["missing"])


def _refuse(name, dtype, expected):
    raise TypeError(f"column {{name!r}} is of type {{dtype}}, expected {{expected}}")
'''

_TYPES: dict[Kind, str] = {"text": "String", "number": "Float64", "truth": "Boolean"}


def write(program: Program) -> str:
    """Return rules as the text of a Python module for polars."""
    label = _TYPES[program.label_kind]
    if program.label_kind == "number":
        is_whole = all(isinstance(each, int) for each in program.rules.classes)
        label = "Int64" if is_whole else label
    text = _MODULE.format(
        header=header_text(program), data=data_of(program), label=label
    )
    return text + CORE
