"""How TREPAN grows a tree: the most promising leaf first, with inputs it draws."""

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from research.baselines.mofn import MofN, Sample, best_test, literals_of, satisfied
from research.baselines.oracle import TreeOracle
from research.baselines.sampling import (
    Marginals,
    Path,
    crowded_features,
    draw,
    marginals_of,
)

LOCAL_ROWS = 50
"""A node with fewer rows than this draws from the marginals of its parent."""

MAX_STATES = 4096
"""Disjunctive tests of a path share features up to this many states of `draw`."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """An answer: the number of a class."""

    answer: int


@dataclass(frozen=True, slots=True)
class Split:
    """A test, and what follows if it holds and if not."""

    test: MofN
    yes: "Leaf | Split"
    no: "Leaf | Split"


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends the growth; see `Trepan`."""

    max_nodes: int
    min_samples: int
    beam_width: int
    purity: float
    confidence: float
    reuse_features: bool = True


@dataclass(frozen=True)
class Labelled:
    """Inputs with how often each occurs, and with the oracle's answers."""

    codes: NDArray[np.int64]
    weights: NDArray[np.float64]
    answers: NDArray[np.int64]

    def where(self, chosen: NDArray[np.bool_]) -> "Labelled":
        """Return some of the inputs."""
        return Labelled(self.codes[chosen], self.weights[chosen], self.answers[chosen])

    def joined(self, other: "Labelled") -> "Labelled":
        """Return the inputs of both."""
        return Labelled(
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.weights, other.weights]),
            np.concatenate([self.answers, other.answers]),
        )

    @property
    def size(self) -> int:
        """The number of inputs, each as often as it occurs."""
        return int(self.weights.sum())

    def counts(self) -> NDArray[np.float64]:
        """Return how many inputs each class has."""
        counts = np.bincount(self.answers, weights=self.weights, minlength=1)
        return counts.astype(np.float64)


@dataclass
class _Node:
    """A leaf that may still be split."""

    path: Path
    rows: Labelled
    model: Marginals
    reach: float
    sample: Labelled = field(init=False)
    test: MofN | None = None
    children: tuple["_Node", ...] = ()

    @property
    def answer(self) -> int:
        return int(self.sample.counts().argmax())

    @property
    def promise(self) -> float:
        """Return f(n) = reach(n) · (1 − fidelity(n)), as Craven and Shavlik have it."""
        counts = self.sample.counts()
        return float(self.reach * (1 - counts.max() / counts.sum()))


class Growth:
    """The growth of one tree.

    Parameters
    ----------
    oracle : TreeOracle
    limits : Limits
    random : numpy.random.Generator

    Examples
    --------
    >>> from nn2rules.space import Domain, Feature
    >>> class Reds:
    ...     def predict(self, rows):
    ...         return ["ripe" if row["color"] == "red" else "unripe" for row in rows]
    >>> domain = Domain((Feature("color", ("red", "yellow")),))
    >>> codes = np.array([[0], [1]])
    >>> limits = Limits(9, 100, 2, purity=0.99, confidence=0.95)
    >>> oracle = TreeOracle(Reds(), domain, like=[])
    >>> tree = Growth(oracle, limits, np.random.default_rng(0)).grow(codes)
    >>> tree.test.text(domain), tree.yes, tree.no
    ('color = red', Leaf(answer=0), Leaf(answer=1))
    """

    def __init__(
        self, oracle: TreeOracle, limits: Limits, random: np.random.Generator
    ) -> None:
        self.oracle, self.limits, self.random = oracle, limits, random
        self.literals = literals_of(oracle.domain)
        self.enough = math.ceil(
            math.log1p(-limits.confidence) / math.log(limits.purity)
        )

    def grow(self, codes: NDArray[np.int64]) -> Leaf | Split:
        """Return the tree that resembles the oracle, with `codes` for rows of data."""
        distinct, weights = np.unique(codes, axis=0, return_counts=True)
        rows = Labelled(distinct, weights.astype(np.float64), self.oracle.ask(distinct))
        model = marginals_of(self.oracle.domain, rows.codes, rows.weights)
        root = self._node((), rows, model, 1.0)
        order = count()
        queue = [(-root.promise, next(order), root)]
        n_nodes = 0
        while queue and n_nodes < self.limits.max_nodes:
            *_, node = heapq.heappop(queue)
            if self._is_pure(node.sample) or not self._split(node):
                continue
            n_nodes += 1
            for child in node.children:
                heapq.heappush(queue, (-child.promise, next(order), child))
        return _finished(root)

    def _node(
        self, path: Path, rows: Labelled, model: Marginals, reach: float
    ) -> _Node:
        if rows.size >= LOCAL_ROWS:
            model = marginals_of(self.oracle.domain, rows.codes, rows.weights)
        node = _Node(path, rows, model, reach)
        node.sample = rows
        self._fill(node, self.limits.min_samples)
        if np.count_nonzero(node.sample.counts()) < 2:
            self._fill(node, self.enough)
        return node

    def _fill(self, node: _Node, n_inputs: int) -> None:
        """Draw inputs until the sample of a node has as many."""
        missing = n_inputs - node.sample.size
        if missing > 0:
            codes = draw(node.model, node.path, missing, self.random)
            drawn = Labelled(codes, np.ones(missing), self.oracle.ask(codes))
            node.sample = node.sample.joined(drawn)

    def _is_pure(self, sample: Labelled) -> bool:
        """Tell whether one class has the share `purity`, with the given confidence.

        The test is exact: if the share were lower, so few others would be drawn with
        a probability below 1 − confidence (binomial distribution).
        """
        counts = sample.counts()
        others, size = int(counts.sum() - counts.max()), int(counts.sum())
        if not others:  # `_node` has drawn enough of them
            return True
        chance = bdtr(others, size, 1 - self.limits.purity)
        return bool(chance <= 1 - self.limits.confidence)

    def _split(self, node: _Node) -> bool:
        """Give a node a test and two children, if a test tells its inputs apart."""
        inputs = node.sample
        one_hot = np.eye(len(self.oracle.classes))[inputs.answers]
        sample = Sample(
            self.literals,
            satisfied(self.literals, inputs.codes),
            one_hot * inputs.weights[:, np.newaxis],
        )
        limit = MAX_STATES if self.limits.reuse_features else 1
        barred = crowded_features(node.path, limit=limit)
        node.test = best_test(sample, barred=barred, width=self.limits.beam_width)
        if node.test is not None:
            node.children = tuple(self._children(node, node.test))
        return node.test is not None

    def _children(self, node: _Node, test: MofN) -> Iterator[_Node]:
        in_sample, in_rows = test.holds(node.sample.codes), test.holds(node.rows.codes)
        for holds in (True, False):
            share = node.sample.where(in_sample == holds).size / node.sample.size
            yield self._node(
                (*node.path, (test, holds)),
                node.rows.where(in_rows == holds),
                node.model,
                node.reach * share,
            )


def _finished(node: _Node) -> Leaf | Split:
    """Return the tree below a node; siblings that answer the same become one leaf."""
    if node.test is None:
        return Leaf(node.answer)
    yes, no = map(_finished, node.children)
    if isinstance(yes, Leaf) and yes == no:
        return yes
    return Split(node.test, yes, no)
