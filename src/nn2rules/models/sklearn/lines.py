"""Which steps of a fitted preprocessing go along straight lines, by their code."""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from sklearn import feature_selection as selection
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from nn2rules.space import is_missing, is_number, plain_number, value_of

Step: TypeAlias = tuple[Any, int]
"""A fitted transformer, and which of its columns the column is; None if unknown."""

Way: TypeAlias = tuple[Step, ...]
"""The transformers that a column meets, one after the other."""

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
"""Steps that leave out columns, and keep the others as they are."""


def marks_of(step: Any) -> list[float]:
    """Return the number that a step takes for a missing one, if there is one."""
    if not isinstance(step, SimpleImputer | MissingIndicator):
        return []
    mark = step.missing_values
    is_gap = is_missing(mark) or not is_number(value_of(mark))
    return [] if is_gap else [plain_number(mark)]


def straight_between(ways: Sequence[Way]) -> tuple[float, float] | None:
    """Return between which numbers all ways are along a line; None if nowhere."""
    low, high = -math.inf, math.inf
    for way in ways:
        if not all(is_affine(step) for step, _ in way):
            return None
        scalers = [each for each in way if not isinstance(each[0], SimpleImputer)]
        for number, (step, place) in enumerate(scalers):
            if getattr(step, "clip", False):
                if number or not isinstance(step, MinMaxScaler):
                    return None
                low = max(low, float(step.data_min_[place]))
                high = min(high, float(step.data_max_[place]))
    return low, high


def is_affine(step: Any) -> bool:
    """Tell whether a step goes along a line, by its code: of its own kind alone."""
    if does_nothing(step):
        return True
    if type(step) is Pipeline:
        return all(is_affine(inner) for _, inner in step.steps)
    if type(step) is FunctionTransformer:
        return step.func is None
    return type(step) in (*SCALERS, MissingIndicator, SimpleImputer, *SELECTORS)


def does_nothing(step: Any) -> bool:
    """Tell whether a step leaves its columns as they are."""
    return step is None or (isinstance(step, str) and step == "passthrough")
