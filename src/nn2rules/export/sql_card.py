"""Scorecards as SQL: expressions for the class and the total, or a view with both.

Points are whole numbers, so sums are exact, and equal in all databases. They are added
to a number of type DOUBLE: integers of some databases are too short for them.

A view works with subqueries: first the sums of the parts, then totals, then the class.
"""

from collections.abc import Sequence
from typing import Literal

from nn2rules.errors import OptionError
from nn2rules.export.card_program import CardProgram, Form, Line, Part, Rate, Region
from nn2rules.export.card_text import TOO_CLOSE, decisions, form_text, ordered_lines
from nn2rules.export.columns import Column
from nn2rules.export.sql import (
    UNKNOWN,
    added_names,
    check_names,
    failing,
    label_literal,
    view_names,
)
from nn2rules.export.sql_conditions import ALWAYS, cells_test, known_test
from nn2rules.export.sql_dialects import Dialect, dialect_of

_TOO_CLOSE = f"nn2rules: {TOO_CLOSE}"


def write(
    program: CardProgram,
    *,
    dialect: str = "duckdb",
    table: str | None = None,
    only: Literal["class", "total"] | None = None,
    features: bool = False,
) -> str:
    """Return a scorecard as SQL.

    Parameters
    ----------
    program : CardProgram
    dialect : str
        Whose SQL, one of `sql_dialects.DIALECTS`.
    table : str, optional
        Create a view of this table, named like it with the suffix ``_predicted``: its
        columns, the class and the total. Dots separate the schema from the table.
    only : {"class", "total"}, optional
        Write a single expression, without a name. By default both are written with
        their names, for a SELECT.
    features : bool
        Write the points of each feature, too, as columns of their own.
    """
    chosen = dialect_of(dialect)
    check_names(program, chosen)
    _check_options(program, table, only, features=features)
    query = _Query(program, chosen)
    head = "".join(f"-- {key}: {text}\n" for key, text in program.about)
    if table is not None:
        return head + query.view(table, features=features)
    if only is not None:
        made = query.label() if only == "class" else query.total()
        return f"{head}{made}\n"
    label, total = added_names(program, chosen, ("prediction", "total"))
    parts = [f"{query.label()} AS {label}", f"{query.total()} AS {total}"]
    if features:
        parts += query.features()
    return head + ",\n".join(parts) + "\n"


def _check_options(
    program: CardProgram, table: str | None, only: str | None, *, features: bool
) -> None:
    if only not in (None, "class", "total"):
        raise OptionError(f"only: {only!r}, expected 'class' or 'total'")
    if only is not None and (table is not None or features):
        raise OptionError("only is for a single expression; omit it, or the others")
    if features and len(program.parts) != 1:
        raise OptionError(
            "features: the points of features are those of a single card; this one has "
            "several columns of points"
        )
    is_long = len(program.beside) > 1 or program.has_regions
    if table is None and is_long:
        raise OptionError(
            "a scorecard with regions or more than two classes is exported as a view; "
            "give the name of your table (table=)"
        )


class _Query:
    """The expressions of a card in a dialect."""

    def __init__(self, program: CardProgram, dialect: Dialect) -> None:
        self.program, self.dialect = program, dialect
        self.known = known_test(program, dialect)
        self.label_type = dialect.label_type(program.classes, program.label_kind)

    def label(self) -> str:
        """Return the class of a row as one expression."""
        [region] = self.program.regions
        totals = [self._form(form, self._counted()) for form in region.totals]
        outside = self._null_or_failing(UNKNOWN, self.label_type, self.program.unknown)
        made = self._decision(region, totals)
        if not region.cuts:
            made = f"CAST({made} AS {self.label_type})"
        return self._if_known(made, outside)

    def total(self) -> str:
        """Return the total of a row as one expression."""
        [region] = self.program.regions
        totals = [self._form(form, self._counted()) for form in region.totals]
        return self._if_known(self._in_points(totals[0] if totals else "0"))

    def features(self) -> list[str]:
        """Return the points of each feature, with their names."""
        columns = self.program.columns
        wanted = [f"points {column.name}" for column in columns]
        names = added_names(self.program, self.dialect, wanted)
        return [
            f"{self._if_known(self._in_points(self._points(column, lines, 0)))} AS {n}"
            for column, lines, n in zip(columns, self.program.lines, names, strict=True)
        ]

    def view(self, table: str, *, features: bool) -> str:
        """Return a view: of the parts, the totals, and the class."""
        program, dialect = self.program, self.dialect
        source, view = view_names(dialect, table)
        is_direct = _are_totals(program)
        parts = [] if is_direct else [part.name for part in program.parts]
        rest = [*parts, *(["region"] if program.has_regions else [])]
        wanted = ["prediction", *program.beside, *rest]
        label, *names = added_names(program, dialect, wanted)
        totals, rest = names[: len(program.beside)], names[len(program.beside) :]
        added = [
            f"{self._if_known(self._part(place, in_points=is_direct))} AS {name}"
            for place, name in enumerate(totals if is_direct else rest[: len(parts)])
        ]
        query = f"FROM {source} source{dialect.fence}"
        query = _select("source", added + (self.features() if features else []), query)
        if program.has_regions:
            added = [f"{self._region_number(rest)} AS {rest[-1]}"]
            query = _select("summed", added, self._inner(query, "summed"))
        if not is_direct:
            added = [
                f"{self._total(place, rest)} AS {name}"
                for place, name in enumerate(totals)
            ]
            query = _select("counted", added, self._inner(query, "counted"))
        added = [f"{self._label_by_totals(totals, rest)} AS {label}"]
        query = _select("scored", added, self._inner(query, "scored"))
        return f"CREATE VIEW {view} AS\n{query};\n"

    def _inner(self, query: str, name: str) -> str:
        fence = "" if query.endswith(self.dialect.fence) else self.dialect.fence
        return f"FROM (\n{query}{fence}\n) {name}"

    def _part(self, place: int, *, in_points: bool) -> str:
        """Return what a part counts, by the columns."""
        made = self._count(self.program.parts[place], self._sum(place))
        return self._in_points(made) if in_points else made

    def _region_number(self, names: Sequence[str]) -> str:
        """Return the number of the first region whose conditions hold."""
        lines = []
        for number, region in enumerate(self.program.regions, 1):
            tests = [
                f"{self._form(form, names)} >= {self._number(least)}"
                for form, least in region.conditions
            ]
            lines.append(f"  WHEN {' AND '.join(tests) or ALWAYS} THEN {number}")
        known = f"{names[0]} IS NOT NULL" if self.program.parts else ALWAYS
        inner = "\n".join(["CASE", *lines, "  ELSE 0 END"])
        return f"CASE WHEN {known} THEN {inner} END"

    def _total(self, place: int, names: Sequence[str]) -> str:
        """Return a total in points, by the sums of parts."""
        nothing = f"CAST(NULL AS {self.dialect.types['number']})"
        if not self.program.has_regions:
            [region] = self.program.regions
            if not region.totals:
                return nothing
            return self._in_points(self._form(region.totals[place], names))
        lines = [
            f"  WHEN {number} THEN {self._form(region.totals[place], names)}"
            for number, region in enumerate(self.program.regions, 1)
            if region.totals
        ]
        if not lines:
            return nothing
        return self._in_points("\n".join([f"CASE {names[-1]}", *lines, "END"]))

    def _label_by_totals(self, totals: Sequence[str], rest: Sequence[str]) -> str:
        """Return the class, by totals in points."""
        program = self.program
        outside = self._null_or_failing(UNKNOWN, self.label_type, program.unknown)
        if program.has_regions:
            by_outcome: dict[str, list[int]] = {}
            for number, region in enumerate(program.regions, 1):
                made = self._decision(region, totals, in_points=True)
                by_outcome.setdefault(made, []).append(number)
            lines = [
                f"WHEN {rest[-1]} IN ({', '.join(map(str, numbers))}) THEN {made}"
                for made, numbers in by_outcome.items()
            ]
            lines.append(f"WHEN {rest[-1]} = 0 THEN {self._too_close()}")
            return "\n".join(["CASE", *lines, f"ELSE {outside} END"])
        [region] = program.regions
        made = self._decision(region, totals, in_points=True)
        if not program.parts:
            return self._if_known(f"CAST({made} AS {self.label_type})", outside)
        seen = (totals[0], *rest)[-1] if rest else totals[0]
        return f"CASE WHEN {seen} IS NOT NULL THEN {made} ELSE {outside} END"

    def _decision(
        self, region: Region, totals: Sequence[str], *, in_points: bool = False
    ) -> str:
        """Return the class that totals prove."""

        def number(end: float) -> str:
            if not in_points:
                return self._number(end)
            if region.margin is not None and isinstance(end, int):
                end -= 0.5  # differences of totals in points are rounded
            return self._number(end / self.program.unit)

        shown = decisions(
            self.program,
            region,
            [f"({total})" if " " in total else total for total in totals],
            "AND",
            number=number,
        )
        lines: list[str] = []
        for test, label in shown:
            end = self._too_close()
            if label is not None:
                end = label_literal(self.program, self.dialect, label)
            if not test:
                if not lines:
                    return end
                lines.append(f"ELSE {end} END")
                break
            lines.append(f"WHEN {test} THEN {end}")
        return "\n".join(["CASE", *lines])

    def _too_close(self) -> str:
        return self._null_or_failing(_TOO_CLOSE, self.label_type, self.program.between)

    def _null_or_failing(self, fact: str, type_name: str, policy: str) -> str:
        if policy == "error":
            return failing(self.program, self.dialect, fact, type_name)
        return f"CAST(NULL AS {type_name})"

    def _if_known(self, made: str, outside: str = "NULL") -> str:
        if self.known == ALWAYS:
            return made
        return f"CASE WHEN {self.known}\nTHEN {made}\nELSE {outside} END"

    def _counted(self) -> list[str]:
        """Return what each part counts, as expressions of the columns."""
        places = range(len(self.program.parts))
        return [f"({self._part(place, in_points=False)})" for place in places]

    def _count(self, part: Part, made: str) -> str:
        dialect = self.dialect
        if part.below is not None:
            below = f"{dialect.double(part.below)} * ({made})"
            made = f"CASE WHEN {made} < 0 THEN {below} ELSE {made} END"
        if part.low is not None:
            made = f"{dialect.most}({dialect.double(part.low)}, {made})"
        if part.high is not None:
            made = f"{dialect.least}({dialect.double(part.high)}, {made})"
        return made

    def _sum(self, place: int) -> str:
        """Return the sum of the points of a part."""
        terms = [self.dialect.double(self.program.parts[place].start)]
        for column, lines in zip(self.program.columns, self.program.lines, strict=True):
            if any(line.points[place] != 0 for line in lines):
                terms.append(self._points(column, lines, place))
        return "\n  + ".join(terms)

    def _points(self, column: Column, lines: tuple[Line, ...], place: int) -> str:
        """Return the points of a column in a part."""
        ordered = ordered_lines(lines)
        made = []
        for line in ordered[:-1]:
            test = cells_test(column, line.cells, self.dialect)
            made.append(f"WHEN {test} THEN {self._term(column, line.points[place])}")
        last = self._term(column, ordered[-1].points[place])
        return f"CASE {' '.join(made)} ELSE {last} END" if made else last

    def _term(self, column: Column, points: int | Rate) -> str:
        if isinstance(points, int):
            return str(points)
        dialect = self.dialect
        product = f"{dialect.double(points.top)} * {dialect.identifier(column.name)}"
        if points.whole:
            return product
        inner = f"{product} + {self._number(points.half)}"
        if points.bottom != 1:
            inner = f"({inner}) / {dialect.double(points.bottom)}"
        return dialect.floor.format(f"({inner})" if dialect.name == "sqlite" else inner)

    def _form(self, form: Form, names: Sequence[str]) -> str:
        """Return a sum of parts, in the order of the form."""
        return form_text(form, names, self.dialect.double)

    def _in_points(self, made: str) -> str:
        if self.program.unit == 1:
            return made
        return f"({made}) / {self.dialect.double(self.program.unit)}"

    def _number(self, number: float) -> str:
        return self.dialect.literal(number)


def _are_totals(program: CardProgram) -> bool:
    """Tell whether parts are the totals, one by one."""
    forms = tuple(Form(0, ((place, 1),)) for place in range(len(program.parts)))
    regions = program.regions
    return len(regions) == 1 and regions[0].totals == forms != ()


def _select(source: str, added: Sequence[str], query: str) -> str:
    """Return a query for all columns of its source, and more."""
    return ",\n".join([f"SELECT {source}.*", *added]) + f"\n{query}"
