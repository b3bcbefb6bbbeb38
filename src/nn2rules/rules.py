"""Rules, and lists of rules that answer every input.

A `RuleList` is kept as boxes, which is what predicts; `rules` and the text are made
from the same boxes, so what is printed cannot drift from the behaviour.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nn2rules.domain import UNKNOWN, Domain, Rows, Value, value_of
from nn2rules.errors import DomainError, MissingExtraError, OptionError
from nn2rules.matching import NO_RULE, bit_rows, first_match
from nn2rules.network import labels_array
from nn2rules.text import allowed_text, condition_text, count, label_text, share

Form: TypeAlias = Literal["list", "set"]
Scope: TypeAlias = Literal["domain", "support"]
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


class RuleList:
    """Rules tried in order, then a default. Immutable.

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
    1. if color = red and size ≠ small then ripe
       otherwise unripe
    >>> rules.predict([{"color": "red", "size": "big"},
    ...                {"color": "yellow", "size": "big"}])
    array(['ripe', 'unripe'], dtype='<U6')
    """

    domain: Domain
    classes: tuple[Value, ...]
    default: Value
    form: Form
    scope: Scope
    certificate: Mapping[str, Any]
    boxes: NDArray[np.bool_]
    """For each rule which values it allows, of shape (n_rules, n_columns)."""
    answers: NDArray[np.int64]
    """For each rule the position of its class."""
    supports: tuple[int | None, ...]
    probabilities: tuple[tuple[float, float] | None, ...]

    def __init__(
        self,
        domain: Domain,
        rules: Iterable[Rule],
        default: Value,
        classes: Sequence[Value],
        form: Form = "list",
        scope: Scope = "domain",
        certificate: Mapping[str, Any] | None = None,
    ) -> None:
        listed = tuple(rules)
        labels = tuple(value_of(label) for label in classes)
        for index, rule in enumerate(listed):
            _check_label(rule.then, labels, f"rules[{index}].then")
        self._fill(
            domain,
            _boxes(domain, listed),
            [labels.index(rule.then) for rule in listed],
            default,
            labels,
            form=form,
            scope=scope,
            certificate=certificate or {},
            supports=tuple(rule.support for rule in listed),
            probabilities=tuple(rule.probability for rule in listed),
        )

    @classmethod
    def from_boxes(
        cls,
        domain: Domain,
        boxes: NDArray[np.bool_],
        answers: ArrayLike,
        default: Value,
        classes: Sequence[Value],
        **fields: Any,
    ) -> "RuleList":
        """Make a rule list from boxes and the positions of their classes."""
        self = cls.__new__(cls)
        self._fill(domain, boxes, answers, default, classes, **fields)
        return self

    def _fill(
        self,
        domain: Domain,
        boxes: NDArray[np.bool_],
        answers: ArrayLike,
        default: Value,
        classes: Sequence[Value],
        *,
        form: Form = "list",
        scope: Scope = "domain",
        certificate: Mapping[str, Any] | None = None,
        supports: tuple[int | None, ...] | None = None,
        probabilities: tuple[tuple[float, float] | None, ...] | None = None,
    ) -> None:
        for name, value, known in (("form", form, _FORMS), ("scope", scope, _SCOPES)):
            if value not in known:
                raise OptionError(f"{name}: {value!r}, expected {' or '.join(known)}")
        _check_label(default, classes, "default")
        nothing = (None,) * len(boxes)
        frozen = np.array(boxes, dtype=np.bool_).reshape(-1, int(domain.offsets[-1]))
        frozen.flags.writeable = False
        self.__dict__.update(
            domain=domain,
            boxes=frozen,
            answers=np.array(answers, dtype=np.int64),
            default=default,
            classes=tuple(classes),
            form=form,
            scope=scope,
            certificate=dict(certificate or {}),
            supports=nothing if supports is None else supports,
            probabilities=nothing if probabilities is None else probabilities,
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a RuleList is immutable; use replace()")

    def replace(self, **fields: Any) -> "RuleList":
        """Return a copy with some of its fields replaced."""
        return self.from_boxes(**{n: getattr(self, n) for n in _FIELDS} | fields)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in order."""
        conditions = _conditions(self.domain, self.boxes)
        return tuple(
            Rule(found, self.classes[answer], support, probability)
            for found, answer, support, probability in zip(
                conditions,
                self.answers.tolist(),
                self.supports,
                self.probabilities,
                strict=True,
            )
        )

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        return bit_rows(self.boxes)

    def __len__(self) -> int:
        return len(self.boxes)

    def _key(self) -> tuple[object, ...]:
        return (
            self.domain,
            self.boxes.tobytes(),
            self.answers.tobytes(),
            self.default,
            self.classes,
            self.form,
            self.scope,
            self.supports,
            self.probabilities,
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RuleList)
            and self._key() == other._key()
            and self.certificate == other.certificate
        )

    def __hash__(self) -> int:
        return hash(self._key())

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
        nothing, default = len(self.classes), self.classes.index(self.default)
        positions = np.array([*self.answers.tolist(), nothing, default])[fired]
        if (fired == OUTSIDE).any():
            return np.asarray(labels_array((*self.classes, None))[positions])
        return np.asarray(labels_array(self.classes)[positions])

    def support(self, rows: Rows) -> NDArray[np.int64]:
        """Return, for each rule, the number of rows that it decides."""
        fired = self.apply(rows)
        return np.bincount(fired[fired >= 0], minlength=len(self))

    def take(self, positions: Sequence[int] | NDArray[np.int64]) -> "RuleList":
        """Return the list of the rules at `positions`, in that order."""
        return self.replace(
            boxes=self.boxes[positions],
            answers=self.answers[positions],
            supports=tuple(self.supports[index] for index in positions),
            probabilities=tuple(self.probabilities[index] for index in positions),
        )

    def sorted_by_support(self, rows: Rows) -> "RuleList":
        """Return the rules in descending order of their support, which they carry.

        Only for rules of one class: the order of others is part of their meaning.
        """
        if len(set(self.answers.tolist())) > 1:
            raise OptionError("rules of several classes cannot be sorted by support")
        support = self.support(rows)
        carried = self.replace(supports=tuple(map(int, support)))
        return carried.take(np.argsort(-support, kind="stable"))

    def to_frame(
        self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas"
    ) -> Any:
        """Return a data frame with a row for each rule, and one for the default.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame; it must be installed.
        """
        table: dict[str, list[object]] = {"rule": [*range(len(self)), NO_RULE]}
        for feature in self.domain.features:
            column = [
                next(
                    (
                        allowed_text(feature, condition.values)
                        for condition in rule.conditions
                        if condition.feature == feature.name
                    ),
                    "",
                )
                for rule in self.rules
            ]
            table[feature.name] = [*column, ""]
        table["then"] = [*(rule.then for rule in self.rules), self.default]
        table["support"] = [*self.supports, None]
        try:
            return nw.from_dict(table, backend=backend).to_native()
        except ModuleNotFoundError:
            raise MissingExtraError(backend, backend, "to_frame()") from None

    def text(self, top: int | None = None) -> str:
        """Return the rules as text: all of them, or the `top` first ones."""
        shown = len(self) if top is None else min(top, len(self))
        width = len(str(len(self)))
        lines = [
            f"{index:>{width}}. {self.rule_text(rule)}"
            for index, rule in enumerate(self.rules[:shown], 1)
        ]
        indent = " " * (width + 2) if len(self) else ""
        if shown < len(self):
            lines.append(f"{indent}… and {count(len(self) - shown, 'more rule')}")
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
        return self.text(None if len(self) <= _SHOWN else _SHOWN)

    def __repr__(self) -> str:
        return f"<RuleList: {count(len(self), 'rule')}, otherwise {self.default!r}>"


_FIELDS = (
    "domain",
    "boxes",
    "answers",
    "default",
    "classes",
    "form",
    "scope",
    "certificate",
    "supports",
    "probabilities",
)
_FORMS = ("list", "set")
_SCOPES = ("domain", "support")


def _check_label(label: Value, classes: Sequence[Value], place: str) -> None:
    if label is None:
        raise DomainError(f"{place}: a class label cannot be missing")
    if label not in classes:
        known = ", ".join(repr(known) for known in classes)
        raise DomainError(f"{place}: {label!r} is not a class; there are {known}")


def _boxes(domain: Domain, rules: Sequence[Rule]) -> NDArray[np.bool_]:
    """Return the boxes of rules, refusing conditions that do not fit the domain."""
    boxes = np.ones((len(rules), int(domain.offsets[-1])), dtype=np.bool_)
    for index, rule in enumerate(rules):
        place = f"rules[{index}]"
        names = [condition.feature for condition in rule.conditions]
        for condition in rule.conditions:
            name = condition.feature
            if name not in domain.names:
                raise DomainError(f"{place}: there is no feature {name!r}")
            if names.count(name) > 1:
                raise DomainError(f"{place}: feature {name!r} has two conditions")
            if not condition.values:
                raise DomainError(f"{place}: feature {name!r} allows no value")
            values, start = domain.feature(name).values, domain.offsets_of[name]
            boxes[index, start : start + len(values)] = False
            for value in condition.values:
                if value not in values:
                    raise DomainError(
                        f"{place}: feature {name!r} has no value {value!r}"
                    )
                boxes[index, start + values.index(value)] = True
    return boxes


def _conditions(
    domain: Domain, boxes: NDArray[np.bool_]
) -> list[tuple[Condition, ...]]:
    """Return the conditions of each box; a feature that allows everything has none."""
    found: list[list[Condition]] = [[] for _ in range(len(boxes))]
    for index, feature in enumerate(domain.features):
        block = boxes[:, domain.offsets[index] : domain.offsets[index + 1]]
        made: dict[bytes, Condition] = {}
        for number in np.flatnonzero(~block.all(axis=1)).tolist():
            key = block[number].tobytes()
            if key not in made:
                allowed = np.flatnonzero(block[number]).tolist()
                values = tuple(feature.values[code] for code in allowed)
                made[key] = Condition(feature.name, values)
            found[number].append(made[key])
    return [tuple(conditions) for conditions in found]
