"""The answer to the one question."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
