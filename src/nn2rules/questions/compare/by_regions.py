"""Compare two networks by their linear regions, where they have few."""

from contextlib import suppress

from nn2rules.engine import (
    REGION_SHARE,
    Meter,
    Settled,
    find_difference,
    piecewise_linear_obstacle,
)
from nn2rules.errors import BudgetExceededError
from nn2rules.questions.compare.predictors import NetworkPredictor, Predictor


def may_have_regions(predictors: tuple[Predictor, Predictor]) -> bool:
    """Tell whether both are networks with linear regions."""
    return all(
        isinstance(one, NetworkPredictor)
        and piecewise_linear_obstacle(one.network) is None
        for one in predictors
    )


def settle_difference(predictors: tuple[Predictor, Predictor], meter: Meter) -> Settled:
    """Prove that two networks predict the same, or return an input where they do not.

    Undecided if regions do not tell in their part of the time.
    """
    old, new = predictors
    assert isinstance(old, NetworkPredictor), "asked only of networks"
    assert isinstance(new, NetworkPredictor), "asked only of networks"
    differences = [
        (one, other)
        for one, place in enumerate(old.positions.tolist())
        for other, second in enumerate(new.positions.tolist())
        if place != second
    ]
    with suppress(BudgetExceededError), meter.leaving(REGION_SHARE):
        return find_difference(old.network, new.network, differences, meter)
    return Settled("undecided")
