import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from nn2rules import Domain, Feature
from research.baselines.mofn import Literal, MofN, Sample, best_test, literals_of
from research.baselines.mofn import satisfied as matrix_of
from strategies import domains, plain_domain

SIZE = Feature("size", ("small", "medium", "big", "huge"), ordered=True)
COLOR = Feature("color", ("red", "yellow", "green"))
SHAPE = Feature("shape", ("round", "long"))


def texts(*features):
    domain = Domain(features)
    return [literal.text(domain) for literal in literals_of(domain)]


def sample_of(domain, codes, answers, n_classes=2, weight=100.0):
    table = literals_of(domain)
    weights = weight * np.eye(n_classes)[np.asarray(answers, dtype=int)]
    return Sample(table, matrix_of(table, codes), weights)


def every_input(domain):
    return np.array(naive.inputs(domain.sizes))


# literals


def test_literals_are_equal_and_different_and_at_most():
    assert sorted(texts(COLOR)) == sorted(
        f"color {sign} {value}" for sign in "=≠" for value in COLOR.values
    )
    assert {"size ≤ medium", "size ≤ big", "size ≥ medium", "size ≥ big"} < set(
        texts(SIZE)
    )
    assert not any("≤" in text for text in texts(COLOR))


def test_no_two_literals_hold_for_the_same_values():
    assert texts(SHAPE) == ["shape = round", "shape = long"]
    assert texts(Feature("one", ("value",))) == []


@settings(max_examples=50)
@given(domains())
def test_no_literal_is_always_or_never_true(domain):
    literals = literals_of(domain)
    assert len(set(literals)) == len(literals)
    for literal in literals:
        assert len(literal.allowed) == domain.sizes[literal.feature]
        assert 0 < sum(literal.allowed) < len(literal.allowed)


# tests


@given(st.data())
def test_a_test_holds_if_m_literals_do(data):
    domain = data.draw(domains(max_inputs=60).filter(literals_of))
    pool = st.sampled_from(literals_of(domain))
    literals = data.draw(st.lists(pool, min_size=1, max_size=5, unique=True))
    test = MofN(data.draw(st.integers(1, len(literals))), tuple(literals))
    for row, holds in zip(
        naive.inputs(domain.sizes), test.holds(every_input(domain)), strict=True
    ):
        satisfied = [one for one in literals if one.allowed[row[one.feature]]]
        assert holds == (len(satisfied) >= test.m)


def test_the_text_of_a_test():
    domain = Domain((SIZE, COLOR))
    small, red = (
        Literal(0, (True, True, False, False)),
        Literal(1, (True, False, False)),
    )
    assert MofN(1, (red,)).text(domain) == "color = red"
    assert MofN(2, (small, red)).text(domain) == "2 of {size ≤ medium, color = red}"


# the search


def gain_of(test, codes, answers):
    """Return the information gain of a test in bits, counted row by row."""

    def entropy(labels):
        shares = [labels.count(one) / len(labels) for one in set(labels)]
        return -sum(share * np.log2(share) for share in shares)

    labels = list(answers)
    parts = [[], []]
    for label, holds in zip(labels, test.holds(codes), strict=True):
        parts[int(holds)].append(label)
    inside = sum(len(part) * entropy(part) for part in parts if part)
    return entropy(labels) - inside / len(labels)


@settings(max_examples=60)
@given(st.data())
def test_no_single_literal_tells_more(data):
    domain = plain_domain([3, 2, 4])
    codes = every_input(domain)
    answers = data.draw(st.lists(st.integers(0, 2), min_size=24, max_size=24))
    found = best_test(sample_of(domain, codes, answers, 3, weight=1))
    singles = [
        gain_of(MofN(1, (literal,)), codes, answers) for literal in literals_of(domain)
    ]
    assert gain_of(found, codes, answers) >= max(singles) - 1e-6
    if len(found.literals) == 1:
        assert gain_of(found, codes, answers) == pytest.approx(max(singles), abs=1e-6)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_the_search_finds_m_of_n(m):
    domain = plain_domain([2, 2, 2, 2, 3])
    codes = every_input(domain)
    answers = (codes[:, :4] == 0).sum(axis=1) >= m
    found = best_test(sample_of(domain, codes, answers))
    holds = found.holds(codes)
    assert np.array_equal(holds, answers) or np.array_equal(holds, ~answers)
    assert found.features == {0, 1, 2, 3}
    assert len(found.literals) == 4


def test_a_literal_that_tells_too_little_is_not_added():
    """The second feature tells something, but of few rows it may be chance."""
    domain = plain_domain([2, 2])
    codes = np.repeat(every_input(domain), 5, axis=0)
    answers = codes[:, 0].copy()
    answers[5:8] = 1  # three of the five rows (0, 1)
    for weight, n_literals in ((1, 1), (100, 2)):
        sample = sample_of(domain, codes, answers, weight=weight)
        assert len(best_test(sample, width=1).literals) == n_literals


def test_barred_features_stand_alone():
    domain = plain_domain([2, 2, 2])
    codes = every_input(domain)
    majority = codes.sum(axis=1) >= 2
    sample = sample_of(domain, codes, majority)
    assert best_test(sample).features == {0, 1, 2}
    for barred in range(3):
        found = best_test(sample, barred={barred}, width=3)
        assert found.features == {0, 1, 2} - {barred}
    assert len(best_test(sample, barred={0, 1, 2}).literals) == 1


@pytest.mark.parametrize("seed", range(10))
def test_literals_that_coincide_are_not_counted_twice(seed):
    """Of three values two are left, so *= first* and *≠ second* say the same.

    The class is a weighted count, so a literal that counts twice would tell more.
    """
    domain = plain_domain([3, 3, 3, 3])
    codes = every_input(domain)
    codes = codes[(codes < 2).all(axis=1)]
    weights = np.random.default_rng(seed).integers(1, 5, 4)
    answers = 2 * (codes @ weights) >= weights.sum()
    found = best_test(sample_of(domain, codes, answers))
    assert len(found.features) == len(found.literals)


def test_nothing_to_tell_apart():
    domain = plain_domain([3, 1])
    codes = np.array([[1, 0], [1, 0]])
    assert best_test(sample_of(domain, codes, [0, 1])) is None
    one_value = plain_domain([1])
    assert best_test(sample_of(one_value, np.array([[0]]), [0])) is None
