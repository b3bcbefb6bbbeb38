"""The features of a model: from the model itself, from data, and from the user."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from nn2rules.errors import OptionError, RowsError, UnsupportedModelError
from nn2rules.language import unused
from nn2rules.models.ranges import along
from nn2rules.space import (
    Binned,
    Column,
    Curved,
    Domain,
    Feature,
    Grouped,
    Intervals,
    Listed,
    Range,
    Rows,
    Value,
    are_whole,
    checked_specs,
    column_names,
    feature_of,
    is_missing,
    observed_columns,
    value_of,
)


def domain_of(
    data: Rows,
    spec: Domain | Mapping[str, Any] | None,
    column_facts: Mapping[str, Any] | None,
    *,
    other: bool | Sequence[str],
    listed: Collection[str] = (),
    is_curved: bool = False,
) -> Domain:
    """Return the domain of a model.

    Parameters
    ----------
    data : frame or list of dicts, or None
    spec : Domain, or mapping from names to specifications of the user, or None
    known : mapping from names to `ColumnFacts`, or None
        What the model knows of its columns.
    other
        As in `read_network`.
    listed : collection of str
        Features that are not ranges, unless the user declares them as such.
    is_curved : bool
        As in `ModelOptions`.
    """
    if isinstance(spec, Domain):
        _refuse_groups(spec.features)
        return _along_curves(spec, data, column_facts)
    if spec is not None and not isinstance(spec, Mapping):
        raise OptionError(
            f"domain= is a Domain, or a dict from features to their values, not a "
            f"{type(spec).__name__}; a fitted transformer goes to encode="
        )
    if data is None:
        names = list(column_facts or spec or ())
        observed = [Column(()) for _ in names]
    else:
        _refuse_empty(data)
        column_facts = _by_position(data, column_facts)
        names = list(column_facts) if column_facts else column_names(data)
        observed = _observed(data, names)
    spec = checked_specs(spec, names)
    if not names:
        raise UnsupportedModelError(
            "the model does not name its columns; give data= (--data), rows like those "
            "it was trained on, or domain="
        )
    features = []
    types = _types(data, names)
    for name, column in zip(names, observed, strict=True):
        facts = column_facts.get(name) if column_facts else None
        if facts is not None and (other is True or (other and name in other)):
            facts = replace(
                facts, fill=()
            )  # what an imputer fills in is not for others
        feature = _feature(
            name, column, spec.get(name), facts, types, listed=name in listed
        )
        if facts is not None and (is_curved or name in spec):
            feature = along(feature, facts.curve)
        features.append(_with_other(feature, other, facts))
    _check_other(other, features)
    _refuse_groups(features)
    return Domain(tuple(features))


def _along_curves(
    domain: Domain, data: Rows, column_facts: Mapping[str, Any] | None
) -> Domain:
    """Return a given domain with the curves that the model applies to its ranges."""
    if column_facts is None or not domain.has_ranges:
        return domain
    if data is not None:
        column_facts = _by_position(data, column_facts)
    return Domain(
        tuple(
            along(feature, column_facts[feature.name].curve)
            if feature.name in column_facts and not isinstance(feature, Curved)
            else feature
            for feature in domain.features
        )
    )


def _refuse_groups(features: Sequence[Feature]) -> None:
    """Refuse groups of categories: the model may treat their members differently."""
    for feature in features:
        if isinstance(feature, Grouped):
            raise UnsupportedModelError(
                f"domain: feature {feature.name!r} has groups of categories, whose "
                f"members this model may treat differently; give the categories "
                f"themselves, as in domain={{{feature.name!r}: [...]}}"
            )


def _refuse_empty(data: Rows) -> None:
    column_names(data)  # refuses what are not rows
    n_rows = len(data if isinstance(data, list | tuple) else nw.from_native(data))
    if n_rows == 0:
        raise RowsError(
            "the data have no rows; give rows like those the model was trained on"
        )


def _by_position(data: Rows, column_facts: Mapping[str, Any] | None) -> Any:
    """Name the columns of a model that was trained on an array as in `data`."""
    columns = column_names(data)
    is_array = column_facts is not None and list(column_facts) == _array_names(
        len(column_facts)
    )
    if column_facts is None or not is_array or set(column_facts) <= set(columns):
        return column_facts
    if len(columns) != len(column_facts):
        raise RowsError(
            f"the model was trained on an array of {len(column_facts)} columns, but "
            f"the data "
            f"have {len(columns)}: {', '.join(map(repr, columns))}; give only the "
            f"columns of the array, in the same order"
        )
    return dict(zip(columns, column_facts.values(), strict=True))


def _array_names(n_columns: int) -> list[str]:
    return [f"x{index}" for index in range(n_columns)]


def _observed(data: Rows, names: Sequence[str]) -> list[Column]:
    try:
        return observed_columns(data, names)
    except RowsError as error:
        raise RowsError(f"the data do not match the model: {error}") from None


def _types(data: Rows, names: Sequence[str]) -> dict[str, np.dtype[Any]]:
    """Return the types of the columns of a frame."""
    if data is None or isinstance(data, list | tuple):
        return {}
    frame = nw.from_native(data, eager_only=True)
    return {name: frame[name][:0].to_numpy().dtype for name in names}


def _edges(
    paths: Sequence[Any], types: Mapping[str, Any], *, whole: bool
) -> tuple[float, ...]:
    from nn2rules.models.sklearn import edges_of

    edges = edges_of(paths, types)
    return tuple(sorted({math.ceil(edge) for edge in edges})) if whole else edges


def probed_bins(
    data: Rows, domain: Domain, column_facts: Mapping[str, Any] | None
) -> list[str]:
    """Return the features whose bins were only tested on some numbers.

    The bins of the others are known from the code of the model's own steps.
    """
    column_facts = column_facts if data is None else _by_position(data, column_facts)
    probed = []
    for feature in domain.features:
        if not isinstance(feature, Binned):
            continue
        paths = (
            column_facts[feature.name].paths
            if column_facts and feature.name in column_facts
            else ()
        )
        types = _types(data, list(column_facts or ()))
        if not _are_known(feature, paths, types):
            probed.append(feature.name)
    return probed


def probed_ranges(
    data: Rows,
    domain: Domain,
    column_facts: Mapping[str, Any] | None,
    *,
    encoded: bool,
) -> list[str]:
    """Return the ranges that were only tested to be linear on some numbers.

    `encoded` says whether the user passed an `encode` function.
    """
    column_facts = column_facts if data is None else _by_position(data, column_facts)
    probed = []
    for feature in domain.features:
        if not isinstance(feature, Range):
            continue
        facts = column_facts.get(feature.name) if column_facts else None
        ends = facts.linear if facts is not None else None
        is_known = facts is None and not encoded
        if isinstance(feature, Curved):
            continue  # by the code of the model's steps
        if ends is not None:
            low, high = feature.limits
            is_known = ends[0] <= low and high <= ends[1]
        if not is_known:
            probed.append(feature.name)
    return probed


def _are_known(
    feature: Feature, paths: Sequence[Any], types: Mapping[str, Any]
) -> bool:
    if not paths or not isinstance(feature, Intervals):
        return False
    from nn2rules.models.sklearn import is_known_path

    edges = _edges(paths, types, whole=feature.whole)
    return all(map(is_known_path, paths)) and set(edges) <= set(feature.edges)


def _bins(
    name: str, column: Column, paths: Sequence[Any], types: Mapping[str, Any]
) -> Feature | None:
    """Return the bins of a column, if the model distinguishes nothing else in it.

    For whole numbers the edges are whole, too.
    """
    whole = are_whole(column.cells)
    edges = _edges(paths, types, whole=whole)
    if not edges:
        return None
    has_gaps = any(is_missing(cell) for cell in column.cells)
    return Feature.bins(name, edges, missing=has_gaps, whole=whole)


def _feature(
    name: str,
    column: Column,
    spec: Any,
    facts: Any,
    types: Mapping[str, Any],
    *,
    listed: bool,
) -> Feature:
    special = () if facts is None else facts.special
    if spec is not None or facts is None:
        _refuse_unknown(name, column, spec)
        return feature_of(name, column, spec, special=special, listed=listed)
    cells = {value_of_or_text(cell) for cell in column.cells}
    if facts.paths:
        bins = _bins(name, column, facts.paths, types)
        if bins is not None:
            return bins
    values = tuple(v for v in facts.values if v not in facts.fill or v in cells)
    if None in values:
        column = replace(column, cells=[*cells, None])
    if column.categories is not None and values:  # the model may not know unused ones
        kept = [c for c in column.categories if c in cells or c in values]
        column = replace(column, categories=kept)
    if not values:
        _refuse_unknown(name, column, spec)
    listed = listed or facts.is_looked_up
    feature = feature_of(name, column, known=values, special=special, listed=listed)
    if isinstance(feature, Listed) and facts.is_ordered:
        return replace(feature, ordered=True)
    return feature


def _refuse_unknown(name: str, column: Column, spec: Any) -> None:
    if spec is None and not column.cells:
        raise UnsupportedModelError(
            f"the model does not know the values of its column {name!r}; give data= "
            f"(--data), rows like those it was trained on, or domain={{{name!r}: "
            f"[...]}}, or a range of numbers, (low, high)"
        )


def labels_of(
    classes: Sequence[Value] | None, shape: tuple[int, ...]
) -> tuple[Value, ...]:
    """Return the classes of a model from the shape of its output for one row.

    One number separates two classes. Without names from the user they are 0, 1, ….
    """
    n_outputs = math.prod(shape)
    n_classes = max(n_outputs, 2)
    if classes is None:
        return tuple(range(n_classes))
    labels = tuple(value_of(label) for label in classes)
    if len(labels) != n_classes:
        outputs = "one output" if n_outputs == 1 else f"{n_outputs} outputs"
        raise OptionError(
            f"classes: {len(labels)} are given, but the model has {outputs} and so "
            f"{n_classes} classes"
        )
    return labels


def value_of_or_text(cell: object) -> Value:
    """Return a cell as a value, or as its text if it cannot be one."""
    try:
        return value_of(cell)
    except ValueError:
        return str(cell)


def _with_other(feature: Feature, other: bool | Sequence[str], facts: Any) -> Feature:
    """Add a category for others, where it is wanted and possible."""
    is_named = not isinstance(other, bool) and feature.name in other
    has_words = not isinstance(feature, Intervals) and not feature.has_numbers
    is_encoded = facts is not None and bool(facts.values)
    can = has_words or is_encoded
    if other is True and facts is not None:
        can = facts.takes_others
    if not (other is True or is_named) or feature.other is not None or not can:
        return feature
    name = unused("other", {str(value) for value in feature.values})
    plain, rest = feature.values[: feature.n_plain], feature.values[feature.n_plain :]
    return replace(feature, values=(*plain, name, *rest), other=name)


def _check_other(other: bool | Sequence[str], features: Sequence[Feature]) -> None:
    if other is True and not any(feature.other for feature in features):
        raise OptionError(
            "other: no feature can have a category for others, because no encoder "
            "accepts values that it was not trained on; use "
            "OneHotEncoder(handle_unknown='ignore')"
        )
    for name in () if isinstance(other, bool) else other:
        if not any(f.name == name and f.other is not None for f in features):
            raise OptionError(
                f"other: {name!r} is not a categorical feature, so it cannot have a "
                f"category for others"
            )
