"""Questions settled by linear regions, against every input and the exact judge."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from engine.random_pieces import first_sums, random_domain, random_input, random_pieces
from nn2rules import Budget, Domain, Feature, Layer, Network
from nn2rules.engine import (
    Meter,
    by_regions,
    exact_score_range,
    find_classes,
    find_pair,
    linear_regions,
)
from nn2rules.engine.region_programs import settle_all
from nn2rules.errors import BudgetExceededError
from nn2rules.space import Boxes, Range, no_boxes, whole_boxes

seeds = st.integers(0, 10**6)


def small_domain(rng):
    """Draw a domain whose inputs can be listed: categories, and few whole numbers."""
    features = []
    for index in range(int(rng.integers(1, 4))):
        if rng.random() < 0.5:
            size = int(rng.integers(1, 4))
            features.append(Feature(f"f{index}", tuple("abc"[:size])))
        else:
            low = int(rng.integers(-3, 3))
            features.append(
                Feature.real(
                    f"f{index}",
                    low,
                    low + int(rng.integers(0, 4)),
                    whole=True,
                    special=[99] if rng.random() < 0.3 else [],
                    missing=bool(rng.random() < 0.3),
                )
            )
    return Domain(tuple(features))


def values_of(feature):
    """Return all values of a feature, as codes and numbers."""
    values = [(code, 1.0) for code in range(len(feature))]
    if isinstance(feature, Range):
        low, high = map(int, feature.limits)
        values[:1] = [(0, float(number)) for number in range(low, high + 1)]
    return values


def every_input(domain):
    for values in itertools.product(*map(values_of, domain.features)):
        yield tuple(code for code, _ in values), tuple(number for _, number in values)


def everything(domain):
    return whole_boxes(domain, np.ones((1, int(domain.offsets[-1])), dtype=bool))


def random_boxes(rng, domain):
    """Draw boxes, with parts of ranges."""
    n_boxes = int(rng.integers(1, 3))
    allowed = rng.random((n_boxes, int(domain.offsets[-1]))) < 0.6
    ends = np.tile(domain.limits, (n_boxes, 1, 1))
    for box in range(n_boxes):
        for index, start in enumerate(domain.offsets[:-1].tolist()):
            allowed[box, start + rng.integers(domain.sizes[index])] = True
            if isinstance(domain.features[index], Range):
                low, high = domain.limits[:, index]
                ends[box, :, index] = sorted(rng.integers(low, high + 1, size=2))
    return Boxes(allowed, ends)


def is_in(domain, boxes, codes, numbers):
    columns = domain.offsets[:-1] + codes
    for allowed, ends in zip(boxes.allowed, boxes.ends, strict=True):
        inside = all(
            column != domain.ranges[index] or ends[0, index] <= number <= ends[1, index]
            for index, (column, number) in enumerate(zip(columns, numbers, strict=True))
        )
        if inside and allowed[columns].all():
            return True
    return False


@given(seed=seeds)
@settings(max_examples=300)
def test_classes_in_boxes_equal_every_input(seed):
    rng = np.random.default_rng([1, seed])
    domain = small_domain(rng)
    network = random_pieces(rng, domain, max_layers=2)
    within = random_boxes(rng, domain)
    ignoring = random_boxes(rng, domain) if rng.random() < 0.5 else no_boxes(domain)
    classes = {int(rng.integers(len(network.classes)))}
    settled = find_classes(network, classes, within, ignoring, Meter())
    breaking = {
        one
        for one in every_input(domain)
        if naive.class_of(network, *one) in classes
        and is_in(domain, within, *one)
        and not is_in(domain, ignoring, *one)
    }
    if settled.status == "refuted":
        codes, numbers = settled.inputs
        assert (tuple(codes[0].tolist()), tuple(numbers[0].tolist())) in breaking
    elif settled.status == "proved":
        assert not breaking


def order_of(rng, network, feature):
    """Draw a claim: a class that is not to be lost along an order of the values."""
    start, stop = network.domain.offsets[feature : feature + 2].tolist()
    columns = [*range(start, stop)]
    if rng.random() < 0.4:
        return columns, None, True
    if isinstance(network.domain.features[feature], Range):
        columns = columns[:1]
    columns = [int(c) for c in rng.permutation(columns)]
    return columns, int(rng.integers(len(network.classes))), bool(rng.random() < 0.5)


def breaks(domain, feature, claim, one, other):
    """Tell whether two inputs break a claim; each has its codes, numbers and class."""
    columns, toward, is_increasing = claim
    if any(
        one[part][index] != other[part][index]
        for part in range(2)
        for index in range(len(domain.sizes))
        if index != feature
    ):
        return False
    if toward is None:
        return one[2] != other[2]

    def place(each):
        column = int(domain.offsets[feature]) + each[0][feature]
        return columns.index(column), each[1][feature]

    if place(one) > place(other):
        one, other = other, one
    first, last = (one, other) if is_increasing else (other, one)
    is_different = place(one) < place(other)
    return is_different and first[2] == toward and last[2] != toward


def ask_pair(network, feature, claim, within, ignoring=None):
    columns, toward, is_increasing = claim
    domain = network.domain

    def accepts(inputs):
        ignored = no_boxes(domain) if ignoring is None else ignoring
        return np.array(
            [
                is_in(domain, within, *one) and not is_in(domain, ignored, *one)
                for one in zip(inputs.codes, inputs.numbers, strict=True)
            ]
        )

    settled = find_pair(
        network,
        feature,
        columns,
        within,
        accepts,
        Meter(),
        toward=toward,
        is_increasing=is_increasing,
    )
    if settled.status == "refuted":
        pair = [
            (tuple(codes.tolist()), tuple(numbers.tolist()))
            for codes, numbers in zip(*settled.inputs, strict=True)
        ]
        both = [(*one, naive.class_of(network, *one)) for one in pair]
        assert breaks(domain, feature, claim, *both)
        assert all(is_in(domain, within, *one) for one in pair)
        assert ignoring is None or not any(
            is_in(domain, ignoring, *one) for one in pair
        )
    return settled.status


def keep_only(domain, boxes, feature, columns):
    """Leave out the values of a feature that have no place in its order."""
    start, stop = domain.offsets[feature : feature + 2].tolist()
    outside = np.setdiff1d(np.arange(start, stop), columns)
    boxes.allowed[:, outside] = False
    boxes.allowed[:, columns[0]] = True


@given(seed=seeds)
@settings(max_examples=300)
def test_pairs_equal_every_two_inputs(seed):
    rng = np.random.default_rng([2, seed])
    domain = small_domain(rng)
    network = random_pieces(rng, domain, max_layers=2)
    feature = int(rng.integers(len(domain.sizes)))
    claim = order_of(rng, network, feature)
    within = random_boxes(rng, domain) if rng.random() < 0.5 else everything(domain)
    keep_only(domain, within, feature, claim[0])
    ignoring = random_boxes(rng, domain) if rng.random() < 0.3 else None
    status = ask_pair(network, feature, claim, within, ignoring)
    if status == "proved":
        known = [
            (*one, naive.class_of(network, *one))
            for one in every_input(domain)
            if is_in(domain, within, *one)
            and (ignoring is None or not is_in(domain, ignoring, *one))
        ]
        assert not any(
            breaks(domain, feature, claim, one, other)
            for one, other in itertools.combinations(known, 2)
        )


@given(seed=seeds)
@settings(max_examples=200)
def test_proofs_withstand_numbers_beside_every_border(seed):
    """Along a range the class is looked up beside each place where something bends."""
    rng = np.random.default_rng([3, seed])
    domain = random_domain(rng, int(rng.integers(1, 4)), ranges=0.8)
    ranged = [
        i for i, feature in enumerate(domain.features) if isinstance(feature, Range)
    ]
    if not ranged:
        return
    feature = int(rng.choice(ranged))
    network = random_pieces(rng, domain, max_layers=2)
    columns, toward, is_increasing = order_of(rng, network, feature)
    claim = columns[:1], toward, is_increasing
    within = everything(domain)
    keep_only(domain, within, feature, columns[:1])
    status = ask_pair(network, feature, claim, within)
    if status != "proved":
        return
    regions = linear_regions(network, one_class=False, max_regions=5000)
    forms = {side.form for region in regions for side in region.conditions}
    forms |= {score for region in regions for score in region.scores}
    for _ in range(5):
        codes, numbers = random_input(rng, domain)
        codes = (*codes[:feature], 0, *codes[feature + 1 :])
        line = {*domain.features[feature].limits}
        for form in forms:
            line |= along(network, codes, numbers, feature, form)
        known = []
        for number in sorted(line):
            own = (*numbers[:feature], number, *numbers[feature + 1 :])
            known.append((codes, own, naive.class_of(network, codes, own)))
        assert not any(
            breaks(domain, feature, claim, one, other)
            for one, other in itertools.combinations(known, 2)
        )


def along(network, codes, numbers, feature, form):
    """Return the numbers of a range beside which a function is 0."""
    low, high = network.domain.features[feature].limits
    ends = [
        form.at(
            first_sums(network, codes, (*numbers[:feature], e, *numbers[feature + 1 :]))
        )
        for e in (low, high)
    ]
    if ends[0] * ends[1] >= 0:
        return set()
    place = float(low + (ends[0] / (ends[0] - ends[1])) * (high - low))
    near = {math.nextafter(place, -math.inf), place, math.nextafter(place, math.inf)}
    if network.domain.features[feature].whole:
        near = {float(math.floor(place)), float(math.ceil(place))}
    return {number for number in near if low <= number <= high}


@given(seed=seeds)
@settings(max_examples=200)
def test_ranges_of_scores_enclose_every_score_and_are_reached(seed):
    rng = np.random.default_rng([6, seed])
    is_small = bool(rng.random() < 0.5)
    domain = small_domain(rng) if is_small else random_domain(rng, 3)
    network = random_pieces(rng, domain, max_layers=2)
    index = int(rng.integers(len(network.layers[-1].bias)))
    box = everything(domain)
    found = exact_score_range(network, (box.allowed[0], box.ends[0]), index=index)
    (lowest, low), (high, highest) = found.low, found.high
    inputs = every_input(domain) if is_small else None
    inputs = inputs or [random_input(rng, domain) for _ in range(50)]
    for one in inputs:
        assert lowest <= naive.scores(network, *one)[index] <= highest
    for row, (start, stop) in ((found.at_low, found.low), (found.at_high, found.high)):
        codes, numbers = domain.inputs_of([row])
        numbers = np.ones(codes.shape) if numbers is None else numbers
        score = naive.scores(network, codes[0].tolist(), numbers[0].tolist())[index]
        assert start <= score <= stop
    if not any(isinstance(feature, Range) for feature in domain.features):
        assert max(low - lowest, highest - high) <= 1e-9


def bent_network(bends):
    """Return a network of one whole number, whose score begins with 1 and bends.

    Parameters
    ----------
    bends : dict from numbers to the slope behind them
    """
    domain = Domain((Feature.real("x", 0, 9, whole=True),))
    hidden = Layer(np.ones((1, len(bends))), [-place for place in bends], "relu")
    slopes = np.diff([0, *bends.values()])[:, np.newaxis]
    return Network(domain, (hidden, Layer(slopes, [1], "sigmoid")), (0, 1))


def test_a_score_that_dips_between_whole_numbers_only_is_monotonic():
    """It falls from 1 to -1 and rises again before the next number."""
    network = bent_network({3.25: -8, 3.5: 8, 3.75: 0})
    within = everything(network.domain)
    assert ask_pair(network, 0, ([0], 1, True), within) == "proved"
    assert ask_pair(network, 0, ([0], None, True), within) == "proved"
    deeper = bent_network({3.25: -8, 3.5: 6, 3.75: 0})
    assert ask_pair(deeper, 0, ([0], 1, True), within) == "proved"
    deepest = bent_network({3.25: -8, 3.5: 1, 3.75: 0})
    assert ask_pair(deepest, 0, ([0], 1, True), within) == "refuted"
    assert ask_pair(deepest, 0, ([0], 1, False), within) == "proved"


def test_two_whole_numbers_are_looked_for_on_both_sides_of_a_region():
    """3 and 4 break the claim, and no two numbers in which it falls or one further."""
    network = bent_network({3.25: -8, 3.5: 0, 4.125: 16, 4.25: 0})
    domain = network.domain
    box = np.ones(1, dtype=bool), domain.limits
    line = by_regions._Line(network, 0, [0], box)
    pairs = by_regions._Pairs(
        line,
        by_regions._Claim(1, is_increasing=True),
        lambda inputs: np.ones(len(inputs.codes), dtype=bool),
        Meter(),
    )
    [step] = line.steps()
    [falling] = [
        region
        for region in linear_regions(network, one_class=False)
        if region.scores[0].coefficients == (-8, 0, 0, 0)
    ]
    questions = pairs._refined(falling, step)
    settled = settle_all(network, questions, no_boxes(domain), Meter())
    assert settled.status == "refuted"
    assert settled.inputs.numbers.ravel().tolist() == [0.0, 4.0]


@pytest.mark.parametrize("is_increasing", [True, False])
@pytest.mark.parametrize("toward", [None, 0, 1, 2])
def test_classes_of_neighbouring_numbers_break_a_claim(toward, is_increasing):
    claim = by_regions._Claim(toward, is_increasing)
    breaking = {*claim.broken_by((0, 1, 2), (0, 1, 2))}
    for lower, upper in itertools.product(range(3), repeat=2):
        kept, lost = (lower, upper) if is_increasing else (upper, lower)
        is_broken = kept != lost and toward in (None, kept)
        assert ((lower, upper) in breaking) == is_broken
        found = claim.broken(np.array([lower, -1, upper]))
        assert (found == [0, 2]) == is_broken


def sloped_network(rng, n_features, n_units, *, share):
    """Draw a network that grows along its first feature if `share` is below 1.

    One unit is never 0 and adds what the others can take away at most, times a bit more
    or less: no sign of a weight tells.
    """
    features = tuple(Feature.real(f"x{i}", -1, 1) for i in range(n_features))
    hidden = rng.normal(size=(n_features, n_units))
    weights = rng.normal(size=n_units)
    lost = -np.minimum(hidden[0] * weights, 0).sum()
    carrier = np.zeros((n_features, 1))
    carrier[0] = lost / share
    first = Layer(
        np.hstack([hidden, carrier]),
        np.append(rng.normal(size=n_units) / 2, abs(lost / share) + 1),
        "relu",
    )
    last = np.append(weights, 1.0)[:, np.newaxis]
    network = Network(Domain(features), (first, Layer(last, [0], "sigmoid")), (0, 1))
    middle = network.scores_codes(
        np.zeros((99, n_features), dtype=np.int64), rng.uniform(-1, 1, (99, n_features))
    )
    layer = Layer(last, [-float(np.median(middle))], "sigmoid")
    return Network(Domain(features), (first, layer), (0, 1))


@pytest.mark.parametrize(("n_features", "n_units"), [(8, 4), (20, 4), (20, 7)])
def test_true_directions_are_proved_and_false_ones_refuted(n_features, n_units):
    rng = np.random.default_rng([n_features, n_units])
    for _ in range(3):
        network = sloped_network(rng, n_features, n_units, share=0.99)
        within = everything(network.domain)
        assert ask_pair(network, 0, ([0], 1, True), within) == "proved"
        assert ask_pair(network, 0, ([0], 1, False), within) == "refuted"
        assert ask_pair(network, 0, ([0], None, True), within) == "refuted"


def test_few_questions_about_small_networks_stay_undecided():
    statuses = []
    for seed in range(60):
        rng = np.random.default_rng([5, seed])
        domain = small_domain(rng)
        network = random_pieces(rng, domain, max_layers=2)
        feature = int(rng.integers(len(domain.sizes)))
        claim = order_of(rng, network, feature)
        within = everything(domain)
        keep_only(domain, within, feature, claim[0])
        statuses.append(ask_pair(network, feature, claim, within))
    assert statuses.count("undecided") <= 6
    assert min(statuses.count("proved"), statuses.count("refuted")) >= 10


def test_a_network_with_too_many_regions_stays_undecided():
    rng = np.random.default_rng(0)
    domain = Domain(tuple(Feature.real(f"x{i}", -1, 1) for i in range(10)))
    hidden = Layer(rng.normal(size=(10, 60)), rng.normal(size=60) / 9, "relu")
    network = Network(
        domain, (hidden, Layer(rng.normal(size=(60, 1)), [0], "sigmoid")), (0, 1)
    )
    within = everything(domain)
    assert ask_pair(network, 0, ([0], 1, True), within) == "undecided"
    assert (
        find_classes(network, [1], within, no_boxes(domain), Meter()).status
        == "undecided"
    )


def test_the_budget_of_a_question_ends_it():
    network = sloped_network(np.random.default_rng(0), 8, 6, share=0.99)
    meter = Meter(Budget(seconds=0))
    with pytest.raises(BudgetExceededError, match="seconds is spent"):
        find_classes(
            network, [1], everything(network.domain), no_boxes(network.domain), meter
        )
