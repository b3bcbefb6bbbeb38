"""Conditions in whichever form a user says them."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from nn2rules.boxes import Condition, boxes_of
from nn2rules.domain import Domain
from nn2rules.errors import OptionError
from nn2rules.feature import Feature, Lookup
from nn2rules.parsing.allowed import Allowed, common, compared, everything, union
from nn2rules.parsing.conditions import read_conditions
from nn2rules.parts import refuse_parts
from nn2rules.values import is_number

Said: TypeAlias = str | Mapping[str, Any] | Sequence[Condition] | None
"""Conditions in any form: text, a mapping from features to values, or `Condition`s."""


def conditions_for(domain: Domain, said: Said, what: str) -> tuple[Condition, ...]:
    """Return conditions, in whichever form they are said.

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
        found = [_said(domain, name, values, what) for name, values in said.items()]
        whole = {f.name: everything(f) for f in domain.features}
        order = {name: place for place, name in enumerate(domain.names)}
        return tuple(
            allowed.condition(domain.feature(name))
            for name, allowed in sorted(found, key=lambda each: order[each[0]])
            if allowed != whole[name]
        )
    listed: list[Any] = list(said) if isinstance(said, Sequence) else [None]
    if all(isinstance(condition, Condition) for condition in listed):
        boxes_of(domain, [tuple(listed)])
        return tuple(listed)
    raise OptionError(
        f"{what}: {said!r}, expected a text, or a dict from features to values"
    )


def _said(domain: Domain, name: object, values: Any, what: str) -> tuple[str, Allowed]:
    if not isinstance(name, str):
        raise OptionError(f"{what}: {name!r} is no name of a feature")
    feature, allowed = domain.feature(name), Allowed()
    is_span = feature.limits is not None and isinstance(values, tuple)
    is_one = values is None or isinstance(values, str | int | float) or is_span
    is_one = is_one or not isinstance(values, Sequence | set | frozenset)
    listed = [values] if is_one else list(values)
    for value in listed:
        allowed = union(feature, allowed, _one_said(domain, feature, value, what))
    if not allowed:
        raise OptionError(f"{what}: feature {name!r} allows no value")
    own = [value for value in listed if value not in (feature.labels or ())]
    refuse_parts(feature, own, what)
    return name, allowed


def _one_said(domain: Domain, feature: Feature, value: Any, what: str) -> Allowed:
    if feature.limits is not None and isinstance(value, tuple):
        if len(value) != 2 or not all(is_number(end) for end in value):
            raise OptionError(
                f"{what}: feature {feature.name!r} is {value!r}, expected two numbers, "
                f"(low, high)"
            )
        low, high = compared(feature, "≥", value[0]), compared(feature, "≤", value[1])
        return common(low, high)
    labels = feature.labels or ()
    if value not in feature.values and value in labels:
        return Allowed(codes=frozenset([labels.index(value)]))
    code = domain.code(feature.name, value)
    if feature.limits is not None and code < feature.n_plain:
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
    told: dict[str, Allowed] = {}
    for condition in (each for part in parts for each in part):
        name, feature = condition.feature, domain.feature(condition.feature)
        spans = [v for v in condition.values if isinstance(v, list | tuple)]
        listed = [v for v in condition.values if not isinstance(v, list | tuple)]
        allowed = Allowed(
            tuple(sorted((span[0], span[1]) for span in spans)),
            frozenset(feature.values.index(value) for value in listed),
        )
        told[name] = common(told[name], allowed) if name in told else allowed
        if not told[name]:
            return None
    return tuple(
        told[name].condition(domain.feature(name))
        for name in domain.names
        if name in told
    )
