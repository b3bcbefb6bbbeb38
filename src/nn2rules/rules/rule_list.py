"""Rule lists and rule sets.

A `RuleList` is stored as boxes, and predicts from them. `rules` and the text are made
from the same boxes, so what is printed cannot differ from what is predicted.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nn2rules.errors import CertificateWarning, OptionError
from nn2rules.language import count
from nn2rules.network import checked_classes
from nn2rules.output import Backend, Document, frame_of, text_of
from nn2rules.rules.certificate import (
    certificate_of,
    digest_of,
    of_any,
    own_certificate,
)
from nn2rules.rules.description import Description, Predictions, Scope
from nn2rules.rules.facts import needs_no_default
from nn2rules.rules.first_rules import (
    curve_of,
    plot_of,
    sorted_by_support,
    taken,
    top_of,
)
from nn2rules.rules.frame import columns_of
from nn2rules.rules.matching import NO_RULE, bit_rows, first_match
from nn2rules.rules.names import names_of, position_of
from nn2rules.rules.page import Top, page_of, text_of_rule
from nn2rules.rules.predicting import (
    OUTSIDE,
    Unknown,
    check_unknown,
)
from nn2rules.rules.rule import FACTS, Facts, Rule
from nn2rules.rules.validation import (
    check_domain,
    check_label,
    checked_answers,
    checked_boxes,
    checked_facts,
    checked_rules,
)
from nn2rules.rules.volume import Volume, volume_of
from nn2rules.rules.wording import overfitting_warnings
from nn2rules.space import (
    UNKNOWN,
    Domain,
    Rows,
    Value,
    boxes_of,
    conditions_of,
    without_idle_edges,
)

Form: TypeAlias = Literal["list", "set"]

_WRONG_CERTIFICATE = (
    "the certificate does not belong to these rules: they were changed after it was "
    "made, or written by an older version; it is left out, with the facts about each "
    "rule"
)


class RuleList(Description):
    """Rules tried in order, then a default. Immutable.

    Parameters
    ----------
    domain : Domain
        Its ranges of numbers are cut where the rules need it, and nowhere else.
    rules : sequence of Rule
        The first one that covers an input determines its prediction.
    default : str, int, float or bool
        The class of every input that no rule covers. It is a separate field and not
        the last rule, so every list has one.
    classes : sequence of str, int, float or bool
    form : {"list", "set"}
        Whether the order of the rules matters. Each rule of a set holds on its own.
    scope : {"domain", "support"}
        Whether the rules, with the default, predict every input of the domain, or only
        the inputs that a rule covers.
    certificate : mapping
        What was proved, and how. It contains a digest of the rules; a certificate of
        other rules is left out, with a warning.

    Examples
    --------
    >>> from nn2rules import Condition, Domain, Feature, Rule, RuleList
    >>> domain = Domain((Feature("color", ("red", "yellow")),
    ...                  Feature("size", ("small", "medium", "big"))))
    >>> ripe = Rule((Condition("color", ("red",)),
    ...              Condition("size", ("medium", "big"))), "ripe")
    >>> rules = RuleList(domain, (ripe,), "unripe", ("unripe", "ripe"))
    >>> print(rules)
    1  ripe    if color = red · size ≠ small
       unripe  otherwise
    >>> rules.predict([{"color": "red", "size": "big"},
    ...                {"color": "yellow", "size": "big"}])
    array(['ripe', 'unripe'], dtype='<U6')
    """

    form: Form
    boxes: NDArray[np.bool_]
    """The values that each rule allows, of shape (n_rules, n_columns)."""
    answers: NDArray[np.int64]
    """The position of the class of each rule."""
    facts: tuple[Facts, ...]
    """What is known about each rule."""

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
        check_domain(domain)
        labels = checked_classes(classes)
        listed = checked_rules(rules, labels)
        domain, boxes = boxes_of(domain, [rule.conditions for rule in listed])
        self._fill(
            domain,
            boxes,
            [labels.index(rule.then) for rule in listed],
            default,
            labels,
            form=form,
            scope=scope,
            certificate=certificate,
            facts=tuple(
                Facts(**{name: getattr(rule, name) for name in FACTS})
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
        """Return a rule list made from boxes and the positions of their classes."""
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
        for name, value, listed in (("form", form, _FORMS), ("scope", scope, _SCOPES)):
            if value not in listed:
                raise OptionError(f"{name}: {value!r}, expected {' or '.join(listed)}")
        check_domain(domain)
        labels = checked_classes(classes)
        check_label(default, labels, "default")
        domain, frozen = without_idle_edges(domain, checked_boxes(domain, boxes))
        positions = checked_answers(answers, len(frozen), len(labels))
        frozen.flags.writeable = positions.flags.writeable = False
        self.__dict__.update(
            domain=domain,
            boxes=frozen,
            answers=positions,
            default=labels[labels.index(default)],
            classes=labels,
            form=form,
            scope=scope,
            facts=checked_facts(facts, len(frozen)),
        )
        valid = own_certificate(certificate, self.digest if certificate else "")
        if valid is None:
            warnings.warn(_WRONG_CERTIFICATE, CertificateWarning, stacklevel=3)
            del self.__dict__["digest"]
            self.__dict__["facts"] = checked_facts(None, len(frozen))
        self.__dict__["certificate"] = valid or {}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a RuleList is immutable; use replace()")

    def replace(self, **fields: Any) -> "RuleList":
        """Return a copy with some of its fields replaced.

        What was proved belongs to the rules that it was proved for. So the certificate
        is dropped when anything but `facts` is replaced, and the facts are dropped when
        the rules or their domain are, unless new ones are given.
        """
        current = {name: getattr(self, name) for name in _FIELDS}
        for name in fields:
            if name not in current:
                raise OptionError(f"a RuleList has no field {name!r} to replace")
        if fields.keys() & {"domain", "boxes", "answers", "classes"}:
            current["facts"] = None
        values = current | fields
        if not fields.keys() <= {"facts", "certificate"}:
            values["certificate"] = fields.get("certificate")
        elif values["certificate"]:
            values["certificate"] = of_any(values["certificate"], self.digest)
        return self.from_boxes(**values)

    @cached_property
    def digest(self) -> str:
        """The sha256 of everything the rules state; their certificate contains it."""
        return digest_of(self)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in order."""
        conditions = conditions_of(self.domain, self.boxes)
        return tuple(
            Rule(
                premise,
                self.classes[answer],
                **{fact: getattr(facts, fact) for fact in FACTS},
                name=name,
            )
            for premise, answer, facts, name in zip(
                conditions, self.answers.tolist(), self.facts, self.names, strict=True
            )
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each rule, wherever rules are printed or written.

        The rules of a list are numbered from 1. The name of a rule in a set is a letter
        for its class and a number, such as A1; the default class has the last letter.
        """
        return names_of(self)

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        return bit_rows(self.boxes)

    @property
    def is_two_sided(self) -> bool:
        """Whether this is a set with rules for every class, including the default.

        With scope "domain", the rules then cover every input, and the default none.
        """
        is_set = self.form == "set"
        return is_set and self.classes.index(self.default) in self.answers

    @property
    def is_everywhere(self) -> bool:
        """Whether every possible input is covered, as was proved."""
        return super().is_everywhere or needs_no_default(self)

    @cached_property
    def volume(self) -> Volume:
        """The share of the domain that rules cover, with numbers spread evenly.

        Inputs of ranges cannot be counted, but volume can be measured. It is exact, or
        two certain bounds where that would take too much work.
        """
        return volume_of(self)

    def __len__(self) -> int:
        return len(self.boxes)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, key: int | str) -> Rule:
        """Return a rule by its position, from 0, or by its name."""
        return self.rules[position_of(self, key) if isinstance(key, str) else key]

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
        """Return the index of the rule that determines each row, -1 for the default.

        Parameters
        ----------
        rows : frame, list of dicts, or one row as a dict
            See `Domain.encode`.
        unknown : {"error", "default", "none"}
            A row with a value outside the domain raises `UnknownValueError`, or is
            left to the default (-1), or gets no prediction (-2).

        Notes
        -----
        See `nn2rules.rules.matching` for the cost.
        """
        check_unknown(unknown)
        mode = "error" if unknown == "error" else "mark"
        codes = self.domain.encode(rows, unknown=mode)
        outside = (codes == UNKNOWN).any(axis=1)
        result = np.full(len(codes), NO_RULE, dtype=np.int64)
        result[~outside] = self.match(codes[~outside])
        if unknown == "none":
            result[outside] = OUTSIDE
        return result

    def match(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what `apply` does, for codes that are known to be in the domain."""
        return first_match(self._bits, codes, self.domain.offsets)

    def apply_codes(self, codes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return what `apply` does, for inputs given as codes; see `Domain.encode`."""
        return self.match(self.domain.checked_codes(codes))

    def predictions(
        self,
        codes: NDArray[np.int64],
        numbers: NDArray[np.float64] | None = None,  # noqa: ARG002
    ) -> Predictions:
        """Return the class of each input, and whether it is covered.

        Codes of ranges are cells between the edges of the rules, so numbers are not
        needed.
        """
        return self.predictions_by(self.match(codes))

    def predictions_by(self, fired: NDArray[np.int64]) -> Predictions:
        """Return the predictions of inputs that these rules determine; see `match`."""
        assert NO_RULE == -1, "the default is found at the end"
        classes = np.append(self.answers, self.classes.index(self.default))[fired]
        # With scope "domain" the default is a claim, with scope "support" it is none.
        return Predictions(classes, (fired != NO_RULE) | (self.scope == "domain"))

    def class_support(self) -> list[int] | None:
        """Return how many rows of data the rules of each class determine.

        None unless the support of all rules is known, and they cover all rows.
        """
        known, support = certificate_of(self), [facts.support for facts in self.facts]
        if known.rows_covered != known.rows or None in support:
            return None
        counts = np.bincount(self.answers, support, minlength=len(self.classes))  # type: ignore[arg-type]
        return [int(number) for number in counts]

    def support(self, rows: Rows) -> NDArray[np.int64]:
        """Return the number of rows that each rule determines."""
        fired = self.apply(rows)
        return np.bincount(fired[fired >= 0], minlength=len(self))

    def take(self, positions: Sequence[int] | NDArray[np.int64]) -> "RuleList":
        """Return the list of the rules at `positions`, in that order.

        It has no certificate. If these are the first rules of the list, they keep the
        facts about them, which depend only on the rules before them.
        """
        return taken(self, positions)

    def sorted_by_support(self, rows: Rows) -> "RuleList":
        """Return the rules in descending order of their support, with their support.

        Only for rules of one class, which predict the same in any order, so that the
        certificate stays valid. The order of other rules is part of their meaning.
        """
        return sorted_by_support(self, rows)

    def top(self, k: int) -> "RuleList":
        """Return the list of the first `k` rules, with the best default for the rest.

        Its certificate states on how many inputs of the domain it differs from this
        list, by an exact count. This needs a certificate, and the number of inputs that
        each rule determines, which `nn2rules.extract` provides. Rules of scope
        "support" stay exact and keep their default.
        """
        return top_of(self, k)

    def curve(
        self, rows: Rows, labels: Sequence[Value] | None = None
    ) -> dict[str, Any]:
        """Return what the first k rules achieve, for k from 0 to all.

        Parameters
        ----------
        rows : frame or list of dicts
        labels : sequence of class labels, optional
            The true class of each row.

        Returns
        -------
        dict of arrays of length n_rules + 1
            ``rules``, the number k; ``covered``, the share of rows that the first k
            cover; ``fidelity``, the share with the prediction of the whole list if all
            other rows get their most frequent class; ``accuracy``, the share then
            predicted as labelled, if labels are given. Rules of scope "support"
            claim nothing about rows that they do not cover, so for them there is
            neither, but ``accuracy_on_covered``, the share of covered rows that are
            predicted as labelled; NaN where none is covered.
        """
        return curve_of(self, rows, labels)

    def plot(self, axes: Any = None) -> Any:
        """Draw how many rows the first rules cover, and return the axes.

        Needs matplotlib, and rules with their support, as `nn2rules.extract` gives with
        data. Otherwise the share of inputs is drawn, if it is known.

        Parameters
        ----------
        axes : matplotlib axes, optional
            Where to draw; by default in a new figure.
        """
        return plot_of(self, axes)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each rule, and one for the default.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame; it must be installed.
        """
        return frame_of(lambda: columns_of(self), backend)

    def text(self, top: Top = "most", *, width: int = 80, verbose: bool = False) -> str:
        """Return the page that ``print(rules)`` shows.

        Parameters
        ----------
        top : "most", "all" or int
            Of a list, or of each class of a set: the first rules that determine 95% of
            what all of them determine, with a line on the rest, if there are more than
            20; or all; or this many.
        width : int
            Maximum width of a line; longer words are broken.
        verbose : bool
            Also show the share of inputs and the range of the network's probabilities.
        """
        return text_of(self.document(top, verbose=verbose), width)

    def document(self, top: Top = "most", *, verbose: bool = False) -> Document:
        """Return the page that text and notebooks show; see `text`."""
        return page_of(self, top, verbose=verbose)

    def warnings(self) -> list[str]:
        """Return what to know before trusting the rules, if anything."""
        return [*super().warnings(), *overfitting_warnings(self)]

    def rule_text(self, rule: Rule) -> str:
        """Return one rule as a sentence."""
        return text_of_rule(self, rule)

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
_FORMS = get_args(Form)
_SCOPES = ("domain", "support")
