"""The paper's two baselines: a decision tree, and its simple form of TREPAN.

Both are scikit-learn's decision trees on one column for each value of each feature.
They differ in what they learn: the labels of the data, or the network's answers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from nn2rules.errors import OptionError, RowsError
from nn2rules.network import labels_array
from nn2rules.space import Domain, Rows, Value, text_of
from research.baselines.oracle import (
    TreeOracle,
    agreement,
    class_number,
    domain_for,
    encoded_rows,
    labels_of,
    resemblance,
)

DEPTHS = range(1, 21)
"""The depths that `max_depth="validate"` tries."""

HELD_OUT = 0.2
"""The share of the rows that it tries them on."""


def one_hot(domain: Domain, codes: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return a column for each value of each feature: 1 where a row has it, else 0.

    Examples
    --------
    >>> from nn2rules.space import Feature
    >>> domain = Domain((Feature("color", ("red", "yellow")),
    ...                  Feature("size", ("small", "medium", "big"))))
    >>> one_hot(domain, np.array([[1, 2], [0, 0]]))
    array([[0., 1., 0., 0., 1.],
           [1., 0., 1., 0., 0.]], dtype=float32)
    """
    columns = np.zeros((len(codes), int(domain.offsets[-1])), dtype=np.float32)
    np.put_along_axis(columns, domain.offsets[:-1] + codes, 1, axis=1)
    return columns


class DecisionTree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree trained on the labels of the data.

    Parameters
    ----------
    domain : Domain
        The features with all their values.
    max_depth : int or "validate"
        The most tests on a path; 6 as in the paper's experiments. `"validate"` holds
        out a fifth of the rows, trains trees of depth 1 to 20 on the others, and
        takes the smallest depth of those that get most of the held-out rows right.
        Then all rows train the tree.
    random_state : int
        Decides which rows are held out, and between tests that are equally good.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    depth_ : int
        The `max_depth` that the tree was trained with.
    tree_ : sklearn.tree.DecisionTreeClassifier
        The tree, on the columns of `one_hot`. Its classes are numbers.

    Examples
    --------
    >>> from nn2rules import datasets
    >>> car = datasets.load("car")
    >>> tree = DecisionTree(car.domain).fit(car.train.rows, car.train.labels)
    >>> round(tree.score(car.test.rows, car.test.labels), 3)
    0.942
    >>> tree.n_rules("acc"), tree.n_rules()
    (9, 16)
    """

    def __init__(
        self,
        domain: Domain | None = None,
        *,
        max_depth: int | str = 6,
        random_state: int = 0,
    ) -> None:
        self.domain, self.max_depth = domain, max_depth
        self.random_state = random_state

    def fit(self, rows: Rows, y: Any) -> "DecisionTree":
        """Train the tree on `rows` and their labels `y`.

        Raises
        ------
        RowsError, UnknownValueError
            If the rows or the labels cannot be read.
        OptionError
            If the domain is missing, or the depth makes no sense.
        """
        if not isinstance(self.domain, Domain):
            raise OptionError("the features are not known; give domain= a Domain")
        codes = encoded_rows(self.domain, rows)
        self._train(self.domain, codes, labels_of(y, len(codes)))
        return self

    def _train(
        self, domain: Domain, codes: NDArray[np.int64], labels: list[Value]
    ) -> None:
        labels_known = _sorted(set(labels))
        numbers = {label: number for number, label in enumerate(labels_known)}
        columns = one_hot(domain, codes)
        targets = np.array([numbers[label] for label in labels])
        self.domain_, self.classes_ = domain, labels_array(labels_known)
        self.depth_ = _depth(self.max_depth, columns, targets, self.random_state)
        self.tree_ = _tree(self.depth_, self.random_state).fit(columns, targets)

    def predict(self, rows: Rows) -> NDArray[Any]:
        """Return the class label of each row."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_codes(self.domain_.encode(rows))])

    def predict_codes(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the position of the class of each input, given as codes."""
        check_is_fitted(self)
        inputs = self.domain_.checked_codes(codes)
        if not len(inputs):  # scikit-learn refuses to predict nothing
            return np.zeros(0, dtype=np.int64)
        answers = self.tree_.predict(one_hot(self.domain_, inputs))
        return np.asarray(answers, dtype=np.int64)

    def score(self, rows: Rows, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows answered as `y` has it."""
        return agreement(self.predict(rows), y, sample_weight)

    def n_rules(self, label: Value = None) -> int:
        """Return the number of leaves that answer `label`, or of all leaves.

        Each leaf is a rule: the tests on the path to it.

        Raises
        ------
        OptionError
            If no class is called so.
        """
        check_is_fitted(self)
        tree = self.tree_.tree_
        answers = tree.value[tree.children_left < 0, 0].argmax(axis=1)
        if label is None:
            return len(answers)
        return int((answers == class_number(self.classes_.tolist(), label)).sum())


class SimpleTrepan(DecisionTree):
    """A decision tree trained on the network's answers to the rows of the data.

    The paper calls this a simple version of TREPAN: it asks the network about no
    other inputs. See `Trepan` for the full method.

    Parameters
    ----------
    oracle : Network, or any object with a method `predict`
        A network is asked in codes; any other object is given rows of the same kind
        as `fit` is: a frame of the same library, or a list of dicts.
    domain : Domain, optional
        The features with all their values. A network knows them.
    max_depth, random_state
        As for `DecisionTree`; held-out rows have the network's answers for labels.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("car"))
    >>> car = nn2rules.datasets.load("car")
    >>> tree = SimpleTrepan(network, max_depth="validate").fit(car.train.rows)
    >>> tree.depth_, tree.n_rules("acc")
    (7, 18)
    >>> round(tree.score(car.test.rows), 3)
    0.965
    """

    def __init__(
        self,
        oracle: Any = None,
        *,
        domain: Domain | None = None,
        max_depth: int | str = 6,
        random_state: int = 0,
    ) -> None:
        super().__init__(domain, max_depth=max_depth, random_state=random_state)
        self.oracle = oracle

    def fit(self, rows: Rows, y: Any = None) -> "SimpleTrepan":  # noqa: ARG002
        """Train the tree on `rows`, labelled by the oracle; `y` is ignored.

        Raises
        ------
        RowsError, UnknownValueError
            If the rows cannot be read.
        OptionError
            If the oracle or the domain is missing, or the depth makes no sense.
        """
        domain = domain_for(self.oracle, self.domain)
        codes = encoded_rows(domain, rows)
        oracle = TreeOracle(self.oracle, domain, like=rows)
        self._train(domain, codes, oracle.labels(codes))
        return self

    def score(self, rows: Rows, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of rows answered as `y` has it, or as the oracle answers.

        Without `y` this is the fidelity of the tree.
        """
        check_is_fitted(self)
        return resemblance(self, rows, y, sample_weight)


def _tree(depth: int, random_state: int) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=depth, random_state=random_state)


def _depth(
    max_depth: int | str,
    columns: NDArray[np.float32],
    targets: NDArray[np.int64],
    random_state: int,
) -> int:
    """Return the depth that `max_depth` stands for."""
    if isinstance(max_depth, int) and not isinstance(max_depth, bool) and max_depth > 0:
        return max_depth
    if max_depth != "validate":
        raise OptionError(
            f"max_depth: {max_depth!r}, expected a number from 1 on, or 'validate'"
        )
    if len(columns) < 2:
        raise RowsError("max_depth='validate' needs at least 2 rows; there is 1")
    ours, held, our_targets, held_targets = train_test_split(
        columns, targets, test_size=HELD_OUT, random_state=random_state
    )
    scores = [
        _tree(depth, random_state).fit(ours, our_targets).score(held, held_targets)
        for depth in DEPTHS
    ]
    return DEPTHS[int(np.argmax(scores))]


def _sorted(labels: set[Value]) -> list[Value]:
    """Sort labels as scikit-learn does, and those it refuses by their text."""
    try:
        return sorted(labels)  # type: ignore[type-var]
    except TypeError:
        return sorted(labels, key=text_of)
