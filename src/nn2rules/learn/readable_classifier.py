"""A scikit-learn classifier with few exact rules."""

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
    TrainingOptions,
    TrainingTable,
    chosen,
    learn,
    shares_of,
)
from nn2rules.learn.training.learning import follows
from nn2rules.learn.training.peers import Peer, peers_of
from nn2rules.space import whole_number

MANY_LABELS = 20
"""With more different numbers than this, and few rows of each, y is a measurement."""


class ReadableClassifier(TabularClassifier):
    """Train a small, interpretable network with few rules that are equal to it.

    Numbers are cut at a few round thresholds and categories are put into a few groups.
    First a network is trained on all these yes-or-no questions about a row; then the
    questions that matter least are pruned one by one, until most columns are gone. This
    gives a path of networks from complex to simple. Each has its rules and an accuracy
    on held-out rows. By default, the network with the fewest rules is chosen whose
    accuracy is within one standard error of the best.

    Parameters
    ----------
    max_rules : int, optional
        The maximum number of rules.
    tolerance : float, optional
        How much less accurate than the best network of the path the chosen one may be;
        by default one standard error.
    monotone : dict from column names to 1 or -1, optional
        Monotonic constraints, on columns of numbers or ordered categories: the second
        of two classes may only become more likely (1) or less likely (-1) as the value
        grows.
    units : int or sequence of int
        Number of hidden units. Of several numbers, the one with the most accurate
        networks on held-out rows is used.
    alpha : float
        Strength of the L2 penalty on the weights, for all rows together.
    cuts : int
        Maximum number of initial cuts per column.
    questions : int
        Maximum number of these cuts that a network of the path uses.
    folds : int
        Number of folds for measuring the accuracy.
    random_state : int
        Seed; the same rows and seed give the same network and rules.
    n_jobs : int, optional
        Number of processes, by default one per core.
    progress : callable or False, optional
        As in `nn2rules.extract`.

    Attributes
    ----------
    network_ : Network
        The network that was chosen.
    rules_ : RuleList
        Its rules: they predict what the network does for every input of its domain.
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
            Raw columns: numbers or categories, possibly with missing values.
        y : sequence of class labels
        """
        options, units = self._options(), self._units()
        _refuse_measures(y)
        frame, labels = self._training_data(X, y)
        self.classes_, truth = np.unique(labels, return_inverse=True)
        signs = self._signs()
        table = TrainingTable(
            self._rows(frame),
            tuple(self._names),
            truth,
            tuple(self.classes_.tolist()),
            signs,
            options,
            self.cuts,
        )
        progress = progress_callback(self.progress)
        with closing_progress(progress):
            points = learn(
                table,
                self._held_out(truth),
                units,
                n_jobs=self.n_jobs,
                progress=progress or _silent,
                most_rules=max(MOST_RULES, self.max_rules or 0),
            )
        for name, sign in signs.items():
            if not all(follows(point.network, name, sign) for point in points):
                raise InternalError(f"a network is not monotonic in {name!r}")
        self.path_ = Path(tuple(points), chosen(points, self.tolerance, self.max_rules))
        self.network_ = points[self.path_.chosen].network
        self.rules_ = points[self.path_.chosen].rules
        return self

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the class label of each row, by the network, which its rules equal."""
        check_is_fitted(self)
        inputs = self.network_.domain.inputs_of(self._rows(self._checked(X)))
        labels: NDArray[Any] = self.classes_[self.network_.predict_codes(*inputs)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the network's probability of each class for each row."""
        check_is_fitted(self)
        scores = self.network_.scores(self._rows(self._checked(X)))
        if scores.ndim == 2:
            return shares_of(scores)
        shares = shares_of(scores[:, np.newaxis])
        return np.hstack([1 - shares, shares])

    def peers(self, X: Any, y: Any) -> list[Peer]:  # noqa: N803
        """Measure other models on the same folds, to see what readability costs.

        They are scikit-learn's default network, a decision tree with the number of
        leaves that is best on held-out rows, and logistic regression.

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

    def _options(self) -> TrainingOptions:
        for name, minimum in (("cuts", 1), ("questions", 1), ("folds", 2)):
            whole_number(name, getattr(self, name), minimum)
        if self.max_rules is not None:
            whole_number("max_rules", self.max_rules, 0)
        for name in ("alpha", "tolerance"):
            value = getattr(self, name)
            is_real = isinstance(value, Real) and not isinstance(value, bool)
            if not (value is None and name == "tolerance") and not (
                is_real and 0 <= value < np.inf
            ):
                raise OptionError(f"{name}: {value!r}, expected a number of at least 0")
        seed = whole_number("random_state", self.random_state)
        return TrainingOptions(
            self._units()[0], float(self.alpha), self.questions, seed
        )

    def _units(self) -> list[int]:
        is_list = isinstance(self.units, Sequence) and not isinstance(self.units, str)
        numbers: Any = self.units if is_list and self.units else [self.units]
        return [whole_number("units", number, 1) for number in numbers]

    def _signs(self) -> dict[str, int]:
        """Return the monotonic constraints, checked."""
        signs = dict(self.monotone or {})
        for name, sign in signs.items():
            if name not in self._names:
                names = ", ".join(map(repr, self._names))
                raise OptionError(
                    f"monotone: there is no column {name!r}; the columns are {names}"
                )
            if sign not in (1, -1) or isinstance(sign, bool):
                raise OptionError(f"monotone: {name!r} has {sign!r}, expected 1 or -1")
        if signs and len(self.classes_) > 2:
            raise OptionError(
                f"monotone needs two classes, of which the second becomes more or less "
                f"likely; y has {len(self.classes_)}"
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
                f"class {str(label)!r} has a single row; holding out rows needs at "
                f"least two of each class"
            )
        folds = StratifiedKFold(
            min(self.folds, fewest), shuffle=True, random_state=self.random_state
        )
        return list(folds.split(np.zeros(len(truth)), truth))


def _silent(what: str, share: float) -> None:
    pass


def _refuse_measures(y: Any) -> None:
    """Refuse labels that are measurements and not classes."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.dtype.kind not in "iuf":
        return
    n_different, n_rows = len(np.unique(labels)), len(labels)
    if n_different > MANY_LABELS and n_rows < 10 * n_different:
        raise OptionError(
            f"Unknown label type: y has {n_different:,} different numbers in "
            f"{n_rows:,} rows, so this is regression; a classifier needs few "
            f"classes: put y into bins first"
        )
