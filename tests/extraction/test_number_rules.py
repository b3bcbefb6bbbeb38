"""Rules about ranges of numbers, against the judge of the fuzz script."""

import numpy as np
import pytest

from fuzz import numbers
from nn2rules.rules import RuleList
from nn2rules.space import cut_at_ends


@pytest.mark.parametrize("seed", range(4))
def test_no_rule_is_wrong_anywhere(seed):
    rngs = (np.random.default_rng([43, seed, k]) for k in range(50))
    assert sum(map(numbers.make_number_rules, rngs)) > 1000


@pytest.mark.parametrize("seed", range(2))
def test_parts_of_a_cut_domain_have_the_numbers_of_the_boxes(seed):
    """Also the floats beside every end."""
    for number in range(60):
        rng = np.random.default_rng([44, seed, number])
        network = numbers.draw_network(rng)
        domain = network.domain
        boxes, known = numbers.random_boxes(rng, network, 4)
        cut, allowed = cut_at_ends(domain, boxes)
        for at in numbers.places(rng, network, known, 30):
            for which in range(4):
                rules = RuleList.from_boxes(
                    cut, allowed[[which]], [0], "b", ("a", "b"), form="list"
                )
                is_in = numbers.first_rule(rules, at) == 0
                assert is_in == numbers.holds(domain, boxes, which, at)
