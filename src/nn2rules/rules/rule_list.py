"""Rules, and lists of rules that answer every input.

A `RuleList` is kept as boxes, which is what predicts; `rules` and the text are made
from the same boxes, so what is printed cannot drift from the behaviour.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nn2rules.boxes import boxes_of, conditions_of
from nn2rules.domain import Domain, Rows
from nn2rules.errors import DomainError, OptionError
from nn2rules.feature import UNKNOWN
from nn2rules.matching import NO_RULE, bit_rows, first_match
from nn2rules.network import checked_classes, labels_array
from nn2rules.rules.curve import curve_of
from nn2rules.rules.frame import frame_of
from nn2rules.rules.printing import text_of_rule, text_of_rules, warnings_of
from nn2rules.rules.rule import Facts, Rule
from nn2rules.text import (
    count,
)
from nn2rules.values import Value

Form: TypeAlias = Literal["list", "set"]
Scope: TypeAlias = Literal["domain", "support"]
Unknown: TypeAlias = Literal["error", "default", "none"]
"""What to do with a row whose value is outside the domain."""

OUTSIDE = -2
"""What `RuleList.apply` gives a row outside the domain, if it may."""

_SHOWN = 100


_NOTHING = Facts()


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
    facts: tuple[Facts, ...]
    """For each rule what is known of it."""

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
        labels = checked_classes(classes)
        for index, rule in enumerate(listed):
            _check_label(rule.then, labels, f"rules[{index}].then")
        self._fill(
            domain,
            boxes_of(domain, [rule.conditions for rule in listed]),
            [labels.index(rule.then) for rule in listed],
            default,
            labels,
            form=form,
            scope=scope,
            certificate=certificate or {},
            facts=tuple(
                Facts(rule.support, rule.inputs, rule.probability, rule.accuracy)
                for rule in listed
            ),
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
        facts: Sequence[Facts] | None = None,
    ) -> None:
        for name, value, known in (("form", form, _FORMS), ("scope", scope, _SCOPES)):
            if value not in known:
                raise OptionError(f"{name}: {value!r}, expected {' or '.join(known)}")
        _check_label(default, classes, "default")
        frozen = np.array(boxes, dtype=np.bool_).reshape(-1, int(domain.offsets[-1]))
        positions = np.array(answers, dtype=np.int64)
        frozen.flags.writeable = positions.flags.writeable = False
        self.__dict__.update(
            domain=domain,
            boxes=frozen,
            answers=positions,
            default=default,
            classes=tuple(classes),
            form=form,
            scope=scope,
            certificate=dict(certificate or {}),
            facts=(_NOTHING,) * len(boxes) if facts is None else tuple(facts),
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a RuleList is immutable; use replace()")

    def replace(self, **fields: Any) -> "RuleList":
        """Return a copy with some of its fields replaced."""
        return self.from_boxes(**{n: getattr(self, n) for n in _FIELDS} | fields)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in order."""
        conditions = conditions_of(self.domain, self.boxes)
        return tuple(
            Rule(
                found,
                self.classes[answer],
                facts.support,
                facts.inputs,
                facts.probability,
                facts.accuracy,
            )
            for found, answer, facts in zip(
                conditions, self.answers.tolist(), self.facts, strict=True
            )
        )

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        return bit_rows(self.boxes)

    @property
    def n_possible(self) -> int:
        """The number of inputs that can occur."""
        return int(self.certificate.get("possible", self.domain.n_inputs))

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
            self.facts,
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
            facts=[self.facts[index] for index in positions],
        )

    def sorted_by_support(self, rows: Rows) -> "RuleList":
        """Return the rules in descending order of their support, which they carry.

        Only for rules of one class: the order of others is part of their meaning.
        """
        if len(set(self.answers.tolist())) > 1:
            raise OptionError("rules of several classes cannot be sorted by support")
        support = self.support(rows)
        facts = [
            replace(known, support=int(number))
            for known, number in zip(self.facts, support, strict=True)
        ]
        return self.replace(facts=facts).take(np.argsort(-support, kind="stable"))

    def positions(self, labels: Sequence[Value], n_rows: int) -> NDArray[np.int64]:
        """Return the positions of the classes that `labels`, one a row, name.

        The text of a CSV file finds the class that it spells.
        """
        known: dict[Any, int] = {str(c): i for i, c in enumerate(self.classes)}
        known |= {label: index for index, label in enumerate(self.classes)}
        if len(labels) != n_rows:
            raise OptionError(
                f"{len(labels)} labels for {n_rows} rows, expected one for each"
            )
        for label in labels:
            if label not in known and str(label) not in known:
                classes = ", ".join(str(label) for label in self.classes)
                raise OptionError(
                    f"the label {label!r} is not a class; the classes are {classes}"
                )
        return np.array(
            [known.get(label, known.get(str(label), -1)) for label in labels],
            dtype=np.int64,
        )

    def counted_on(self, rows: Rows) -> "RuleList":
        """Return rules of scope "support" whose certificate says how much they decide.

        Of the given rows and, where the rules carry the inputs they decide, of inputs.
        """
        fired = self.apply(rows)
        certificate = {**self.certificate, "rows": len(fired)}
        certificate["rows_decided"] = int((fired != NO_RULE).sum())
        decided = [facts.inputs for facts in self.facts]
        if None not in decided:
            certificate["undecided"] = self.n_possible - sum(decided)  # type: ignore[arg-type]
        return self.replace(certificate=certificate)

    def top(self, k: int) -> "RuleList":
        """Return the list of the first `k` rules, with the best default for the rest.

        Its certificate says on how many inputs of the domain it differs from this
        list, by exact count. Needs rules that carry the number of inputs they decide,
        as those of `nn2rules.extract` do.
        """
        if k < 0:
            raise OptionError(f"top: {k} rules, expected 0 or more")
        if k >= len(self):
            return self
        if self.certificate.get("different"):
            raise OptionError("these rules are cut short already; cut the exact list")
        decided = [facts.inputs for facts in self.facts]
        total = self.n_possible
        if None in decided or self.scope == "support":
            raise OptionError(
                "only rules for the whole domain that carry the number of inputs they "
                "decide can be cut short; those found by search carry none"
            )
        left = np.zeros(len(self.classes), dtype=object)
        for answer, number in zip(self.answers[k:], decided[k:], strict=True):
            left[answer] += number
        left[self.classes.index(self.default)] += total - sum(decided)  # type: ignore[arg-type]
        default = int(np.argmax(left))
        different = int(left.sum() - left[default])
        return self.take(range(k)).replace(
            default=self.classes[default],
            certificate={
                **{k: v for k, v in self.certificate.items() if k != "fewest_rules"},
                "method": f"the first {k:,} of {len(self):,} rules",
                "different": self.certificate.get("different", 0) + different,
            },
        )

    def curve(
        self, rows: Rows, labels: Sequence[Value] | None = None
    ) -> dict[str, Any]:
        """Return what the first k rules achieve, for k from 0 to all.

        Parameters
        ----------
        rows : frame, list of dicts, or array of codes
        labels : sequence of class labels, optional
            The true class of each row.

        Returns
        -------
        dict of arrays of length n_rules + 1
            ``rules``, the number k; ``decided``, the share of rows that the first k
            decide; ``fidelity``, the share answered as the whole list does when all
            others get the class that most of them have; ``accuracy``, the share
            answered as labelled then, if labels are given.
        """
        return curve_of(self, rows, labels)

    def to_frame(
        self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas"
    ) -> Any:
        """Return a data frame with a row for each rule, and one for the default.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame; it must be installed.
        """
        return frame_of(self, backend)

    def text(self, top: int | None = None) -> str:
        """Return the rules as text: all of them, or the `top` first ones."""
        return text_of_rules(self, top)

    def warnings(self) -> list[str]:
        """Return what a reader must know before trusting the rules, if anything."""
        return warnings_of(self)

    def rule_text(self, rule: Rule) -> str:
        """Return one rule as text."""
        return text_of_rule(self, rule)

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
    "facts",
)
_FORMS = ("list", "set")
_SCOPES = ("domain", "support")


def _check_label(label: Value, classes: Sequence[Value], place: str) -> None:
    if label is None:
        raise DomainError(f"{place}: a class label cannot be missing")
    if label not in classes:
        known = ", ".join(repr(known) for known in classes)
        raise DomainError(f"{place}: {label!r} is not a class; there are {known}")
