"""Slow twins of everything that computes: plain Python, nothing from nn2rules.

Networks and domains are only read through their public attributes. Whatever is said
here follows from a definition by enumeration, in fractions or, for smooth
activations, in mpmath numbers with far more digits than any test needs.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from mpmath import mp

PRECISION = 4500
"""Bits that hold sums of products of 1e300 and 1e-300 and leave 2,000 to spare."""

SURE = 1500
"""Smooth scores are told apart when they differ by more than 2**-SURE."""


# Domains and rows


def inputs(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return every input; the last feature changes fastest."""
    return list(product(*(range(size) for size in sizes)))


def text_of(value: object) -> str:
    return "missing" if value is None else str(value)


NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def code_of(values: Sequence[Any], cell: Any) -> int:
    """Return the code of a cell: equal first, then the value that reads the same."""
    if cell is None or cell != cell:
        return values.index(None) if None in values else -1
    for code, value in enumerate(values):
        if value is not None and value == cell:
            return code
    if isinstance(cell, str):
        return _code_of_text(values, cell)
    texts = {str(cell)}
    if cell in (0, 1):
        texts |= {str(bool(cell))}
    if cell == int(cell):
        texts |= {str(int(cell)), f"{int(cell)}.0"}
    found = [c for c, value in enumerate(values) if text_of(value) in texts]
    return found[0] if len(found) == 1 else -1


def _code_of_text(values: Sequence[Any], cell: str) -> int:
    for code, value in enumerate(values):
        if text_of(value) == cell:
            return code
    if cell == "":
        return values.index(None) if None in values else -1
    if cell.lower() in ("true", "false"):
        number: Any = cell.lower() == "true"
    elif NUMBER.fullmatch(cell):
        number = Fraction(cell)
    else:
        return -1
    for code, value in enumerate(values):
        if isinstance(value, bool | int) and value == number:
            return code
        if isinstance(value, float) and value == float(number):
            return code
    return -1


# Networks


EXACT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "relu": lambda y, _: max(y, 0),
    "identity": lambda y, _: y,
    "leaky_relu": lambda y, slope: y if y > 0 else slope * y,
    "hard_tanh": lambda y, _: max(-1, min(1, y)),
    "hard_sigmoid": lambda y, _: max(0, min(1, (y + 3) / 6)),
}

SMOOTH: dict[str, Callable[[Any], Any]] = {
    "sigmoid": lambda y: 1 / (1 + mp.exp(-y)),
    "tanh": mp.tanh,
    "elu": lambda y: y if y > 0 else mp.expm1(y),
    "softplus": lambda y: y + mp.log1p(mp.exp(-y)) if y > 0 else mp.log1p(mp.exp(y)),
    "silu": lambda y: y / (1 + mp.exp(-y)),
    "gelu": lambda y: max(y, 0) + 0 * y if abs(y) > FAR else _gelu(y),
}

FAR = 10_000
"""Beyond it gelu is its limit, to within 2**-70,000,000."""


def _gelu(y: Any) -> Any:
    return y * mp.erfc(-y / mp.sqrt(2)) / 2


def is_piecewise_linear(network: Any) -> bool:
    return all(layer.activation in EXACT for layer in network.layers[:-1])


def one_hot(
    sizes: Sequence[int], codes: Sequence[int], numbers: Sequence[Any] | None = None
) -> list[Fraction]:
    """Return what an input puts into the first layer: its numbers, by default 1."""
    return [
        Fraction(number) if value == code else Fraction(0)
        for size, code, number in zip(
            sizes, codes, numbers or [1] * len(sizes), strict=True
        )
        for value in range(size)
    ]


def _dense(layer: Any, values: Sequence[Any], number: Callable[[float], Any]) -> list:
    weights, bias = layer.weights.tolist(), layer.bias.tolist()
    results = []
    for unit in range(len(bias)):
        total = number(bias[unit])
        for value, row in zip(values, weights, strict=True):
            total += value * number(row[unit])
        results.append(total)
    return results


def trace(
    network: Any, codes: Sequence[int], numbers: Sequence[Any] | None = None
) -> list[list[Fraction]]:
    """Return the exact outputs of every layer; the last one's are the scores."""
    values = one_hot(network.domain.sizes, codes, numbers)
    outputs = []
    for layer in network.layers[:-1]:
        slope = Fraction(0.01 if layer.slope is None else layer.slope)
        function = EXACT[layer.activation]
        values = [function(y, slope) for y in _dense(layer, values, Fraction)]
        outputs.append(values)
    outputs.append(_dense(network.layers[-1], values, Fraction))
    return outputs


def scores(
    network: Any, codes: Sequence[int], numbers: Sequence[Any] | None = None
) -> list[Fraction]:
    """Return the exact scores of a piecewise-linear network."""
    return trace(network, codes, numbers)[-1]


def smooth_scores(
    network: Any, codes: Sequence[int], numbers: Sequence[Any] | None = None
) -> list[Any]:
    """Return the scores of any network as mpmath numbers, inside `mp.workprec`."""

    def number(fraction: Any) -> Any:
        exact = Fraction(fraction)
        return mp.mpf(exact.numerator) / exact.denominator

    values = [number(x) for x in one_hot(network.domain.sizes, codes, numbers)]
    for layer in network.layers[:-1]:
        slope = number(0.01 if layer.slope is None else layer.slope)
        dense = _dense(layer, values, number)
        if layer.activation in SMOOTH:
            values = [SMOOTH[layer.activation](y) for y in dense]
        else:
            values = [EXACT[layer.activation](y, slope) for y in dense]
    return _dense(network.layers[-1], values, number)


def logit(threshold: float) -> Any:
    """Return the logit as an mpmath number, inside `mp.workprec`."""
    odds = Fraction(threshold) / (1 - Fraction(threshold))
    return mp.log(mp.mpf(odds.numerator) / odds.denominator)


def exceeds(score: Fraction, threshold: float) -> bool:
    """Tell whether sigmoid(score) > threshold."""
    if threshold == 0.5:
        return score > 0
    with mp.workprec(PRECISION + score.denominator.bit_length()):
        return bool(mp.mpf(score.numerator) / score.denominator > logit(threshold))


def class_of(
    network: Any, codes: Sequence[int], numbers: Sequence[Any] | None = None
) -> int | None:
    """Return the class of an input; None where a smooth score is all but tied."""
    if is_piecewise_linear(network):
        exact = scores(network, codes, numbers)
        if len(exact) == 1:
            return int(exceeds(exact[0], network.threshold))
        return exact.index(max(exact))
    with mp.workprec(PRECISION):
        values = smooth_scores(network, codes, numbers)
        sure = mp.mpf(2) ** -SURE
        if len(values) == 1:
            distance = values[0] - logit(network.threshold)
            return int(distance > 0) if abs(distance) > sure else None
        best = values.index(max(values))
        others = values[:best] + values[best + 1 :]
        return best if values[best] - max(others) > sure else None


def soft_binary_class(network: Any, codes: Sequence[int]) -> int:
    """Return the class when sigmoid units give 1 above 0, and 0 elsewhere."""
    values = one_hot(network.domain.sizes, codes)
    for layer in network.layers[:-1]:
        dense = _dense(layer, values, Fraction)
        if layer.activation == "sigmoid":
            values = [Fraction(int(y > 0)) for y in dense]
        else:
            values = [max(y, 0) for y in dense]
    score = _dense(network.layers[-1], values, Fraction)[0]
    return int(exceeds(score, network.threshold))


# The paper's algorithm


def begins_with(row: Sequence[int], prefix: Sequence[int]) -> bool:
    return tuple(row[: len(prefix)]) == tuple(prefix)


def maximal_prefixes(
    sizes: Sequence[int], holds: Callable[[tuple[int, ...]], bool]
) -> list[tuple[int, ...]]:
    """Return the shortest prefixes all of whose completions hold, in order."""
    truth = {row: holds(row) for row in inputs(sizes)}
    return _maximal_prefixes((), list(truth.items()), len(sizes))


def _maximal_prefixes(
    prefix: tuple[int, ...], rows: list[tuple[tuple[int, ...], bool]], length: int
) -> list[tuple[int, ...]]:
    if all(held for _, held in rows):
        return [prefix]
    if not any(held for _, held in rows):
        return []
    assert len(prefix) < length
    found = []
    for code in sorted({row[len(prefix)] for row, _ in rows}):
        longer = (*prefix, code)
        below = [(row, held) for row, held in rows if begins_with(row, longer)]
        found += _maximal_prefixes(longer, below, length)
    return found


def exceeding_prefixes(
    weights: Sequence[Sequence[int]], threshold: int
) -> list[tuple[int, ...]]:
    """Solve SelectWeights by trying every prefix of every length, shortest first."""
    sizes = [len(bucket) for bucket in weights]
    found: list[tuple[int, ...]] = []
    for length in range(len(sizes) + 1):
        for prefix in inputs(sizes[:length]):
            if any(begins_with(prefix, shorter) for shorter in found):
                continue
            totals = (
                sum(bucket[c] for bucket, c in zip(weights, row, strict=True))
                for row in inputs(sizes)
                if begins_with(row, prefix)
            )
            if all(total > threshold for total in totals):
                found.append(prefix)
    return sorted(found)


def conjunction(lists: Sequence[Sequence[tuple[tuple[int, ...], Any]]]) -> list:
    """Try every combination of one rule of each list."""
    joined = []
    for combination in product(*lists):
        longest = max((rule for rule, _ in combination), key=len)
        if all(begins_with(longest, rule) for rule, _ in combination):
            joined.append((longest, tuple(payload for _, payload in combination)))
    return sorted(joined, key=lambda rule: rule[0])


def merge(rules: Iterable[tuple[tuple[int, ...], Any]], sizes: Sequence[int]) -> list:
    """Replace one complete group of siblings at a time until there is none."""
    merged = dict(rules)
    changed = True
    while changed:
        changed = False
        for prefix in sorted(merged):
            if not prefix:
                continue
            group = [(*prefix[:-1], code) for code in range(sizes[len(prefix) - 1])]
            if all(s in merged and merged[s] == merged[prefix] for s in group):
                merged[prefix[:-1]] = merged[prefix]
                for sibling in group:
                    del merged[sibling]
                changed = True
                break
    return sorted(merged.items())


def feature_order(network: Any) -> list[int]:
    """Sort the features by the definition of the authors' order."""
    weights, sizes = network.layers[0].weights.tolist(), network.domain.sizes
    means, start = [], 0
    for size in sizes:
        rows = weights[start : start + size]
        start += size
        spreads = [
            max(map(Fraction, column)) - min(map(Fraction, column))
            for column in zip(*rows, strict=True)
        ]
        means.append(sum(spreads) / len(spreads) / size)
    left, order = list(range(len(sizes))), []
    while left:
        best = max(left, key=lambda index: (means[index], -index))
        left.remove(best)
        order.append(best)
    return order


# Rule lists


def holds(conditions: Iterable[Any], row: dict[str, Any]) -> bool:
    return all(
        any(same(row[c.feature], value) for value in c.values) for c in conditions
    )


def same(one: object, other: object) -> bool:
    return one is other if one is None or other is None else one == other


def first_match(rules: Any, row: dict[str, Any]) -> int:
    """Return the index of the first rule that holds for a row of values, or -1."""
    for index, rule in enumerate(rules.rules):
        if holds(rule.conditions, row):
            return index
    return -1


def first_matching_box(boxes: Sequence[Any], codes: Sequence[int]) -> int:
    """Return the index of the first box that holds an input, or -1."""
    for index, box in enumerate(boxes):
        if all(a is None or c in a for a, c in zip(box, codes, strict=True)):
            return index
    return -1


def answer(rules: Any, row: dict[str, Any]) -> object:
    index = first_match(rules, row)
    return rules.default if index < 0 else rules.rules[index].then
