"""The engines' answer, and checks of what they are asked."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError
from nn2rules.space import Boxes, Domain, Range, whole_boxes


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A proof, or a counterexample.

    Attributes
    ----------
    proved : bool
    counterexample : ndarray of int or None
        The codes of an input in the box that has another class.
    numbers : ndarray of float or None
        Its numbers, for features that are ranges.
    """

    proved: bool
    counterexample: NDArray[np.int64] | None = None
    numbers: NDArray[np.float64] | None = None

    def __bool__(self) -> bool:
        return self.proved


def check_question(
    domain: Domain, n_classes: int, box: NDArray[np.bool_], index: int
) -> None:
    """Refuse a box of the wrong shape, an empty box, or a class that does not exist."""
    check_box(domain, box)
    if not isinstance(index, int | np.integer) or not 0 <= index < n_classes:
        raise DomainError(f"there is no class {index!r}; they are 0 to {n_classes - 1}")


def check_box(domain: Domain, box: NDArray[np.bool_]) -> None:
    """Refuse a box of the wrong type or shape, or without any input."""
    n_columns = int(domain.offsets[-1])
    if not isinstance(box, np.ndarray):
        raise DomainError(
            f"a box is a boolean array with an entry for each of the {n_columns} "
            f"values, not a {type(box).__name__}; box_of builds one from a dict"
        )
    if box.shape != (n_columns,) or box.dtype != np.bool_:
        raise DomainError(
            f"a box is a boolean array with an entry for each of the {n_columns} "
            f"values; this one is {box.dtype} of shape {box.shape}"
        )
    has_value = np.logical_or.reduceat(box, domain.offsets[:-1])
    if not has_value.all():
        name = domain.names[int(np.argmin(has_value))]
        raise DomainError(f"the box is empty: it allows no value of feature {name!r}")


def checked_ends(
    domain: Domain, box: NDArray[np.bool_], ends: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Check where the ranges of a box begin and end.

    Entries for features that are not ranges, and for ranges that the box does not
    allow, have no meaning and are not checked.
    """
    ends = np.asarray(ends, dtype=np.float64)
    if ends.shape != domain.limits.shape:
        raise DomainError(
            f"ends: an array of shape {ends.shape}, expected {domain.limits.shape}: "
            f"the minimum and the maximum of each feature"
        )
    for index, feature in enumerate(domain.features):
        if not isinstance(feature, Range) or not box[domain.ranges[index]]:
            continue
        low, high = ends[:, index].tolist()
        if not feature.limits[0] <= low <= high <= feature.limits[1]:
            raise DomainError(
                f"ends: feature {feature.name!r} from {low} to {high}, expected a "
                f"range in {feature.limits[0]} to {feature.limits[1]}"
            )
        if feature.whole and not (low.is_integer() and high.is_integer()):
            raise DomainError(
                f"ends: feature {feature.name!r} has whole numbers, not {low} to {high}"
            )
    return ends


def as_boxes(domain: Domain, boxes: Boxes | NDArray[np.bool_]) -> Boxes:
    """Return `boxes`, or make boxes of a boolean array, without limits on ranges.

    Examples
    --------
    >>> from nn2rules.space.domain import Feature
    >>> domain = Domain((Feature.real("age", 18, 100),))
    >>> as_boxes(domain, np.array([[True]])).ends.tolist()
    [[[18.0], [100.0]]]
    """
    allowed = boxes.allowed if isinstance(boxes, Boxes) else boxes
    shape, dtype = np.shape(allowed), getattr(allowed, "dtype", type(allowed))
    n_columns = int(domain.offsets[-1])
    if len(shape) != 2 or shape[1] != n_columns or dtype != np.bool_:
        raise DomainError(
            f"ignoring: boxes of shape {shape} and type {dtype}, expected an array of "
            f"shape (n, {n_columns}) and type bool"
        )
    if isinstance(boxes, Boxes):
        return boxes
    return whole_boxes(domain, allowed)
