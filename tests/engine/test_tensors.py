"""Searches on a device, which find what the kernel finds, to the last bit."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from fuzz import numbers
from nn2rules import Domain, Feature, Layer, Network, UndecidedError
from nn2rules.engine._kernels import relaxation
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.engine._kernels.compiled import ONE
from nn2rules.engine._kernels.search import (
    PAUSED,
    PROVED,
    REFUTED,
    TIES_FULL,
    TOO_DEEP,
    search,
)
from nn2rules.engine.flat import KINDS, claim, points, room, stack_of, workspace
from nn2rules.engine.table import settle_codes
from strategies import PIECEWISE_LINEAR, SMOOTH

pytest.importorskip("torch")

from nn2rules.engine.tensors import Found, Searcher
from nn2rules.engine.tensors.lines import activation_range, gap_of, relax
from nn2rules.engine.tensors.nets import as_tensors
from nn2rules.engine.tensors.picking import Batch, pick
from nn2rules.engine.tensors.splitting import lower_half


def by_kernel(net, boxes, limits, patience, ignored):
    """Ask one question after the other."""
    space, stack, ties = workspace(net), stack_of(net), points(net, 1)
    found = []
    for allowed, ends, limit in zip(*boxes, limits, strict=True):
        stack.allowed[0], stack.ends[0], stack.depth[0] = allowed, ends, 0
        status, _, n_ties, n_boxes = search(
            net, space, stack, ONE, ignored, ties, limit, patience * limit
        )
        at = space.choice.copy(), space.numbers.copy()
        found.append((status, *at, n_boxes, n_ties))
    return Found(*map(np.array, zip(*found, strict=True)))


def check_same(net, boxes, limits, patience, ignored):
    """Compare all that is found with ``==``; return how the questions ended."""
    found = Searcher(net, "cpu").search(boxes, limits, patience, ignored)
    expected = by_kernel(net, boxes, limits, patience, ignored)
    assert found.status.tolist() == expected.status.tolist()
    assert found.n_boxes.tolist() == expected.n_boxes.tolist()
    assert found.n_ties.tolist() == expected.n_ties.tolist()
    refuted = found.status == REFUTED
    assert found.codes[refuted].tolist() == expected.codes[refuted].tolist()
    assert found.numbers[refuted].tolist() == expected.numbers[refuted].tolist()
    return found.status.tolist()


def is_exact(network):
    return all(layer.activation in PIECEWISE_LINEAR for layer in network.layers[:-1])


def random_limits(rng, n):
    patience = float(rng.choice([0.5, 4.0, 1e6, np.inf]))
    return rng.choice([1, 2, 20, 60], size=n), patience


def draw_network(rng, activations, n_hidden):
    """Draw a network of the usual kind: some weights 0, and ranges that are scaled."""
    features = [Feature("one", ("only",))]
    for k, size in enumerate(rng.integers(1, 7, size=rng.integers(1, 6)).tolist()):
        features.append(Feature(f"c{k}", tuple(f"v{code}" for code in range(size))))
    for k in range(int(rng.integers(0, 4))):
        is_whole = bool(rng.integers(2))
        special = (99,) * int(rng.integers(2))
        features.append(Feature.real(f"x{k}", -2, 5, whole=is_whole, special=special))
    rng.shuffle(features)
    domain = Domain(tuple(features))
    n_classes = int(rng.choice([2, 2, 3, 5]))
    widths = [int(domain.offsets[-1]), *rng.integers(2, 28, size=n_hidden).tolist()]
    widths.append(1 if n_classes == 2 else n_classes)
    layers = []
    for k, (n_in, n_out) in enumerate(pairwise(widths)):
        weights = rng.normal(size=(n_in, n_out)) * (rng.random((n_in, n_out)) < 0.8)
        name, slope = str(rng.choice(activations)), None
        if k == n_hidden:
            name = "sigmoid" if n_classes == 2 else "softmax"
        if name == "leaky_relu":
            slope = float(rng.choice([0.01, 0.3, 0.0, 1.5]))
        bias = rng.normal(size=n_out) / 2
        layers.append(Layer(weights / max(1.0, n_in**0.5), bias, name, slope))
    layers[-1] = centred(rng, domain, layers)
    return Network(domain, tuple(layers), tuple(range(n_classes)))


def centred(rng, domain, layers):
    """Return the last layer with a bias that makes some input nearly tied."""
    codes, at = map(np.array, numbers.random_input(rng, domain))
    outputs = at @ layers[0].weights[domain.offsets[:-1] + codes]
    for layer, after in pairwise(layers):
        outputs = layer.function.floats(outputs + layer.bias) @ after.weights
    return Layer(
        layers[-1].weights,
        rng.normal(size=len(outputs)) / 8 - outputs,
        layers[-1].activation,
    )


def draw_boxes(rng, domain, n):
    """Draw boxes with ends anywhere."""
    shares = rng.choice([0.0, 0.2, 0.5, 0.9, 1.0], size=(n, 1))
    allowed = rng.random((n, int(domain.offsets[-1]))) < shares
    ends = np.tile(domain.limits, (n, 1, 1))
    for k, feature in enumerate(domain.features):
        some = domain.offsets[k] + rng.integers(len(feature), size=n)
        allowed[np.arange(n), some] = True
        if feature.limits is not None:
            drawn = np.sort(rng.uniform(*feature.limits, size=(n, 2)))
            drawn[: n // 3, 1] = drawn[: n // 3, 0]
            drawn = np.round(drawn) if feature.whole else drawn
            keep = (rng.random(n) < 0.5) | (np.arange(n) < n // 3)
            ends[keep, :, k] = drawn[keep]
    return Boxes(allowed, ends)


def draw_question(rng, network, n):
    """Draw boxes, of which some are ignored, for a class of a network."""
    net = claim(network, int(rng.integers(len(network.classes))))
    ignored = draw_boxes(rng, network.domain, int(rng.integers(0, 4)))
    if rng.random() < 0.4:
        ignored = room(net, 0)
    return net, draw_boxes(rng, network.domain, n), ignored


@pytest.mark.parametrize("name", PIECEWISE_LINEAR)
@pytest.mark.parametrize("n_hidden", [1, 2, 3])
def test_every_exact_activation_gives_what_the_kernel_gives(name, n_hidden):
    rng, ends = np.random.default_rng([70, n_hidden, len(name)]), []
    for _ in range(4):
        network = draw_network(rng, [name], n_hidden)
        net, boxes, ignored = draw_question(rng, network, 24)
        ends += check_same(net, boxes, *random_limits(rng, 24), ignored)
    assert {PROVED, REFUTED} <= set(ends)


def test_networks_of_any_shape_give_what_the_kernel_gives():
    rng, ends = np.random.default_rng(71), []
    for _ in range(25):
        network = draw_network(rng, PIECEWISE_LINEAR, int(rng.integers(0, 4)))
        net, boxes, ignored = draw_question(rng, network, 16)
        ends += check_same(net, boxes, *random_limits(rng, 16), ignored)
    assert {PROVED, REFUTED, PAUSED} <= set(ends)


def test_what_overflows_and_what_is_tied_ends_as_the_kernel_says():
    rng, ends = np.random.default_rng(72), []
    for _ in range(150):
        network = numbers.draw_network(rng)
        if not is_exact(network):
            continue
        boxes, _ = numbers.random_boxes(rng, network, 8)
        net = claim(network, int(rng.integers(len(network.classes))))
        ignored = Boxes(*(part[6:].copy() for part in boxes))
        limits, patience = random_limits(rng, 8)
        ends += check_same(net, boxes, limits, patience, ignored)
        ends += check_same(net, boxes, limits, patience, room(net, 0))
    assert {PROVED, REFUTED, PAUSED, TIES_FULL} <= set(ends)
    assert len(ends) > 1000


def test_a_stack_that_is_full_ends_a_search():
    """Every score is 0 on every part, so parts are halved until there is no room."""
    feature = Feature.real("x", -1, 0)
    layers = Layer([[0.0]], [0.0], "relu"), Layer([[1.0]], [0.0], "sigmoid")
    net = claim(Network(Domain((feature,)), layers, ("no", "yes")), 1)
    boxes = Boxes(np.ones((2, 1), dtype=np.bool_), np.array([[[-1.0], [0.0]]] * 2))
    limits = np.array([1000, 50])
    assert check_same(net, boxes, limits, np.inf, room(net, 0)) == [TOO_DEEP, PAUSED]


def naive_pick(values, allowed):
    """Take one value after the other, unless it is at least the smallest so far."""
    smallest, at = None, None
    for code in np.flatnonzero(allowed).tolist():
        if smallest is None or not values[code] >= smallest:
            smallest, at = values[code], code
    return at


def test_the_first_of_the_smallest_is_picked_and_halves_are_in_order():
    """With NaN, infinities, both zeros and equal numbers among the values."""
    import torch

    rng, n, size = np.random.default_rng(76), 400, 6
    domain = Domain((Feature("f", tuple("abcdef")),))
    net = claim(Network(domain, (Layer(np.ones((6, 1)), [0], "sigmoid"),), (0, 1)), 1)
    tensors = as_tensors(net, torch, torch.device("cpu"))
    hurting = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0]
    values = rng.choice(hurting, size=(size, n))
    allowed = rng.random((size, n)) < 0.7
    allowed[rng.integers(size, size=n), np.arange(n)] = True
    columns, box = torch.from_numpy(values), torch.from_numpy(allowed)
    ends = torch.ones((2, 0, n), dtype=torch.float64)
    _, choice = pick(tensors, box, ends, columns)
    batch = Batch(box, ends, ends[0], ends[0])
    halved = lower_half(tensors, batch, columns, torch.zeros(n, dtype=torch.int64))
    for k in range(n):
        assert int(choice[0, k]) == naive_pick(values[:, k], allowed[:, k])
        codes = np.flatnonzero(allowed[:, k])
        order = codes[np.argsort(values[codes, k], kind="stable")]
        expected = sorted(order[: (len(codes) + 1) // 2].tolist())
        assert halved[:, k].nonzero()[:, 0].tolist() == expected


@pytest.mark.parametrize("name", PIECEWISE_LINEAR)
@pytest.mark.parametrize("slope", [0.01, 1.3])
def test_lines_are_those_of_the_kernel(name, slope):
    """Also where numbers of Python decide, such as 1 / 6, and where bounds overflow."""
    import torch

    rng, n, kind = np.random.default_rng(77), 300, KINDS[name]
    domain = Domain((Feature("f", ("a", "b")),))
    net = claim(Network(domain, (Layer([[1], [2]], [0], "sigmoid"),), (0, 1)), 1)
    tensors = as_tensors(net, torch, torch.device("cpu"))
    ends = rng.normal(size=(2, n)) * rng.choice([1e-3, 1.0, 4.0], size=n)
    ends[:, :20] = rng.choice([-np.inf, -1.7e308, 0.0, 1.7e308, np.inf], size=(2, 20))
    low, high = np.sort(ends, axis=0)
    lines = np.zeros((n, 4))
    with np.errstate(all="ignore"):
        for k in range(n):
            relaxation.relax(kind, slope, low[k], high[k], lines[k])
        pairs = list(zip(low, high, strict=True))
        gaps = [relaxation.gap_of(kind, *pair) for pair in pairs]
        ranges = [relaxation.activation_range(kind, slope, *pair) for pair in pairs]
    both = torch.from_numpy(low)[None], torch.from_numpy(high)[None]
    found = torch.cat(relax(tensors, kind, slope, *both)).T
    np.testing.assert_array_equal(found.numpy(), lines)
    np.testing.assert_array_equal(gap_of(tensors, kind, *both)[0].numpy(), gaps)
    found = torch.cat(activation_range(tensors, kind, slope, *both)).T
    np.testing.assert_array_equal(found.numpy(), ranges)


def test_weights_that_are_not_finite_are_left_to_the_kernel():
    domain = Domain((Feature("f", ("a", "b")),))
    layer = Layer([[1.7e308, -1.7e308, 0], [0, 1, 2]], [0, 0, 0], "softmax")
    net = claim(Network(domain, (layer,), ("x", "y", "z")), 0)
    assert not np.isfinite(net.weights).all()
    boxes = Boxes(np.array([[True, True], [True, False]]), np.ones((2, 2, 1)))
    check_same(net, boxes, np.array([9, 9]), 4.0, room(net, 0))


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_activations_are_searched_rightly(name):
    rng, n_proved, n_refuted = np.random.default_rng([73, len(name)]), 0, 0
    for n_hidden in (1, 1, 2):
        network = draw_network(rng, [name], n_hidden)
        index = int(rng.integers(len(network.classes)))
        net, n = claim(network, index), 16
        boxes = draw_boxes(rng, network.domain, n)
        limits = np.full(n, 60)
        found = Searcher(net, "cpu").search(boxes, limits, 1e9, room(net, 0))
        for k in range(n):
            at = found.codes[k], found.numbers[k]
            if found.status[k] == REFUTED:
                assert settle_codes(network, *at) != index
                assert numbers.holds(network.domain, boxes, k, numbers.Input(*at))
                n_refuted += 1
            elif found.status[k] == PROVED and found.n_ties[k] == 0:
                check_proved(rng, network, boxes, k, index)
                n_proved += 1
    assert n_proved
    assert n_refuted


def check_proved(rng, network, boxes, which, index):
    """Look at some inputs of a box that is proved."""
    for _ in range(4):
        codes, at = [], []
        for k, feature in enumerate(network.domain.features):
            start, stop = network.domain.offsets[k : k + 2]
            codes.append(rng.choice(np.flatnonzero(boxes.allowed[which, start:stop])))
            low, high = boxes.ends[which, :, k]
            number = float(rng.choice([low, high, rng.uniform(low, high)]))
            number = float(np.round(number)) if feature.whole else number
            at.append(number if feature.limits is not None and codes[-1] == 0 else 1.0)
        try:
            assert settle_codes(network, np.array(codes), np.array(at)) == index
        except UndecidedError:
            continue


def test_questions_are_searched_as_if_alone_whatever_the_batch():
    rng = np.random.default_rng(74)
    network = draw_network(rng, ["relu"], 2)
    net, boxes, ignored = draw_question(rng, network, 12)
    limits, searcher = np.full(12, 40), Searcher(net, "cpu")
    together = searcher.search(boxes, limits, 4.0, ignored)
    searcher.at_once = 5
    for one, other in zip(
        together, searcher.search(boxes, limits, 4.0, ignored), strict=True
    ):
        assert one.tolist() == other.tolist()
    none = searcher.search(Boxes(*(p[:0] for p in boxes)), limits[:0], 4.0, ignored)
    assert none.status.shape == (0,)
    assert none.codes.shape == (0, len(net.ranges))


def test_a_search_looks_at_the_clock():
    class LateError(Exception):
        pass

    def look():
        raise LateError

    rng = np.random.default_rng(75)
    net, boxes, ignored = draw_question(rng, draw_network(rng, ["relu"], 1), 4)
    with pytest.raises(LateError):
        Searcher(net, "cpu").search(boxes, np.full(4, 40), 4.0, ignored, look)


def test_importing_the_search_does_not_import_torch():
    code = "import sys, nn2rules.engine.tensors; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
