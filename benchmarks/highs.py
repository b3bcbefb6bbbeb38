"""The smallest change as a mixed-integer programme, solved by HiGHS through scipy.

A value of a feature is a binary variable, a number of a range a continuous one, and a
ReLU the usual pair of a variable and a switch, with bounds from interval arithmetic.
What is minimised is the number of features that differ from the row.
"""

from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from nn2rules import Network
from nn2rules.space import Range

_MARGIN = 1e-6  # how far beyond the decision a score has to be, for a solver in floats


class Programme:
    """A mixed-integer programme in the making."""

    def __init__(self) -> None:
        self.low: list[float] = []
        self.high: list[float] = []
        self.whole: list[int] = []
        self.cost: list[float] = []
        self.rows: list[tuple[dict[int, float], float, float]] = []

    def variable(
        self, low: float, high: float, *, whole: bool = False, cost: float = 0
    ) -> int:
        """Add a variable, and return its number."""
        self.low.append(low)
        self.high.append(high)
        self.whole.append(int(whole))
        self.cost.append(cost)
        return len(self.low) - 1

    def between(self, terms: dict[int, float], low: float, high: float) -> None:
        """Demand that a sum lies between two numbers."""
        self.rows.append((terms, low, high))

    def solve(self, seconds: float) -> Any:
        """Return what HiGHS finds."""
        places = [
            (r, c, w) for r, (t, *_) in enumerate(self.rows) for c, w in t.items()
        ]
        rows, columns, weights = zip(*places, strict=True)
        shape = len(self.rows), len(self.low)
        matrix = coo_array((weights, (rows, columns)), shape=shape).tocsr()
        ends = [np.array([row[end] for row in self.rows]) for end in (1, 2)]
        return milp(
            np.array(self.cost),
            constraints=LinearConstraint(matrix, *ends),
            bounds=Bounds(self.low, self.high),
            integrality=np.array(self.whole),
            options={"time_limit": seconds},
        )


def fewest_changes(network: Network, row: dict[str, Any], seconds: float) -> int | None:
    """Return the fewest features whose change turns a row; None if not known in time.

    Of networks with one output, ReLU units and a threshold of 1/2.
    """
    domain, made = network.domain, Programme()
    codes, amounts = domain.inputs_of([row])
    numbers = np.ones_like(codes, dtype=float) if amounts is None else amounts
    inputs = _inputs(made, network, codes[0], numbers[0])
    values, bounds = inputs
    *hidden, last = network.layers
    for layer in hidden:
        values, bounds = _relu(made, layer, values, bounds)
    score = _sum(values, last.weights[:, 0])
    is_positive = bool(network.predict_codes(codes, amounts)[0])
    bias = float(last.bias[0])
    if is_positive:
        made.between(score, -np.inf, -bias - _MARGIN)
    else:
        made.between(score, -bias + _MARGIN, np.inf)
    found = made.solve(seconds)
    return None if found.status != 0 else round(found.fun)


def _inputs(made: Programme, network: Network, codes: Any, numbers: Any) -> Any:
    """Add what an input is; return for each column its variables, and its ends."""
    domain = network.domain
    values: list[dict[int, float]] = []
    bounds: list[tuple[float, float]] = []
    for index, feature in enumerate(domain.features):
        changed = made.variable(0, 1, whole=True, cost=1)
        chosen = [made.variable(0, 1, whole=True) for _ in feature.values]
        made.between(dict.fromkeys(chosen, 1.0), 1, 1)
        own = int(codes[index])
        made.between({chosen[own]: 1, changed: 1}, 1, np.inf)
        for place, variable in enumerate(chosen):
            if not isinstance(feature, Range) or place:
                values.append({variable: 1.0})
                bounds.append((0.0, 1.0))
                continue
            low, high = feature.limits
            number = made.variable(min(low, 0), max(high, 0), whole=feature.whole)
            made.between({number: 1, variable: -low}, 0, np.inf)
            made.between({number: 1, variable: -high}, -np.inf, 0)
            if own == 0:
                at = float(numbers[index])
                made.between({number: 1, changed: at - min(low, 0)}, at, np.inf)
                made.between({number: 1, changed: at - max(high, 0)}, -np.inf, at)
            values.append({number: 1.0})
            bounds.append((min(low, 0), max(high, 0)))
    return values, bounds


def _sum(values: Any, weights: Any) -> dict[int, float]:
    terms: dict[int, float] = {}
    for value, weight in zip(values, weights.tolist(), strict=True):
        for variable, factor in value.items():
            terms[variable] = terms.get(variable, 0.0) + factor * weight
    return terms


def _relu(made: Programme, layer: Any, values: Any, bounds: Any) -> Any:
    """Add a layer of ReLU units."""
    outputs, ends = [], []
    for unit, bias in enumerate(layer.bias.tolist()):
        weights = layer.weights[:, unit]
        both = [(w * a, w * b) for w, (a, b) in zip(weights, bounds, strict=True)]
        low = bias + sum(min(pair) for pair in both)
        high = bias + sum(max(pair) for pair in both)
        above = made.variable(0, max(high, 0))
        switch = made.variable(0, 1, whole=True)
        total = _sum(values, weights)
        less = {variable: -weight for variable, weight in total.items()}
        made.between({**less, above: 1}, bias, np.inf)  # at least the sum
        made.between(
            {**less, above: 1, switch: -min(low, 0)}, -np.inf, bias - min(low, 0)
        )
        made.between({above: 1, switch: -max(high, 0)}, -np.inf, 0)
        outputs.append({above: 1.0})
        ends.append((0.0, max(high, 0)))
    return outputs, ends
