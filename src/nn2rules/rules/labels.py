"""The labels of rows, as positions of classes."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.values import Value


def label_positions(
    classes: Sequence[Value], labels: Any, n_rows: int
) -> NDArray[np.int64]:
    """Return the positions of the classes that `labels`, one a row, name.

    The text of a CSV file finds the class that it spells.

    Examples
    --------
    >>> label_positions((0, 1), np.array(["1", "0"]), 2)
    array([1, 0])
    """
    known: dict[Any, int] = {str(c): i for i, c in enumerate(classes)}
    known |= {label: index for index, label in enumerate(classes)}
    listed = _listed(labels)
    if len(listed) != n_rows:
        raise OptionError(
            f"{len(listed)} labels for {n_rows} rows, expected one for each"
        )
    for row, label in enumerate(listed):
        if not isinstance(label, Hashable):
            raise OptionError(f"row {row} has {label!r}, expected one label")
        if label not in known and str(label) not in known:
            names = ", ".join(str(label) for label in classes)
            raise OptionError(
                f"the label {label!r} is not a class; the classes are {names}"
            )
    found = [known.get(label, known.get(str(label), -1)) for label in listed]
    return np.array(found, dtype=np.int64)


def _listed(labels: Any) -> list[Any]:
    """Return labels as plain values, whatever holds them."""
    shape = getattr(labels, "shape", None)
    if isinstance(labels, str) or (shape is not None and len(shape) != 1):
        found = "a string" if shape is None else f"an array of shape {tuple(shape)}"
        raise OptionError(f"{found}, expected one class label for each row")
    for name in ("tolist", "to_list", "to_pylist"):
        if hasattr(labels, name):
            return list(getattr(labels, name)())
    try:
        return list(labels)
    except TypeError:
        raise OptionError(
            f"a {type(labels).__name__}, expected one class label for each row"
        ) from None
