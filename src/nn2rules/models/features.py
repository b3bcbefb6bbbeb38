"""What the features of a model can be: from the model, from data, and from the user."""

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
    Column,
    Domain,
    Feature,
    Rows,
    Value,
    are_whole,
    column_names,
    feature_of,
    is_missing,
    observed_columns,
    said_of,
    value_of,
)


def domain_of(
    data: Rows,
    said: Domain | Mapping[str, Any] | None,
    known: Mapping[str, Any] | None,
    *,
    other: bool | Sequence[str],
    listed: Collection[str] = (),
    is_curved: bool = False,
) -> Domain:
    """Return the domain of a model.

    Parameters
    ----------
    data : frame or list of dicts, or None
    said : Domain, or mapping from names to what the user says of features, or None
    known : mapping from names to `Known`, or None
        What the model knows of its columns.
    other
        As in `read_network`.
    listed : collection of str
        Features that are no ranges, unless the user says so.
    is_curved : bool
        As in `ModelOptions`.
    """
    if isinstance(said, Domain):
        _refuse_groups(said.features)
        return _along_curves(said, data, known)
    if said is not None and not isinstance(said, Mapping):
        raise OptionError(
            f"domain= is a Domain, or a dict from features to what they can be, not a "
            f"{type(said).__name__}; a fitted transformer goes to encode="
        )
    if data is None:
        names = list(known or said or ())
        observed = [Column(()) for _ in names]
    else:
        _refuse_empty(data)
        known = _by_position(data, known)
        names = list(known) if known else column_names(data)
        observed = _observed(data, names)
    said = said_of(said, names)
    if not names:
        raise UnsupportedModelError(
            "the model does not know its columns; give data= (--data), rows as it "
            "was trained on, or domain="
        )
    features = []
    types = _types(data, names)
    for name, column in zip(names, observed, strict=True):
        facts = known.get(name) if known else None
        if facts is not None and (other is True or (other and name in other)):
            facts = replace(facts, fill=())  # the word that fills gaps is no other
        feature = _feature(
            name, column, said.get(name), facts, types, listed=name in listed
        )
        if facts is not None and (is_curved or name in said):
            feature = along(feature, facts.curve)
        features.append(_with_other(feature, other, facts))
    _check_other(other, features)
    _refuse_groups(features)
    return Domain(tuple(features))


def _along_curves(
    domain: Domain, data: Rows, known: Mapping[str, Any] | None
) -> Domain:
    """Return a stated domain with the curves that the model reads its ranges along."""
    if known is None or not domain.has_ranges:
        return domain
    if data is not None:
        known = _by_position(data, known)
    return Domain(
        tuple(
            along(feature, known[feature.name].curve)
            if feature.name in known and feature.curve is None
            else feature
            for feature in domain.features
        )
    )


def _refuse_groups(features: Sequence[Feature]) -> None:
    """Refuse groups of words: nobody has asked the model about each of them."""
    for feature in features:
        if feature.groups is not None:
            raise UnsupportedModelError(
                f"domain: feature {feature.name!r} has groups of words, which this "
                f"model may tell apart; give the words themselves, as in "
                f"domain={{{feature.name!r}: [...]}}"
            )


def _refuse_empty(data: Rows) -> None:
    column_names(data)  # refuses what are no rows
    n_rows = len(data if isinstance(data, list | tuple) else nw.from_native(data))
    if n_rows == 0:
        raise RowsError("the data have no rows; give rows as the model was trained on")


def _by_position(data: Rows, known: Mapping[str, Any] | None) -> Any:
    """Give the columns of a model that was trained on an array the names of `data`."""
    columns = column_names(data)
    is_array = known is not None and list(known) == _array_names(len(known))
    if known is None or not is_array or set(known) <= set(columns):
        return known
    if len(columns) != len(known):
        raise RowsError(
            f"the model was trained on an array of {len(known)} columns, and the data "
            f"have {len(columns)}: {', '.join(map(repr, columns))}; give those columns "
            f"alone, in the order of the array"
        )
    return dict(zip(columns, known.values(), strict=True))


def _array_names(n_columns: int) -> list[str]:
    return [f"x{index}" for index in range(n_columns)]


def _observed(data: Rows, names: Sequence[str]) -> list[Column]:
    try:
        return observed_columns(data, names)
    except RowsError as error:
        raise RowsError(f"the data are not those of the model: {error}") from None


def _types(data: Rows, names: Sequence[str]) -> dict[str, np.dtype[Any]]:
    """Return the types of columns of floats, where they are not the usual one."""
    if data is None or isinstance(data, list | tuple):
        return {}
    frame = nw.from_native(data, eager_only=True)
    return {name: frame[name][:0].to_numpy().dtype for name in names}


def _edges(
    ways: Sequence[Any], types: Mapping[str, Any], *, whole: bool
) -> tuple[float, ...]:
    from nn2rules.models.sklearn import edges_of

    edges = edges_of(ways, types)
    return tuple(sorted({math.ceil(edge) for edge in edges})) if whole else edges


def probed_bins(
    data: Rows, domain: Domain, known: Mapping[str, Any] | None
) -> list[str]:
    """Return the features whose bins rest on numbers that were tried.

    Others are those that the code of the model's own steps is known to make.
    """
    known = known if data is None else _by_position(data, known)
    found = []
    for feature in domain.features:
        if feature.edges is None or feature.limits is not None:
            continue
        ways = known[feature.name].ways if known and feature.name in known else ()
        types = _types(data, list(known or ()))
        if not _are_known(feature, ways, types):
            found.append(feature.name)
    return found


def probed_ranges(
    data: Rows, domain: Domain, known: Mapping[str, Any] | None, *, encoded: bool
) -> list[str]:
    """Return the ranges that are along a line only as far as numbers were tried.

    `encoded` says whether the user has a way of his own from rows to arrays.
    """
    known = known if data is None else _by_position(data, known)
    found = []
    for feature in domain.features:
        if feature.limits is None:
            continue
        facts = known.get(feature.name) if known else None
        ends = facts.straight if facts is not None else None
        is_known = facts is None and not encoded
        if feature.curve is not None:
            continue  # by the code of the model's steps
        if ends is not None:
            low, high = feature.limits
            is_known = ends[0] <= low and high <= ends[1]
        if not is_known:
            found.append(feature.name)
    return found


def _are_known(feature: Feature, ways: Sequence[Any], types: Mapping[str, Any]) -> bool:
    if not ways:
        return False
    from nn2rules.models.sklearn import is_known_way

    own = _edges(ways, types, whole=feature.whole)
    return all(map(is_known_way, ways)) and set(own) <= set(feature.edges or ())


def _bins(
    name: str, column: Column, ways: Sequence[Any], types: Mapping[str, Any]
) -> Feature | None:
    """Return the bins that the model makes of a column, if it tells nothing more apart.

    Of whole numbers, the edges are whole: none of them is between an edge and the next.
    """
    whole = are_whole(column.cells)
    edges = _edges(ways, types, whole=whole)
    if not edges:
        return None
    has_gaps = any(is_missing(cell) for cell in column.cells)
    return Feature.bins(name, edges, missing=has_gaps, whole=whole)


def _feature(
    name: str,
    column: Column,
    said: Any,
    known: Any,
    types: Mapping[str, Any],
    *,
    listed: bool,
) -> Feature:
    special = () if known is None else known.special
    if said is not None or known is None:
        _refuse_unknown(name, column, said)
        return feature_of(name, column, said, special=special, listed=listed)
    cells = {value_of_or_text(cell) for cell in column.cells}
    if known.ways:
        bins = _bins(name, column, known.ways, types)
        if bins is not None:
            return bins
    values = tuple(v for v in known.values if v not in known.fill or v in cells)
    if None in values:
        column = replace(column, cells=[*cells, None])
    if column.categories is not None and values:  # unused ones may be unknown to it
        kept = [c for c in column.categories if c in cells or c in values]
        column = replace(column, categories=kept)
    if not values:
        _refuse_unknown(name, column, said)
    listed = listed or known.is_looked_up
    feature = feature_of(name, column, known=values, special=special, listed=listed)
    return replace(feature, ordered=feature.ordered or known.is_ordered)


def _refuse_unknown(name: str, column: Column, said: Any) -> None:
    if said is None and not column.cells:
        raise UnsupportedModelError(
            f"the model does not know what its column {name!r} can be; give data= "
            f"(--data), rows as it was trained on, or domain={{{name!r}: [...]}}, or "
            f"a range of numbers, (low, high)"
        )


def labels_of(
    classes: Sequence[Value] | None, shape: tuple[int, ...]
) -> tuple[Value, ...]:
    """Return the classes of a model by the shape of its answer to a row.

    One number tells two classes apart. Where the user names none they are 0, 1, ….
    """
    n_outputs = math.prod(shape)
    n_classes = max(n_outputs, 2)
    if classes is None:
        return tuple(range(n_classes))
    labels = tuple(value_of(label) for label in classes)
    if len(labels) != n_classes:
        outputs = "one output" if n_outputs == 1 else f"{n_outputs} outputs"
        raise OptionError(
            f"classes: {len(labels)} are given, but the model has {outputs}, so that "
            f"it tells {n_classes} classes apart"
        )
    return labels


def value_of_or_text(cell: object) -> Value:
    """Return a cell as a value; what cannot be one, as its text."""
    try:
        return value_of(cell)
    except ValueError:
        return str(cell)


def _with_other(feature: Feature, other: bool | Sequence[str], known: Any) -> Feature:
    """Add the value for others, where it is wanted and makes sense."""
    is_named = not isinstance(other, bool) and feature.name in other
    has_words = feature.edges is None and not feature.has_numbers
    is_encoded = known is not None and bool(known.values)
    can = has_words or is_encoded
    if other is True and known is not None:
        can = known.takes_others
    if not (other is True or is_named) or feature.other is not None or not can:
        return feature
    name = unused("other", {str(value) for value in feature.values})
    plain, rest = feature.values[: feature.n_plain], feature.values[feature.n_plain :]
    return replace(feature, values=(*plain, name, *rest), other=name)


def _check_other(other: bool | Sequence[str], features: Sequence[Feature]) -> None:
    if other is True and not any(feature.other for feature in features):
        raise OptionError(
            "other: no feature can have a value for others, as no encoder takes values "
            "that it was not trained on; use OneHotEncoder(handle_unknown='ignore')"
        )
    for name in () if isinstance(other, bool) else other:
        if not any(f.name == name and f.other is not None for f in features):
            raise OptionError(
                f"other: {name!r} is not a feature of words, so it cannot have a value "
                f"for others"
            )
