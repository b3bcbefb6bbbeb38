from itertools import combinations, product

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
    check_pure,
    domain_of,
    members,
    network_of,
    tables,
)

from nn2rules import Layer, Network, extract
from nn2rules.extraction.from_table.covers import lower_bound, rule_set
from nn2rules.extraction.from_table.packing import DONT_CARE
from nn2rules.extraction.from_table.runs import Effort, Work, effort_of

LOW = Effort(runs=2, tries=4, steps=8, sweeps=3, rebuilds=20)


def check_set(boxes, answers, wanted, table):
    """Each rule is true alone, and every input of the classes wanted meets one."""
    check_pure(boxes, answers, table)
    assert set(answers.tolist()) <= set(wanted)
    met = members(boxes, table.sizes).any(axis=0)
    assert met[table.possible & np.isin(table.classes, wanted)].all()


@settings(max_examples=500)
@given(tables(), st.integers(0, 3))
def test_a_set_equals_any_table(table, seed):
    everything = range(table.n_classes)
    work = Work(LOW, seed)
    rules = rule_set(table.classes, table.sizes, work, wanted=everything, default=0)
    check_set(rules.boxes, rules.classes, everything, table)


@settings(max_examples=300)
@given(tables(), st.sets(st.integers(0, 3), min_size=1), st.booleans())
def test_a_set_of_some_classes(table, wanted, swept):
    """Also a class that no input has, and one beyond those there are."""
    effort = LOW if swept else effort_of(0, len(table.classes))
    work, wanted = Work(effort), sorted(wanted)
    rules = rule_set(table.classes, table.sizes, work, wanted=wanted, default=3)
    assert rules.default == 3
    check_set(rules.boxes, rules.classes, wanted, table)


def test_nothing_can_occur():
    table = np.full(12, DONT_CARE, dtype=np.uint8)
    assert len(rule_set(table, (3, 4), Work(LOW), wanted=[0, 1], default=0)) == 0
    assert lower_bound(table, (3, 4), wanted=[0, 1]) == 0


@settings(max_examples=200)
@given(
    tables(shapes=SMALL, dont_care=False),
    st.integers(0, 5),
    st.booleans(),
    st.sampled_from([0, 0, 1]),
)
def test_a_set_equals_its_network(table, seed, ordered, effort):
    network = network_of(table, seed=seed, ordered=ordered)
    rules = extract(network, form="set", engine="table", effort=effort, seed=seed)
    default = rules.classes.index(rules.default)
    check_answers((rules.boxes, rules.answers), default, table)
    check_set(rules.boxes, rules.answers, range(table.n_classes), table)
    check_prime(rules.boxes, rules.answers, table, is_ordered=False)
    check_not_idle(rules.boxes, table.possible, table)
    assert rules.is_two_sided
    assert (rules.apply_codes(table.inputs) >= 0).all()
    assert rules.certificate["fewest_rules"] <= len(rules)
    assert (rules.form, rules.scope) == ("set", "domain")


@settings(max_examples=60)
@given(tables(shapes=SMALL, dont_care=False), st.randoms(use_true_random=False))
def test_the_rules_of_a_set_are_right_in_any_order(table, random):
    rules = extract(network_of(table), form="set", effort=0)
    order = random.sample(range(len(rules)), len(rules))
    default = rules.classes.index(rules.default)
    mixed = rules.boxes[order], rules.answers[order]
    check_answers(mixed, default, table)


@settings(max_examples=60)
@given(tables(shapes=SMALL, max_classes=2, dont_care=False), st.integers(0, 1))
def test_a_target_is_the_class_that_has_rules(table, target):
    network = network_of(table)
    rules = extract(network, form="set", target=network.classes[target], effort=1)
    assert rules.default == network.classes[1 - target]
    check_answers((rules.boxes, rules.answers), 1 - target, table)
    check_prime(rules.boxes, rules.answers, table, is_ordered=False)
    assert not rules.is_two_sided
    assert rules == extract(network, target=network.classes[target], effort=1)
    both = extract(network, form="set", effort=1)
    mine = {rule.conditions for rule in both.rules if rule.then != rules.default}
    assert {rule.conditions for rule in rules.rules} == mine


@pytest.mark.parametrize("bias", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("effort", [0, 1, 2])
def test_constant_networks(bias, effort):
    """One rule without conditions, or none, whichever class is asked for."""
    layer = Layer(np.zeros((5, 1)), [bias], "sigmoid")
    network = Network(domain_of((2, 3)), (layer,), ("no", "yes"))
    answer = "yes" if bias > 0 else "no"
    rules = extract(network, form="list", effort=effort)
    assert (len(rules), rules.default) == (0, answer)
    rules = extract(network, form="set", effort=effort)
    assert [(rule.conditions, rule.then) for rule in rules.rules] == [((), answer)]
    assert rules.default == answer
    for target in ("no", "yes"):
        rules = extract(network, form="set", target=target, effort=effort)
        assert rules.default == ("yes" if target == "no" else "no")
        assert len(rules) == (answer == target)
        assert set(rules.predict(network.domain.decode([[0, 0], [1, 2]]))) == {answer}
        assert rules.boxes.all()


# The lower bound


def prime_boxes(table, index):
    """Return every prime box of a class, as the inputs of that class in it."""
    choices = [
        [c for n in range(1, size + 1) for c in combinations(range(size), n)]
        for size in table.sizes
    ]
    starts = np.cumsum([0, *table.sizes[:-1]])
    boxes = []
    for chosen in product(*choices):
        box = np.zeros(sum(table.sizes), dtype=np.bool_)
        for start, codes in zip(starts, chosen, strict=True):
            box[start + np.array(codes)] = True
        boxes.append(box)
    inside = members(np.array(boxes), table.sizes)
    own = table.classes == index
    inside = inside[~(inside & table.possible & ~own).any(axis=1)] & own
    found = {frozenset(np.flatnonzero(row).tolist()) for row in inside} - {frozenset()}
    return [box for box in found if not any(box < other for other in found)]


def fewest(todo, boxes, most):
    """Return the size of the smallest cover of `todo`, trying every one by depth."""
    if not todo:
        return 0
    if most == 0:
        return 1
    rarest = min(todo, key=lambda i: (sum(i in box for box in boxes), i))
    best = most + 1
    for box in boxes:
        if rarest in box:
            best = min(best, 1 + fewest(todo - box, boxes, best - 2))
    return best


def optimum(table, wanted):
    """Return the smallest number of rules of a set of these classes."""
    total = 0
    for index in set(table.classes[table.possible].tolist()) & set(wanted):
        inputs = frozenset(np.flatnonzero(table.classes == index).tolist())
        total += fewest(inputs, prime_boxes(table, index), len(inputs))
    return total


TINY = st.sampled_from([[2, 2], [2, 2, 2], [3, 3], [2, 3, 2], [4, 3], [5], [2] * 4])


@settings(max_examples=150)
@given(tables(shapes=TINY, max_classes=3), st.sets(st.integers(0, 2), min_size=1))
def test_the_lower_bound_is_one(table, wanted):
    assume(table.possible.any())
    best, wanted = optimum(table, wanted), sorted(wanted)
    bound = lower_bound(table.classes, table.sizes, wanted=wanted)
    work = Work(LOW)
    rules = rule_set(table.classes, table.sizes, work, wanted=wanted, default=0)
    assert bound <= best <= len(rules)
    assert bound >= min(best, 1)


@settings(max_examples=40)
@given(tables(shapes=TINY, max_classes=3, dont_care=False))
def test_a_set_of_a_tiny_table_is_the_smallest(table):
    """There the search finds the optimum, and the bound often proves it."""
    rules = extract(network_of(table), form="set", effort=1)
    best = optimum(table, range(table.n_classes))
    assert rules.certificate["fewest_rules"] <= best == len(rules)


def test_the_lower_bound_is_reached_where_no_two_inputs_share_a_box():
    classes = (np.indices((2,) * 6).sum(axis=0) % 2).astype(np.uint8).ravel()
    table = Table(classes, (2,) * 6, 2)
    assert lower_bound(table.classes, table.sizes, wanted=[1]) == 32
    assert lower_bound(table.classes, table.sizes, wanted=[0, 1]) == 64
    work = Work(LOW)
    rules = rule_set(table.classes, table.sizes, work, wanted=[0, 1], default=0)
    assert len(rules) == 64
