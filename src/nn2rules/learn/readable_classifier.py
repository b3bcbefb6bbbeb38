"""A classifier of scikit-learn that is trained to be read."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted

from nn2rules.engine import ProgressOption, closing_progress, progress_callback
from nn2rules.errors import InternalError, OptionError
from nn2rules.learn.tabular import TabularClassifier
from nn2rules.learn.training import (
    MOST_RULES,
    Path,
    Schooling,
    Taught,
    chosen,
    learn,
    shares_of,
)
from nn2rules.learn.training.learning import follows
from nn2rules.learn.training.peers import Peer, peers_of
from nn2rules.space import whole_number

MANY_LABELS = 20
"""With more different numbers than that, and few rows of each, labels are measures."""


class ReadableClassifier(TabularClassifier):
    """Train a small network whose rules are few, and exactly equal to it.

    Columns are cut at few, round places, words are put into few groups, and most
    columns vanish: a network is trained that may ask everything about a row, and what
    it can do best without is taken away, one question after the other. That gives a
    path of networks from rich to simple; each has its rules, and an accuracy on rows
    held out. By default the one with the fewest rules is chosen that is within one
    standard error of the best.

    Parameters
    ----------
    max_rules : int, optional
        At most so many rules.
    tolerance : float, optional
        How much accuracy may be lost against the best network of the path; by default
        one standard error.
    monotone : dict from column names to 1 or -1, optional
        Columns of numbers, or of categories in order, with which the second of two
        classes may only become more likely (1) or less (-1).
    units : int or sequence of int
        Of the hidden layer. Of several, those are taken with which networks are best on
        rows held out.
    alpha : float
        The penalty on the squares of the weights, for all rows together.
    cuts : int
        How often a column may be cut at first.
    questions : int
        How many of these cuts the richest network of the path may keep.
    folds : int
        How often rows are held out to measure the accuracy.
    random_state : int
        The same rows and seed: the same network and rules.
    n_jobs : int, optional
        How many processes, by default one on each core.
    progress : callable or False, optional
        As in `nn2rules.extract`.

    Attributes
    ----------
    network_ : Network
        The network that was chosen.
    rules_ : RuleList
        Its rules: on every input of its domain they answer as it does.
    path_ : Path
        All networks, from simple to rich, with their accuracy and rules.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If `fit` saw a frame. The columns of an array are called x0, x1, …

    Examples
    --------
    >>> import nn2rules
    >>> cars = nn2rules.datasets.load("car").train.to_frame()
    >>> X, y = cars.drop(columns="label"), cars["label"]
    >>> print(ReadableClassifier(questions=4).fit(X, y).path_)
    questions  columns   inputs  rules  accuracy
            1        1        2      0   70.0 ± 0.0%
            2        2        4      1   85.4 ± 1.1%
            3        3        8      3   87.0 ± 0.8%
            4        4       16      2   91.5 ± 0.8%  ← chosen
    """

    def __init__(
        self,
        *,
        max_rules: int | None = None,
        tolerance: float | None = None,
        monotone: Mapping[str, int] | None = None,
        units: int | Sequence[int] = (2, 4),
        alpha: float = 1.0,
        cuts: int = 8,
        questions: int = 24,
        folds: int = 5,
        random_state: int = 0,
        n_jobs: int | None = None,
        progress: ProgressOption = None,
    ) -> None:
        self.max_rules = max_rules
        self.tolerance = tolerance
        self.monotone = monotone
        self.units = units
        self.alpha = alpha
        self.cuts = cuts
        self.questions = questions
        self.folds = folds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any) -> "ReadableClassifier":  # noqa: N803
        """Train the networks of the path, and choose one.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            Raw columns: numbers, words, categories, with gaps.
        y : sequence of class labels
        """
        how, units = self._schooling(), self._units()
        _refuse_measures(y)
        table, labels = self._taught(X, y)
        self.classes_, truth = np.unique(labels, return_inverse=True)
        signs = self._signs()
        taught = Taught(
            self._rows(table),
            tuple(self._names),
            truth,
            tuple(self.classes_.tolist()),
            signs,
            how,
            self.cuts,
        )
        told = progress_callback(self.progress)
        with closing_progress(told):
            points = learn(
                taught,
                self._held_out(truth),
                units,
                n_jobs=self.n_jobs,
                progress=told or _silent,
                most_rules=max(MOST_RULES, self.max_rules or 0),
            )
        for name, sign in signs.items():
            if not all(follows(point.network, name, sign) for point in points):
                raise InternalError(f"a network does not follow {name!r} as it must")
        self.path_ = Path(tuple(points), chosen(points, self.tolerance, self.max_rules))
        self.network_ = points[self.path_.chosen].network
        self.rules_ = points[self.path_.chosen].rules
        return self

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the class label of each row: the network's, and so the rules'."""
        check_is_fitted(self)
        inputs = self.network_.domain.inputs_of(self._rows(self._checked(X)))
        answers: NDArray[Any] = self.classes_[self.network_.predict_codes(*inputs)]
        return answers

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the network's probability of each class, for each row."""
        check_is_fitted(self)
        scores = self.network_.scores(self._rows(self._checked(X)))
        if scores.ndim == 2:
            return shares_of(scores)
        shares = shares_of(scores[:, np.newaxis])
        return np.hstack([1 - shares, shares])

    def peers(self, X: Any, y: Any) -> list[Peer]:  # noqa: N803
        """Measure other models on the folds of this one: what being read costs.

        They are scikit-learn's default network, a decision tree with as many leaves as
        are best on held-out rows, and logistic regression.

        Parameters
        ----------
        X : frame
            As in `fit`.
        y : sequence of class labels
        """
        check_is_fitted(self)
        labels = np.asarray(y)
        truth = np.searchsorted(self.classes_, labels)
        return peers_of(X, labels, self._held_out(truth), seed=self.random_state)

    def _allows_gaps(self) -> bool:
        return True

    def _schooling(self) -> Schooling:
        for name, least in (("cuts", 1), ("questions", 1), ("folds", 2)):
            whole_number(name, getattr(self, name), least)
        if self.max_rules is not None:
            whole_number("max_rules", self.max_rules, 0)
        for name in ("alpha", "tolerance"):
            given = getattr(self, name)
            is_real = isinstance(given, Real) and not isinstance(given, bool)
            if not (given is None and name == "tolerance") and not (
                is_real and 0 <= given < np.inf
            ):
                raise OptionError(f"{name}: {given!r}, expected a number from 0 on")
        seed = whole_number("random_state", self.random_state)
        return Schooling(self._units()[0], float(self.alpha), self.questions, seed)

    def _units(self) -> list[int]:
        is_list = isinstance(self.units, Sequence) and not isinstance(self.units, str)
        given: Any = self.units if is_list and self.units else [self.units]
        return [whole_number("units", number, 1) for number in given]

    def _signs(self) -> dict[str, int]:
        """Return which columns may turn the answer one way only, checked."""
        signs = dict(self.monotone or {})
        for name, sign in signs.items():
            if name not in self._names:
                known = ", ".join(repr(known) for known in self._names)
                raise OptionError(
                    f"monotone: there is no column {name!r}; the columns are {known}"
                )
            if sign not in (1, -1) or isinstance(sign, bool):
                raise OptionError(f"monotone: {name!r} has {sign!r}, expected 1 or -1")
        if signs and len(self.classes_) > 2:
            raise OptionError(
                f"monotone is for two classes, of which the second becomes more or "
                f"less likely; there are {len(self.classes_)}"
            )
        return signs

    def _held_out(
        self, truth: NDArray[np.int64]
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return the rows to train on and those held out, for each fold."""
        fewest = int(np.bincount(truth).min())
        if fewest < 2:
            label = self.classes_[np.argmin(np.bincount(truth))]
            raise OptionError(
                f"the class {str(label)!r} has one row only; to hold rows out, each "
                f"class needs two or more"
            )
        folds = StratifiedKFold(
            min(self.folds, fewest), shuffle=True, random_state=self.random_state
        )
        return list(folds.split(np.zeros(len(truth)), truth))


def _silent(what: str, share: float) -> None:
    pass


def _refuse_measures(y: Any) -> None:
    """Refuse labels that measure something, and name no class."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.dtype.kind not in "iuf":
        return
    different, n_rows = len(np.unique(labels)), len(labels)
    if different > MANY_LABELS and n_rows < 10 * different:
        raise OptionError(
            f"Unknown label type: y has {different:,} different numbers in {n_rows:,} "
            f"rows: this is regression; a classifier needs few classes, so cut y into "
            f"ranges first"
        )
