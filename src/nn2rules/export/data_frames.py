"""Rules as Python modules over data frames, of pandas and of polars.

Rules are masks of bits, see `bits`, so thousands of them take milliseconds for each
million rows. Every text of the user is written by `ascii`, so none can end a literal.
"""

from collections.abc import Iterator

from nn2rules.export.bits import Bits, bits_of
from nn2rules.export.cells import Interval, Kind
from nn2rules.export.columns import Column
from nn2rules.export.program import NO_PREDICTION, Prediction, RuleProgram

_MOST_WHOLE = (1 << 63) - 1

_CORE = '''

def _number_codes(values, is_missing, column):
    """Return the code of each number; -1 is an unknown value."""
    codes = np.full(len(values), column["other"])
    with np.errstate(invalid="ignore"):
        is_whole = values == np.floor(values) if column["whole"] else True
        for code, low, is_above, high, is_below in column["intervals"]:
            inside = (values > low) if is_above else (values >= low)
            inside &= (values < high) if is_below else (values <= high)
            codes[inside & is_whole] = code
        for word, code in column["words"].items():
            codes[values == word] = code
    codes[is_missing] = column["missing"]
    return codes


def _word_code(cell, column):
    """Return the code of a text, or of true and false."""
    if cell in column["gaps"]:
        return column["missing"]
    return column["words"].get(cell, column["other"])


def _fired(codes, n_rows):
    """Return the position of each row's prediction."""
    words = [np.zeros(n_rows, dtype=np.int64) for _ in range(N_WORDS)]
    outside = np.zeros(n_rows, dtype=bool)
    for own, column in zip(codes, COLUMNS):
        outside |= own < 0
        for word in {word for word, _ in column["bits"]}:
            masks = [mask if at == word else 0 for at, mask in column["bits"]]
            words[word] |= np.array([*masks, 0], dtype=np.int64)[own]
    fired = np.where(outside, OUTSIDE, UNCOVERED)
    left = np.flatnonzero(~outside)
    rows = [word[left] for word in words]
    for position, forbidden in enumerate(RULES):
        hit = np.ones(len(left), dtype=bool)
        for word, mask in forbidden:
            hit &= (rows[word] & mask) == 0
        if hit.any():
            fired[left[hit]] = position
            left, rows = left[~hit], [word[~hit] for word in rows]
    for position, fact in ERRORS.items():
        if (fired == position).any():
            row = int(np.flatnonzero(fired == position)[0])
            raise ValueError(f"{fact}: row {row}")
    return fired
'''


def _data(program: RuleProgram) -> str:
    """Return a program as data: what `_CORE` works on."""
    bits = bits_of(program)
    n_rules = len(program.branches)
    ends = (program.otherwise or NO_PREDICTION, program.outside or NO_PREDICTION)
    predictions = [*(Prediction(b.label, b.name) for b in program.branches), *ends]
    errors = {
        n_rules: "no rule covers this row" if program.otherwise is None else "",
        n_rules + 1: "unknown value" if program.outside is None else "",
    }
    lines = ["COLUMNS = ("]
    for place, column in enumerate(program.columns):
        lines += _column(bits, place, column)
    lines += [")", f"N_WORDS = {bits.n_words}", "# The bits that each rule forbids."]
    lines.append("RULES = (")
    for words in bits.forbidden:
        pairs = [(word, mask) for word, mask in enumerate(words) if mask]
        lines.append(f"    {tuple(pairs)!r},")
    lines += [")", f"UNCOVERED, OUTSIDE = {n_rules}, {n_rules + 1}"]
    lines += [
        "# Class and rule; last those of rows not covered, and of unknown values."
    ]
    lines += [
        "PREDICTIONS = (",
        *(f"    {(each.label, each.rule)!a}," for each in predictions),
        ")",
    ]
    lines.append(f"ERRORS = { ({k: v for k, v in errors.items() if v})!a}")
    return "\n".join(lines)


def _header(program: RuleProgram) -> str:
    """Return the facts about an export, a line for each."""
    return "\n".join(f"{key}: {text}" for key, text in program.about)


def _column(bits: Bits, place: int, column: Column) -> Iterator[str]:
    """Return a column as data: which cells are which code."""
    words: dict[object, int] = {}
    intervals: list[str] = []
    missing = other = -1
    for bit in bits.of_column(place):
        if bit.cells.negated:
            other = bit.code
        else:
            words |= dict.fromkeys(map(_whole, bit.cells.words), bit.code)
        if bit.cells.missing:
            missing = bit.code
        intervals += [_interval(bit.code, each) for each in bit.cells.intervals]
    yield "    {"
    yield f"        'name': {column.name!a},"
    yield f"        'kind': {column.kind!a},"
    yield f"        'words': {words!a},"
    yield f"        'intervals': [{', '.join(intervals)}],"
    yield f"        'missing': {missing},"
    yield f"        'other': {other},"
    yield f"        'gaps': {column.gaps!a},"
    yield f"        'whole': {column.whole},"
    pairs = [(bit.word, bit.mask) for bit in bits.of_column(place)]
    yield f"        'bits': {pairs!r},"
    yield "    },"


def _interval(code: int, interval: Interval) -> str:
    """Return an interval whose ends are both there, as closed ones have them."""
    assert interval.low is not None, "closed cells have both ends"
    assert interval.high is not None, "closed cells have both ends"
    low, high = _whole(interval.low), _whole(interval.high)
    ends = (code, low, interval.low_is_strict, high, interval.high_is_strict)
    return repr(ends)


def _whole(value: object) -> object:
    """Return a whole float as an integer, with which columns of integers compare."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= _MOST_WHOLE:
        return int(value)
    return value


_PANDAS = '''\
"""Rules extracted from a neural network, for pandas data frames.

{header}

``predict(frame)`` returns the class and the rule of each row, under the same index.
"""

import numpy as np
import pandas as pd

{data}


def predict(frame):
    """Return a frame with the columns "prediction" and "rule"."""
    codes = [_codes(frame[column["name"]], column) for column in COLUMNS]
    fired = _fired(codes, len(frame))
    columns = {{}}
    for name, values in zip(("prediction", "rule"), zip(*PREDICTIONS)):
        cells = pd.Series(_listed(values)[fired], index=frame.index, dtype=object)
        columns[name] = cells if cells.isna().any() else cells.infer_objects()
    return pd.DataFrame(columns)


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
    raise TypeError(f"column {{name!r}} has {{cell!r}}, expected a {{kind}}")
'''


def write_pandas(program: RuleProgram) -> str:
    """Return rules as the text of a Python module over frames of pandas."""
    text = _PANDAS.format(header=_header(program), data=_data(program))
    return text + _CORE


_POLARS = '''\
"""Rules extracted from a neural network, for polars data frames.

{header}

``predict(frame)`` returns a frame, lazy or not, with two more columns, "prediction" and
"rule". ``prediction()`` is the expression behind it, a struct of the two.
"""

import numpy as np
import polars as pl
import polars.selectors

{data}
PREDICTION = pl.Struct({{"prediction": pl.{label}, "rule": pl.String}})


def predict(frame):
    """Return a frame with the columns "prediction" and "rule" added."""
    return frame.with_columns(prediction().struct.unnest())


def prediction():
    """Return the expression of the class and the rule."""
    columns = pl.selectors.by_name(*(column["name"] for column in COLUMNS))
    return pl.struct(columns).map_batches(_predicted, return_dtype=PREDICTION)


def _predicted(rows):
    cells = rows.struct.unnest()
    codes = [_codes(cells.get_column(c["name"]).alias("cell"), c) for c in COLUMNS]
    fired = pl.Series(_fired(codes, len(rows)))
    made = []
    for (name, dtype), values in zip(PREDICTION.to_schema().items(), zip(*PREDICTIONS)):
        made.append(pl.Series(name, values, dtype=dtype).gather(fired))
    return pl.DataFrame(made).to_struct("prediction")


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


def write_polars(program: RuleProgram) -> str:
    """Return rules as the text of a Python module for polars."""
    label = _TYPES[program.label_kind]
    if program.label_kind == "number":
        is_whole = all(isinstance(each, int) for each in program.classes)
        label = "Int64" if is_whole else label
    text = _POLARS.format(header=_header(program), data=_data(program), label=label)
    return text + _CORE
