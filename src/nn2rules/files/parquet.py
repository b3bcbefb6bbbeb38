"""Rows in Parquet files, column by column.

Pyarrow is given an open file, never a name, so that no character of a name means
anything. What a file claims of itself is checked first, and what it unpacks to while it
is read: a small file can hold very long texts.
"""

import os
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, BinaryIO

from nn2rules.errors import FormatError, MissingExtraError
from nn2rules.files.safe_files import (
    MOST_CELLS,
    MOST_ROWS,
    MOST_TEXT,
    opened,
    size_text,
)
from nn2rules.space import SECONDS, Value, number_of

_PART = 1 << 10
_INDEX = re.compile(r"__index_level_\d+__")


def parquet_columns(
    path: str | os.PathLike[str],
) -> tuple[list[str], list[list[Any]], Sequence[int]]:
    """Return the columns of a Parquet file: their names, their cells, the rows."""
    arrow = _arrow()
    with opened(path) as stream:
        try:
            return _columns(str(path), stream)
        except (arrow.ArrowException, OSError, ValueError) as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(
                f"{path}: this Parquet file is damaged or truncated; write it again"
            ) from None


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("pyarrow", "sql", "reading a Parquet file") from None
    return pyarrow


def _columns(
    path: str, stream: BinaryIO
) -> tuple[list[str], list[list[Any]], Sequence[int]]:
    from pyarrow import parquet

    with parquet.ParquetFile(stream) as file:
        schema = file.schema_arrow
        names = [name for name in schema.names if not _INDEX.fullmatch(name)]
        _check_size(path, file, len(names))
        for name in names:
            if schema.names.count(name) == 1:
                _check_type(path, name, schema.field(name).type)
        texts = [name for name in names if name in _in_dictionaries(file)]
    stream.seek(0)
    cells: list[list[Any]] = []
    n_bytes = 0
    # Threads that still read ahead at the end of a program abort it.
    options = {"read_dictionary": texts, "pre_buffer": False}
    with parquet.ParquetFile(stream, **options) as file:
        for name in names:
            column: list[Any] = []
            parts = file.iter_batches(_PART, columns=[name], use_threads=False)
            for part in parts:
                n_bytes += part.nbytes
                if n_bytes > MOST_TEXT:
                    raise _too_large(path)
                column += _plain(path, name, part.column(0))
            cells.append(column)
        n_rows = file.metadata.num_rows
    return names, cells, range(1, n_rows + 1)


def _in_dictionaries(file: Any) -> set[str]:
    """Return the columns of texts that a file has in dictionaries, each text once."""
    about, found = file.metadata, set()
    for group in map(about.row_group, range(about.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            if any("DICTIONARY" in encoding for encoding in column.encodings):
                found.add(column.path_in_schema)
    kinds = file.schema_arrow
    return {n for n in found & set(kinds.names) if _is_text(kinds.field(n).type)}


def _check_size(path: str, file: Any, n_columns: int) -> None:
    """Refuse a file that is too large by its own metadata."""
    about = file.metadata
    sizes = (about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    if sum(sizes) > MOST_TEXT:
        raise _too_large(path)
    if about.num_rows > MOST_ROWS:
        raise FormatError(
            f"{path}: {about.num_rows:,} rows, but at most {MOST_ROWS:,} are read "
            f"at once; use a sample of the rows"
        )
    if about.num_rows * n_columns > MOST_CELLS:
        raise FormatError(
            f"{path}: {about.num_rows:,} rows of {n_columns:,} columns, but at most "
            f"{MOST_CELLS:,} cells are read; use a sample of the rows"
        )


def _too_large(path: str) -> FormatError:
    return FormatError(
        f"{path}: the file is larger than {size_text(MOST_TEXT)} when unpacked, "
        f"which is the limit"
    )


def _is_text(kind: Any) -> bool:
    return bool(_arrow().types.is_string(kind) or _arrow().types.is_large_string(kind))


def _check_type(path: str, name: str, kind: Any) -> None:
    types = _arrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if not (
        types.is_null(kind)
        or types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_date(kind)
        or types.is_timestamp(kind)
        or types.is_time(kind)
        or _is_text(kind)
    ):
        advice = "leave the column out"
        if types.is_duration(kind):
            advice = f"convert it, as in {SECONDS}, or {advice}"
        raise FormatError(
            f"{path}: the column {name!r} has the type {kind}; expected "
            f"texts, numbers, dates or Booleans; {advice}"
        )


def _plain(path: str, name: str, array: Any) -> list[Any]:
    """Return cells as Python values, a text that occurs twice as one object."""
    arrow = _arrow()
    if arrow.types.is_dictionary(array.type):
        words = _plain(path, name, array.dictionary)
        return [None if i is None else words[i] for i in array.indices.to_pylist()]
    if arrow.types.is_timestamp(array.type) and array.type.unit == "ns":
        try:
            array = array.cast(arrow.timestamp("us", array.type.tz))
        except arrow.ArrowInvalid:
            raise FormatError(
                f"{path}: the column {name!r} has times in nanoseconds; expected "
                f"microseconds or coarser"
            ) from None
    cells = array.to_pylist()
    if arrow.types.is_decimal(array.type):
        return [None if cell is None else _number(cell) for cell in cells]
    return list(cells)


def _number(cell: Decimal) -> Value:
    return number_of(format(cell, "f"))
