"""Pipelines that end in a classifier of ours, which has its network already.

What the steps before it make of a value is looked up in the features of that network.
So each column must come from one column of the user's. Where bins begin is followed
back through scalers and imputers, to the last bit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import KBinsDiscretizer

from nn2rules.models.probing import Encode
from nn2rules.models.sklearn.columns import Known, keeps_columns, positions
from nn2rules.models.sklearn.shapes import SCALERS, Way, does_nothing
from nn2rules.models.tracing import Tensor, Trace
from nn2rules.network import Network
from nn2rules.space import UNKNOWN, Domain, Rows, cells_of, text_of, value_of

Followed = list[tuple[str, Way] | None]
"""For each column between two steps, the user's column and its way; None if unknown."""


def is_ours(final: object) -> bool:
    """Tell whether a fitted classifier has a network of its own."""
    return isinstance(getattr(final, "network_", None), Network)


def scores_of(final: Any, trace: Trace, tensor: Tensor) -> Tensor:
    """Return the shares of classes that a network makes of its one-hot input."""
    network: Network = final.network_
    for layer in network.layers[:-1]:
        tensor = trace.linear(tensor, layer.weights, layer.bias)
        tensor = trace.activate(tensor, layer.activation)
    last = network.layers[-1]
    tensor = trace.linear(tensor, last.weights, last.bias)
    if last.activation == "softmax":
        return trace.activate(tensor, "softmax")
    return trace.pair(tensor)


def one_hot(final: Any, encode: Encode) -> Encode:
    """Return what steps make of rows, looked up: a column for each value, 0 or 1."""
    domain: Domain = final.network_.domain

    def looked_up(rows: Rows) -> list[NDArray[Any]]:
        [array] = encode(rows)
        made = final._rows(final._checked(array))
        codes = domain.encode(made, unknown="mark")
        for row, index in zip(*np.nonzero(codes == UNKNOWN), strict=True):
            name = domain.names[index]
            [cells] = cells_of(made, [name])
            raise ValueError(
                f"it becomes {text_of(value_of(cells[row]))!r} in column {name!r}, "
                f"which the classifier does not know"
            )
        found = np.zeros((len(codes), int(domain.offsets[-1])))
        np.put_along_axis(found, codes + domain.offsets[:-1], 1.0, axis=1)
        return [found]

    return looked_up


def column_names(final: Any) -> Callable[[int, int], str]:
    """Return how the columns of `one_hot` are called, for messages."""
    domain: Domain = final.network_.domain

    def name(_array: int, entry: int) -> str:
        place = int(np.searchsorted(domain.offsets, entry, side="right")) - 1
        return f"column {domain.names[place]!r}"

    return name


def with_bins(
    known: Mapping[str, Known], final: Any, first: Any, names: Sequence[str]
) -> dict[str, Known]:
    """Return what is known of columns, with the bins of the network behind them."""
    ways: dict[str, list[Way]] = {}
    domain, own = final.network_.domain, list(final._names)
    followed = _followed(first, [(name, ()) for name in names])
    for feature in domain.features:
        place = own.index(feature.name)
        came = None if followed is None or place >= len(followed) else followed[place]
        if came is not None and feature.edges is not None:
            cuts = KBinsDiscretizer(encode="ordinal")
            edges = [-np.inf, *map(float, feature.edges), np.inf]
            cuts.bin_edges_, cuts.n_features_in_ = [np.array(edges)], 1
            ways.setdefault(came[0], []).append((*came[1], (cuts, 0)))
    return {
        name: replace(facts, ways=tuple(ways[name])) if name in ways else facts
        for name, facts in known.items()
    }


def _followed(step: Any, came: Followed) -> Followed | None:
    """Follow columns through steps that keep each as a number on a rising line."""
    if does_nothing(step):
        return came
    if isinstance(step, Pipeline):
        found: Followed | None = came
        for _, inner in step.steps:
            found = None if found is None else _followed(inner, found)
        return found
    if isinstance(step, ColumnTransformer):
        return _selected(step, came)
    if type(step) in (*SCALERS, SimpleImputer) and keeps_columns(step):
        return [
            None if each is None else (each[0], (*each[1], (step, place)))
            for place, each in enumerate(came)
        ]
    return None


def _selected(step: ColumnTransformer, came: Followed) -> Followed | None:
    parts = step.output_indices_
    found: Followed = [None] * max(part.stop for part in parts.values())
    listed = getattr(step, "feature_names_in_", range(len(came)))
    names = [str(name) for name in listed]
    for name, inner, columns in step.transformers_:
        chosen = positions(columns, names)
        if not chosen or (isinstance(inner, str) and inner == "drop"):
            continue
        made = _followed(_plain(inner), [came[place] for place in chosen])
        part = parts[name]
        if made is not None and len(made) == part.stop - part.start:
            found[part] = made
    return found


def _plain(step: Any) -> Any:
    """Return a step; None for one that passes columns through, as it is fitted."""
    is_empty = type(step).__name__ == "FunctionTransformer" and step.func is None
    return None if is_empty else step
