"""A scikit-learn classifier that trains a model and predicts with its rules."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from nn2rules.errors import OptionError
from nn2rules.extraction import Form, Scope, extract
from nn2rules.learn.tabular import TabularClassifier
from nn2rules.models import read_network
from nn2rules.network import Network
from nn2rules.rules import RuleList, label_positions
from nn2rules.space import (
    Domain,
    Feature,
    Intervals,
    Value,
    cells_of,
    is_missing,
    is_number,
    picked_rows,
    plain_number,
    quantile,
)


@dataclass(frozen=True)
class Grid:
    """A few numbers of a column, and the cells of all numbers nearest to each.

    `values` has one entry for each value of `cells`: its number, or None for missing.
    The grid is coarse if the column has more numbers than these.
    """

    values: tuple[Value, ...]
    cells: Feature
    is_coarse: bool


def grid_of(name: str, cells: Sequence[Any], numbers: int) -> Grid | None:
    """Return at most this many numbers of a column; None if they are not numbers."""
    present = [cell for cell in cells if not is_missing(cell)]
    if not present or not all(is_number(cell) for cell in present):
        return None
    kept = sorted(set(present))
    is_coarse = len(kept) > numbers
    if is_coarse:  # each stands for the same number of rows
        ranked, odd = sorted(present), range(1, 2 * numbers, 2)
        kept = sorted({quantile(ranked, part, 2 * numbers) for part in odd})
    has_gaps = len(present) < len(cells)
    values = (*map(plain_number, kept), *([None] if has_gaps else []))
    if len(kept) == 1:  # then the number makes no difference
        low, high = -sys.float_info.max, sys.float_info.max
        return Grid(values, Feature.real(name, low, high, missing=has_gaps), False)
    edges = tuple(_edge(low, high) for low, high in pairwise(kept))
    return Grid(values, Feature.bins(name, edges, missing=has_gaps), is_coarse)


def _edge(low: float, high: float) -> float:
    """Return the smallest number that is nearer to `high` than to `low`."""
    twice = Fraction(low) + Fraction(high)
    edge = float(twice / 2)
    return edge if 2 * Fraction(edge) > twice else math.nextafter(edge, math.inf)


def has_cells(feature: Feature, grids: Mapping[str, Grid]) -> bool:
    """Tell whether a feature lists the numbers of a grid; cells can replace it."""
    grid = grids.get(feature.name)
    if grid is None or not grid.is_coarse:
        return False
    return not isinstance(feature, Intervals) and feature.values == grid.values


class RuleListClassifier(MetaEstimatorMixin, TabularClassifier):  # type: ignore[misc]
    """Train a classifier, extract its rules, and predict with them.

    The numbers of a column with many of them are moved to the nearest of a few
    quantiles *before* training. So the model only sees numbers that its rules know, and
    the rules equal it there.

    Parameters
    ----------
    estimator : classifier
        The classifier to train. `nn2rules.extract` must be able to read it, such as an
        MLPClassifier, alone or at the end of a Pipeline.
    numbers : int
        Maximum number of different numbers of a column.
    scope, form, max_rules, effort, seed, n_jobs
        As in `nn2rules.extract`.

    Attributes
    ----------
    estimator_ : classifier
        The trained model.
    rules_ : RuleList
        Its rules.
    domain_ : Domain
        The features that it uses, with their values.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if `fit` saw a frame. The columns of an array are called x0, x1, …
        in the rules.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[1, 0], [2, 0], [3, 0], [1, 1], [2, 1], [3, 1]], [0, 0, 1, 0, 1, 1]
    >>> model = RuleListClassifier(LogisticRegression()).fit(X, y)
    >>> model.predict([[3, 0], [0.9, 1]])
    array([1, 0])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        numbers: int = 10,
        scope: Scope | None = None,
        form: Form | None = None,
        max_rules: int | None = None,
        effort: int = 1,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.numbers = numbers
        self.scope = scope
        self.form = form
        self.max_rules = max_rules
        self.effort = effort
        self.seed = seed
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> "RuleListClassifier":  # noqa: N803
        """Train the model on the moved rows, and extract its rules.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
        y : sequence of class labels
        """
        if not isinstance(self.numbers, int) or self.numbers < 1:
            raise OptionError(f"numbers: {self.numbers!r}, expected at least 1")
        table, labels = self._training_data(X, y)
        self._grid = self._learned_grid(table)
        moved = self._moved(table)
        self.estimator_ = clone(self.estimator).fit(moved, labels)
        self.classes_ = self.estimator_.classes_
        self.rules_: RuleList = extract(
            self._network(moved),
            data=self._rows(moved),
            form=self.form or "rules",
            scope=self.scope,
            max_rules=self.max_rules,
            effort=self.effort,
            seed=self.seed,
            n_jobs=self.n_jobs,
        )
        self.domain_ = self.rules_.domain
        return self

    def _network(self, moved: Any) -> Network:
        """Return the network of the model, with cells in place of numbers.

        Bins that the model itself makes are kept.
        """
        from nn2rules.models.sklearn import columns, prepare

        encoded = columns(prepare(self.estimator_)) or {}
        binned = {name for name, column in encoded.items() if column.paths}
        network = read_network(
            self.estimator_,
            data=self._rows(moved),
            domain={name: "observed" for name in self._grid if name not in binned},
            other=any(column.takes_others for column in encoded.values()),
        )
        features = [
            self._grid[f.name].cells if has_cells(f, self._grid) else f
            for f in network.domain.features
        ]
        return replace(network, domain=Domain(tuple(features)))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the class label of each row, as the rules predict it.

        Numbers are moved first, as before training. An unknown category is treated as
        other where the model's encoder accepts unknown categories, and is an error
        elsewhere. Where rules of scope "support" do not cover a row, the model predicts
        it, so that both always agree.
        """
        moved, fired = self._fired(X)
        classes, is_covered = self.rules_.predictions_by(fired)
        is_uncovered, labels = ~is_covered, np.asarray(self.classes_[classes])
        if is_uncovered.any():
            asked = picked_rows(moved, np.flatnonzero(is_uncovered))
            labels[is_uncovered] = self.estimator_.predict(asked)
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return approximate probabilities of the classes, as far as rules give them.

        The predicted class has the middle of the range of probabilities of the rule
        that determines it. Without such a range, as for the default, it is the middle
        of the possible range, 1/k to 1 for k classes. The other classes have equal
        shares of the rest. Where rules of scope "support" do not cover a row, these are
        the model's own probabilities, if it has any.
        """
        moved, fired = self._fired(X)
        classes, is_covered = self.rules_.predictions_by(fired)
        is_uncovered, n_classes = ~is_covered, len(self.classes_)
        asked = picked_rows(moved, np.flatnonzero(is_uncovered))
        if is_uncovered.any():
            labels = self.estimator_.predict(asked)
            classes[is_uncovered] = label_positions(
                self.classes_.tolist(), labels, len(labels)
            )
        possible = 1 / n_classes, 1
        ranges = [facts.probability or possible for facts in self.rules_.facts]
        middles = np.array([sum(ends) / 2 for ends in (*ranges, possible)])
        # Ranges are rounded outwards; the predicted class must have the largest share.
        sure = np.maximum(middles[fired], np.nextafter(1 / n_classes, 1))
        shares = np.repeat((1 - sure)[:, np.newaxis] / (n_classes - 1), n_classes, 1)
        shares[np.arange(len(fired)), classes] = sure
        if is_uncovered.any() and hasattr(self.estimator_, "predict_proba"):
            shares[is_uncovered] = self.estimator_.predict_proba(asked)
        return shares

    def moved(self, X: Any) -> Any:  # noqa: N803
        """Return rows as the model sees them, with numbers moved to the grid."""
        check_is_fitted(self)
        return self._moved(self._checked(X))

    def _allows_gaps(self) -> bool:
        return bool(get_tags(self.estimator).input_tags.allow_nan)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

    def _fired(self, X: Any) -> tuple[Any, NDArray[np.int64]]:  # noqa: N803
        """Return the moved rows, and the rule that determines each."""
        moved = self.moved(X)
        return moved, self.rules_.apply(self._rows(moved))

    def _learned_grid(self, table: Any) -> dict[str, Grid]:
        """Return the grid of each column of numbers."""
        columns = cells_of(self._rows(table), self._names)
        found = {
            name: grid_of(name, cells, self.numbers)
            for name, cells in zip(self._names, columns, strict=True)
        }
        return {name: grid for name, grid in found.items() if grid is not None}

    def _moved(self, table: Any) -> Any:
        if not self._grid:
            return table
        domain = Domain(tuple(grid.cells for grid in self._grid.values()))
        codes = domain.encode(self._rows(table))
        columns = {
            name: [grid.values[code] for code in codes[:, index].tolist()]
            for index, (name, grid) in enumerate(self._grid.items())
        }
        if isinstance(table, np.ndarray):
            moved = table.copy()
            for name, cells in columns.items():
                moved[:, self._names.index(name)] = cells
            return moved
        frame = nw.from_native(table, eager_only=True)
        backend = frame.implementation
        return frame.with_columns(
            *(
                nw.new_series(name, cells, frame[name].dtype, backend=backend)
                for name, cells in columns.items()
            )
        ).to_native()
