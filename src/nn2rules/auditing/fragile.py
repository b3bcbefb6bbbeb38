"""The rows nearest to another answer."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.auditing.findings import FragileRow
from nn2rules.engine import Meter
from nn2rules.errors import BudgetExceededError
from nn2rules.explaining import explain
from nn2rules.explaining.constraints import impossible_boxes
from nn2rules.explaining.gains import margins
from nn2rules.given_rows import GivenRows
from nn2rules.network import Network
from nn2rules.verifying.region import held_by


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
        boxes = impossible_boxes(network.domain, impossible)
        given = np.ones(codes.shape) if numbers is None else numbers
        order = order[~held_by(network.domain, boxes, codes, given)[order]]
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
