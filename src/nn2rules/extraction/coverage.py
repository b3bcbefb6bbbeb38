"""Coverage of new rows, measured on rows that the rules were not made for.

Rules of the scope "support" are made for rows, so covering those says nothing about
others. Coverage is measured on separate rows (`test`), or a tenth of the data is held
out: its rows are counted before any rule is grown for them, and covered afterwards. The
certificate has the result as `coverage`: ``rows``, how many were counted, ``covered``,
how many of them a rule covers, and ``on``, which rows they are.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.models import GivenRows
from nn2rules.rules import RuleList
from nn2rules.space import UNKNOWN, Intervals, Range, Rows

FEWEST = 50
"""With fewer rows, none are held out: the estimate would be useless."""

_PART = 10
_STREAM = 1 << 34


def held_out(rows: GivenRows, seed: int) -> NDArray[np.bool_] | None:
    """Return which rows are held out, a random tenth; None if there are too few."""
    if len(rows) < FEWEST:
        return None
    rng = np.random.default_rng([seed, _STREAM])
    chosen = rng.permutation(len(rows))[: len(rows) // _PART]
    held = np.zeros(len(rows), dtype=np.bool_)
    held[chosen] = True
    return held


def kept_weights(rows: GivenRows, held: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how often each distinct row occurs among those not held out."""
    return np.bincount(rows.places[~held], minlength=len(rows.weights))


def on_every_input(rows: GivenRows | None, seed: int) -> dict[str, Any]:
    """Return the coverage of rules for every input.

    A new row is covered unless it has a value outside the domain. If some value of the
    data occurs in a single row, new rows may well have new values. Their number is then
    estimated on held-out rows.
    """
    held = None if rows is None else held_out(rows, seed)
    if rows is None or held is None or not _has_rare_values(rows):
        return {"on": "every input"}
    return counted(rows, held, np.ones(len(rows.weights), dtype=np.bool_))


def _has_rare_values(rows: GivenRows) -> bool:
    """Return whether a feature lists the values of the rows, and one occurs once."""
    for index, feature in enumerate(rows.domain.features):
        if isinstance(feature, Intervals) or feature.other is not None:
            continue
        counts = np.bincount(rows.codes[:, index], minlength=len(feature))
        if counts.min() == 1:  # the values were listed from these rows
            return True
    return False


def is_new(rows: GivenRows, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each row whether it has a value that no row of the rest has.

    Without that row the value would be outside the domain, so the row counts as not
    covered. For a range, this is a number beyond all others, if the data define where
    the range ends.
    """
    kept = ~held
    is_new_row = np.zeros(len(held), dtype=np.bool_)
    for index, feature in enumerate(rows.domain.features):
        codes = rows.codes[:, index]
        is_new_row |= ~np.isin(codes, codes[kept])
        if not isinstance(feature, Range) or rows.numbers is None:
            continue
        numbers, is_number = rows.numbers[:, index], codes == 0
        others = numbers[kept & is_number]
        if len(others):
            low, high = feature.limits
            below = (numbers < others.min()) & (numbers[is_number].min() <= low)
            above = (numbers > others.max()) & (numbers[is_number].max() >= high)
            is_new_row |= is_number & (below | above)
    return is_new_row


def counted(
    rows: GivenRows, held: NDArray[np.bool_], is_covered: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the coverage, given which of the distinct rows are covered."""
    covered = is_covered[rows.places] & ~is_new(rows, held)
    return {
        "on": "held-out rows",
        "rows": int(held.sum()),
        "covered": int(covered[held].sum()),
    }


def on_test(rules: RuleList, test: Rows) -> dict[str, Any]:
    """Return the coverage of test rows; rows outside the domain are not covered."""
    codes = rules.domain.encode(test, unknown="mark")
    inside = (codes != UNKNOWN).all(axis=1)
    covered = inside.copy()
    covered[inside] = rules.predictions(codes[inside]).is_covered
    return {"on": "test rows", "rows": len(codes), "covered": int(covered.sum())}
