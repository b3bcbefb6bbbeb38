"""A scikit-learn classifier with few exact rules."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from nn2rules.engine import ProgressOption, closing_progress, progress_callback
from nn2rules.errors import ConstantWarning, InternalError, OptionError
from nn2rules.language import label_text
from nn2rules.learn.tabular import TabularClassifier
from nn2rules.learn.training import (
    Fold,
    Path,
    Point,
    Targets,
    TrainingOptions,
    TrainingTable,
    chosen,
    follows,
    learn_cards,
    learn_rules,
    shares_of,
)
from nn2rules.learn.training.peers import Peer, peers_of
from nn2rules.rules import RuleList, certificate_of
from nn2rules.scorecards import Scorecard
from nn2rules.space import picked_rows, whole_number

_FORMS = ("auto", "rules", "scorecard")

_REPEATS = ((400, 4), (1500, 2), (math.inf, 1))
"""How often the folds of a table with at most this many rows are drawn anew."""

Progress: TypeAlias = Callable[[str, float], None]

MANY_LABELS = 20
"""With more different numbers than this, and few rows of each, y is a measurement."""


class ReadableClassifier(TabularClassifier):
    """Train a small, interpretable network with a scorecard or few rules equal to it.

    Numbers are cut at a few round thresholds and categories are put into a few groups.
    A network is trained on all these yes-or-no questions about a row; then the
    questions that matter least are pruned, until most columns are gone. This gives a
    path of networks from simple to complex, each with a description that predicts what
    it does on every input, and its accuracy, AUC and Brier score on held-out rows.

    There are two forms. A scorecard has integer points for each bin or group of a
    column, a total and a cut-off. Rules are tried in order. Scorecards are better where
    effects add up, rules where they depend on each other.

    The best network has the largest sum of accuracy and AUC on held-out rows, among
    those that are at least as accurate as always predicting the most frequent class.
    Chosen is the shortest description whose accuracy and AUC are within `tolerance` of
    the best; `choose` takes another one.

    Parameters
    ----------
    form : {"auto", "rules", "scorecard"}
        The form of the description; by default both are trained.
    max_rules : int, optional
        The maximum number of rules, by default 30.
    max_lines : int
        The maximum number of lines of a scorecard.
    tolerance : float, optional
        By how much accuracy and AUC may be lower than those of the best network of the
        path; by default 0.003.
    monotone : dict from column names to 1 or -1, optional
        Monotonic constraints, on columns of numbers or ordered categories: the second
        of two classes may only become more likely (1) or less likely (-1) as the value
        grows.
    class_weight : dict from class labels to numbers, or "balanced", optional
        How much the rows of each class count.
    units : int or sequence of int
        Number of hidden units, for rules. Of several numbers, the one with the most
        accurate networks on held-out rows is used.
    alpha : float or sequence of float
        Strength of the L2 penalty on the weights, for all rows together. Of several
        numbers, the best on held-out rows is used.
    cuts : int
        Maximum number of initial cuts per column.
    questions : int
        Maximum number of these cuts that a network with rules uses.
    folds : int
        Number of folds for measuring the accuracy. For scorecards on tables of at most
        1,500 rows they are drawn twice, and four times on those of at most 400.
    random_state : int
        Seed; the same rows and seed give the same network and description.
    n_jobs : int, optional
        Number of processes, by default one per core.
    progress : callable or False, optional
        As in `nn2rules.extract`.

    Attributes
    ----------
    network_ : Network
        The network that was chosen.
    description_ : RuleList or Scorecard
        It predicts what the network does for every input of its domain.
    rules_ : RuleList
        The same, if it is a rule list.
    scorecard_ : Scorecard
        The same, if it is a scorecard.
    path_ : Path
        All networks, from simple to complex, with what they achieve on held-out rows.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If `fit` saw a frame. The columns of an array are called x0, x1, …

    Examples
    --------
    >>> import nn2rules
    >>> cars = nn2rules.datasets.load("car").train.to_frame()
    >>> X, y = cars.drop(columns="label"), cars["label"]
    >>> print(ReadableClassifier(form="scorecard", max_lines=8).fit(X, y).path_)
    form       columns   size  accuracy        AUC  Brier
    scorecard        0      0   70.0 ± 0.0%  0.500  0.210
    scorecard        1      2   70.0 ± 0.0%  0.746  0.163
    scorecard        2      4   85.4 ± 0.6%  0.896  0.099
    scorecard        3      6   85.4 ± 0.6%  0.941  0.083
    scorecard        4      8   89.4 ± 0.5%  0.958  0.074  ← chosen
    """

    def __init__(
        self,
        *,
        form: Literal["auto", "rules", "scorecard"] = "auto",
        max_rules: int | None = None,
        max_lines: int = 30,
        tolerance: float | None = None,
        monotone: Mapping[str, int] | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        units: int | Sequence[int] = (2, 4),
        alpha: float | Sequence[float] = (1.0, 10.0),
        cuts: int = 8,
        questions: int = 24,
        folds: int = 5,
        random_state: int = 0,
        n_jobs: int | None = None,
        progress: ProgressOption = None,
    ) -> None:
        self.form = form
        self.max_rules = max_rules
        self.max_lines = max_lines
        self.tolerance = tolerance
        self.monotone = monotone
        self.class_weight = class_weight
        self.units = units
        self.alpha = alpha
        self.cuts = cuts
        self.questions = questions
        self.folds = folds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any,
        sample_weight: Any = None,
    ) -> "ReadableClassifier":
        """Train the networks of the path, and choose one.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            Raw columns: numbers or categories, possibly with missing values.
        y : sequence of class labels
        sample_weight : sequence of numbers, optional
            How much each row counts. Whole numbers count rows: a row of weight 2 is
            two rows, and one of weight 0 is left out. Other weights are scaled so that
            their mean is 1.
        """
        self._check_options()
        _refuse_measures(y)
        frame, labels = self._training_data(X, y)
        weights = checked_weights(sample_weight, len(labels))
        kept = np.flatnonzero(weights)
        if len(kept) < len(labels):
            frame, labels, weights = _picked(frame, kept), labels[kept], weights[kept]
        self.classes_, truth = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise OptionError("all rows with a weight above 0 have the same class")
        weights = weights * self._class_weights(labels)
        signs = self._signs()
        table = TrainingTable(
            self._rows(frame),
            tuple(self._names),
            Targets.of_labels(truth, len(self.classes_), weights),
            tuple(self.classes_.tolist()),
            signs,
            self._options(),
            self.cuts,
        )
        progress = progress_callback(self.progress)
        with closing_progress(progress):
            points = self._learned(table, self._held_out(truth), progress or _silent)
        self.path_ = Path(
            tuple(points),
            chosen(points, self.tolerance, self.max_rules),
        )
        self._take(self.path_)
        self._warn_of_constant()
        return self

    def _warn_of_constant(self) -> None:
        """Warn if the network predicts the same class for all training rows."""
        counts = certificate_of(self.description_).class_rows or ()
        if sum(count > 0 for count in counts) == 1:
            label = label_text(self.network_.classes[int(np.argmax(counts))])
            warnings.warn(
                f"the chosen network predicts {label} for all rows, since no other is "
                f"more accurate on held-out rows; path_ has the others, and "
                f"class_weight='balanced' gives rare classes more weight",
                ConstantWarning,
                stacklevel=3,
            )

    def _learned(
        self, table: TrainingTable, folds: list[Fold], progress: Progress
    ) -> list[Point]:
        """Return the networks of the path, in all forms that were asked for."""
        forms = ("scorecard", "rules") if self.form == "auto" else (self.form,)
        points: list[Point] = []
        for place, form in enumerate(forms):
            report = partial(_part_of, progress, place / len(forms), 1 / len(forms))
            if form == "scorecard":
                points += learn_cards(
                    table,
                    folds,
                    self._numbers("alpha"),
                    max_lines=self.max_lines,
                    n_jobs=self.n_jobs,
                    progress=report,
                )
                continue
            found = learn_rules(
                table,
                folds[: self.folds],
                self._numbers("units"),
                self._numbers("alpha"),
                max_rules=self.max_rules,
                n_jobs=self.n_jobs,
                progress=report,
            )
            points += found[1:] if points else found  # one constant is enough
        for name, sign in table.signs.items():
            if not all(follows(point.network, name, sign) for point in points):
                raise InternalError(f"a network is not monotonic in {name!r}")
        return points

    def choose(self, place: int) -> "ReadableClassifier":
        """Return a copy of this classifier with another network of its path.

        Parameters
        ----------
        place : int
            The position in ``path_.points``; -1 is the last.

        Examples
        --------
        >>> import nn2rules
        >>> cars = nn2rules.datasets.load("car").train.to_frame()
        >>> model = ReadableClassifier(form="scorecard")
        >>> model = model.fit(cars.drop(columns="label"), cars["label"])
        >>> len(model.choose(1).network_.domain.features)
        1
        """
        check_is_fitted(self)
        n_points = len(self.path_)
        is_place = isinstance(place, int | np.integer) and not isinstance(place, bool)
        if not is_place or not -n_points <= place < n_points:
            raise OptionError(
                f"place: {place!r}, expected 0 to {n_points - 1}, a position in "
                f"path_.points"
            )
        model = copy(self)
        return model._take(Path(self.path_.points, int(place) % n_points))

    def _take(self, path: Path) -> "ReadableClassifier":
        """Use the network of a path that is chosen."""
        point = path.points[path.chosen]
        self.path_ = path
        self.network_, self.description_ = point.network, point.description
        return self

    @property
    def rules_(self) -> RuleList:
        """The rules of the network, if it is described by rules."""
        check_is_fitted(self)
        if not isinstance(self.description_, RuleList):
            raise AttributeError(  # noqa: TRY004
                "the chosen network is described by a scorecard: see scorecard_, or "
                "train with form='rules'"
            )
        return self.description_

    @property
    def scorecard_(self) -> Scorecard:
        """The scorecard of the network, if it is described by one."""
        check_is_fitted(self)
        if not isinstance(self.description_, Scorecard):
            raise AttributeError(  # noqa: TRY004
                "the chosen network is described by rules: see rules_, or train with "
                "form='scorecard'"
            )
        return self.description_

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the class of each row, by the network, like its description."""
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

    def _check_options(self) -> None:
        if self.form not in _FORMS:
            raise OptionError(
                f"form: {self.form!r}, expected one of {', '.join(map(repr, _FORMS))}"
            )
        minimums = {"cuts": 1, "questions": 1, "folds": 2, "max_lines": 2}
        for name, minimum in minimums.items():
            whole_number(name, getattr(self, name), minimum)
        if self.max_rules is not None:
            whole_number("max_rules", self.max_rules, 0)
        if self.tolerance is not None:
            _check_size("tolerance", self.tolerance)
        for number in self._numbers("alpha"):
            _check_size("alpha", number)
        for number in self._numbers("units"):
            whole_number("units", number, 1)
        whole_number("random_state", self.random_state)

    def _options(self) -> TrainingOptions:
        alpha = float(self._numbers("alpha")[0])
        units = self._numbers("units")[0]
        return TrainingOptions(units, alpha, self.questions, int(self.random_state))

    def _numbers(self, name: str) -> Any:
        """Return the numbers of an option that may be one or several."""
        value = getattr(self, name)
        is_list = isinstance(value, Sequence) and not isinstance(value, str)
        return value if is_list and len(value) else [value]

    def _class_weights(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """Return what the rows weigh for their classes."""
        try:
            weights = compute_sample_weight(self.class_weight, labels)
        except (ValueError, InvalidParameterError) as error:
            raise OptionError(f"class_weight: {error}") from None
        return checked_weights(weights, len(labels), "class_weight")

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

    def _held_out(self, truth: NDArray[np.int64]) -> list[Fold]:
        """Return the rows to train on and those held out, for each fold."""
        fewest = int(np.bincount(truth).min())
        if fewest < 2:
            label = self.classes_[np.argmin(np.bincount(truth))]
            raise OptionError(
                f"class {str(label)!r} has a single row; holding out rows needs at "
                f"least two of each class"
            )
        n_repeats = next(number for rows, number in _REPEATS if len(truth) <= rows)
        folds = RepeatedStratifiedKFold(
            n_splits=min(self.folds, fewest),
            n_repeats=n_repeats,
            random_state=self.random_state,
        )
        return list(folds.split(np.zeros(len(truth)), truth))


def checked_weights(
    weights: Any, n_rows: int, name: str = "sample_weight"
) -> NDArray[np.float64]:
    """Return the weights of rows: whole numbers as they are, others of mean 1.

    Examples
    --------
    >>> checked_weights([2, 0, 1], 3).tolist()
    [2.0, 0.0, 1.0]
    >>> checked_weights([0.25, 0.75], 2).tolist()
    [0.5, 1.5]
    """
    if weights is None:
        return np.ones(n_rows)
    try:
        numbers = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"{name}: expected a number for each row") from None
    if numbers.shape != (n_rows,):
        raise OptionError(
            f"{name}: it has shape {numbers.shape}, expected ({n_rows},), a number for "
            f"each row"
        )
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(wrong):
        row = int(wrong[0])
        raise OptionError(
            f"{name}: row {row} has {numbers[row]:g}, expected a finite number of at "
            f"least 0"
        )
    if not numbers.any():
        raise OptionError(f"{name}: every weight is zero, so there are no rows")
    if (numbers == np.floor(numbers)).all():
        return numbers
    scaled: NDArray[np.float64] = numbers / numbers[numbers > 0].mean()
    return scaled


def _check_size(name: str, value: object) -> None:
    """Refuse what is not a finite number of at least 0."""
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    if not (is_real and 0 <= value < np.inf):  # type: ignore[operator]
        raise OptionError(f"{name}: {value!r}, expected a number of at least 0")


def _picked(table: Any, places: NDArray[np.int64]) -> Any:
    """Return some rows of a checked table."""
    return (
        table[places] if isinstance(table, np.ndarray) else picked_rows(table, places)
    )


def _silent(what: str, share: float) -> None:
    pass


def _part_of(
    progress: Progress, start: float, part: float, what: str, share: float
) -> None:
    """Report the progress of one part of the work."""
    progress(what, start + part * share)


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
