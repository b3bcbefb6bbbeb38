"""Values in a text: what may follow a sign, and what that allows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import chain
from typing import Any

from nn2rules.errors import DomainError
from nn2rules.language.allowed import Allowed, compared, compared_place, union
from nn2rules.language.scanner import Scanner
from nn2rules.language.text import condition_text, count, label_text, quoted, value_text
from nn2rules.space import (
    UNKNOWN,
    Domain,
    Feature,
    Grouped,
    Intervals,
    Lookup,
    Range,
    number_of,
    text_of,
)

Part = frozenset[int]
"""Some categories, by their places; -1 is all those not listed."""

Token = tuple[str, bool]
"""A text, and whether it stood in quotation marks."""

_REST = -1
_MOST_SHOWN = 12


def codes_of_words(feature: Feature, said: Sequence[Token]) -> frozenset[int]:
    """Return the groups whose categories, or names, are given.

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
    words = GroupReader(feature)
    parts = [words.token(text, is_quoted=is_quoted) for text, is_quoted in said]
    allowed = words.whole(parts)
    if allowed is None:
        missed = (words.missed(part, parts) for part in parts)
        raise DomainError(next(text for text in missed if text is not None))
    return allowed.codes


class GroupReader:
    """What texts can mean for a feature with groups of categories.

    A text is a category, or the name of a group, or *other* for the categories that
    nobody listed, if their group has others beside them. Categories come first.
    """

    def __init__(self, feature: Feature) -> None:
        assert isinstance(feature, Grouped), "asked only of groups"
        self.feature = feature
        self._words = feature.categories
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
        """Yield the categories that a text at a place can mean, and what follows."""
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
        """Return the groups that categories make up; None if one is not whole."""
        named = frozenset(chain(*parts))
        codes = [code for code, group in enumerate(self._groups) if group <= named]
        made = frozenset(chain(*(self._groups[code] for code in codes)))
        return Allowed(codes=frozenset(codes)) if made == named else None

    def missed(self, part: Part, parts: Iterable[Part]) -> str | None:
        """Say why categories are not a group, if that of the first is not whole."""
        named = frozenset(chain(*parts))
        for code, group in enumerate(self._groups):
            if part & group and not group <= named:
                feature, value = self.feature, self.feature.values[code]
                said = value_text(feature, value)
                words = ", ".join(self._shown(each) for each in sorted(part & group))
                return (
                    f"{words} is only a part of the group {said} of feature "
                    f"{feature.name!r}, which the model does not tell apart; write "
                    f"{quoted(feature.name)} in {said}"
                )
        return None

    def token(self, text: str, *, is_quoted: bool) -> Part:
        """Return the categories that a text means by itself.

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


_MISSING = "missing"


class ValueReader:
    """Reads the values of a domain's features."""

    def __init__(self, scanner: Scanner, domain: Domain) -> None:
        self.scanner, self.domain = scanner, domain
        self._values = [_spellings(feature) for feature in domain.features]
        self._lookups = [Lookup(feature) for feature in domain.features]
        self._words = [
            GroupReader(feature) if isinstance(feature, Grouped) else None
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
        """Yield some categories of groups, with their place in the text."""
        words = self._words[index]
        assert words is not None, "asked only of groups"
        is_found = False
        for part, stop in words.parts(self.scanner, place):
            is_found = True
            yield (part, place), stop
        if not is_found:
            self.refuse(index, place)

    def _whole(
        self, words: GroupReader, parts: list[tuple[Part, int]]
    ) -> Allowed | None:
        """Return the groups of some categories; None, and a note, if one is split."""
        named = [part for part, _ in parts]
        allowed = words.whole(named)
        if allowed is None:
            for part, place in parts:
                reason = words.missed(part, named)
                if reason is not None:
                    self.scanner.fail(place, reason)
        return allowed

    def _one(self, index: int, place: int) -> Iterator[tuple[Allowed, int]]:
        """Yield the values that a text at a place can mean, without groups."""
        feature = self.domain.features[index]
        found = False
        for value, stop in self.operands(index, place):
            found = True
            if isinstance(value, int):
                yield Allowed(codes=frozenset([value])), stop
                continue
            code = self._lookups[index][value]
            number = number_of(value)
            if isinstance(feature, Range) and code == 0 and number is not None:
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
        """Note that the text at a place is not a value of a feature."""
        self.scanner.fail(place, self._unknown(self.domain.features[index], place))

    def _unknown(self, feature: Feature, place: int) -> str:
        word = self.scanner.shown(place)
        if not word:
            return f"expected a value of feature {feature.name!r}"
        if isinstance(feature, Range):
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
    """Tell whether a value is more than the text by which it was found."""
    if feature.is_other(feature.values[code]):
        return True
    if not isinstance(feature, Intervals) or number is None or code >= feature.n_plain:
        return False
    ends = feature.edges[max(code - 1, 0) : code + 1]
    return not (feature.whole and len(ends) == 2 and ends[1] - ends[0] == 1)


def _parting(feature: Feature, code: int, text: str) -> str:
    said = condition_text(feature, (feature.values[code],))
    return (
        f"{text} is only a part of what the model tells apart of feature "
        f"{feature.name!r}; write {said}"
    )


def longest_first(texts: Mapping[str, int]) -> dict[str, int]:
    """Return a mapping with long keys before short ones."""
    return dict(sorted(texts.items(), key=lambda item: -len(item[0])))


def _spellings(feature: Feature) -> tuple[dict[str, int], dict[str, int]]:
    """Return the code that each text means: bare texts, and those in quotes.

    What rules print comes first; the value itself is known, too, where rules print a
    label for it. The cells of a range have no name.
    """
    bare: dict[str, int] = {}
    inside: dict[str, int] = {}
    first = feature.n_cells
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
