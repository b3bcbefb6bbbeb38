"""The parts of training: cuts, columns, nets, and what the pruner says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad

from nn2rules.learn.training.columns import answer_table, columns_of, cuts_of, roundest
from nn2rules.learn.training.net import distinct_rows, first_net, loss_of, trained
from nn2rules.learn.training.rule_path import network_of, rounded
from nn2rules.learn.training.stages import (
    Pruner,
    Stage,
    TrainingData,
    TrainingOptions,
    stages,
)
from nn2rules.learn.training.targets import Targets

NUMBERS = st.floats(-1e9, 1e9).map(lambda x: round(x, 6))


def digits(number):
    return len(f"{abs(number):.15e}".split("e")[0].rstrip("0"))


@given(st.tuples(NUMBERS, NUMBERS).filter(lambda pair: pair[0] < pair[1]))
def test_a_round_number_lies_in_between(pair):
    low, high = pair
    found = roundest(low, high)
    assert low < found <= high
    assert digits(found) <= digits(high)


@given(st.lists(NUMBERS, min_size=2, max_size=300), st.integers(1, 9))
def test_cuts_lie_between_numbers(listed, most):
    numbers = np.array(listed)
    truth = (np.arange(len(numbers)) % 2).astype(np.int64)
    cuts = cuts_of(numbers, Targets.of_labels(truth), most)
    assert cuts == sorted(set(cuts))
    assert len(cuts) <= most
    assert all(numbers.min() < cut <= numbers.max() for cut in cuts)


def lesson(n_questions, n_classes, rng, n_rows=40):
    asked = rng.random((n_rows, n_questions)) < 0.5
    truth = rng.integers(0, n_classes, n_rows)
    return asked, truth, distinct_rows(asked, Targets.of_labels(truth, n_classes))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gradient_is_that_of_the_loss(n_classes):
    rng = np.random.default_rng(0)
    _, _, taught = lesson(5, n_classes, rng)
    net = first_net(5, 3, n_classes, rng)
    apart = check_grad(
        lambda v: loss_of(net.filled(v), taught, 0.1)[0],
        lambda v: loss_of(net.filled(v), taught, 0.1)[1],
        net.vector,
    )
    assert apart < 1e-5


def test_lessons_count_every_row():
    rng = np.random.default_rng(1)
    asked, truth, taught = lesson(3, 3, rng)
    assert taught.weights.sum() == pytest.approx(1)
    for inputs, shares, weight in zip(
        taught.inputs, taught.shares, taught.weights, strict=True
    ):
        same = (asked == inputs.astype(bool)).all(axis=1)
        assert weight == pytest.approx(same.mean())
        assert shares == pytest.approx(
            np.bincount(truth[same], minlength=3) / same.sum()
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_surgeon_foretells_the_loss(n_classes):
    """Near a minimum, costs are those of training anew without a question."""
    rng = np.random.default_rng(2)
    asked = rng.random((2000, 4)) < 0.5
    scores = asked @ [0.8, -1.6, 0.4, 0.1] + rng.logistic(size=2000)
    truth = np.digitize(scores, [0.0, 1.0][: n_classes - 1]).astype(np.int64)
    targets = Targets.of_labels(truth, n_classes)
    taught = distinct_rows(asked, targets)
    loss, net = trained(first_net(4, 2, n_classes, rng), taught, 0.001, 1000)
    pruner = Pruner(net, taught, 0.001)
    grown = []
    for question in range(4):
        left = distinct_rows(np.delete(asked, question, axis=1), targets)
        found, _ = trained(pruner.net_without(question), left, 0.001, 1000)
        grown.append(found - loss)
    assert np.argsort(pruner.costs()).tolist() == np.argsort(grown).tolist()
    assert pruner.costs()[0] == pytest.approx(grown[0], rel=0.5)


def test_dropping_one_after_the_other_is_dropping_both():
    rng = np.random.default_rng(3)
    _, _, taught = lesson(4, 2, rng)
    _, net = trained(first_net(4, 2, 2, rng), taught, 0.05, 100)
    first, second = Pruner(net, taught, 0.05), Pruner(net, taught, 0.05)
    for pruner, order in ((first, (1, 2)), (second, (3, 1))):
        for index in order:
            pruner.drop(index)
    assert first.left == second.left == [0, 2]
    assert first.net.vector == pytest.approx(second.net.vector)


def test_what_is_asked_needs_two_questions_together():
    """Neither says anything alone, and both are kept to the end."""
    rng = np.random.default_rng(4)
    asked = rng.random((600, 8)) < 0.5
    truth = (asked[:, 2] ^ asked[:, 5]).astype(np.int64)
    how = TrainingOptions(units=4, alpha=1.0, max_questions=4, seed=0)
    found = stages(TrainingData(asked, Targets.of_labels(truth), np.zeros(8), how))
    assert [len(stage.asked) for stage in found] == [1, 2, 3, 4]
    assert found[1].asked == (2, 5)
    assert (found[1].net.classes(asked[:, [2, 5]]) == truth).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_network_answers_as_the_net_does(seed):
    """Whatever questions are kept, on rows with gaps and unseen words, too."""
    rng = np.random.default_rng(seed)
    words = ["a", "b", "c", "d", None]
    rows = [
        {
            "x": None if rng.random() < 0.2 else float(rng.integers(0, 50)),
            "y": int(rng.integers(0, 5)),
            "w": words[rng.integers(len(words))],
            "t": bool(rng.random() < 0.5),
        }
        for _ in range(120)
    ]
    truth = rng.integers(0, 2 + seed % 2, 120)
    truth[:3] = range(3) if seed % 2 else [0, 1, 0]
    n_classes = 2 + seed % 2
    targets = Targets.of_labels(truth, n_classes)
    columns = columns_of(rows, ["x", "y", "w", "t"], targets, 5)
    answers = answer_table(columns, rows)
    kept = np.flatnonzero(rng.random(answers.shape[1]) < 0.4)
    kept = kept if len(kept) else np.array([0])
    net = first_net(len(kept), 3, n_classes, rng)
    stage = rounded(Stage(tuple(kept.tolist()), net), answers)
    network = network_of(columns, stage, range(n_classes))
    asked = rows + [{**row, "w": "new"} for row in rows[:20]]
    expected = stage.net.classes(answer_table(columns, asked)[:, kept].astype(float))
    assert (network.predict(asked) == expected).all()
    assert (stage.net.classes(answers[:, kept]) == net.classes(answers[:, kept])).all()
