"""How far a share that is counted on a sample can be from the true one."""

import math

_QUANTILE = 1.959963984540054  # of the normal distribution, for 95% on two sides


def wilson(same: int, inputs: int) -> tuple[float, float]:
    """Return Wilson's 95% interval for a share, of which a sample shows `same`.

    Examples
    --------
    >>> low, high = wilson(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    if inputs == 0:
        return 0.0, 1.0
    part, square = same / inputs, _QUANTILE**2 / inputs
    centre, scale = part + square / 2, 1 + square
    spread = math.sqrt(part * (1 - part) * square + square**2 / 4)
    low = 0.0 if same == 0 else (centre - spread) / scale
    high = 1.0 if same == inputs else (centre + spread) / scale
    return low, high
