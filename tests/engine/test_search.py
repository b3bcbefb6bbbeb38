import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import reference
from reference import EVERY, PIECEWISE_LINEAR, binary, members, whole

import naive
from nn2rules import (
    BudgetExceededError,
    Domain,
    DomainError,
    Feature,
    Layer,
    Network,
    OptionError,
    UndecidedError,
)
from nn2rules.engine import (
    Budget,
    Meter,
    Oracle,
    box_of,
    build_table,
    count_classes,
    score_range,
)
from nn2rules.engine.borders import Borders
from nn2rules.engine.search import slab

TIED = 0.1
"""The share of smooth networks that may be skipped because nothing decides a tie."""


def check_answer(network, classes, box, index, answer, ignoring=None):
    """Compare an answer with the class of every input of the box."""
    counts = members(network, box)
    for other in () if ignoring is None else ignoring:
        counts &= ~members(network, other)
    expected = bool((classes[counts] == index).all())
    assert answer.proved == bool(answer) == expected
    assert (answer.counterexample is None) == expected
    if not expected:
        number = reference.number_of(network, answer.counterexample)
        assert counts[number]
        assert classes[number] != index
        assert reference.class_of(network, answer.counterexample) != index


@pytest.mark.parametrize("seed", range(20))
def test_the_oracle_agrees_with_the_table(seed):
    rng, skipped, n_networks = np.random.default_rng([1, seed]), 0, 100
    for _ in range(n_networks):
        network = reference.mixed_network(rng)
        try:
            classes, oracle = build_table(network).classes, Oracle(network)
            for _ in range(4):
                box = reference.random_box(rng, network.domain.sizes)
                for index in range(len(network.classes)):
                    answer = oracle.ask(box, index)
                    check_answer(network, classes, box, index, answer)
        except UndecidedError:
            skipped += 1
    assert skipped <= TIED * n_networks


@pytest.mark.parametrize("seed", range(10))
def test_the_oracle_ignores_boxes(seed):
    rng, skipped, n_networks = np.random.default_rng([2, seed]), 0, 60
    for _ in range(n_networks):
        network = reference.mixed_network(rng)
        sizes = network.domain.sizes
        try:
            classes, oracle = build_table(network).classes, Oracle(network)
            for _ in range(6):
                box = reference.random_box(rng, sizes)
                ignoring = reference.random_boxes(rng, sizes, rng.integers(0, 4))
                for index in range(len(network.classes)):
                    answer = oracle.ask(box, index, ignoring=ignoring)
                    check_answer(network, classes, box, index, answer, ignoring)
        except UndecidedError:
            skipped += 1
    assert skipped <= TIED * n_networks


@pytest.mark.parametrize("activation", EVERY)
def test_each_activation_on_larger_boxes(activation):
    """More inputs than a random mixture has, so that the search must split."""
    rng = np.random.default_rng([3, len(activation)])
    n_boxes = 0
    for _ in range(12):
        network = reference.random_network(
            rng,
            activations=[activation],
            palettes=["floats"],
            sizes=[3, 2, 4, 3, 2, 3],
            max_units=5,
        )
        classes, meter = build_table(network).classes, Meter()
        oracle = Oracle(network, meter)
        for _ in range(8):
            box = reference.random_box(rng, network.domain.sizes)
            for index in range(len(network.classes)):
                answer = oracle.ask(box, index)
                check_answer(network, classes, box, index, answer)
        n_boxes += meter.boxes
        assert oracle.n_immediate <= oracle.n_questions
    assert n_boxes > 150


@pytest.mark.parametrize("seed", range(4))
def test_ties_are_proved_of_the_class_that_wins_them(seed):
    """Weights of -1, 0 and 1: most networks are tied on many inputs."""
    rng, settled = np.random.default_rng([4, seed]), 0
    for _ in range(60):
        network = reference.random_network(
            rng, activations=PIECEWISE_LINEAR, palettes=["signs", "zeros"]
        )
        classes, oracle = build_table(network).classes, Oracle(network)
        for index in range(len(network.classes)):
            answer = oracle.ask(whole(network), index)
            check_answer(network, classes, whole(network), index, answer)
        settled += oracle.n_settled
    assert settled > 30


def test_more_ties_than_are_kept_at_once(monkeypatch):
    monkeypatch.setattr(Borders, "_decide", lambda *_: None)
    network = binary([2] * 10, Layer(np.zeros((20, 1)), [0], "sigmoid"))
    oracle = Oracle(network)
    assert oracle.ask(whole(network), 0).proved
    assert oracle.n_settled == 2**10
    answer = oracle.ask(whole(network), 1)
    assert not answer.proved


def test_an_overflow_to_nan_proves_nothing():
    """Float64 gives inf - inf; all inputs are of class 0."""
    first = Layer([[1.7e308], [-1.7e308], [1.7e308]], [1.7e308], "relu")
    network = binary([2, 1], first, Layer([[-1]], [1], "sigmoid"))
    assert reference.truth(network) == [0, 0]
    assert Oracle(network).ask(whole(network), 0).proved
    assert not Oracle(network).ask(whole(network), 1).proved


def test_an_overflow_of_the_difference_of_two_scores_proves_nothing():
    """The difference of two weights is infinite in float64, that of the scores not."""
    hidden = Layer([[0.1], [0.05]], [0], "relu")
    last = Layer([[1.7e308, -1.7e308]], [-0.8e308, 0.8e308], "softmax")
    network = binary([2], hidden, last)
    assert reference.truth(network) == [1, 1]
    assert not Oracle(network).ask(whole(network), 0).proved
    assert Oracle(network).ask(whole(network), 1).proved


def test_an_overflow_of_a_bound_does_not_mix_up_inputs():
    """Every column's part of the bound is +inf; the input tried must be the box's."""
    hidden = Layer([[1e300], [2e300], [-1.5e300], [1e300]], [0], "identity")
    network = binary([2, 2], hidden, Layer([[1e300]], [0], "sigmoid"))
    expected = reference.truth(network)
    assert expected == [0, 1, 1, 1]
    for first, second in naive.inputs([2, 2]):
        for index in (0, 1):
            oracle = Oracle(network)
            box = np.zeros(4, dtype=np.bool_)
            oracle.ask(whole(network), index)  # leaves traces in the scratch arrays
            box[[first, 2 + second]] = True
            answer = oracle.ask(box, index)
            assert answer.proved == (expected[2 * first + second] == index)
            if not answer.proved:
                assert answer.counterexample.tolist() == [first, second]


def test_a_threshold_next_to_one_half():
    """Its logit is tiny, and the difference of two logarithms loses it."""
    for power in (24, 40):
        threshold = 0.5 + 1.37 * 2.0**-power
        with reference.mp.workprec(300):
            limit = float(naive.logit(threshold))
        weights = limit + np.arange(-20, 21)[:, np.newaxis] * np.spacing(limit)
        network = binary([41], Layer(weights, [0], "sigmoid"), threshold=threshold)
        expected = reference.truth(network)
        assert build_table(network).classes.tolist() == expected
        oracle = Oracle(network)
        for code, index in enumerate(expected):
            box = np.zeros(41, dtype=np.bool_)
            box[code] = True
            assert oracle.ask(box, index).proved
            assert not oracle.ask(box, 1 - index).proved


def test_underflow_is_not_lost():
    layers = Layer([[1e-200]], [0]), Layer([[1e-200]], [0])
    network = binary([1], *layers, Layer([[1e300]], [-1e-200], "sigmoid"))
    assert Oracle(network).ask(whole(network), 1).proved
    assert not Oracle(network).ask(whole(network), 0).proved


def test_counterexamples_are_remembered():
    rng = np.random.default_rng(5)
    network = reference.random_network(rng, palettes=["floats"], sizes=[4, 4, 4, 4])
    classes = build_table(network).classes
    meter = Meter()
    oracle = Oracle(network, meter)
    for index in set(classes.tolist()):
        if (classes == index).all():
            continue
        first = oracle.ask(whole(network), index)
        spent = meter.boxes
        second = oracle.ask(whole(network), index)
        assert meter.boxes == spent
        assert first.counterexample.tolist() == second.counterexample.tolist()
        ignoring = np.zeros((1, 16), dtype=np.bool_)
        ignoring[0, network.domain.offsets[:-1] + first.counterexample] = True
        third = oracle.ask(whole(network), index, ignoring=ignoring)
        check_answer(network, classes, whole(network), index, third, ignoring)


def test_a_remembered_counterexample_is_the_callers_own():
    network = binary([2], Layer([[1], [-1]], [0], "sigmoid"))
    oracle = Oracle(network)
    for _ in range(3):
        answer = oracle.ask(whole(network), 0)
        assert answer.counterexample.tolist() == [0]
        answer.counterexample[0] = 1


@pytest.mark.parametrize("seed", range(3))
def test_ask_value_asks_about_the_slab(seed):
    rng = np.random.default_rng([6, seed])
    for _ in range(30):
        network = reference.random_network(rng, palettes=["floats", "dyadic"])
        try:
            classes, oracle = build_table(network).classes, Oracle(network)
        except UndecidedError:
            continue
        box = reference.random_box(rng, network.domain.sizes)
        offsets = network.domain.offsets
        for column in range(len(box)):
            feature = int(np.searchsorted(offsets, column, side="right")) - 1
            restricted = slab(network, box, column)
            expected = box.copy()
            expected[offsets[feature] : offsets[feature + 1]] = False
            expected[column] = True
            assert restricted.tolist() == expected.tolist()
            for index in range(len(network.classes)):
                answer = oracle.ask_value(box, column, index)
                check_answer(network, classes, expected, index, answer)


# Beyond the table


def medium_network(seed):
    rng = np.random.default_rng([7, seed])
    sizes = [3, 2, 4, 3, 2, 5, 3, 2, 4, 3, 2, 3]
    activation = ["relu", "tanh", "leaky_relu", "silu"][seed]
    widths = [sum(sizes), 16, 8]
    layers = [
        Layer(
            rng.normal(size=(n_in, n_out)) / np.sqrt(min(n_in, 12)),
            rng.normal(size=n_out) / 2,
            activation,
        )
        for n_in, n_out in pairwise(widths)
    ]
    layers.append(Layer(rng.normal(size=(8, 1)), [0.3], "sigmoid"))
    return rng, binary(sizes, *layers)


def random_codes(rng, network, box, number):
    choices = []
    for start, stop in pairwise(network.domain.offsets):
        allowed = np.flatnonzero(box[start:stop])
        choices.append(rng.choice(allowed, size=number))
    return np.stack(choices, axis=1)


def descend(network, box, codes, sign):
    """Change one feature at a time to whatever brings the score down most."""
    tried = [codes]
    best = sign * reference.numpy_scores(network, codes)[:, 0]
    for feature, start in enumerate(network.domain.offsets[:-1]):
        for code in range(network.domain.sizes[feature]):
            if not box[start + code]:
                continue
            other = codes.copy()
            other[:, feature] = code
            tried.append(other)
            score = sign * reference.numpy_scores(network, other)[:, 0]
            better = score < best
            codes = np.where(better[:, np.newaxis], other, codes)
            best = np.minimum(best, score)
    return np.concatenate(tried), codes


@pytest.mark.parametrize("seed", range(4))
def test_proved_boxes_survive_an_attack(seed):
    rng, network = medium_network(seed)
    oracle = Oracle(network, Meter(Budget(boxes=1_000_000)))
    proved = n_points = 0
    while n_points < 25_000:
        middle = random_codes(rng, network, whole(network), 1)[0]
        free = rng.permutation(12)[: rng.integers(2, 8)]
        box = whole(network)
        for feature in set(range(12)) - set(free.tolist()):
            box = slab(network, box, network.domain.offsets[feature] + middle[feature])
        for index in (0, 1):
            if not oracle.ask(box, index):
                continue
            proved += 1
            codes = random_codes(rng, network, box, 20)
            points = [codes]
            for _ in range(2):
                tried, codes = descend(network, box, codes, 1 if index else -1)
                points.append(tried)
            points = np.concatenate(points)
            n_points += len(points)
            scores = reference.numpy_scores(network, points)[:, 0]
            assert ((scores > 0) == index)[np.abs(scores) > 1e-9].all()
            for codes in points[np.abs(scores) <= 1e-9]:
                assert reference.class_of(network, codes) == index
    assert proved >= 5


def test_domains_beyond_any_table():
    rng = np.random.default_rng(8)
    hidden = Layer(rng.normal(size=(160, 6)) / 6, rng.normal(size=6), "relu")
    network = binary([4] * 40, hidden, Layer(rng.normal(size=(6, 1)), [0], "sigmoid"))
    oracle = Oracle(network, Meter(Budget(boxes=200_000)))
    for index in (0, 1):
        answer = oracle.ask(whole(network), index)
        assert not answer.proved
        assert reference.class_of(network, answer.counterexample) != index


# What is refused


@pytest.fixture
def network():
    return binary([2, 3], Layer(np.arange(5)[:, np.newaxis], [-3], "sigmoid"))


def test_an_empty_box_is_refused(network):
    box = np.array([True, True, False, False, False])
    with pytest.raises(DomainError, match="it allows no value of feature 'f1'"):
        Oracle(network).ask(box, 1)


EMPTY = """
import numpy as np
from nn2rules import DomainError, Domain, Feature, Layer, Network
from nn2rules.engine import build_table

domain = Domain((Feature("a", ("x", "y")), Feature("b", ("x", "y", "z"))))
layer = Layer(np.arange(5)[:, np.newaxis], [-3], "sigmoid")
table = build_table(Network(domain, (layer,), ("no", "yes")))
for box in ([False, False, True, True, True], [True, True, False, False, False]):
    try:
        table.ask(np.array(box), 1)
    except DomainError:
        print("refused")
"""


def test_an_empty_box_is_refused_by_the_table():
    """In a process of its own: a kernel that is let loose on it may crash."""
    run = subprocess.run(
        [sys.executable, "-c", EMPTY], capture_output=True, text=True, check=False
    )
    assert run.stdout.split() == ["refused", "refused"], (run.returncode, run.stderr)


@pytest.mark.parametrize(
    "box",
    [
        np.ones(4, dtype=np.bool_),
        np.ones(6, dtype=np.bool_),
        np.ones((1, 5), dtype=np.bool_),
        np.ones(5),
        np.ones(5, dtype=np.int64),
    ],
)
def test_a_box_of_the_wrong_kind_is_refused(network, box):
    with pytest.raises(DomainError, match="a box is a boolean array"):
        Oracle(network).ask(box, 1)
    with pytest.raises(DomainError):
        build_table(network).ask(box, 1)


@pytest.mark.parametrize(
    "ignoring",
    [
        np.ones((1, 4), dtype=np.bool_),
        np.ones((2, 6), dtype=np.bool_),
        np.ones(5, dtype=np.bool_),
        np.ones((1, 5)),
    ],
)
def test_ignored_boxes_of_the_wrong_kind_are_refused(network, ignoring):
    with pytest.raises(DomainError):
        Oracle(network).ask(whole(network), 1, ignoring=ignoring)


@pytest.mark.parametrize("index", [-1, 2, 7])
def test_a_class_that_is_not_there_is_refused(network, index):
    with pytest.raises((ValueError, IndexError)):
        Oracle(network).ask(whole(network), index)
    with pytest.raises((ValueError, IndexError)):
        build_table(network).ask(whole(network), index)


def test_box_of_names_values(network):
    box = box_of(network, {"f1": ["v0", "v2"]})
    assert box.tolist() == [True, True, True, False, True]
    with pytest.raises(DomainError):
        box_of(network, {"f1": ["nothing"]})
    with pytest.raises(DomainError):
        box_of(network, {"f9": ["v0"]})


def test_a_spent_budget_is_an_error_and_a_larger_one_is_not():
    _, network = medium_network(0)
    boxes = []
    for budget in (0, 1, 5, 10**6):
        meter = Meter(Budget(boxes=budget))
        try:
            Oracle(network, meter).ask(box_of(network, {"f0": ["v0"]}), 1)
        except BudgetExceededError:
            assert meter.boxes == budget + 1
        boxes.append(meter.boxes)
    assert boxes[-1] <= 10**6


# Magnitudes that float64 cannot multiply


def answers_of(network):
    """Return what the search says of the whole domain and counts, and the truth."""
    oracle, box = Oracle(network), whole(network)
    proved = [oracle.ask(box, k).proved for k in range(len(network.classes))]
    counts = count_classes(network, meter=Meter(Budget(memory=0)))
    truth = reference.truth(network)
    expected = tuple(truth.count(k) for k in range(len(network.classes)))
    assert (counts.lower, counts.upper) == (expected, expected)
    assert proved == [number == len(truth) for number in expected]
    return expected


def test_an_underflow_behind_a_huge_layer_proves_nothing():
    network = binary(
        [2, 2],
        Layer([[1e300], [0], [0], [0]], [0], "relu"),
        Layer([[1e-200]], [0], "relu"),
        Layer([[1e-200]], [-0.5e-100], "sigmoid"),
    )
    assert answers_of(network) == (2, 2)


OVERFLOWING = [
    (
        [[0, 0, 1, -1], [1e308, 0, 1, 1], [-1, 1e308, 0, 1], [1, -1e308, 1, -1]],
        [1, -1, -1e308, -1],
        (3, 1, 0, 0),
    ),
    (
        [
            [1, 1e308, -1e308, -1e308],
            [-1e308, -1, 0, 1],
            [1, 0, -1, -1],
            [-1, 1e308, 1e308, -1],
        ],
        [0, 1e308, -1e308, 0],
        (0, 4, 0, 0),
    ),
]


@pytest.mark.parametrize(("weights", "bias", "expected"), OVERFLOWING)
def test_an_overflow_is_not_forgotten_at_the_next_output(weights, bias, expected):
    network = binary([2, 2], Layer(weights, bias, "softmax"))
    assert answers_of(network) == expected


@pytest.mark.parametrize("seed", range(4))
def test_all_magnitudes_at_once(seed):
    rng = np.random.default_rng([31, seed])
    for _ in range(40):
        sizes = [2, 2]
        powers = rng.choice([-310, -200, -100, 0, 100, 200, 300], size=3)
        numbers = [
            rng.choice([-1.0, 1.0, 2.0], size=shape) * 10.0**power
            for shape, power in zip([(4, 2), (2, 2), (2, 1)], powers, strict=True)
        ]
        layers = [
            Layer(weights, np.zeros(weights.shape[1]), name)
            for weights, name in zip(
                numbers, ["relu", "leaky_relu", "sigmoid"], strict=True
            )
        ]
        network = reference.balanced(binary(sizes, *layers))
        answers_of(network)


def test_an_invalid_box_is_refused_in_a_sentence():
    network = binary([2, 2], Layer([[1], [2], [3], [4]], [-5], "sigmoid"))
    oracle, table, box = Oracle(network), build_table(network), whole(network)
    for ask in (
        lambda given: oracle.ask(given, 0),
        lambda given: oracle.ask_value(given, 0, 0),
        lambda given: table.ask(given, 0),
        lambda given: score_range(network, given),
    ):
        with pytest.raises(DomainError, match="not a list; box_of builds one"):
            ask([True] * 4)
        with pytest.raises(DomainError, match="not a dict; box_of builds one"):
            ask({"f0": ["v0"]})
        with pytest.raises(DomainError, match="int64 of shape"):
            ask(np.ones(4, dtype=np.int64))
    for ask in (oracle.ask, table.ask):
        with pytest.raises(DomainError, match="there is no class 'class 0'"):
            ask(box, "class 0")
    for column in (4, -1, "v0"):
        with pytest.raises(DomainError, match="there is no value"):
            oracle.ask_value(box, column, 0)
    with pytest.raises(DomainError, match="ignoring: boxes of shape"):
        oracle.ask(box, 0, ignoring=[[True] * 4])
    with pytest.raises(OptionError, match="there is no score 'class 0' among 1"):
        score_range(network, box, index="class 0")


def test_invalid_ends_are_refused():
    domain = Domain((Feature.real("x", -1, 3), Feature.real("n", 0, 9, whole=True)))
    network = Network(domain, (Layer([[1], [0]], [0], "sigmoid"),), ("no", "yes"))
    box = whole(network)
    wrong = [
        ([[-1, 0]], "expected \\(2, 2\\)"),
        ([[-2, 0], [3, 9]], "'x' from -2.0 to 3.0"),
        ([[2, 0], [1, 9]], "'x' from 2.0 to 1.0"),
        ([[-1, 0], [np.nan, 9]], "'x' from -1.0 to nan"),
        ([[-1, 0.5], [3, 9]], "'n' has whole numbers"),
    ]
    for ends, message in wrong:
        with pytest.raises(DomainError, match=f"ends: .*{message}"):
            Oracle(network).ask(box, 1, ends=np.array(ends))
        with pytest.raises(DomainError, match=f"ends: .*{message}"):
            score_range(network, box, ends=np.array(ends))
    assert Oracle(network).ask(box, 1, ends=np.array([[1, 0], [3, 9]]))
