import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils import prune

import nn2rules
from nn2rules import Domain, Feature, OptionError, UnsupportedModelError
from nn2rules import read_network as read
from strategies import domains

ACTIVATIONS = {
    "relu": nn.ReLU,
    "relu in place": lambda: nn.ReLU(inplace=True),
    "leaky": lambda: nn.LeakyReLU(0.1),
    "prelu": lambda: nn.PReLU(init=0.3),
    "rrelu": nn.RReLU,
    "sigmoid": nn.Sigmoid,
    "tanh": nn.Tanh,
    "hardtanh": nn.Hardtanh,
    "other hardtanh": lambda: nn.Hardtanh(-0.5, 2.0),
    "relu6": nn.ReLU6,
    "hardsigmoid": nn.Hardsigmoid,
    "elu": nn.ELU,
    "celu": lambda: nn.CELU(0.7),
    "softplus": nn.Softplus,
    "steep softplus": lambda: nn.Softplus(beta=3.0),
    "silu": nn.SiLU,
    "gelu": nn.GELU,
    "logsigmoid": nn.LogSigmoid,
    "identity": nn.Identity,
}


def read_scores(model, **options):
    """Read a model that ends in a score, without a sigmoid."""
    return read(model, output="score", **options)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Train on one thread: the networks are small, and other tests run meanwhile."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def one_hot(domain, codes, dtype):
    columns = codes + domain.offsets[:-1]
    made = np.zeros((len(codes), int(domain.offsets[-1])))
    np.put_along_axis(made, columns, 1.0, axis=1)
    return torch.from_numpy(made).to(dtype)


def all_codes(domain):
    return np.concatenate(list(domain.inputs()))


def settled(network, scores):
    """Tell which inputs are decided whatever the model rounds."""
    if network.is_binary:
        limit = np.log(network.threshold / (1 - network.threshold))
        return np.abs(scores - limit) > network.model_error
    best = np.sort(scores, axis=1)
    return best[:, -1] - best[:, -2] > 2 * network.model_error


def check(network, codes, theirs, *, is_score=True, most=0.9):
    """Compare a network with the model's own scores or shares, on given inputs."""
    theirs = theirs.detach().double().numpy()
    theirs = theirs.reshape(len(theirs), -1)
    if network.is_binary:
        theirs = theirs[:, -1]
    ours = network.scores_codes(codes)
    assert network.model_error is not None
    if is_score:
        assert (np.abs(ours - theirs) <= network.model_error).all()
        answers = theirs > 0 if network.is_binary else theirs.argmax(axis=1)
    else:
        answers = theirs > 0.5 if network.is_binary else theirs.argmax(axis=1)
    sure = settled(network, ours)
    assert sure.mean() >= most
    found = network.predict_codes(codes)
    assert (found[sure] == answers[sure].astype(int)).all()


def randomized(model, scale=1.0):
    """Give a model random weights and running statistics; return it ready to answer."""
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if tensor.dtype.is_floating_point and "PReLU" not in name:
            with torch.no_grad():
                noise = torch.randn(tensor.shape, dtype=torch.float64) * scale
                noise = noise.abs() + 0.1 if name.endswith("running_var") else noise
                tensor.copy_(noise)
    return model.eval()


def trained(model, inputs, targets, epochs=3, batch=64):
    """Train a model a little; the last batch of an epoch may be smaller."""
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    model.train()
    for _ in range(epochs):
        order = torch.randperm(len(targets))
        for start in range(0, len(order) - 1, batch):
            rows = order[start : start + batch]
            scores = model(*(x[rows] for x in inputs))
            if scores.ndim == 1 or scores.shape[1] == 1:
                loss = F.binary_cross_entropy_with_logits(
                    scores.reshape(-1), targets[rows].float()
                )
            else:
                loss = F.cross_entropy(scores, targets[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return model.eval()


# Random networks ---------------------------------------------------------------------


@st.composite
def sequentials(draw, width):
    """Draw a small network with activations, normalisation and dropout."""
    kind = draw(st.sampled_from(sorted(ACTIVATIONS)))
    norm, dropout = draw(st.booleans()), draw(st.booleans())
    outputs = draw(st.sampled_from([1, 2, 3]))
    steps = [nn.BatchNorm1d(width)] if norm and draw(st.booleans()) else []
    for units in draw(st.lists(st.integers(1, 5), min_size=0, max_size=3)):
        steps.append(nn.Linear(width, units, bias=draw(st.booleans())))
        steps += [nn.BatchNorm1d(units)] if norm else []
        steps += [nn.Dropout(0.5), nn.AlphaDropout(0.2)] if dropout else []
        steps.append(ACTIVATIONS[kind]())
        width = units
    return nn.Sequential(*steps, nn.Linear(width, outputs), nn.Flatten())


def fit_a_frame(domain):
    """Tell whether a frame can hold the values: it has one type for all numbers."""
    return all(
        not isinstance(value, int) or abs(value) < 2**53
        for feature in domain.features
        for value in feature.values
    )


@given(st.data())
@settings(max_examples=250)
def test_random_networks(data):
    domain = data.draw(domains(max_inputs=60, max_features=4).filter(fit_a_frame))
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64]))
    torch.manual_seed(data.draw(st.integers(0, 1000)))
    model = data.draw(sequentials(int(domain.offsets[-1])))
    scale = data.draw(st.sampled_from([0.3, 1.0, 4.0]))
    model = randomized(model.to(dtype), scale)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    network = read_scores(model, domain=domain)
    codes = all_codes(domain)
    with torch.no_grad():
        check(network, codes, model(one_hot(domain, codes, dtype)), most=0)
    after = model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    outputs = model[-2].out_features
    assert network.classes == tuple(range(max(outputs, 2)))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_activation(name):
    """On sums of features, on one feature, and on numbers before the first layer."""
    torch.manual_seed(3)
    domain = Domain([Feature("a", [-9.0, -0.7, 0.2, 30.0]), Feature("b", [-2, 0, 1])])
    codes = all_codes(domain)
    rows = domain.decode(codes)
    x = torch.tensor([[row["a"], row["b"]] for row in rows], dtype=torch.float64)
    for steps in (
        [nn.Linear(2, 6), ACTIVATIONS[name](), nn.Linear(6, 1)],
        [ACTIVATIONS[name](), nn.Linear(2, 4), ACTIVATIONS[name](), nn.Linear(4, 2)],
    ):
        for dtype in (torch.float32, torch.float64):
            model = randomized(nn.Sequential(*steps).to(dtype))
            with torch.no_grad():
                theirs = model(x.to(dtype))
            check(read_scores(model, domain=domain), codes, theirs)


def test_rounding_of_one_feature_is_bounded():
    """What cancels before an activation leaves more than the rounding of the result."""
    torch.manual_seed(0)
    domain = Domain([Feature("a", [2.0, 2.0003, 1.9996])])
    codes = all_codes(domain)

    def encode(rows):
        return np.outer(rows["a"], np.linspace(1, 2, 8))

    x = torch.tensor(encode({"a": list(domain.features[0].values)}))
    for name in ("relu", "tanh", "silu"):
        model = nn.Sequential(nn.Linear(8, 4), ACTIVATIONS[name](), nn.Linear(4, 1))
        randomized(model)
        with torch.no_grad():
            model[0].weight *= 100.0
            model[0].bias -= model[0].weight @ x[0].float()
            theirs = model(x.float())
        check(read_scores(model, domain=domain, encode=encode), codes, theirs, most=0)
        exact = model.double()(x.float().double()).detach()
        assert (exact - theirs).abs().max() > 1e-5


def test_options_of_batch_normalisation():
    torch.manual_seed(0)
    codes, x = numbers()
    for options in ({"eps": 0.3}, {"affine": False}):
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4, **options))
        model = randomized(nn.Sequential(model, nn.ReLU(), nn.Linear(4, 1)))
        with torch.no_grad():
            check(read_scores(model, domain=FEATURES), codes, model(x.float()))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_short_formats(dtype):
    torch.manual_seed(0)
    domain = Domain([Feature("a", list("abc")), Feature("b", list("de"))])
    model = randomized(nn.Sequential(nn.Linear(5, 3), nn.ReLU(), nn.Linear(3, 1)), 0.5)
    network = read_scores(model.to(dtype), domain=domain)
    codes = all_codes(domain)
    check(network, codes, model(one_hot(domain, codes, dtype)), most=0)
    assert network.model_error > 2.0**-11


# Ways to write a model ---------------------------------------------------------------

FEATURES = Domain(
    [Feature("a", [0, 1, 2]), Feature("b", [0, 1, 2, 3]), Feature("c", [0, 1])]
)


def numbers(domain=FEATURES):
    codes = all_codes(domain)
    rows = domain.decode(codes)
    return codes, torch.tensor([list(row.values()) for row in rows])


class Written(nn.Module):
    """A module whose forward is a function."""

    def __init__(self, forward, **parts):
        super().__init__()
        self.function = forward
        for name, part in parts.items():
            if isinstance(part, torch.Tensor):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)

    def forward(self, x):  # noqa: D102
        return self.function(self, x)


def lin(*sizes):
    return nn.Linear(*sizes)


WEIGHTS = torch.linspace(-1, 1, 12).reshape(3, 4)

WRITTEN = {
    "functional": lambda m, x: m.two(F.relu(m.one(x.float()))),
    "torch": lambda m, x: m.two(torch.relu(m.one(x.to(torch.float32)))),
    "method": lambda m, x: m.two(m.one(x.float()).relu()),
    "in place": lambda m, x: m.two(m.one(x.float()).relu_()),
    "in place and used": lambda m, x: (
        lambda h: m.two(torch.relu_(h) + 0 * h) + m.two(h)
    )(m.one(x.float())),
    "tanh": lambda m, x: m.two(torch.tanh(m.one(x.float()))),
    "sigmoid": lambda m, x: m.two(F.sigmoid(m.one(x.float()))),
    "leaky": lambda m, x: m.two(F.leaky_relu(m.one(x.float()), 0.3)),
    "clamp": lambda m, x: m.two(torch.clamp(m.one(x.float()), -0.4, 1.5)),
    "clamp below": lambda m, x: m.two(m.one(x.float()).clamp(min=0.25)),
    "clamp above": lambda m, x: m.two(m.one(x.float()).clamp(max=0.25)),
    "abs": lambda m, x: m.two(m.one(x.float()).abs()),
    "residual": lambda m, x: (lambda h: m.two(h + torch.relu(m.inner(h))))(
        torch.relu(m.one(x.float()))
    ),
    "iadd": lambda m, x: m.two(_iadd(torch.relu(m.one(x.float())), m.inner)),
    "signed residual": lambda m, x: (lambda h: m.two(h + torch.relu(m.inner(h))))(
        m.one(x.float())
    ),
    "deep residual": lambda m, x: m.two(
        m.one(x.float()) + m.inner(torch.relu(m.inner(torch.relu(m.one(x.float())))))
    ),
    "wide and deep": lambda m, x: (
        m.two(torch.relu(m.one(x.float()))) + m.wide(x.float())
    ),
    "joined": lambda m, x: m.joined(
        torch.cat([x.float(), torch.relu(m.one(x.float()))], dim=-1)
    ),
    "matmul": lambda m, x: m.two(torch.relu(x.float() @ m.weights)),
    "vector": lambda m, x: torch.relu(x.float() @ m.weights) @ m.vector + 0.07,
    "addmm": lambda m, x: m.two(torch.addmm(m.vector, x.float(), m.weights).relu()),
    "linear": lambda m, x: m.two(F.linear(x.float(), m.weights.t(), m.vector).relu()),
    "scaled": lambda m, x: m.two(
        torch.relu(2 * m.one((x.float() - m.mean) / m.deviation) / 3 - m.vector)
    ),
    "minus": lambda m, x: 1 - m.two(torch.relu(-m.one(x.float()))),
    "rsub": lambda m, x: torch.rsub(m.wide(x.float()), m.factor),
    "alpha": lambda m, x: torch.add(m.wide(x.float()), m.wide(x.float()), alpha=2.0),
    "two inputs": lambda m, x: m.two(
        torch.relu(m.one(x.float()) - m.one(torch.flip(x.float(), [0 + 1])))
    ),
    "slices": lambda m, x: m.two(
        torch.relu(m.one(torch.cat([x[:, 1:], x[:, :1]], 1).float()))
    ),
    "split": lambda m, x: m.two(
        torch.relu(m.one(torch.cat(tuple(reversed(x.split([1, 2], 1))), 1).float()))
    ),
    "chunks": lambda m, x: m.two(torch.cat(m.one(x.float()).relu().chunk(2, 1), 1)),
    "stack": lambda m, x: m.two(
        m.one(torch.stack([x[:, 0], x[:, 1], x.select(1, 2)], 1).float()).relu()
    ),
    "unbind": lambda m, x: m.two(
        m.one(torch.stack([x.unbind(1)[i] for i in (2, 1, 0)], -1).float()).relu()
    ),
    "shapes": lambda m, x: m.two(
        m.one(x.view(x.shape[0], 3, 1).permute(0, 2, 1).squeeze(1).float())
        .relu()
        .reshape(x.size(0), 2, 2)
        .transpose(1, 2)
        .flatten(1)
    ),
    "constant column": lambda m, x: m.joined4(
        torch.cat([x.float(), torch.ones(x.shape[0], 1)], 1)
    ),
    "expanded": lambda m, x: m.joined(
        torch.cat([x.float(), m.vector.expand(x.shape[0], -1)], 1)
    ),
    "squeezed": lambda m, x: m.two(torch.relu(m.one(x.float()))).squeeze(-1),
    "powers": lambda m, x: m.two(
        torch.relu(m.one(torch.log1p(x.float()) + x.float() ** 2 * 0.5))
    ),
    "where": lambda m, x: m.two(
        torch.relu(m.one(torch.where(x > 1, x * 2, x - m.steps).float()))
    ),
    "own product": lambda m, x: m.wide((x * (x - 1)).float()),
    "one-hot": lambda m, x: m.coded(F.one_hot(x[:, 1].long(), 4).float()),
    "all one-hot": lambda m, x: m.all(F.one_hot(x.long(), 4).flatten(1).float()),
    "embedded": lambda m, x: m.two(m.table(x[:, 1])),
    "stacked tables": lambda m, x: m.all(
        torch.cat(
            [m.table(x).flatten(1), torch.zeros(len(WEIGHTS) * 0 + x.shape[0], 0)], 1
        )
    ),
    "offsets": lambda m, x: m.all(m.tables(x + m.offsets).flatten(1)),
    "sum of tables": lambda m, x: m.two(m.tables(x + m.offsets).sum(dim=1).relu()),
    "mean of tables": lambda m, x: m.two(m.tables(x + m.offsets).mean(1).relu()),
    "bag": lambda m, x: m.two(m.bag(x + m.offsets).relu()),
    "normed table": lambda m, x: (
        m.two(m.norm(m.table(x[:, 0]))) + m.two(m.table(x[:, 1]))
    ),
    "per feature": lambda m, x: m.joined8(
        torch.cat(
            [
                torch.tanh(m.alone(x[:, :1].float())),
                torch.relu(m.alone(x[:, 1:2].float())),
            ],
            1,
        )
    ),
    "float dropout": lambda m, x: m.two(F.dropout(m.one(x.float()), 0.5, m.training)),
    "scalar": lambda m, x: (m.two(m.one(x.float()).relu()) * m.factor)[..., 0],
    "sigmoid layer and shares": lambda m, x: m.two(m.one(x.float()).sigmoid()),
}


def _iadd(h, inner):
    h += torch.relu(inner(h))
    return h


def names_in(code):
    """Return the names that a function uses, those of functions in it included."""
    inner = [c for c in code.co_consts if hasattr(c, "co_names")]
    return set(code.co_names).union(*map(names_in, inner))


def written(name, outputs=1):
    torch.manual_seed(5)
    parts = {
        "one": lin(3, 4),
        "two": lin(4, outputs),
        "wide": lin(3, outputs),
        "inner": lin(4, 4),
        "joined": lin(7, outputs),
        "joined4": lin(4, outputs),
        "joined8": lin(8, outputs),
        "coded": lin(4, outputs),
        "all": lin(12, outputs),
        "alone": lin(1, 4),
        "table": nn.Embedding(4, 4),
        "tables": nn.Embedding(9, 4),
        "bag": nn.EmbeddingBag(9, 4, mode="mean"),
        "norm": nn.LayerNorm(4),
        "weights": WEIGHTS,
        "vector": torch.tensor([0.3, -0.2, 0.1, 0.4]),
        "mean": torch.tensor([1.0, 1.5, 0.5]),
        "deviation": torch.tensor([0.8, 1.1, 0.5]),
        "offsets": torch.tensor([0, 3, 7]),
        "steps": torch.tensor([1, 0, 2]),
        "factor": nn.Parameter(torch.tensor(1.7)),
    }
    words = names_in(WRITTEN[name].__code__)
    used = {key: part for key, part in parts.items() if key in words}
    return Written(WRITTEN[name], **used).eval()


@pytest.mark.parametrize("name", WRITTEN)
def test_ways_to_write(name):
    model = written(name)
    codes, x = numbers()
    is_integer = any(word in name for word in ("embedded", "tables", "offsets", "bag"))
    is_integer |= "normed" in name
    with torch.no_grad():
        theirs = model(x if is_integer else x.float())
    network = read_scores(model, domain=FEATURES, encode=to_matrix)
    # A feature that the model does not look at stays: the domain was given.
    assert network.domain == FEATURES
    check(network, codes, theirs)


def to_matrix(rows):
    return rows[["a", "b", "c"]].to_numpy()


@pytest.mark.parametrize("name", ["shapes", "tanh", "wide and deep", "one-hot"])
def test_without_encode(name):
    model = written(name)
    codes, x = numbers()
    with torch.no_grad():
        theirs = model(x.float())
    check(read_scores(model, domain=FEATURES), codes, theirs)


def pair(m, x):
    share = torch.sigmoid(m.wide(x.float()))
    return torch.cat([1 - share, share], 1)


ENDINGS = {
    "softmax": (3, lambda m, x: torch.softmax(m.wide(x.float()), dim=1)),
    "softmax of two": (2, lambda m, x: F.softmax(m.wide(x.float()), dim=-1)),
    "softmax method": (4, lambda m, x: m.wide(x.float()).softmax(-1)),
    "log softmax": (3, lambda m, x: F.log_softmax(m.wide(x.float()), dim=1)),
    "sigmoid": (1, lambda m, x: torch.sigmoid(m.wide(x.float()))),
    "squeezed sigmoid": (1, lambda m, x: m.wide(x.float()).sigmoid().squeeze(1)),
    "pair": (1, pair),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_endings(name):
    outputs, forward = ENDINGS[name]
    torch.manual_seed(1)
    model = Written(forward, wide=lin(3, outputs)).eval()
    codes, x = numbers()
    network = read(model, domain=FEATURES)
    with torch.no_grad():
        check(network, codes, model(x), is_score=False)
        scores = model.wide(x.float()).double().numpy()
    ours = network.scores_codes(codes).reshape(len(codes), -1)
    assert np.abs(ours - scores).max() <= network.model_error
    assert network.classes == tuple(range(max(outputs, 2)))


def test_a_flipped_softmax_is_not_taken_for_a_plain_one():
    model = Written(
        lambda m, x: m.wide(x.float()).softmax(1).flip(1), wide=lin(3, 3)
    ).eval()
    with pytest.raises(
        UnsupportedModelError, match=("selects or reorders results of a softmax")
    ):
        read(model, domain=FEATURES)


def test_threshold():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1), nn.Sigmoid())
    model = randomized(model)
    codes, x = numbers()
    network = read(model, domain=FEATURES, threshold=0.8, classes=("no", "yes"))
    sure = settled(network, network.scores_codes(codes))
    answers = np.where(model(x.float()).detach().numpy()[:, 0] > 0.8, "yes", "no")
    assert (network.predict(network.domain.decode(codes))[sure] == answers[sure]).all()
    assert 0 < (answers == "yes").sum() < len(answers)
    assert sure.mean() > 0.9


# Several inputs ----------------------------------------------------------------------


class Tabular(nn.Module):
    """The usual network on a table: embeddings next to normed numbers."""

    def __init__(self, sizes, n_numbers, outputs=1, width=3, units=8):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(n, width) for n in sizes)
        self.norm = nn.BatchNorm1d(n_numbers) if n_numbers else None
        self.layers = nn.Sequential(
            nn.Linear(width * len(sizes) + n_numbers, units),
            nn.BatchNorm1d(units),
            nn.ReLU(inplace=True),
            nn.Dropout(0.2),
            nn.Linear(units, units),
            nn.ReLU(),
            nn.Linear(units, outputs),
        )

    def forward(self, categories, numbers=None):  # noqa: D102
        parts = [table(categories[:, i]) for i, table in enumerate(self.embeddings)]
        if self.norm is not None:
            parts.append(self.norm(numbers))
        return self.layers(torch.cat(parts, dim=1))


class TabularWithNumbers(Tabular):
    """The same, with numbers that must be given."""

    def forward(self, categories, numbers):  # noqa: D102
        return super().forward(categories, numbers)


PEOPLE = {
    "job": ["none", "clerk", "farmer", "nurse", "pilot"],
    "region": ["north", "south", "west"],
    "age": [20.0, 30.0, 40.0, 50.0, 65.0],
    "children": [0, 1, 2, 3],
}


def people(n_rows=300):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({k: rng.choice(v, n_rows) for k, v in PEOPLE.items()})
    score = (frame.job == "pilot") + (frame.age > 35) - 0.4 * frame.children
    return frame, (score + 0.3 * (frame.region == "west") > 0.3).to_numpy().astype(int)


def encode_people(rows):
    codes = [
        [PEOPLE[name].index(cell) for cell in rows[name]] for name in ("job", "region")
    ]
    numbers = rows[["age", "children"]].to_numpy(dtype=np.float64)
    return torch.tensor(codes).T, torch.tensor(numbers, dtype=torch.float32) / 10


def test_embeddings_next_to_numbers():
    frame, labels = people()
    torch.manual_seed(0)
    inputs = encode_people(frame)
    model = TabularWithNumbers([5, 3], 2)
    trained(model, inputs, torch.tensor(labels), epochs=8)
    how = {"encode": encode_people, "classes": ["stay", "go"]}
    ranges = read(model, data=frame, **how)
    assert ranges.domain.feature("age").limits == (20, 65)
    how["domain"] = {"age": "observed"}
    network = read(model, data=frame, **how)
    gaps = np.abs(network.scores(frame) - ranges.scores(frame))
    assert gaps.max() <= 2 * ranges.model_error
    codes = all_codes(network.domain)
    assert len(codes) == 300
    everything = pd.DataFrame(network.domain.decode(codes))
    with torch.no_grad():
        theirs = model(*encode_people(everything))
    check(network, codes, theirs)
    rules = nn2rules.extract(model, data=frame, **how)
    with torch.no_grad():
        answers = np.where(model(*inputs).numpy()[:, 0] > 0, "go", "stay")
    assert rules.predict(frame).tolist() == answers.tolist()
    assert len(set(answers)) == 2
    assert rules.predict(everything).tolist() == network.predict(everything).tolist()


def test_a_dict_of_tensors():
    frame, _ = people()

    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.job, self.rest = nn.Embedding(5, 2), nn.Linear(4, 1)

        def forward(self, batch):
            return self.rest(torch.cat([self.job(batch["job"]), batch["numbers"]], 1))

    def encode(rows):
        first, second = encode_people(rows)
        return {"numbers": second.numpy(), "job": first[:, 0].numpy(), "unused": 1}

    torch.manual_seed(0)
    model = Named().eval()
    said = {"age": "observed"}
    network = read_scores(model, data=frame, encode=encode, domain=said)
    assert network.domain.names == ("job", "age", "children")  # not the region
    codes = all_codes(network.domain)
    rows = pd.DataFrame(network.domain.decode(codes)).assign(region="north")
    made = encode(rows)
    batch = {name: torch.tensor(made[name]) for name in ("job", "numbers")}
    check(network, codes, model(batch))
    with pytest.raises(UnsupportedModelError, match="no array for the model's input"):
        read(model, data=frame, encode=lambda rows: {"job": encode(rows)["job"]})


def test_inputs_named_as_columns():
    class Named(nn.Module):
        def __init__(self, how):
            super().__init__()
            self.a, self.out, self.how = nn.Embedding(3, 2), nn.Linear(3, 1), how

        def forward(self, a, b):
            if self.how == "columns":
                return self.out(torch.cat([self.a(a), b], 1))
            if self.how == "numbers":
                return self.out(torch.cat([self.a(a), b.unsqueeze(1)], 1))
            return self.out(torch.cat([self.a(a).flatten(1), b], 1))

    codes, x = numbers()
    for how in ("columns", "numbers", "flattened"):
        torch.manual_seed(0)
        model = Named(how).eval()
        network = read_scores(model, domain=FEATURES)
        b = x[:, 1].float() if how == "numbers" else x[:, 1:2].float()
        check(network, codes, model(x[:, 0], b))


def test_a_fitted_transformer():
    frame, labels = people()
    transformer = ColumnTransformer(
        [
            ("words", OneHotEncoder(), ["job", "region"]),
            ("numbers", StandardScaler(), ["age", "children"]),
        ]
    ).fit(frame)
    x = torch.tensor(transformer.transform(frame), dtype=torch.float32)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 6), nn.ReLU(), nn.Linear(6, 2))
    trained(model, [x], torch.tensor(labels))
    rules = nn2rules.extract(model, data=frame, encode=transformer)
    with torch.no_grad():
        assert rules.predict(frame).tolist() == model(x).argmax(1).tolist()


# Exported programs, and what only torch.export follows ------------------------------


def exported(model, *example):
    shapes = tuple({0: torch.export.Dim.DYNAMIC} for _ in example)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.export.export(model, example, dynamic_shapes=shapes)


@pytest.mark.parametrize("decomposed", [False, True])
def test_exported_programs(decomposed):
    frame, labels = people()
    torch.manual_seed(0)
    inputs = encode_people(frame)
    model = TabularWithNumbers([5, 3], 2, outputs=3)
    trained(model, inputs, torch.tensor(labels))
    program = exported(model, *inputs)
    if decomposed:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = program.run_decompositions()
    how = {"encode": encode_people, "domain": {"age": "observed"}}
    network = read_scores(program, data=frame, **how)
    direct = read_scores(model, data=frame, **how)
    codes = all_codes(network.domain)
    with torch.no_grad():
        theirs = model(*encode_people(pd.DataFrame(network.domain.decode(codes))))
    check(network, codes, theirs)
    ours, theirs = network.scores_codes(codes), direct.scores_codes(codes)
    assert np.allclose(ours, theirs, atol=1e-5)


def test_a_program_for_one_number_of_rows_is_refused():
    program = torch.export.export(nn.Linear(3, 1).eval(), (torch.zeros(2, 3),))
    with pytest.raises(UnsupportedModelError, match="export it for any number of rows"):
        read(program, domain=FEATURES)


def test_tests_of_shapes_are_left_to_export():
    class Careful(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))

        def forward(self, x):
            if x.shape[1] != 3:
                raise ValueError("three numbers, please")
            return self.layers(x)

    torch.manual_seed(0)
    model = Careful().eval()
    codes, x = numbers()
    check(read_scores(model, domain=FEATURES), codes, model(x.float()))


def test_decisions_that_depend_on_numbers_are_refused(capfd):
    model = Written(
        lambda m, x: m.wide(x) if x.sum() > 0 else -m.wide(x), wide=lin(3, 1)
    ).eval()
    with pytest.raises(UnsupportedModelError, match="depend on its input"):
        read(model, domain=FEATURES)
    assert capfd.readouterr() == ("", "")


# The paper's data sets ---------------------------------------------------------------

SETS = {
    "car": ("car", "paper", None),
    "nursery": ("nursery", "paper", None),
    "nursery with five classes": ("nursery", "original", 5),
    "contraception with two scores": ("contraception", "paper", 2),
}


def codes_of(domain):
    """Return an encoding of rows by the codes of their values: one-hot columns."""
    return lambda rows: one_hot(domain, domain.encode(rows), torch.float32)


@pytest.mark.parametrize("name", SETS)
def test_paper_data_sets(name):
    title, kind, outputs = SETS[name]
    dataset = nn2rules.datasets.load(title, labels=kind)
    frame = dataset.train.to_frame()
    targets = torch.tensor([dataset.classes.index(label) for label in frame.label])
    rows = frame.drop(columns="label")
    domain = dataset.domain
    encode = codes_of(domain)
    torch.manual_seed(0)
    width = int(domain.offsets[-1])
    model = nn.Sequential(
        nn.Linear(width, 6),
        nn.BatchNorm1d(6),
        nn.ReLU(),
        nn.Dropout(0.1),
        nn.Linear(6, 4),
        nn.ReLU(),
        nn.Linear(4, outputs or 1),
    )
    x = encode(rows)
    trained(model, [x], targets, epochs=3 if len(rows) > 5000 else 10)
    options = {"data": rows, "encode": encode, "classes": dataset.classes}
    network = read_scores(model, domain=domain, **options)
    codes = all_codes(domain)
    with torch.no_grad():
        check(network, codes, model(one_hot(domain, codes, torch.float32)), most=0.99)
        scores = model(x).numpy()
    rules = nn2rules.extract(model, domain=domain, **options)
    assert (rules.predict_codes(codes) == network.predict_codes(codes)).all()
    picks = scores.argmax(1) if outputs else (scores[:, 0] > 0).astype(int)
    answers = np.array(dataset.classes)[picks]
    sure = settled(network, network.scores(rows))
    assert sure.mean() > 0.99
    assert (rules.predict(rows)[sure] == answers[sure]).all()
    assert len(set(answers)) > 1


def test_adult():
    dataset = nn2rules.datasets.load("adult")
    frame = dataset.train.to_frame().iloc[:3000]
    targets = torch.tensor([dataset.classes.index(label) for label in frame.label])
    rows = frame.drop(columns="label")
    domain = dataset.domain

    def encode(rows):
        return domain.encode(rows)

    torch.manual_seed(0)
    model = Tabular(domain.sizes, 0, width=2, units=4)
    trained(model, [torch.tensor(encode(rows))], targets)
    options = {"data": rows, "encode": encode, "classes": dataset.classes}
    network = read_scores(model, domain=domain, **options)
    rng = np.random.default_rng(0)
    codes = rng.integers(domain.sizes, size=(20_000, len(domain.sizes)))
    with torch.no_grad():
        check(network, codes, model(torch.tensor(codes)), most=0.99)
        answers = model(torch.tensor(encode(rows))).numpy()[:, 0] > 0
    rules = nn2rules.extract(model, domain=domain, scope="support", **options)
    sure = settled(network, network.scores(rows))
    assert sure.mean() > 0.99
    labels = np.array(dataset.classes)[answers.astype(int)]
    assert (rules.predict(rows)[sure] == labels[sure]).all()
    assert len(set(labels)) == 2


def test_a_wide_model():
    rng = np.random.default_rng(0)
    words = [f"v{index}" for index in range(6)]
    frame = pd.DataFrame({f"f{i}": rng.choice(words, 2000) for i in range(12)})

    def encode(rows):
        return {"categories": rows.apply(lambda c: c.str[1:].astype(int)).to_numpy()}

    torch.manual_seed(0)
    model = Tabular([6] * 12, 0, width=2, units=3)
    x = torch.tensor(encode(frame)["categories"])
    trained(model, [x], (x[:, 0] + 2 * x[:, 3] > 2 * x[:, 5]).long(), epochs=12)
    network = read_scores(model, data=frame, encode=encode)
    assert network.domain.n_inputs == 6**12 > 10**9
    some = frame[:200]
    rules = nn2rules.extract(network, data=some, scope="support", effort=0)
    with torch.no_grad():
        scores = model(x[:200]).numpy()[:, 0]
    sure = settled(network, network.scores(some))
    assert sure.mean() > 0.95
    assert (rules.predict(some)[sure] == (scores > 0)[sure]).all()
    assert 0 < (scores > 0).sum() < 200


# Mistakes ----------------------------------------------------------------------------

WORDS = pd.DataFrame({"color": ["red", "blue"], "size": [1, 2]})


def test_training_mode():
    with pytest.raises(
        UnsupportedModelError,
        match=r"is in training mode, in which dropout and batch normalization are "
        r"not deterministic; call model\.eval\(\) first",
    ):
        read(nn.Linear(3, 1), domain=FEATURES)


def test_other_devices():
    with pytest.raises(UnsupportedModelError, match=r"'meta', which stores no numbers"):
        read(nn.Linear(3, 1, device="meta").eval(), domain=FEATURES)


REFUSED = {
    "layer norm": (
        nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 1)),
        r"1 \(LayerNorm\): it divides each unit by the spread of all units",
    ),
    "convolution": (
        nn.Sequential(nn.Unflatten(1, (1, 3)), nn.Conv1d(1, 2, 2), nn.Flatten()),
        r"1 \(Conv1d\): convolutions are for images",
    ),
    "recurrent": (
        Written(lambda m, x: m.rnn(x.unsqueeze(1))[0], rnn=nn.GRU(3, 1)),
        r"rnn \(GRU\): recurrent layers",
    ),
    "attention": (
        Written(
            lambda m, x: m.heads(x.unsqueeze(1), x.unsqueeze(1), x.unsqueeze(1))[0],
            heads=nn.MultiheadAttention(3, 1),
        ),
        r"heads \(MultiheadAttention\): attention multiplies",
    ),
    "tanh gelu": (
        nn.Sequential(nn.Linear(3, 4), nn.GELU(approximate="tanh"), nn.Linear(4, 1)),
        r"1 \(GELU\): it is the tanh approximation of GELU",
    ),
    "elu": (
        nn.Sequential(nn.Linear(3, 4), nn.ELU(alpha=2.0), nn.Linear(4, 1)),
        r"1 \(ELU\): its alpha is 2; nn2rules reads an ELU",
    ),
    "prelu": (
        nn.Sequential(nn.Linear(3, 2), randomized(nn.PReLU(2)), nn.Linear(2, 1)),
        r"1 \(PReLU\): its units have different slopes",
    ),
    "softplus": (
        nn.Sequential(nn.Linear(3, 4), nn.Softplus(threshold=2), nn.Linear(4, 1)),
        r"1 \(Softplus\): a Softplus with threshold=2 has a jump",
    ),
    "mish": (
        nn.Sequential(nn.Linear(3, 4), nn.Mish(), nn.Linear(4, 1)),
        r"1 \(Mish\): nn2rules does not support this activation",
    ),
    "product": (
        Written(lambda m, x: m.one(x) * m.two(x), one=lin(3, 1), two=lin(3, 1)),
        r"the step 'mul': the model multiplies two numbers that both depend",
    ),
    "product of features": (
        Written(lambda m, x: m.one(x[:, :1] * x[:, 1:2]), one=lin(1, 1)),
        r"the step 'mul'",
    ),
    "unknown": (
        Written(lambda m, x: torch.fft.rfft(m.one(x)).real, one=lin(3, 2)),
        r"the step 'fft_rfft': nn2rules does not support the step 'fft_rfft'",
    ),
    "softmax inside": (
        nn.Sequential(nn.Linear(3, 3), nn.Softmax(1), nn.Linear(3, 1)),
        r"2 \(Linear\): it computes with the result of a softmax",
    ),
    "dropout that stays": (
        Written(lambda m, x: F.dropout(m.one(x), 0.5), one=lin(3, 1)),
        r"the step 'dropout': it drops units at random",
    ),
    "batch statistics": (
        nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2, track_running_stats=False)),
        r"1 \(BatchNorm1d\): batch normalization in training mode, or without running",
    ),
    "rows mixed": (
        Written(lambda m, x: m.one(x - x.mean(0)), one=lin(3, 1)),
        r"the step 'mean': it sums over the rows of a batch",
    ),
    "tuple": (
        Written(lambda m, x: (m.one(x), x), one=lin(3, 1)),
        r"forward returns a tuple; wrap the model in a module that returns one tensor",
    ),
    "dict": (
        Written(lambda m, x: {"scores": m.one(x)}, one=lin(3, 1)),
        r"forward returns a dict",
    ),
    "constant": (
        Written(lambda m, _x: m.one(torch.ones(2, 3)), one=lin(3, 1)),
        r"output does not depend on its input",
    ),
    "shape": (
        Written(lambda m, x: m.one(x).reshape(-1, 2, 2), one=lin(3, 4)),
        r"output for a row has the shape \(2, 2\)",
    ),
    "many labels": (
        nn.Sequential(nn.Linear(3, 4), nn.Sigmoid()),
        r"ends in 4 sigmoid units",
    ),
    "width": (
        nn.Linear(5, 1),
        r"takes 5 numbers for each row, but the data have 3 features",
    ),
    "small table": (
        Written(lambda m, x: m.table(x[:, 1]), table=nn.Embedding(2, 1)),
        r"table \(Embedding\): the value 2 of feature 'b' is encoded as 2, but the "
        r"Embedding has only rows 0 to 1",
    ),
    "max norm": (
        Written(lambda m, x: m.table(x[:, 1]), table=nn.Embedding(4, 1, max_norm=0.1)),
        r"changes its own weights when it runs",
    ),
    "lazy": (nn.LazyLinear(1), r"was never run"),
    "shortcut around tanh": (
        Written(
            lambda m, x: m.two(m.one(x) + torch.tanh(m.inner(m.one(x)))),
            one=lin(3, 4),
            inner=lin(4, 4),
            two=lin(4, 1),
        ),
        r"the step 'add': .*a shortcut around a tanh layer",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    model, message = REFUSED[name]
    with pytest.raises(UnsupportedModelError, match=message):
        read(model.eval(), domain=FEATURES)


def test_an_image_network_is_refused_before_its_columns_are_counted():
    class Images(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.linear = nn.Conv2d(1, 4, 3), nn.Linear(64, 2)

        def forward(self, x):
            if x.shape[1] != 36:
                raise ValueError(x.shape)
            x = self.conv(x.reshape(-1, 1, 6, 6))
            return self.linear(torch.relu(x).flatten(1))

    pixels = pd.DataFrame(np.eye(36), columns=[f"p{i}" for i in range(36)])
    with pytest.raises(UnsupportedModelError, match=r"conv \(Conv2d\): convolutions"):
        read(Images().eval(), data=pixels)
    with pytest.raises(UnsupportedModelError, match=r"the model \(LSTM\): recurrent"):
        read(nn.LSTM(36, 2).eval(), data=pixels)


def test_compiled_and_wrapped_models():
    model = nn.Linear(3, 1).eval()
    plain = read_scores(model, domain=FEATURES)
    assert read_scores(torch.compile(model), domain=FEATURES) == plain
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script = torch.jit.trace(model, torch.zeros(1, 3))
    with pytest.raises(UnsupportedModelError, match=r"torch\.jit"):
        read(script, domain=FEATURES)
    with pytest.raises(UnsupportedModelError, match="Tensor is not a model"):
        read(torch.zeros(3), domain=FEATURES)


def test_mistakes_of_encoding():
    model = nn.Linear(2, 1).eval()
    with pytest.raises(UnsupportedModelError, match="'color' has categories such as"):
        read(model, data=WORDS)
    with pytest.raises(UnsupportedModelError, match="column 0 depends on 'a', 'b'"):
        read(
            model,
            domain=FEATURES,
            encode=lambda rows: np.stack([(rows.a + 1) * (rows.b + 1), rows.c], 1),
        )
    with pytest.raises(UnsupportedModelError, match="linear layer with 2 inputs gets"):
        read(model, domain=FEATURES, encode=lambda rows: rows.to_numpy())
    with pytest.raises(UnsupportedModelError, match="returns text"):
        read(model, data=WORDS, encode=lambda rows: rows.to_numpy())
    gaps = pd.DataFrame({"a": [1.0, None], "b": [0.0, 1.0]})
    with pytest.raises(UnsupportedModelError, match="'a' has missing values"):
        read(model, data=gaps)
    table = Written(lambda m, x: m.table(x[:, 0]), table=nn.Embedding(4, 1)).eval()
    with pytest.raises(UnsupportedModelError, match=r"integers, not 0\.5"):
        read(table, domain=FEATURES, encode=lambda rows: rows.to_numpy() / 2)


def test_classes():
    model = nn.Linear(3, 1).eval()
    model.weight.data = torch.tensor([[1.0, -1.0, 0.5]])  # its scores have both signs
    assert read(model, domain=FEATURES, classes=["no", "yes"]).classes == ("no", "yes")
    with pytest.raises(OptionError, match="3 are given, but the model has one output"):
        read(model, domain=FEATURES, classes=[1, 2, 3])
    with pytest.raises(OptionError, match="2 are given, but the model has 3 outputs"):
        read(nn.Linear(3, 3).eval(), domain=FEATURES, classes=["no", "yes"])


def test_following_a_model_leaves_it_alone():
    class Keeping(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.seen = nn.Linear(3, 1), []

        def forward(self, x):
            self.seen.append(x)
            return self.layer(x)

    model = Keeping().eval()
    read_scores(model, domain=FEATURES)
    assert all(isinstance(x, torch.Tensor) for x in model.seen)
    assert not model.training


def test_nothing_else_imports_torch():
    code = (
        "import sys, nn2rules, nn2rules.models.adapters, nn2rules.extraction.extract;"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def hooked(register):
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1), nn.Sigmoid())
    register(model[0])
    return model.eval()


@pytest.mark.parametrize(
    ("register", "told"),
    [
        (
            lambda m: m.register_forward_pre_hook(lambda _, x: (x[0] * 2,)),
            "0 (Linear) has a forward_pre_hook, whose code nn2rules cannot read; "
            "remove it with the handle that register_forward_pre_hook returned, or "
            "write its steps in forward",
        ),
        (
            lambda m: m.register_forward_hook(lambda _, __, out: out * 2),
            "0 (Linear) has a forward_hook, whose code nn2rules cannot read; remove it "
            "with the handle that register_forward_hook returned, or write its steps "
            "in forward",
        ),
        (
            nn.utils.spectral_norm,
            "0 (Linear) has a forward_pre_hook, whose code nn2rules cannot read; call "
            "torch.nn.utils.remove_spectral_norm, which keeps weights",
        ),
    ],
    ids=["before", "after", "spectral_norm"],
)
def test_hooks_are_refused_in_a_sentence(register, told):
    rows = pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1]})
    with pytest.raises(UnsupportedModelError) as caught:
        read(hooked(register), data=rows)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("name", "hook"),
    [
        ("forward_pre_hook", lambda _, x: (x[0] * 2,)),
        ("forward_hook", lambda _, __, out: out * 2),
    ],
)
def test_hooks_of_all_modules_are_refused_in_a_sentence(name, hook):
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1), nn.Sigmoid())
    rows = [{"a": a, "b": b} for a in (0, 1) for b in (0, 1)]
    handle = getattr(nn.modules.module, f"register_module_{name}")(hook)
    told = (
        f"PyTorch has a {name} on all modules, whose code nn2rules cannot read; "
        f"remove it with the handle that register_module_{name} returned, or write its "
        f"steps in the model's forward"
    )
    try:
        with pytest.raises(UnsupportedModelError) as caught:
            read(model.eval(), data=rows)
    finally:
        handle.remove()
    assert str(caught.value) == told


def test_hooks_of_gradients_change_nothing():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1), nn.Sigmoid())
    rows = [{"a": a, "b": b} for a in (0, 1) for b in (0, 1)]
    plain = read(model.eval(), data=rows)
    register = nn.modules.module.register_module_full_backward_hook
    handle = register(lambda *_: None)
    try:
        assert read(model, data=rows) == plain
    finally:
        handle.remove()


@pytest.mark.parametrize(
    "register",
    [
        lambda m: m.register_full_backward_hook(lambda *_: None),
        nn.utils.parametrizations.spectral_norm,
        nn.utils.parametrizations.weight_norm,
        lambda m: prune.l1_unstructured(m, "weight", amount=1),
    ],
    ids=["backward", "spectral", "weight_norm", "pruned"],
)
def test_what_only_computes_weights_or_gradients_is_read(register):
    rows = pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1]})
    model = hooked(register)
    with torch.no_grad():
        shares = model(torch.tensor(rows.to_numpy(), dtype=torch.float32))[:, 0]
    theirs = (shares > 0.5).int().tolist()
    assert list(read(model, data=rows).predict(rows)) == theirs
