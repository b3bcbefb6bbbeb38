"""Values in a text: what can stand beside a sign, and what that allows."""

from collections.abc import Iterator, Mapping

from nn2rules.domain import Domain
from nn2rules.errors import DomainError
from nn2rules.feature import UNKNOWN, Feature, Lookup
from nn2rules.parsing.allowed import Allowed, compared, compared_place
from nn2rules.parsing.scanner import Scanner
from nn2rules.parsing.words import codes_of_words
from nn2rules.text import count, quoted, value_text
from nn2rules.values import number_of, text_of

_MISSING = "missing"


class ValueReader:
    """Reads the values of a domain's features."""

    def __init__(self, scanner: Scanner, domain: Domain) -> None:
        self.scanner, self.domain = scanner, domain
        self._values = [_spellings(feature) for feature in domain.features]
        self._lookups = [Lookup(feature) for feature in domain.features]

    def value(self, index: int, place: int) -> Iterator[tuple[Allowed, int]]:
        """Yield the values that a text at a place can mean."""
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
            elif code != UNKNOWN:
                yield Allowed(codes=frozenset([code])), stop
            else:
                found = False
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
            return f"feature {feature.name!r} has no value {word}, only {low} to {high}"
        values = [value_text(feature, value) for value in feature.values]
        more = f", … ({count(len(values), 'value')})" if len(values) > 12 else ""
        known = ", ".join(values[:12])
        return f"feature {feature.name!r} has no value {word}; it has {known}{more}"

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

    def words(self, index: int, place: int) -> Iterator[tuple[Allowed, int]]:
        """Yield what words in braces allow, of a feature with groups of words."""
        feature, said = self.domain.features[index], []
        start = place
        while True:
            found = self.scanner.quoted(place)
            token = (found[0], True) if found else (self.scanner.bare(place), False)
            said.append(token)
            place = found[1] if found else self.scanner.skip(place) + len(token[0])
            place = self.scanner.skip(place)
            if not self.scanner.text.startswith(",", place):
                break
            place += 1
        if not self.scanner.text.startswith("}", place):
            self.scanner.fail(place, "expected ',' or '}'")
            return
        try:
            yield Allowed(codes=codes_of_words(feature, said)), place + 1
        except DomainError as error:
            self.scanner.fail(start, str(error))

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
