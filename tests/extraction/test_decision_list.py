import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tables import (
    SMALL,
    Table,
    check_answers,
    check_not_idle,
    check_prime,
    domain_of,
    extract_prime,
    first,
    interrupting,
    network_of,
    tables,
)

import naive
from nn2rules import (
    Budget,
    BudgetExceededError,
    Layer,
    Network,
    datasets,
    extract,
    load,
)
from nn2rules.engine import DONT_CARE, Meter, build_table
from nn2rules.extraction.from_table.covers import decision_list
from nn2rules.extraction.from_table.greedy import primed
from nn2rules.extraction.from_table.packing import Rules, state_of
from nn2rules.extraction.from_table.runs import Effort, Work, effort_of
from strategies import PIECEWISE_LINEAR, SMOOTH, networks

FORMS = ("list", "set")
LOW = Effort(runs=2, tries=4, steps=8, sweeps=3, rebuilds=20)
MILD = ("integers", "signs", "zeros", "dyadic", "decimal")


def check_extracted(network, table, **options):
    """Check what every list and set for a whole domain must be; return it."""
    rules = extract(network, **options)
    default = rules.classes.index(rules.default)
    check_answers((rules.boxes, rules.answers), default, table)
    check_not_idle(rules.boxes, table.possible, table)
    assert rules.certificate["different"] == 0
    is_ordered = rules.form == "list"
    if is_ordered and len(rules):
        assert rules.answers[-1] != default
    prime = extract_prime(network, **options) if is_ordered else rules
    check_prime(prime.boxes, prime.answers, table, is_ordered=is_ordered)
    assert len(prime) == len(rules)
    assert not (rules.boxes & ~prime.boxes).any()
    fired = first(rules.boxes, table.sizes)[table.possible]
    assert (fired == first(prime.boxes, table.sizes)[table.possible]).all()
    return rules


# The kernels, on any function


@settings(max_examples=600)
@given(tables(), st.integers(0, 3))
def test_a_list_equals_any_table(table, seed):
    rules = decision_list(table.classes, table.sizes, Work(LOW, seed))
    check_answers((rules.boxes, rules.classes), rules.default, table)
    if len(rules):
        assert rules.classes[-1] != rules.default


@settings(max_examples=200)
@given(tables(), st.integers(0, 3))
def test_without_sweeps_the_list_is_right_too(table, seed):
    effort = effort_of(0, len(table.classes))
    rules = decision_list(table.classes, table.sizes, Work(effort, seed))
    check_answers((rules.boxes, rules.classes), rules.default, table)


@settings(max_examples=20)
@given(tables())
def test_the_effort_of_large_tables_on_small_ones(table):
    for n_inputs in (15_000, 50_000, 50_001):
        effort = effort_of(1, n_inputs)
        rules = decision_list(table.classes, table.sizes, Work(effort))
        check_answers((rules.boxes, rules.classes), rules.default, table)


def test_nothing_can_occur():
    table = np.full(12, DONT_CARE, dtype=np.uint8)
    rules = decision_list(table, (3, 4), Work(LOW))
    assert len(rules) == 0


def test_more_than_a_batch_of_rules():
    """A parity needs a rule for each input of one class."""
    inputs = np.array(naive.inputs([2] * 7))
    table = Table((inputs.sum(axis=1) % 2).astype(np.uint8), (2,) * 7, 2)
    rules = decision_list(table.classes, table.sizes, Work(LOW))
    check_answers((rules.boxes, rules.classes), rules.default, table)
    assert len(rules) >= 64


def test_inputs_that_a_rule_covers_are_dont_care_for_later_ones():
    """If A then 0, else if B then 1, else if C then 0, else if D then 1, else 0.

    Without overlaps eleven rules are needed.
    """
    inputs = np.array(naive.inputs([2] * 8))
    pairs = inputs.reshape(-1, 4, 2).all(axis=2)
    levels = np.where(pairs.any(axis=1), pairs.argmax(axis=1), 4)
    table = Table((levels % 2).astype(np.uint8), (2,) * 8, 2)
    for level, most in ((0, 8), (1, 4)):
        effort = effort_of(level, 256)
        rules = decision_list(table.classes, table.sizes, Work(effort))
        check_answers((rules.boxes, rules.classes), rules.default, table)
        assert len(rules) <= most


@settings(max_examples=200)
@given(tables(), st.randoms(use_true_random=False))
def test_rules_become_prime_in_their_place(table, random):
    """From one rule for each input, in any order, half of them twice."""
    positions = np.flatnonzero(table.possible).tolist()
    positions += positions[::2]
    random.shuffle(positions)
    starts = np.cumsum([0, *table.sizes[:-1]])
    boxes = np.zeros((len(positions), sum(table.sizes)), dtype=np.bool_)
    for box, position in zip(boxes, positions, strict=True):
        box[starts + table.inputs[position]] = True
    classes = table.classes[positions].astype(np.int64)
    state = state_of(table.classes, table.sizes)
    for is_ordered in (True, False):
        rules = primed(
            Rules(boxes, classes, 0), state, state.possible, is_ordered=is_ordered
        )
        check_answers((rules.boxes, rules.classes), 0, table)
        assert (first(rules.boxes, table.sizes)[table.possible] >= 0).all()
        check_prime(rules.boxes, rules.classes, table, is_ordered=is_ordered)
        check_not_idle(rules.boxes, table.possible, table)


# Networks


@settings(max_examples=300)
@given(
    tables(shapes=SMALL, dont_care=False),
    st.integers(0, 5),
    st.booleans(),
    st.sampled_from([0, 0, 1]),
)
def test_a_list_equals_its_network(table, seed, ordered, effort):
    network = network_of(table, seed=seed, ordered=ordered)
    options = {"engine": "table", "effort": effort, "seed": seed}
    rules = check_extracted(network, table, **options)
    assert (rules.form, rules.scope) == ("list", "domain")


def truth(network):
    """Return the exact table of a network, or assume that none of it is in doubt."""
    sizes = network.domain.sizes
    classes = [naive.class_of(network, codes) for codes in naive.inputs(sizes)]
    assume(None not in classes)
    return Table(np.array(classes, dtype=np.uint8), sizes, len(network.classes))


@settings(max_examples=300)
@given(
    networks(PIECEWISE_LINEAR, max_inputs=20, palettes=MILD),
    st.sampled_from([0, 0, 1]),
)
def test_piecewise_linear_networks(network, effort):
    check_both_forms(network, effort)


@settings(max_examples=100)
@given(networks(PIECEWISE_LINEAR, max_inputs=12))
def test_piecewise_linear_networks_of_extreme_weights(network):
    check_both_forms(network, 0)


@settings(max_examples=40)
@given(networks([*SMOOTH, *PIECEWISE_LINEAR], max_inputs=8, palettes=MILD))
def test_networks_of_every_activation(network):
    check_both_forms(network, 0)


def check_both_forms(network, effort):
    table = truth(network)
    for form in FORMS:
        check_extracted(network, table, form=form, engine="table", effort=effort)


@settings(max_examples=400)
@given(
    st.sampled_from([(2, 3), (3, 2, 4), (2, 2, 2, 2, 2), (1, 5, 2), (6, 4)]),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["relu", "leaky_relu", "hard_tanh", "identity"]),
)
def test_networks_of_small_numbers(sizes, outputs, seed, activation):
    """Sums of small eighths are exact in float64, so plain numpy is the reference."""
    rng = np.random.default_rng(seed)
    one, two = rng.integers(-8, 9, (sum(sizes), 4)), rng.integers(-8, 9, (4, outputs))
    bias, last = rng.integers(-8, 9, 4), rng.integers(-8, 9, outputs)
    codes = np.array(naive.inputs(sizes)) + np.cumsum([0, *sizes[:-1]])
    hidden = (one[codes].sum(axis=1) + bias) / 8
    slope = 0.25 if activation == "leaky_relu" else None
    hidden = {
        "relu": np.maximum(hidden, 0),
        "leaky_relu": np.where(hidden > 0, hidden, 0.25 * hidden),
        "hard_tanh": np.clip(hidden, -1, 1),
        "identity": hidden,
    }[activation]
    scores = hidden @ two + last
    classes = scores.argmax(axis=1) if outputs > 1 else scores[:, 0] > 0
    layers = (
        Layer(one / 8, bias / 8, activation, slope),
        Layer(two, last, "sigmoid" if outputs == 1 else "softmax"),
    )
    labels = ("a", "b", "c")[: max(outputs, 2)]
    network = Network(domain_of(sizes), layers, labels)
    table = Table(classes.astype(np.uint8), sizes, len(labels))
    for form in FORMS:
        check_extracted(network, table, form=form, effort=0)


# Effort, seeds, threads


@settings(max_examples=60)
@given(tables(shapes=SMALL, dont_care=False), st.integers(0, 3), st.sampled_from(FORMS))
def test_more_effort_never_gives_more_rules(table, seed, form):
    network = network_of(table, seed=seed)
    found = [
        len(extract(network, form=form, effort=effort, seed=seed, engine="table"))
        for effort in (0, 1, 2)
    ]
    assert found == sorted(found, reverse=True)


@settings(max_examples=150)
@given(tables(), st.integers(0, 3))
def test_more_work_never_gives_more_rules(table, seed):
    found = []
    for runs, sweeps in ((1, 0), (1, 2), (1, 5), (3, 5), (3, 9)):
        effort = Effort(runs=runs, tries=4, steps=4, sweeps=sweeps, rebuilds=50)
        rules = decision_list(table.classes, table.sizes, Work(effort, seed))
        found.append(len(rules))
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("form", FORMS)
def test_car(form):
    network = load(datasets.network_file("car"))
    classes = build_table(network).classes
    table = Table(classes, network.domain.sizes, len(network.classes))
    found = []
    for effort in (0, 1, 2):
        rules = check_extracted(network, table, form=form, effort=effort)
        found.append(len(rules))
    assert found == sorted(found, reverse=True)
    assert found[1] <= (21 if form == "list" else 48)


@settings(max_examples=40)
@given(tables(shapes=SMALL, dont_care=False), st.sampled_from(FORMS), st.integers(0, 9))
def test_a_seed_determines_everything(table, form, seed):
    network = network_of(table, seed=seed)
    one, again, threads = (
        extract(network, form=form, seed=seed, engine="table", n_jobs=n_jobs)
        for n_jobs in (None, 1, 2)
    )
    assert one == again == threads
    assert str(one) == str(again) == str(threads)
    assert one.boxes.tobytes() == again.boxes.tobytes() == threads.boxes.tobytes()


def test_other_seeds_give_other_lists_that_are_right():
    rng = np.random.default_rng(5)
    classes = rng.integers(0, 3, 48).astype(np.uint8)
    table = Table(classes, (4, 4, 3), 3)
    network = network_of(table)
    for form in FORMS:
        seen = set()
        for seed in range(5):
            rules = check_extracted(network, table, form=form, seed=seed, effort=0)
            seen.add(rules.boxes.tobytes())
        assert len(seen) > 1


# Stopped on the way


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("left", [1, 2, 3, 5, 8, 13, 40])
def test_interrupted_work_leaves_rules_that_are_right(form, left):
    classes = np.random.default_rng(1).integers(0, 2, 256).astype(np.uint8)
    table = Table(classes, (4, 4, 4, 4), 2)
    network = network_of(table)
    with pytest.raises(KeyboardInterrupt) as error:
        extract(network, form=form, engine="table", progress=interrupting(left))
    rules = error.value.rules
    assert len(rules) > 0
    fired = first(rules.boxes, table.sizes)
    decided = fired >= 0
    assert (rules.answers[fired[decided]] == classes[decided]).all()
    if rules.scope == "domain":
        default = rules.classes.index(rules.default)
        check_answers((rules.boxes, rules.answers), default, table)
        assert rules.certificate["different"] == 0
    else:
        assert rules.certificate["complete"] is False
        assert "different" not in rules.certificate
        assert "(not proved)" in rules.text()


class Clock(Meter):
    """A meter that is spent after so many looks at it."""

    looks = 0

    def spend(self, boxes=0):
        """Look at the clock."""
        self.looks -= 1
        if self.looks < boxes:
            raise BudgetExceededError("the clock has run out")


@pytest.mark.parametrize("left", [*range(0, 60, 6), 100, 200, 300, 400, 500, 1000])
def test_a_spent_budget_leaves_rules_that_are_right(left):
    classes = np.random.default_rng(2).integers(0, 2, 512).astype(np.uint8)
    table = Table(classes, (2,) * 9, 2)
    meter = Clock()
    meter.looks = left
    try:
        rules = decision_list(table.classes, table.sizes, Work(LOW, meter=meter))
    except BudgetExceededError:
        rules = meter.kept()
        assert not rules.is_complete
        fired = first(rules.boxes, table.sizes)
        decided = fired >= 0
        assert decided.any() or left < 12
        assert (rules.classes[fired[decided]] == classes[decided]).all()
    else:
        check_answers((rules.boxes, rules.classes), rules.default, table)
        assert left > 100


def test_no_time_at_all():
    """Nothing can be claimed before the table is there."""
    table = Table(np.arange(8, dtype=np.uint8) % 2, (2, 2, 2), 2)
    with pytest.raises(BudgetExceededError, match="0 seconds"):
        extract(network_of(table), budget=Budget(seconds=0))
