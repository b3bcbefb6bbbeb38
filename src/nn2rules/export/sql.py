"""Rules as SQL: expressions for the class and the rule, or a view with both.

A view tries the rules once: a subquery finds the rule, and the class follows from it.
In DuckDB a view of many rules tries them as masks of bits, which is several times as
fast and gives the same result; the expressions are easier to read.
"""

from collections.abc import Sequence
from typing import Literal

from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.export.bits import bits_of
from nn2rules.export.program import Prediction, Program, RuleProgram
from nn2rules.export.sql_conditions import (
    ALWAYS,
    branch_test,
    column_words,
    known_test,
    position_of,
    predictions_at,
    prefix_for,
)
from nn2rules.export.sql_dialects import Dialect, dialect_of
from nn2rules.language import unused
from nn2rules.space import Value

MANY = 30
"""A view of more rules tries them as masks of bits, in DuckDB."""

UNKNOWN = "nn2rules: a row has a value outside the domain"
"""The error of a row outside the domain."""

_UNCOVERED = "nn2rules: no rule covers a row"


def write(
    program: RuleProgram,
    *,
    dialect: str = "duckdb",
    table: str | None = None,
    only: Literal["class", "rule"] | None = None,
) -> str:
    """Return rules as SQL.

    Parameters
    ----------
    program : RuleProgram
    dialect : str
        Whose SQL, one of `sql_dialects.DIALECTS`.
    table : str, optional
        Create a view of this table, named like it with the suffix ``_predicted``: its
        columns, the class and the rule. Dots separate the schema from the table.
    only : {"class", "rule"}, optional
        Write a single expression, for the class or for the name of the rule, without a
        name. By default both are written with their names, for a SELECT.
    """
    chosen = dialect_of(dialect)
    check_names(program, chosen)
    if only not in (None, "class", "rule"):
        raise OptionError(f"only: {only!r}, expected 'class' or 'rule'")
    if only is not None and table is not None:
        raise OptionError("a view has both the class and the rule; omit only or table")
    head = "".join(f"-- {key}: {text}\n" for key, text in program.about)
    if only is not None:
        return head + _case(program, chosen, only) + "\n"
    label, rule = added_names(program, chosen, ("prediction", "rule"))
    names = label, rule
    if table is not None:
        return head + _view(program, chosen, table, names)
    parts = [
        f"{_case(program, chosen, each)} AS {name}"
        for each, name in zip(("class", "rule"), names, strict=True)
    ]
    return head + ",\n".join(parts) + "\n"


def check_names(program: Program, dialect: Dialect) -> None:
    """Refuse two columns that a database takes for one."""
    seen: dict[str, str] = {}
    for name in (column.name for column in program.columns):
        key = name.casefold() if dialect.folds_case else name
        if key in seen:
            raise UnsupportedModelError(
                f"the features {seen[key]!r} and {name!r} differ only in case, which "
                f"is one column in the dialect {dialect.name!r}; rename one of them"
            )
        seen[key] = name


def added_names(
    program: Program, dialect: Dialect, names: Sequence[str]
) -> tuple[str, ...]:
    """Return names of new columns, quoted, that no column of the program has."""
    taken = [column.name.casefold() for column in program.columns]
    found = []
    for name in names:
        new = unused(name, taken)
        while new.casefold() in taken:
            new += "_"
        taken += [new, new.casefold()]
        found.append(dialect.identifier(new))
    return tuple(found)


def view_names(dialect: Dialect, table: str) -> tuple[str, str]:
    """Return the names of a table and its view, quoted part by part."""
    parts = table.split(".")
    if not all(parts):
        raise OptionError(f"table: {table!r}, expected a name such as cases")
    source = ".".join(map(dialect.identifier, parts))
    view = ".".join(map(dialect.identifier, [*parts[:-1], f"{parts[-1]}_predicted"]))
    return source, view


def _view(
    program: RuleProgram, dialect: Dialect, table: str, names: tuple[str, str]
) -> str:
    source, view = view_names(dialect, table)
    label, rule = names
    if dialect.name == "duckdb" and len(program.branches) > MANY:
        body = _by_bits(program, dialect, source, names)
        return f"CREATE VIEW {view} AS\n{body};\n"
    return (
        f"CREATE VIEW {view} AS\n"
        f"SELECT predicted.*,\n{_class_of(program, dialect, rule)} AS {label}\n"
        f"FROM (\nSELECT source.*,\n{_case(program, dialect, 'rule')} AS {rule}\n"
        f"FROM {source} source{dialect.fence}\n) predicted;\n"
    )


def _by_bits(
    program: RuleProgram, dialect: Dialect, source: str, names: tuple[str, str]
) -> str:
    """Return the query of a view that tries rules as masks of bits."""
    bits = bits_of(program)
    prefix = prefix_for(column.name for column in program.columns)
    words: list[list[str]] = [[] for _ in range(bits.n_words)]
    for place, column in enumerate(program.columns):
        made = column_words(column, bits.of_column(place), column.name)
        for word, text in made.items():
            words[word].append(text)
    sums = [f"({' | '.join(w)}) AS {prefix}_w{i}" for i, w in enumerate(words)]
    outside = failing(program, dialect, UNKNOWN) if program.outside is None else "-2"
    uncovered = (
        failing(program, dialect, _UNCOVERED) if program.otherwise is None else "-1"
    )
    position = position_of(bits, prefix, outside=outside, uncovered=uncovered)
    hidden = ", ".join(
        [*(f"{prefix}_w{i}" for i in range(bits.n_words)), f"{prefix}_k"]
    )
    label, rule = predictions_at(program, prefix, program.label_kind)
    return (
        f"SELECT * EXCLUDE ({hidden}),\n{label} AS {names[0]},\n{rule} AS {names[1]}\n"
        f"FROM (SELECT *,\n{position} AS {prefix}_k\n"
        f"FROM (SELECT *,\n" + ",\n".join(sums) + f"\nFROM {source}))"
    )


def _class_of(program: RuleProgram, dialect: Dialect, rule: str) -> str:
    """Return the class as it follows from the name of the rule."""
    default = _typed(program, program.rules.default)
    by_label: dict[Value, list[str]] = {}
    for branch in program.branches:
        by_label.setdefault(branch.label, []).append(dialect.word(branch.name, "text"))

    def literal(label: Value) -> str:
        return label_literal(program, dialect, label)

    lines = [
        f"  WHEN {rule} IN ({', '.join(found)}) THEN {literal(label)}"
        for label, found in by_label.items()
        if label != default
    ]
    rest = literal(default)
    return "\n".join(["CASE", *lines, f"  WHEN {rule} IS NOT NULL THEN {rest}", "END"])


def _typed(program: RuleProgram, label: Value) -> Value:
    return str(label) if program.label_kind == "text" else label


def label_literal(program: Program, dialect: Dialect, label: Value) -> str:
    """Return a class as a literal; all classes are of one type."""
    if program.label_kind != "number":
        made = dialect.word(label, program.label_kind)
        is_bit = program.label_kind == "truth" and dialect.name == "tsql"
        return f"CAST({made} AS BIT)" if is_bit else made
    assert isinstance(label, int | float), "labels of several types are texts"
    numbers = [float(each) for each in program.classes]  # type: ignore[arg-type]
    if all(number.is_integer() for number in numbers):
        return dialect.literal(label)
    return dialect.double(label)


def _case(program: RuleProgram, dialect: Dialect, output: str) -> str:
    """Return the expression for the class, or for the rule."""
    type_name = dialect.types["text"]
    if output == "class":
        type_name = dialect.label_type(program.classes, program.label_kind)

    def end(prediction: Prediction | None, fact: str) -> str:
        if prediction is None:
            return failing(program, dialect, fact, type_name)
        shown = prediction.label if output == "class" else prediction.rule
        if shown is None:
            return f"CAST(NULL AS {type_name})"
        if output == "rule":
            return dialect.word(shown, "text")
        return label_literal(program, dialect, shown)

    lines = [
        f"  WHEN {branch_test(branch, program, dialect)} "
        f"THEN {end(Prediction(branch.label, branch.name), '')}"
        for branch in program.branches
    ]
    otherwise, outside = (
        end(program.otherwise, _UNCOVERED),
        end(program.outside, UNKNOWN),
    )
    known = known_test(program, dialect)
    if lines:
        inner = "\n".join(["CASE", *lines, f"  ELSE {otherwise}", "END"])
    else:
        inner = otherwise
    if known == ALWAYS:
        return inner
    return f"CASE WHEN {known}\nTHEN {inner}\nELSE {outside} END"


def failing(
    program: Program, dialect: Dialect, fact: str, type_name: str = "INTEGER"
) -> str:
    """Return what ends the query with an error, where a type is expected."""
    column = dialect.identifier(program.columns[0].name)
    call = dialect.fails.format(dialect.text(fact), dialect.empty.format(column))
    return f"CAST({call} AS {type_name})" if call.startswith("CAST") else call
