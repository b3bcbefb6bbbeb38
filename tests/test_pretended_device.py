"""What runs on a device keeps its tensors there, and finds the same as a processor."""

from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest

import nn2rules
import ranged
from fuzz import numbers
from nn2rules import Layer, Network, RuleList, datasets
from nn2rules.checker import check, on_device
from nn2rules.cover import growing
from nn2rules.engine import build_table
from nn2rules.engine import sweep as sweeps
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.engine.every_input import count_every
from nn2rules.engine.flat import claim, room
from nn2rules.engine.tensors import Searcher
from strategies import PIECEWISE_LINEAR, SMOOTH, plain_domain

torch = pytest.importorskip("torch")
pretended = import_module("pretended")


def made_there(make):
    """Return what is made with "cuda"; some tensors have been there."""
    with pretended.cuda() as device:
        found = make("cuda")
    assert device.n_made
    return found


def plain_network(rng, name, *, units=6, classes=3):
    """Return a network of words alone, with two hidden layers."""
    widths = [9, units, units, classes if classes > 2 else 1]
    layers = [
        Layer(rng.normal(size=(n_in, n_out)), rng.normal(size=n_out), name)
        for n_in, n_out in pairwise(widths)
    ]
    last = "softmax" if classes > 2 else "sigmoid"
    layers[-1] = Layer(layers[-1].weights, layers[-1].bias, last)
    return Network(plain_domain([2, 4, 3]), tuple(layers), tuple("abc"[:classes]))


def test_the_device_refuses_what_cuda_refuses():
    with pretended.cuda():
        there, here = torch.ones(3, device="cuda"), torch.arange(3)
        assert there.device.type == "cuda"
        assert (there + 1)[here].to(torch.float64).sum().device.type == "cuda"
        assert (there * torch.tensor(2.0)).cpu().numpy().tolist() == [2.0] * 3
        places = here.to("cuda")
        for wrong in (
            lambda: there + here,
            lambda: here[places],
            lambda: here.__setitem__(places, 1),
            lambda: there.__setitem__(places, here),
            lambda: torch.cat([there, here]),
            lambda: torch.where(there > 0, there, here),
            lambda: there.index_select(0, here),
            lambda: torch.mul(there, there, out=torch.ones(3)),
        ):
            with pytest.raises(RuntimeError, match="one is on cpu, one on cuda:0"):
                wrong()
        for wrong in (there.numpy, lambda: np.asarray(there)):
            with pytest.raises(TypeError, match="cpu"):
                wrong()
        array = np.zeros(2)
        torch.from_numpy(array).to("cuda").add_(1)
        assert array.tolist() == [0, 0]
    with pytest.raises(nn2rules.OptionError):
        Searcher(claim(plain_network(np.random.default_rng(1), "relu"), 0), "cuda")


@pytest.mark.parametrize("name", [*PIECEWISE_LINEAR, *SMOOTH])
def test_search(name):
    rng = np.random.default_rng([90, len(name)])
    net = claim(plain_network(rng, name), 1)
    allowed = rng.random((8, 9)) < 0.7
    allowed[:, [0, 2, 6]] = True
    boxes = Boxes(allowed, np.ones((8, 2, 3)))
    check_search(net, boxes, Boxes(*(part[:1].copy() for part in boxes)))
    check_search(net, boxes, room(net, 0))


def check_search(net, boxes, ignored):
    def search(device):
        limits = np.full(len(boxes.allowed), 30)
        found = Searcher(net, device).search(boxes, limits, 4.0, ignored)
        return [part.tolist() for part in found]

    assert made_there(search) == search("cpu")


def test_search_of_ranges():
    rng = np.random.default_rng(91)
    for _ in range(40):
        network = numbers.draw_network(rng)
        boxes, _ = numbers.random_boxes(rng, network, 6)
        net = claim(network, int(rng.integers(len(network.classes))))
        check_search(net, boxes, Boxes(*(part[4:].copy() for part in boxes)))


def test_weights_that_are_not_finite():
    layer = Layer([[1.7e308, -1.7e308, 0], [0, 1, 2]], [0, 0, 0], "softmax")
    net = claim(Network(plain_domain([2]), (layer,), ("x", "y", "z")), 0)
    boxes = Boxes(np.array([[True, True], [True, False]]), np.ones((2, 2, 1)))
    check_search(net, boxes, room(net, 0))


def test_boxes_that_grow_side_by_side(monkeypatch):
    monkeypatch.setattr(growing, "FEWEST_ON_DEVICE", 1)
    rng, domain = np.random.default_rng(92), ranged.mixed_domain()
    network = ranged.random_network(rng, domain, units=5, classes=("a", "b"))
    rows = ranged.random_rows(rng, domain, 40)

    def rules(device):
        options = {"data": rows, "max_rules": 4, "engine": "search", "n_jobs": 1}
        return nn2rules.extract(network, device=device, **options).text()

    assert made_there(rules) == rules("cpu")


@pytest.fixture
def small_tiles(monkeypatch):
    for kind in ("cpu", "cuda"):
        monkeypatch.setitem(sweeps._NUMBERS, kind, 40)
        monkeypatch.setitem(on_device._NUMBERS, kind, 200)
        monkeypatch.setitem(on_device._COLUMNS, kind, 5)


@pytest.mark.parametrize("name", [*PIECEWISE_LINEAR, *SMOOTH])
@pytest.mark.parametrize("units", [6, 40])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_input(name, units, classes, small_tiles):
    rng = np.random.default_rng([93, len(name), units])
    check_every(plain_network(rng, name, units=units, classes=classes))


def check_every(network):
    def every(device):
        table = build_table(network, device=device)
        rules = RuleList(network.domain, (), network.classes[0], network.classes)
        report = check(network, rules, device=device)
        kept = table.smallest_margin, table.n_settled, table.fragile_inputs
        return table.classes.tolist(), kept, count_every(network, device), report

    assert made_there(every) == every("cpu")


def test_ties(small_tiles):
    weights = [[k / 10] for k in range(-3, 4)] * 2
    layer = Layer(weights, [0.1 + 0.2 - 0.3], "sigmoid")
    check_every(Network(plain_domain([7, 7]), (layer,), ("no", "yes")))


@pytest.mark.parametrize("form", ["list", "set"])
def test_rules_that_are_checked(form, small_tiles):
    network = nn2rules.load(datasets.network_file("car"))
    rules = nn2rules.extract(network, form=form)
    impossible = [{"safety": "low", "persons": ["2", "4"]}]

    def report(device):
        return check(network, rules, device=device, impossible=impossible)

    found = made_there(report)
    assert found == report("cpu")
    assert found.ok
