"""Checks of what a rule list is made from, with one-sentence errors."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nn2rules.errors import DomainError, OptionError
from nn2rules.rules.rule import FACTS, Facts, Rule
from nn2rules.space import Domain, Value, is_number

_NOTHING = Facts()
_COUNTS = ("support", "inputs", "covered", "covered_agree")


def check_domain(domain: object) -> None:
    """Refuse anything but a domain."""
    if not isinstance(domain, Domain):
        raise OptionError(f"domain: a {type(domain).__name__}, expected a Domain")


def check_label(label: Value, classes: Sequence[Value], place: str) -> None:
    """Refuse a label that is not a class."""
    if label is None:
        raise DomainError(f"{place}: a class label cannot be missing")
    if label not in classes:
        listed = ", ".join(map(repr, classes))
        raise DomainError(f"{place}: {label!r} is not a class; there are {listed}")


def checked_rules(rules: Iterable[Rule], classes: Sequence[Value]) -> tuple[Rule, ...]:
    """Return the rules, after checking their classes."""
    try:
        listed = tuple(rules)
    except TypeError:
        raise OptionError(
            f"rules: a {type(rules).__name__}, expected a sequence of Rule"
        ) from None
    for index, rule in enumerate(listed):
        if not isinstance(rule, Rule):
            raise OptionError(f"rules[{index}]: {rule!r}, expected a Rule")
        check_label(rule.then, classes, f"rules[{index}].then")
    return listed


def checked_boxes(domain: Domain, boxes: ArrayLike) -> NDArray[np.bool_]:
    """Return boxes as a new array of shape (n_rules, n_columns)."""
    n_columns = int(domain.offsets[-1])
    try:
        return np.array(boxes, dtype=np.bool_).reshape(-1, n_columns)
    except (TypeError, ValueError):
        raise OptionError(
            f"boxes: expected {n_columns} true or false for each rule, one for each "
            f"value of the features"
        ) from None


def checked_answers(
    answers: ArrayLike, n_rules: int, n_classes: int
) -> NDArray[np.int64]:
    """Return the positions of the classes of rules as a new array."""
    try:
        positions = np.array(answers, dtype=np.int64)
    except (TypeError, ValueError):
        positions = np.full((0, 0), -1)
    inside = (positions >= 0) & (positions < n_classes)
    if positions.shape != (n_rules,) or not inside.all():
        raise OptionError(
            f"answers: expected for each of {n_rules} rules the position of its class, "
            f"0 to {n_classes - 1}"
        )
    return positions


def checked_facts(facts: Iterable[Facts] | None, n_rules: int) -> tuple[Facts, ...]:
    """Return the facts about each rule, in plain numbers; none if not given."""
    if facts is None:
        return (_NOTHING,) * n_rules
    listed = tuple(_checked(entry, index) for index, entry in enumerate(facts))
    if len(listed) != n_rules:
        raise OptionError(f"facts: {len(listed)} for {n_rules} rules, expected as many")
    return listed


def _checked(facts: Facts, index: int) -> Facts:
    if facts is _NOTHING:
        return facts
    if not isinstance(facts, Facts):
        raise OptionError(f"facts[{index}]: {facts!r}, expected Facts")
    values = {name: _plain(getattr(facts, name)) for name in FACTS}
    for name in _COUNTS:
        number = values[name]
        is_whole = isinstance(number, int) and not isinstance(number, bool)
        if number is not None and not (is_whole and number >= 0):
            raise OptionError(
                f"rules[{index}].{name}: {number!r}, expected a whole number from 0 on"
            )
    accuracy, probability = values["accuracy"], values["probability"]
    if accuracy is not None and not _is_share(accuracy):
        raise OptionError(
            f"rules[{index}].accuracy: {accuracy!r}, expected a number from 0 to 1"
        )
    if probability is not None and not _is_range(probability):
        raise OptionError(
            f"rules[{index}].probability: {probability!r}, expected two numbers "
            f"0 ≤ low ≤ high ≤ 1"
        )
    if (values["covered_agree"] or 0) > (values["covered"] or 0):
        raise OptionError(
            f"rules[{index}].covered_agree: {values['covered_agree']}, expected at "
            f"most as many as covered, {values['covered']}"
        )
    unless = values["unless"]
    if unless is not None and not _is_above(unless, index):
        raise OptionError(
            f"rules[{index}].unless: {unless!r}, expected the numbers of rules above "
            f"it, from 1 to {index}, in order"
        )
    return Facts(**values)


def _plain(number: Any) -> Any:
    """Return numpy numbers, or pairs of them, as Python numbers."""
    if isinstance(number, list | tuple):
        return tuple(map(_plain, number))
    return number.item() if isinstance(number, np.generic) else number


def _is_above(unless: object, index: int) -> bool:
    if not isinstance(unless, tuple):
        return False
    is_whole = all(type(n) is int and 1 <= n <= index for n in unless)
    return is_whole and list(unless) == sorted(set(unless))


def _is_share(number: object) -> bool:
    return is_number(number) and 0 <= number <= 1  # type: ignore[operator]


def _is_range(ends: object) -> bool:
    is_pair = isinstance(ends, tuple) and len(ends) == 2 and all(map(_is_share, ends))
    return is_pair and ends[0] <= ends[1]  # type: ignore[index]
