"""Whether a class is reached, and two inputs that differ little, by every input."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from nn2rules import Layer, Network
from nn2rules.engine import Meter
from nn2rules.engine.proof_or_counterexample import as_boxes
from nn2rules.engine.reaching import find_class, find_twins
from nn2rules.errors import UndecidedError
from strategies import PIECEWISE_LINEAR, SMOOTH, boxes, networks, plain_domain


def box_of_codes(domain, chosen):
    box = np.zeros(int(domain.offsets[-1]), dtype=bool)
    for start, size, codes in zip(domain.offsets, domain.sizes, chosen, strict=False):
        box[start + np.array(range(size) if codes is None else codes)] = True
    return box


def drawn_boxes(data, domain, most):
    shape = list(domain.sizes)
    n_boxes = data.draw(st.integers(0, most))
    chosen = [data.draw(boxes(shape)) for _ in range(n_boxes)]
    found = np.array([box_of_codes(domain, each) for each in chosen], dtype=bool)
    return found.reshape(-1, int(domain.offsets[-1]))


def held(domain, boxes, codes):
    return any(box[domain.offsets[:-1] + codes].all() for box in boxes)


def inputs_in(domain, within, ignored):
    """Every input that counts."""
    every = product(*(range(size) for size in domain.sizes))
    return [
        np.array(codes)
        for codes in every
        if held(domain, within, np.array(codes))
        and not held(domain, ignored, np.array(codes))
    ]


def answers_of(network, inputs):
    """Return the class of each input, where somebody can say it."""
    try:
        return {tuple(x): network.predict_codes(x[np.newaxis])[0] for x in inputs}
    except UndecidedError:
        reject()


@settings(max_examples=60)
@given(network=networks(PIECEWISE_LINEAR + SMOOTH), data=st.data())
def test_a_class_is_found_just_where_there_is_one(network, data):
    domain = network.domain
    within = np.array([box_of_codes(domain, data.draw(boxes(list(domain.sizes))))])
    ignored = drawn_boxes(data, domain, 2)
    counted = inputs_in(domain, within, ignored)
    answers = answers_of(network, counted)
    for index in range(len(network.classes)):
        answer = find_class(
            network,
            index,
            as_boxes(domain, within),
            as_boxes(domain, ignored),
            Meter(),
        )
        assert answer.proved == (index not in answers.values())
        if not answer.proved:
            assert answers[tuple(answer.counterexample)] == index


@settings(max_examples=80)
@given(network=networks(PIECEWISE_LINEAR + SMOOTH), data=st.data())
def test_twins_are_found_just_where_there_are_some(network, data):
    domain = network.domain
    within = np.array([box_of_codes(domain, data.draw(boxes(list(domain.sizes))))])
    ignored = drawn_boxes(data, domain, 2)
    places = st.integers(0, len(domain.sizes) - 1)
    features = sorted(data.draw(st.sets(places, min_size=1, max_size=2)))
    ranks = None
    if len(features) == 1 and data.draw(st.booleans()):
        ranks = np.array(data.draw(st.permutations(range(int(domain.offsets[-1])))))
        ranks = ranks.astype(np.float64)
    counted = inputs_in(domain, within, ignored)
    answers = answers_of(network, counted)
    classes = data.draw(st.permutations(range(len(network.classes))))[:2]

    def are_twins(one, other):
        pairs = zip(one, other, strict=True)
        differing = [f for f, (a, b) in enumerate(pairs) if a != b]
        if not differing or not set(differing) <= set(features):
            return False
        columns = [domain.offsets[features[0]] + x[features[0]] for x in (one, other)]
        if ranks is not None and not ranks[columns[0]] < ranks[columns[1]]:
            return False
        return [answers[one], answers[other]] == classes

    found = find_twins(
        network,
        features,
        tuple(classes),
        as_boxes(domain, within),
        as_boxes(domain, ignored),
        Meter(),
        ranks=ranks,
    )
    assert (found is not None) == any(are_twins(*p) for p in product(answers, repeat=2))
    if found is not None:
        assert are_twins(*(tuple(codes) for codes in found.codes.tolist()))


@pytest.mark.parametrize("seed", range(12))
def test_twins_outside_of_what_is_ignored(seed):
    rng = np.random.default_rng(seed)
    n_out = 1 + 2 * (seed % 2)
    domain = plain_domain([3, 4, 3])
    first = Layer(rng.normal(size=(10, 4)), rng.normal(size=4), "relu")
    kind = "sigmoid" if n_out == 1 else "softmax"
    last = Layer(rng.normal(size=(4, n_out)), rng.normal(size=n_out) / 4, kind)
    network = Network(domain, (first, last), ("a", "b", "c")[: max(2, n_out)])
    boxes = rng.random((3, 10)) < 0.7
    boxes[:, [0, 3, 7]] = True
    within, ignored = boxes[:1], boxes[1:]
    answers = answers_of(network, inputs_in(domain, within, ignored))
    classes = range(len(network.classes))
    for features in ([0], [1], [0, 2]):
        for both in product(classes, repeat=2):
            expected = any(
                [answers[one], answers[other]] == list(both)
                for one, other in product(answers, repeat=2)
                if all(one[f] == other[f] for f in range(3) if f not in features)
            )
            if both[0] == both[1]:
                continue
            found = find_twins(
                network,
                features,
                both,
                as_boxes(domain, within),
                as_boxes(domain, ignored),
                Meter(),
            )
            assert (found is not None) == expected
            if found is not None:
                codes = [tuple(each) for each in found.codes.tolist()]
                assert [answers[each] for each in codes] == list(both)


def test_weights_that_overflow_give_no_warning():
    """How far one of two inputs is ahead is infinite, and less infinite again."""
    huge = 1.7e308
    weights = np.full((3, 2), huge)
    weights[2, 1] = -huge
    domain = plain_domain([1, 2])
    layer = Layer(weights, np.full(2, huge), "softmax")
    network = Network(domain, (layer,), ("no", "yes"))
    whole = as_boxes(domain, np.ones((1, 3), dtype=bool))
    nothing = as_boxes(domain, np.ones((0, 3), dtype=bool))
    assert find_twins(network, [0], (0, 1), whole, nothing, Meter()) is None
