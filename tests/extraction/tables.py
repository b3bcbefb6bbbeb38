"""Truth tables to cover, networks that compute them, and what a cover of one must be.

Everything is worked out from the boxes alone, by enumeration of all inputs.
"""

from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from hypothesis import strategies as st

import naive
from nn2rules import Domain, Feature, Layer, Network, RuleList, extract

DONT_CARE = 255


class Table(NamedTuple):
    """The class of every input, last feature fastest; 255 where it cannot occur."""

    classes: np.ndarray
    sizes: tuple[int, ...]
    n_classes: int

    @property
    def inputs(self) -> np.ndarray:
        """The codes of every input, in order."""
        return np.array(naive.inputs(self.sizes)).reshape(-1, len(self.sizes))

    @property
    def possible(self) -> np.ndarray:
        """Which inputs can occur."""
        return self.classes != DONT_CARE


SHAPES = st.one_of(
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.lists(st.integers(2, 3), min_size=3, max_size=5),
    st.sampled_from(
        [
            [1],
            [1, 1, 1],
            [70],
            [70, 2],
            [2, 70, 1],
            [3, 65],
            [64, 3],
            [65],
            [8, 8],
            [5, 13, 3],
            [2] * 8,
            [66, 1, 3],
        ]
    ),
)

SMALL = st.one_of(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.sampled_from(
        [[2, 2, 2, 2], [4, 3, 2], [5, 4], [1, 6, 1, 3], [7], [3, 3, 3], [2, 2, 3, 2]]
    ),
)
"""For networks with a unit for every input."""


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    shapes: st.SearchStrategy[list[int]] = SHAPES,
    max_classes: int = 4,
    dont_care: bool = True,
) -> Table:
    """Draw functions of several kinds, some with inputs that cannot occur."""
    sizes = tuple(draw(shapes))
    n_classes = draw(st.integers(2, max_classes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(
        st.sampled_from(["noise", "linear", "linear", "sparse", "parity", "constant"])
    )
    inputs = np.array(naive.inputs(sizes)).reshape(-1, len(sizes))
    classes = _classes(kind, inputs, sizes, n_classes, rng).astype(np.uint8)
    if dont_care:
        share = draw(st.sampled_from([0, 0, 0.2, 0.6, 1]))
        classes[rng.random(len(classes)) < share] = DONT_CARE
    return Table(classes, sizes, n_classes)


def _classes(
    kind: str,
    inputs: np.ndarray,
    sizes: tuple[int, ...],
    n_classes: int,
    rng: np.random.Generator,
) -> np.ndarray:
    if kind == "noise":
        return rng.integers(0, n_classes, len(inputs))
    if kind == "sparse":
        return rng.integers(0, n_classes, len(inputs)) * (rng.random(len(inputs)) < 0.1)
    if kind == "parity":
        return inputs.sum(axis=1) % n_classes
    if kind == "constant":
        return np.full(len(inputs), rng.integers(0, n_classes))
    scores = np.zeros((len(inputs), n_classes))
    for feature, size in enumerate(sizes):
        scores += rng.integers(-3, 4, size=(size, n_classes))[inputs[:, feature]]
    return scores.argmax(axis=1)


def members(boxes: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """Tell for every box (rows) and every input (columns) whether it lies in it."""
    starts = np.cumsum([0, *sizes[:-1]])
    columns = np.array(naive.inputs(sizes)).reshape(-1, len(sizes)) + starts
    return np.asarray(boxes)[:, columns].all(axis=2)


def first(boxes: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """Return for every input the first box that holds it, or -1."""
    inside = members(boxes, sizes)
    if not len(inside):
        return np.full(inside.shape[1], -1)
    return np.where(inside.any(axis=0), inside.argmax(axis=0), -1)


def answers(rules: Any, default: int, sizes: tuple[int, ...]) -> np.ndarray:
    """Return the class that boxes and a default give to every input."""
    boxes, classes = rules
    return np.array([*np.asarray(classes).tolist(), default])[first(boxes, sizes)]


def check_answers(rules: Any, default: int, table: Table) -> None:
    """Every input that can occur gets its class."""
    given = answers(rules, default, table.sizes)
    assert (given == table.classes)[table.possible].all()


def check_right_where_decided(boxes: Any, classes: Any, table: Table) -> None:
    """Every input that can occur and that a rule decides gets its class."""
    fired = first(boxes, table.sizes)
    decided = (fired >= 0) & table.possible
    assert (np.array([*classes, 0])[fired] == table.classes)[decided].all()


def check_pure(boxes: Any, classes: Any, table: Table) -> None:
    """Every box holds inputs of its own class only, whatever the others hold."""
    for inside, answer in zip(members(boxes, table.sizes), classes, strict=True):
        assert np.isin(table.classes[inside], (answer, DONT_CARE)).all()


def check_prime(boxes: Any, classes: Any, table: Table, *, is_ordered: bool) -> None:
    """No value can be added to a rule without a wrong answer that reaches it."""
    reaching = table.possible.copy()
    inside = members(boxes, table.sizes)
    for index, answer in enumerate(classes):
        outside = np.flatnonzero(~boxes[index])
        grown = np.repeat(boxes[index][np.newaxis], len(outside), axis=0)
        grown[np.arange(len(outside)), outside] = True
        wrong = members(grown, table.sizes) & reaching & (table.classes != answer)
        assert wrong.any(axis=1).all(), f"rule {index} can grow"
        if is_ordered:
            reaching &= ~inside[index]


def check_not_idle(boxes: Any, wanted: np.ndarray, table: Table) -> None:
    """Every rule decides an input that is wanted."""
    fired = first(boxes, table.sizes)
    assert set(fired[wanted].tolist()) - {-1} == set(range(len(boxes)))


def extract_prime(network: Network, **options: Any) -> RuleList:
    """Extract rules before values are left out of them for the sake of the reader."""
    with mock.patch(
        "nn2rules.extraction.from_table.by_table.readable",
        lambda rules, *_, **__: rules,
    ):
        return extract(network, **options)


def domain_of(sizes: tuple[int, ...], *, ordered: bool = False) -> Domain:
    """Return a domain with dull names; its features are ordered, or not."""
    return Domain(
        tuple(
            Feature(f"f{index}", tuple(f"v{code}" for code in range(size)), ordered)
            for index, size in enumerate(sizes)
        )
    )


def network_of(table: Table, *, seed: int = 0, ordered: bool = False) -> Network:
    """Return a network with a unit for every input, which gives it its class.

    Two classes have one score or two; some scores are tied, to the lowest class. Where
    an input cannot occur the network answers anything.
    """
    rng = np.random.default_rng(seed)
    inputs, sizes = table.inputs, table.sizes
    domain, classes = domain_of(sizes, ordered=ordered), np.array(table.classes)
    columns = inputs + domain.offsets[:-1]
    weights = np.zeros((int(domain.offsets[-1]), len(inputs)))
    weights[columns.T, np.arange(len(inputs))] = 1.0
    units = Layer(weights, np.full(len(inputs), 1.0 - len(sizes)), "relu")
    anything = rng.integers(0, table.n_classes, len(classes))
    classes = np.where(table.possible, classes, anything)
    labels = tuple(f"class {index}" for index in range(table.n_classes))
    if table.n_classes == 2 and seed % 2 == 0:
        size = rng.integers(1, 40, len(inputs)) / 8
        low = rng.integers(0, 9, len(inputs)) == 0
        score = np.where(classes == 1, size, np.where(low, 0.0, -size))
        last = Layer(score[:, np.newaxis], [0.0], "sigmoid")
    else:
        score = rng.integers(-16, 17, size=(len(inputs), table.n_classes)) / 8
        for row, index in zip(score, classes.tolist(), strict=True):
            tie = rng.integers(0, 9) == 0  # with a later class
            above = np.where(np.arange(len(row)) < index, row + 0.125, row)
            row[index] = above.max() if tie else row.max() + 0.125
        last = Layer(score, np.zeros(table.n_classes), "softmax")
    return Network(domain, (units, last), labels)


def interrupting(n_reports: int) -> Callable[[str, float], None]:
    """Return a listener that interrupts the work after so many reports."""
    left = iter(range(n_reports))

    def progress(what: str, share: float) -> None:
        assert 0 <= share <= 1
        if next(left, None) is None:
            raise KeyboardInterrupt

    return progress
