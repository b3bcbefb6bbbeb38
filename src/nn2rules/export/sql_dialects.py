"""What databases spell in different ways: names, texts, numbers, errors.

Texts are exact in each of them: signs that a dialect gives a meaning to are escaped,
and so are control characters, which editors and version control like to change.
Numbers are the same 64-bit number, to the last bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.export.cells import Kind
from nn2rules.space import Value

_STEP = 1 << 62
_LEAST_NORMAL = 2.0**-1022


def _is_control(sign: str) -> bool:
    return ord(sign) < 32 or 127 <= ord(sign) < 160 or sign in "\u2028\u2029"


def doubled(char: str, joint: str, prefix: str = "") -> Callable[[str], str]:
    """Return what writes texts in plain quotes, control characters by a function."""

    def write(text: str) -> str:
        parts, plain = [], ""
        for sign in text:
            if _is_control(sign):
                parts += [f"{prefix}'{plain}'"] if plain else []
                parts.append(f"{char}({ord(sign)})")
                plain = ""
            else:
                plain += "''" if sign == "'" else sign
        parts += [f"{prefix}'{plain}'"] if plain or not parts else []
        return parts[0] if len(parts) == 1 else f"({f' {joint} '.join(parts)})"

    return write


def escaped(special: str) -> Callable[[str], str]:
    """Return what writes texts with backslashes, `special` signs by their number."""

    def write(text: str) -> str:
        signs = (
            f"\\u{ord(sign):04x}"
            if _is_control(sign) or sign in special
            else f"\\{sign}"
            if sign in "\\'"
            else sign
            for sign in text
        )
        return f"'{''.join(signs)}'"

    return write


def with_exponent(number: float) -> str:
    """Return a number with an exponent, by which it is a float and no decimal."""
    text = repr(number)
    return text if "e" in text else f"{text}e0"


def with_exponent_normal(number: float) -> str:
    """Return the same, unless the number is nearer to 0 than SQL Server goes."""
    if 0 < abs(number) < _LEAST_NORMAL:
        raise UnsupportedModelError(
            f"the number {number} is nearer to 0 than any that SQL Server holds; give "
            f"the feature other edges"
        )
    return with_exponent(number)


def by_halves(number: float) -> str:
    """Return a number as a quotient of whole numbers, which SQLite rounds nowhere.

    Its reader of literals may be one bit off. It reads whole numbers as they are, and
    multiplies and divides by powers of two without rounding.
    """
    text = repr(number)
    digits = text.lstrip("-").partition("e")[0].replace(".", "").strip("0")
    if "e" not in text and len(digits) <= 15 and Fraction(text) == Fraction(number):
        return text
    top, bottom = number.as_integer_ratio()
    steps, power = "", 1 if bottom > 1 else _twos(top)
    if bottom == 1:
        top //= power
    sign, left = ("/", bottom) if bottom > 1 else ("*", power)
    while left > 1:
        step = min(left, _STEP)
        steps += f" {sign} {step}"
        left //= step
    return f"({top} * 1.0{steps} /* {text} */)"


def _twos(number: int) -> int:
    """Return the largest power of two that divides a number."""
    return number & -number


_MOST_WHOLE = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one database writes what all of them mean.

    Attributes
    ----------
    text : callable
        A text as a literal.
    number : callable
        A 64-bit number that is not whole as a literal, of type DOUBLE.
    ends : str
        The signs around a name; the second is doubled within.
    types : dict
        The types of texts, numbers, and true and false.
    whole_type : str
        The type of whole numbers of 64 bits.
    truths : (str, str)
        False and true.
    nan : str
        The test for NaN; empty where there is none.
    finite : str
        The test for numbers that are neither NaN nor infinite, of a database that
        decides comparisons by the statistics of a file; empty for others. DuckDB does,
        and the statistics of Parquet leave NaN out: where all numbers are at most 10,
        it takes ``x <= 11`` for true and ``isnan(x)`` for false without a look at x.
        It has no such shortcut for ``isfinite`` and ``isinf``.
    whole : str
        What a number equals that is whole.
    floor : str
        The largest whole number that is not above a number.
    most, least : str
        The functions for the largest and the smallest of several numbers.
    fails : str
        What ends a query with an error: of a message, and of an empty text that depends
        on the row, so that no planner works it out beforehand.
    empty : str
        That text, of a column.
    folds_case : bool
        Whether names that differ only in case are the same.
    longest : int
        How many bytes a name may have.
    fence : str
        What keeps a subquery from being merged into the query around it, which would
        try all rules twice.
    joins : bool
        Whether many words are an OR of equalities rather than an IN: DuckDB makes a
        join of each IN, and plans hundreds of them for minutes.
    no_text, no_name : str, tuple of str
        What no text can hold, sign by sign, and no name.
    cell : str
        A column of texts, compared sign by sign.
    """

    name: str
    text: Callable[[str], str]
    number: Callable[[float], str]
    fails: str
    empty: str = "COALESCE(LEFT(CAST({} AS VARCHAR), 0), '')"
    ends: str = '""'
    types: dict[Kind, str] = field(
        default_factory=lambda: {
            "text": "TEXT",
            "number": "DOUBLE PRECISION",
            "truth": "BOOLEAN",
        }
    )
    whole_type: str = "BIGINT"
    truths: tuple[str, str] = ("FALSE", "TRUE")
    nan: str = ""
    finite: str = ""
    whole: str = "FLOOR({})"
    floor: str = "FLOOR({})"
    most: str = "GREATEST"
    least: str = "LEAST"
    folds_case: bool = True
    longest: int = 1 << 16
    fence: str = ""
    joins: bool = False
    no_text: str = ""
    no_name: tuple[str, ...] = ()
    cell: str = "{}"
    tail: str = ""

    def identifier(self, name: str) -> str:
        """Return a name in the quotes of the dialect; what cannot be one is refused."""
        first, last = self.ends[0], self.ends[1]
        is_held = name and len(name.encode()) <= self.longest
        if not is_held or any(part in name for part in ("\0", *self.no_name)):
            raise UnsupportedModelError(
                f"{name!r} cannot be a name in the dialect {self.name!r}; rename it"
            )
        if self.name == "bigquery":
            return first + name.replace("\\", "\\\\").replace("`", "\\`") + last
        return first + name.replace(last, last * 2) + last

    def word(self, value: Value, kind: Kind) -> str:
        """Return a value as a literal of its kind."""
        if kind == "truth":
            return self.truths[bool(value)]
        if kind == "number":
            assert isinstance(value, int | float), "columns are of one kind"
            return self.literal(value)
        text = str(value)
        if any(sign in text for sign in self.no_text):
            raise UnsupportedModelError(
                f"the value {text!r} holds a sign that no text of the dialect "
                f"{self.name!r} can hold; give the value another text"
            )
        return self.text(text)

    def cell_word(self, value: Value, kind: Kind) -> str:
        """Return a value as a literal that cells are compared with."""
        return self.word(f"{value}{self.tail}" if kind == "text" else value, kind)

    def literal(self, number: float) -> str:
        """Return a number as a literal, whole ones as integers."""
        if isinstance(number, int) and not _is_double(number):
            raise UnsupportedModelError(
                f"the value {number} is no 64-bit number, which columns of numbers "
                f"hold; give it as text"
            )
        if number == int(number) and abs(number) <= _MOST_WHOLE:
            return str(int(number))
        return self.number(float(number))

    def label_type(self, classes: Sequence[Value], kind: Kind) -> str:
        """Return the type of class labels of a kind; whole numbers stay whole."""
        is_whole = all(isinstance(c, int) and abs(c) <= _MOST_WHOLE for c in classes)
        is_whole = is_whole and kind == "number"
        return self.whole_type if is_whole else self.types[kind]

    def double(self, number: float) -> str:
        """Return a number as a literal of type DOUBLE, whole or not."""
        return self.number(float(number))


def _is_double(number: int) -> bool:
    try:
        return float(number) == number
    except OverflowError:
        return False


_SPARK = Dialect(
    "spark",
    text=escaped("$"),
    number=lambda number: f"{number!r}D",
    fails="raise_error({0})",
    ends="``",
    no_name=("${",),  # Spark puts its settings there
    types={"text": "STRING", "number": "DOUBLE", "truth": "BOOLEAN"},
    nan="isnan({})",
)

DIALECTS = {
    "duckdb": Dialect(
        "duckdb",
        text=doubled("chr", "||"),
        number=with_exponent,
        fails="error({0})",
        types={"text": "VARCHAR", "number": "DOUBLE", "truth": "BOOLEAN"},
        nan="NOT isfinite({0}) AND NOT isinf({0})",
        finite="isfinite({})",
        joins=True,
    ),
    "postgres": Dialect(
        "postgres",
        text=doubled("chr", "||"),
        number=lambda number: f"'{number!r}'::float8",
        fails="CAST({0} || {1} AS INTEGER)",
        nan="{} = 'NaN'::float8",
        folds_case=False,
        longest=63,
        fence=" OFFSET 0",
        no_text="\0",
    ),
    "sqlite": Dialect(
        "sqlite",
        text=doubled("char", "||"),
        number=by_halves,
        fails="json({0} || {1})",
        empty="COALESCE(SUBSTR({}, 1, 0), '')",
        ends="``",  # what is in double quotes and no column, SQLite takes for a text
        types={"text": "TEXT", "number": "REAL", "truth": "INTEGER"},
        whole_type="INTEGER",
        truths=("0", "1"),
        whole="ROUND({})",
        floor="(CAST({0} AS INTEGER) - ({0} < CAST({0} AS INTEGER)))",
        most="MAX",
        least="MIN",
        fence=" LIMIT -1 OFFSET 0",
    ),
    "spark": _SPARK,
    "databricks": _SPARK,
    "bigquery": Dialect(
        "bigquery",
        text=escaped(""),
        number=repr,
        fails="ERROR({0})",
        ends="``",
        no_name=(".",),
        whole_type="INT64",
        types={"text": "STRING", "number": "FLOAT64", "truth": "BOOL"},
        nan="IS_NAN({})",
    ),
    "snowflake": Dialect(
        "snowflake",
        text=escaped(""),
        number=lambda number: f"'{number!r}'::FLOAT",
        fails="CAST({0} || {1} AS INTEGER)",
        types={"text": "VARCHAR", "number": "FLOAT", "truth": "BOOLEAN"},
        nan="{} = 'NaN'::FLOAT",
        folds_case=False,
        longest=255,
    ),
    "trino": Dialect(
        "trino",
        text=doubled("chr", "||"),
        number=lambda number: f"DOUBLE '{number!r}'",
        fails="fail({0})",
        types={"text": "VARCHAR", "number": "DOUBLE", "truth": "BOOLEAN"},
        nan="is_nan({})",
    ),
    "tsql": Dialect(
        "tsql",
        text=doubled("NCHAR", "+", "N"),
        number=with_exponent_normal,
        fails="CAST({0} + {1} AS INT)",
        empty="COALESCE(LEFT(CAST({} AS NVARCHAR(MAX)), 0), N'')",
        ends="[]",
        types={"text": "NVARCHAR(MAX)", "number": "FLOAT", "truth": "BIT"},
        truths=("0", "1"),
        longest=128,
        # SQL Server takes a and A, and a and a with a space behind, for the same.
        cell="({} + N'.') COLLATE Latin1_General_BIN2",
        tail=".",
    ),
}
"""The databases whose SQL is written, by name."""


def dialect_of(name: str) -> Dialect:
    """Return a dialect by its name."""
    if name not in DIALECTS:
        raise OptionError(
            f"dialect: {name!r}, expected one of {', '.join(sorted(DIALECTS))}"
        )
    return DIALECTS[name]
