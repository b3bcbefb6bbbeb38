"""What an audit says of rows: outcomes by group, and the most fragile rows."""

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


def fragile_rows(
    network: Network,
    rows: GivenRows,
    number: int,
    meter: Meter,
    impossible: Any = None,
    n_jobs: int | None = None,
) -> tuple[FragileRow, ...]:
    """Return the different rows with the smallest margins, each explained."""
    codes, numbers = rows.distinct
    order = np.argsort(row_margins(network, rows), kind="stable")
    if impossible is not None:
        boxes, _ = read_impossible(network.domain, impossible, function=False)
        given = np.ones(codes.shape) if numbers is None else numbers
        order = order[~inside(network.domain, boxes, codes, given)[order]]
    order = order[:number]
    if not len(order):
        return ()
    amounts = None if numbers is None else numbers[order]
    chosen = network.domain.decode(codes[order], amounts, accepted=True)
    asked: dict[str, Any] = {"widen": False, "budget": meter.budget, "progress": False}
    asked |= {"impossible": impossible, "n_jobs": n_jobs}
    try:
        found = explain(network, chosen, **asked)
    except BudgetExceededError:  # no time for a table: what is not known is open
        found = explain(network, chosen, engine="search", **asked)
    firsts = [int(np.argmax(rows.places == place)) for place in order.tolist()]
    return tuple(
        FragileRow(first, int(rows.weights[place]), explanation)
        for first, place, explanation in zip(firsts, order.tolist(), found, strict=True)
    )


def row_margins(network: Network, rows: GivenRows) -> NDArray[np.float64]:
    """Return how far the scores of the different rows are from another answer."""
    scores = network.scores_codes(*rows.distinct)
    answers = rows.answers(network)
    found = np.zeros(len(answers))
    for index in range(len(network.classes)):
        own = answers == index
        if own.any():
            found[own] = margins(network, index, scores[own])
    return np.maximum(np.nan_to_num(found), 0.0)
