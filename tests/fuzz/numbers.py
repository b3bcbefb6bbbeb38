"""Ranges of numbers: questions and rules, compared where mistakes are most likely.

The numbers of a range cannot all be tried. Tried are the ends of each range for which
something was proved, the floats beside them, the numbers where a score bends or two
classes tie (`fuzz.lines`), and some drawn at random.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from mpmath import mp
from numpy.random import Generator
from numpy.typing import NDArray

import nn2rules
from fuzz.judge import BITS, class_of, scores
from fuzz.lines import breaks, floats_around
from fuzz.networks import SLOPES, THRESHOLDS, pick
from fuzz.questions import _number, demand
from nn2rules import (
    Budget,
    BudgetExceededError,
    Domain,
    Feature,
    Layer,
    Network,
    RuleList,
    UndecidedError,
)
from nn2rules.engine import Meter, Oracle, score_range
from nn2rules.extraction.from_search.covering import find_uncovered
from nn2rules.space import Boxes, Range
from strategies import PALETTES, PIECEWISE_LINEAR, SMOOTH

MILD = ("integers", "integers", "signs", "dyadic", "decimal", "floats", "floats")
WILD = ("tiny", "huge", "cancelling", "extreme", "steep", "largest")
WHOLE = ((0, 1), (0, 5), (-3, 3), (18, 90), (7, 7), (-(10**6), 10**6))
REAL = (
    *((-1, 1), (0, 1), (-2.5, 7.25), (0, 1e6), (2, 2), (0, 0), (250, 18424)),
    *((-0.5, 1e-3), (1, 1 + 2**-50), (-1e-3, 1e-3), (0.1, 0.3)),
)
FAR = (
    *((-1e200, 1e200), (0, 5e-324), (1e-320, 1e-310), (-1.7e308, 1.7e308)),
    *((1e-300, 3e-300), (-1e16, 1e16), (1e300, 1e300), (-5e-324, 1e-323)),
)
ORDINARY = Budget(boxes=600)


class Input(NamedTuple):
    """One input: codes, and numbers as the network multiplies with them."""

    codes: tuple[int, ...]
    numbers: tuple[float, ...]


# Networks


def draw_network(rng: Generator, *, most_ranges: int = 4) -> Network:
    """Draw a small network over ranges of numbers and words."""
    is_wild = not rng.integers(0, 4)
    n_ranges = int(rng.integers(1, most_ranges + 1))
    features = [_range(rng, f"x{index}", is_wild) for index in range(n_ranges)]
    for index in range(int(rng.integers(0, 3))):
        values = tuple(f"v{code}" for code in range(rng.integers(1, 4)))
        features.append(Feature(f"c{index}", values))
    rng.shuffle(features)  # type: ignore[arg-type]
    domain = Domain(tuple(features))
    palette = pick(rng, WILD if is_wild else MILD)
    layers = _scaled(rng, domain, _layers(rng, int(domain.offsets[-1]), palette))
    n_outputs = len(layers[-1].bias)
    threshold = float(pick(rng, THRESHOLDS)) if n_outputs == 1 else 0.5
    classes = tuple(f"class {index}" for index in range(max(2, n_outputs)))
    network = Network(domain, layers, classes, threshold)
    return _tied(rng, network) if rng.integers(0, 2) else network


def _range(rng: Generator, name: str, is_wild: bool) -> Feature:
    whole = bool(rng.integers(0, 2))
    kinds = WHOLE if whole else (*FAR, *REAL) if is_wild else REAL
    low, high = pick(rng, kinds)
    special = (10**9, "unknown")[: int(rng.choice([0, 0, 1, 2]))]
    special = tuple(s for s in special if isinstance(s, str) or not low <= s <= high)
    missing = not rng.integers(0, 3)
    return Feature.real(name, low, high, whole=whole, special=special, missing=missing)


def _layers(rng: Generator, n_columns: int, palette: str) -> tuple[Layer, ...]:
    is_smooth = palette not in WILD and not rng.integers(0, 3)
    kinds = (*PIECEWISE_LINEAR, *SMOOTH) if is_smooth else PIECEWISE_LINEAR
    if not rng.integers(0, 3):
        kinds = ("relu",)
    n_outputs = int(rng.choice([1, 1, 1, 2, 3]))
    hidden = rng.integers(1, 5, size=rng.integers(0, 3)).tolist()
    widths, layers = [n_columns, *hidden, n_outputs], []
    for index, width in enumerate(widths[1:]):
        weights, bias = _weights(rng, palette, widths[index], width)
        name = "sigmoid" if n_outputs == 1 else "softmax"
        name = str(pick(rng, kinds)) if index < len(hidden) else name
        slope = pick(rng, SLOPES[:-2]) if name == "leaky_relu" else None
        layers.append(Layer(weights, bias, name, slope))
    return tuple(layers)


def _scaled(
    rng: Generator, domain: Domain, layers: tuple[Layer, ...]
) -> tuple[Layer, ...]:
    """Divide the weights of wide ranges, as scalers do; of smooth networks always."""
    first = layers[0]
    is_smooth = any(layer.activation in SMOOTH for layer in layers[:-1])
    if not is_smooth and rng.integers(0, 2):
        return layers
    scale = 2.0 ** np.floor(np.log2(np.maximum(domain.reach, 1.0)))
    weights = first.weights / scale[:, np.newaxis]
    return (Layer(weights, first.bias, first.activation, first.slope), *layers[1:])


def _weights(
    rng: Generator, palette: str, n_in: int, n_out: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    shape = (n_in + 1, n_out)
    if palette == "floats":
        drawn = rng.normal(size=shape)
    else:
        drawn = rng.choice(PALETTES[palette], size=shape)
    return drawn[:-1], drawn[-1] * rng.integers(0, 2)


def _tied(rng: Generator, network: Network) -> Network:
    """Move the last bias so that some input is near the decision, or tied."""
    at = random_input(rng, network.domain)
    last, bias = network.layers[-1], []
    for (value, _), old in zip(_scores(network, at), last.bias.tolist(), strict=True):
        try:
            bias.append(old - float(value))
        except OverflowError:
            bias.append(old)
    if not np.isfinite(bias).all():
        return network
    layers = (*network.layers[:-1], Layer(last.weights, bias, last.activation))
    return Network(network.domain, layers, network.classes, network.threshold)


def _scores(network: Network, at: Input) -> list[Any]:
    return scores(network, at.codes, BITS[0], at.numbers)


# Places to look at


def random_input(rng: Generator, domain: Domain) -> Input:
    """Draw an input: any value, any number."""
    codes, numbers = [], []
    for feature in domain.features:
        code, number = int(rng.integers(len(feature))), 1.0
        if isinstance(feature, Range):
            code = 0 if rng.integers(0, 3) else code
            if code == 0:
                number = _random_number(rng, feature)
        codes.append(code)
        numbers.append(number)
    return Input(tuple(codes), tuple(numbers))


def _random_number(rng: Generator, feature: Feature) -> float:
    assert isinstance(feature, Range), "asked only of ranges"
    low, high = map(float, feature.limits)
    if feature.whole:
        return float(rng.integers(int(low), int(high) + 1))
    share = rng.random()
    nice = [low, high, 0.0, (1 - share) * low + share * high]
    return min(max(float(pick(rng, nice)), low), high)


def places(
    rng: Generator, network: Network, known: Iterable[tuple[int, float]], number: int
) -> list[Input]:
    """Return inputs at numbers that are known to matter, and along lines through them.

    `known` are positions of features with numbers of theirs.
    """
    domain = network.domain
    near: dict[int, list[float]] = {}
    for index, end in known:
        feature = domain.features[index]
        assert isinstance(feature, Range), "numbers are of ranges"
        near.setdefault(index, []).extend(
            floats_around(Fraction(end), feature.limits, feature.whole)
        )
    found = []
    for _ in range(number):
        base = random_input(rng, domain)
        numbers = list(base.numbers)
        for index, choices in near.items():
            if base.codes[index] == 0 and choices and rng.integers(0, 4):
                numbers[index] = float(pick(rng, choices))
        found.append(Input(base.codes, tuple(numbers)))
    return [*found, *_along(rng, network, found)]


def _along(rng: Generator, network: Network, bases: Sequence[Input]) -> Iterator[Input]:
    """Yield inputs around the breaks along some lines."""
    ranges = [i for i, f in enumerate(network.domain.features) if isinstance(f, Range)]
    for base in bases[:4]:
        index = int(pick(rng, ranges))
        feature = network.domain.features[index]
        assert isinstance(feature, Range), "these are ranges"
        if base.codes[index] != 0:
            continue
        for place in breaks(network, *base, index, feature.limits)[:12]:
            for x in floats_around(place, feature.limits, feature.whole):
                numbers = (*base.numbers[:index], x, *base.numbers[index + 1 :])
                yield Input(base.codes, numbers)


# Boxes


def random_boxes(
    rng: Generator, network: Network, number: int
) -> tuple[Boxes, list[tuple[int, float]]]:
    """Draw boxes whose ranges end where it may hurt; return these numbers, too."""
    domain = network.domain
    n_columns, n_features = int(domain.offsets[-1]), len(domain.sizes)
    allowed = np.zeros((number, n_columns), dtype=np.bool_)
    ends = np.tile(domain.limits, (number, 1, 1))
    pool = places(rng, network, (), 4)
    known = []
    for box in range(number):
        for index, feature in enumerate(domain.features):
            start, size = int(domain.offsets[index]), len(feature)
            part = rng.random(size) < rng.choice([0.5, 0.9, 1.0])
            part[rng.integers(size)] = True
            allowed[box, start : start + size] = part
            if not isinstance(feature, Range) or not part[0] or not rng.integers(0, 4):
                continue
            numbers = [at.numbers[index] for at in pool if at.codes[index] == 0]
            two = [float(pick(rng, numbers or [ends[box, 0, index]])) for _ in "ab"]
            ends[box, :, index] = sorted(two)
            known += [(index, x) for x in two]
    assert ends.shape == (number, 2, n_features)
    return Boxes(allowed, ends), known


def holds(domain: Domain, boxes: Boxes, which: int, at: Input) -> bool:
    """Tell whether a box holds an input."""
    for index, (code, number) in enumerate(zip(*at, strict=True)):
        if not boxes.allowed[which, domain.offsets[index] + code]:
            return False
        if code == 0 and isinstance(domain.features[index], Range):
            low, high = boxes.ends[which, :, index].tolist()
            if not low <= number <= high:
                return False
    return True


# Questions


def ask_numbers(rng: Generator) -> int:
    """Ask whether every input of a box with ranges is of a class."""
    network = draw_network(rng)
    domain, asked = network.domain, 0
    oracle = Oracle(network, Meter(ORDINARY))
    boxes, known = random_boxes(rng, network, 6)
    tried = places(rng, network, known, 25)
    truth = {at: class_of(network, *at) for at in tried}
    for which in range(3):
        others = range(3, 3 + int(rng.integers(0, 4)))
        ignored = Boxes(*(part[list(others)].copy() for part in boxes))
        for index in range(len(network.classes)):
            try:
                answer = oracle.ask(
                    boxes.allowed[which],
                    index,
                    ends=boxes.ends[which],
                    ignoring=ignored,
                )
            except (UndecidedError, BudgetExceededError):
                continue
            asked += 1
            what = f"class {index} on {boxes}, of which {which}, but for {list(others)}"
            if answer.proved:
                for at, right in truth.items():
                    if right in (index, None) or not holds(domain, boxes, which, at):
                        continue
                    is_out = any(holds(domain, boxes, k, at) for k in others)
                    demand(is_out, f"proved {what}, but {at} is {right}", network)
            else:
                at = Input(
                    tuple(answer.counterexample.tolist()),
                    tuple(answer.numbers.tolist()),
                )
                fine = holds(domain, boxes, which, at)
                fine &= not any(holds(domain, boxes, k, at) for k in others)
                fine &= class_of(network, *at) != index
                fine &= _is_input(domain, at)
                demand(fine, f"{at} is no counterexample to {what}", network)
    return asked


def ask_lines(rng: Generator) -> int:
    """Ask about boxes that are lines, which end beside the places where classes tie.

    Between two breaks a score is straight, so the floats around all breaks tell whether
    a piecewise-linear network gives one class to the whole line.
    """
    network = draw_network(rng)
    domain, asked = network.domain, 0
    oracle = Oracle(network, Meter(ORDINARY))
    for _ in range(4):
        base = random_input(rng, domain)
        line = [i for i, f in enumerate(domain.features) if isinstance(f, Range)]
        index = int(pick(rng, line))
        feature = domain.features[index]
        assert isinstance(feature, Range), "these are ranges"
        if base.codes[index] != 0:
            continue
        found = breaks(network, *base, index, feature.limits)
        found += [Fraction(end) for end in feature.limits]
        around = [
            x for at in found for x in floats_around(at, feature.limits, feature.whole)
        ]
        inputs = [
            Input(base.codes, (*base.numbers[:index], x, *base.numbers[index + 1 :]))
            for x in sorted(set(around))
        ]
        truth = [class_of(network, *at) for at in inputs]
        for _ in range(3):
            first, last = sorted(rng.integers(0, len(inputs), size=2).tolist())
            ends = np.array([inputs[first].numbers, inputs[last].numbers])
            box = np.zeros(int(domain.offsets[-1]), dtype=np.bool_)
            box[domain.offsets[:-1] + np.array(base.codes)] = True
            classes = set(truth[first : last + 1])
            for wanted in range(len(network.classes)):
                asked += _ask_line(oracle, box, ends, wanted, classes)
    return asked


def _ask_line(
    oracle: Oracle,
    box: NDArray[np.bool_],
    ends: NDArray[np.float64],
    wanted: int,
    classes: set[int | None],
) -> int:
    try:
        answer = oracle.ask(box, wanted, ends=ends)
    except (UndecidedError, BudgetExceededError):
        return 0
    what = f"class {wanted} from {ends[0].tolist()} to {ends[1].tolist()} on {box}"
    if answer.proved:
        fine = classes <= {wanted, None}
        demand(fine, f"proved {what}, but there are {classes}", oracle.network)
    else:
        at = Input(tuple(answer.counterexample.tolist()), tuple(answer.numbers))
        inside = (ends[0] <= answer.numbers).all() and (answer.numbers <= ends[1]).all()
        fine = inside and class_of(oracle.network, *at) != wanted
        demand(bool(fine), f"{at} is no counterexample to {what}", oracle.network)
    return 1


def _is_input(domain: Domain, at: Input) -> bool:
    """Tell whether something is an input of a domain at all."""
    for feature, code, number in zip(domain.features, *at, strict=True):
        if not 0 <= code < len(feature):
            return False
        is_number = isinstance(feature, Range) and code == 0
        low, high = feature.limits if is_number else (1, 1)
        if not low <= number <= high or (feature.whole and not number.is_integer()):
            return False
    return True


def ask_score_ranges(rng: Generator) -> int:
    """Ask for the smallest and the largest score of a box with ranges."""
    network = draw_network(rng)
    domain = network.domain
    boxes, known = random_boxes(rng, network, 1)
    output = int(rng.integers(len(network.layers[-1].bias)))
    tolerance = float(rng.choice([0.0, 0.01, 1.0]))
    box, within = boxes.allowed[0], boxes.ends[0]
    try:
        found = score_range(
            network,
            box,
            ends=within,
            index=output,
            tolerance=tolerance,
            meter=Meter(ORDINARY),
        )
    except BudgetExceededError:
        return 0
    reached = domain.inputs_of([found.at_low, found.at_high])
    at_low, at_high = (
        Input(tuple(map(int, c)), tuple(map(float, n)))
        for c, n in zip(*reached, strict=True)
    )
    inside = [
        at for at in places(rng, network, known, 20) if holds(domain, boxes, 0, at)
    ]
    what = f"score {output} on {boxes} is {found}"
    for at in (at_low, at_high):
        demand(holds(domain, boxes, 0, at), f"{what}: {at} is outside", network)
    with mp.workprec(BITS[0]):
        for at in (*inside, at_low, at_high):
            value, error = _scores(network, at)[output]
            fine = _number(found.low[0], value) <= value + error
            fine &= value - error <= _number(found.high[1], value)
            demand(fine, f"{what}, but {value} at {at}", network)
        for at, low, high in ((at_low, *found.low), (at_high, *found.high)):
            value, error = _scores(network, at)[output]
            fine = _number(low, value) <= value + error
            fine &= value - error <= _number(high, value)
            demand(fine, f"{what}: not reached at {at}", network)
    return len(inside) + 2


def ask_uncovered(rng: Generator) -> int:
    """Ask for an input that no box holds; all parts between their ends are tried."""
    network = draw_network(rng, most_ranges=3)
    domain = network.domain
    boxes, _ = random_boxes(rng, network, int(rng.integers(0, 7)))
    if rng.integers(0, 2) and len(boxes.allowed):  # cover more of it
        boxes.allowed[rng.random(boxes.allowed.shape) < 0.5] = True
    try:
        found = find_uncovered(Oracle(network), boxes)
    except BudgetExceededError:
        return 0
    every = range(len(boxes.allowed))
    if found is not None:
        at = Input(tuple(found.codes[0].tolist()), tuple(found.numbers[0].tolist()))
        fine = _is_input(domain, at)
        fine &= not any(holds(domain, boxes, which, at) for which in every)
        demand(fine, f"{at} is no input outside of {boxes}", network)
        return 1
    tried = 0
    for at in _parts(domain, boxes):
        tried += 1
        fine = any(holds(domain, boxes, which, at) for which in every)
        demand(fine, f"{at} is outside of {boxes}", network)
        if tried > 500:
            break
    return tried


def _parts(domain: Domain, boxes: Boxes) -> Iterator[Input]:
    """Yield an input of each part into which the ends of boxes cut a domain."""
    choices = []
    for index, feature in enumerate(domain.features):
        own = [(code, 1.0) for code in range(len(feature))]
        if isinstance(feature, Range):
            starts = {float(feature.limits[0])}
            for low, high in boxes.ends[:, :, index].tolist():
                behind = high + 1 if feature.whole else math.nextafter(high, math.inf)
                starts |= {low} | ({behind} if behind <= feature.limits[1] else set())
            own = [*((0, x) for x in sorted(starts)), *own[1:]]
        choices.append(own)
    for chosen in product(*choices):
        codes, numbers = zip(*chosen, strict=True)
        yield Input(codes, numbers)


# Rules


def make_number_rules(rng: Generator) -> int:
    """Make a list or a set for rows or the domain: no rule is wrong anywhere."""
    scope = "support" if rng.integers(0, 4) else "domain"
    network = draw_network(rng, most_ranges=4 if scope == "support" else 1)
    domain, form = network.domain, pick(rng, ["list", "set"])
    inputs = [random_input(rng, domain) for _ in range(int(rng.integers(1, 9)))]
    rows = rows_of(network, inputs)
    budget = Budget(boxes=20_000, seconds=0.5)
    try:
        rules = nn2rules.extract(
            network,
            rows,
            form=form,
            scope=scope,
            engine="search",
            effort=0,
            budget=budget,
        )
        is_whole = rules.scope == "domain"  # not if gaps between numbers are left
    except BudgetExceededError as error:
        rules, is_whole = error.rules, False
    except UndecidedError:
        return 0
    return check_rules(rng, network, rules, inputs, is_whole=is_whole)


def check_rules(
    rng: Generator,
    network: Network,
    rules: RuleList,
    inputs: Sequence[Input],
    *,
    is_whole: bool,
) -> int:
    """Judge rules at all places where they may be wrong; return how many these are."""
    known = [
        (index, float(edge))
        for index, feature in enumerate(rules.domain.features)
        for edge in (feature.edges if isinstance(feature, Range) else ())
    ]
    tried = [*inputs, *places(rng, network, known, 40)]
    fired = rules.apply(rows_of(network, tried)).tolist()
    for at, index in zip(tried, fired, strict=True):
        own = first_rule(rules, at)
        what = f"{rules.form} {rules.boxes.tolist()} on {rules.domain}"
        demand(index == own, f"{what}: rule {index} holds for {at}, not {own}", network)
        if index < 0 and not is_whole:
            continue
        answer = rules.default if index < 0 else rules.classes[rules.answers[index]]
        right = class_of(network, *at)
        fine = right is None or answer == network.classes[right]
        demand(
            fine, f"{what}: rule {index} says {answer} of {at}, not {right}", network
        )
    return len(tried)


def rows_of(network: Network, inputs: Sequence[Input]) -> list[dict[str, Any]]:
    """Return inputs as rows of values."""
    codes = np.array([at.codes for at in inputs])
    return network.domain.decode(codes, np.array([at.numbers for at in inputs]))


def first_rule(rules: RuleList, at: Input) -> int:
    """Return the first rule that holds for an input, by counting edges; or -1."""
    columns = []
    for index, feature in enumerate(rules.domain.features):
        code = at.codes[index]
        if isinstance(feature, Range):
            edges = feature.edges
            below = sum(edge <= at.numbers[index] for edge in edges)
            code = below if code == 0 else code + len(edges)
        columns.append(int(rules.domain.offsets[index]) + code)
    for index, box in enumerate(rules.boxes):
        if box[columns].all():
            return index
    return -1
