import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from nn2rules import OptionError
from research.baselines.mofn import Literal, MofN, literals_of
from research.baselines.sampling import (
    crowded_features,
    draw,
    is_disjunctive,
    marginals_of,
)
from strategies import plain_domain, sizes


def takes(row, path):
    """Tell whether a row takes a path, literal by literal."""
    return all(
        (sum(one.allowed[row[one.feature]] for one in test.literals) >= test.m) == holds
        for test, holds in path
    )


def distribution(marginals, path):
    """Return the probability of every input, given the path: by enumeration."""
    chances = {}
    for row in naive.inputs([len(one) for one in marginals]):
        if takes(row, path):
            pairs = zip(marginals, row, strict=True)
            chances[tuple(row)] = np.prod([one[code] for one, code in pairs])
    total = sum(chances.values())
    return {row: chance / total for row, chance in chances.items()} if total else {}


@st.composite
def cases(draw_from, max_inputs=60, max_tests=4):
    """Draw marginals, some values impossible, and a path of tests that overlap."""
    shape = draw_from(sizes(max_inputs, 5).filter(lambda shape: max(shape) > 1))
    literals = literals_of(plain_domain(shape))
    marginals = []
    for size in shape:
        one = draw_from(st.lists(st.integers(0, 4), min_size=size, max_size=size))
        one[draw_from(st.integers(0, size - 1))] += 1
        marginals.append(np.array(one) / sum(one))
    path = []
    for _ in range(draw_from(st.integers(0, max_tests))):
        chosen = st.lists(
            st.sampled_from(literals), min_size=1, max_size=4, unique=True
        )
        some = tuple(draw_from(chosen))
        m = draw_from(st.integers(1, len(some)))
        path.append((MofN(m, some), draw_from(st.booleans())))
    return tuple(marginals), tuple(path)


@given(cases(), st.integers(0, 5))
def test_what_is_drawn_takes_the_path(case, seed):
    marginals, path = case
    expected = distribution(marginals, path)
    random = np.random.default_rng(seed)
    if not expected:
        with pytest.raises(OptionError, match="no input of positive probability"):
            draw(marginals, path, 50, random)
        return
    codes = draw(marginals, path, 50, random)
    assert codes.shape == (50, len(marginals))
    for row in codes.tolist():
        assert takes(row, path)
        assert expected[tuple(row)] > 0


@settings(max_examples=40)
@given(cases(max_inputs=24).filter(lambda case: distribution(*case)))
def test_the_distribution_is_that_of_enumeration(case):
    """A frequency is 0.0035 off at most, on average, so 0.02 is far out."""
    n_inputs = 20_000
    codes = draw(*case, n_inputs, np.random.default_rng(1))
    rows, counts = np.unique(codes, axis=0, return_counts=True)
    found = dict(zip(map(tuple, rows.tolist()), counts / n_inputs, strict=True))
    for row, chance in distribution(*case).items():
        assert abs(found.pop(row, 0) - chance) < 0.02
    assert not found


def test_tests_that_share_features_are_met_together():
    """Exactly one of four features, said by two tests over all of them."""
    literals = tuple(Literal(feature, (True, False)) for feature in range(4))
    path = ((MofN(1, literals), True), (MofN(2, literals), False))
    fair = (np.array([0.5, 0.5]),) * 4
    codes = draw(fair, path, 4000, np.random.default_rng(0))
    assert ((codes == 0).sum(axis=1) == 1).all()
    assert ((codes == 0).mean(axis=0) > 0.22).all()


def test_a_skewed_distribution_is_that_of_enumeration():
    marginals = (np.array([0.9, 0.1]), np.array([0.2, 0.8]), np.array([0.1, 0.2, 0.7]))
    a, b = Literal(0, (True, False)), Literal(1, (True, False))
    c, d = Literal(2, (True, True, False)), Literal(2, (False, True, True))
    path = ((MofN(2, (a, b, c, d)), True), (MofN(2, (b, c)), False))
    expected = distribution(marginals, path)
    assert len(expected) == 6
    assert max(expected.values()) > 5 * min(expected.values())
    codes = draw(marginals, path, 100_000, np.random.default_rng(3))
    for row, chance in expected.items():
        assert abs((codes == row).all(axis=1).mean() - chance) < 0.008


def test_values_of_probability_0_are_never_drawn():
    class Lowest:
        def random(self, size):
            return np.zeros(size)

    class Highest:
        def random(self, size):
            return np.full(size, np.nextafter(1, 0))

    marginals = (np.array([0, 0.3, 0.7, 0]),) * 3
    literals = tuple(Literal(feature, (False, True, True, False)) for feature in (0, 1))
    path = ((MofN(1, literals), True),)
    assert draw(marginals, path, 2, Lowest()).tolist() == [[1, 1, 1]] * 2
    assert draw(marginals, path, 2, Highest()).tolist() == [[2, 2, 2]] * 2


def test_an_empty_path_leaves_the_marginals():
    domain = plain_domain([2, 3])
    codes = np.array([[0, 0], [0, 2], [1, 2]])
    marginals = marginals_of(domain, codes, np.array([1.0, 2.0, 1.0]))
    assert [one.tolist() for one in marginals] == [[0.75, 0.25], [0.25, 0, 0.75]]
    drawn = draw(marginals, (), 20_000, np.random.default_rng(0))
    again = marginals_of(domain, drawn, np.ones(len(drawn)))
    assert again[1][1] == 0
    assert np.allclose(again[0], marginals[0], atol=0.02)
    assert np.allclose(again[1], marginals[1], atol=0.02)
    assert draw(marginals, (), 0, np.random.default_rng(0)).shape == (0, 2)


def test_which_tests_leave_something_open():
    literals = tuple(Literal(feature, (True, False)) for feature in range(3))
    assert [is_disjunctive(MofN(m, literals), True) for m in (1, 2, 3)] == [1, 1, 0]
    assert [is_disjunctive(MofN(m, literals), False) for m in (1, 2, 3)] == [0, 1, 1]
    assert not is_disjunctive(MofN(1, literals[:1]), True)
    assert not is_disjunctive(MofN(1, literals[:1]), False)


def test_features_are_barred_once_there_are_too_many_states():
    literals = tuple(Literal(feature, (True, False)) for feature in range(6))
    first, second = MofN(2, literals[:3]), MofN(3, literals[3:])
    path = ((first, True), (second, False))
    assert crowded_features(path, limit=12) == frozenset()
    assert crowded_features(path, limit=11) == {0, 1, 2, 3, 4, 5}
    assert crowded_features(((second, True),), limit=1) == frozenset()
    assert crowded_features((), limit=1) == frozenset()
