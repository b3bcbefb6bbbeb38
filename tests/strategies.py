"""Hypothesis strategies: domains, networks, rule lists and rows, chosen to hurt."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from nn2rules import Condition, Domain, Feature, Layer, Network, Rule, RuleList

AWKWARD_TEXTS = [
    "",
    " ",
    "car",
    "car (new)",
    "car_new",
    "car new",
    "a_b_c",
    'say "hi"',
    "it's",
    "two\nlines",
    "tab\t",
    "back\\slash",
    "naïve",
    "日本語",
    "e\u0301",
    "🙂",
    "red, then blue",
    "and",
    "if",
    "otherwise",
    "missing",
    "NA",
    "None",
    "True",
    "0",
    "1",
    "1.0",
    "-0",
    "{a, b}",
    "= x",
    "  [3 rows]",
    "\u2028",
    "\x00",
    "a\x00",
    "<=50K",
    "50%",
]
AWKWARD_VALUES = [
    *AWKWARD_TEXTS,
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    10**20,
    2**53 + 1,
    0.5,
    -2.5,
    1.0,
    1e16,
    1e-300,
]

texts = st.one_of(
    st.sampled_from(AWKWARD_TEXTS),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
values = st.one_of(
    st.sampled_from(AWKWARD_VALUES),
    texts,
    st.integers(-3, 3),
    st.floats(allow_nan=False, allow_infinity=False),
)


def read(value: object) -> str:
    """Return what a value reads in a rule."""
    return "missing" if value is None else str(value)


def value_lists(size: int) -> st.SearchStrategy[list[Any]]:
    """Values of a feature: different, and reading differently."""
    return st.lists(
        values, min_size=size, max_size=size, unique_by=(read, lambda value: value)
    )


@st.composite
def sizes(draw: st.DrawFn, max_inputs: int = 200, max_features: int = 6) -> list[int]:
    """Draw the numbers of values of some features."""
    chosen: list[int] = []
    room = max_inputs
    for _ in range(draw(st.integers(1, max_features))):
        chosen.append(draw(st.integers(1, min(5, room))))
        room //= chosen[-1]
    return chosen


def plain_domain(shape: list[int]) -> Domain:
    """Return a domain of `shape` with dull names."""
    return Domain(
        tuple(
            Feature(f"f{index}", tuple(f"v{code}" for code in range(size)))
            for index, size in enumerate(shape)
        )
    )


@st.composite
def domains(draw: st.DrawFn, max_inputs: int = 200, max_features: int = 6) -> Domain:
    """Domains with awkward names and values."""
    shape = draw(sizes(max_inputs, max_features))
    names = draw(st.lists(texts, min_size=len(shape), max_size=len(shape), unique=True))
    features = []
    for name, size in zip(names, shape, strict=True):
        labels = st.lists(texts, min_size=size, max_size=size, unique=True)
        features.append(
            Feature(
                name,
                tuple(draw(value_lists(size))),
                ordered=draw(st.booleans()),
                labels=draw(st.none() | labels),
            )
        )
    return Domain(tuple(features))


PALETTES = {
    "integers": [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0],
    "signs": [-1.0, 1.0],
    "zeros": [0.0, 0.0, 0.0, 1.0],
    "dyadic": [k / 8 for k in range(-16, 17)],
    "decimal": [k / 10 for k in range(-10, 11)],
    "tiny": [-3e-300, -1e-300, 0.0, 1e-300, 3e-300, 5e-324],
    "huge": [-1e300, 1e300, 1e299, 0.0, 1.0, -1.0],
    "cancelling": [1e16, -1e16, 1.0, -1.0, 0.5, 1e16 + 2],
    "extreme": [1e300, -1e300, 1e-300, -1e-300, 1e-200, 1e200, 1.0, -1.0],
    "steep": [-1e5, -1e3, -30.0, 0.0, 1.0, 30.0, 1e3, 1e5],
    "largest": [1.7e308, -1.7e308, 8.9e307, 1.0],
}

moderate = st.floats(-4, 4, allow_subnormal=False)


@st.composite
def numbers(draw: st.DrawFn, palettes: tuple[str, ...] = tuple(PALETTES)) -> Any:
    """Draw a strategy for the weights of one network."""
    name = draw(st.sampled_from([*palettes, "floats"]))
    return moderate if name == "floats" else st.sampled_from(PALETTES[name])


def matrices(n_in: int, n_out: int, elements: Any) -> st.SearchStrategy[np.ndarray]:
    size = n_in * n_out
    flat = st.lists(elements, min_size=size, max_size=size)
    return flat.map(lambda entries: np.array(entries).reshape(n_in, n_out))


THRESHOLDS = [0.5, 0.25, 0.9, 0.1, 0.5 + 2**-30, 1e-9, 1 - 2**-40]
thresholds = st.one_of(
    st.just(0.5),
    st.sampled_from(THRESHOLDS),
    st.floats(0.001, 0.999),
)


@st.composite
def layers(
    draw: st.DrawFn,
    shape: list[int],
    activations: Any,
    *,
    max_hidden: int = 3,
    max_units: int = 3,
    outputs: int = 1,
    palettes: tuple[str, ...] = tuple(PALETTES),
) -> tuple[Layer, ...]:
    """Draw the layers of a network over a domain of `shape`."""
    elements = draw(numbers(palettes))
    width, found = sum(shape), []
    hidden = draw(st.lists(st.integers(1, max_units), max_size=max_hidden))
    for index, units in enumerate([*hidden, outputs]):
        weights = draw(matrices(width, units, elements))
        bias = draw(biases(weights, shape if index == 0 else None, elements))
        if index < len(hidden):
            name = draw(activations)
            slope = None
            if name == "leaky_relu":
                slope = draw(st.sampled_from([None, 0.25, 0.1, 0.0, 1.5]))
            found.append(Layer(weights, bias, name, slope))
        else:
            output = "sigmoid" if outputs == 1 else "softmax"
            found.append(Layer(weights, bias, output))
        width = units
    return tuple(found)


@st.composite
def biases(
    draw: st.DrawFn, weights: np.ndarray, shape: list[int] | None, elements: Any
) -> np.ndarray:
    """Biases of their own, none, or such that some input is exactly tied."""
    units = weights.shape[1]
    kind = draw(st.sampled_from(["own", "none", "tie"]))
    if kind == "own":
        return np.array(draw(st.lists(elements, min_size=units, max_size=units)))
    if kind == "none" or shape is None:
        return np.zeros(units)
    starts = np.cumsum([0, *shape[:-1]])
    codes = draw(st.tuples(*(st.integers(0, size - 1) for size in shape)))
    with np.errstate(all="ignore"):
        bias = -weights[starts + np.array(codes)].sum(axis=0)
    return np.where(np.isfinite(bias), bias, 0.0)


PIECEWISE_LINEAR = ["relu", "leaky_relu", "hard_tanh", "hard_sigmoid", "identity"]
SMOOTH = ["sigmoid", "tanh", "elu", "softplus", "silu", "gelu"]


@st.composite
def relu_networks(
    draw: st.DrawFn,
    max_inputs: int = 100,
    awkward: bool = False,
    palettes: tuple[str, ...] = tuple(PALETTES),
) -> Network:
    """Networks that the paper's algorithm reads."""
    if awkward:
        domain = draw(domains(max_inputs, 4))
    else:
        domain = plain_domain(draw(sizes(max_inputs)))
    found = draw(layers(list(domain.sizes), st.just("relu"), palettes=palettes))
    return Network(domain, found, ("no", "yes"), draw(thresholds))


@st.composite
def networks(
    draw: st.DrawFn,
    activations: list[str],
    max_inputs: int = 30,
    palettes: tuple[str, ...] = tuple(PALETTES),
) -> Network:
    """Networks of any kind: binary with any threshold, or of several classes."""
    domain = plain_domain(draw(sizes(max_inputs, 4)))
    outputs = draw(st.sampled_from([1, 1, 2, 3, 4]))
    found = draw(
        layers(
            list(domain.sizes),
            st.sampled_from(activations),
            outputs=outputs,
            palettes=palettes,
        )
    )
    classes = tuple(f"class {index}" for index in range(max(outputs, 2)))
    threshold = draw(thresholds) if outputs == 1 else 0.5
    return Network(domain, found, classes, threshold)


@st.composite
def boxes(draw: st.DrawFn, shape: list[int]) -> list[tuple[int, ...] | None]:
    """For each feature the allowed codes, or None for all of them."""
    box: list[tuple[int, ...] | None] = []
    for size in shape:
        codes = st.lists(
            st.integers(0, size - 1), min_size=1, max_size=size, unique=True
        )
        box.append(draw(st.none() | st.none() | codes.map(tuple)))
    return box


CLASSES = [
    ("no", "yes"),
    (0, 1),
    (False, True),
    ("a", "b", "c"),
    (1, "one", 1.5),
    ('say "hi"', "then", ""),
    ("a", "a\x00"),
    (-1, 2**63 + 1),
]


@st.composite
def rule_lists(draw: st.DrawFn, max_rules: int = 8, max_inputs: int = 200) -> RuleList:
    """Draw lists of overlapping rules of several classes, over awkward domains."""
    domain = draw(domains(max_inputs, 4))
    classes = draw(st.sampled_from(CLASSES))
    found = [
        rule_of(
            draw(boxes(list(domain.sizes))),
            domain,
            draw(st.sampled_from(classes)),
            support=draw(st.none() | st.integers(0, 10**12)),
            probability=draw(st.sampled_from([None, (0.0, 1.0), (0.1, 0.1)])),
        )
        for _ in range(draw(st.integers(0, max_rules)))
    ]
    return RuleList(
        domain,
        tuple(found),
        draw(st.sampled_from(classes)),
        classes,
        form=draw(st.sampled_from(["list", "set"])),
        scope=draw(st.sampled_from(["domain", "support"])),
        certificate=draw(st.sampled_from([{}, {"engine": "paper", "inputs": 7}])),
    )


def rule_of(
    box: list[tuple[int, ...] | None], domain: Domain, then: Any, **facts: Any
) -> Rule:
    """Return the rule that stands for a box."""
    conditions = tuple(
        Condition(feature.name, tuple(feature.values[code] for code in codes))
        for feature, codes in zip(domain.features, box, strict=True)
        if codes is not None
    )
    return Rule(conditions, then, **facts)


def rows_of(domain: Domain, max_rows: int = 12) -> st.SearchStrategy[np.ndarray]:
    """Rows of codes, some of them several times."""
    row = st.tuples(*(st.integers(0, size - 1) for size in domain.sizes))
    return st.lists(row, max_size=max_rows).map(
        lambda rows: np.array(rows, dtype=np.int64).reshape(-1, len(domain.sizes))
    )
