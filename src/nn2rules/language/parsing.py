"""Conditions in every form that a user may write: text, mapping or `Condition`s."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from nn2rules.errors import OptionError
from nn2rules.language.allowed import (
    Allowed,
    common,
    compared,
    everything,
    plain_values,
    union,
    without,
)
from nn2rules.language.operands import ValueReader, longest_first
from nn2rules.language.scanner import Scanner
from nn2rules.language.text import quoted
from nn2rules.space import (
    Condition,
    Domain,
    Feature,
    Lookup,
    Range,
    boxes_of,
    is_number,
    refuse_parts,
)

Found: TypeAlias = tuple[int, Allowed, int]
"""A feature, what it may be, and the place in the text behind that."""

_ORDER = "<≤≥>"
_TURNED = {"<": ">", "≤": "≥", "≥": "≤", ">": "<"}


def read_conditions(text: str, domain: Domain) -> tuple[Condition, ...]:
    """Return the conditions that a text says, in the order of the features.

    Examples
    --------
    >>> from nn2rules import Feature
    >>> domain = Domain((Feature.bins("age", [25, 40], missing=True),
    ...                  Feature("job", ("clerk", "car (new)"))))
    >>> read_conditions("(age >= 40 or age is missing) and job = car (new)", domain)
    (Condition(feature='age', values=('[40, inf)', None)),
     Condition(feature='job', values=('car (new)',)))

    Raises
    ------
    ParseError
        If it cannot be read; it points at the place.
    """
    reader = ConditionReader(Scanner(text), domain)
    for found, place in reader.conditions(0):
        if reader.scanner.is_end(place):
            return reader.checked(found)
        reader.scanner.fail(place, "expected 'and', or the end")
    raise reader.scanner.error()


class ConditionReader:
    """Reads conditions over a domain, in a text that may hold more than them."""

    def __init__(self, scanner: Scanner, domain: Domain) -> None:
        self.scanner, self.domain = scanner, domain
        names = {quoted(name): i for i, name in enumerate(domain.names)}
        self._names = longest_first(names)
        self._values = ValueReader(scanner, domain)

    def checked(self, found: Sequence[Found]) -> tuple[Condition, ...]:
        """Return conditions, those on one feature joined."""
        by_feature: dict[int, Allowed] = {}
        for index, allowed, place in found:
            both = (
                common(by_feature[index], allowed) if index in by_feature else allowed
            )
            if not both:
                feature = self.domain.features[index]
                fact = f"no value of feature {feature.name!r} meets all conditions"
                if isinstance(feature, Range):
                    fact += f"; it goes from {feature.limits[0]} to {feature.limits[1]}"
                self.scanner.fail(place - 1, fact)
                raise self.scanner.error()
            by_feature[index] = both
        features = self.domain.features
        return tuple(
            by_feature[index].condition(features[index])
            for index in sorted(by_feature)
            if by_feature[index] != everything(features[index])
        )

    def conditions(self, place: int) -> Iterator[tuple[list[Found], int]]:
        """Yield conditions joined by "and", and the place behind them; most first."""
        # The ways to read each condition wait on a list, as thousands of conditions
        # would overflow the stack of calls. Longer readings are yielded first.
        ways, so_far = [self._condition(place)], list[Found]()
        yield from self._anything([], place)
        while ways:
            if len(so_far) == len(ways):
                yield [*so_far], so_far.pop()[2]
            found = next(ways[-1], None)
            if found is None:
                ways.pop()
                continue
            so_far.append(found)
            joined = self.scanner.word(found[2], "and") or self._dot(found[2])
            if joined is not None:
                yield from self._anything(so_far, joined)
                ways.append(self._condition(joined))

    def _anything(
        self, so_far: list[Found], place: int
    ) -> Iterator[tuple[list[Found], int]]:
        """Yield what was found, and no condition more, if a text says "anything"."""
        nothing = self.scanner.word(place, "anything")
        if nothing is not None:
            yield [*so_far], nothing

    def _dot(self, place: int) -> int | None:
        place = self.scanner.skip(place)
        return place + 1 if self.scanner.text.startswith("·", place) else None

    def _condition(self, place: int) -> Iterator[Found]:
        for index, allowed, stop in self._atom(place):
            yield from self._or_tails(index, allowed, stop)
        start = self.scanner.skip(place)
        if self.scanner.text.startswith("(", start):
            for index, allowed, stop in self._alternatives(start + 1):
                end = self.scanner.skip(stop)
                if self.scanner.text.startswith(")", end):
                    yield index, allowed, end + 1
                else:
                    self.scanner.fail(stop, "expected 'or', or ')'")

    def _or_tails(self, index: int, allowed: Allowed, place: int) -> Iterator[Found]:
        """Yield a condition with what else may follow a name, the most first."""
        again = self.scanner.word(place, "or")
        if again is not None:
            for more, stop in self._tail(index, again):
                both = union(self.domain.features[index], allowed, more)
                yield from self._or_tails(index, both, stop)
        yield index, allowed, place

    def _alternatives(self, place: int) -> Iterator[Found]:
        for index, allowed, stop in self._atom(place):
            again = self.scanner.word(stop, "or")
            if again is not None:
                feature = self.domain.features[index]
                for other, more, end in self._alternatives(again):
                    if other == index:
                        yield index, union(feature, allowed, more), end
                    else:
                        self.scanner.fail(
                            again,
                            f"'or' joins what is said of one feature, here "
                            f"{feature.name!r}",
                        )
            yield from self._or_tails(index, allowed, stop)

    def _atom(self, place: int) -> Iterator[Found]:
        names = list(self.name(place))
        for index, stop in names:
            for allowed, end in self._tail(index, stop):
                yield index, allowed, end
        if not self.scanner.text.startswith("(", self.scanner.skip(place)):
            yield from self._between(place, is_name=bool(names))

    def name(self, place: int) -> Iterator[tuple[int, int]]:
        """Yield the features that a name at a place can mean, and what follows."""
        found = self.scanner.quoted(place)
        if found is not None and found[0] in self.domain.names:
            yield self.domain.names.index(found[0]), found[1]
        yield from self.scanner.known(place, self._names)

    def _between(self, place: int, *, is_name: bool) -> Iterator[Found]:
        """Yield conditions such as 25 ≤ age < 40."""
        for index in range(len(self.domain.features)):
            for low, stop in self._values.operands(index, place):
                first = self.scanner.sign(stop, _ORDER)
                if first is None:
                    continue
                for same, end in self.name(first[1]):
                    if same == index:
                        above = _TURNED[first[0]], low, place
                        yield from self._upper_end(index, above, end)
        if not is_name:
            self.refuse_name(place)

    def refuse_name(self, place: int) -> None:
        """Note that the text at a place is not the name of a feature."""
        known = ", ".join(quoted(name) for name in self.domain.names)
        word = self.scanner.shown(place)
        reason = f"there is no feature {word}; there are {known}"
        self.scanner.fail(place, reason if word else f"expected one of {known}")

    def _upper_end(
        self, index: int, above: tuple[str, Any, int], place: int
    ) -> Iterator[Found]:
        lower = self._values.compared(index, *above)
        if lower is None:
            return
        second = self.scanner.sign(place, _ORDER)
        if second is not None:
            for high, stop in self._values.operands(index, second[1]):
                upper = self._values.compared(index, second[0], high, second[1])
                if upper is not None:
                    yield index, common(lower, upper), stop
        yield index, lower, place

    def _tail(self, index: int, place: int) -> Iterator[tuple[Allowed, int]]:
        """Yield what may follow a name, and the place behind it."""
        feature, scan = self.domain.features[index], self.scanner
        number = scan.word(place, "is", "a", "number")
        if number is not None:
            yield plain_values(feature), number
        equal = scan.word(place, "is") or _behind(scan.sign(place, "="))
        other = _behind(scan.sign(place, "≠"))
        for start, is_equal in ((equal, True), (other, False)):
            if start is not None:
                for one, stop in self._values.value(index, start):
                    yield (one if is_equal else without(feature, one)), stop
        yield from self._listed(index, place)
        span = scan.word(place, "between")
        if span is not None:
            yield from self._span(index, span)
        sign = scan.sign(place, _ORDER)
        if sign is not None:
            yield from self._comparison(index, sign)
        is_listed = scan.word(place, "in") or scan.word(place, "all", "but")
        if (equal or other or span or sign or is_listed) is None:
            name = quoted(feature.name)
            scan.fail(place, f"expected =, ≠, ≤, ≥, <, >, in or is, behind {name}")

    def _span(self, index: int, place: int) -> Iterator[tuple[Allowed, int]]:
        """Yield what "between" allows."""
        for low, stop in self._values.operands(index, place):
            then = self.scanner.word(stop, "and")
            if then is None:
                self.scanner.fail(stop, "expected 'and'")
                continue
            for high, end in self._values.operands(index, then):
                above = self._values.compared(index, "≥", low, place)
                below = self._values.compared(index, "≤", high, then)
                if above is not None and below is not None:
                    yield common(above, below), end

    def _comparison(
        self, index: int, sign: tuple[str, int]
    ) -> Iterator[tuple[Allowed, int]]:
        operands = list(self._values.operands(index, sign[1]))
        if not operands:
            self._values.refuse(index, sign[1])
        for value, stop in operands:
            allowed = self._values.compared(index, sign[0], value, sign[1])
            if allowed is None:
                continue
            then = self.scanner.word(stop, "and")
            other = None if then is None else self.scanner.sign(then, _ORDER)
            if other is not None:
                for more, end in self._comparison(index, other):
                    yield common(allowed, more), end
            yield allowed, stop

    def _listed(self, index: int, place: int) -> Iterator[tuple[Allowed, int]]:
        """Yield what is in braces, or is not."""
        feature, scan = self.domain.features[index], self.scanner
        inside = scan.word(place, "in")
        outside = scan.word(place, "all", "but") or scan.word(place, "not", "in")
        start = inside if inside is not None else outside
        if start is None:
            return
        start = scan.skip(start)
        if not scan.text.startswith("{", start):
            scan.fail(start, "expected values in braces: {…, …}")
            return
        for allowed, stop in self._values.several(index, start + 1):
            yield (without(feature, allowed) if inside is None else allowed), stop


def _behind(found: tuple[str, int] | None) -> int | None:
    return None if found is None else found[1]


Said: TypeAlias = str | Mapping[str, Any] | Sequence[Condition] | None
"""Conditions in any form: text, a mapping from features to values, or `Condition`s."""


def conditions_for(domain: Domain, said: Said, what: str) -> tuple[Condition, ...]:
    """Return conditions, regardless of the form in which they are given.

    A mapping has for each feature a value, or its label, or a list of them; of a range
    of numbers a tuple (low, high) is all from one to the other.

    Parameters
    ----------
    what : str
        Named in messages.

    Examples
    --------
    >>> domain = Domain((Feature.real("age", 17, 90), Feature("job", ("a", "b", "c"))))
    >>> conditions_for(domain, {"age": (20, 30), "job": ["a", "c"]}, "within")
    (Condition(feature='age', values=((20, 30),)),
     Condition(feature='job', values=('a', 'c')))
    """
    if said is None:
        return ()
    if isinstance(said, str):
        return read_conditions(said, domain)
    if isinstance(said, Mapping):
        return tuple(
            allowed.condition(domain.features[index])
            for index, allowed in values_for(domain, said, what).items()
            if allowed != everything(domain.features[index])
        )
    listed: list[Any] = list(said) if isinstance(said, Sequence) else [None]
    if all(isinstance(condition, Condition) for condition in listed):
        boxes_of(domain, [tuple(listed)])
        return tuple(listed)
    raise OptionError(
        f"{what}: {said!r}, expected a text, or a dict from features to values"
    )


def values_for(
    domain: Domain, said: Mapping[str, Any], what: str
) -> dict[int, Allowed]:
    """Return the values that a mapping has for features, by their positions.

    Its entries are those of `conditions_for`.

    Examples
    --------
    >>> domain = Domain((Feature.real("age", 17, 90), Feature("job", ("a", "b", "c"))))
    >>> values_for(domain, {"job": "b", "age": (20, 30)}, "forbidden")
    {0: Allowed(spans=((20, 30),), codes=frozenset()),
     1: Allowed(spans=(), codes=frozenset({1}))}
    """
    found = [_said(domain, name, values, what) for name, values in said.items()]
    return dict(sorted(found, key=lambda each: each[0]))


def _said(domain: Domain, name: object, values: Any, what: str) -> tuple[int, Allowed]:
    if not isinstance(name, str):
        raise OptionError(f"{what}: {name!r} is not the name of a feature")
    feature, allowed = domain.feature(name), Allowed()
    is_span = isinstance(feature, Range) and isinstance(values, tuple)
    is_one = values is None or isinstance(values, str | int | float) or is_span
    is_one = is_one or not isinstance(values, Iterable)
    listed = [values] if is_one else list(values)
    for value in listed:
        allowed = union(feature, allowed, _one_said(domain, feature, value, what))
    if not allowed:
        raise OptionError(f"{what}: no value is listed for feature {name!r}")
    own = [value for value in listed if value not in (feature.labels or ())]
    refuse_parts(feature, own, what)
    return domain.index(name), allowed


def _one_said(domain: Domain, feature: Feature, value: Any, what: str) -> Allowed:
    if isinstance(feature, Range) and isinstance(value, tuple | list):
        ends = [end.item() if isinstance(end, np.generic) else end for end in value]
        if len(ends) != 2 or not all(is_number(end) for end in ends):
            raise OptionError(
                f"{what}: feature {feature.name!r} is {value!r}, expected two numbers, "
                f"(low, high)"
            )
        low, high = compared(feature, "≥", ends[0]), compared(feature, "≤", ends[1])
        both = common(low, high)
        if not both:
            first, last = feature.limits
            fact = "is reversed" if ends[0] > ends[1] else "has none of its numbers"
            raise OptionError(
                f"{what}: feature {feature.name!r} goes from {first} to {last}, and "
                f"{value!r} {fact}; expected (low, high)"
            )
        return both
    labels = feature.labels or ()
    if value not in feature.values and value in labels:
        return Allowed(codes=frozenset([labels.index(value)]))
    code = domain.code(feature.name, value)
    if code < feature.n_cells:
        number = Lookup(feature).number(value)
        return _one_number(feature, number)
    return Allowed(codes=frozenset([code]))


def _one_number(feature: Feature, number: float) -> Allowed:
    """Return the one number of a range."""
    return common(compared(feature, "≥", number), compared(feature, "≤", number))


def together(
    domain: Domain, *parts: Sequence[Condition]
) -> tuple[Condition, ...] | None:
    """Return conditions that say what several say together; None if none can hold.

    Examples
    --------
    >>> domain = Domain((Feature("size", (1, 2, 3)),))
    >>> one, other = (Condition("size", (1, 2)),), (Condition("size", (2, 3)),)
    >>> together(domain, one, other)
    (Condition(feature='size', values=(2,)),)
    """
    by_name: dict[str, Allowed] = {}
    for condition in (each for part in parts for each in part):
        name, feature = condition.feature, domain.feature(condition.feature)
        spans = [v for v in condition.values if isinstance(v, list | tuple)]
        listed = [v for v in condition.values if not isinstance(v, list | tuple)]
        allowed = Allowed(
            tuple(sorted((span[0], span[1]) for span in spans)),
            frozenset(feature.values.index(value) for value in listed),
        )
        by_name[name] = common(by_name[name], allowed) if name in by_name else allowed
        if not by_name[name]:
            return None
    return tuple(
        by_name[name].condition(domain.feature(name))
        for name in domain.names
        if name in by_name
    )
