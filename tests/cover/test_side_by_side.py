"""Boxes that grow side by side become what they become alone."""

import numpy as np
import pytest

import ranged
from nn2rules import Domain, Feature
from nn2rules.cover._kernels import growth
from nn2rules.cover.growing import Cases, Goal, Grower
from nn2rules.engine import Oracle
from nn2rules.engine._kernels.boxes import Points
from nn2rules.engine._kernels.search import REFUTED
from nn2rules.engine.flat import points, room

pytest.importorskip("torch")

from nn2rules.cover import side_by_side
from nn2rules.cover.side_by_side import grow_side_by_side
from nn2rules.engine.tensors import Found, Searcher

TRIES, DOMAIN = 6, ranged.mixed_domain()


def grower_of(rng, classes, domain=DOMAIN):
    """Return what grows boxes from rows of a random network with ranges."""
    network = ranged.random_network(rng, domain, units=6, classes=classes)
    rows = ranged.random_rows(rng, domain, 120)
    inputs = np.unique(np.column_stack(domain.inputs_of(rows)), axis=0)
    n_features = len(domain.sizes)
    codes = inputs[:, :n_features].astype(np.int64)
    distinct = Points(codes, inputs[:, n_features:].copy())
    decoded = domain.decode(*distinct)
    answers = np.array([classes.index(c) for c in network.predict(decoded)])
    cases = Cases(distinct, np.ones(len(codes)), answers)
    return Grower(Oracle(network), cases, Goal(is_ordered=True, tries=TRIES, seed=1))


def started(grower, rng):
    """Return boxes that begin to grow, with their classes and rows."""
    rows = rng.choice(len(grower.cases.answers), size=TRIES, replace=False)
    n_factors = len(grower.plan.lines) + 2 * len(grower.plan.ranges)
    noise = rng.uniform(0.7, 1.3, size=(TRIES, n_factors))
    growths = []
    for row, own in zip(rows.tolist(), noise, strict=True):
        answer = int(grower.cases.answers[row])
        same = grower.cases.answers == answer
        worth = np.where(same, 1.0, -1.0 if rng.integers(2) else 0.0)
        box = grower._start(grower.hull([row]), own)
        growths.append((box, answer, grower.crowd._replace(worth=worth)))
    return growths


def grow_alone(grower, growths, ignored, is_last):
    """Let one box after the other grow by the kernel."""
    n_questions, n_boxes = 0, 0
    for box, answer, crowd in growths:
        net = grower.oracle.nets[answer]
        desk = grower.ground.desk(answer, ignored)
        desk = desk._replace(known=points(net, side_by_side.KNOWN))
        most = side_by_side.boxes_at_once(net)
        while not growth.grow(net, desk, crowd, grower.plan, box, most, is_last):
            pass
        n_boxes += int(desk.counts[1])
        n_questions += int(desk.counts[2])
    return n_questions, n_boxes


def copied(growths):
    return [
        (type(box)(*(part.copy() for part in box)), answer, crowd)
        for box, answer, crowd in growths
    ]


def check_same(grower, growths, ignored, is_last):
    """Compare all arrays of the boxes, and the effort, with ``==``."""
    alone = copied(growths)
    expected = grow_alone(grower, alone, ignored, is_last)
    nets = grower.oracle.nets
    searchers = {index: Searcher(net, "cpu") for index, net in enumerate(nets)}
    looks = []
    found = grow_side_by_side(
        searchers,
        nets,
        grower.plan,
        growths,
        ignored,
        is_last=is_last,
        look=lambda: looks.append(1),
    )
    assert found == expected
    assert looks
    for (box, *_), (other, *_) in zip(growths, alone, strict=True):
        for name, part, expected_part in zip(box._fields, box, other, strict=True):
            assert part.tolist() == expected_part.tolist(), name
    return found


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
@pytest.mark.parametrize("seed", range(2))
def test_boxes_grow_as_they_do_alone(classes, seed):
    rng = np.random.default_rng([80, seed, len(classes)])
    grower = grower_of(rng, classes)
    growths, none = started(grower, rng), room(grower.oracle.nets[0], 0)
    n_questions, n_boxes = check_same(grower, growths, none, False)
    assert n_boxes > n_questions > TRIES
    assert check_same(grower, growths, none, True) > (0, 0)  # they go on


def test_what_is_ignored_need_not_be_of_the_class():
    rng = np.random.default_rng(81)
    grower = grower_of(rng, ("no", "yes"))
    ignored = room(grower.oracle.nets[0], 2)
    for index in range(2):
        ignored.allowed[index], ignored.ends[index] = grower.hull([index, index + 9])
    check_same(grower, started(grower, rng), ignored, True)


def test_boxes_look_around_anew_where_kernels_pause(monkeypatch):
    """Rows far away count only while few are near, so it matters when this is seen."""
    words = [Feature(f"w{k}", tuple("abcd")) for k in range(5)]
    domain = Domain((*ranged.mixed_domain().features, *words))
    efforts = []
    for most in (5, 1 << 62):
        monkeypatch.setattr(side_by_side, "boxes_at_once", lambda _, most=most: most)
        rng = np.random.default_rng(84)
        grower = grower_of(rng, ("no", "yes"), domain)
        growths, none = started(grower, rng), room(grower.oracle.nets[0], 0)
        efforts.append(check_same(grower, growths, none, True))
    assert efforts[0] != efforts[1]


def test_of_many_counterexamples_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(side_by_side, "_FEW", 1)
    monkeypatch.setattr(side_by_side, "KNOWN", 4)
    rng = np.random.default_rng(82)
    grower = grower_of(rng, ("no", "yes"))
    [(box, answer, crowd), *_] = started(grower, rng)
    none = room(grower.oracle.nets[0], 0)
    growing = side_by_side._Growing(grower.plan, crowd, box, none, answer, 99, False)
    codes = np.arange(6)[:, np.newaxis] % 3 * np.ones(3, dtype=np.int64)
    numbers = np.arange(18.0).reshape(6, 3)
    zero, refuted = np.zeros(6, dtype=np.int64), np.full(6, REFUTED)
    for index in range(6):
        growing.hear(Found(refuted, codes, numbers, zero, zero), index)
    order = [4, 5, 2, 3]
    assert growing.notes.known.numbers.tolist() == numbers[order].tolist()
    assert growing.notes.known.codes.tolist() == codes[order].tolist()
    assert growing.notes.n_known.tolist() == [6]


def test_growing_looks_at_the_clock():
    class LateError(Exception):
        pass

    def look():
        raise LateError

    rng = np.random.default_rng(83)
    grower = grower_of(rng, ("no", "yes"))
    growths, nets = started(grower, rng)[:1], grower.oracle.nets
    searchers = {index: Searcher(net, "cpu") for index, net in enumerate(nets)}
    with pytest.raises(LateError):
        grow_side_by_side(
            searchers,
            nets,
            grower.plan,
            growths,
            room(nets[0], 0),
            is_last=False,
            look=look,
        )
