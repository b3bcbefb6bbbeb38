"""Rows in an audit: outcomes by group, and the most fragile rows."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter
from nn2rules.errors import BudgetExceededError
from nn2rules.language import label_text, read_impossible, value_words
from nn2rules.models import GivenRows
from nn2rules.network import Network
from nn2rules.questions.audit.result import FragileRow, Group
from nn2rules.questions.explain import explain, margins
from nn2rules.space import (
    Feature,
    Range,
    Rows,
    Value,
    cells_of,
    inside,
    is_number,
    number_of,
    plain_number,
    value_of,
)

Part: TypeAlias = tuple[Value | tuple[float, float], str, NDArray[np.bool_]]
"""A value or a range of numbers, its text, and the rows that have it."""

_FEW = 12  # most distinct numbers that are a group each; more are cut into quarters


def groups_of(
    network: Network, rows: GivenRows, data: Rows, name: str
) -> tuple[Group, ...]:
    """Return the groups of a column, with their predictions and labels."""
    predictions = rows.answers(network)[rows.places]
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
            int(is_in_group.sum()),
            _counted(network, predictions[is_in_group]),
            None
            if rows.labels is None
            else _counted(network, rows.labels[is_in_group]),
        )
        for value, text, is_in_group in parts
        if is_in_group.any()
    )


def _counted(network: Network, positions: NDArray[np.int64]) -> dict[Value, int]:
    counts = np.bincount(positions, minlength=len(network.classes)).tolist()
    return dict(zip(network.classes, counts, strict=True))


def _parts(
    feature: Feature, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None
) -> Iterator[Part]:
    """Yield the groups of a feature: its values, and quarters of a range."""
    first = 0
    if isinstance(feature, Range) and numbers is not None:
        yield from _quarters(numbers, codes == 0)
        first = 1
    for code in range(first, len(feature)):
        value = feature.values[code]
        yield value, value_words(feature, value), codes == code


def _column_parts(cells: Sequence[object]) -> Iterator[Part]:
    """Yield the groups of a column that is not a feature of the model."""
    cells_as_numbers = _numbers_of([value_of(cell) for cell in cells])
    distinct = list(dict.fromkeys(cells_as_numbers))
    values = [cell for cell in distinct if cell is not None]
    if len(values) > _FEW and all(is_number(cell) for cell in values):
        is_there = np.array([cell is not None for cell in cells_as_numbers])
        numbers = [np.nan if cell is None else float(cell) for cell in cells_as_numbers]
        yield from _quarters(np.array(numbers), is_there)
        values = []
    places = {cell: place for place, cell in enumerate(distinct)}
    positions = np.array([places[cell] for cell in cells_as_numbers])
    for cell in [*_sorted(values), *[None] * (None in places)]:
        yield cell, label_text(cell), positions == places[cell]


def _numbers_of(cells: list[Value]) -> list[Value]:
    """Return the cells of a file as numbers, if each of them is one or empty."""
    numbers: dict[Value, Value] = {}
    for cell in dict.fromkeys(cells):
        if cell is None or cell == "":
            numbers[cell] = None
            continue
        numbers[cell] = number_of(cell) if isinstance(cell, str) else None
        if numbers[cell] is None:
            return [None if cell == "" else cell for cell in cells]
    return [numbers[cell] for cell in cells]


def _sorted(cells: Sequence[Value]) -> list[Value]:
    is_numbers = all(is_number(cell) for cell in cells)
    return sorted(cells, key=None if is_numbers else str)  # type: ignore[type-var, arg-type]


def _quarters(
    numbers: NDArray[np.float64], is_number_: NDArray[np.bool_]
) -> Iterator[Part]:
    """Yield the numbers that occur or, if there are many, quarters of the rows."""
    occurring = numbers[is_number_]
    edges = np.unique(occurring)
    if len(edges) > _FEW:
        edges = np.unique(np.quantile(occurring, (0.25, 0.5, 0.75), method="nearest"))
    quarter = np.searchsorted(edges, numbers)
    for place in range(len(edges) + 1):
        is_in_quarter = is_number_ & (quarter == place)
        if is_in_quarter.any():
            low, high = (
                float(numbers[is_in_quarter].min()),
                float(numbers[is_in_quarter].max()),
            )
            ends = [label_text(plain_number(end)) for end in (low, high)]
            yield (low, high), "–".join(dict.fromkeys(ends)), is_in_quarter


def fragile_rows(
    network: Network,
    rows: GivenRows,
    number: int,
    meter: Meter,
    impossible: Any = None,
    n_jobs: int | None = None,
) -> tuple[FragileRow, ...]:
    """Return the distinct rows with the smallest margins, each explained."""
    codes, numbers = rows.distinct
    order = np.argsort(row_margins(network, rows), kind="stable")
    if impossible is not None:
        boxes, _ = read_impossible(network.domain, impossible, function=False)
        amounts = np.ones(codes.shape) if numbers is None else numbers
        order = order[~inside(network.domain, boxes, codes, amounts)[order]]
    order = order[:number]
    if not len(order):
        return ()
    chosen_numbers = None if numbers is None else numbers[order]
    chosen = network.domain.decode(codes[order], chosen_numbers, accepted=True)
    options: dict[str, Any] = {
        "widen": False,
        "budget": meter.budget,
        "progress": False,
    }
    options |= {"impossible": impossible, "n_jobs": n_jobs}
    try:
        explanations = explain(network, chosen, **options)
    except BudgetExceededError:  # no time for a table: the rest stays undecided
        explanations = explain(network, chosen, engine="search", **options)
    firsts = [int(np.argmax(rows.places == place)) for place in order.tolist()]
    return tuple(
        FragileRow(first, int(rows.weights[place]), explanation)
        for first, place, explanation in zip(
            firsts, order.tolist(), explanations, strict=True
        )
    )


def row_margins(network: Network, rows: GivenRows) -> NDArray[np.float64]:
    """Return the margins of the distinct rows."""
    scores = network.scores_codes(*rows.distinct)
    predictions = rows.answers(network)
    smallest = np.zeros(len(predictions))
    for index in range(len(network.classes)):
        is_class = predictions == index
        if is_class.any():
            smallest[is_class] = margins(network, index, scores[is_class])
    return np.maximum(np.nan_to_num(smallest), 0.0)
