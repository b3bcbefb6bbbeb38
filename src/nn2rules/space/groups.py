"""Groups of categories: values of a feature that each hold several categories."""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain

from nn2rules.errors import DomainError
from nn2rules.space.values import Value, checked_values, text_of, value_of

Groups = tuple[tuple[Value, ...], ...]
"""The categories of each value, None for missing."""

_OTHER = "other"


def checked_groups(
    kind: str, groups: object, values: Sequence[Value], other: str | None
) -> Groups:
    """Return the categories of each value, none of them twice.

    Only the value for others may have none: it holds every category not listed.
    """
    found = listed_groups(kind, groups)
    if len(found) != len(values):
        raise DomainError(
            f"{kind} has {len(found)} groups, expected {len(values)}, one for each "
            f"value"
        )
    for value, group in zip(values, found, strict=True):
        if not group and (other is None or value != other):
            raise DomainError(f"{kind}: the group {value!r} has no words")
        if value is None and group != (None,):
            raise DomainError(
                f"{kind}: None names the group of missing alone, not that of "
                f"{', '.join(map(repr, group))}"
            )
    return found


def listed_groups(kind: str, groups: object) -> Groups:
    """Return groups as tuples of categories, all different and reading differently."""
    found = tuple(
        tuple(value_of(word) for word in _listed(kind, group))
        for group in _listed(kind, groups)
    )
    seen: set[Value] = set()
    for word in chain(*found):
        if word in seen:
            raise DomainError(f"{kind}: the word {word!r} is in its groups twice")
        seen.add(word)
    if seen:
        checked_values(f"{kind}, in its groups,", [*chain(*found)])
    return found


def _listed(kind: str, items: object) -> list[object]:
    is_sequence = isinstance(items, Iterable) and not isinstance(
        items, str | bytes | Mapping | Set
    )
    if not is_sequence:
        raise DomainError(
            f"{kind}: {items!r} among its groups, expected a list of lists of words"
        )
    return list(items)  # type: ignore[call-overload,no-any-return]


def group_names(groups: Groups, other: int | None) -> tuple[Value, ...]:
    """Return a value for each group: its only category, or all of them in one text.

    Examples
    --------
    >>> group_names((("a", "b"), ("c",), (None,), ()), 3)
    ('a, b', 'c', None, 'other')
    >>> group_names((("a", None), ("a, missing",)), 1)
    ('a, missing_', 'a, missing, other')
    """
    taken = {text_of(word) for word in chain(*groups)}
    names: list[Value] = []
    for index, group in enumerate(groups):
        if len(group) == 1 and index != other:
            names.append(group[0])
            continue
        texts = [*map(text_of, group), *([_OTHER] if index == other else [])]
        name = ", ".join(texts)
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return tuple(names)
