"""The independent check on a device: the same report, field by field."""

from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nn2rules
import ranged
from nn2rules import (
    Condition,
    Layer,
    Network,
    OptionError,
    Rule,
    RuleList,
    UndecidedError,
    datasets,
)
from nn2rules.checker import check
from strategies import (
    PIECEWISE_LINEAR,
    SMOOTH,
    boxes,
    networks,
    plain_domain,
    rule_of,
)

torch = pytest.importorskip("torch")
compare = import_module("nn2rules.checker.compare")
on_device = import_module("nn2rules.checker.on_device")
tensors = import_module("nn2rules.checker.tensors")


def check_same(network, rules, **options):
    """Check with and without a device; nothing of the reports may differ."""
    report = check(network, rules, **options)
    assert check(network, rules, device="cpu", **options) == report
    return report


@contextmanager
def tiles_made_small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare, "_CHUNK", 6)
        patch.setattr(on_device, "_NUMBERS", {"cpu": 200})
        patch.setattr(on_device, "_COLUMNS", {"cpu": 5})
        yield


@pytest.fixture
def small_tiles():
    with tiles_made_small():
        yield


def network_of(name):
    return nn2rules.load(datasets.network_file(name))


def cut_down(rules, index):
    """Return rules of which one has lost its first condition."""
    rule = rules.rules[index]
    wide = Rule(rule.conditions[1:], rule.then)
    found = (*rules.rules[:index], wide, *rules.rules[index + 1 :])
    names = ("domain", "default", "classes", "form", "scope")
    kept = {name: getattr(rules, name) for name in names}
    return RuleList(rules=found, **kept)


# Rules that were extracted


@pytest.mark.parametrize("form", ["list", "set", "paper"])
@pytest.mark.parametrize("name", ["tomato", "car"])
def test_rules_of_frozen_networks(name, form):
    network = network_of(name)
    rules = nn2rules.extract(network, form=form)
    report = check_same(network, rules)
    assert report.ok
    assert report.checked == network.domain.n_inputs
    for index in {0, len(rules.rules) // 2, len(rules.rules) - 1}:
        check_same(network, cut_down(rules, index))


def test_differences_beyond_those_shown_are_counted():
    network = network_of("contraception")
    rules = RuleList(network.domain, (), network.classes[0], network.classes)
    report = check_same(network, rules)
    assert report.different == nn2rules.engine.build_table(network).counts()[1]
    assert len(report.counterexamples) == 5


@pytest.mark.parametrize("scope", ["domain", "support"])
def test_rows_and_impossible_inputs(scope):
    network, data = network_of("car"), datasets.load("car").train.rows
    rules = nn2rules.extract(network, data=data, scope=scope)
    impossible = [{"safety": "low", "persons": ["2", "4"]}, {"maint": "vhigh"}]
    report = check_same(network, rules, rows=data, impossible=impossible)
    assert report.impossible > 0
    for default in (False, True):
        check_same(network, rules, default=default, impossible=impossible)
        check_same(network, cut_down(rules, 0), default=default)


# Any rules, of any network


@st.composite
def questions(draw, activations, max_inputs=60):
    """Draw a network and rules over its domain, most of them wrong somewhere."""
    network = draw(networks(activations, max_inputs))
    sizes, n_rules = list(network.domain.sizes), draw(st.integers(0, 7))
    form = draw(st.sampled_from(["list", "set"]))
    rules = []
    for index in range(n_rules):
        numbers = st.lists(st.integers(1, index), unique=True, max_size=2)
        unless = draw(st.none() | numbers.map(sorted).map(tuple)) if index else None
        rules.append(
            rule_of(
                draw(boxes(sizes)),
                network.domain,
                draw(st.sampled_from(network.classes)),
                unless=unless if form == "list" else None,
            )
        )
    rules = RuleList(
        network.domain,
        tuple(rules),
        draw(st.sampled_from(network.classes)),
        network.classes,
        form=form,
        scope=draw(st.sampled_from(["domain", "support"])),
    )
    impossible = [
        {
            f.name: f.values[0]
            for f in network.domain.features[: draw(st.integers(1, 2))]
        }
    ]
    return network, rules, impossible if draw(st.booleans()) else []


@settings(max_examples=120)
@given(questions(PIECEWISE_LINEAR))
def test_any_rules_of_piecewise_linear_networks(question):
    network, rules, impossible = question
    with tiles_made_small():
        check_same(network, rules, impossible=impossible)


@settings(max_examples=60)
@given(questions(SMOOTH, max_inputs=30))
def test_any_rules_of_smooth_networks(question):
    network, rules, impossible = question
    with tiles_made_small():
        check_same(network, rules, impossible=impossible)


def true_list(network):
    """Return a rule for every input, each true alone, but for those that are wrong."""
    [codes] = network.domain.inputs(chunk=network.domain.n_inputs)
    rows = network.domain.decode(codes)
    return [
        Rule(tuple(Condition(n, (v,)) for n, v in row.items()), answer, unless=())
        for row, answer in zip(rows, network.predict(rows).tolist(), strict=True)
    ]


@pytest.mark.parametrize("form", ["list", "set"])
def test_more_rules_than_a_word_has_bits(form, small_tiles):
    rng = np.random.default_rng(41)
    layer = Layer(rng.normal(size=(17, 3)), rng.normal(size=3), "softmax")
    network = Network(plain_domain([5, 6, 6]), (layer,), ("a", "b", "c"))
    rules = true_list(network)
    assert len(rules) > 2 * on_device._BITS
    for wrong in ([], [0], [61, 62, 63, 130], list(range(100))):
        changed = list(rules)
        for index in wrong:
            other = "a" if rules[index].then != "a" else "b"
            changed[index] = replace(rules[index], then=other)
        everything = RuleList(
            network.domain, tuple(changed), "a", network.classes, form=form
        )
        report = check_same(network, everything)
        assert report.different == len(wrong)
        assert report.untrue == tuple(wrong)
        assert report.unreached == 0


@pytest.mark.parametrize("form", ["list", "set"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_rules_that_overlap(form, n_classes, small_tiles):
    """Of those that hold, the first is in one word and others are in the next."""
    rng = np.random.default_rng(43)
    domain, classes = plain_domain([3, 4, 3, 2]), ("a", "b", "c")[:n_classes]
    outputs, last = (1, "sigmoid") if n_classes == 2 else (3, "softmax")
    layer = Layer(rng.normal(size=(12, outputs)), [0.0] * outputs, last)
    network = Network(domain, (layer,), classes)
    for _ in range(4):
        rules = []
        while len(rules) < 2 * on_device._BITS + 5:
            box = [tuple(np.flatnonzero(rng.random(n) < 0.5).tolist()) for n in (3, 4)]
            if all(box):
                rule = rule_of([*box, None, None], domain, rng.choice(classes).item())
                [codes] = domain.inputs(chunk=domain.n_inputs)
                inside = np.isin(codes[:, 0], box[0]) & np.isin(codes[:, 1], box[1])
                answers = network.predict_codes(codes[inside])
                most = classes[np.bincount(answers).argmax()]
                rules.append(replace(rule, then=most))
        everything = RuleList(domain, tuple(rules), "a", classes, form=form)
        check_same(network, everything)


def test_rules_that_lean_on_others(small_tiles):
    """A rule may be wrong where another holds, if it says so."""
    layer = Layer([[1.0], [-1.0], [0.25], [0.25]], [0.0], "sigmoid")
    network = Network(plain_domain([2, 2]), (layer,), ("no", "yes"))
    first = Rule((Condition("f0", ("v1",)),), "no", unless=())
    for unless, untrue in (((1,), ()), ((), (1,)), (None, ())):
        second = Rule((), "yes", unless=unless)
        rules = RuleList(network.domain, (first, second), "no", network.classes)
        report = check_same(network, rules)
        assert report.untrue == untrue
        assert report.different == 0


def test_ties_that_cannot_be_decided_are_counted(small_tiles):
    hidden = Layer([[1, 2], [3, 5]], [0, 0], "tanh")
    middle = Layer([[1, 1], [1, 1]], [0, 0], "tanh")
    last = Layer([[1], [-1]], [0], "sigmoid")
    network = Network(plain_domain([2]), (hidden, middle, last), ("no", "yes"))
    with pytest.raises(UndecidedError):
        network.predict([{"f0": "v0"}])
    for rule in ((), (Rule((), "no"),), (Rule((), "yes"),)):
        rules = RuleList(network.domain, rule, "no", network.classes)
        assert check_same(network, rules).undecided == 2


@pytest.mark.parametrize("low", [1e-300, 1e-42, 1e-30])
@pytest.mark.parametrize("high", [1.0, 1e24, 1e37, 1e42, 1e300])
def test_numbers_that_float32_cannot_hold(low, high):
    first = Layer([[high], [-high], [0.0], [high]], [0.0], "relu")
    for sign in (1, -1):
        last = Layer([[0.0]], [sign * low], "sigmoid")
        network = Network(plain_domain([2, 2]), (first, last), ("no", "yes"))
        rules = RuleList(network.domain, (), "yes", network.classes)
        assert check_same(network, rules).ok == (sign > 0)


def test_a_weight_that_is_infinite_in_float32_turns_the_answer():
    layers = (
        Layer([[1.0]], [0.0], "relu"),
        Layer([[1e39]], [0.0], "relu"),
        Layer([[1e-39]], [-2.0], "sigmoid"),
    )
    network = Network(plain_domain([1]), layers, ("no", "yes"))
    for default in network.classes:
        rules = RuleList(network.domain, (), default, network.classes)
        assert check_same(network, rules).ok == (default == "no")


# What certifies it


def test_without_an_error_bound_a_tie_is_decided_wrongly(monkeypatch):
    """The rules are wrong on all near-ties, of which float32 gets some wrong, too."""
    weights = [[k / 10] for k in range(-3, 4)] * 3
    layer = Layer(weights, [0.1 + 0.2 - 0.3], "sigmoid")
    network = Network(plain_domain([7] * 3), (layer,), ("no", "yes"))
    [codes] = network.domain.inputs(chunk=7**3)
    near = np.flatnonzero(np.abs(network.scores_codes(codes)) < 1e-6)
    rules = true_list(network)
    for index in near:
        other = "no" if rules[index].then == "yes" else "yes"
        rules[index] = replace(rules[index], then=other)
    wrong = RuleList(network.domain, tuple(rules), "no", network.classes)
    report = check_same(network, wrong)
    assert report.different == len(near) > 30
    monkeypatch.setattr(compare, "_CHUNK", 1)
    assert check_same(network, wrong).different == len(near)
    monkeypatch.setattr(tensors, "float32_lead", lambda _: (0.0, 0.0))
    assert check(network, wrong, device="cpu").different < len(near)


def test_float32_scores_are_within_the_lead():
    rng, worst = np.random.default_rng(42), 0.0
    for name in sorted(tensors.TENSORS):
        layers = (
            Layer(rng.normal(size=(9, 4)), rng.normal(size=4), name),
            Layer(rng.normal(size=(4, 1)), rng.normal(size=1), "sigmoid"),
        )
        network = Network(plain_domain([3, 3, 3]), layers, ("no", "yes"))
        [codes] = network.domain.inputs(chunk=27)
        net = tensors.TensorNetwork(network, "cpu")
        lead, _ = tensors.float32_lead(network)
        combinations = dict(enumerate(torch.tensor(codes).T))
        sums = net.sums(torch.float32, combinations)
        weights, bias = net._layers[torch.float32][1]
        hidden = sums + net._layers[torch.float32][0][1]
        scores = tensors.TENSORS[name](torch, hidden, 0.01) @ weights + bias
        off = np.abs(scores.double().numpy()[:, 0] - network.scores_codes(codes))
        assert off.max() < lead
        worst = max(worst, off.max() / lead)
    assert worst > 1e-4


def test_products_have_all_bits_whatever_was_said_before():
    """In the older way or the newer; both must agree, or CUDA refuses to work."""
    place = torch.backends.cuda.matmul
    before = place.fp32_precision, torch.get_float32_matmul_precision()
    try:
        for older in ("highest", "medium"):
            torch.set_float32_matmul_precision(older)
            known = place.fp32_precision
            with tensors.FullPrecision(torch, torch.device("cpu")):
                assert place.fp32_precision == "ieee"
                assert not place.allow_tf32
            assert torch.get_float32_matmul_precision() == older
            assert place.fp32_precision == known
    finally:
        torch.set_float32_matmul_precision(before[1])
        place.fp32_precision = before[0]


def test_what_is_plain_is_not_compared_again(monkeypatch):
    network = network_of("car")
    rules = nn2rules.extract(network)
    added = []
    monkeypatch.setattr(
        compare._Comparison, "_add", lambda _, codes: added.append(codes)
    )
    assert check(network, rules, device="cpu").ok
    assert not added


# Options


def test_a_range_of_numbers_is_refused():
    network = ranged.random_network(np.random.default_rng(5), ranged.mixed_domain())
    rules = RuleList(network.domain, (), network.classes[0], network.classes)
    with pytest.raises(OptionError, match=r"^device: 'cpu' goes through inputs one by"):
        check(network, rules, device="cpu")


def test_a_larger_domain_is_compared_on_a_device_and_the_limit_can_be_said():
    layer = Layer([[1.0], [-1.0]] * 4, [0.5], "sigmoid")
    network = Network(plain_domain([2] * 4), (layer,), ("no", "yes"))
    rules = nn2rules.extract(network)
    assert check_same(network, rules, largest=15).method == "sample"
    assert check_same(network, rules, largest=16).method == "every input"
    assert on_device.LARGEST > compare._LARGEST


def test_a_device_that_is_not_there_is_refused():
    network = network_of("tomato")
    with pytest.raises(OptionError, match="expected cuda"):
        check(network, nn2rules.extract(network), device="abacus")
