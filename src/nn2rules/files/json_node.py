"""Validated JSON: every error names its place in the document.

A `Node` is a part of a document that knows its place in it.
"""

import json
import math
from collections.abc import Collection, Iterator
from typing import Any

from nn2rules.errors import FormatError

_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


class Node:
    """A part of a JSON document, with its place.

    Examples
    --------
    >>> document = Node({"layers": [{"bias": "x"}]})
    >>> document["layers"].items()[0]["bias"].number()
    Traceback (most recent call last):
    ...
    nn2rules.errors.FormatError: layers[0].bias: expected a number, found a string
    """

    __slots__ = ("place", "value")

    def __init__(self, value: Any, place: str = "") -> None:
        self.value = value
        self.place = place

    def error(self, message: str) -> FormatError:
        """Return an error with `message` about this place."""
        return FormatError(f"{self.place}: {message}" if self.place else message)

    def _expect(self, kind: type) -> Any:
        if type(self.value) is not kind:
            actual = _KINDS[type(self.value)]
            raise self.error(f"expected {_KINDS[kind]}, found {actual}")
        return self.value

    def __getitem__(self, key: str) -> "Node":
        if key not in self._expect(dict):
            raise self.error(f"the key {key!r} is missing")
        return Node(self.value[key], f"{self.place}.{key}" if self.place else key)

    def __contains__(self, key: str) -> bool:
        return key in self._expect(dict)

    def only(self, known: Collection[str]) -> None:
        """Refuse keys that are not `known`, so that no misspelled key is ignored."""
        for key in self._expect(dict):
            if key not in known:
                raise self.error(
                    f"unknown key {key!r}; the keys are {', '.join(known)}"
                )

    def items(self) -> list["Node"]:
        """Return the elements of a list."""
        elements = self._expect(list)
        return [Node(e, f"{self.place}[{i}]") for i, e in enumerate(elements)]

    def entries(self) -> Iterator[tuple[str, "Node"]]:
        """Yield the keys and values of an object."""
        for key in self._expect(dict):
            yield key, self[key]

    def string(self) -> str:
        """Return a string."""
        text = str(self._expect(str))
        if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            raise self.error("the string contains half a character (a lone surrogate)")
        return text

    def boolean(self) -> bool:
        """Return true or false."""
        return bool(self._expect(bool))

    def integer(self) -> int:
        """Return a whole number."""
        if type(self.value) is not int:
            raise self.error("expected a whole number")
        return self.value

    def number(self) -> float:
        """Return a finite float64; refuse a number that float64 cannot represent."""
        if type(self.value) not in (int, float):
            self._expect(float)
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.error(
                "the number is NaN, infinite or too large; it must be finite"
            )
        if type(self.value) is int and int(number) != self.value:
            raise self.error(f"{self.value} cannot be represented exactly in 64 bits")
        return number

    def scalar(self) -> str | int | float | bool | None:
        """Return a value of a feature: a string, number, true, false or null."""
        if type(self.value) in (dict, list):
            raise self.error(f"expected a single value, found {self._kind()}")
        if type(self.value) is float:
            return self.number()
        if type(self.value) is str:
            return self.string()
        return self.value  # type: ignore[no-any-return]

    def record(self) -> dict[str, Any]:
        """Return an object as it is, if it can be written again."""
        record = self._expect(dict)
        try:
            json.dumps(record, ensure_ascii=False, allow_nan=False).encode()
        except UnicodeEncodeError:
            raise self.error(
                "a string contains half a character (a lone surrogate)"
            ) from None
        except ValueError:
            raise self.error("a number is NaN or infinite") from None
        return dict(record)

    def _kind(self) -> str:
        return _KINDS[type(self.value)]


def parse_json(text: str) -> Node:
    """Parse `text`, refusing what JSON leaves undefined.

    Repeated keys, and NaN or Infinity outside strings, are not accepted.
    """
    try:
        document = json.loads(
            text, object_pairs_hook=_unrepeated, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        if not text.strip():
            raise FormatError("the file is empty") from None
        raise FormatError(
            f"not valid JSON, or truncated: {error.msg} at line {error.lineno}, "
            f"column {error.colno}"
        ) from None
    except RecursionError:
        raise FormatError("the JSON is nested too deeply") from None
    except FormatError:
        raise
    except ValueError:
        raise FormatError("a number has more than 4,300 digits") from None
    return Node(document)


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique: dict[str, Any] = {}
    for key, value in pairs:
        if key in unique:
            raise FormatError(f"the key {key!r} occurs twice in one object")
        unique[key] = value
    return unique


def _constant(name: str) -> float:
    return {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}[name]
