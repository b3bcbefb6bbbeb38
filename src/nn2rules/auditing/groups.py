"""What becomes of groups: the classes of rows that share a value."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.auditing.findings import Group
from nn2rules.feature import Feature
from nn2rules.frames import Rows, cells_of
from nn2rules.given_rows import GivenRows
from nn2rules.input_text import value_words
from nn2rules.network import Network
from nn2rules.text import label_text
from nn2rules.values import Value, is_number, number_of, plain_number, value_of

Part: TypeAlias = tuple[Value | tuple[float, float], str, NDArray[np.bool_]]
"""A value, or a range of numbers, its text, and the rows that have it."""

_FEW = 12  # so many different numbers are each a group; of more there are quarters


def shares_of(
    network: Network, rows: GivenRows, data: Rows, name: str
) -> tuple[Group, ...]:
    """Return the groups of a column, with the model's classes and the labels."""
    answers = rows.answers(network)[rows.places]
    if name in network.domain.names:
        index = network.domain.index(name)
        numbers = None if rows.numbers is None else rows.numbers[:, index]
        feature = network.domain.features[index]
        parts = _parts(feature, rows.codes[:, index], numbers)
    else:
        parts = _column_parts(cells_of(data, [name])[0])
    return tuple(
        Group(
            value,
            text,
            int(held.sum()),
            _counted(network, answers[held]),
            None if rows.labels is None else _counted(network, rows.labels[held]),
        )
        for value, text, held in parts
        if held.any()
    )


def _counted(network: Network, positions: NDArray[np.int64]) -> dict[Value, int]:
    counts = np.bincount(positions, minlength=len(network.classes)).tolist()
    return dict(zip(network.classes, counts, strict=True))


def _parts(
    feature: Feature, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None
) -> Iterator[Part]:
    """Yield the groups of a feature: its values, and quarters of a range."""
    first = 0
    if feature.limits is not None and numbers is not None:
        yield from _quarters(numbers, codes == 0)
        first = 1
    for code in range(first, len(feature)):
        value = feature.values[code]
        yield value, value_words(feature, value), codes == code


def _column_parts(cells: Sequence[object]) -> Iterator[Part]:
    """Yield the groups of a column that the model does not see."""
    plain = _numbers_of([value_of(cell) for cell in cells])
    different = list(dict.fromkeys(plain))
    known = [cell for cell in different if cell is not None]
    if len(known) > _FEW and all(is_number(cell) for cell in known):
        is_there = np.array([cell is not None for cell in plain])
        numbers = [np.nan if cell is None else float(cell) for cell in plain]
        yield from _quarters(np.array(numbers), is_there)
        known = []
    places = {cell: place for place, cell in enumerate(different)}
    own = np.array([places[cell] for cell in plain])
    for cell in [*_sorted(known), *[None] * (None in places)]:
        yield cell, label_text(cell), own == places[cell]


def _numbers_of(cells: list[Value]) -> list[Value]:
    """Return cells of a file as numbers, if all of them read as such, or are empty."""
    found: dict[Value, Value] = {}
    for cell in dict.fromkeys(cells):
        if cell is None or cell == "":
            found[cell] = None
            continue
        found[cell] = number_of(cell) if isinstance(cell, str) else None
        if found[cell] is None:
            return [None if cell == "" else cell for cell in cells]
    return [found[cell] for cell in cells]


def _sorted(cells: Sequence[Value]) -> list[Value]:
    is_numbers = all(is_number(cell) for cell in cells)
    return sorted(cells, key=None if is_numbers else str)  # type: ignore[type-var, arg-type]


def _quarters(
    numbers: NDArray[np.float64], is_number_: NDArray[np.bool_]
) -> Iterator[Part]:
    """Yield the numbers that occur or, of many, quarters of the rows."""
    occurring = numbers[is_number_]
    edges = np.unique(occurring)
    if len(edges) > _FEW:
        edges = np.unique(np.quantile(occurring, (0.25, 0.5, 0.75), method="nearest"))
    quarter = np.searchsorted(edges, numbers)
    for place in range(len(edges) + 1):
        held = is_number_ & (quarter == place)
        if held.any():
            low, high = float(numbers[held].min()), float(numbers[held].max())
            ends = [label_text(plain_number(end)) for end in (low, high)]
            yield (low, high), "–".join(dict.fromkeys(ends)), held
