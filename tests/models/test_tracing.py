"""Steps of models, with numpy as the framework that runs them."""

import os
from importlib import import_module

import numpy as np
import pytest

from nn2rules import Domain, Feature, UnsupportedModelError
from nn2rules.models.tracing import OPERATIONS, Step, Trace, moved, operands_of, take

os.environ.setdefault("KERAS_BACKEND", "torch")

DOMAIN = Domain((Feature("a", (1, 2, 3)), Feature("b", (0, None))))


def side_by_side(*rows):
    return np.concatenate(rows, axis=1)


@pytest.fixture
def trace():
    return Trace(DOMAIN)


@pytest.fixture
def x(trace):
    """Return a number of each feature."""
    parts = [trace.table(0, [[1.0], [2.0], [3.0]]), trace.table(1, [[0.0], [5.0]])]
    return trace.rearrange(parts, side_by_side)


def step(kind, tensors, run):
    def read():
        raise UnsupportedModelError("features have met")

    return Step(kind, tuple(tensors), lambda arrays: [run(*arrays)], read)


@pytest.mark.parametrize(
    "place", ["torch.operations", "keras.layers", "onnx.operators"]
)
def test_every_readable_step_is_an_operation(place):
    pytest.importorskip(place.partition(".")[0])
    table = import_module(f"nn2rules.models.{place}").READABLE
    assert {kind for kind, _ in table.values()} <= OPERATIONS.keys() | {"each"}


def test_a_step_on_every_entry_is_run_on_the_values_of_each_feature(trace, x):
    [made] = take(trace, step("each", [x], np.exp))
    assert made.owners == (0, 1)
    assert made.tables[0].tolist() == np.exp([1.0, 2.0, 3.0]).tolist()
    assert made.tables[1].tolist() == np.exp([0.0, 5.0]).tolist()


def test_constants_may_make_a_tensor_wider(trace):
    a = trace.table(0, [[1.0], [2.0], [3.0]])
    [made] = take(trace, step("multiply", [a], lambda rows: rows * [10.0, 20.0]))
    assert made.owners == (0, 0)
    assert [table.tolist() for table in made.tables] == [[10, 20, 30], [20, 40, 60]]


def test_a_result_that_is_wider_in_front_keeps_its_features(trace, x):
    """Its last axis is that of the features, even where the first has the same size."""
    square = [[[0.0, 0.0], [10.0, 10.0]]]
    [made] = take(trace, step("add", [x], lambda rows: rows[:, None] + square))
    assert made.shape == (2, 2)
    assert made.owners == (0, 1, 0, 1)
    assert made.tables[2].tolist() == [11, 12, 13]


def test_constants_with_rows_of_their_own_are_refused(trace):
    a = trace.table(0, [[1.0], [2.0], [3.0]])
    with pytest.raises(UnsupportedModelError, match="combines rows of a batch"):
        take(trace, step("add", [a], lambda rows: np.zeros((1, 3, 3)) + rows))


def test_features_that_meet_are_not_run(trace, x):
    turned = trace.rearrange([x], lambda rows: rows[:, ::-1])
    with pytest.raises(UnsupportedModelError, match="features have met"):
        take(trace, step("multiply", [x, turned], np.multiply))


def test_any_step_on_one_feature_is_run(trace):
    a = trace.table(0, [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]])
    [made] = take(trace, step("", [a], lambda rows: np.cumsum(rows, axis=1)))
    assert [table.tolist() for table in made.tables] == [[1, 2, 3], [5, 7, 9]]


@pytest.mark.parametrize("run", [np.cumsum, np.flip, np.mean, np.sort])
def test_a_step_that_mixes_rows_is_refused(trace, run):
    a = trace.table(0, [[3.0], [2.0], [1.0]])
    with pytest.raises(UnsupportedModelError, match="combines rows of a batch"):
        take(trace, step("", [a], lambda rows: np.asarray(run(rows, axis=0))))


def refusing(number):
    def run(rows):
        if (rows == number).any():
            raise ValueError(f"no {number}. Really.\nSee the manual.")
        return rows

    return run


def test_the_value_that_a_step_cannot_take_is_named(trace, x):
    with pytest.raises(UnsupportedModelError, match=r"'a': .* value '2' \(no 2. Real"):
        take(trace, step("each", [x], refusing(2)))
    with pytest.raises(UnsupportedModelError, match=r"'b' has missing .* \(no 5"):
        take(trace, step("each", [x], refusing(5)))


def test_no_value_is_named_where_all_fail(trace):
    a = trace.table(0, [[4.0], [4.0], [4.0]])
    with pytest.raises(UnsupportedModelError, match=r"^it fails: no 4\. Really$"):
        take(trace, step("each", [a], refusing(4)))


def test_a_sigmoid_is_remembered(trace, x):
    [made] = take(trace, step("sigmoid", [x], lambda rows: 1 / (1 + np.exp(-rows))))
    assert made.ending.kind == "sigmoid"
    assert made.ending.scores is x
    with pytest.raises(UnsupportedModelError, match="features have met"):
        take(trace, step("subtract", [made], lambda rows: 1 - rows))
    [squared] = take(trace, step("each", [made], np.square))
    assert squared.ending is None


@pytest.mark.parametrize("rows", [1, 2])
def test_constants_may_have_the_batch_that_they_were_worked_out_for(trace, x, rows):
    [_, constant] = operands_of(trace, [x, np.full((rows, 2), 7.0)], batch=2)
    assert constant.value.tolist() == [7, 7]


@pytest.mark.parametrize(
    "array", [np.zeros((3, 2)), np.array([[1, 2], [1, 3]]), np.zeros((1, 1, 2))]
)
def test_constants_with_other_rows_are_refused(trace, x, array):
    with pytest.raises(UnsupportedModelError, match="combines rows of a batch"):
        operands_of(trace, [array, x], batch=2)


def test_moves_have_several_results(trace, x):
    found = moved(trace, [x], lambda rows: np.split(rows[0], 2, axis=1), 2)
    assert [tensor.owners for tensor in found] == [(0,), (1,)]


def test_a_softmax_of_parts_of_a_row_is_refused(trace, x):
    """Flattened, its shares would not be those of the classes."""
    pairs = trace.rearrange([x, x], lambda *rows: np.stack(rows, axis=1))
    with pytest.raises(UnsupportedModelError, match="over the last axis"):
        OPERATIONS["softmax"](trace, pairs, axis=-1)
    assert OPERATIONS["softmax"](trace, pairs, axis=None).ending.kind == "softmax"


@pytest.mark.parametrize("axes", [0, [0, 1], None, -2])
def test_sums_over_rows_are_refused(trace, x, axes):
    with pytest.raises(UnsupportedModelError, match="sums over the rows of a batch"):
        OPERATIONS["sum"](trace, x, axes=axes, keep=False)


@pytest.mark.parametrize("keep", [False, True])
def test_means(trace, x, keep):
    pairs = trace.rearrange([x, x, x], lambda *rows: np.stack(rows, axis=1))
    made = OPERATIONS["mean"](trace, pairs, axes=[-1], keep=keep)
    assert made.shape == ((3, 1) if keep else (3,))
    assert made.weights[:, 0].tolist() == [0.5, 1, 1.5, 0, 2.5]
