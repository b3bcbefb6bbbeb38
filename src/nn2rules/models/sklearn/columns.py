"""What a fitted scikit-learn pipeline knows of the columns it was trained on.

Each column is followed through the transformers that it meets, as long as they treat
it on its own: encoders know its values, discretizers know its bins.
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
    Way,
    does_nothing,
    is_affine,
    marks_of,
    shape_of,
    straight_between,
)
from nn2rules.space import Shape, Value, is_missing, value_of

_ENCODERS = (OneHotEncoder, OrdinalEncoder, TargetEncoder)
_STEPWISE = (Binarizer, KBinsDiscretizer, MissingIndicator)


@dataclass(frozen=True)
class Known:
    """What a model knows of a column.

    Attributes
    ----------
    values : tuple of values
        Those an encoder was fitted on; empty if there is no encoder.
    is_ordered : bool
        Whether the user gave them to the encoder in this order.
    takes_others : bool
        Whether every encoder takes values that it was not fitted on.
    fill : tuple of values
        What an imputer puts where a value is missing, and did not find in the data.
    ways : tuple of Way
        The ways to discretizers; empty if the column goes anywhere else, too.
    is_looked_up : bool
        Whether some encoder has values for it.
    special : tuple of numbers
        Those that an imputer takes for missing ones.
    straight : (float, float) or None
        Between these numbers all steps are along a straight line, by their code.
    curve : Shape or None
        The curve in front of a straight line, by the code of the steps.
    """

    values: tuple[Value, ...] = ()
    is_ordered: bool = False
    takes_others: bool = False
    fill: tuple[Value, ...] = ()
    ways: tuple[Way, ...] = ()
    is_looked_up: bool = False
    special: tuple[float, ...] = ()
    straight: tuple[float, float] | None = (-math.inf, math.inf)
    curve: Shape | None = None


def known_columns(step: Any, names: Sequence[str]) -> dict[str, Known]:
    """Return what a fitted transformer knows of each column that it uses."""
    ways, found = _ways(step, names), {}
    for name in names:
        if name in ways:
            try:
                found[name] = _known(ways[name])
            except DomainError as error:
                raise UnsupportedModelError(f"column {name!r}: {error}") from None
    return found


def like_fitted(step: Any, names: Sequence[str]) -> Any:
    """Return a frame of one row with the types of columns that `step` was fitted on.

    In the row all is missing, as it was then: encoders tell None from NaN.
    """
    import pandas as pd

    columns = {}
    for name, ways in _ways(step, names).items():
        columns[name] = pd.Series([np.nan])
        for transformer, position in (step for way in ways for step in way):
            if isinstance(transformer, _ENCODERS):
                items = transformer.categories_[position]
                gap = next((item for item in items if is_missing(item)), np.nan)
                if items.dtype.kind == "O":
                    columns[name] = pd.Series([gap], dtype=object)
                elif items.dtype.kind == "b":
                    columns[name] = pd.Series(items[:1])
    return pd.DataFrame(columns)


def _known(ways: list[Way]) -> Known:
    """Sum up what the transformers know of one column."""
    known, binned, takes_others = Known(), [], []
    for way in ways:
        for number, (transformer, position) in enumerate(way):
            before = [step for step, _ in way[:number]]
            if isinstance(transformer, _STEPWISE):
                binned.append(way[: number + 1])
                break
            if isinstance(transformer, _ENCODERS):
                known = replace(known, is_looked_up=True)
                takes_others.append(_takes_others(transformer))
                if all(isinstance(step, SimpleImputer) for step in before):
                    known = _encoded(known, transformer, position)
                break
            if isinstance(transformer, SimpleImputer):
                known = _filled(known, transformer, position)
                if not is_missing(transformer.missing_values):
                    break  # a number, or a word, is not what it looks like
            elif not isinstance(transformer, SCALERS):
                break
    marks = [m for way in ways for step, _ in way for m in marks_of(step)]
    return replace(
        known,
        special=tuple(dict.fromkeys(marks)),
        straight=straight_between(ways),
        curve=shape_of(ways),
        takes_others=bool(takes_others) and all(takes_others),
        ways=tuple(binned) if len(binned) == len(ways) else (),
    )


def _encoded(known: Known, encoder: Any, position: int) -> Known:
    items = tuple(value_of(item) for item in encoder.categories_[position])
    if items.count(None) > 1:
        raise DomainError(
            "its encoder tells None from NaN, and both mean missing; replace one by "
            "the other before training"
        )
    is_given = not isinstance(encoder.categories, str)
    is_ordered = is_given and isinstance(encoder, OrdinalEncoder)
    return replace(known, values=items, is_ordered=is_ordered)


def _takes_others(encoder: Any) -> bool:
    return getattr(encoder, "handle_unknown", "ignore") != "error"


def _filled(known: Known, imputer: SimpleImputer, position: int) -> Known:
    if imputer.strategy == "most_frequent":  # a value of the data
        return known
    fill = value_of(imputer.statistics_[position])
    return known if fill is None else replace(known, fill=(*known.fill, fill))


def _ways(step: Any, names: Sequence[str]) -> dict[str, list[Way]]:
    """Return, for each column that is used, the ways that it goes."""
    found: dict[str, list[Way]] = {}
    if isinstance(step, ColumnTransformer):
        parts = [
            (inner, [names[index] for index in picked])
            for _, inner, columns in step.transformers_
            if (picked := positions(columns, names))  # for none it was never fitted
        ]
    elif isinstance(step, FeatureUnion):
        parts = [(inner, list(names)) for _, inner in step.transformer_list]
    elif isinstance(step, Pipeline):
        return _ways_through([inner for _, inner in step.steps], names)
    elif does_nothing(step):
        return {name: [()] for name in names}
    else:
        return {name: [((step, index),)] for index, name in enumerate(names)}
    for inner, chosen in parts:
        if not (isinstance(inner, str) and inner == "drop"):
            for name, ways in _ways(inner, chosen).items():
                found.setdefault(name, []).extend(ways)
    return found


def _ways_through(steps: Sequence[Any], names: Sequence[str]) -> dict[str, list[Way]]:
    """Follow columns through steps, as long as each keeps them apart and in place.

    Columns that tell where a value was missing come behind the others. No number makes
    a difference there, so they need not be followed. Where columns are lost before
    steps that may bend them, their ways end with None.
    """
    found: dict[str, list[Way]] = {name: [()] for name in names}
    places = list(names)
    for number, step in enumerate(steps):
        inner = _ways(step, places)
        is_first = all(ways == [()] for ways in found.values())
        joined = {
            name: [(*one, *two) for one in found[name] for two in ways]
            for name, ways in inner.items()
            if name in found
        }
        found = joined if is_first else found | joined
        if (
            isinstance(step, SimpleImputer)
            and step.add_indicator
            and _keeps_empty(step)
        ):
            places += [f"\0{number}" for number in step.indicator_.features_]
        elif not keeps_columns(step):
            if not all(map(is_affine, steps[number + 1 :])):
                found = {
                    n: [(*w, (None, 0)) for w in ways] for n, ways in found.items()
                }
            break
    return found


def keeps_columns(step: Any) -> bool:
    """Tell whether a step makes one column of each, in the same order."""
    if does_nothing(step):
        return True
    if isinstance(step, Pipeline):
        return all(keeps_columns(inner) for _, inner in step.steps)
    if isinstance(step, SimpleImputer):
        return not step.add_indicator and _keeps_empty(step)
    if isinstance(step, KBinsDiscretizer):
        return bool(step.encode == "ordinal")
    if isinstance(step, TargetEncoder):  # one for each class, if there are several
        return bool(step.target_type_ != "multiclass")
    if isinstance(step, FunctionTransformer):  # by numpy's own functions it does
        return step.func is None or isinstance(step.func, np.ufunc)
    return isinstance(step, OneToOneFeatureMixin)


def _keeps_empty(imputer: SimpleImputer) -> bool:
    """Tell whether an imputer leaves out no column, as it does if all is missing."""
    filled = [value_of(fill) is not None for fill in imputer.statistics_]
    return bool(imputer.keep_empty_features or all(filled))


def positions(columns: Any, names: Sequence[str]) -> list[int]:
    """Return which columns a ColumnTransformer's selection means."""
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
