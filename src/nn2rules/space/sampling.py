"""Draw inputs at random: from a domain, evenly or by volume, and from boxes.

`wilson` bounds a share that was counted on such a sample.
"""

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from nn2rules.space.boxes import Boxes, Inputs
from nn2rules.space.domain import Domain
from nn2rules.space.feature_kinds import Range
from nn2rules.space.spans import volumes

_DIGITS = 3  # of a number that is drawn to be read
_AT_AN_END = 0.25  # of the numbers of a box, for each end
_QUANTILE = 1.959963984540054  # of the normal distribution, for two-sided 95%


def random_inputs(domain: Domain, number: int, rng: Generator) -> Inputs:
    """Draw inputs: values alike, the numbers of a range as often as one of its values.

    Examples
    --------
    >>> from nn2rules.space import Feature
    >>> domain = Domain((Feature.real("age", 18, 100, whole=True, missing=True),))
    >>> random_inputs(domain, 3, np.random.default_rng(1)).codes.ravel()
    array([0, 1, 1])
    """
    sizes = np.array(domain.sizes)
    codes = rng.integers(sizes, size=(number, len(sizes)))
    numbers = np.ones(codes.shape)
    for index, feature in enumerate(domain.features):
        if isinstance(feature, Range):
            low, high = feature.limits
            share = rng.random(number)
            drawn = (1 - share) * low + share * high  # high - low may overflow
            drawn = np.floor(drawn + 0.5) if feature.whole else drawn
            drawn = np.clip(drawn, low, high)
            numbers[:, index] = np.where(codes[:, index] == 0, drawn, 1.0)
    return Inputs(codes, numbers)


def readable_inputs(domain: Domain, number: int, rng: Generator) -> Inputs:
    """Draw inputs as `random_inputs` does, with numbers of few digits."""
    codes = rng.integers(0, domain.sizes, size=(number, len(domain.sizes)))
    if not domain.has_ranges:
        return Inputs(codes, np.ones(codes.shape))
    low, high = domain.limits
    wide = np.maximum(high - low, np.finfo(np.float64).tiny)
    step = 10.0 ** np.floor(np.log10(wide) - _DIGITS)
    whole = np.array([feature.whole for feature in domain.features])
    step = np.where(whole, 1.0, np.maximum(step, np.finfo(np.float64).tiny))
    drawn = rng.uniform(low, high, size=codes.shape)
    with np.errstate(over="ignore"):  # a range of one number has a step of almost 0
        numbers = np.clip(np.round(drawn / step) * step, low, high)
    is_number = domain.offsets[:-1] + codes == domain.ranges
    return Inputs(codes, np.where(is_number, numbers, 1.0))


def inputs_by_volume(domain: Domain, number: int, rng: Generator) -> Inputs:
    """Draw inputs of a domain that may be cut: numbers evenly spread over a range.

    Codes are those of the cells into which ranges are cut.
    """
    codes = rng.integers(0, domain.sizes, (number, len(domain.sizes)))
    numbers = np.ones(codes.shape)
    for place, feature in enumerate(domain.features):
        if isinstance(feature, Range):
            drawn = _drawn_cells(feature, number, rng)
            codes[:, place], numbers[:, place] = drawn
    return Inputs(codes, numbers)


def _drawn_cells(
    feature: Range, number: int, rng: Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Draw values of a range by their volume, and a number of each cell."""
    shares = np.array(volumes(feature), dtype=np.float64)
    codes = rng.choice(len(shares), number, p=shares)
    beside = [(1.0, 1.0)] * (len(shares) - feature.n_cells)
    low, high = np.array([*feature.spans, *beside], dtype=np.float64)[codes].T
    part = rng.random(number)
    if feature.whole:
        return codes, low + np.floor(part * (high - low + 1))
    return codes, np.clip((1 - part) * low + part * high, low, high)


def inputs_in_boxes(
    domain: Domain, boxes: Boxes, number: int, rng: Generator
) -> Inputs:
    """Draw this many inputs of each box; half of their numbers are ends of ranges."""
    found: list[Inputs] = []
    whole = np.array([feature.whole for feature in domain.features])
    for allowed, ends in zip(boxes.allowed, boxes.ends, strict=True):
        parts = np.split(allowed, domain.offsets[1:-1])
        blocks = [np.flatnonzero(part) for part in parts]
        codes = np.stack([rng.choice(block, number) for block in blocks], axis=1)
        shares = rng.random(codes.shape)
        shares[rng.random(codes.shape) < _AT_AN_END] = 0
        shares[rng.random(codes.shape) < _AT_AN_END] = 1
        numbers = (1 - shares) * ends[0] + shares * ends[1]
        numbers = np.where(whole, np.round(numbers), numbers)
        numbers = np.clip(numbers, ends[0], ends[1])
        numbers[codes + domain.offsets[:-1] != domain.ranges] = 1.0
        found.append(Inputs(codes, numbers))
    return Inputs(
        np.vstack([each.codes for each in found]),
        np.vstack([each.numbers for each in found]),
    )


def wilson(same: int, inputs: int, quantile: float = _QUANTILE) -> tuple[float, float]:
    """Return Wilson's interval for a share: `same` of the sampled `inputs`.

    It is the 95% interval, unless another `quantile` of the normal distribution is
    given.

    Examples
    --------
    >>> low, high = wilson(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    if inputs == 0:
        return 0.0, 1.0
    part, square = same / inputs, quantile**2 / inputs
    centre, scale = part + square / 2, 1 + square
    spread = math.sqrt(part * (1 - part) * square + square**2 / 4)
    low = 0.0 if same == 0 else (centre - spread) / scale
    high = 1.0 if same == inputs else (centre + spread) / scale
    return low, high
