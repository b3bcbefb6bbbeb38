"""What can turn an answer: on how many rows a feature alone would, counted exactly."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Budget, Meter, Oracle, Pace
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.models import GivenRows, given_rows, read_network
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.space import Boxes, Domain, Feature, Rows, inside, refuse_curves

DRAWN_ROWS = 1000
"""So many rows stand for all of them where counting on all would take long."""

_FEWEST, _ROWS_A_SECOND, _SHARE = 50, 15, 0.1
_WORK = 1 << 30  # multiplications: some seconds
_TRIED = 16  # so many numbers of a range are tried before the oracle is asked
_BOXES = 10_000  # for one question


@dataclass(frozen=True, slots=True)
class Influences:
    """On how many rows changing a feature alone would turn the network's answer.

    Attributes
    ----------
    rows : int
        How many rows were counted on; fewer than were given where these were drawn.
    of : mapping from names of features to int
        On how many of them some other value of this feature, with all other features
        as they are, gets another answer. The largest comes first.
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
    """Count on how many rows each feature alone could turn the model's answer.

    Counts are exact: no value of the feature is left out, and no rounding decides. If
    that takes long on all rows, it is done on `DRAWN_ROWS` of them, drawn at random.

    Parameters
    ----------
    model : Network, or a trained model of scikit-learn, PyTorch, Keras or ONNX
    data : frame or list of dicts
    domain : Domain or mapping, optional
        What the features can be; see `read_network`.
    seed : int
        Same rows and seed: the same rows are drawn.
    budget : Budget, optional
        A limit on time; an error says that it is reached.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("car"))
    >>> cars = nn2rules.datasets.load("car").train
    >>> found = nn2rules.influences(network, cars.rows)
    >>> found.rows, list(found.of.items())[:2]
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
    """Return what can turn an answer, or None if that takes too much of the time.

    Of a short time only a part is spent, and on fewer rows.
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


def with_influences(rules: RuleList, found: Influences | None) -> RuleList:
    """Certify what can turn an answer."""
    if found is None:
        return rules
    said = {"rows": found.rows, "of": dict(found.of)}
    return rules.replace(certificate={**rules.certificate, "influence": said})


def counted(
    network: Network,
    rows: GivenRows,
    meter: Meter,
    *,
    impossible: Boxes | None = None,
    seed: int = 0,
    most: int = DRAWN_ROWS,
) -> Influences:
    """Return what `influences` does; inputs in the boxes `impossible` turn nothing."""
    drawn = _drawn(network, rows, seed, most)
    codes, numbers = drawn.distinct
    amounts = np.ones(codes.shape) if numbers is None else numbers
    lines = _Lines(network, codes, amounts, meter, impossible)
    turned = [
        lines.turned(index, feature)
        for index, feature in enumerate(network.domain.features)
    ]
    weights = drawn.weights * lines.is_known
    found = {
        name: int(weights[lines.is_known & is_turned].sum())
        for name, is_turned in zip(network.domain.names, turned, strict=True)
    }
    largest_first = sorted(found, key=lambda name: -found[name])
    return Influences(int(weights.sum()), {name: found[name] for name in largest_first})


def _drawn(network: Network, rows: GivenRows, seed: int, fewest: int) -> GivenRows:
    """Return the rows to count on: all of them, or some if that takes long."""
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
        False of rows of which some answer took too long.
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
        self.impossible = impossible
        self.is_known = np.ones(len(codes), dtype=np.bool_)
        self._pace = Pace(1 << 12)
        self._oracle: Oracle | None = None
        self.answers = np.zeros(len(codes), dtype=np.int64)
        for start, stop in meter.pieces(len(codes), self._pace):
            some = codes[start:stop], numbers[start:stop]
            self.answers[start:stop] = self._classes(*some)

    def _classes(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        has_ranges = self.network.domain.has_ranges
        return self.network.predict_codes(codes, numbers if has_ranges else None)

    def turned(self, index: int, feature: Feature) -> NDArray[np.bool_]:
        """Tell of which rows some other value of a feature turns the answer."""
        codes, numbers, is_all = self._choices(index, feature)
        is_turned = np.zeros(len(self.codes), dtype=np.bool_)
        total = len(self.codes) * len(codes)
        for start, stop in self.meter.pieces(total, self._pace):
            row, choice = np.divmod(np.arange(start, stop), len(codes))
            tried, amounts = self.codes[row], self.numbers[row]
            tried[:, index], amounts[:, index] = codes[choice], numbers[choice]
            is_other = self._classes(tried, amounts) != self.answers[row]
            is_other &= self._can_occur(tried, amounts)
            is_turned[row[is_other]] = True
        if not is_all:
            for place in np.flatnonzero(~is_turned & self.is_known).tolist():
                is_turned[place] = self._is_turned(place, index)
        return is_turned

    def _choices(
        self, index: int, feature: Feature
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], bool]:
        """Return values to try, as codes and numbers, and whether these are all."""
        codes = np.arange(len(feature))
        if feature.limits is None:
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
        if self.impossible is None:
            return np.ones(len(codes), dtype=np.bool_)
        return ~inside(self.network.domain, self.impossible, codes, numbers)

    def _is_turned(self, row: int, index: int) -> bool:
        """Tell whether some number of a range, tried or not, turns a row's answer."""
        domain = self.network.domain
        box = np.zeros(int(domain.offsets[-1]), dtype=np.bool_)
        box[domain.offsets[:-1] + self.codes[row]] = True
        box[domain.offsets[index] : domain.offsets[index + 1]] = True
        ends = np.stack([self.numbers[row], self.numbers[row]])
        ends[:, index] = domain.limits[:, index]
        if self._oracle is None:
            self._oracle = Oracle(self.network, self.meter)
        self._oracle.meter = self.meter.part(_BOXES)
        try:
            answer = self._oracle.ask(
                box, int(self.answers[row]), ends=ends, ignoring=self.impossible
            )
        except (BudgetExceededError, UndecidedError):
            self.meter.spend()
            self.is_known[row] = False
            return False
        return not answer.proved
