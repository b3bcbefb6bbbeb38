"""Explanations by brute force: every input is looked at, and every set of features.

Inputs are tuples of positions, one for each feature, in the lists of `values_of`.
"""

from itertools import chain, combinations, product
from typing import Any

from numpy.random import Generator

from nn2rules import Domain, Feature, Layer, Network
from nn2rules.space import Range


def values_of(feature: Feature) -> list[Any]:
    """Return every value of a feature; of a range every whole number."""
    if not isinstance(feature, Range):
        return list(feature.values)
    low, high = feature.limits
    return [*range(int(low), int(high) + 1), *feature.values[1:]]


def listed_domain(rng: Generator) -> Domain:
    """Draw features of words and numbers, some in an order."""
    kinds = [
        lambda name: Feature(name, ("a", "b")),
        lambda name: Feature(name, ("a", "b", "c", None)),
        lambda name: Feature(name, (1, 2, 3, 4), ordered=True),
        lambda name: Feature(name, ("s", "m", "l", None), ordered=True),
        lambda name: Feature(name, ("x", "y", "rest"), ordered=True, other="rest"),
        lambda name: Feature(name, ("only",)),
        lambda name: Feature.bins(name, (2, 5)),
    ]
    chosen = rng.integers(len(kinds), size=rng.integers(1, 5)).tolist()
    return Domain(tuple(kinds[kind](f"f{i}") for i, kind in enumerate(chosen)))


def ranged_domain(rng: Generator) -> Domain:
    """Draw features among which are ranges of whole numbers."""
    kinds = [
        lambda name: Feature(name, ("a", "b", "c")),
        lambda name: Feature(name, ("s", "m", "l"), ordered=True),
        lambda name: Feature.real(name, 0, 9, whole=True),
        lambda name: Feature.real(name, -3, 4, whole=True, missing=True),
        lambda name: Feature.real(name, 1, 6, whole=True, special=[99]),
    ]
    chosen = [rng.integers(2, 5), *rng.integers(len(kinds), size=2)]
    return Domain(tuple(kinds[kind](f"f{i}") for i, kind in enumerate(chosen)))


def random_network(rng: Generator, domain: Domain) -> Network:
    """Draw a network; half of them have ties, as their weights are whole numbers."""
    n_columns, n_units = int(domain.offsets[-1]), int(rng.integers(1, 5))
    n_out = int(rng.choice([1, 1, 1, 3]))
    activation = str(rng.choice(["relu", "relu", "tanh"]))

    def numbers(*shape: int) -> Any:
        if activation == "relu" and whole:
            return rng.integers(-2, 3, size=shape).astype(float)
        return rng.normal(size=shape)

    whole = bool(rng.integers(0, 2))
    first = numbers(n_columns, n_units)
    for feature, start in zip(domain.features, domain.offsets, strict=False):
        if isinstance(feature, Range) and not whole:
            first[start] /= 3
    last = "sigmoid" if n_out == 1 else "softmax"
    layers = (
        Layer(first, numbers(n_units), activation),
        Layer(numbers(n_units, n_out), numbers(n_out), last),
    )
    threshold = float(rng.choice([0.5, 0.5, 0.3])) if n_out == 1 else 0.5
    return Network(domain, layers, ("no", "yes", "maybe")[: max(2, n_out)], threshold)


class World:
    """Every input of a network, its class, and whether it can occur."""

    def __init__(self, network: Network, impossible: Any = ()) -> None:
        self.features = network.domain.features
        self.names = network.domain.names
        self.values = [values_of(feature) for feature in self.features]
        self.inputs = list(product(*(range(len(v)) for v in self.values)))
        rows = [self.row(one) for one in self.inputs]
        self.answers = dict(zip(self.inputs, network.predict(rows), strict=True))
        self.possible = {
            one
            for one, row in zip(self.inputs, rows, strict=True)
            if not any(self._is_in(row, box) for box in impossible)
        }

    def row(self, one: tuple[int, ...]) -> dict[str, Any]:
        """Return an input as a row of values."""
        return {n: v[i] for n, v, i in zip(self.names, self.values, one, strict=True)}

    def _is_in(self, row: dict[str, Any], box: dict[str, Any]) -> bool:
        return all(row[name] in values for name, values in box.items())

    def is_true(self, answer: Any, allowed: list[set[int]]) -> bool:
        """Tell whether all inputs of a box that can occur get an answer."""
        return all(
            self.answers[one] == answer
            for one in product(*allowed)
            if one in self.possible
        )

    def is_sufficient(self, row: tuple[int, ...], some: tuple[int, ...]) -> bool:
        """Tell whether the row's values of some features force its class."""
        allowed = [
            {row[i]} if i in some else set(range(len(values)))
            for i, values in enumerate(self.values)
        ]
        return self.is_true(self.answers[row], allowed)

    def reasons(self, row: tuple[int, ...]) -> set[tuple[int, ...]]:
        """Return all sets of features that suffice, of which none can be left out."""
        every = range(len(row))
        subsets = chain(*(combinations(every, size) for size in range(len(row) + 1)))
        found: list[tuple[int, ...]] = []
        for some in subsets:
            if any(set(known) <= set(some) for known in found):
                continue
            if self.is_sufficient(row, some):
                found.append(some)
        return set(found)

    def place(self, index: int, position: int) -> int | None:
        """Return the place of a value in the order of its feature; None if outside."""
        feature, value = self.features[index], self.values[index][position]
        if not feature.ordered or value is None or value == feature.other:
            return None
        if (
            isinstance(feature, Range)
            and position > feature.limits[1] - feature.limits[0]
        ):
            return None
        return position

    def changes(self, row: tuple[int, ...], is_allowed: Any, cost: Any) -> Any:
        """Return the least cost, and all inputs that turn at it; None if none does."""
        found: dict[Any, list[tuple[int, ...]]] = {}
        for one in self.possible:
            moved = [i for i in range(len(row)) if one[i] != row[i]]
            if self.answers[one] == self.answers[row]:
                continue
            if all(is_allowed(i, row[i], one[i]) for i in moved):
                total = sum(cost(i, row[i], one[i]) for i in moved)
                found.setdefault(total, []).append(one)
        return (min(found), found[min(found)]) if found else None

    def radius(self, row: tuple[int, ...]) -> int:
        """Return how many features can change, whatever they become."""
        nearest = self.changes(row, lambda *_: True, lambda *_: 1)
        return len(row) if nearest is None else nearest[0] - 1


def random_row(rng: Generator, world: World) -> tuple[int, ...]:
    ordered = sorted(world.possible)
    return ordered[int(rng.integers(len(ordered)))]


def random_boxes(rng: Generator, world: World) -> list[dict[str, Any]]:
    """Draw up to two boxes of inputs that cannot occur."""
    boxes = []
    for _ in range(int(rng.integers(0, 3))):
        some = rng.choice(
            len(world.names), size=min(2, len(world.names)), replace=False
        )
        box = {}
        for index in some.tolist():
            values = world.values[index]
            picked = rng.choice(len(values), size=1 + len(values) // 3, replace=False)
            box[world.names[index]] = [values[i] for i in picked.tolist()]
        boxes.append(box)
    return boxes
