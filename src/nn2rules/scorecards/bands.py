"""How the printed totals of rows are distributed: bands of points, and what is in them.

The edges of bands are round numbers. Where a cut-off is near one, it takes its place,
so that a band has one prediction wherever points prove it.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.scorecards.numbers import number_text
from nn2rules.scorecards.whole_arrays import whole_array

if TYPE_CHECKING:
    from nn2rules.scorecards.scorecard import Scorecard

_MOST_BANDS = 12


@dataclass(frozen=True, slots=True)
class PointsBand:
    """A band of totals, and the rows in it.

    Attributes
    ----------
    low, high : Fraction or None
        Totals of at least `low` and below `high` are in it; None where it is open.
    rows : int
    predicted : int
        How many of the rows have the second class.
    labelled : int or None
        How many of them have the label of the second class.
    """

    low: Fraction | None
    high: Fraction | None
    rows: int
    predicted: int
    labelled: int | None = None

    @property
    def text(self) -> str:
        """The band as people read it.

        Examples
        --------
        >>> PointsBand(Fraction(300), Fraction(400), 0, 0).text
        '300 to below 400'
        """
        if self.low is None:
            return "all" if self.high is None else f"below {number_text(self.high)}"
        if self.high is None:
            return f"{number_text(self.low)} or more"
        return f"{number_text(self.low)} to below {number_text(self.high)}"

    def as_dict(self) -> dict[str, Any]:
        """Return the band as plain values."""
        ends = {"low": self.low, "high": self.high}
        plain: dict[str, Any] = {
            name: None if end is None else float(end) for name, end in ends.items()
        }
        counts = {"rows": self.rows, "predicted": self.predicted}
        return plain | counts | {"labelled": self.labelled}


def bands_of(
    card: "Scorecard",
    codes: NDArray[np.int64],
    numbers: NDArray[np.float64] | None,
    labels: NDArray[np.int64] | None = None,
) -> tuple[PointsBand, ...]:
    """Return the bands of the totals of inputs; none unless a card has one total.

    Parameters
    ----------
    card : Scorecard
    codes, numbers
        See `Domain.inputs_of`.
    labels : ndarray of int64, optional
        The position of the true class of each input.
    """
    table = card.table
    if table.regions or len(table.totals) != 1 or not len(codes):
        return ()
    whole, denominator = table.whole_totals(table.sums_at(codes, numbers))
    totals = whole[:, 0]
    extremes = totals.min(), totals.max()
    low, high = (Fraction(int(end), denominator) for end in extremes)
    cut_offs = [cut_off.at_least / table.step for cut_off in table.cut_offs]
    edges = _edges(low, high, cut_offs)
    starts = whole_array([math.ceil(edge * denominator) for edge in edges])
    places = np.searchsorted(starts, totals, side="right")
    size = len(edges) + 1
    rows = np.bincount(places, minlength=size)
    is_second = card.predict_codes(codes, numbers) == 1
    predicted = np.bincount(places[is_second], minlength=size)
    labelled = None
    if labels is not None:
        labelled = np.bincount(places[labels == 1], minlength=size)
    ends = [None, *(edge * table.step for edge in edges), None]
    return tuple(
        PointsBand(
            ends[place],
            ends[place + 1],
            int(rows[place]),
            int(predicted[place]),
            None if labelled is None else int(labelled[place]),
        )
        for place in range(size)
    )


def _edges(low: Fraction, high: Fraction, cut_offs: list[Fraction]) -> list[Fraction]:
    """Return where bands begin, all between the lowest and the highest total.

    Examples
    --------
    >>> [int(edge) for edge in _edges(Fraction(12), Fraction(95), [Fraction(41)])]
    [20, 30, 41, 50, 60, 70, 80, 90]
    """
    width = _round_width(high - low)
    first = (low / width).__floor__() + 1
    last = (high / width).__floor__()
    inside = [end for end in cut_offs if low < end <= high]
    round_ones = (width * place for place in range(first, last + 1))
    kept = [e for e in round_ones if all(abs(e - end) * 2 > width for end in inside)]
    return sorted({*kept, *inside})


def _round_width(size: Fraction) -> Fraction:
    """Return the smallest of 1, 2, 5, 10, … of which few cover a size."""
    width, steps = Fraction(1), (Fraction(2), Fraction(5, 2), Fraction(2))
    place = 0
    while width * _MOST_BANDS < size:
        width *= steps[place % 3]
        place += 1
    return width
