"""Every input on a device: the same as the table of the kernels, in every field."""

import math
import shutil
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from reference import EVERY, MILD, WILD, binary, random_network

from nn2rules import (
    BudgetExceededError,
    Domain,
    Feature,
    Layer,
    Network,
    OptionError,
    UndecidedError,
    UnsupportedModelError,
    datasets,
    load,
)
from nn2rules.arithmetic import error_bound
from nn2rules.engine import Budget, Meter, build_table, count_classes, device_scores
from nn2rules.engine import sweep as sweeps
from nn2rules.engine.device_scores import UNDECIDED, float32_bound
from nn2rules.engine.every_input import count_every
from nn2rules.engine.sweep import Sweep
from strategies import PIECEWISE_LINEAR, SMOOTH, networks, plain_domain

torch = pytest.importorskip("torch")


def fields(table):
    return (
        table.classes.tolist(),
        table.smallest_margin,
        table.n_settled,
        table.fragile,
        table.fragile_inputs,
    )


def check_same(network):
    """Compare a table and its counts with those of a device; they may both fail."""
    table = made(lambda: build_table(network, n_jobs=1))
    found = made(lambda: build_table(network, device="cpu"))
    counts = made(lambda: count_every(network, "cpu"))
    if isinstance(table, dict):
        assert table == found == counts
        return None
    assert fields(found) == fields(table)
    assert counts == table.counts()
    return table


def made(make):
    """Return what is made, or the input that cannot be decided."""
    try:
        return make()
    except UndecidedError as error:
        return dict(error.row)


@pytest.fixture
def small_tiles(monkeypatch):
    monkeypatch.setattr(sweeps, "_NUMBERS", {"cpu": 50})
    monkeypatch.setattr(sweeps, "_COLUMNS", 7)
    monkeypatch.setattr(sweeps, "_GAP", 2)
    monkeypatch.setattr(sweeps, "_RUN", 3)


# The same table


@pytest.mark.parametrize("name", datasets.NETWORKS)
def test_frozen_networks(name):
    network = load(datasets.network_file(name))
    table = check_same(network)
    counts = count_classes(network, device="cpu")
    assert counts == count_classes(network)
    assert counts.lower == tuple(table.counts())


@settings(max_examples=100)
@given(networks(PIECEWISE_LINEAR))
def test_any_piecewise_linear_network(network):
    check_same(network)


@settings(max_examples=40)
@given(networks(SMOOTH, palettes=("decimal", "dyadic", "extreme", "steep")))
def test_any_smooth_network(network):
    check_same(network)


@pytest.mark.parametrize("activation", EVERY)
def test_each_activation(activation, small_tiles):
    rng = np.random.default_rng([31, len(activation)])
    for _ in range(20):
        network = random_network(
            rng,
            activations=[activation],
            palettes=["floats", "decimal", "scaled"],
            max_hidden=2,
            max_inputs=48,
        )
        check_same(network)


@pytest.mark.parametrize("palettes", [MILD, WILD])
def test_ties_and_extreme_magnitudes(palettes, small_tiles):
    rng, settled = np.random.default_rng(32), 0
    for _ in range(60):
        network = random_network(
            rng, activations=PIECEWISE_LINEAR, palettes=palettes, max_inputs=40
        )
        settled += check_same(network).n_settled
    assert settled > 50


@pytest.mark.parametrize("low", [1e-300, 1e-42, 1e-37, 1e-30])
@pytest.mark.parametrize("high", [1.0, 1e30, 1e37, 1e42, 1e300])
def test_numbers_that_float32_cannot_hold(low, high):
    """A weight that vanishes, or overflows, in float32 alone decides."""
    first = Layer([[high], [-high], [0.0], [high]], [0.0], "relu")
    for sign in (1, -1):
        last = Layer([[sign * low]], [-sign * low * high / 2], "sigmoid")
        check_same(binary([2, 2], first, last))
        last = Layer([[0.0]], [sign * low], "sigmoid")
        assert check_same(binary([2, 2], first, last)).counts()[sign > 0] == 4


@pytest.mark.parametrize("slope", [0.0, 1e-200, 1e-40, -3.0, 1e35, 1e39])
def test_slopes_that_float32_cannot_hold(slope):
    for scale in (1.0, 1e-36):
        first = Layer(
            [[scale], [-scale], [0.0], [scale / 3]], [0.0], "leaky_relu", slope
        )
        check_same(binary([2, 2], first, Layer([[1.0]], [0.0], "sigmoid")))
        check_same(binary([2, 2], first, Layer([[-1.0]], [slope], "sigmoid")))


def test_a_weight_is_infinite_or_0_in_float32_and_turns_the_answer():
    """Float32 says the opposite, each time, and all its sums are small."""
    last = Layer([[1e39], [-1e38]], [0.0], "sigmoid")
    network = binary([1], Layer([[1e-30, 1e-10]], [0, 0], "relu"), last)
    assert check_same(network).classes.tolist() == [0]
    last = Layer([[1e32]], [-5.0], "sigmoid")
    for first in (Layer([[1e-31]], [0.0]), Layer([[0.0]], [1e-31])):
        assert check_same(binary([1], first, last)).classes.tolist() == [1]
    first = Layer([[-1e-30]], [0.0], "leaky_relu", 1e39)
    network = binary([1], first, Layer([[1.0]], [1e10], "sigmoid"))
    assert check_same(network).classes.tolist() == [1]


def test_wide_networks():
    rng = np.random.default_rng(33)
    for outputs, activation in ((1, "relu"), (5, "tanh"), (3, "gelu")):
        sizes = [3, 2, 4, 3]
        layers = [
            Layer(rng.normal(size=(12, 40)), rng.normal(size=40), activation),
            Layer(rng.normal(size=(40, 20)), rng.normal(size=20), "relu"),
            Layer(
                rng.normal(size=(20, outputs)),
                rng.normal(size=outputs),
                "sigmoid" if outputs == 1 else "softmax",
            ),
        ]
        network = binary(sizes, *layers)
        assert not device_scores.is_narrow(network)
        check_same(network)


@pytest.mark.parametrize(
    "sizes", [[1], [2], [300], [1, 1, 1], [1, 9, 1], [2] * 12, [5, 1, 7, 3, 11]]
)
@pytest.mark.parametrize("numbers", [1, 60, 1 << 20])
def test_odd_domains(sizes, numbers, monkeypatch):
    monkeypatch.setattr(sweeps, "_NUMBERS", {"cpu": numbers})
    if numbers == 1:
        sizes = sizes[:3]
    rng = np.random.default_rng([34, len(sizes)])
    hidden = Layer(rng.normal(size=(sum(sizes), 3)), rng.normal(size=3), "relu")
    network = binary(sizes, hidden, Layer(rng.normal(size=(3, 1)), [0.1], "sigmoid"))
    check_same(network)


def test_a_model_that_is_known_to_round():
    network = load(datasets.network_file("car"))
    network = Network(network.domain, network.layers, network.classes, 0.4, 0.5)
    table = check_same(network)
    assert table.fragile["model"] > table.fragile["float32"]


# What certifies it


def tie_network():
    """Return sums of tenths: float32 and float64 round them to either side."""
    tenths = [k / 10 for k in range(-3, 4)]
    weights = [[a] for a in tenths * 4]
    return binary([7] * 4, Layer(weights, [0.1 + 0.2 - 0.3], "sigmoid"))


def test_without_an_error_bound_a_tie_is_decided_wrongly(monkeypatch):
    network = tie_network()
    table = check_same(network)
    monkeypatch.setattr(device_scores, "float32_bound", lambda *_: np.zeros(1))
    assert count_every(network, "cpu") != table.counts()


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_scores_are_within_their_bound(kind):
    """Also where weights are no float32: the worst seen is not far from the bound."""
    rng, worst = np.random.default_rng(35), 0.0
    for _ in range(60):
        network = random_network(
            rng, palettes=["floats", "decimal", "scaled"], outputs=[1], max_inputs=40
        )
        single = kind == "float32"
        form = device_scores.format_of(
            network, torch, torch.device("cpu"), single=single
        )
        decide = device_scores.by_matrices(network, torch)
        [codes] = network.domain.inputs(chunk=100)
        columns = torch.tensor(codes + network.domain.offsets[:-1])
        sums = form.layers[0][0][columns].sum(dim=1) + form.layers[0][1]
        rest = [number for layer in form.layers[1:] for number in layer]
        best, margin = decide(sums, form.limit, *rest)
        found = np.where(best.numpy(), 1, -1) * margin.numpy().astype(np.float64)
        limit = float(form.limit.double())
        off = np.abs(found + limit - network.scores_codes(codes)).max()
        assert off <= form.error
        worst = max(worst, off / form.error)
    if kind == "float32":
        assert worst > 0.005


def test_the_bound_of_float32_holds_more_than_that_of_a_framework():
    network = load(datasets.network_file("adult"))
    offsets = network.domain.offsets
    framework = error_bound(network.layers, offsets, unit=2.0**-24)
    own = float32_bound(network.layers, offsets)
    assert (framework < own).all()
    assert (own < 2 * framework).all()


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_is_not_a_number_decides_nothing(number):
    network = random_network(np.random.default_rng(36), sizes=[3, 3], outputs=[3])
    for make in (device_scores.on_tiles, device_scores.by_units):
        classes = device_scores.clear_classes(make(network, torch), torch)
        form = device_scores.format_of(network, torch, torch.device("cpu"), single=True)
        width = len(network.layers[0].bias)
        first = torch.full((2, width), number)
        first[1] = -number
        rest = [x * 0 for layer in form.layers[1:] for x in layer]
        found = classes(first, first.T * 0, torch.tensor(1e-3), form.limit, *rest)
        assert (found == UNDECIDED).all()


@pytest.mark.parametrize("scores", [[math.nan, 1.0], [1.0, math.nan], [math.inf] * 2])
def test_scores_that_are_no_numbers_have_no_margin(scores):
    units = [torch.tensor([score]) for score in scores]
    _, margin = device_scores._decide(units, torch.tensor(0.0), torch)
    assert not margin > 0


# Counting


def test_a_domain_beyond_any_table_is_counted_until_time_is_up():
    domain = plain_domain([10] * 30)
    weights = np.random.default_rng(37).normal(size=(300, 3))
    layers = Layer(weights, [0] * 3), Layer([[1], [-1], [1]], [-0.5], "sigmoid")
    network, told = Network(domain, layers, ("no", "yes")), []

    def progress(what, share):
        told.append((what, share))
        if len(told) == 2:
            raise BudgetExceededError("enough")

    counts = count_classes(network, meter=Meter(progress=progress), device="cpu")
    assert sum(counts.lower) == 2 * Sweep(network, "cpu").starts.step
    assert min(counts.lower) > 0
    assert not counts.is_exact
    left = domain.n_inputs - sum(counts.lower)
    assert counts.upper == tuple(number + left for number in counts.lower)
    assert {what for what, _ in told} == {"counting every input"}
    assert all(0 <= low <= high <= 1 for low, high in counts.probability)
    with pytest.raises(BudgetExceededError):
        count_every(network, "cpu", meter=Meter(Budget(seconds=0)))


def test_inputs_far_out_are_the_same_as_by_codes():
    """Numbers of inputs beyond 2**40: a tile is compared with `predict_codes`."""
    rng = np.random.default_rng(38)
    domain = plain_domain([7] * 22)
    layers = (
        Layer(rng.normal(size=(154, 6)), rng.normal(size=6)),
        Layer(rng.normal(size=(6, 3)), [0.5, -2, 0], "softmax"),
    )
    network = Network(domain, layers, ("a", "b", "c"))
    sweep = Sweep(network, "cpu")
    step = sweep.starts.step
    start = 2**53 // step * step
    classes, left = sweep.classify(start, start + step)
    some = rng.integers(0, step, 300)
    numbers = start + some
    codes = numbers[:, np.newaxis] // 7 ** np.arange(21, -1, -1) % 7
    assert not left
    assert classes[some].tolist() == network.predict_codes(codes).tolist()


def test_ranges_classes_and_probabilities_are_refused():
    ages = Domain((Feature.real("age", 0, 9),))
    network = Network(ages, (Layer([[1]], [-3], "sigmoid"),), ("no", "yes"))
    with pytest.raises(UnsupportedModelError, match="'age' is a range of numbers"):
        count_every(network, "cpu")
    many = binary([300], Layer(np.eye(300), np.zeros(300), "softmax"))
    with pytest.raises(UnsupportedModelError, match="at most 255 classes"):
        count_every(many, "cpu")
    tomato = load(datasets.network_file("tomato"))
    with pytest.raises(OptionError, match="which takes no probabilities"):
        count_classes(tomato, probabilities={}, device="cpu")
    with pytest.raises(OptionError, match="expected cuda"):
        build_table(tomato, device="abacus")


# PyTorch


def test_nothing_of_pytorch_is_imported_or_left_changed():
    code = "import sys, nn2rules.engine; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    place = torch.backends.cuda.matmul
    before = place.fp32_precision, torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        with device_scores.plain_arithmetic(torch, torch.device("cpu")):
            assert place.fp32_precision == "ieee"
            assert not place.allow_tf32  # which CUDA asks, and must not be in doubt
        assert torch.get_float32_matmul_precision() == "medium"
        assert place.fp32_precision == "tf32"
    finally:
        torch.set_float32_matmul_precision(before[1])
        place.fp32_precision = before[0]


def test_a_kernel_that_does_not_compile_is_done_without(monkeypatch):
    def refuse(*_, **__):
        def fail(*_):
            raise RuntimeError("no compiler here")

        return fail

    monkeypatch.setattr(torch, "compile", refuse)
    network = load(datasets.network_file("car"))
    sweep = Sweep(network, "cpu", compiled=True)
    [(start, stop)] = sweep.tiles()
    classes, left = sweep.classify(start, stop)
    assert not left
    assert classes.tolist() == build_table(network).classes.tolist()


@pytest.mark.skipif(shutil.which("g++") is None, reason="nothing compiles here")
def test_a_compiled_kernel_finds_the_same():
    network = tie_network()
    sweep = Sweep(network, "cpu", compiled=True)
    assert sweep._fast is not sweep._classes
    [(start, stop)] = sweep.tiles()
    classes, left = sweep.classify(start, stop)
    table = build_table(network)
    is_clear = np.ones(len(table.classes), dtype=np.bool_)
    is_clear[left] = False
    assert len(left) == table.n_settled > 0
    assert (classes.numpy() == table.classes)[is_clear].all()
