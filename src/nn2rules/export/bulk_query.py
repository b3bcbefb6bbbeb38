"""What DuckDB is asked about the rows of a file: queries for their predictions.

Cells are brought to the types of their features first; those of another type are looked
up, each different cell once. Rules are then masks of bits, tried by DuckDB alone. For a
scorecard DuckDB finds the code and the number of each cell, and hands them over part by
part: the class and the total are worked out by the scorecard itself, so they are those
of `Scorecard.predict` and `Scorecard.points`, close to a cut-off, too.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import Nn2RulesError, OptionError, RowsError
from nn2rules.export.bits import bits_of
from nn2rules.export.bulk_source import Source
from nn2rules.export.columns import Column, column_of
from nn2rules.export.program import (
    Policy,
    RuleProgram,
    check_policy,
    exported_label,
    kind_of_labels,
)
from nn2rules.export.sql_conditions import (
    OUTSIDE,
    column_code,
    column_words,
    labels_at,
    position_of,
    predictions_at,
    prefix_for,
)
from nn2rules.export.sql_dialects import DIALECTS
from nn2rules.language import unused
from nn2rules.scorecards import Scorecard
from nn2rules.space import UNKNOWN, Domain, Feature, Lookup, Range

STOPPED = "a row outside the domain"
"""What the query ends with where such a row is an error."""

Function = tuple[str, Callable[[Any], Any], str, str]
"""A function that a query calls: its name, itself, its type, and what it returns."""

_DUCKDB = DIALECTS["duckdb"]
_WHOLE = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG")}
_NUMBERS = {*_WHOLE, "INTEGER", "UINTEGER", "DOUBLE", "FLOAT"}
_KINDS = {"text": {"VARCHAR"}, "number": _NUMBERS, "truth": {"BOOLEAN"}}
_LOOKED_UP = {"VARCHAR", "BOOLEAN", "DATE", *_NUMBERS}
_PLAIN = r"-?[0-9]{1,9}(\.[0-9]{1,6})?"  # a number that DOUBLE and Decimal read alike
_MOST_KEPT = 1 << 18


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked of DuckDB, and the functions that it calls.

    Attributes
    ----------
    predictions : str
        The file's columns, and those that are added.
    positions : str
        Position of the rule, as "k", and no more; `OUTSIDE` for rows outside the
        domain.
    added : tuple of str
        What the new columns are called. In Parquet no name of another column differs
        from them only in case.
    functions : tuple of Function
    """

    predictions: str
    positions: str
    added: tuple[str, ...]
    functions: tuple[Function, ...]


class Asker(ABC):
    """A description that makes the query for a file.

    Attributes
    ----------
    domain : Domain
    has_uncovered, refuses_uncovered, refuses_unknown : bool
        Whether rows may be not covered; whether those are an error, and those outside
        the domain.
    """

    domain: Domain
    has_uncovered: bool = False
    refuses_uncovered: bool = False
    refuses_unknown: bool

    @abstractmethod
    def ask(self, source: Source, *, as_text: bool) -> Query:
        """Return the query for a file; `as_text`, classes are written as texts."""


class RuleAsker(Asker):
    """Asks for the class and the rule of each row."""

    def __init__(self, program: RuleProgram) -> None:
        self.program, self.domain = program, program.rules.domain
        self.has_uncovered = program.rules.scope == "support"
        self.refuses_uncovered = program.otherwise is None
        self.refuses_unknown = program.outside is None

    def ask(self, source: Source, *, as_text: bool) -> Query:
        """Return the query for a file."""
        program, prefix = self.program, prefix_for(source.called)
        bits = bits_of(program)
        cells = _Cells(source, program.columns, prefix)
        words: list[list[str]] = [[] for _ in range(bits.n_words)]
        for place, column in enumerate(program.columns):
            cell, looked = cells.names[place]
            made = column_words(column, bits.of_column(place), cell, looked)
            for word, text in made.items():
                words[word].append(text)
        sums = [f"({' | '.join(w)}) AS {prefix}_w{i}" for i, w in enumerate(words)]
        layers = f"SELECT *, {', '.join(sums)} FROM ({cells.layer})"
        fails = f"error('{STOPPED}')" if self.refuses_unknown else str(OUTSIDE)
        position = position_of(bits, prefix, outside=fails)
        plain_position = position_of(bits, prefix)
        kind = "text" if as_text else program.label_kind
        names = _unused(source, ("prediction", "rule"), as_text=as_text)
        kept = _selected(source, names, predictions_at(program, prefix, kind))
        return Query(
            f"SELECT {kept} FROM (SELECT *, {position} AS {prefix}_k FROM ({layers}))",
            f"SELECT {plain_position} AS k FROM ({layers})",
            names,
            tuple(cells.functions),
        )


class CardAsker(Asker):
    """Asks for the class and the printed totals of each row."""

    def __init__(self, card: Scorecard, unknown: Policy) -> None:
        check_policy("unknown", unknown)
        if unknown == "default":
            raise OptionError(
                "unknown: 'default', but a scorecard has no default class; expected "
                "'none' or 'error'"
            )
        self.card, self.domain = card, card.domain
        self.refuses_unknown = unknown == "error"

    def ask(self, source: Source, *, as_text: bool) -> Query:
        """Return the query for a file."""
        prefix, features = prefix_for(source.called), self.domain.features
        columns = tuple(map(column_of, features))
        cells = _Cells(source, columns, prefix, has_numbers=True)
        codes = [f"{prefix}_c{place}" for place in range(len(columns))]
        made = [
            f"{column_code(column, *cells.names[place])} AS {code}"
            for place, (column, code) in enumerate(zip(columns, codes, strict=True))
        ]
        layers = f"SELECT *, {', '.join(made)} FROM ({cells.layer})"
        is_outside = " OR ".join(f"{code} = {UNKNOWN}" for code in codes)
        inputs = [*codes, *self._numbers(cells, codes)]
        score, scored = f"{prefix}_score", f"{prefix}_scored"
        total = "BIGINT" if self.card.table.has_whole_totals else "DOUBLE"
        n_totals = len(self.card.points_names)
        parts = ["k INTEGER", *(f"t{i} {total}" for i in range(n_totals))]
        returned = f"STRUCT({', '.join(parts)})"
        function = (score, _scoring(self.card, source), "DOUBLE[]", returned)
        call = f"{score}(CAST([{', '.join(inputs)}] AS DOUBLE[]))"
        fails = f"error('{STOPPED}')" if self.refuses_unknown else "NULL"
        answer = f"CASE WHEN {is_outside} THEN {fails} ELSE {call} END"
        wanted = ("prediction", *self.card.points_names)
        names = _unused(source, wanted, as_text=as_text)
        own_kind = kind_of_labels(self.card.classes)
        kind = "text" if as_text else own_kind
        labels = [exported_label(c, own_kind) for c in self.card.classes]
        answers = [
            labels_at(f"{scored}.k + 1", labels, self.card.classes, kind),
            *(f"{scored}.t{place}" for place in range(n_totals)),
        ]
        kept = _selected(source, names, answers)
        position = f"CASE WHEN {is_outside} THEN {OUTSIDE} ELSE 0 END"
        return Query(
            f"SELECT {kept} FROM (SELECT *, {answer} AS {scored} FROM ({layers}))",
            f"SELECT {position} AS k FROM ({layers})",
            names,
            (*cells.functions, function),
        )

    def _numbers(self, cells: "_Cells", codes: Sequence[str]) -> Iterator[str]:
        """Yield the numbers of the ranges, 1 for cells that are no number of theirs."""
        for place in _ranges(self.domain):
            number = cells.numbers[place]
            yield f"CASE WHEN {codes[place]} = 0 THEN {number} ELSE 1.0::DOUBLE END"


def _ranges(domain: Domain) -> list[int]:
    """Return the positions of the features that are ranges."""
    return [p for p, each in enumerate(domain.features) if isinstance(each, Range)]


def _scoring(card: Scorecard, source: Source) -> Callable[[Any], Any]:
    """Return a function of Arrow from lists of codes, then numbers, to predictions.

    Rows outside the domain get nothing.
    """
    ranges, n_features = _ranges(card.domain), len(card.domain.features)
    kind: Any = np.int64 if card.table.has_whole_totals else np.float64

    def score(lists: Any) -> Any:
        import pyarrow as pa

        if isinstance(lists, pa.ChunkedArray):
            lists = lists.combine_chunks()
        inputs = lists.flatten().to_numpy().reshape(len(lists), -1)
        codes = inputs[:, :n_features].astype(np.int64)
        numbers = np.ones(codes.shape)
        numbers[:, ranges] = inputs[:, n_features:]
        inside = (codes != UNKNOWN).all(axis=1)
        own_numbers = numbers[inside] if card.domain.has_ranges else None
        classes: NDArray[Any] = np.zeros(len(codes), np.int32)
        totals = np.zeros((len(codes), len(card.points_names)), kind)
        try:
            if inside.any():
                found = card.predictions(codes[inside], own_numbers)
                classes[inside] = found.classes
                totals[inside] = card.totals_codes(codes[inside], own_numbers)
        except Nn2RulesError as error:
            source.failures.append(error)
            raise
        no_total = np.isnan(totals) | ~inside[:, np.newaxis]
        columns = [pa.array(classes, mask=~inside)]
        columns += [
            pa.array(own, mask=hidden)
            for own, hidden in zip(totals.T, no_total.T, strict=True)
        ]
        names = ["k", *(f"t{place}" for place in range(len(totals.T)))]
        return pa.StructArray.from_arrays(columns, names)

    return score


class _Cells:
    """The cells of a file, brought to the types of their features.

    Attributes
    ----------
    names : list of (str, str or None)
        Of each column the cell, NULL if it is looked up, and then its code.
    numbers : list of str
        With `has_numbers`, for each column what the number of its cell is.
    layer : str
        The query for all this.
    functions : list of Function
    """

    def __init__(
        self,
        source: Source,
        columns: Sequence[Column],
        prefix: str,
        *,
        has_numbers: bool = False,
    ) -> None:
        self.names: list[tuple[str, str | None]] = []
        self.numbers: list[str] = []
        self.functions: list[Function] = []
        added: list[str] = []
        for place, column in enumerate(columns):
            name, type_name = source.find(column.name)
            cell, looked = f"{prefix}_x{place}", None
            number = f"CAST({cell} AS DOUBLE)"
            added.append(f"{_cell(column, name, type_name, source.path)} AS {cell}")
            if type_name not in _KINDS[column.kind]:
                looked = f"{prefix}_code{place}"
                function = _codes(column.feature)
                self.functions.append((looked, function, type_name, "INTEGER"))
                code = _by_lookup(column, name, type_name, looked)
                added.append(f"{code} AS {looked}")
                if has_numbers and isinstance(column.feature, Range):
                    called = f"{prefix}_number{place}"
                    function = _numbers_of(column.feature)
                    self.functions.append((called, function, type_name, "DOUBLE"))
                    number = (
                        f"CASE WHEN {looked} IS NULL THEN {number} "
                        f"ELSE {called}({name}) END"
                    )
            self.names.append((cell, looked))
            self.numbers.append(number)
        self.layer = f"SELECT *, {', '.join(added)} FROM {source.sql}"


def _cell(column: Column, name: str, type_name: str, path: str) -> str:
    """Return a cell of the column's kind, NULL for one that is looked up."""
    if type_name in _KINDS[column.kind]:
        return f"CAST({name} AS DOUBLE)" if type_name == "FLOAT" else name
    if type_name not in _LOOKED_UP:
        raise RowsError(
            f"{path}: the column {column.name!r} is of type {type_name}, expected "
            f"{_EXPECTED[column.kind]}; change its type"
        )
    if column.kind == "number" and type_name == "VARCHAR":
        return f"CASE WHEN {_is_plain(name)} THEN TRY_CAST({name} AS DOUBLE) END"
    return f"CAST(NULL AS {_DUCKDB.types[column.kind]})"


_EXPECTED = {
    "text": "VARCHAR",
    "number": "DOUBLE or a type of integers",
    "truth": "BOOLEAN",
}


def _is_plain(name: str) -> str:
    return f"regexp_full_match({name}, '{_PLAIN}')"


def _by_lookup(column: Column, name: str, type_name: str, function: str) -> str:
    """Return the code of a cell that is looked up; NULL if the cell has it."""
    if column.kind == "number" and type_name == "VARCHAR":
        return (
            f"CASE WHEN {name} IS NULL OR NOT {_is_plain(name)} "
            f"THEN {function}({name}) END"
        )
    return f"{function}({name})"


def _selected(source: Source, added: Sequence[str], answers: Sequence[str]) -> str:
    """Return the columns of the file, and those that are added."""
    kept = [
        f"{_DUCKDB.identifier(called)} AS {_DUCKDB.identifier(name or called)}"
        for called, name in zip(source.called, source.names, strict=True)
    ]
    kept += [
        f"{answer} AS {_DUCKDB.identifier(name)}"
        for answer, name in zip(answers, added, strict=True)
    ]
    return ", ".join(kept)


def _unused(source: Source, wanted: Sequence[str], *, as_text: bool) -> tuple[str, ...]:
    """Return names of new columns; in Parquet others differ in more than case."""
    taken = {name if as_text else name.casefold() for name in source.names}
    found: list[str] = []
    for name in wanted:
        new = unused(name, taken)
        while not as_text and new.casefold() in taken:
            new += "_"
        taken.add(new if as_text else new.casefold())
        found.append(new)
    return tuple(found)


def _codes(feature: Feature) -> Callable[[Any], Any]:
    """Return a function of Arrow from cells to codes."""
    lookup = Lookup(feature)
    return _by_distinct_cells(lookup, lookup.__getitem__, "int32")


def _numbers_of(feature: Range) -> Callable[[Any], Any]:
    """Return a function of Arrow from cells to numbers of a range."""
    lookup = Lookup(feature)
    return _by_distinct_cells(lookup, lookup.number, "float64")


def _by_distinct_cells(
    lookup: Lookup, function: Callable[[Any], Any], type_name: str
) -> Callable[[Any], Any]:
    """Return a function of Arrow that is worked out once for each different cell."""

    def of_cells(cells: Any) -> Any:
        import pyarrow as pa

        if len(lookup) > _MOST_KEPT:
            lookup.clear()
        if isinstance(cells, pa.ChunkedArray):
            cells = cells.combine_chunks()
        encoded = cells.dictionary_encode()
        different: Sequence[Any] = encoded.dictionary.to_pylist()
        found = pa.array([*map(function, different), function(None)])
        places = encoded.indices.fill_null(len(different))
        return found.cast(type_name).take(places)

    return of_cells
