"""How many new rows rules cover: counted on rows that had no part in making them.

Rules of scope "support" are made for rows, so that they cover those says nothing of
others. Rows given for the purpose (`test`) are counted, or a tenth of the data is held
out: no rule is grown for these rows before they are counted, and then they are covered,
too. What the certificate says of it is `coverage`: ``rows``, how many were counted,
``covered``, how many of them a rule covers, and ``on``, which rows they are.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.models import GivenRows
from nn2rules.rules import RuleList
from nn2rules.space import UNKNOWN, Rows

FEWEST = 50
"""Of fewer rows none are held out: what they tell would be of no use."""

_PART = 10
_STREAM = 1 << 34


def held_out(rows: GivenRows, seed: int) -> NDArray[np.bool_] | None:
    """Return which rows are held out, a random tenth; None if rows are too few."""
    if len(rows) < FEWEST:
        return None
    rng = np.random.default_rng([seed, _STREAM])
    chosen = rng.permutation(len(rows))[: len(rows) // _PART]
    held = np.zeros(len(rows), dtype=np.bool_)
    held[chosen] = True
    return held


def kept_weights(rows: GivenRows, held: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how often each of the different rows occurs among those not held out."""
    return np.bincount(rows.places[~held], minlength=len(rows.weights))


def on_every_input(rows: GivenRows | None, seed: int) -> dict[str, Any]:
    """Return the coverage of rules for every input.

    New rows are inputs unless they hold a value that is not listed. How many do is
    counted on rows held out, if some value of the data occurs in one row only; then a
    row more may well bring another.
    """
    held = None if rows is None else held_out(rows, seed)
    if rows is None or held is None or not _has_rare_values(rows):
        return {"on": "every input"}
    return counted(rows, held, np.ones(len(rows.weights), dtype=np.bool_))


def _has_rare_values(rows: GivenRows) -> bool:
    """Tell whether a feature lists what the rows hold, and one value is in one row."""
    for index, feature in enumerate(rows.domain.features):
        if feature.edges is not None or feature.other is not None:
            continue
        counts = np.bincount(rows.codes[:, index], minlength=len(feature))
        if counts.min() == 1:  # no value was listed that no row has
            return True
    return False


def is_new(rows: GivenRows, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell of each row whether it has a value that no row has which is not held out.

    Such a value would be outside the domain, had the row not been there to be read, so
    the row counts as not covered. Of a range that is a number beyond all others, where
    the range ends with the data.
    """
    kept = ~held
    found = np.zeros(len(held), dtype=np.bool_)
    for index, feature in enumerate(rows.domain.features):
        codes = rows.codes[:, index]
        found |= ~np.isin(codes, codes[kept])
        if feature.limits is None or rows.numbers is None:
            continue
        numbers, is_number = rows.numbers[:, index], codes == 0
        own = numbers[kept & is_number]
        if len(own):
            low, high = feature.limits
            below = (numbers < own.min()) & (numbers[is_number].min() <= low)
            above = (numbers > own.max()) & (numbers[is_number].max() >= high)
            found |= is_number & (below | above)
    return found


def counted(
    rows: GivenRows, held: NDArray[np.bool_], is_covered: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the coverage, by which of the different rows are covered."""
    covered = is_covered[rows.places] & ~is_new(rows, held)
    return {
        "on": "held-out rows",
        "rows": int(held.sum()),
        "covered": int(covered[held].sum()),
    }


def on_test(rules: RuleList, test: Rows) -> dict[str, Any]:
    """Return the coverage of rows given for it; one off the domain is not covered."""
    codes = rules.domain.encode(test, unknown="mark")
    inside = (codes != UNKNOWN).all(axis=1)
    covered = inside.copy()
    covered[inside] = rules.predictions(codes[inside]).is_covered
    return {"on": "test rows", "rows": len(codes), "covered": int(covered.sum())}
