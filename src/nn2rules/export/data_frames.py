"""Rules and scorecards as Python modules over data frames, of pandas and of polars.

Rules are masks of bits, see `bits`, so thousands of them take milliseconds for each
million rows. Every text of the user is written by `ascii`, so none can end a literal.
"""

from collections.abc import Iterable, Iterator

from nn2rules.export.bits import bits_of
from nn2rules.export.card_program import CardProgram, Form, Line, Rate, Region
from nn2rules.export.card_text import TOO_CLOSE
from nn2rules.export.cells import Cells, Interval, Kind
from nn2rules.export.columns import Column
from nn2rules.export.program import NO_PREDICTION, Prediction, Program, RuleProgram
from nn2rules.language import unused
from nn2rules.space import Value

_MOST_WHOLE = (1 << 63) - 1

_CODES = '''

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
'''

_FIRED = '''

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
    _check(fired)
    return fired
'''

_CHECK = '''

def _check(positions):
    """Raise an error for the first row whose prediction is one."""
    for position, fact in ERRORS.items():
        if (positions == position).any():
            row = int(np.flatnonzero(positions == position)[0])
            raise ValueError(f"{fact}: row {row}")
'''

_SCORED = '''

def _scored(codes, numbers, n_rows):
    """Return the position of each row's class, and its totals."""
    outside = np.zeros(n_rows, dtype=bool)
    counted = [np.full(n_rows, part["start"]) for part in PARTS]
    for own, amounts, column in zip(codes, numbers, COLUMNS):
        outside |= own < 0
        is_number = own == column["slope"]
        for place, sums in enumerate(counted):
            sums += np.array([*column["points"][place], 0.0])[own]
            if column["rates"][place] is not None:
                top, half, bottom = column["rates"][place]
                product = top * amounts[is_number]
                if bottom:
                    product = np.floor((product + half) / bottom)
                sums[is_number] += product
    counted = [_counted(sums, part) for sums, part in zip(counted, PARTS)]
    positions = np.full(n_rows, TOO_CLOSE)
    totals = [np.full(n_rows, np.nan) for _ in TOTALS]
    left = ~outside
    for region in REGIONS:
        here = left.copy()
        for form, least in region["conditions"]:
            here &= _sum(form, counted, n_rows) >= least
        left &= ~here
        made = [_sum(form, counted, n_rows)[here] for form in region["totals"]]
        for total, values in zip(totals, made):
            total[here] = values / UNIT
        positions[here] = _decided(region, made)
    positions[outside] = OUTSIDE
    _check(positions)
    return positions, totals


def _counted(sums, part):
    """Return what the sums of a part count."""
    if part["below"] is not None:
        sums = np.where(sums < 0, part["below"] * sums, sums)
    if part["low"] is not None:
        sums = np.maximum(sums, part["low"])
    return sums if part["high"] is None else np.minimum(sums, part["high"])


def _sum(form, counted, n_rows):
    """Return a start and weighted parts, added up in their order."""
    start, weights = form
    total = np.full(n_rows, start)
    for place, weight in weights:
        total = total + weight * counted[place]
    return total


def _decided(region, totals):
    """Return the positions of the classes that totals prove."""
    if region["margin"] is not None:
        best = np.argmax(totals, axis=0)
        ordered = np.sort(totals, axis=0)
        is_ahead = ordered[-1] - ordered[-2] >= region["margin"]
        return np.where(is_ahead, best, TOO_CLOSE)
    positions = region["label"]
    for is_included, number, label in reversed(region["steps"]):
        is_above = totals[0] >= number if is_included else totals[0] > number
        positions = np.where(is_above, label, positions)
    return positions
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
        own = bits.of_column(place)
        more = {"bits": repr([(bit.word, bit.mask) for bit in own])}
        lines += _column(column, ((bit.code, bit.cells) for bit in own), more)
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


def _header(program: Program) -> str:
    """Return the facts about an export, a line for each."""
    return "\n".join(f"{key}: {text}" for key, text in program.about)


def _column(
    column: Column, cells: Iterable[tuple[int, Cells]], more: dict[str, str]
) -> Iterator[str]:
    """Return a column as data: which cells are which code, and more by name."""
    words: dict[object, int] = {}
    intervals: list[str] = []
    missing = other = -1
    for code, own in cells:
        if own.negated:
            other = code
        else:
            words |= dict.fromkeys(map(_whole, own.words), code)
        if own.missing:
            missing = code
        intervals += [_interval(code, each) for each in own.intervals]
    yield "    {"
    yield f"        'name': {column.name!a},"
    yield f"        'kind': {column.kind!a},"
    yield f"        'words': {words!a},"
    yield f"        'intervals': [{', '.join(intervals)}],"
    yield f"        'missing': {missing},"
    yield f"        'other': {other},"
    yield f"        'gaps': {column.gaps!a},"
    yield f"        'whole': {column.whole},"
    for name, text in more.items():
        yield f"        {name!r}: {text},"
    yield "    },"


def _card_data(program: CardProgram) -> str:
    """Return a scorecard as data: what `_SCORED` works on."""
    lines = ["COLUMNS = ("]
    for column, own in zip(program.columns, program.lines, strict=True):
        cells = [(code, line.cells) for code, line in enumerate(own)]
        lines += _column(column, cells, _points(program, own))
    lines += [")", "PARTS = ("]
    for part in program.parts:
        ends = {"below": part.below, "low": part.low, "high": part.high}
        floats = {name: None if e is None else float(e) for name, e in ends.items()}
        lines.append(f"    { {'start': float(part.start)} | floats!r},")
    lines += [")", "REGIONS = ("]
    lines += [f"    {_region(program, region)!r}," for region in program.regions]
    n_classes = len(program.labels)
    too_close, outside = n_classes, n_classes + 1
    errors = {
        too_close: TOO_CLOSE if program.between == "error" else "",
        outside: "unknown value" if program.outside is None else "",
    }
    lines += [
        ")",
        f"CLASSES = {(*program.labels, None, None)!a}",
        f"TOO_CLOSE, OUTSIDE = {too_close}, {outside}",
        f"TOTALS = {_total_columns(program)!a}",
        "# How many units make up a point.",
        f"UNIT = {float(program.unit)!r}",
        f"ERRORS = { ({k: v for k, v in errors.items() if v})!a}",
    ]
    return "\n".join(lines)


def _total_columns(program: CardProgram) -> tuple[str, ...]:
    """Return the names of the columns of totals, each of them once."""
    names = ["prediction"]
    for name in program.beside:
        names.append(unused(name, names))
    return tuple(names[1:])


def _points(program: CardProgram, lines: tuple[Line, ...]) -> dict[str, str]:
    """Return the points of a column, part by part, and the rates of its numbers."""
    slopes = [
        code
        for code, line in enumerate(lines)
        if any(isinstance(points, Rate) for points in line.points)
    ]
    slope = slopes[0] if slopes else -2
    tables, rates = [], []
    for place in range(len(program.parts)):
        own = [line.points[place] for line in lines]
        tables.append([0.0 if isinstance(p, Rate) else float(p) for p in own])
        rate = own[slope] if slopes else None
        rates.append(_rate(rate) if isinstance(rate, Rate) else None)
    return {"slope": repr(slope), "points": repr(tables), "rates": repr(rates)}


def _rate(rate: Rate) -> tuple[float, float, float]:
    """Return a rate; the divisor 0 stands for products that are whole."""
    return float(rate.top), float(rate.half), 0.0 if rate.whole else float(rate.bottom)


def _region(program: CardProgram, region: Region) -> dict[str, object]:
    """Return a region as data, classes by their positions."""

    def form(given: Form) -> tuple[float, list[tuple[int, float]]]:
        weights = [(place, float(weight)) for place, weight in given.weights]
        return float(given.start), weights

    def position(label: Value) -> int:
        is_same = [label is each for each in program.labels]
        return is_same.index(True) if label is not None else len(program.labels)

    is_near = program.between == "nearest" and region.margin is not None
    return {
        "conditions": [(form(f), float(least)) for f, least in region.conditions],
        "totals": [form(each) for each in region.totals],
        "label": position(region.label),
        "steps": [
            (sign == ">=", float(number), position(label))
            for sign, number, label in program.steps(region)
        ],
        "margin": 0.0 if is_near else region.margin,
    }


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


_PANDAS_HEAD = '''\
"""{what} extracted from a neural network, for pandas data frames.

{header}

``predict(frame)`` returns the class and {more} of each row, under the same index.
"""

import numpy as np
import pandas as pd

{data}
'''

_PANDAS_RULES = '''

def predict(frame):
    """Return a frame with the columns "prediction" and "rule"."""
    codes = [_codes(frame[column["name"]], column) for column in COLUMNS]
    fired = _fired(codes, len(frame))
    columns = {}
    for name, values in zip(("prediction", "rule"), zip(*PREDICTIONS)):
        columns[name] = _listed(values, fired, frame.index)
    return pd.DataFrame(columns)
'''

_PANDAS_CARD = '''

def predict(frame):
    """Return a frame with the column "prediction" and the totals."""
    codes = [_codes(frame[column["name"]], column) for column in COLUMNS]
    numbers = [
        _numbers(frame[column["name"]], column["name"])[0]
        if column["slope"] >= 0
        else None
        for column in COLUMNS
    ]
    positions, totals = _scored(codes, numbers, len(frame))
    columns = {"prediction": _listed(CLASSES, positions, frame.index)}
    for name, total in zip(TOTALS, totals):
        columns[name] = pd.Series(total, index=frame.index)
    return pd.DataFrame(columns)
'''

_PANDAS_CELLS = '''

def _listed(values, positions, index):
    """Return a column of values as they are, by their positions."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    cells = pd.Series(array[positions], index=index, dtype=object)
    return cells if cells.isna().any() else cells.infer_objects()


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
    raise TypeError(f"column {name!r} has {cell!r}, expected a {kind}")
'''


def write_pandas(program: RuleProgram) -> str:
    """Return rules as the text of a Python module over frames of pandas."""
    head = _PANDAS_HEAD.format(
        what="Rules", more="the rule", header=_header(program), data=_data(program)
    )
    return head + _PANDAS_RULES + _PANDAS_CELLS + _CODES + _FIRED + _CHECK


def write_card_pandas(program: CardProgram) -> str:
    """Return a scorecard as the text of a Python module over frames of pandas."""
    head = _PANDAS_HEAD.format(
        what="A scorecard",
        more="the total" if len(program.beside) == 1 else "the totals",
        header=_header(program),
        data=_card_data(program),
    )
    return head + _PANDAS_CARD + _PANDAS_CELLS + _CODES + _SCORED + _CHECK


_POLARS_HEAD = '''\
"""{what} extracted from a neural network, for polars data frames.

{header}

``predict(frame)`` returns a frame, lazy or not, with more columns, "prediction" and
{more}. ``prediction()`` is the expression behind it, a struct of these.
"""

import numpy as np
import polars as pl
import polars.selectors

{data}
PREDICTION = pl.Struct({struct})


def predict(frame):
    """Return a frame with the columns of predictions added."""
    return frame.with_columns(prediction().struct.unnest())


def prediction():
    """Return the expression of the class and what is beside it."""
    columns = pl.selectors.by_name(*(column["name"] for column in COLUMNS))
    return pl.struct(columns).map_batches(_predicted, return_dtype=PREDICTION)
'''

_POLARS_RULES = """

def _predicted(rows):
    cells = rows.struct.unnest()
    codes = [_codes(cells.get_column(c["name"]).alias("cell"), c) for c in COLUMNS]
    fired = pl.Series(_fired(codes, len(rows)))
    made = []
    for (name, dtype), values in zip(PREDICTION.to_schema().items(), zip(*PREDICTIONS)):
        made.append(pl.Series(name, values, dtype=dtype).gather(fired))
    return pl.DataFrame(made).to_struct("prediction")
"""

_POLARS_CARD = '''

def _predicted(rows):
    cells = rows.struct.unnest()
    given = [cells.get_column(c["name"]).alias("cell") for c in COLUMNS]
    codes = [_codes(own, column) for own, column in zip(given, COLUMNS)]
    numbers = [
        _numbers(own) if column["slope"] >= 0 else None
        for own, column in zip(given, COLUMNS)
    ]
    positions, totals = _scored(codes, numbers, len(rows))
    (name, dtype), *_ = PREDICTION.to_schema().items()
    made = [pl.Series(name, CLASSES, dtype=dtype).gather(pl.Series(positions))]
    for name, total in zip(TOTALS, totals):
        made.append(pl.Series(name, total, dtype=pl.Float64).fill_nan(None))
    return pl.DataFrame(made).to_struct("prediction")


def _numbers(cells):
    """Return the numbers of a column; what is missing is 0."""
    return cells.cast(pl.Float64).fill_null(0).to_numpy()
'''

_POLARS_CELLS = """

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
    raise TypeError(f"column {name!r} is of type {dtype}, expected {expected}")
"""

_TYPES: dict[Kind, str] = {"text": "String", "number": "Float64", "truth": "Boolean"}


def write_polars(program: RuleProgram) -> str:
    """Return rules as the text of a Python module for polars."""
    head = _POLARS_HEAD.format(
        what="Rules",
        more='"rule"',
        header=_header(program),
        data=_data(program),
        struct=f'{{"prediction": pl.{_label_type(program)}, "rule": pl.String}}',
    )
    return head + _POLARS_RULES + _POLARS_CELLS + _CODES + _FIRED + _CHECK


def write_card_polars(program: CardProgram) -> str:
    """Return a scorecard as the text of a Python module for polars."""
    totals = "**{name: pl.Float64 for name in TOTALS}"
    head = _POLARS_HEAD.format(
        what="A scorecard",
        more='"total"' if len(program.beside) == 1 else "the totals",
        header=_header(program),
        data=_card_data(program),
        struct=f'{{"prediction": pl.{_label_type(program)}, {totals}}}',
    )
    return head + _POLARS_CARD + _POLARS_CELLS + _CODES + _SCORED + _CHECK


def _label_type(program: Program) -> str:
    is_whole = all(isinstance(each, int) for each in program.classes)
    is_number = program.label_kind == "number"
    return "Int64" if is_number and is_whole else _TYPES[program.label_kind]
