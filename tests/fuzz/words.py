"""Printed conditions: read as people read them, they match their values only."""

import re
from typing import Any

import numpy as np
from numpy.random import Generator

from nn2rules import Feature
from nn2rules.language.text import condition_text
from nn2rules.space import Intervals


def read_conditions(rng: Generator) -> int:
    """Print a condition and read it as people do: it holds for its values alone."""
    feature = _feature(rng)
    chosen = [value for value in feature.values if rng.integers(0, 2)]
    if not 0 < len(chosen) < len(feature.values):
        return 0
    text = condition_text(feature, chosen)
    for code, value in enumerate(feature.values):
        for cell in _cells(feature, code):
            if _reads(text, feature, cell) != (value in chosen):
                raise AssertionError(f"{text!r} for {chosen} of {feature}: {cell!r}")
    return len(feature.values)


def _feature(rng: Generator) -> Feature:
    size, missing = int(rng.integers(2, 6)), bool(rng.integers(0, 2))
    end = (None,) if missing else ()
    ordered = bool(rng.integers(0, 2))
    kind = rng.integers(0, 3)
    if kind == 0:
        words = tuple(f"w{code}" for code in range(size))
        return Feature("f", words + end, ordered=ordered)
    numbers = np.unique(np.round(rng.normal(size=size) * 10, int(rng.integers(0, 3))))
    if kind == 1:
        return Feature.bins("f", numbers.tolist(), missing=missing)
    shuffled = rng.permutation(numbers) if rng.integers(0, 2) else numbers
    return Feature("f", tuple(shuffled.tolist()) + end, ordered=ordered)


def _cells(feature: Feature, code: int) -> list[Any]:
    """Return what may stand in a row for a value: numbers of a bin, or itself."""
    if not isinstance(feature, Intervals) or feature.values[code] is None:
        return [feature.values[code]]
    edges = feature.edges
    low = edges[code - 1] if code else edges[0] - 5
    high = edges[code] if code < len(edges) else low + 5
    return [low, (low + high) / 2, float(np.nextafter(high, -np.inf))]


def _reads(text: str, feature: Feature, cell: Any) -> bool:
    """Tell whether a printed condition holds for a cell."""
    text = text[1:-1] if text.startswith("(") else text
    return any(_part_reads(part, feature, cell) for part in text.split(" or "))


def _part_reads(part: str, feature: Feature, cell: Any) -> bool:
    def number(word: str) -> Any:
        if word == "missing":
            return None
        return word if word.startswith("w") else float(word)

    def place(word: Any) -> Any:
        return feature.values.index(word) if isinstance(word, str) else word

    found = re.fullmatch(r"f (all but|in) \{(.*)\}", part)
    if found:
        listed = [number(word) for word in found[2].split(", ")]
        return (cell in listed) == (found[1] == "in")
    found = re.fullmatch(r"f (=|≠|is) (.*)", part)
    if found:
        if found[2] == "a number":
            return cell is not None
        return (cell == number(found[2])) == (found[1] != "≠")
    if cell is None:
        return False
    found = re.fullmatch(r"(?:(\S+) ([≤<]) )?f(?: ([≤<≥>]) (\S+))?", part)
    assert found, part
    compare = {
        "≤": lambda a, b: a <= b,
        "<": lambda a, b: a < b,
        "≥": lambda a, b: a >= b,
        ">": lambda a, b: a > b,
    }
    low, below, above, high = found.groups()
    at = place(cell)
    fine = low is None or compare[below](place(number(low)), at)
    return fine and (high is None or compare[above](at, place(number(high))))
