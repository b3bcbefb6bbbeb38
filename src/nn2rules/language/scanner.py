"""A text that is read from left to right, and where reading it failed."""

import json
import re
from collections.abc import Iterator, Mapping

from nn2rules.errors import ParseError

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_WORD = re.compile(r'"[^"]*"?|[^\s,{}]+')
_SIGNS = {
    "≤": ("≤", "<="),
    "≥": ("≥", ">="),
    "≠": ("≠", "!="),
    "<": ("<",),
    ">": (">",),
    "=": ("==", "="),
}


class Scanner:
    """A text, and the failure that came furthest in it.

    Reading tries one way after another. Of all that fail, the one that got furthest
    says best what is wrong.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._failed = (-1, "")

    def fail(self, place: int, reason: str) -> None:
        """Note why the text cannot be read at a place; the first reason there stays."""
        at = self.skip(place)
        if at > self._failed[0]:
            self._failed = (at, reason)

    def error(self) -> ParseError:
        """Return the error that points at the furthest failure."""
        place, reason = self._failed
        return ParseError(self.text, max(place, 0), reason or "this cannot be read")

    def skip(self, place: int) -> int:
        """Return the place behind spaces."""
        while place < len(self.text) and self.text[place].isspace():
            place += 1
        return place

    def is_end(self, place: int) -> bool:
        """Tell whether nothing but spaces is left."""
        return self.skip(place) == len(self.text)

    def word(self, place: int, *words: str) -> int | None:
        """Return the place behind these words if they are here, or None."""
        for word in words:
            place = self.skip(place)
            if not self.text.startswith(word, place):
                return None
            place += len(word)
            if not self._is_over(place, word):
                return None
        return place

    def sign(self, place: int, among: str) -> tuple[str, int] | None:
        """Return the sign at this place, if it is one of some, and what follows."""
        place = self.skip(place)
        for sign, spellings in _SIGNS.items():
            for spelling in spellings:
                if self.text.startswith(spelling, place):
                    found = sign, place + len(spelling)
                    return found if sign in among else None
        return None

    def number(self, place: int) -> tuple[str, int] | None:
        """Return the text of the number at this place."""
        found = _NUMBER.match(self.text, self.skip(place))
        if found is None or not self._is_over(found.end(), found[0]):
            return None
        return found[0], found.end()

    def shown(self, place: int) -> str:
        """Return the word at a place, for messages."""
        found = _WORD.match(self.text, self.skip(place))
        return found[0] if found else self.text[self.skip(place) :][:1]

    def quoted(self, place: int) -> tuple[str, int] | None:
        """Return the text in quotation marks at this place."""
        place = self.skip(place)
        if not self.text.startswith('"', place):
            return None
        try:
            found, stop = json.JSONDecoder(strict=False).raw_decode(self.text, place)
        except ValueError:
            self.fail(place, "the quotation mark is never closed")
            return None
        return found, stop

    def known(self, place: int, bare: Mapping[str, int]) -> Iterator[tuple[int, int]]:
        """Yield what a text at a place means, and what follows, longest first.

        Parameters
        ----------
        bare : mapping from texts to whole numbers
            The texts that may be here, longest first.
        """
        place = self.skip(place)
        for text, index in bare.items():
            stop = place + len(text)
            if self.text.startswith(text, place) and self._is_over(stop, text):
                yield index, stop

    def _is_over(self, place: int, word: str) -> bool:
        """Tell whether a word ends here, and is not the beginning of a longer one."""
        if place >= len(self.text):
            return True
        behind, last = self.text[place], word[-1:]
        is_joined = behind.isalnum() or behind in "_.%/+-–"
        return not (is_joined and (last.isalnum() or last in "_.%/+-–"))
