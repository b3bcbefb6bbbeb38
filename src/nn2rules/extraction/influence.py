"""Feature influence: on how many rows one feature alone can flip the prediction.

An exact form of feature importance. It is part of certificates, so it lives here and
not with the questions.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Budget, Meter, Pace, SearchJudge
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.models import GivenRows, given_rows, read_network
from nn2rules.network import Network
from nn2rules.space import (
    Boxes,
    Domain,
    Feature,
    Range,
    Rows,
    inside,
    no_boxes,
    refuse_curves,
)

DRAWN_ROWS = 1000
"""The size of the sample of rows, if counting on all rows would take long."""

_FEWEST, _ROWS_A_SECOND, _SHARE = 50, 15, 0.1
_WORK = 1 << 30  # multiplications: some seconds
_TRIED = 16  # numbers of a range that are tried before a search
_BOXES = 10_000  # for each search


@dataclass(frozen=True, slots=True)
class Influences:
    """On how many rows changing one feature alone can flip the network's prediction.

    Attributes
    ----------
    rows : int
        The number of rows counted; fewer than given if a sample was drawn.
    of : mapping from names of features to int
        On how many of them some other value of this feature, with all other features
        unchanged, gives another prediction. The largest number comes first.
    """

    rows: int
    of: Mapping[str, int]


def influences(
    model: object,
    data: Rows,
    *,
    domain: Domain | Mapping[str, Any] | None = None,
    seed: int = 0,
    budget: Budget | None = None,
) -> Influences:
    """Count on how many rows each feature alone can flip the model's prediction.

    An exact feature importance: all values of the feature are considered, and rounding
    plays no role. If counting on all rows would take long, a random sample of
    `DRAWN_ROWS` rows is used.

    Parameters
    ----------
    model : Network, or a trained scikit-learn, PyTorch, Keras or ONNX model
    data : frame or list of dicts
    domain : Domain or mapping, optional
        The features and their values; see `read_network`.
    seed : int
        The same rows and seed give the same sample.
    budget : Budget, optional
        A limit on time; reaching it raises an error.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("car"))
    >>> cars = nn2rules.datasets.load("car").train
    >>> influence = nn2rules.influences(network, cars.rows)
    >>> influence.rows, list(influence.of.items())[:2]
    (1382, [('safety', 751), ('persons', 638)])
    """
    network = read_network(model, data=data, domain=domain)
    refuse_curves(network.domain.features, "influences")
    meter = Meter(budget or Budget())
    return counted(network, given_rows(network, data), meter, seed=seed)


def influences_in_time(
    network: Network,
    rows: GivenRows,
    meter: Meter,
    *,
    impossible: Boxes | None = None,
    seed: int = 0,
) -> Influences | None:
    """Return the influence of features, or None if that takes too much of the time.

    Under a time limit only a fraction of it is spent, and on fewer rows.
    """
    seconds, most = meter.budget.seconds, DRAWN_ROWS
    if seconds is not None:
        most = min(most, max(_FEWEST, int(_ROWS_A_SECOND * seconds)))
        seconds *= _SHARE
    part = replace(meter, budget=Budget(seconds=seconds), progress=None)
    try:
        return counted(network, rows, part, impossible=impossible, seed=seed, most=most)
    except (BudgetExceededError, UndecidedError):
        return None


def counted(
    network: Network,
    rows: GivenRows,
    meter: Meter,
    *,
    impossible: Boxes | None = None,
    seed: int = 0,
    most: int = DRAWN_ROWS,
) -> Influences:
    """Return the same as `influences`; inputs in the boxes `impossible` are ignored."""
    drawn = _drawn(network, rows, seed, most)
    codes, numbers = drawn.distinct
    amounts = np.ones(codes.shape) if numbers is None else numbers
    lines = _Lines(network, codes, amounts, meter, impossible)
    flipped = [
        lines.flipped(index, feature)
        for index, feature in enumerate(network.domain.features)
    ]
    weights = drawn.weights * lines.is_known
    counts = {
        name: int(weights[lines.is_known & is_flipped].sum())
        for name, is_flipped in zip(network.domain.names, flipped, strict=True)
    }
    largest_first = sorted(counts, key=lambda name: -counts[name])
    return Influences(
        int(weights.sum()), {name: counts[name] for name in largest_first}
    )


def _drawn(network: Network, rows: GivenRows, seed: int, fewest: int) -> GivenRows:
    """Return the rows to count on: all of them, or a sample if that takes long."""
    domain, layers = network.domain, network.layers
    n_first = len(domain.sizes) * len(layers[0].bias)
    each = n_first + sum(layer.weights.size for layer in layers[1:])
    most = max(1, _WORK // (each * int(domain.offsets[-1])))
    if len(rows.weights) <= most and not domain.has_ranges:
        return rows
    most = min(most, fewest)
    if len(rows) <= most:
        return rows
    picked = np.random.default_rng(seed).choice(len(rows), most, replace=False)
    numbers = None if rows.numbers is None else rows.numbers[picked]
    return GivenRows(rows.domain, rows.codes[picked], numbers)


class _Lines:
    """The inputs that differ from rows in one feature.

    Attributes
    ----------
    is_known : ndarray of bool
        False for rows on which a search took too long.
    """

    def __init__(
        self,
        network: Network,
        codes: NDArray[np.int64],
        numbers: NDArray[np.float64],
        meter: Meter,
        impossible: Boxes | None,
    ) -> None:
        self.network, self.meter = network, meter
        self.codes, self.numbers = codes, numbers
        self.impossible = no_boxes(network.domain) if impossible is None else impossible
        self.is_known = np.ones(len(codes), dtype=np.bool_)
        self._pace = Pace(1 << 12)
        self._judge = SearchJudge(network, self.impossible, meter)
        self.classes = np.zeros(len(codes), dtype=np.int64)
        for start, stop in meter.pieces(len(codes), self._pace):
            some = codes[start:stop], numbers[start:stop]
            self.classes[start:stop] = self._classes(*some)

    def _classes(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        has_ranges = self.network.domain.has_ranges
        return self.network.predict_codes(codes, numbers if has_ranges else None)

    def flipped(self, index: int, feature: Feature) -> NDArray[np.bool_]:
        """Return the rows where some other value of a feature flips the prediction."""
        codes, numbers, is_all = self._choices(index, feature)
        is_flipped = np.zeros(len(self.codes), dtype=np.bool_)
        total = len(self.codes) * len(codes)
        for start, stop in self.meter.pieces(total, self._pace):
            row, choice = np.divmod(np.arange(start, stop), len(codes))
            tried, amounts = self.codes[row], self.numbers[row]
            tried[:, index], amounts[:, index] = codes[choice], numbers[choice]
            is_other = self._classes(tried, amounts) != self.classes[row]
            is_other &= self._can_occur(tried, amounts)
            is_flipped[row[is_other]] = True
        if not is_all:
            for place in np.flatnonzero(~is_flipped & self.is_known).tolist():
                is_flipped[place] = self._is_flipped(place, index)
        return is_flipped

    def _choices(
        self, index: int, feature: Feature
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], bool]:
        """Return values to try, as codes and numbers, and whether they are all."""
        codes = np.arange(len(feature))
        if not isinstance(feature, Range):
            return codes, np.ones(len(codes)), True
        low, high = feature.limits
        is_all = low == high or (feature.whole and high - low < _TRIED)
        tried = np.array([low, high], dtype=np.float64)
        if is_all:
            tried = np.arange(low, high + 1) if feature.whole else tried[:1]
        else:
            occurring = self.numbers[self.codes[:, index] == 0, index]
            if len(occurring):
                shares = np.linspace(0, 1, _TRIED)
                between = np.quantile(occurring, shares, method="nearest")
                tried = np.unique(np.append(tried, between))
        beside = codes[1:]  # the first value is the range itself
        return (
            np.append(np.zeros(len(tried), dtype=np.int64), beside),
            np.append(tried, np.ones(len(beside))),
            bool(is_all),
        )

    def _can_occur(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        return ~inside(self.network.domain, self.impossible, codes, numbers)

    def _is_flipped(self, row: int, index: int) -> bool:
        """Return whether any number of a range flips a row's prediction, by search."""
        domain = self.network.domain
        box = np.zeros(int(domain.offsets[-1]), dtype=np.bool_)
        box[domain.offsets[:-1] + self.codes[row]] = True
        box[domain.offsets[index] : domain.offsets[index + 1]] = True
        ends = np.stack([self.numbers[row], self.numbers[row]])
        ends[:, index] = domain.limits[:, index]
        self._judge.meter = self.meter.part(_BOXES)
        with suppress(BudgetExceededError):
            status = self._judge.ask(box, ends, int(self.classes[row]), None).status
            if status != "undecided":
                return status == "refuted"
        self.meter.spend()
        self.is_known[row] = False
        return False
