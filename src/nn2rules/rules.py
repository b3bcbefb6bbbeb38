"""Rules, and lists of rules that answer every input.

`Rule` and `RuleList` are plain values. What a list prints and what it predicts come
from the same conditions, so the text cannot drift from the behaviour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import UNKNOWN, Domain, Rows, Value, value_of
from nn2rules.errors import DomainError, MissingExtraError, OptionError
from nn2rules.matching import NO_RULE, bit_rows, first_match
from nn2rules.network import labels_array
from nn2rules.text import allowed_text, condition_text, count, label_text, share

Unknown: TypeAlias = Literal["error", "default", "none"]
"""What to do with a row whose value is outside the domain."""

OUTSIDE = -2
"""What `RuleList.apply` gives a row outside the domain, if it may."""

_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Condition:
    """A feature and the values it may have."""

    feature: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """Conditions that must all hold, and the class that follows.

    Parameters
    ----------
    conditions : tuple of Condition
        In the order of the features; a feature without one is unrestricted.
    then : str, int, float or bool
        The class label.
    support : int, optional
        The number of rows of data that the rule decides.
    probability : (float, float), optional
        The smallest and largest probability of class 1 over the rule's inputs.
    """

    conditions: tuple[Condition, ...]
    then: Value
    support: int | None = None
    probability: tuple[float, float] | None = None


@dataclass(frozen=True)
class RuleList:
    """Rules tried in order, then a default.

    Parameters
    ----------
    domain : Domain
    rules : sequence of Rule
        The first one whose conditions hold answers.
    default : str, int, float or bool
        The class of every input that no rule decides. A field of its own and not
        "the last rule", so a list that leaves an input without answer cannot exist.
    classes : sequence of str, int, float or bool
    form : {"list", "set"}
        Whether the order of the rules matters.
    scope : {"domain", "support"}
        Whether the rules answer as the network does on every input of the domain,
        or were selected on rows of data.
    certificate : mapping
        What was proved, and how.

    Examples
    --------
    >>> from nn2rules import Condition, Domain, Feature, Rule, RuleList
    >>> domain = Domain((Feature("color", ("red", "yellow")),
    ...                  Feature("size", ("small", "medium", "big"))))
    >>> ripe = Rule((Condition("color", ("red",)),
    ...              Condition("size", ("medium", "big"))), "ripe")
    >>> rules = RuleList(domain, (ripe,), "unripe", ("unripe", "ripe"))
    >>> print(rules)
    1. if color = red and size in {medium, big} then ripe
       otherwise unripe
    >>> rules.predict([{"color": "red", "size": "big"},
    ...                {"color": "yellow", "size": "big"}])
    array(['ripe', 'unripe'], dtype='<U6')
    """

    domain: Domain
    rules: tuple[Rule, ...]
    default: Value
    classes: tuple[Value, ...]
    form: Literal["list", "set"] = "list"
    scope: Literal["domain", "support"] = "domain"
    certificate: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        classes = tuple(value_of(label) for label in self.classes)
        object.__setattr__(self, "classes", classes)
        for name, allowed in (("form", _FORMS), ("scope", _SCOPES)):
            if getattr(self, name) not in allowed:
                raise OptionError(
                    f"{name}: {getattr(self, name)!r}, expected {' or '.join(allowed)}"
                )
        self._check_label(self.default, "default")
        for index, rule in enumerate(self.rules):
            self._check_label(rule.then, f"rules[{index}].then")
        _ = self._boxes  # refuses conditions that do not fit the domain

    def _check_label(self, label: Value, place: str) -> None:
        if label is None:
            raise DomainError(f"{place}: a class label cannot be missing")
        if label not in self.classes:
            known = ", ".join(repr(known) for known in self.classes)
            raise DomainError(f"{place}: {label!r} is not a class; there are {known}")

    @cached_property
    def _boxes(self) -> list[list[tuple[int, ...] | None]]:
        """For each rule and feature the allowed codes, None for all."""
        codes = [{v: c for c, v in enumerate(f.values)} for f in self.domain.features]
        places = {name: index for index, name in enumerate(self.domain.names)}
        return [
            self._box(rule, f"rules[{index}]", places, codes)
            for index, rule in enumerate(self.rules)
        ]

    def _box(
        self,
        rule: Rule,
        place: str,
        places: Mapping[str, int],
        codes: Sequence[Mapping[Value, int]],
    ) -> list[tuple[int, ...] | None]:
        box: list[tuple[int, ...] | None] = [None] * len(places)
        for condition in rule.conditions:
            name, values = condition.feature, condition.values
            if name not in places:
                raise DomainError(f"{place}: there is no feature {name!r}")
            index = places[name]
            if box[index] is not None:
                raise DomainError(f"{place}: feature {name!r} has two conditions")
            if not values:
                raise DomainError(f"{place}: feature {name!r} allows no value")
            for value in values:
                if value not in codes[index]:
                    raise DomainError(
                        f"{place}: feature {name!r} has no value {value!r}"
                    )
            box[index] = tuple(codes[index][value] for value in values)
        return box

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        return bit_rows(self._boxes, self.domain.sizes)

    def __len__(self) -> int:
        return len(self.rules)

    def apply(self, rows: Rows, *, unknown: Unknown = "error") -> NDArray[np.int64]:
        """Return the index of the rule that decides each row, -1 for the default.

        Parameters
        ----------
        rows : frame, list of dicts, or array of codes
            See `Domain.encode`.
        unknown : {"error", "default", "none"}
            A row with a value outside the domain raises `UnknownValueError`, or is
            left to the default (-1), or gets no answer (-2).

        Notes
        -----
        See `nn2rules.matching` for the cost.
        """
        if unknown not in ("error", "default", "none"):
            raise OptionError(
                f"unknown: {unknown!r}, expected 'error', 'default' or 'none'"
            )
        mode = "error" if unknown == "error" else "mark"
        codes = self.domain.encode(rows, unknown=mode)
        outside = (codes == UNKNOWN).any(axis=1)
        result = np.full(len(codes), NO_RULE, dtype=np.int64)
        result[~outside] = self.match(codes[~outside])
        if unknown == "none":
            result[outside] = OUTSIDE
        return result

    def match(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what `apply` does, for codes that are known to lie in the domain."""
        return first_match(self._bits, codes, self.domain.offsets)

    def predict(self, rows: Rows, *, unknown: Unknown = "error") -> NDArray[Any]:
        """Return the class label of each row.

        Parameters
        ----------
        rows : frame, list of dicts, or array of codes
            See `Domain.encode`.
        unknown : {"error", "default", "none"}
            A row with a value outside the domain raises `UnknownValueError`, or gets
            the default class, or None.
        """
        fired = self.apply(rows, unknown=unknown)
        # Positions -1 (default) and -2 (no answer) count from the end.
        labels = (*(rule.then for rule in self.rules), None, self.default)
        if (fired == OUTSIDE).any():
            answers = labels_array(labels)
        else:
            index = {label: position for position, label in enumerate(self.classes)}
            order = [index.get(label, 0) for label in labels]
            answers = labels_array(self.classes)[order]
        return np.asarray(answers[fired])

    def support(self, rows: Rows) -> NDArray[np.int64]:
        """Return, for each rule, the number of rows that it decides."""
        fired = self.apply(rows)
        return np.bincount(fired[fired >= 0], minlength=len(self.rules))

    def sorted_by_support(self, rows: Rows) -> "RuleList":
        """Return the rules in descending order of their support, which they carry.

        Only for rules of which no two hold for the same input, or that all give the
        same class: the order of others is part of their meaning.
        """
        if len({rule.then for rule in self.rules}) > 1:
            raise OptionError("rules of several classes cannot be sorted by support")
        support = self.support(rows)
        order = np.argsort(-support, kind="stable")
        return replace(
            self,
            rules=tuple(
                replace(self.rules[index], support=int(support[index]))
                for index in order
            ),
        )

    def to_frame(
        self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas"
    ) -> Any:
        """Return a data frame with a row for each rule, and one for the default.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame; it must be installed.
        """
        table: dict[str, list[object]] = {"rule": list(range(len(self.rules)))}
        table["rule"].append(NO_RULE)
        for feature in self.domain.features:
            column = [_values_text(rule, feature.name, self) for rule in self.rules]
            table[feature.name] = [*column, ""]
        table["then"] = [*(rule.then for rule in self.rules), self.default]
        table["support"] = [*(rule.support for rule in self.rules), None]
        try:
            return nw.from_dict(table, backend=backend).to_native()
        except ModuleNotFoundError:
            raise MissingExtraError(backend, backend, "to_frame()") from None

    def text(self, top: int | None = None) -> str:
        """Return the rules as text: all of them, or the `top` first ones."""
        shown = self.rules if top is None else self.rules[:top]
        width = len(str(len(self.rules)))
        lines = [
            f"{index:>{width}}. {self.rule_text(rule)}"
            for index, rule in enumerate(shown, 1)
        ]
        left = len(self.rules) - len(shown)
        indent = " " * (width + 2) if self.rules else ""
        if left:
            lines.append(f"{indent}… and {count(left, 'more rule')}")
        lines.append(f"{indent}otherwise {label_text(self.default)}")
        return "\n".join((*self.warnings(), *lines))

    def warnings(self) -> list[str]:
        """Return what a reader must know before trusting the rules, if anything."""
        different = self.certificate.get("different")
        if not different:
            return []
        inputs = self.certificate["inputs"]
        return [
            f"APPROXIMATE ({self.certificate['method']}): not the network's answer on "
            f"{different:,} of {inputs:,} inputs ({share(different, inputs)})"
        ]

    def rule_text(self, rule: Rule) -> str:
        """Return one rule as text."""
        parts = [
            condition_text(self.domain.feature(c.feature), c.values)
            for c in rule.conditions
        ]
        support = "" if rule.support is None else f"  [{count(rule.support, 'row')}]"
        premise = " and ".join(parts) if parts else "anything"
        return f"if {premise} then {label_text(rule.then)}{support}"

    def __str__(self) -> str:
        return self.text(None if len(self.rules) <= _SHOWN else _SHOWN)

    def __repr__(self) -> str:
        rules = count(len(self.rules), "rule")
        return f"<RuleList: {rules}, otherwise {self.default!r}>"


_FORMS = ("list", "set")
_SCOPES = ("domain", "support")


def _values_text(rule: Rule, name: str, rules: RuleList) -> str:
    feature = rules.domain.feature(name)
    for condition in rule.conditions:
        if condition.feature == name:
            return allowed_text(feature, condition.values)
    return ""
