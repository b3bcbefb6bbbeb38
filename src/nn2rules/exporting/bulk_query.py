"""The query of DuckDB that answers the rows of a file, in four layers.

::

    the file ──▶ cells of the kinds of the columns ──▶ words of bits ──▶ the rule's
    position ──▶ the file's columns, the class and the rule

A cell that is not of its column's kind, such as a text that spells a number, is looked
up by `feature.Lookup`, as everywhere in the library.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nn2rules.errors import RowsError
from nn2rules.exporting.bits import bits_of
from nn2rules.exporting.bulk_source import Source
from nn2rules.exporting.columns import Column
from nn2rules.exporting.program import Program
from nn2rules.exporting.sql_bits import (
    OUTSIDE,
    answers_at,
    column_words,
    position_of,
    prefix_for,
)
from nn2rules.exporting.sql_dialects import DIALECTS
from nn2rules.feature import Feature, Lookup
from nn2rules.text import unused

STOPPED = "a row off the domain"
"""What the query ends with where such a row is an error."""

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
    answers : str
        The file's columns, the class and the rule.
    positions : str
        Position of the rule, as "k", and no more.
    functions : tuple of (name, function, type)
    """

    answers: str
    positions: str
    functions: tuple[tuple[str, Callable[[Any], Any], str], ...]


def query_of(program: Program, source: Source, *, as_text: bool) -> Query:
    """Return the query for a file; `as_text`, classes are written as texts."""
    prefix = prefix_for(source.called)
    bits = bits_of(program)
    cells: list[str] = []
    words: list[list[str]] = [[] for _ in range(bits.n_words)]
    functions: list[tuple[str, Callable[[Any], Any], str]] = []
    for place, column in enumerate(program.columns):
        name, type_name = source.find(column.name)
        cell = f"{prefix}_x{place}"
        made = _cell(column, name, type_name, source.path)
        cells.append(f"{made} AS {cell}")
        looked = None
        if type_name not in _KINDS[column.kind]:
            looked = f"{prefix}_code{place}"
            functions.append((looked, _codes(column.feature), type_name))
            cells.append(f"{_by_lookup(column, name, type_name, looked)} AS {looked}")
        made_words = column_words(column, bits.of_column(place), cell, looked)
        for word, text in made_words.items():
            words[word].append(text)
    layers = f"SELECT *, {', '.join(cells)} FROM {source.sql}"
    sums = [f"({' | '.join(w)}) AS {prefix}_w{i}" for i, w in enumerate(words)]
    layers = f"SELECT *, {', '.join(sums)} FROM ({layers})"
    fails = f"error('{STOPPED}')" if program.outside is None else str(OUTSIDE)
    position = position_of(bits, prefix, outside=fails)
    layers = f"SELECT *, {position} AS {prefix}_k FROM ({layers})"
    kept = _selected(source, program, prefix, as_text=as_text)
    return Query(
        f"SELECT {kept} FROM ({layers})",
        f"SELECT {prefix}_k AS k FROM ({layers})",
        tuple(functions),
    )


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
    """Return the code of a cell that is looked up; NULL if the cell says it itself."""
    if column.kind == "number" and type_name == "VARCHAR":
        return (
            f"CASE WHEN {name} IS NULL OR NOT {_is_plain(name)} "
            f"THEN {function}({name}) END"
        )
    return f"{function}({name})"


def _selected(source: Source, program: Program, prefix: str, *, as_text: bool) -> str:
    """Return the columns of the answers."""
    kept = [
        f"{_DUCKDB.identifier(called)} AS {_DUCKDB.identifier(name or called)}"
        for called, name in zip(source.called, source.names, strict=True)
    ]
    kind = "text" if as_text else program.label_kind
    added = added_names(source, as_text=as_text)
    for made, name in zip(answers_at(program, prefix, kind), added, strict=True):
        kept.append(f"{made} AS {_DUCKDB.identifier(name)}")
    return ", ".join(kept)


def added_names(source: Source, *, as_text: bool) -> tuple[str, str]:
    """Return what the columns of the class and the rule are called.

    In Parquet no name of another column differs from them in case alone.
    """
    taken = {name if as_text else name.casefold() for name in source.names}
    label, rule = (unused(name, taken) for name in ("prediction", "rule"))
    return label, rule


def _codes(feature: Feature) -> Callable[[Any], Any]:
    """Return a function of Arrow from cells to codes, each different cell once."""
    lookup = Lookup(feature)

    def codes(cells: Any) -> Any:
        import pyarrow as pa

        if len(lookup) > _MOST_KEPT:
            lookup.clear()
        if isinstance(cells, pa.ChunkedArray):
            cells = cells.combine_chunks()
        encoded = cells.dictionary_encode()
        different: Sequence[Any] = encoded.dictionary.to_pylist()
        found = pa.array([*(lookup[cell] for cell in different), lookup[None]])
        return found.cast(pa.int32()).take(encoded.indices.fill_null(len(different)))

    return codes
