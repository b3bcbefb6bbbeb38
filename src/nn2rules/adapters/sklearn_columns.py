"""What a fitted scikit-learn pipeline knows of the columns it was trained on.

Each column is followed through the transformers that it meets, as long as they treat
it on its own: encoders know its values, discretizers know its bins.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from nn2rules.errors import DomainError, UnsupportedModelError
from nn2rules.values import Value, value_of

Step = tuple[Any, int]
"""A fitted transformer, and which of its columns the column is."""

_SCALERS = (MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler)
_ENCODERS = (OneHotEncoder, OrdinalEncoder, TargetEncoder)


@dataclass(frozen=True)
class Known:
    """What a model knows of a column.

    Attributes
    ----------
    values : tuple of values
        Those an encoder was fitted on; empty if there is no encoder.
    is_ordered : bool
        Whether the user gave them to the encoder in this order.
    fill : tuple of values
        What an imputer puts where a value is missing.
    steps : tuple of Step
        The transformers up to a discretizer; empty if there is none.
    """

    values: tuple[Value, ...] = ()
    is_ordered: bool = False
    fill: tuple[Value, ...] = ()
    steps: tuple[Step, ...] = ()


def known_columns(step: Any, names: Sequence[str]) -> dict[str, Known]:
    """Return what a fitted transformer knows of each column that it uses."""
    return {name: _known(steps) for name, steps in _chains(step, names).items()}


def _known(chains: list[list[Step]]) -> Known:
    """Sum up what the transformers know of one column."""
    known = Known()
    for steps in chains:
        before: list[Step] = []
        for transformer, position in steps:
            if isinstance(transformer, SimpleImputer):
                known = _filled(known, transformer, position)
            elif isinstance(transformer, _ENCODERS):
                items = transformer.categories_[position]
                known = Known(
                    tuple(_value(item) for item in items),
                    isinstance(transformer, OrdinalEncoder)
                    and not isinstance(transformer.categories, str),
                    known.fill,
                )
                break
            elif isinstance(transformer, KBinsDiscretizer | Binarizer):
                path = (*before, (transformer, position))
                if len(chains) == 1:
                    known = Known(fill=known.fill, steps=path)
                break
            elif not isinstance(transformer, _SCALERS):
                break
            before.append((transformer, position))
    return known


def _filled(known: Known, imputer: SimpleImputer, position: int) -> Known:
    fill = imputer.statistics_[position]
    return Known(known.values, known.is_ordered, (*known.fill, _value(fill)))


def _value(item: object) -> Value:
    try:
        return value_of(item)
    except DomainError as error:
        raise UnsupportedModelError(f"an encoder's category: {error}") from None


def _chains(step: Any, names: Sequence[str]) -> dict[str, list[list[Step]]]:
    """Return, for each column that is used, the transformers on each way it goes."""
    if isinstance(step, ColumnTransformer):
        found: dict[str, list[list[Step]]] = {}
        for _, inner, columns in step.transformers_:
            if isinstance(inner, str) and inner == "drop":
                continue
            chosen = [names[index] for index in _positions(columns, names)]
            for name, chains in _chains(inner, chosen).items():
                found.setdefault(name, []).extend(chains)
        return found
    if isinstance(step, FeatureUnion):
        found = {}
        for _, inner in step.transformer_list:
            if inner != "drop":
                for name, chains in _chains(inner, names).items():
                    found.setdefault(name, []).extend(chains)
        return found
    if isinstance(step, Pipeline):
        return _pipeline_chains([inner for _, inner in step.steps], names)
    if step is None or isinstance(step, str):  # passthrough
        return {name: [[]] for name in names}
    return {name: [[(step, index)]] for index, name in enumerate(names)}


def _pipeline_chains(
    steps: Sequence[Any], names: Sequence[str]
) -> dict[str, list[list[Step]]]:
    """Follow columns through steps, as long as each keeps them apart and in place."""
    found: dict[str, list[list[Step]]] = {name: [[]] for name in names}
    for number, step in enumerate(steps):
        if step is None or (isinstance(step, str) and step == "passthrough"):
            continue
        inner = _chains(step, names)
        if number == 0 or all(chains == [[]] for chains in found.values()):
            found = inner
        else:
            for name, chains in inner.items():
                found[name] = [[*one, *two] for one in found[name] for two in chains]
        if not _keeps_columns(step):
            break
    return found


def _keeps_columns(step: Any) -> bool:
    if isinstance(step, SimpleImputer):
        return not step.add_indicator
    if isinstance(step, KBinsDiscretizer):
        return bool(step.encode == "ordinal")
    return isinstance(step, OneToOneFeatureMixin)


def _positions(columns: Any, names: Sequence[str]) -> list[int]:
    """Return which columns a ColumnTransformer's selection means."""
    if isinstance(columns, str):
        return [names.index(columns)]
    if isinstance(columns, slice):
        return list(range(len(names)))[columns]
    if isinstance(columns, int | np.integer):
        return [int(columns)]
    listed = list(columns)
    if listed and all(isinstance(item, bool | np.bool_) for item in listed):
        return [index for index, chosen in enumerate(listed) if chosen]
    return [names.index(c) if isinstance(c, str) else int(c) for c in listed]


def edges_of(steps: Sequence[Step]) -> tuple[float, ...]:
    """Return where the bins of a column begin, in its own units.

    Each edge is the smallest number that goes to the bin above it; found by bisection,
    since scaling rounds.
    """
    *before, (last, position) = steps
    if isinstance(last, Binarizer):
        limits = np.array([math.nextafter(float(last.threshold), math.inf)])
    else:
        limits = np.asarray(last.bin_edges_[position][1:-1], dtype=np.float64)
    edges = [_first_at_least(before, float(limit)) for limit in limits]
    return tuple(dict.fromkeys(edges))


def _first_at_least(steps: Sequence[Step], limit: float) -> float:
    """Return the smallest number that `steps` take to `limit` or more."""
    low, high, reach = -1.0, 1.0, 1.0
    while _taken(steps, high) < limit and reach < 1e300:
        reach, high = reach * 2, reach * 2
    reach = 1.0
    while _taken(steps, low) >= limit and reach < 1e300:
        reach, low = reach * 2, -reach * 2
    while math.nextafter(low, math.inf) < high:
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        if _taken(steps, middle) >= limit:
            high = middle
        else:
            low = middle
    return high


def _taken(steps: Sequence[Step], number: float) -> float:
    """Return what transformers that treat each column on its own make of a number."""
    for transformer, position in steps:
        row = np.zeros((1, transformer.n_features_in_))
        row[0, position] = number
        number = float(_scaled(transformer, row)[0, position])
    return number


def _scaled(transformer: Any, row: Any) -> Any:
    if isinstance(transformer, SimpleImputer):
        return row
    names = getattr(transformer, "feature_names_in_", None)
    if names is not None:
        import pandas as pd

        row = pd.DataFrame(row, columns=names)
    made = transformer.transform(row)
    return made.to_numpy() if hasattr(made, "to_numpy") else made
