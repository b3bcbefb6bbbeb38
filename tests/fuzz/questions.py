"""Questions that the engines answer: classes, boxes, counts, ranges."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
from mpmath import mp
from numpy.random import Generator
from numpy.typing import NDArray

from fuzz.judge import BITS, Judge
from fuzz.networks import code_of, extreme_network, ordinary_network
from nn2rules import Network, UndecidedError
from nn2rules.checker import run_network
from nn2rules.engine import (
    Budget,
    Meter,
    Oracle,
    build_table,
    count_classes,
    score_range,
)


class WrongAnswerError(AssertionError):
    """An answer that the judge refutes; its text is code that shows it."""

    def __init__(self, what: str, network: Network) -> None:
        super().__init__(f"{what}\n\n{code_of(network)}")


def demand(holds: bool, what: str, network: Network) -> None:
    """Complain unless something holds."""
    if not holds:
        raise WrongAnswerError(what, network)


def draw(rng: Generator) -> Judge:
    """Draw a network, ordinary or extreme, and have it judged."""
    make = extreme_network if rng.integers(0, 4) else ordinary_network
    return Judge(make(rng))


def random_box(rng: Generator, network: Network) -> NDArray[np.bool_]:
    """Draw a box; each feature keeps a value."""
    box = rng.random(int(network.domain.offsets[-1])) < rng.choice([0.5, 0.8, 1.0])
    for start, stop in pairwise(network.domain.offsets.tolist()):
        if not box[start:stop].any():
            box[rng.integers(start, stop)] = True
    return box


def inside(judge: Judge, box: NDArray[np.bool_]) -> list[int]:
    """Return the positions of the inputs in a box."""
    starts = judge.network.domain.offsets[:-1]
    return [i for i, c in enumerate(judge.inputs) if box[starts + np.array(c)].all()]


def ask_table(rng: Generator) -> int:
    """Ask for the class of every input: of the table, of rows, and of the checker."""
    judge = draw(rng)
    network, codes = judge.network, np.array(judge.inputs)
    found = {"checker": run_network.classify(network, codes).tolist()}
    try:
        found["table"] = build_table(network).classes.tolist()
        found["predict_codes"] = network.predict_codes(codes).tolist()
    except UndecidedError:
        is_smooth = any(not layer.function.exact for layer in network.layers[:-1])
        demand(is_smooth, "a piecewise-linear network is undecided", network)
    for name, classes in found.items():
        for index, (one, right) in enumerate(zip(classes, judge.truth, strict=True)):
            fine = right is None or one in (right, run_network.UNDECIDED)
            what = f"{name} says {one} for {judge.inputs[index]}, {right} is right"
            demand(fine, what, network)
    return len(found) * len(judge.inputs)


def ask_search(rng: Generator) -> int:
    """Ask whether every input of a box is of a class."""
    judge = draw(rng)
    network, asked = judge.network, 0
    oracle = Oracle(network)
    for _ in range(3):
        box = random_box(rng, network)
        held = inside(judge, box)
        for index in range(len(network.classes)):
            try:
                answer = oracle.ask(box, index)
            except UndecidedError:
                continue
            asked += 1
            if answer.proved:
                wrong = [i for i in held if judge.truth[i] not in (index, None)]
                what = f"class {index} is proved on {box.tolist()}, but for {wrong}"
                demand(not wrong, what, network)
            else:
                codes = tuple(answer.counterexample.tolist())
                right = judge.truth[judge.inputs.index(codes)]
                fine = right != index and judge.inputs.index(codes) in held
                what = f"{codes} is no counterexample for {index} on {box.tolist()}"
                demand(fine, what, network)
    return asked


def ask_counts(rng: Generator) -> int:
    """Ask how many inputs each class has, by search, with a small budget or none."""
    judge = draw(rng)
    network = judge.network
    boxes = None if rng.integers(0, 2) else int(rng.integers(0, 6))
    try:
        counts = count_classes(network, meter=Meter(Budget(memory=0, boxes=boxes)))
    except UndecidedError:
        return 0
    unsure = judge.truth.count(None)
    total = len(judge.inputs)
    for index in range(len(network.classes)):
        right = judge.truth.count(index)
        low, high = counts.lower[index], counts.upper[index]
        fine = low <= right + unsure and right <= high and low <= high
        what = f"{low} to {high} inputs of class {index}, {right} is right"
        demand(fine, what, network)
        least, most = (Fraction(share) * total for share in counts.probability[index])
        fine = least <= right + unsure + 1e-6 and right <= most + 1e-6
        demand(fine, f"class {index} has the share {least} to {most}", network)
    demand(boxes is not None or counts.is_exact, "the counts are not exact", network)
    return len(network.classes)


def ask_ranges(rng: Generator) -> int:
    """Ask for the smallest and the largest score of a box."""
    judge = draw(rng)
    network = judge.network
    box, output = (
        random_box(rng, network),
        int(rng.integers(len(network.layers[-1].bias))),
    )
    tolerance = float(rng.choice([0.0, 0.0, 0.01, 1e300]))
    ends = score_range(network, box, index=output, tolerance=tolerance)
    every = judge.scores(output)
    numbers = [every[i] for i in inside(judge, box)]
    with mp.workprec(BITS[0]):
        for name, choose, (low, high), at in (
            ("smallest", min, ends.low, ends.at_low),
            ("largest", max, ends.high, ends.at_high),
        ):
            value, error = choose(numbers, key=lambda number: number[0])
            error = max(off for _, off in numbers) if error else error
            fine = _number(low, value) <= value + error
            fine &= value - error <= _number(high, value)
            what = f"{low} to {high} does not hold the {name} score {value} of {box}"
            demand(fine, what, network)
            [codes] = network.domain.encode([at])
            demand(
                judge.inputs.index(tuple(codes.tolist())) in inside(judge, box),
                f"{at} is not in the box {box}",
                network,
            )
    return 2


def _number(end: float, like: object) -> object:
    if not np.isfinite(end):
        return mp.mpf(end) if not isinstance(like, Fraction) else end
    return Fraction(end) if isinstance(like, Fraction) else mp.mpf(end)
