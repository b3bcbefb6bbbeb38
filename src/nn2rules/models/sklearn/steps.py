"""Which steps of a fitted preprocessing are known to treat each column separately.

Running a step on rows shows what it does to those rows. Only its code shows what it
does to all others, so a step that takes several columns must be known by its type.
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
from nn2rules.models.sklearn.shapes import SELECTORS, ColumnPath, does_nothing

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
"""Known by their code. Subclasses of these are not."""

Owners: TypeAlias = frozenset[str]
"""The user's columns that a column can depend on."""


@dataclass(frozen=True)
class Flow:
    """The columns between two steps.

    Attributes
    ----------
    owners : tuple of Owners
        One for each column or, if columns are not counted, one for all of them.
    is_counted : bool
    """

    owners: tuple[Owners, ...]
    is_counted: bool = True

    @property
    def everything(self) -> Owners:
        """The columns that any of these can depend on."""
        return frozenset().union(*self.owners)


@dataclass(frozen=True)
class Step:
    """A step of a preprocessing, and which of the user's columns it takes.

    Attributes
    ----------
    name : str
    sees : Owners
    is_known : bool
        Whether its code is known to treat each column separately.
    """

    name: str
    sees: Owners
    is_known: bool

    @property
    def may_mix(self) -> bool:
        """Whether it could combine several of the user's columns."""
        return not self.is_known and len(self.sees) > 1


def steps_of(transformer: Any, names: Sequence[str]) -> list[Step]:
    """Return the steps of a fitted transformer of the columns called `names`.

    Examples
    --------
    >>> scaler = StandardScaler().fit([[1, 2], [3, 4]])
    >>> [step.is_known for step in steps_of(scaler, ["a", "b"])]
    [True]
    """
    steps: list[Step] = []
    _follow(transformer, Flow(tuple(frozenset((name,)) for name in names)), steps)
    return steps


def is_known_path(path: ColumnPath) -> bool:
    """Tell whether every step of a path is known by its code."""
    return all(_is_columnwise(step) for step, _ in path)


def origin_of(
    steps: Sequence[Step], ranges: Collection[str] = ()
) -> dict[str, list[str]]:
    """Return how steps were read: by their code, by their values, or by probing.

    An unknown step of one column was run on every value of it. For an unknown step of
    several columns, or of a range, only the rows that were tried are known.
    """
    kinds: dict[str, list[str]] = {"by_code": [], "by_values": [], "probed": []}
    for step in steps:
        is_tried = step.may_mix or not step.sees.isdisjoint(ranges)
        kind = "probed" if is_tried else "by_values"
        kinds["by_code" if step.is_known else kind].append(step.name)
    return {kind: [*dict.fromkeys(names)] for kind, names in kinds.items() if names}


def _follow(step: Any, flow: Flow, steps: list[Step]) -> Flow:
    """Record a step and the steps inside it; return its output columns."""
    if does_nothing(step):
        return flow
    if type(step) is Pipeline:
        for _, inner in step.steps:
            flow = _follow(inner, flow, steps)
        return flow
    if type(step) in (ColumnTransformer, FeatureUnion):
        flows = [_follow(inner, part, steps) for inner, part in _parts(step, flow)]
        owners = tuple(owner for part in flows for owner in part.owners)
        return Flow(owners, all(part.is_counted for part in flows))
    is_known = _is_columnwise(step)
    steps.append(Step(type(step).__name__, flow.everything, is_known))
    if is_known and type(step) in SELECTORS and flow.is_counted:
        kept = zip(flow.owners, step.get_support(), strict=True)
        return Flow(tuple(owner for owner, is_kept in kept if is_kept))
    if is_known and keeps_columns(step):
        return flow
    return Flow((flow.everything,), is_counted=False)


def _parts(step: Any, flow: Flow) -> Iterator[tuple[Any, Flow]]:
    """Yield the parallel parts of a step, with the columns that each takes."""
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
        if not places:  # then it was never fitted and has no output
            continue
        yield inner, Flow(tuple(flow.owners[place] for place in places))


def _is_columnwise(step: Any) -> bool:
    if type(step) is FunctionTransformer:
        return step.func is None or (_is_ufunc(step.func) and not step.kw_args)
    return type(step) in (*_COLUMNWISE, *SELECTORS)


def _is_ufunc(function: Any) -> bool:
    """Tell whether a function is a numpy or scipy function of one number."""
    if not isinstance(function, np.ufunc) or (function.nin, function.nout) != (1, 1):
        return False
    name = function.__name__
    return any(getattr(module, name, None) is function for module in (np, special))
