"""The words of a feature's groups in a text: which groups they name, all of them whole.

Rules print a group as its words. A model does not tell these apart, so some of them
alone are no condition: what is said of one would be said of the others, too.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from nn2rules.errors import DomainError
from nn2rules.feature import UNKNOWN, Feature, Lookup
from nn2rules.parsing.allowed import Allowed
from nn2rules.parsing.scanner import Scanner
from nn2rules.text import label_text, quoted, value_text
from nn2rules.values import text_of

Part = frozenset[int]
"""Some words, by their places; -1 is all those that nobody listed."""

Token = tuple[str, bool]
"""A text, and whether it stood in quotation marks."""

_REST = -1
_MOST_SHOWN = 12


def codes_of_words(feature: Feature, said: Sequence[Token]) -> frozenset[int]:
    """Return the groups whose words, or names, are said.

    Raises
    ------
    DomainError
        If a text is none of these, or if only some words of a group are said.

    Examples
    --------
    >>> job = Feature.grouped("job", [["clerk", "cook"], ["judge"]], other=1)
    >>> codes_of_words(job, [("cook", False), ("clerk", False)])
    frozenset({0})
    """
    words = Words(feature)
    parts = [words.token(text, is_quoted=is_quoted) for text, is_quoted in said]
    allowed = words.whole(parts)
    if allowed is None:
        missed = (words.missed(part, parts) for part in parts)
        raise DomainError(next(text for text in missed if text is not None))
    return allowed.codes


class Words:
    """What texts can mean for a feature with groups of words.

    A text is a word, or the name of a group, or *other* for the words that nobody
    listed, if their group has words of its own beside them. Words come before names.
    """

    def __init__(self, feature: Feature) -> None:
        assert feature.groups is not None, "asked only of groups"
        self.feature = feature
        self._words = feature.words
        self._lookup = Lookup(Feature(feature.name, self._words or ("",)))
        places = iter(range(len(self._words)))
        self._groups: list[Part] = [
            frozenset(place for _, place in zip(group, places, strict=False))
            | ({_REST} if self._is_rest(value) else frozenset())
            for value, group in zip(feature.values, feature.groups, strict=True)
        ]
        self._inside: dict[str, Part] = {}
        self._bare: dict[str, list[Part]] = {}
        for place, word in enumerate(self._words):
            self._add(word, frozenset([place]))
        if feature.other is not None:
            self._bare.setdefault("other", []).append(frozenset([_REST]))
        for value, group in zip(feature.values, self._groups, strict=True):
            if text_of(value) not in self._inside and value is not None:
                self._add(value, group)
        self._texts = sorted(self._bare, key=lambda text: -len(text))

    def _is_rest(self, value: object) -> bool:
        return self.feature.other is not None and value == self.feature.other

    def _add(self, word: object, part: Part) -> None:
        shown = label_text(word)  # type: ignore[arg-type]
        if word is not None:
            self._inside.setdefault(text_of(word), part)  # type: ignore[arg-type]
        if not shown.startswith('"'):
            found = self._bare.setdefault(shown, [])
            found += [] if part in found else [part]

    def parts(self, scanner: Scanner, place: int) -> Iterator[tuple[Part, int]]:
        """Yield the words that a text at a place can mean, and what follows."""
        found = scanner.quoted(place)
        if found is not None:
            text, stop = found
            yield from ((part, stop) for part in self._named(text))
            return
        known = {text: place for place, text in enumerate(self._texts)}
        for index, stop in scanner.known(place, known):
            for part in self._bare[self._texts[index]]:
                yield part, stop
        number = scanner.number(place)
        if number is not None and number[0] not in self._bare:
            yield from ((part, number[1]) for part in self._named(number[0]))

    def _named(self, text: str) -> Iterable[Part]:
        if text in self._inside:
            return [self._inside[text]]
        place = self._lookup[text] if self._words else UNKNOWN
        return [] if place == UNKNOWN else [frozenset([place])]

    def whole(self, parts: Iterable[Part]) -> Allowed | None:
        """Return the groups that words make up; None if one of them is not whole."""
        named = frozenset(chain(*parts))
        codes = [code for code, group in enumerate(self._groups) if group <= named]
        made = frozenset(chain(*(self._groups[code] for code in codes)))
        return Allowed(codes=frozenset(codes)) if made == named else None

    def missed(self, part: Part, parts: Iterable[Part]) -> str | None:
        """Say why some words are no group, if the group of the first is not whole."""
        named = frozenset(chain(*parts))
        for code, group in enumerate(self._groups):
            if part & group and not group <= named:
                feature, value = self.feature, self.feature.values[code]
                said = value_text(feature, value)
                words = ", ".join(self._shown(each) for each in sorted(part & group))
                return (
                    f"{words} is only a part of the group {said} of feature "
                    f"{feature.name!r}, which the model does not tell apart; say "
                    f"{quoted(feature.name)} in {said}"
                )
        return None

    def token(self, text: str, *, is_quoted: bool) -> Part:
        """Return the words that a text means that stands alone.

        Raises
        ------
        DomainError
            If it means none.
        """
        found = [] if is_quoted else self._bare.get(text, [])
        for part in (*found, *self._named(text)):
            return part
        known = [self._shown(place) for place in range(len(self._words))]
        more = ", …" if len(known) > _MOST_SHOWN else ""
        raise DomainError(
            f"feature {self.feature.name!r} has no value {text}; it has "
            f"{', '.join(known[:_MOST_SHOWN])}{more}"
        )

    def _shown(self, place: int) -> str:
        return "other" if place == _REST else label_text(self._words[place])
