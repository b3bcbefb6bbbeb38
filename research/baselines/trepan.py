"""TREPAN: a tree that resembles an oracle, found by asking it.

References
----------
M. W. Craven and J. W. Shavlik, "Extracting tree-structured representations of trained
networks", Advances in Neural Information Processing Systems 8, 1996.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from nn2rules.errors import OptionError
from nn2rules.language import label_text
from nn2rules.network import labels_array
from nn2rules.space import Domain, Rows, Value
from research.baselines.growth import Growth, Leaf, Limits, Split
from research.baselines.oracle import (
    TreeOracle,
    class_number,
    domain_for,
    encoded_rows,
    resemblance,
)


class Trepan(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A tree with tests of the kind *m of n* that resembles a network.

    Parameters
    ----------
    oracle : Network, or any object with a method `predict`
        Whom the tree is to resemble. A network is asked in codes; any other object is
        given rows of the same kind as `fit` is: a frame of the same library, or a
        list of dicts.
    domain : Domain, optional
        The features with all their values. A network knows them.
    max_nodes : int
        The most tests in the tree.
    min_samples : int
        How many inputs a test is chosen by. Where fewer rows of the data reach a
        node, others are drawn from a model of the data and labelled by the oracle.
    beam_width : int
        How many tests the search for one follows at a time.
    purity, confidence : float
        A node is not split if one class has the share `purity` of all that reaches
        it, with this confidence. Where all rows are of one class but too few to tell,
        more inputs are drawn.
    reuse_features : bool
        Whether a feature may occur in several disjunctive tests of a path. The
        original forbids it, to draw inputs easily. Trees are better with it.
    random_state : int
        The seed of what is drawn. The same seed gives the same tree.

    Attributes
    ----------
    tree_ : Leaf or Split
        The tree.
    classes_ : ndarray
        The labels of the oracle's classes.
    n_queries_ : int
        About how many inputs the oracle was asked: the distinct rows of the data, and
        the inputs drawn.
    n_leaves_, n_nodes_ : int
        The number of answers in the tree, and of tests.

    Notes
    -----
    The leaf with the largest *reach · (1 − fidelity)* is split first. Inputs are drawn
    feature by feature from the marginals of the rows that reach the node (of its
    parent, where fewer than 50 do), given all tests on the path; this is exact, see
    `research.baselines.sampling`. Tests are found by
    `research.baselines.mofn.best_test`. Nothing is pruned, except that two sibling
    leaves of one class become one.

    Features here are categorical, so the original's kernel densities and thresholds
    for continuous features are not needed. The original ranks tests by their gain
    ratio; here, information gain is the measure.

    References
    ----------
    M. W. Craven and J. W. Shavlik, "Extracting tree-structured representations of
    trained networks", Advances in Neural Information Processing Systems 8, 1996.

    Examples
    --------
    >>> import nn2rules
    >>> tomato = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> tree = Trepan(tomato).fit(nn2rules.datasets.load("tomato").train.rows)
    >>> print(tree.text())
    2 of {color = red, size ≠ small}
      yes: ripe
      no: unripe
    >>> tree.predict([{"color": "red", "size": "big"}])
    array(['ripe'], dtype='<U6')
    >>> tree.n_leaves_, tree.n_rules("ripe")
    (2, 1)
    """

    def __init__(
        self,
        oracle: Any = None,
        *,
        domain: Domain | None = None,
        max_nodes: int = 63,
        min_samples: int = 1000,
        beam_width: int = 2,
        purity: float = 0.99,
        confidence: float = 0.95,
        reuse_features: bool = True,
        random_state: int = 0,
    ) -> None:
        self.oracle, self.domain = oracle, domain
        self.max_nodes, self.min_samples = max_nodes, min_samples
        self.beam_width = beam_width
        self.purity, self.confidence = purity, confidence
        self.reuse_features, self.random_state = reuse_features, random_state

    def fit(self, rows: Rows, y: Any = None) -> "Trepan":  # noqa: ARG002
        """Grow the tree; `y` is ignored, since the oracle labels the rows.

        Raises
        ------
        RowsError, UnknownValueError
            If the rows cannot be read.
        OptionError
            If the oracle or the domain is missing, or a number makes no sense.
        """
        limits = self._limits()
        domain = domain_for(self.oracle, self.domain)
        codes = encoded_rows(domain, rows)
        oracle = TreeOracle(self.oracle, domain, like=rows)
        random = np.random.default_rng(self.random_state)
        self.tree_ = Growth(oracle, limits, random).grow(codes)
        self.domain_, self.classes_ = domain, labels_array(oracle.classes)
        self.n_queries_ = oracle.n_queries
        self.n_leaves_ = sum(1 for _ in _leaves(self.tree_))
        self.n_nodes_ = self.n_leaves_ - 1
        return self

    def _limits(self) -> Limits:
        for name, least in (("max_nodes", 0), ("min_samples", 0), ("beam_width", 1)):
            number = getattr(self, name)
            if not isinstance(number, int | np.integer) or number < least:
                raise OptionError(
                    f"{name}: {number!r}, expected a whole number from {least} on"
                )
        for name in ("purity", "confidence"):
            share = getattr(self, name)
            if not 0 < share < 1:
                raise OptionError(f"{name}: {share!r}, expected between 0 and 1")
        return Limits(
            self.max_nodes,
            self.min_samples,
            self.beam_width,
            self.purity,
            self.confidence,
            self.reuse_features,
        )

    def predict(self, rows: Rows) -> NDArray[Any]:
        """Return the class label of each row."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_codes(self.domain_.encode(rows))])

    def predict_codes(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the position of the class of each input, given as codes."""
        check_is_fitted(self)
        inputs = self.domain_.checked_codes(codes)
        answers = np.empty(len(inputs), dtype=np.int64)
        _answer(self.tree_, inputs, np.arange(len(inputs)), answers)
        return answers

    def score(self, rows: Rows, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of rows answered as `y` has it, or as the oracle answers.

        Without `y` this is the fidelity of the tree.
        """
        check_is_fitted(self)
        return resemblance(self, rows, y, sample_weight)

    def n_rules(self, label: Value = None) -> int:
        """Return the number of leaves that answer `label`, or of all leaves.

        Raises
        ------
        OptionError
            If no class is called so.
        """
        check_is_fitted(self)
        if label is None:
            return self.n_leaves_
        number = class_number(self.classes_.tolist(), label)
        return sum(leaf.answer == number for leaf in _leaves(self.tree_))

    def text(self) -> str:
        """Return the tree as text: each test, and below it what follows from it."""
        check_is_fitted(self)
        labels = [label_text(label) for label in self.classes_.tolist()]
        return "\n".join(_lines(self.tree_, self.domain_, labels))


def _leaves(tree: Leaf | Split) -> Iterator[Leaf]:
    if isinstance(tree, Leaf):
        yield tree
    else:
        yield from _leaves(tree.yes)
        yield from _leaves(tree.no)


def _answer(
    tree: Leaf | Split,
    codes: NDArray[np.int64],
    which: NDArray[np.int64],
    answers: NDArray[np.int64],
) -> None:
    """Write the answers of a tree for the inputs `which` into `answers`."""
    if isinstance(tree, Leaf):
        answers[which] = tree.answer
        return
    holds = tree.test.holds(codes[which])
    _answer(tree.yes, codes, which[holds], answers)
    _answer(tree.no, codes, which[~holds], answers)


def _lines(tree: Leaf | Split, domain: Domain, labels: list[str]) -> Iterator[str]:
    if isinstance(tree, Leaf):
        yield labels[tree.answer]
        return
    yield tree.test.text(domain)
    for word, branch in (("yes", tree.yes), ("no", tree.no)):
        first, *rest = _lines(branch, domain, labels)
        yield f"  {word}: {first}"
        yield from (f"  {line}" for line in rest)
