"""Predictions for rows, and what rows get that are not covered.

Rules of scope "support" are exact for every row that one of them covers. For a row that
is *not covered*, the default is only a guess.
"""

import warnings
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError, UncoveredRowsError, UncoveredRowsWarning
from nn2rules.language import count
from nn2rules.network import labels_array
from nn2rules.space import UNKNOWN, Rows, Value, columns_for, picked_rows

if TYPE_CHECKING:
    from nn2rules.rules.description import Description


def label_positions(
    classes: Sequence[Value], labels: Any, n_rows: int
) -> NDArray[np.int64]:
    """Return the position of the class that each of `labels` names, one per row.

    Text from a CSV file matches the class that reads the same.

    Examples
    --------
    >>> label_positions((0, 1), np.array(["1", "0"]), 2)
    array([1, 0])
    """
    positions: dict[Any, int] = {str(c): i for i, c in enumerate(classes)}
    positions |= {label: index for index, label in enumerate(classes)}
    listed = _listed(labels)
    if len(listed) != n_rows:
        raise OptionError(
            f"{len(listed)} labels for {n_rows} rows, expected one for each"
        )
    for row, label in enumerate(listed):
        if not isinstance(label, Hashable):
            raise OptionError(f"row {row} has {label!r}, expected one label")
        if label not in positions and str(label) not in positions:
            names = ", ".join(str(label) for label in classes)
            raise OptionError(
                f"the label {label!r} is not a class; the classes are {names}"
            )
    codes = [positions.get(label, positions.get(str(label), -1)) for label in listed]
    return np.array(codes, dtype=np.int64)


def _listed(labels: Any) -> list[Any]:
    """Return labels as plain values, from any kind of sequence or column."""
    shape = getattr(labels, "shape", None)
    if isinstance(labels, str) or (shape is not None and len(shape) != 1):
        kind = "a string" if shape is None else f"an array of shape {tuple(shape)}"
        raise OptionError(f"{kind}, expected one class label for each row")
    for name in ("tolist", "to_list", "to_pylist"):
        if hasattr(labels, name):
            return list(getattr(labels, name)())
    try:
        return list(labels)
    except TypeError:
        raise OptionError(
            f"a {type(labels).__name__}, expected one class label for each row"
        ) from None


OUTSIDE = -2
"""What `RuleList.apply` returns for a row outside the domain, on request."""

Uncovered: TypeAlias = Literal["default", "none", "error"]
"""What a row gets that is not covered, unless a model predicts it."""

Unknown: TypeAlias = Literal["error", "default", "none"]
"""What a row gets that has a value outside the domain."""


def check_unknown(unknown: object) -> None:
    """Refuse anything but an `Unknown`."""
    if unknown not in ("error", "default", "none"):
        raise OptionError(
            f"unknown: {unknown!r}, expected 'error', 'default' or 'none'"
        )


def numbers_for(description: "Description", rows: Rows) -> NDArray[np.float64] | None:
    """Return the numbers of rows, if the description needs them to predict."""
    domain = description.domain
    is_needed = description.needs_numbers and domain.has_ranges
    return domain.numbers(rows) if is_needed else None


def predicted_labels(
    description: "Description", rows: Rows, unknown: Unknown, uncovered: Any
) -> NDArray[Any]:
    """Return what `Description.predict` does."""
    _check(uncovered)
    check_unknown(unknown)
    domain, classes = description.domain, description.classes
    is_default = isinstance(uncovered, str) and uncovered == "default"
    if description.default is None and (is_default or unknown == "default"):
        raise OptionError("'default': there is no default class here; expected 'none'")
    codes = domain.encode(rows, unknown="error" if unknown == "error" else "mark")
    inside = (codes != UNKNOWN).all(axis=1)
    numbers = numbers_for(description, rows)
    predicted = description.predictions(
        codes[inside], None if numbers is None else numbers[inside]
    )
    nothing = len(classes)
    outside = classes.index(description.default) if unknown == "default" else nothing
    positions = np.full(len(codes), outside, dtype=np.int64)
    positions[inside] = predicted.classes
    is_uncovered = np.zeros(len(codes), dtype=np.bool_)
    is_uncovered[inside] = ~predicted.is_covered
    if is_uncovered.any():
        positions[is_uncovered] = _uncovered_positions(
            description, rows, is_uncovered, uncovered
        )
    if (positions == nothing).any():
        return np.asarray(labels_array((*classes, None))[positions])
    return np.asarray(labels_array(classes)[positions])


def _check(uncovered: Any) -> None:
    if uncovered is None:
        return
    is_policy = isinstance(uncovered, str) and uncovered in ("none", "default", "error")
    if not is_policy and not callable(getattr(uncovered, "predict", None)):
        raise OptionError(
            f"uncovered: {uncovered!r}, expected 'none', 'default', 'error' or a model "
            f"with predict"
        )


def _uncovered_positions(
    description: "Description",
    rows: Rows,
    is_uncovered: NDArray[np.bool_],
    uncovered: Any,
) -> Any:
    """Return the positions of the classes that uncovered rows get."""
    where, n_rows = np.flatnonzero(is_uncovered), len(is_uncovered)
    if uncovered == "error":
        raise UncoveredRowsError(int(where[0]), len(where), n_rows)
    if uncovered == "default":
        return description.classes.index(description.default)
    if uncovered is None:
        warnings.warn(
            f"no rule covers {len(where):,} of {count(n_rows, 'row')}; the prediction "
            f"there is None (uncovered='default' gives {description.default!r}, which "
            f"is not proved; uncovered=model asks the model)",
            UncoveredRowsWarning,
            stacklevel=4,
        )
    if uncovered is None or uncovered == "none":
        return len(description.classes)
    uncovered_rows = columns_for(uncovered, picked_rows(rows, where))
    return description.positions(uncovered.predict(uncovered_rows), len(where))
