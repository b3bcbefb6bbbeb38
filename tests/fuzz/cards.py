"""Scorecards: their predictions, their regions, their pages, and what `check` accepts.

The judge works out the class of inputs at region borders and cut-offs, at the floats
beside them, and at random. A page that proves a class must prove that of the judge, and
every input must be in some region, all of which are right about it.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator

from fuzz.judge import class_of
from fuzz.networks import extreme_network, ordinary_network, pick
from fuzz.numbers import Input, draw_network, places, random_input
from fuzz.questions import demand
from nn2rules import BudgetExceededError, Layer, Network, OptionError, Scorecard, check
from nn2rules.files import from_json, to_json
from nn2rules.scorecards import Card, CardRegion, Scale, regions_of

MOST_REGIONS = 40


def draw_card(rng: Generator) -> tuple[Network, Scorecard, list[Input]]:
    """Draw a network, its scorecard, and inputs that may be wrong if any is."""
    kind = int(rng.integers(0, 4))
    if kind:
        network = draw_network(rng)
        inputs = places(rng, network, (), 15)
    else:
        network = pick(rng, (ordinary_network, extreme_network))(rng)
        inputs = [random_input(rng, network.domain) for _ in range(15)]
    regions: tuple[CardRegion, ...] = ()
    is_linear = all(layer.function.exact for layer in network.layers[:-1])
    if is_linear and len(network.layers) > 1 + int(rng.integers(0, 2)):
        try:
            regions = regions_of(network, MOST_REGIONS)
        except BudgetExceededError:
            regions = ()
    card = Scorecard.from_network(network, regions=regions)
    try:
        return network, draw_scale(rng, card), inputs
    except OptionError:  # such a scorecard has no page
        return network, card, inputs


def draw_scale(rng: Generator, card: Scorecard) -> Scorecard:
    """Print a scorecard on some scale: its own, or a coarse or a fine one."""
    if not rng.integers(0, 3):
        _ = card.table
        return card
    factor = float(pick(rng, (1.0, 0.3, 7.0, 28.85390081777927, 1000.0, -5.0, 1e-9)))
    offset = None
    if len(card.classes) == 2 and not card.regions:
        offset = pick(rng, (None, 0.0, 600.0, -0.125))
    card = card.replace(scale=Scale(factor, offset, int(rng.integers(0, 5))))
    _ = card.table
    return card


def has_page(card: Scorecard) -> bool:
    """Tell whether a scorecard can be printed."""
    try:
        return card.table is not None
    except OptionError:
        return False


def sums_of(card: Scorecard, at: Input) -> list[Fraction]:
    """Return the sums of the cards for an input, in fractions."""
    starts = card.domain.offsets.tolist()
    picked = list(zip(starts, at.codes, at.numbers, strict=False))
    return [
        Fraction(one.base)
        + sum(
            Fraction(float(one.points[start + code])) * Fraction(number)
            for start, code, number in picked
        )
        for one in card.cards
    ]


def arrays(at: Input) -> tuple[Any, Any]:
    """Return one input as codes and numbers."""
    return np.array([at.codes], np.int64), np.array([at.numbers])


def make_cards(rng: Generator) -> int:
    """Compare a scorecard, its regions and its page with the judge."""
    network, card, inputs = draw_card(rng)
    demand(from_json(to_json(card)) == card, "the file has another card", network)
    is_printed, compared = has_page(card), 0
    for at in inputs:
        right = class_of(network, *at)
        if right is None:
            continue
        codes, numbers = arrays(at)
        compared += 1
        [found] = card.predict_codes(codes, numbers).tolist()
        demand(found == right, f"the card has {found} for {at}, not {right}", network)
        if is_printed:
            [shown] = card.table.predict_codes(codes, numbers).tolist()
            what = f"the page, {card.scale}, proves {shown} for {at}, not {right}"
            demand(shown in (right, -1), what, network)
        if card.regions:
            sums = sums_of(card, at)
            held = [region for region in card.regions if region.contains(sums)]
            demand(bool(held), f"no region has {at}", network)
            for region in held:
                what = f"a region has the classes {region.classes} for {at}: {right}"
                demand(right in region.classes, what, network)
    return compared


def check_cards(rng: Generator) -> int:
    """Check a scorecard: a right one is accepted, a wrong one never."""
    network, card, inputs = draw_card(rng)
    report = check(network, card, samples=500, time=4)
    is_sure = report.ok or (report.is_undecided and bool(card.regions))
    demand(is_sure, f"a right card, {card.scale}:\n{report}", network)
    changed = change(rng, card)
    report = check(network, changed, samples=500, time=1)
    told = {claim.name: claim.status for claim in report.claims}
    code = f"the changed card\n{to_json(changed)}\n{report}"
    if told["Predictions"] == "proved":
        for at in [*inputs, *nearby(rng, changed)]:
            pair = class_of(network, *at), class_of(changed.network, *at)
            if None not in pair:
                labels = network.classes[pair[0]], changed.classes[pair[1]]
                demand(labels[0] == labels[1], f"{code}\n{at}: {pair}", network)
    if told.get("Regions") == "proved":
        for at in inputs:
            sums = sums_of(changed, at)
            held = [region for region in changed.regions if region.contains(sums)]
            right = class_of(changed.network, *at)
            fine = bool(held) and all(
                right is None or right in region.classes for region in held
            )
            demand(fine, f"{code}\n{at}: {right}", network)
    for example in report.counterexamples:
        codes, numbers = network.domain.inputs_of([example.row])
        own = None if numbers is None else numbers[0].tolist()
        right = class_of(network, codes[0].tolist(), own)
        fine = right is None or network.classes[right] == example.network
        if not example.where and right is not None:
            theirs = class_of(changed.network, codes[0].tolist(), own)
            fine &= theirs is None or changed.classes[theirs] == example.stated
            fine &= example.network != example.stated
        demand(fine, f"{code}\n{example}", network)
    return 2


def nearby(rng: Generator, card: Scorecard) -> list[Input]:
    """Return inputs near the borders of a scorecard."""
    if card.domain.has_ranges:
        return places(rng, card.network, (), 10)
    return [random_input(rng, card.domain) for _ in range(10)]


def change(rng: Generator, card: Scorecard) -> Scorecard:
    """Change a number of a scorecard, its classes, or one of its regions."""
    kind = int(rng.integers(0, 6))
    factor = float(pick(rng, (0.0, -1.0, 1 + 2**-40, 1.5)))
    if kind == 0:
        return card.replace(classes=card.classes[1:] + card.classes[:1])
    if kind == 1 and card.upper:
        *lower, last = card.upper
        weights = last.weights.copy()
        place = tuple(rng.integers(weights.shape).tolist())
        weights[place] = weights[place] * factor if factor else 1.0
        changed = Layer(weights, last.bias, last.activation)
        return card.replace(upper=(*lower, changed))
    if kind == 2 and card.regions:
        regions = list(card.regions)
        del regions[int(rng.integers(len(regions)))]
        return card.replace(regions=tuple(regions))
    if kind == 3 and card.regions:
        regions = list(card.regions)
        which = int(rng.integers(len(regions)))
        classes = (int(rng.integers(len(card.classes))),)
        regions[which] = CardRegion(regions[which].conditions, None, classes)
        return card.replace(regions=tuple(regions))
    cards, which = list(card.cards), int(rng.integers(len(card.cards)))
    base, points = cards[which].base, cards[which].points.copy()
    if rng.integers(0, 2):
        base = base * factor if abs(base) < 1e300 and base else 1.0
    else:
        place = int(rng.integers(len(points)))
        is_small = abs(points[place]) < 1e300
        points[place] = points[place] * factor if points[place] and is_small else 1.0
    cards[which] = Card(base, points)
    return card.replace(cards=tuple(cards))
