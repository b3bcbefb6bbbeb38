"""What a net should predict: class probabilities for each row, and the row's weight."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Targets:
    """Class probabilities of rows, and how much each row counts.

    Attributes
    ----------
    shares : ndarray of shape (n_rows, n_classes)
        The probability of each class: 0 or 1 for labels, anything between for the
        predictions of a model.
    weights : ndarray of shape (n_rows,)
        A row of weight 2 counts as two rows.
    """

    shares: Floats
    weights: Floats

    @classmethod
    def of_labels(
        cls,
        truth: NDArray[np.int64],
        n_classes: int | None = None,
        weights: Floats | None = None,
    ) -> "Targets":
        """Return the targets of rows whose class is known, given as its position.

        Examples
        --------
        >>> Targets.of_labels(np.array([0, 1, 1])).total.tolist()
        [1.0, 2.0]
        """
        size = int(truth.max()) + 1 if n_classes is None else n_classes
        shares = np.eye(size)[truth]
        return cls(shares, np.ones(len(truth)) if weights is None else weights)

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.shares.T)

    @property
    def truth(self) -> NDArray[np.int64]:
        """The position of the most probable class of each row."""
        largest: NDArray[np.int64] = np.argmax(self.shares, axis=1)
        return largest

    @property
    def n_rows(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    @property
    def total(self) -> Floats:
        """The weight of each class."""
        total: Floats = self.weights @ self.shares
        return total

    def part(self, places: NDArray[np.integer] | NDArray[np.bool_]) -> "Targets":
        """Return the targets of these rows."""
        return Targets(self.shares[places], self.weights[places])
