"""What a fitted scikit-learn pipeline knows of the columns it was trained on.

Each column is followed through its transformers, as long as they treat it separately.
Encoders know its values, discretizers know its bins.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    TargetEncoder,
)

from nn2rules.errors import DomainError, UnsupportedModelError
from nn2rules.models.sklearn.shapes import (
    SCALERS,
    ColumnPath,
    does_nothing,
    is_affine,
    linear_between,
    marks_of,
    shape_of,
)
from nn2rules.space import Shape, Value, is_missing, value_of

_ENCODERS = (OneHotEncoder, OrdinalEncoder, TargetEncoder)
_STEPWISE = (Binarizer, KBinsDiscretizer, MissingIndicator)


@dataclass(frozen=True)
class ColumnFacts:
    """What a model knows of a column.

    Attributes
    ----------
    values : tuple of values
        The values that an encoder was fitted on; empty without an encoder.
    is_ordered : bool
        Whether the user passed them to the encoder in this order.
    takes_others : bool
        Whether every encoder accepts values that it was not fitted on.
    fill : tuple of values
        What an imputer fills in that is not taken from the data.
    paths : tuple of ColumnPath
        The paths to discretizers; empty if the column is used in any other way.
    is_looked_up : bool
        Whether an encoder has values for it.
    special : tuple of numbers
        Numbers that an imputer treats as missing.
    linear : (float, float) or None
        Between these numbers all steps are linear, by their code.
    curve : Shape or None
        The curve before the linear steps, by the code of the steps.
    """

    values: tuple[Value, ...] = ()
    is_ordered: bool = False
    takes_others: bool = False
    fill: tuple[Value, ...] = ()
    paths: tuple[ColumnPath, ...] = ()
    is_looked_up: bool = False
    special: tuple[float, ...] = ()
    linear: tuple[float, float] | None = (-math.inf, math.inf)
    curve: Shape | None = None


def column_facts_of(step: Any, names: Sequence[str]) -> dict[str, ColumnFacts]:
    """Return what a fitted transformer knows of each column that it uses."""
    paths, facts = _paths(step, names), {}
    for name in names:
        if name in paths:
            try:
                facts[name] = _known(paths[name])
            except DomainError as error:
                raise UnsupportedModelError(f"column {name!r}: {error}") from None
    return facts


def like_fitted(step: Any, names: Sequence[str]) -> Any:
    """Return a frame of one row with the types of columns that `step` was fitted on.

    All values of the row are missing in the form seen in training, because encoders
    distinguish None and NaN.
    """
    import pandas as pd

    columns = {}
    for name, paths in _paths(step, names).items():
        columns[name] = pd.Series([np.nan])
        for transformer, position in (step for path in paths for step in path):
            if isinstance(transformer, _ENCODERS):
                items = transformer.categories_[position]
                gap = next((item for item in items if is_missing(item)), np.nan)
                if items.dtype.kind == "O":
                    columns[name] = pd.Series([gap], dtype=object)
                elif items.dtype.kind == "b":
                    columns[name] = pd.Series(items[:1])
    return pd.DataFrame(columns)


def _known(paths: list[ColumnPath]) -> ColumnFacts:
    """Collect what the transformers know of one column."""
    facts, binned, takes_others = ColumnFacts(), [], []
    for path in paths:
        for number, (transformer, position) in enumerate(path):
            before = [step for step, _ in path[:number]]
            if isinstance(transformer, _STEPWISE):
                binned.append(path[: number + 1])
                break
            if isinstance(transformer, _ENCODERS):
                facts = replace(facts, is_looked_up=True)
                takes_others.append(_takes_others(transformer))
                if all(isinstance(step, SimpleImputer) for step in before):
                    facts = _encoded(facts, transformer, position)
                break
            if isinstance(transformer, SimpleImputer):
                facts = _filled(facts, transformer, position)
                if not is_missing(transformer.missing_values):
                    break  # a number or a text may mean a missing value
            elif not isinstance(transformer, SCALERS):
                break
    marks = [m for path in paths for step, _ in path for m in marks_of(step)]
    return replace(
        facts,
        special=tuple(dict.fromkeys(marks)),
        linear=linear_between(paths),
        curve=shape_of(paths),
        takes_others=bool(takes_others) and all(takes_others),
        paths=tuple(binned) if len(binned) == len(paths) else (),
    )


def _encoded(facts: ColumnFacts, encoder: Any, position: int) -> ColumnFacts:
    items = tuple(value_of(item) for item in encoder.categories_[position])
    if items.count(None) > 1:
        raise DomainError(
            "its encoder has both None and NaN as categories, and both mean missing; "
            "replace one by the other before training"
        )
    is_given = not isinstance(encoder.categories, str)
    is_ordered = is_given and isinstance(encoder, OrdinalEncoder)
    return replace(facts, values=items, is_ordered=is_ordered)


def _takes_others(encoder: Any) -> bool:
    return getattr(encoder, "handle_unknown", "ignore") != "error"


def _filled(facts: ColumnFacts, imputer: SimpleImputer, position: int) -> ColumnFacts:
    if imputer.strategy == "most_frequent":  # a value from the data
        return facts
    fill = value_of(imputer.statistics_[position])
    return facts if fill is None else replace(facts, fill=(*facts.fill, fill))


def _paths(step: Any, names: Sequence[str]) -> dict[str, list[ColumnPath]]:
    """Return the paths of each column that is used."""
    by_column: dict[str, list[ColumnPath]] = {}
    if isinstance(step, ColumnTransformer):
        parts = [
            (inner, [names[index] for index in picked])
            for _, inner, columns in step.transformers_
            if (picked := positions(columns, names))  # for none it was never fitted
        ]
    elif isinstance(step, FeatureUnion):
        parts = [(inner, list(names)) for _, inner in step.transformer_list]
    elif isinstance(step, Pipeline):
        return _paths_through([inner for _, inner in step.steps], names)
    elif does_nothing(step):
        return {name: [()] for name in names}
    else:
        return {name: [((step, index),)] for index, name in enumerate(names)}
    for inner, chosen in parts:
        if not (isinstance(inner, str) and inner == "drop"):
            for name, paths in _paths(inner, chosen).items():
                by_column.setdefault(name, []).extend(paths)
    return by_column


def _paths_through(
    steps: Sequence[Any], names: Sequence[str]
) -> dict[str, list[ColumnPath]]:
    """Follow columns through steps, as long as each keeps them separate and in order.

    Indicators of missing values come after the other columns. They do not depend on
    any number, so they need not be followed. If columns are lost before steps that may
    not be linear, their paths end with None.
    """
    by_column: dict[str, list[ColumnPath]] = {name: [()] for name in names}
    places = list(names)
    for number, step in enumerate(steps):
        inner = _paths(step, places)
        is_first = all(paths == [()] for paths in by_column.values())
        joined = {
            name: [(*one, *two) for one in by_column[name] for two in paths]
            for name, paths in inner.items()
            if name in by_column
        }
        by_column = joined if is_first else by_column | joined
        if (
            isinstance(step, SimpleImputer)
            and step.add_indicator
            and _keeps_empty(step)
        ):
            places += [f"\0{number}" for number in step.indicator_.features_]
        elif not keeps_columns(step):
            if not all(map(is_affine, steps[number + 1 :])):
                by_column = {
                    name: [(*path, (None, 0)) for path in paths]
                    for name, paths in by_column.items()
                }
            break
    return by_column


def keeps_columns(step: Any) -> bool:
    """Tell whether a step makes one column of each column, in the same order."""
    if does_nothing(step):
        return True
    if isinstance(step, Pipeline):
        return all(keeps_columns(inner) for _, inner in step.steps)
    if isinstance(step, SimpleImputer):
        return not step.add_indicator and _keeps_empty(step)
    if isinstance(step, KBinsDiscretizer):
        return bool(step.encode == "ordinal")
    if isinstance(step, TargetEncoder):  # if multiclass, one column per class
        return bool(step.target_type_ != "multiclass")
    if isinstance(step, FunctionTransformer):  # numpy's own functions do
        return step.func is None or isinstance(step.func, np.ufunc)
    return isinstance(step, OneToOneFeatureMixin)


def _keeps_empty(imputer: SimpleImputer) -> bool:
    """Tell whether an imputer keeps all columns; it may drop those without values."""
    filled = [value_of(fill) is not None for fill in imputer.statistics_]
    return bool(imputer.keep_empty_features or all(filled))


def positions(columns: Any, names: Sequence[str]) -> list[int]:
    """Return the positions of the columns that a ColumnTransformer selects."""
    if isinstance(columns, str):
        return [names.index(columns)]
    if isinstance(columns, slice):
        first, last = columns.start, columns.stop
        if isinstance(first, str):
            first = names.index(first)
        if isinstance(last, str):  # names include the last one
            last = names.index(last) + 1
        return list(range(len(names)))[first : last : columns.step]
    if isinstance(columns, int | np.integer):
        return [int(columns)]
    listed = list(columns)
    if listed and all(isinstance(item, bool | np.bool_) for item in listed):
        return [index for index, chosen in enumerate(listed) if chosen]
    return [names.index(c) if isinstance(c, str) else int(c) for c in listed]
