"""Rules about ranges of numbers, against the judge of the fuzz script."""

import numpy as np
import pytest

from fuzz import numbers


@pytest.mark.parametrize("seed", range(4))
def test_no_rule_is_wrong_anywhere(seed):
    rngs = (np.random.default_rng([43, seed, k]) for k in range(50))
    assert sum(map(numbers.make_number_rules, rngs)) > 1000
