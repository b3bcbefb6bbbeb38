"""Which steps of a fitted preprocessing are known to treat each column on its own.

Asking a step about rows shows what it does to those rows. Only its code shows what it
does to all others, so a step that sees several columns must be known by its type.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import special
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

from nn2rules.models.sklearn.columns import keeps_columns, positions
from nn2rules.models.sklearn.shapes import SELECTORS, Way, does_nothing

_COLUMNWISE = (
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    MissingIndicator,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SimpleImputer,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
"""Known by their code; a class that is derived from one of them is not."""

Owners: TypeAlias = frozenset[str]
"""The user's columns that a column may depend on."""


@dataclass(frozen=True)
class Flow:
    """The columns between two steps.

    Attributes
    ----------
    owners : tuple of Owners
        One for each column; or, if they are not counted, one for some of them.
    is_counted : bool
    """

    owners: tuple[Owners, ...]
    is_counted: bool = True

    @property
    def everything(self) -> Owners:
        """Whatever any of the columns may depend on."""
        return frozenset().union(*self.owners)


@dataclass(frozen=True)
class Step:
    """A step of a preprocessing, and what of the user's columns it sees.

    Attributes
    ----------
    name : str
    sees : Owners
    is_known : bool
        Whether its code is known to treat each column on its own.
    """

    name: str
    sees: Owners
    is_known: bool

    @property
    def may_mix(self) -> bool:
        """Whether it could make one column of several of the user's."""
        return not self.is_known and len(self.sees) > 1


def steps_of(transformer: Any, names: Sequence[str]) -> list[Step]:
    """Return the steps of a fitted transformer of the columns called `names`.

    Examples
    --------
    >>> scaler = StandardScaler().fit([[1, 2], [3, 4]])
    >>> [step.is_known for step in steps_of(scaler, ["a", "b"])]
    [True]
    """
    found: list[Step] = []
    _follow(transformer, Flow(tuple(frozenset((name,)) for name in names)), found)
    return found


def is_known_way(way: Way) -> bool:
    """Tell whether every step of a way is known by its code."""
    return all(_is_columnwise(step) for step, _ in way)


def origin_of(
    steps: Sequence[Step], ranges: Collection[str] = ()
) -> dict[str, list[str]]:
    """Say how steps were read: by their code, by their values, or by probing.

    A step of one column that is not known was asked about every value of it. What is
    said of one that sees several, or a range, rests on the rows that were tried.
    """
    kinds: dict[str, list[str]] = {"by_code": [], "by_values": [], "probed": []}
    for step in steps:
        is_tried = step.may_mix or not step.sees.isdisjoint(ranges)
        kind = "probed" if is_tried else "by_values"
        kinds["by_code" if step.is_known else kind].append(step.name)
    return {kind: [*dict.fromkeys(names)] for kind, names in kinds.items() if names}


def _follow(step: Any, flow: Flow, found: list[Step]) -> Flow:
    """Note a step, and those inside it; return the columns that it makes."""
    if does_nothing(step):
        return flow
    if type(step) is Pipeline:
        for _, inner in step.steps:
            flow = _follow(inner, flow, found)
        return flow
    if type(step) in (ColumnTransformer, FeatureUnion):
        made = [_follow(inner, part, found) for inner, part in _parts(step, flow)]
        owners = tuple(owner for part in made for owner in part.owners)
        return Flow(owners, all(part.is_counted for part in made))
    is_known = _is_columnwise(step)
    found.append(Step(type(step).__name__, flow.everything, is_known))
    if is_known and type(step) in SELECTORS and flow.is_counted:
        kept = zip(flow.owners, step.get_support(), strict=True)
        return Flow(tuple(owner for owner, is_kept in kept if is_kept))
    if is_known and keeps_columns(step):
        return flow
    return Flow((flow.everything,), is_counted=False)


def _parts(step: Any, flow: Flow) -> Iterator[tuple[Any, Flow]]:
    """Yield what runs side by side in a step, with the columns that it sees."""
    if isinstance(step, FeatureUnion):
        parts = [(inner, None) for _, inner in step.transformer_list]
    else:
        parts = [(inner, columns) for _, inner, columns in step.transformers_]
    for inner, columns in parts:
        if isinstance(inner, str) and inner == "drop":
            continue
        if columns is None or not flow.is_counted:
            yield inner, flow
            continue
        listed = getattr(step, "feature_names_in_", range(step.n_features_in_))
        places = positions(columns, [str(name) for name in listed])
        if not places:  # then it was never fitted, and makes nothing
            continue
        yield inner, Flow(tuple(flow.owners[place] for place in places))


def _is_columnwise(step: Any) -> bool:
    if type(step) is FunctionTransformer:
        return step.func is None or (_is_ufunc(step.func) and not step.kw_args)
    return type(step) in (*_COLUMNWISE, *SELECTORS)


def _is_ufunc(function: Any) -> bool:
    """Tell whether a function is one of numpy's or scipy's, of one number at a time."""
    if not isinstance(function, np.ufunc) or (function.nin, function.nout) != (1, 1):
        return False
    name = function.__name__
    return any(getattr(module, name, None) is function for module in (np, special))
