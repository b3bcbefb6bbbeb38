"""Random networks that have a printed card, and the card read with a pencil."""

import itertools
import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from nn2rules import Domain, Feature, Layer, Network
from nn2rules.scorecards import Scale
from nn2rules.space import Range
from ranged import mixed_domain, random_network, random_rows
from strategies import matrices, numbers, thresholds

PALETTES = ("integers", "dyadic", "decimal", "zeros", "steep", "cancelling", "tiny")
MIXED = mixed_domain()

DOMAINS = [
    Domain((Feature("a", ("x", "y", None)), Feature("b", (1, 2, 3, 4)))),
    Domain(
        (
            Feature.bins("age", [25, 40], missing=True),
            Feature.grouped("job", [["clerk", "cook"], ["judge"], []], other=2),
            Feature.real("n", 0, 12, whole=True, special=[99], missing=True),
        )
    ),
    Domain(
        (
            Feature.real("x", -2.5, 7.25),
            Feature.real("y", 0.001, 0.003, missing=True),
            Feature("c", ("u", "v")),
        )
    ),
    Domain(
        (Feature.real("big", 0, 2_000_000, whole=True), Feature("c", (True, False)))
    ),
]


@st.composite
def small_networks(draw, kinds=("linear", "unit", "parts"), domains=DOMAINS):
    """Networks that have a printed card, over domains of every kind of feature."""
    domain = draw(st.sampled_from(domains))
    kind = draw(st.sampled_from(kinds))
    n_classes = draw(st.integers(2, 5))
    outputs = draw(st.sampled_from([1, 2])) if n_classes == 2 else n_classes
    elements = draw(numbers(PALETTES))
    width = int(domain.offsets[-1])
    units = {"linear": outputs, "unit": 1}.get(kind) or draw(st.integers(2, 4))
    weights = draw(matrices(width, units, elements))
    bias = np.array(draw(st.lists(elements, min_size=units, max_size=units)))
    if draw(st.booleans()):  # numbers as large as their range is small
        weights = weights / np.maximum(domain.reach, 1)[:, np.newaxis]
    last = "sigmoid" if outputs == 1 else "softmax"
    layers = (Layer(weights, bias, last),)
    if kind != "linear":
        names = ["relu", "leaky_relu", "hard_tanh", "hard_sigmoid", "identity"]
        if kind == "unit":
            names += ["sigmoid", "tanh", "elu", "softplus"]
        name = draw(st.sampled_from(names))
        slope = (
            draw(st.sampled_from([None, 0.25, 0.0, 1.5]))
            if name == "leaky_relu"
            else None
        )
        above = draw(
            matrices(units, outputs, draw(numbers(("integers", "dyadic", "decimal"))))
        )
        base = np.array(
            draw(
                st.lists(
                    st.sampled_from([-1.0, 0.0, 0.1, 2.0]),
                    min_size=outputs,
                    max_size=outputs,
                )
            )
        )
        layers = (Layer(weights, bias, name, slope), Layer(above, base, last))
    classes = tuple("abcde"[:n_classes])
    return Network(domain, layers, classes, draw(thresholds) if outputs == 1 else 0.5)


@st.composite
def scales(draw, card):
    """Scales from coarse to fine, some with a base score or turned round."""
    factor = draw(st.sampled_from([1.0, 0.3, 7.0, 28.85390081777927, 1000.0, -5.0]))
    digits = draw(st.integers(0, 3))
    offset = None
    if len(card.classes) == 2:
        offset = draw(st.sampled_from([None, 0.0, 600.0, -0.125]))
    bins = draw(st.sampled_from([None, None, 1, 4, 40]))
    return Scale(factor, offset, digits, bins)


def inputs_near(network, rng, number=150):
    """Random inputs, some with a number near which the network changes its class."""
    domain = network.domain
    rows = random_rows(rng, domain, number)
    for row in rows:
        for feature in domain.features:
            if isinstance(feature, Range) and rng.random() < 0.3:
                row[feature.name] = feature.limits[int(rng.integers(2))]
    codes, amounts = domain.inputs_of(rows)
    if amounts is None:
        return codes, None
    with np.errstate(all="ignore"):
        for index, feature in enumerate(domain.features):
            if not isinstance(feature, Range):
                continue
            low, high = feature.limits
            for row in range(0, len(codes), 2):
                if codes[row, index] == 0:
                    found = crossing(
                        network, codes[row], amounts[row], index, low, high
                    )
                    if feature.whole:
                        found = float(round(found))
                    amounts[row, index] = min(max(found, low), high)
    return codes, amounts


def crossing(network, codes, amounts, index, low, high):
    """Return a number of a range near which the class changes, by halving."""

    def score(number):
        moved = amounts.copy()
        moved[index] = number
        found = network.scores_codes(codes[np.newaxis], moved[np.newaxis])
        found = np.atleast_1d(found[0])
        if len(found) == 1:
            return found[0] - math.log(network.threshold / (1 - network.threshold))
        best = np.sort(found)
        return best[-1] - best[-2] if np.argmax(found) else best[-2] - best[-1]

    if not score(low) * score(high) < 0:
        return amounts[index]
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if score(low) * score(middle) > 0 else (low, middle)
    return high


def bin_of(bins, number):
    """Return which bin a number is in: the last one that begins at most there."""
    return max(place for place, (low, _) in enumerate(bins) if low <= Fraction(number))


def by_hand(table, codes, amounts, *, rounds):
    """Work out the totals of one input from the printed points, with a pencil.

    Numbers are multiplied with points per unit, or with ``rounds`` None have those of
    their bin, if there are bins. Halves go up with ``rounds`` "up", as the page says.
    """
    step = Fraction(1, 10**table.scale.digits)
    counted = []
    for column in table.columns:
        total = column.start
        for index, block in enumerate(table.blocks):
            points = column.points[block.start + int(codes[index])]
            bins, is_number = table.bins[index], block.limits is not None
            if is_number and codes[index] == 0 and bins is not None and rounds is None:
                points = column.bins[index][bin_of(bins, float(amounts[index]))]
            elif is_number and codes[index] == 0:
                points *= Fraction(float(amounts[index]))
                if rounds == "up":
                    points = step * (points / step + Fraction(1, 2)).__floor__()
                elif rounds:
                    points = step * round(points / step)  # halves to the even number
            total += points
        if column.below is not None and total < 0:
            total *= column.below
        if column.low is not None:
            total = max(total, column.low)
        if column.high is not None:
            total = min(total, column.high)
        counted.append(total)
    return [
        total.start + sum(w * c for w, c in zip(total.weights, counted, strict=True))
        for total in table.totals
    ]


def region_by_hand(table, points):
    """Return the class that printed regions state for sums of parts, and the totals.

    The class is -1, and there are no totals, where none is stated.
    """

    def value(form):
        return sum(w * own for w, own in zip(form.weights, points, strict=True))

    for region in table.regions:
        if not all(value(form) >= least for form, least in region.conditions):
            continue
        if not region.totals:
            return region.classes[0], []
        if region.margin is None:
            total = value(region.totals[0])
            is_first = total <= region.at_most
            return (1 if total >= region.at_least else 0 if is_first else -1), [total]
        totals = [value(form) + form.start for form in region.totals]
        best = totals.index(max(totals))
        rest = max(total for place, total in enumerate(totals) if place != best)
        return (best if totals[best] - rest >= region.margin else -1), totals
    return -1, []


def stated(table, totals):
    """Return the class that the page states for totals, or None."""
    if table.margin is not None:
        best = max(range(len(totals)), key=lambda place: totals[place])
        rest = max(t for place, t in enumerate(totals) if place != best)
        return best if totals[best] - rest >= table.margin else None
    [total] = totals
    if not table.cut_offs:
        return table.lowest_class
    for place, cut in enumerate(table.cut_offs):
        if place == 0 and total <= cut.at_most:
            return cut.below
        after = table.cut_offs[place + 1 :]
        if total >= cut.at_least and (not after or total <= after[0].at_most):
            return cut.above
    return None


def deep_network(rng, units, classes, domain=MIXED):
    """Return a random network with hidden layers of relu units."""
    network = random_network(rng, domain, units=units[0], classes=classes)
    layers = [network.layers[0]]
    for before, after in itertools.pairwise(units):
        weights = rng.normal(size=(before, after))
        layers.append(Layer(weights, rng.normal(size=after), "relu"))
    outputs = network.layers[-1].weights.shape[1]
    last = network.layers[-1].activation
    weights = rng.normal(size=(units[-1], outputs))
    layers.append(Layer(weights, rng.normal(size=outputs) / 2, last))
    return Network(domain, tuple(layers), classes)
