"""Pipelines that end in a classifier of nn2rules, which already has its network.

The output of the steps before it is looked up in the features of that network, so each
of its columns must come from one column of the user. The edges of bins are traced back
through scalers and imputers, to the last bit.
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
from nn2rules.models.sklearn.columns import ColumnFacts, keeps_columns, positions
from nn2rules.models.sklearn.shapes import SCALERS, ColumnPath, does_nothing
from nn2rules.models.tracing import Tensor, Trace
from nn2rules.network import Network
from nn2rules.space import (
    UNKNOWN,
    Domain,
    Intervals,
    Rows,
    cells_of,
    text_of,
    value_of,
)

Followed = list[tuple[str, ColumnPath] | None]
"""For each column between two steps, the user's column and path; None if unknown."""


def has_network(final: object) -> bool:
    """Tell whether a fitted classifier has its own network."""
    return isinstance(getattr(final, "network_", None), Network)


def scores_of(final: Any, trace: Trace, tensor: Tensor) -> Tensor:
    """Return the class probabilities of a network, from its one-hot input."""
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
    """Return the encoded rows as one-hot columns of the classifier's features."""
    domain: Domain = final.network_.domain

    def looked_up(rows: Rows) -> list[NDArray[Any]]:
        [array] = encode(rows)
        frame = final._rows(final._checked(array))
        codes = domain.encode(frame, unknown="mark")
        for row, index in zip(*np.nonzero(codes == UNKNOWN), strict=True):
            name = domain.names[index]
            [cells] = cells_of(frame, [name])
            raise ValueError(
                f"it becomes {text_of(value_of(cells[row]))!r} in column {name!r}, "
                f"which the classifier does not know"
            )
        columns = np.zeros((len(codes), int(domain.offsets[-1])))
        np.put_along_axis(columns, codes + domain.offsets[:-1], 1.0, axis=1)
        return [columns]

    return looked_up


def column_names(final: Any) -> Callable[[int, int], str]:
    """Return the names of the columns of `one_hot`, for messages."""
    domain: Domain = final.network_.domain

    def name(_array: int, entry: int) -> str:
        place = int(np.searchsorted(domain.offsets, entry, side="right")) - 1
        return f"column {domain.names[place]!r}"

    return name


def with_bins(
    facts_by_name: Mapping[str, ColumnFacts],
    final: Any,
    first: Any,
    names: Sequence[str],
) -> dict[str, ColumnFacts]:
    """Add the bins of the network to what is known of the columns."""
    paths: dict[str, list[ColumnPath]] = {}
    domain, names_of_classifier = final.network_.domain, list(final._names)
    followed = _followed(first, [(name, ()) for name in names])
    for feature in domain.features:
        place = names_of_classifier.index(feature.name)
        came = None if followed is None or place >= len(followed) else followed[place]
        if came is not None and isinstance(feature, Intervals):
            cuts = KBinsDiscretizer(encode="ordinal")
            edges = [-np.inf, *map(float, feature.edges), np.inf]
            cuts.bin_edges_, cuts.n_features_in_ = [np.array(edges)], 1
            paths.setdefault(came[0], []).append((*came[1], (cuts, 0)))
    return {
        name: replace(facts, paths=tuple(paths[name])) if name in paths else facts
        for name, facts in facts_by_name.items()
    }


def _followed(step: Any, came: Followed) -> Followed | None:
    """Follow columns through steps that are increasing linear functions."""
    if does_nothing(step):
        return came
    if isinstance(step, Pipeline):
        columns: Followed | None = came
        for _, inner in step.steps:
            columns = None if columns is None else _followed(inner, columns)
        return columns
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
    outputs: Followed = [None] * max(part.stop for part in parts.values())
    listed = getattr(step, "feature_names_in_", range(len(came)))
    names = [str(name) for name in listed]
    for name, inner, columns in step.transformers_:
        chosen = positions(columns, names)
        if not chosen or (isinstance(inner, str) and inner == "drop"):
            continue
        followed = _followed(_plain(inner), [came[place] for place in chosen])
        part = parts[name]
        if followed is not None and len(followed) == part.stop - part.start:
            outputs[part] = followed
    return outputs


def _plain(step: Any) -> Any:
    """Return a fitted step; None if it passes columns through."""
    is_empty = type(step).__name__ == "FunctionTransformer" and step.func is None
    return None if is_empty else step
