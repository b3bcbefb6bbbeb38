"""Rules as a Python module over frames of pandas: NumPy and pandas are all it needs."""

from nn2rules.export.in_numpy import CORE, data_of, header_text
from nn2rules.export.program import Program

_MODULE = '''\
"""Rules that were extracted from a neural network, for frames of pandas.

{header}

``decide(frame)`` returns the class and the rule of each row, under the same index.
"""

import numpy as np
import pandas as pd

{data}


def decide(frame):
    """Return a frame with the columns "prediction" and "rule"."""
    codes = [_codes(frame[column["name"]], column) for column in COLUMNS]
    fired = _fired(codes, len(frame))
    made = {{}}
    for name, values in zip(("prediction", "rule"), zip(*ANSWERS)):
        answers = pd.Series(_listed(values)[fired], index=frame.index, dtype=object)
        made[name] = answers if answers.isna().any() else answers.infer_objects()
    return pd.DataFrame(made)


def _listed(values):
    """Return an array of values as they are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _codes(cells, column):
    if column["kind"] == "number":
        return _number_codes(*_numbers(cells, column["name"]), column)
    inverse, different = pd.factorize(cells.astype(object), use_na_sentinel=True)
    kinds = str if column["kind"] == "text" else (bool, np.bool_)
    for cell in different:
        if not isinstance(cell, kinds):
            _refuse(column["name"], cell, column["kind"])
    codes = [_word_code(cell, column) for cell in different]
    return np.array([*codes, column["missing"]], dtype=np.int64)[inverse]


def _numbers(cells, name):
    """Return the numbers of a column, and which cells are missing."""
    is_missing = cells.isna().to_numpy()
    if not pd.api.types.is_numeric_dtype(cells) or cells.dtype == bool:
        for cell in cells[~is_missing]:
            is_number = isinstance(cell, (int, float, np.integer, np.floating))
            if not is_number or isinstance(cell, bool):
                _refuse(name, cell, "number")
    filled = cells.astype(object).where(~is_missing, 0) if is_missing.any() else cells
    if pd.api.types.is_unsigned_integer_dtype(cells):
        return filled.to_numpy(dtype=np.uint64), is_missing
    if pd.api.types.is_integer_dtype(cells):
        return filled.to_numpy(dtype=np.int64), is_missing
    return filled.to_numpy(dtype=np.float64), is_missing


def _refuse(name, cell, kind):
    raise TypeError(f"column {{name!r}} holds {{cell!r}}, expected a {{kind}}")
'''


def write(program: Program) -> str:
    """Return rules as the text of a Python module over frames of pandas."""
    text = _MODULE.format(header=header_text(program), data=data_of(program))
    return text + CORE
