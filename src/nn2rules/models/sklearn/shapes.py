"""Which steps of a fitted preprocessing are linear, or follow a known curve.

This is known from the code of the steps; none of them is run here.
"""

import math
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, TypeAlias

import numpy as np
from sklearn import feature_selection as selection
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from nn2rules.errors import DomainError
from nn2rules.space import Shape, is_missing, is_number, plain_number, value_of

Step: TypeAlias = tuple[Any, int]
"""A fitted transformer, and the position of the column in it; None if unknown."""

ColumnPath: TypeAlias = tuple[Step, ...]
"""The transformers that a column passes through, in order."""

SCALERS = (MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler)

SELECTORS = (
    selection.GenericUnivariateSelect,
    selection.RFE,
    selection.RFECV,
    selection.SelectFdr,
    selection.SelectFpr,
    selection.SelectFromModel,
    selection.SelectFwe,
    selection.SelectKBest,
    selection.SelectPercentile,
    selection.SequentialFeatureSelector,
    selection.VarianceThreshold,
)
"""Steps that drop columns and leave the others unchanged."""


def marks_of(step: Any) -> list[float]:
    """Return the number that a step treats as missing, if there is one."""
    if not isinstance(step, SimpleImputer | MissingIndicator):
        return []
    mark = step.missing_values
    is_gap = is_missing(mark) or not is_number(value_of(mark))
    return [] if is_gap else [plain_number(mark)]


def linear_between(paths: Sequence[ColumnPath]) -> tuple[float, float] | None:
    """Return between which numbers all paths are linear; None if nowhere."""
    low, high = -math.inf, math.inf
    for path in paths:
        if not all(is_affine(step) for step, _ in path):
            return None
        scalers = [each for each in path if not isinstance(each[0], SimpleImputer)]
        for number, (step, place) in enumerate(scalers):
            if getattr(step, "clip", False):
                if number or not isinstance(step, MinMaxScaler):
                    return None
                low = max(low, float(step.data_min_[place]))
                high = min(high, float(step.data_max_[place]))
    return low, high


def is_affine(step: Any) -> bool:
    """Tell whether a step is linear by its code. Subclasses do not count."""
    if does_nothing(step):
        return True
    if type(step) is Pipeline:
        return all(is_affine(inner) for _, inner in step.steps)
    if type(step) is FunctionTransformer:
        return step.func is None
    return type(step) in (*SCALERS, MissingIndicator, SimpleImputer, *SELECTORS)


def does_nothing(step: Any) -> bool:
    """Tell whether a step leaves its columns unchanged."""
    return step is None or (isinstance(step, str) and step == "passthrough")


_FUNCTIONS = {
    np.log: "log",
    np.log2: "log2",
    np.log10: "log10",
    np.log1p: "log1p",
    np.sqrt: "sqrt",
}

_PASSING = (SimpleImputer, *SELECTORS)
"""Steps that leave all numbers unchanged, except those that an imputer replaces."""

_LEAST_POWER = 1e-6
"""For powers nearer to 0, a library loses too many digits or takes a logarithm."""


def shape_of(paths: Sequence[ColumnPath]) -> Shape | None:
    """Return the curve that a column follows on all its paths; None without one.

    Imputers may come before the curve, and linear steps after it. A column that only
    marks missing values does not distinguish numbers.
    """
    shapes: set[Shape | None] = {
        _shape_along(path) for path in paths if not _tells_missing(path)
    }
    return shapes.pop() if len(shapes) == 1 else None


def _tells_missing(path: ColumnPath) -> bool:
    return bool(path) and type(path[0][0]) is MissingIndicator


def _shape_along(path: ColumnPath) -> Shape | None:
    """Return the curve of a path that is one curve with linear steps after it."""
    ahead = [*takewhile(lambda each: type(each[0]) in _PASSING, path)]
    if len(ahead) == len(path):
        return None
    first, *rest = path[len(ahead) :]
    return _shape(first) if all(_is_linear(step) for step, _ in rest) else None


def _is_linear(step: Any) -> bool:
    """Tell whether a step after a curve is linear on all of its values."""
    is_clipping = isinstance(step, MinMaxScaler) and step.clip
    is_known = step is not None and is_affine(step)
    return is_known and not is_clipping and not marks_of(step)


def _shape(step: Step) -> Shape | None:
    """Return the curve of one step, if it has one."""
    transformer, place = step
    if type(transformer) is FunctionTransformer:
        kind = _kind(transformer)
        return None if kind is None else Shape(kind)
    try:
        if type(transformer) is PowerTransformer:
            return _of_power(transformer, place)
        if type(transformer) is QuantileTransformer:
            return _of_quantiles(transformer, place)
    except DomainError:  # a number of it is not finite, or too large
        return None
    return None


def _kind(transformer: FunctionTransformer) -> str | None:
    if transformer.kw_args or not isinstance(transformer.func, np.ufunc):
        return None
    return next((k for f, k in _FUNCTIONS.items() if f is transformer.func), None)


def _of_power(transformer: PowerTransformer, place: int) -> Shape | None:
    power = float(transformer.lambdas_[place])
    powers = [power] if transformer.method == "box-cox" else [power, 2 - power]
    if any(0 < abs(each) < _LEAST_POWER for each in powers):
        return None
    return Shape(transformer.method, power)


def _of_quantiles(transformer: QuantileTransformer, place: int) -> Shape | None:
    if transformer.output_distribution != "uniform":
        return None
    numbers = transformer.quantiles_[:, place]
    if numbers.dtype != np.float64 or transformer.references_.dtype != np.float64:
        return None
    shares = transformer.references_.tolist()
    return Shape("quantiles", knots=tuple(zip(numbers.tolist(), shares, strict=True)))
