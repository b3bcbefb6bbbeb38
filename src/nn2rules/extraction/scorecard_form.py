"""Scorecards from networks: which networks have one, and what is known of its rows.

The first layer of a network already is a card for each of its units, so nothing has to
be searched. What remains is to say which networks people can read in this way, to count
the rows, and to choose a scale on which few of them are too close to the cut-off.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import (
    BudgetExceededError,
    UndecidedError,
    UnsupportedModelError,
)
from nn2rules.extraction.certifying import scorecard_certificate
from nn2rules.extraction.coverage import on_every_input
from nn2rules.language import count
from nn2rules.models import GivenRows
from nn2rules.network import Network
from nn2rules.scorecards import (
    MOST_REGIONS,
    CardRegion,
    Profile,
    Scorecard,
    default_table,
    is_monotonic,
    regions_of,
)
from nn2rules.space import UNKNOWN, Feature, Range, Rows, Value, refuse_curves

MOST_PARTS = 8
"""A network of one hidden layer has a scorecard of parts up to this many units."""

_INSTEAD = (
    "use the form 'set' or 'list', or train a small network that imitates this one"
)

_TRIED_ROWS = 5000
"""The scale is chosen by this many different rows."""


def scorecard_obstacle(network: Network) -> str | None:
    """Say why a network has no scorecard that people can read, or None."""
    hidden = network.layers[:-1]
    if not hidden:
        return None
    if len(hidden) == 1 and len(hidden[0].bias) == 1:
        if is_monotonic(hidden[0]):
            return None
        return f"the {hidden[0].activation} of its hidden unit falls and rises"
    for layer in hidden:
        if layer.function.exact is None:
            units = count(len(layer.bias), "hidden unit")
            return f"the network has {units} of {layer.activation}, a curved function"
    return None


def needs_regions(network: Network) -> bool:
    """Tell whether a scorecard needs regions: more units or layers than parts have."""
    hidden = network.layers[:-1]
    return len(hidden) > 1 or (bool(hidden) and len(hidden[0].bias) > MOST_PARTS)


def scorecard_lines(network: Network) -> int | None:
    """Return how many lines a scorecard of one card or of parts has, if it has one."""
    if network.domain.has_curves or scorecard_obstacle(network) is not None:
        return None
    return None if needs_regions(network) else int(network.domain.offsets[-1])


def scorecard_of(
    network: Network,
    rows: GivenRows | None,
    *,
    test: Rows = None,
    seed: int = 0,
    max_regions: int = MOST_REGIONS,
) -> Scorecard:
    """Return the scorecard of a network, with what is known of the rows."""
    refuse_curves(network.domain.features, "a scorecard")
    obstacle = scorecard_obstacle(network)
    if obstacle is not None:
        raise UnsupportedModelError(
            f"{obstacle}, and a scorecard is made of a model without hidden layer, of "
            f"one hidden unit whose activation never falls, or of units of relu or "
            f"another piecewise-linear activation; {_INSTEAD}"
        )
    origin = network.origin or {}
    card = Scorecard.from_network(
        network,
        regions=_regions(network, rows, max_regions) if needs_regions(network) else (),
        has_probabilities=origin.get("probabilities") is not False,
    )
    card = _scaled_for(card, rows)
    certificate = scorecard_certificate(network)
    certificate["coverage"] = on_every_input(rows, seed)
    if test is not None:
        inside = (network.domain.encode(test, unknown="mark") != UNKNOWN).all(axis=1)
        counts = {"rows": len(inside), "covered": int(inside.sum())}
        certificate["coverage"] = {"on": "test rows", **counts}
    if rows is not None:
        certificate |= row_counts(network, rows)
    return card.replace(certificate=certificate)


def _regions(
    network: Network, rows: GivenRows | None, max_regions: int
) -> tuple[CardRegion, ...]:
    """Return the linear regions of a network, those of many rows first."""
    try:
        regions = regions_of(network, max_regions)
    except BudgetExceededError as error:
        raise UnsupportedModelError(
            f"the network has too many linear regions for a scorecard: {error}; raise "
            f"max_regions (--max-regions), or {_INSTEAD}"
        ) from None
    if rows is None or not len(rows):
        return regions
    codes, numbers = rows.distinct
    some = slice(0, _TRIED_ROWS)
    sums = first_sums(network, codes[some], None if numbers is None else numbers[some])
    weights, left = rows.weights[some], np.ones(len(sums), dtype=np.bool_)
    counts = []
    for region in regions:
        inside = left.copy()
        for condition in region.conditions:
            inside &= sums @ np.array([*map(float, condition.coefficients)]) >= -float(
                condition.constant
            )
        counts.append(int(weights[inside].sum()))
        left &= ~inside
    order = sorted(range(len(regions)), key=lambda place: -counts[place])
    return tuple(regions[place] for place in order)


def first_sums(
    network: Network, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the sums of the first layer for inputs, in float64."""
    first = network.layers[0]
    picked = first.weights[codes + network.domain.offsets[:-1]]
    if numbers is not None:
        picked = picked * numbers[:, :, np.newaxis]
    sums: NDArray[np.float64] = picked.sum(axis=1) + first.bias
    return sums


def row_counts(network: Network, rows: GivenRows) -> dict[str, Any]:
    """Count the rows, and those of each class, for the certificate of a scorecard."""
    found: dict[str, Any] = {"rows": len(rows), "rows_covered": len(rows)}
    try:
        answers = rows.answers(network)
    except UndecidedError:  # no arithmetic of ours tells the class of some row
        return found
    counts = np.bincount(answers, rows.weights, minlength=len(network.classes))
    found["class_rows"] = [int(number) for number in counts]
    if rows.labels is not None:
        agreeing = rows.labels == answers[rows.places]
        found["labels_agree"] = int(agreeing.sum())
    return found


def _scaled_for(card: Scorecard, rows: GivenRows | None) -> Scorecard:
    """Return a card with the scale that suits its rows, and their profile."""
    if rows is None or not len(rows):
        return card.replace(scale=default_table(card, None).scale)
    codes, numbers = rows.distinct
    tried = slice(0, _TRIED_ROWS // 5 if card.regions else _TRIED_ROWS)
    few = codes[tried], None if numbers is None else numbers[tried]
    table = default_table(card, few)
    is_between = table.predict_codes(codes, numbers) < 0
    profile = Profile(
        len(rows),
        tuple(
            _typical(feature, codes[:, index], numbers, index, rows.weights)
            for index, feature in enumerate(card.domain.features)
        ),
        _importance(card, rows),
        (int(rows.weights[is_between].sum()), len(rows)),
    )
    return card.replace(scale=table.scale, profile=profile)


def _typical(
    feature: Feature,
    codes: NDArray[np.int64],
    numbers: NDArray[np.float64] | None,
    index: int,
    weights: NDArray[np.int64],
) -> Value:
    """Return the most frequent value of a feature; of a range the median number."""
    counts = np.bincount(codes, weights, minlength=len(feature))
    code = int(counts.argmax())
    if not isinstance(feature, Range) or numbers is None or code:
        value: Value = feature.cells[code]
        return value
    own = codes == 0
    order = np.argsort(numbers[own, index], kind="stable")
    passed = np.cumsum(weights[own][order])
    place = int(np.searchsorted(passed, passed[-1] / 2))
    return feature.cell_of(float(numbers[own, index][order][place]))


def _importance(card: Scorecard, rows: GivenRows) -> tuple[float, ...]:
    """Return for each feature how far its points lie from their mean, on average."""
    values = card.contributions_codes(*rows.distinct)
    weights = rows.weights / rows.weights.sum()
    if card.kind == "classes":
        values = values - values.mean(axis=1, keepdims=True)
    shares = np.ones(len(card.cards))
    if card.upper:
        shares = np.abs(card.upper[0].weights).max(axis=1)
    with np.errstate(all="ignore"):
        means = np.tensordot(weights, values, axes=1)
        spread = np.tensordot(weights, np.abs(values - means), axes=1)
        found = (spread * shares[:, np.newaxis]).sum(axis=0)
    return tuple(np.nan_to_num(found).tolist())
