"""What the output of a model means, in every framework alike."""

import keras
import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from keras import layers, ops
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from sklearn.linear_model import LogisticRegression
from torch import nn

import nn2rules
from nn2rules import Domain, Feature, OptionError, UnsupportedModelError, read_network
from nn2rules.engine.table import fragile_margins
from nn2rules.network.certified import logit

DOMAIN = Domain(
    (Feature("a", tuple("abcd")), Feature("b", tuple("xyz")), Feature("c", (0, 1)))
)
CODES = np.concatenate(list(DOMAIN.inputs()))
ONE_HOT = np.eye(9, dtype=np.float32)[CODES + DOMAIN.offsets[:-1]].sum(axis=1)
WEIGHTS = np.random.default_rng(3).normal(size=(9, 3)).astype(np.float32) * 1.5
BIAS = np.array([-1.2, -0.3, 0.4], np.float32)

ASKED = {
    "clamped": lambda f, z: f.clip(f.sigmoid(z), 0.01, 0.99),
    "hard sigmoid": lambda f, z: f.hard_sigmoid(z),
    "half of tanh": lambda f, z: (f.tanh(z) + 1.0) / 2.0,
    "mean of sigmoids": lambda f, z: (f.sigmoid(z) + f.sigmoid(z * 0.5 + 0.7)) * 0.5,
    "smoothed": lambda f, z: f.sigmoid(z) * 0.9 + 0.05,
    "shrunk": lambda f, z: f.sigmoid(z) * 0.7,
    "stretched": lambda f, z: f.sigmoid(z) * 1.5,
    "regression": lambda _f, z: z * 1.0,
    "rectified": lambda f, z: f.relu(z),
}
"""Endings that could be a probability, a score or a number."""

KNOWN = {
    "sigmoid": lambda f, z: f.sigmoid(z),
    "complement": lambda f, z: 1.0 - f.sigmoid(z),
    "complement twice": lambda f, z: 1.0 - (1.0 - f.sigmoid(z)),
    "of one temperature": lambda f, z: f.sigmoid(z) * 1.0,
    "cooled": lambda f, z: f.sigmoid(z / 2.5),
    "sigmoid twice": lambda f, z: f.sigmoid(f.sigmoid(z) - 0.4),
}
"""Endings that are a probability, and say so."""


class TorchSteps:
    """The steps of endings, in PyTorch."""

    sigmoid, tanh, relu = torch.sigmoid, torch.tanh, torch.relu
    hard_sigmoid = nn.functional.hardsigmoid
    clip = torch.clamp


class KerasSteps:
    """The same in Keras."""

    sigmoid, tanh, relu, hard_sigmoid = (
        ops.sigmoid,
        ops.tanh,
        ops.relu,
        ops.hard_sigmoid,
    )
    clip = ops.clip


class Node:
    """The same in ONNX: a tensor that knows how to be computed with."""

    def __init__(self, graph, name):
        self.graph, self.name = graph, name

    def step(self, op, *inputs, **options):
        """Add a node."""
        name = f"t{len(self.graph)}"
        self.graph.append(helper.make_node(op, list(inputs), [name], **options))
        return Node(self.graph, name)

    def constant(self, number):
        """Add a constant."""
        array = numpy_helper.from_array(np.float32(number))
        return self.step("Constant", value=array)

    def _with(self, op, other, *, swapped=False):
        if not isinstance(other, Node):
            other = self.constant(other)
        names = (self.name, other.name)
        return self.step(op, *(names[::-1] if swapped else names))

    def __add__(self, other):
        return self._with("Add", other)

    def __mul__(self, other):
        return self._with("Mul", other)

    def __truediv__(self, other):
        return self._with("Div", other)

    def __sub__(self, other):
        return self._with("Sub", other)

    def __rsub__(self, other):
        return self._with("Sub", other, swapped=True)


class OnnxSteps:
    """The steps of endings, in ONNX."""

    @staticmethod
    def clip(z, low, high):
        """Cut off."""
        return z.step("Clip", z.name, z.constant(low).name, z.constant(high).name)

    hard_sigmoid = staticmethod(
        lambda z: z.step("HardSigmoid", z.name, alpha=1 / 6, beta=0.5)
    )
    relu = staticmethod(lambda z: z.step("Relu", z.name))
    sigmoid = staticmethod(lambda z: z.step("Sigmoid", z.name))
    tanh = staticmethod(lambda z: z.step("Tanh", z.name))


def in_torch(ending, outputs=1):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(9, outputs)

        def forward(self, x):
            return ending(TorchSteps, self.linear(x))

    model = Model().eval()
    with torch.no_grad():
        model.linear.weight.copy_(torch.from_numpy(WEIGHTS[:, :outputs].T))
        model.linear.bias.copy_(torch.from_numpy(BIAS[:outputs]))
        return model, model(torch.from_numpy(ONE_HOT)).numpy()


def in_keras(ending, outputs=1):
    x = keras.Input((9,))
    dense = layers.Dense(outputs)
    model = keras.Model(x, ending(KerasSteps, dense(x)))
    dense.set_weights([WEIGHTS[:, :outputs], BIAS[:outputs]])
    return model, ops.convert_to_numpy(model(ONE_HOT))


def in_onnx(ending, outputs=1):
    graph = []
    z = Node(graph, "x").step("Gemm", "x", "W", "B")
    y = ending(OnnxSteps, z)
    made = helper.make_graph(
        graph,
        "ending",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 9])],
        [helper.make_tensor_value_info(y.name, TensorProto.FLOAT, [None, outputs])],
        [
            numpy_helper.from_array(WEIGHTS[:, :outputs].copy(), "W"),
            numpy_helper.from_array(BIAS[:outputs].copy(), "B"),
        ],
    )
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(made, opset_imports=opset, ir_version=8)
    [found] = ReferenceEvaluator(model).run(None, {"x": ONE_HOT})
    return model, found


FRAMEWORKS = {"torch": in_torch, "keras": in_keras, "onnx": in_onnx}
framework = pytest.mark.parametrize("made", FRAMEWORKS.values(), ids=FRAMEWORKS)


def check(network, theirs, limit, most=0.9):
    """Compare the rules of a network with what a user of the model answers."""
    rules = nn2rules.extract(network, form="rules")
    answers, rows = network.predict_codes(CODES), DOMAIN.decode(CODES)
    assert rules.predict(rows).tolist() == network.predict(rows).tolist()
    sure = np.abs(theirs - limit) > 1e-5
    assert sure.mean() > most
    assert answers[sure].tolist() == (theirs > limit)[sure].astype(int).tolist()


@framework
@pytest.mark.parametrize("name", ASKED)
def test_an_output_that_could_be_anything_is_asked_about(name, made):
    model, theirs = made(ASKED[name])
    with pytest.raises(UnsupportedModelError, match="give output='score'"):
        read_network(model, domain=DOMAIN)
    if name != "regression":
        with pytest.raises(UnsupportedModelError, match="give output='score'"):
            read_network(model, domain=DOMAIN, classes=("no", "yes"))
    for threshold in (0.5, 0.3):
        options = {"output": "probability", "threshold": threshold}
        network = read_network(model, domain=DOMAIN, **options)
        check(network, theirs[:, 0], threshold)
    most = 0.3 if name in ("rectified", "hard sigmoid") else 0.9
    network = read_network(model, domain=DOMAIN, output="score")
    check(network, theirs[:, 0], 0.0, most)


@framework
@pytest.mark.parametrize("name", KNOWN)
def test_a_sigmoid_at_the_end_is_a_probability(name, made):
    model, theirs = made(KNOWN[name])
    for threshold in (0.5, 0.3, 0.57):
        network = read_network(model, domain=DOMAIN, threshold=threshold)
        check(network, theirs[:, 0], threshold)
        said = read_network(
            model, domain=DOMAIN, threshold=threshold, output="probability"
        )
        assert said == network
    with pytest.raises(OptionError, match="ends in a sigmoid"):
        read_network(model, domain=DOMAIN, output="score")


@framework
def test_classes_say_that_an_output_of_both_signs_is_a_score(made):
    model, theirs = made(ASKED["regression"])
    assert theirs.min() < 0 < theirs.max()
    network = read_network(model, domain=DOMAIN, classes=("no", "yes"))
    check(network, theirs[:, 0], 0.0)
    assert network.classes == ("no", "yes")


@framework
@pytest.mark.parametrize(
    "name", ["clamped", "hard sigmoid", "half of tanh", "smoothed"]
)
def test_several_outputs_between_0_and_1_may_be_several_questions(name, made):
    model, theirs = made(ASKED[name], 3)
    with pytest.raises(UnsupportedModelError, match=r"multi-label.* output='score'"):
        read_network(model, domain=DOMAIN, classes=("a", "b", "c"))
    network = read_network(model, domain=DOMAIN, output="score")
    ranked = np.sort(theirs, axis=1)
    sure = ranked[:, -1] - ranked[:, -2] > 1e-5
    assert sure.mean() > 0.3
    answers = network.predict_codes(CODES)
    assert answers[sure].tolist() == theirs.argmax(axis=1)[sure].tolist()


@framework
def test_several_scores_are_those_of_classes(made):
    model, theirs = made(ASKED["regression"], 3)
    network = read_network(model, domain=DOMAIN)
    assert network.predict_codes(CODES).tolist() == theirs.argmax(axis=1).tolist()
    with pytest.raises(OptionError, match="leave out `threshold`"):
        read_network(model, domain=DOMAIN, threshold=0.7)


RUN_BY = {"torch": torch.__version__, "keras": keras.__version__}


@framework
def test_the_certificate_says_what_the_output_was_taken_for(made):
    model, _ = made(KNOWN["sigmoid"])
    found = read_network(model, domain=DOMAIN, threshold=0.3).origin
    assert found["output"] == "a probability: the second class above 0.3"
    assert found["version"] == RUN_BY.get(found["framework"], onnx.__version__)
    if found["framework"] == "onnx":
        assert found["run_by"] == f"onnxruntime {onnxruntime.__version__}"
    model, _ = made(ASKED["regression"])
    found = read_network(model, domain=DOMAIN, output="score")
    assert found.origin["output"] == "a score: the second class above 0"
    assert nn2rules.extract(found, form="rules").certificate["model"] == found.origin
    model, _ = made(ASKED["regression"], 3)
    found = read_network(model, domain=DOMAIN).origin
    assert found["output"] == "a score for each class: the largest wins"


def test_onnx_without_onnxruntime_says_what_answered(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    model, _ = in_onnx(KNOWN["sigmoid"])
    found = read_network(model, domain=DOMAIN).origin
    assert found["run_by"] == f"onnx.reference {onnx.__version__}"


def test_pairs_of_shares_in_either_order():
    for order in ((0, 1), (1, 0)):

        def ending(f, z, order=order):
            share = f.sigmoid(z)
            parts = [1 - share, share]
            return torch.cat([parts[i] for i in order], dim=1)

        model, theirs = in_torch(ending)
        network = read_network(model, domain=DOMAIN)
        assert network.predict_codes(CODES).tolist() == theirs.argmax(axis=1).tolist()
        network = read_network(model, domain=DOMAIN, threshold=0.8)
        check(network, theirs[:, 1], 0.8)


LOSSES = {
    "mean_squared_error": "trained with a regression loss",
    "mse": "trained with a regression loss",
    "huber": "trained with a regression loss",
    "binary_crossentropy": "without a sigmoid",
}


def test_a_loss_says_what_an_output_is():
    model, theirs = in_keras(ASKED["regression"])
    for loss, message in LOSSES.items():
        model.compile(loss=loss)
        with pytest.raises(UnsupportedModelError, match=message):
            read_network(model, domain=DOMAIN)
    model.compile(loss=keras.losses.MeanSquaredError())
    with pytest.raises(UnsupportedModelError, match="trained with a regression loss"):
        read_network(model, domain=DOMAIN, classes=("no", "yes"))
    model.compile(loss=keras.losses.BinaryCrossentropy(from_logits=True))
    check(read_network(model, domain=DOMAIN), theirs[:, 0], 0.0)
    model, theirs = in_keras(ASKED["regression"], 3)
    model.compile(loss=["mse"])
    with pytest.raises(UnsupportedModelError, match="predict 3 numbers"):
        read_network(model, domain=DOMAIN)
    assert read_network(model, domain=DOMAIN, classes=tuple("abc")).classes == tuple(
        "abc"
    )


def test_logarithms_of_a_probability_are_no_scores():
    model, _ = in_torch(lambda _f, z: nn.functional.logsigmoid(z))
    with pytest.raises(UnsupportedModelError, match="output='score'"):
        read_network(model, domain=DOMAIN, classes=("no", "yes"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"output": "logit"}, "output: 'logit', expected 'score'"),
        ({"threshold": 1}, "threshold: 1, expected a number between 0 and 1"),
        ({"threshold": "half"}, "threshold: 'half'"),
        ({"threshold": np.nan}, "threshold: nan"),
    ],
)
def test_options_are_checked_before_any_work(options, message):
    with pytest.raises(OptionError, match=message):
        read_network(None, **options)


def test_a_threshold_of_any_number_type():
    model, theirs = in_torch(KNOWN["sigmoid"])
    threshold = np.float32(0.3)
    network = read_network(model, domain=DOMAIN, threshold=threshold)
    assert network.threshold == float(threshold)
    check(network, theirs[:, 0], float(threshold))


# Fragile inputs ----------------------------------------------------------------------


STEPS = np.arange(-600, 601)
LINE = Domain((Feature("x", tuple(STEPS.tolist())),))
THRESHOLDS = (0.5, 0.999, 0.001, 0.99999, 1 - 1e-7, 1 - 1e-9, 1e-8)


def near(threshold, dtype):
    """Return a model of one number whose scores lie close to a threshold."""
    limit = np.log(threshold) - np.log1p(-threshold)
    unit = np.finfo(dtype).eps / 2
    model = nn.Sequential(nn.Linear(1, 1), nn.Sigmoid())
    model = model.to(torch.float32 if dtype == np.float32 else torch.float64)
    with torch.no_grad():
        model[0].weight.fill_(unit / min(threshold, 1 - threshold) / 50)
        model[0].bias.fill_(limit)
    return model.eval()


def fragile(network):
    """Tell which inputs are fragile, by the model's own rounding."""
    margin = fragile_margins(network)["model"]
    scores = network.scores(network.domain.decode(np.arange(len(STEPS))[:, None]))
    if network.is_binary:
        return np.abs(scores - logit(network.threshold)) <= margin
    ranked = np.sort(scores, axis=1)
    return ranked[:, -1] - ranked[:, -2] <= margin


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_a_share_that_is_rounded_over_the_threshold_is_fragile(threshold, dtype):
    model = near(threshold, dtype)
    network = read_network(model, domain=LINE, threshold=threshold)
    with torch.no_grad():
        theirs = model(torch.from_numpy(STEPS[:, None].astype(dtype))).numpy()[:, 0]
    ours = network.predict_codes(np.arange(len(STEPS))[:, None])
    differ = [(theirs > limit) != ours for limit in (threshold, dtype(threshold))]
    if threshold >= 0.5 and dtype == np.float32:  # else small shares are precise
        assert (differ[0] | differ[1]).any()
    assert fragile(network)[differ[0] | differ[1]].all()
    found = nn2rules.extract(network, form="rules").certificate["fragile"]
    assert found["model"] == fragile(network).sum()


@pytest.mark.parametrize("ending", [nn.Softmax(1), nn.LogSoftmax(1)])
def test_shares_that_are_rounded_to_equal_ones_are_fragile(ending):
    model = nn.Sequential(nn.Linear(1, 3), ending).eval()
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[0.0], [2e-10], [-1e-10]]))
        model[0].bias.copy_(torch.tensor([0.0, 0.0, -30.0]))
        theirs = model(torch.from_numpy(STEPS[:, None]).float()).argmax(dim=1).numpy()
    network = read_network(model, domain=LINE)
    ours = network.predict_codes(np.arange(len(STEPS))[:, None])
    assert (theirs != ours).sum() > 100
    assert fragile(network)[theirs != ours].all()


@pytest.mark.parametrize("threshold", [0.5, 0.999, 0.001, 1 - 1e-12])
def test_what_scikit_learn_rounds_is_fragile(threshold):
    limit, unit = logit(threshold), 2.0**-53
    model = LogisticRegression()
    model.classes_, model.n_features_in_ = np.array([0, 1]), 1
    model.coef_ = np.array([[unit / min(threshold, 1 - threshold) / 50]])
    model.intercept_ = np.array([limit])
    network = read_network(model, domain=LINE, threshold=threshold)
    theirs = model.predict_proba(STEPS[:, None])[:, 1] > threshold
    if threshold == 0.5:
        theirs = model.predict(STEPS[:, None]) == 1
    ours = network.predict_codes(np.arange(len(STEPS))[:, None])
    assert fragile(network)[theirs != ours].all()


def test_far_from_the_decision_nothing_is_fragile():
    model, _ = in_torch(KNOWN["sigmoid"])
    for threshold in (0.5, 0.9, 0.999):
        network = read_network(model, domain=DOMAIN, threshold=threshold)
        assert (
            nn2rules.extract(network, form="rules").certificate["fragile"]["model"] == 0
        )
