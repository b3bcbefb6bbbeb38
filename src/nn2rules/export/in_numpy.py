"""What exports to data frames share: rules as data, and the NumPy that applies them.

Rules are masks of bits, see `bits`, so thousands of them take milliseconds for each
million rows. Every text of the user's is written by `ascii`, so none can end a literal.
"""

from collections.abc import Iterator

from nn2rules.export.bits import Bits, bits_of
from nn2rules.export.cells import Interval
from nn2rules.export.columns import Column
from nn2rules.export.header import header_of
from nn2rules.export.program import NOTHING, Answer, Program

_MOST_WHOLE = (1 << 63) - 1

CORE = '''

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
    """Return the position of the answer to each row."""
    words = [np.zeros(n_rows, dtype=np.int64) for _ in range(N_WORDS)]
    outside = np.zeros(n_rows, dtype=bool)
    for own, column in zip(codes, COLUMNS):
        outside |= own < 0
        for word in {word for word, _ in column["bits"]}:
            masks = [mask if at == word else 0 for at, mask in column["bits"]]
            words[word] |= np.array([*masks, 0], dtype=np.int64)[own]
    fired = np.where(outside, OUTSIDE, OPEN)
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


def data_of(program: Program) -> str:
    """Return a program as data: what `CORE` works on."""
    bits = bits_of(program)
    n_rules = len(program.branches)
    ends = (program.otherwise or NOTHING, program.outside or NOTHING)
    answers = [*(Answer(b.label, b.name) for b in program.branches), *ends]
    errors = {
        n_rules: "no rule decides this row" if program.otherwise is None else "",
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
    lines += [")", f"OPEN, OUTSIDE = {n_rules}, {n_rules + 1}"]
    lines += [
        "# The class and the rule, also of open rows and of those off the domain."
    ]
    lines += [
        "ANSWERS = (",
        *(f"    {(each.label, each.rule)!a}," for each in answers),
        ")",
    ]
    lines.append(f"ERRORS = { ({k: v for k, v in errors.items() if v})!a}")
    return "\n".join(lines)


def header_text(program: Program) -> str:
    """Return what an export says of itself, a line for each fact."""
    return "\n".join(f"{key}: {text}" for key, text in header_of(program))


def _column(bits: Bits, place: int, column: Column) -> Iterator[str]:
    """Return a column as data: which cells are which code."""
    words: dict[object, int] = {}
    intervals: list[str] = []
    missing = other = -1
    for bit in bits.of_column(place):
        if bit.cells.but:
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
