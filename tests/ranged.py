"""Networks with ranges of numbers, and rows that find mistakes about them."""

import math
from typing import Any

import numpy as np
from numpy.random import Generator

from nn2rules import Domain, Feature, Layer, Network, RuleList
from nn2rules.space import Range


def mixed_domain() -> Domain:
    """Whole and real numbers, with values beside them, and words."""
    return Domain(
        (
            Feature.real("age", 17, 90, whole=True, special=[999], missing=True),
            Feature.real("amount", -0.5, 20000.0, missing=True),
            Feature("job", ("a", "b", "c")),
        )
    )


def random_network(
    rng: Generator, domain: Domain, *, units: int = 4, classes: Any = ("no", "yes")
) -> Network:
    """Draw a network whose answers change within the ranges."""
    n_columns, n_out = int(domain.offsets[-1]), 1 if len(classes) == 2 else len(classes)
    first = rng.normal(size=(n_columns, units))
    bias = rng.normal(size=units)
    for feature, start in zip(domain.features, domain.offsets, strict=False):
        if isinstance(feature, Range):
            low, high = feature.limits
            first[start] *= 4 / max(high - low, 1e-3)
            bias -= first[start] * (low + high) / 2
    last = Layer(
        rng.normal(size=(units, n_out)),
        rng.normal(size=n_out) / 2,
        "sigmoid" if n_out == 1 else "softmax",
    )
    return Network(domain, (Layer(first, bias, "relu"), last), classes)


def random_rows(rng: Generator, domain: Domain, number: int) -> list[dict[str, Any]]:
    """Draw rows: real numbers with two decimals."""
    rows = []
    for _ in range(number):
        row: dict[str, Any] = {}
        for feature in domain.features:
            code = int(rng.integers(len(feature)))
            value: Any = feature.values[code]
            if isinstance(feature, Range) and (code == 0 or rng.random() < 0.8):
                low, high = feature.limits
                value = int(rng.integers(low, int(high) + 1)) if feature.whole else 0.0
                if not feature.whole:
                    drawn = round(float(rng.uniform(low, high)), 2)
                    value = min(max(drawn, low), high)
            row[feature.name] = value
        rows.append(row)
    return rows


def rows_at_ends(
    rng: Generator, rules: RuleList, number: int = 2000
) -> list[dict[str, Any]]:
    """Draw rows with numbers where conditions begin and end, and next to there."""
    rows = random_rows(rng, rules.domain.uncut, number)
    for feature in rules.domain.features:
        if not isinstance(feature, Range):
            continue
        low, high = feature.limits
        near = {low, high}
        for end in (end for cell in feature.spans for end in cell):
            step = (end - 1, end + 1)
            if not feature.whole:
                step = (math.nextafter(end, -math.inf), math.nextafter(end, math.inf))
            near |= {end, *step}
        known = [number for number in near if low <= number <= high]
        for row in rows:
            if rng.random() < 0.7:
                row[feature.name] = known[rng.integers(len(known))]
    return rows


def same_where_decided(network: Network, rules: RuleList, rows: Any) -> bool:
    """Tell whether every rule that decides a row answers as the network does."""
    fired = rules.apply(rows)
    answers = np.array(rules.classes, dtype=object)[rules.answers]
    expected = network.predict(rows)
    decided = fired >= 0
    found = answers[fired[decided]].tolist() == expected[decided].tolist()
    if rules.scope == "domain":
        found = found and rules.predict(rows).tolist() == expected.tolist()
    return found
