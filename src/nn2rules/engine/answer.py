"""The one question and its answer."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import Domain
from nn2rules.errors import DomainError


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Proved, or refuted with a counterexample.

    Attributes
    ----------
    proved : bool
    counterexample : ndarray of int or None
        The codes of an input in the box that is of another class.
    """

    proved: bool
    counterexample: NDArray[np.int64] | None = None

    def __bool__(self) -> bool:
        return self.proved


def check_question(
    domain: Domain, n_classes: int, box: NDArray[np.bool_], index: int
) -> None:
    """Refuse a box of the wrong shape or without an input, or a class that is none."""
    check_box(domain, box)
    if not isinstance(index, int | np.integer) or not 0 <= index < n_classes:
        raise DomainError(f"there is no class {index!r}; they are 0 to {n_classes - 1}")


def check_box(domain: Domain, box: NDArray[np.bool_]) -> None:
    """Refuse what is no box, one of the wrong shape, or one with no input in it."""
    n_columns = int(domain.offsets[-1])
    if not isinstance(box, np.ndarray):
        raise DomainError(
            f"a box is a boolean array with an entry for each of the {n_columns} "
            f"values, not a {type(box).__name__}; box_of makes one from a dict"
        )
    if box.shape != (n_columns,) or box.dtype != np.bool_:
        raise DomainError(
            f"a box is a boolean array with an entry for each of the {n_columns} "
            f"values; this one is {box.dtype} of shape {box.shape}"
        )
    kept = np.logical_or.reduceat(box, domain.offsets[:-1])
    if not kept.all():
        name = domain.names[int(np.argmin(kept))]
        raise DomainError(f"the box is empty: feature {name!r} keeps no value")
