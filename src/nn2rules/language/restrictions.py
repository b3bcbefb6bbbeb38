"""The inputs that count: ``within=`` and ``impossible=``, as the user gives them.

`within` is conditions that must hold, `impossible` is what cannot occur: a list of
boxes, each a dict from features to values or a text, or a function of rows. Both are
read here, for every question in the same way.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError, OptionError
from nn2rules.language.parsing import conditions_for, together
from nn2rules.language.text import condition_text
from nn2rules.space import (
    Boxes,
    Condition,
    Domain,
    Inputs,
    Range,
    Value,
    boxes_of,
    inputs_in_boxes,
    inside,
    joined,
    no_boxes,
    parts_of,
)

IsImpossible: TypeAlias = Callable[[list[dict[str, Value]]], Any]
"""A function of rows that returns for each whether it is impossible."""

Impossible: TypeAlias = Sequence[Mapping[str, Any] | str] | IsImpossible
"""Inputs that cannot occur: boxes, each a dict from features to values or a text, or a
function of rows."""


@dataclass(frozen=True)
class Region:
    """The inputs that count.

    Attributes
    ----------
    domain : Domain
        Of the network.
    conditions : tuple of Condition
        That they meet.
    within : Boxes
        The same as boxes of the network's domain, no two of which have an input in
        common.
    impossible : Boxes
        What cannot occur.
    is_impossible : callable or None
        The same as a function of rows.
    """

    domain: Domain
    conditions: tuple[Condition, ...]
    within: Boxes
    impossible: Boxes
    is_impossible: IsImpossible | None = None

    @property
    def has_impossible(self) -> bool:
        """Whether something cannot occur."""
        return bool(len(self.impossible.allowed)) or self.is_impossible is not None

    def holds(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None
    ) -> NDArray[np.bool_]:
        """Tell which inputs count."""
        amounts = np.ones(codes.shape) if numbers is None else numbers
        counts = inside(self.domain, self.within, codes, amounts)
        counts &= ~inside(self.domain, self.impossible, codes, amounts)
        if self.is_impossible is not None and counts.any():
            places = np.flatnonzero(counts)
            rows = self.domain.decode(codes[places], amounts[places])
            counts[places[is_impossible_at(self.is_impossible, rows)]] = False
        return counts

    @property
    def listed(self) -> list[NDArray[np.int64]] | None:
        """The codes that each feature has here; None where one has a range of numbers.

        A region is then more than its codes.
        """
        allowed = self.within.allowed[0]
        ranged = self.domain.ranges[self.domain.ranges >= 0]
        if len(self.within.allowed) > 1 or allowed[ranged].any():
            return None
        blocks = np.split(allowed, self.domain.offsets[1:-1])
        return [np.flatnonzero(block) for block in blocks]

    def drawn(self, number: int) -> Inputs:
        """Draw inputs that meet the conditions, whether they can occur or not.

        Of each box as many; half of their numbers are ends of ranges.
        """
        rng = np.random.default_rng(0)
        return inputs_in_boxes(self.domain, self.within, number, rng)


def region_of(
    domain: Domain, conditions: Sequence[tuple[Condition, ...]], impossible: Any
) -> Region:
    """Return where several conditions hold together, without what cannot occur.

    Examples
    --------
    >>> from nn2rules.space import Feature
    >>> domain = Domain((Feature("size", ("S", "M", "L")), Feature("new", (0, 1))))
    >>> big = conditions_for(domain, "size = L", "within")
    >>> region = region_of(domain, [big], [{"new": 1}])
    >>> region.holds(np.array([[2, 0], [2, 1], [0, 0]]), None)
    array([ True, False, False])
    """
    found = together(domain, *conditions)
    if found is None:
        texts = [premise(domain, each) for each in conditions if each]
        raise OptionError(
            f"no input is left: these conditions exclude each other: {'; '.join(texts)}"
        )
    boxes, is_impossible = read_impossible(domain, impossible)
    return Region(domain, found, boxes_for(domain, found), boxes, is_impossible)


def boxes_for(domain: Domain, conditions: Sequence[Condition]) -> Boxes:
    """Return conditions as boxes of the network's domain, which are apart."""
    cut, boxes = boxes_of(domain, [tuple(conditions)])
    return parts_of(cut, boxes[0])


def premise(domain: Domain, conditions: Sequence[Condition]) -> str:
    """Return conditions as the text of a rule has them."""
    parts = [condition_text(domain.feature(c.feature), c.values) for c in conditions]
    return " and ".join(parts) if parts else "anything"


def read_impossible(
    domain: Domain, given: Any, *, function: bool = True, numbers: bool = True
) -> tuple[Boxes, IsImpossible | None]:
    """Read what cannot occur: as boxes, or as a function of rows.

    Parameters
    ----------
    domain : Domain
    given : list of dicts and texts, callable, or None
        Each dict is a box, from features to values; of a range of numbers a tuple
        (low, high) is all from one to the other. A text has conditions.
    function : bool
        Whether a function can be asked.
    numbers : bool
        Whether boxes may hold some of the numbers of a range.

    Examples
    --------
    >>> from nn2rules.space import Feature
    >>> domain = Domain((Feature("size", ("S", "M", "L")), Feature("new", (0, 1))))
    >>> boxes, _ = read_impossible(domain, [{"size": ["M", "L"]}, "new = 1"])
    >>> boxes.allowed.astype(int).tolist()
    [[0, 1, 1, 1, 1], [1, 1, 1, 0, 1]]
    """
    if given is None:
        return no_boxes(domain), None
    if function and callable(given):
        _refuse_joined_words(domain)
        return no_boxes(domain), given
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        forms = "a list of dicts or texts" + ", or a function of rows" * function
        raise OptionError(f"impossible: {forms}, not {given!r}")
    boxes = [_impossible_boxes(domain, each, numbers=numbers) for each in given]
    return joined(domain, boxes), None


def _impossible_boxes(domain: Domain, given: Any, *, numbers: bool) -> Boxes:
    """Read one entry: a dict, a text, or conditions."""
    entry = "impossible: each entry is a dict from features to values, or a text"
    if not isinstance(given, str | Mapping | tuple | list):
        raise OptionError(f"{entry}, not {given!r}")
    if not given:
        raise OptionError(f"{entry}; with {given!r} no input is left that can occur")
    if not numbers and isinstance(given, Mapping):
        _refuse_numbers(domain, given)
    try:
        conditions = conditions_for(domain, given, "impossible")
    except DomainError as error:
        raise OptionError(f"impossible: {error}") from None
    if not numbers:
        _refuse_numbers(domain, {each.feature: each.values for each in conditions})
    return boxes_for(domain, conditions)


def _refuse_numbers(domain: Domain, allowed: Mapping[str, Any]) -> None:
    """Refuse boxes that hold some of the numbers of a range."""
    for name, values in allowed.items():
        if name not in domain.names or not isinstance(domain.feature(name), Range):
            continue
        beside = domain.feature(name).beside
        is_one = isinstance(values, str) or not isinstance(values, Iterable)
        for value in [values] if is_one else values:
            if value not in beside:
                raise OptionError(
                    f"impossible: feature {name!r} is a range of numbers, of which a "
                    f"box here can hold only special values or missing, not {value!r}; "
                    f"put the numbers into bins to leave some out"
                )


def _refuse_joined_words(domain: Domain) -> None:
    """Refuse to ask a function about rows without the user's categories."""
    for feature in domain.features:
        if feature.joins_categories:
            raise OptionError(
                f"impossible: a function cannot be used, because feature "
                f"{feature.name!r} groups categories; give a list of dicts instead"
            )


def is_impossible_at(
    is_impossible: IsImpossible, rows: list[dict[str, Value]]
) -> NDArray[np.bool_]:
    """Return which rows are impossible by a function of the user."""
    impossible = np.asarray(is_impossible(rows))
    if impossible.shape != (len(rows),):
        raise OptionError(
            f"impossible: the function must give one answer for each of "
            f"{len(rows)} rows; it gave an array of shape {impossible.shape}"
        )
    return impossible.astype(np.bool_)
