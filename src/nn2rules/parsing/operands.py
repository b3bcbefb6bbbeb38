"""Values in a text: what can stand beside a sign, and what that allows."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial, reduce
from typing import Any

from nn2rules.domain import Domain
from nn2rules.errors import DomainError
from nn2rules.feature import UNKNOWN, Feature, Lookup
from nn2rules.parsing.allowed import Allowed, compared, compared_place, union
from nn2rules.parsing.scanner import Scanner
from nn2rules.parsing.words import Part, Words
from nn2rules.text import condition_text, count, quoted, value_text
from nn2rules.values import number_of, text_of

_MISSING = "missing"


class ValueReader:
    """Reads the values of a domain's features."""

    def __init__(self, scanner: Scanner, domain: Domain) -> None:
        self.scanner, self.domain = scanner, domain
        self._values = [_spellings(feature) for feature in domain.features]
        self._lookups = [Lookup(feature) for feature in domain.features]
        self._words = [
            None if feature.groups is None else Words(feature)
            for feature in domain.features
        ]

    def value(self, index: int, place: int) -> Iterator[tuple[Allowed, int]]:
        """Yield the values that a text at a place can mean."""
        words = self._words[index]
        if words is None:
            yield from self._one(index, place)
            return
        for (part, at), stop in self._part(index, place):
            allowed = self._whole(words, [(part, at)])
            if allowed is not None:
                yield allowed, stop

    def several(self, index: int, place: int) -> Iterator[tuple[Allowed, int]]:
        """Yield the values that texts can mean, from a place to a closing brace."""
        feature, words = self.domain.features[index], self._words[index]
        if words is None:
            for listed, stop in self._items(partial(self._one, index), place):
                yield reduce(partial(union, feature), listed), stop
            return
        for parts, stop in self._items(partial(self._part, index), place):
            allowed = self._whole(words, parts)
            if allowed is not None:
                yield allowed, stop

    def _items(
        self, read: Callable[[int], Iterator[tuple[Any, int]]], place: int
    ) -> Iterator[tuple[list[Any], int]]:
        # The ways to read each item wait on a list, as thousands of items would
        # overflow the stack of calls.
        ways, items = [read(place)], list[Any]()
        while ways:
            found = next(ways[-1], None)
            del items[len(ways) - 1 :]
            if found is None:
                ways.pop()
                continue
            items.append(found[0])
            end = self.scanner.skip(found[1])
            if self.scanner.text.startswith(",", end):
                ways.append(read(end + 1))
            elif self.scanner.text.startswith("}", end):
                yield [*items], end + 1
            else:
                self.scanner.fail(found[1], "expected ',' or '}'")

    def _part(self, index: int, place: int) -> Iterator[tuple[tuple[Part, int], int]]:
        """Yield some words of groups, with their place in the text."""
        words = self._words[index]
        assert words is not None, "asked only of groups"
        is_found = False
        for part, stop in words.parts(self.scanner, place):
            is_found = True
            yield (part, place), stop
        if not is_found:
            self.refuse(index, place)

    def _whole(self, words: Words, parts: list[tuple[Part, int]]) -> Allowed | None:
        """Return the groups that words make up; None, and a note, if one is parted."""
        named = [part for part, _ in parts]
        allowed = words.whole(named)
        if allowed is None:
            for part, place in parts:
                reason = words.missed(part, named)
                if reason is not None:
                    self.scanner.fail(place, reason)
        return allowed

    def _one(self, index: int, place: int) -> Iterator[tuple[Allowed, int]]:
        """Yield the values that a text at a place can mean, where words are values."""
        feature = self.domain.features[index]
        found = False
        for value, stop in self.operands(index, place):
            found = True
            if isinstance(value, int):
                yield Allowed(codes=frozenset([value])), stop
                continue
            code = self._lookups[index][value]
            number = number_of(value)
            if feature.limits is not None and code == 0 and number is not None:
                yield Allowed(((number, number),)), stop
            elif code == UNKNOWN:
                found = False
            elif _is_part(feature, code, number):
                self.scanner.fail(place, _parting(feature, code, value))
            else:
                yield Allowed(codes=frozenset([code])), stop
        if not found:
            self.refuse(index, place)

    def refuse(self, index: int, place: int) -> None:
        """Note that what stands at a place is no value of a feature."""
        self.scanner.fail(place, self._unknown(self.domain.features[index], place))

    def _unknown(self, feature: Feature, place: int) -> str:
        word = self.scanner.shown(place)
        if not word:
            return f"expected a value of feature {feature.name!r}"
        if feature.limits is not None:
            low, high = feature.limits
            kind = "whole numbers from " if feature.whole else ""
            return (
                f"feature {feature.name!r} has no value {word}, only {kind}{low} to "
                f"{high}"
            )
        values = [value_text(feature, value) for value in feature.values]
        more = f", … ({count(len(values), 'value')})" if len(values) > 12 else ""
        known = f"it has {', '.join(values[:12])}{more}"
        if feature.other is not None:
            others = value_text(feature, feature.other)
            return (
                f"feature {feature.name!r} does not list {word}, which is only one of "
                f"what {others} stands for; {known}"
            )
        return f"feature {feature.name!r} has no value {word}; {known}"

    def operands(self, index: int, place: int) -> Iterator[tuple[int | str, int]]:
        """Yield what can be compared with a feature: codes, and texts of numbers."""
        bare, inside = self._values[index]
        found = self.scanner.quoted(place)
        if found is not None:
            text, stop = found
            yield inside.get(text, text), stop
            return
        yield from self.scanner.known(place, bare)
        number = self.scanner.number(place)
        if number is not None:
            yield number

    def compared(
        self, index: int, sign: str, value: int | str, place: int
    ) -> Allowed | None:
        """Return what a comparison allows; None, and a note why, if it makes none."""
        feature = self.domain.features[index]
        try:
            if isinstance(value, int):
                return compared_place(feature, sign, value)
            number = number_of(value)
            if number is not None:
                return compared(feature, sign, number)
            self.refuse(index, place)
        except DomainError as error:
            self.scanner.fail(place, str(error))
        return None


def _is_part(feature: Feature, code: int, number: float | None) -> bool:
    """Tell whether a value stands for more than the text by which it was found."""
    if feature.other is not None and feature.values[code] == feature.other:
        return True
    if feature.edges is None or number is None or code >= feature.n_plain:
        return False
    ends = feature.edges[max(code - 1, 0) : code + 1]
    return not (feature.whole and len(ends) == 2 and ends[1] - ends[0] == 1)


def _parting(feature: Feature, code: int, text: str) -> str:
    said = condition_text(feature, (feature.values[code],))
    return (
        f"{text} is only a part of what the model tells apart of feature "
        f"{feature.name!r}; say {said}"
    )


def longest_first(texts: Mapping[str, int]) -> dict[str, int]:
    """Return a mapping with long keys before short ones."""
    return dict(sorted(texts.items(), key=lambda item: -len(item[0])))


def _spellings(feature: Feature) -> tuple[dict[str, int], dict[str, int]]:
    """Return which texts stand for which codes: bare ones, and those in quotes.

    What rules print comes first; the value itself is known, too, where rules print a
    label for it. The cells of a range have no name.
    """
    bare: dict[str, int] = {}
    inside: dict[str, int] = {}
    first = 0 if feature.limits is None else feature.n_plain
    listed = [*enumerate(feature.values)][first:]
    for code, value in listed:
        if feature.labels is None and value is None:
            bare[_MISSING] = code
        else:
            shown = text_of(value)
            text = shown if feature.labels is None else feature.labels[code]
            inside[text] = code
            if quoted(text) == text:
                bare[text] = code
    for code, value in listed:
        inside.setdefault(text_of(value), code)
        if value is None or quoted(text_of(value)) == text_of(value):
            bare.setdefault(text_of(value), code)
    return longest_first(bare), inside
