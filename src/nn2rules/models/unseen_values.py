"""Values that nobody listed, to find out what a model makes of others.

One stranger shows what a model makes of that one. Encoders that hash, that look at
letters or that ignore case tell strangers apart, so many of several kinds are tried.
"""

import random
from collections.abc import Sequence
from typing import Any

from nn2rules.errors import UnsupportedModelError
from nn2rules.space import Feature, Lookup, Value, is_number

_WORDS = (
    *("a value that was never seen", "x", "Q", "zz", "New York", "lorem ipsum dolor"),
    *("other", "unknown", "none of these", "UPPER", "lower", "Title Case", "camelCase"),
    *("7", "-1", "42", "3.25", "1e6", "000", "90210", "2024-02-29", "12:30", "50 %"),
    *(" ", "\t", " padded ", "two  blanks", "?", "-", "#", "a_b", "a,b", "a;b", "a/b"),
    *("Straße", "naïve", "東京", "Ωmega", "мир", "🙂", "e\u0301"),
    *("5f3a9c", "0x1F", "deadbeef", "c0ffee00c0ffee00", "id-000417"),
    *("123e4567-e89b-12d3-a456-426614174000", "long" * 60, "a" * 500),
)
_RANDOM_WORDS = 24
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def strangers(feature: Feature) -> list[Value]:
    """Return values that the feature's value for others stands for.

    Examples
    --------
    >>> colour = Feature("colour", ("red", "blue", "other"), other="other")
    >>> len(strangers(colour)) > 60, "red" in strangers(colour)
    (True, False)
    """
    assert feature.other is not None, "asked only of features that have others"
    plain = [v for v in feature.values if v is not None and v != feature.other]
    numbers: Any = plain
    is_numeric = bool(numbers) and all(is_number(number) for number in numbers)
    found = _numbers(numbers) if is_numeric else _words(plain)
    lookup, code = Lookup(feature), feature.values.index(feature.other)
    return [item for item in dict.fromkeys(found) if lookup[item] == code]


def _words(known: Sequence[Value]) -> list[Value]:
    rng = random.Random(0)
    lengths = [rng.randint(1, 12) for _ in range(_RANDOM_WORDS)]
    words: list[Value] = list(_WORDS)
    words += ["".join(rng.choices(_LETTERS, k=length)) for length in lengths]
    for text in map(str, known[:4]):
        words += [text.upper(), text.lower(), text.title(), f" {text}", f"{text}s"]
        words += [text[:-1], text[::-1]]
    return [word for word in words if word != ""]


def _numbers(known: list[Any]) -> list[Value]:
    """Return whole numbers alone if the known ones are: a column may hold no other."""
    low, high = min(known), max(known)
    is_whole = all(isinstance(number, int) for number in known)
    near = [high + 1_000_003, high + 1, high + 2, low - 1, low - 2, 2 * high + 1]
    far = [0, 1, -1, 7, 42, -999, 9999, 123456, 10**6, 2**31 - 1, -(2**31), 2**40]
    between = [a + 1 for a in known] + [a - 1 for a in known]
    broken = (
        [] if is_whole else [a + 0.5 for a in known] + [0.1, -2.5, 1e-9, 1e12 + 0.5]
    )
    return [*near, *far, *between[:20], *broken[:20]]


def told_apart(feature: Feature, one: object, two: object) -> UnsupportedModelError:
    """Return the error of a model that tells strangers apart."""
    return UnsupportedModelError(
        f"feature {feature.name!r} is to have a value for others, and the model tells "
        f"some of these apart, such as {one!r} and {two!r}; in other=, name the "
        f"features that can have one"
    )
