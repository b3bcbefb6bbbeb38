"""Rules as a program that other engines can run: columns, tests, predictions.

An exporter starts from a `Program` and looks at nothing else, so the prediction for
every cell that a column can hold is defined here once:

1. A row with a cell outside the domain gets what `unknown` says.
2. Otherwise the first rule whose tests all match determines the prediction.
3. Otherwise the prediction is the default, if that is proved. Rules of scope "support"
   claim nothing there: the row is *not covered*, and gets what `uncovered` says.

`Program` is what any description has: columns, classes, and what becomes of rows
outside the domain. `RuleProgram` adds rules. Another description, such as a scorecard,
is another class beside it; see the package.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.export.cells import Cells, Kind
from nn2rules.export.columns import Column, column_of
from nn2rules.language import count
from nn2rules.rules import RuleList, certificate_of, order_text, proof_of
from nn2rules.space import Value, is_number
from nn2rules.version import __version__

Policy: TypeAlias = Literal["none", "default", "error"]
"""For a row outside the domain, or not covered: nothing, the default, an error."""

DEFAULT = "default"
UNPROVED = "default (not proved)"
"""The name of the rule, if no rule determined the prediction."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A class, and the name of the rule that determines it; None if there is none."""

    label: Value
    rule: str | None

    @property
    def beside(self) -> tuple[Value, ...]:
        """What an export gives beside the class."""
        return (self.rule,)


NO_PREDICTION = Prediction(None, None)


@dataclass(frozen=True, slots=True)
class Branch:
    """One rule: by the position of their columns, the cells it allows.

    Columns that are not in it may have any known cell.
    """

    name: str
    label: Value
    tests: Mapping[int, Cells]
    closed: Mapping[int, Cells]
    """The same cells and no others; `tests` may also match cells outside the domain."""


@dataclass(frozen=True, kw_only=True)
class Program(ABC):
    """A description of a network as other engines run it.

    Attributes
    ----------
    kind : str
        The key of formats that can write it; see `Format.writers`.
    columns : tuple of Column
    classes : tuple of values
        As the description has them.
    unknown : {"none", "default", "error"}
    outside : Prediction or None
        For a row outside the domain; None is an error.
    label_kind : {"text", "number", "truth"}
        What class labels are. Labels of several types are texts, unless they stay
        `mixed`.
    mixed : bool
        Whether labels of several types stay what they are.
    """

    kind: ClassVar[str]
    policies: ClassVar[Mapping[str, tuple[str, ...]]]
    """The options that may be "error", and what else they may be."""
    columns: tuple[Column, ...]
    classes: tuple[Value, ...]
    unknown: Policy
    outside: Prediction | None
    label_kind: Kind
    mixed: bool = False

    @property
    @abstractmethod
    def about(self) -> tuple[tuple[str, str], ...]:
        """Facts about the export, as pairs of a key and a sentence.

        They have no names and no values of the user, so they can be in a comment of any
        language; and no date, so the same description gives the same export.
        """

    @property
    @abstractmethod
    def errors(self) -> tuple[str, ...]:
        """Of `policies`, those by which some row is an error."""

    @property
    @abstractmethod
    def beside(self) -> tuple[str, ...]:
        """The names of what an export gives beside the class, such as the rule."""

    @property
    @abstractmethod
    def boxes(self) -> NDArray[np.bool_]:
        """Boxes of inputs that are worth a test vector each, such as those of rules."""

    @abstractmethod
    def predict_known(self, cells: Sequence[Value]) -> Prediction | None:
        """Return the prediction for known cells, one for each column."""

    @property
    def label_kinds(self) -> tuple[Kind, ...]:
        """The kinds that class labels are of: several only if they stay mixed."""
        if not self.mixed:
            return (self.label_kind,)
        return tuple(sorted({kind_of_labels((label,)) for label in self.classes}))

    @cached_property
    def offsets(self) -> list[int]:
        """Where the values of each column begin in a box, and the end of the last."""
        return [0, *accumulate(len(column.feature) for column in self.columns)]

    def cells_of(self, row: Mapping[str, Value]) -> list[Value]:
        """Return the cells of a row, one for each column; None if missing."""
        return [
            None if row[column.name] in column.gaps else row[column.name]
            for column in self.columns
        ]

    def predict(self, row: Mapping[str, Value]) -> Prediction | None:
        """Return the prediction for a row; its cells are of the kinds of their columns.

        Every exported program does the same; None means an error.
        """
        assert self.columns, "only a program with columns predicts"
        cells = self.cells_of(row)
        if not all(map(Column.knows, self.columns, cells)):
            return self.outside
        return self.predict_known(cells)


@dataclass(frozen=True, kw_only=True)
class RuleProgram(Program):
    """Rules as other engines run them.

    Attributes
    ----------
    rules : RuleList
        What the program was made from: for formats that show rules as they are.
    branches : tuple of Branch
        In the order in which they are tried; of a set, any order gives the same class.
    uncovered : {"none", "default", "error"}
    otherwise : Prediction or None
        For a row of the domain that no rule covers; None is an error.
    """

    kind: ClassVar[str] = "rules"
    policies: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "unknown": ("none", "default"),
        "uncovered": ("none", "default"),
    }
    rules: RuleList
    branches: tuple[Branch, ...]
    uncovered: Policy
    otherwise: Prediction | None

    @cached_property
    def about(self) -> tuple[tuple[str, str], ...]:
        """Facts about the export, as pairs of a key and a sentence.

        Examples
        --------
        >>> import nn2rules
        >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
        >>> for key, sentence in program_of(nn2rules.extract(network)).about[:4]:
        ...     print(f"{key}: {sentence}")
        rules: 1 rule, tried in order
        scope: domain: every possible input
        proved: Proved for all 6 inputs
        outside the domain: inputs with unknown values get no prediction
        """
        rules = self.rules
        proof = proof_of(rules) or "not yet; nn2rules check compares rules with a model"
        has_uncovered = rules.scope == "support"
        return (
            ("rules", f"{count(len(rules), 'rule')}, {order_text(rules)}"),
            ("scope", _SCOPES[rules.scope]),
            ("proved", proof),
            (
                "outside the domain",
                f"inputs with unknown values {POLICY_TEXTS[self.unknown]}",
            ),
            ("not covered", _uncovered_text(has_uncovered, self.uncovered)),
            ("network", certificate_of(rules).network or "not known"),
            ("digest", rules.digest),
            ("made by", f"nn2rules {__version__}"),
        )

    @property
    def errors(self) -> tuple[str, ...]:
        """Of `policies`, those by which some row is an error."""
        ends = {"unknown": self.outside, "uncovered": self.otherwise}
        return tuple(name for name, end in ends.items() if end is None)

    @property
    def beside(self) -> tuple[str, ...]:
        """The name of the rule."""
        return ("rule",)

    @property
    def boxes(self) -> NDArray[np.bool_]:
        """The boxes of the rules, one for each branch."""
        return self.rules.boxes

    def predict_known(self, cells: Sequence[Value]) -> Prediction | None:
        """Return the prediction of the first rule whose tests all match."""
        for branch in self.branches:
            if all(test.matches(cells[place]) for place, test in branch.tests.items()):
                return Prediction(branch.label, branch.name)
        return self.otherwise


_SCOPES = {
    "domain": "domain: every possible input",
    "support": "support: rules for the rows of data",
}
POLICY_TEXTS = {
    "none": "get no prediction",
    "default": "get the default class, which is not proved there",
    "error": "are an error",
}


def _uncovered_text(has_uncovered: bool, policy: Policy) -> str:
    if not has_uncovered:
        return "none; inputs that match no rule have the default class"
    return f"inputs that no rule covers {POLICY_TEXTS[policy]}"


def program_of(
    rules: RuleList,
    *,
    unknown: Policy = "none",
    uncovered: Policy = "none",
    typed: bool = True,
    mixed: bool = False,
) -> RuleProgram:
    """Return rules as a program.

    Parameters
    ----------
    rules : RuleList
    unknown : {"none", "default", "error"}
        For a row with a value outside the domain, as in `RuleList.predict`.
    uncovered : {"none", "default", "error"}
        For a row that no rule of scope "support" covers.
    typed : bool
        Whether columns have one type each, as those of other engines do. Without, the
        program has no columns and no branches, and only its rules can be shown.
    mixed : bool
        Whether class labels of several types stay what they are, where an engine can
        return values of any type; else they become texts.
    """
    check_policy("unknown", unknown)
    check_policy("uncovered", uncovered)
    features = rules.domain.features if typed else ()
    columns = tuple(column_of(feature) for feature in features)
    kind = kind_of_labels(rules.classes)
    default = rules.default if mixed else exported_label(rules.default, kind)
    proved = Prediction(default, DEFAULT)
    if rules.scope == "support":
        otherwise = prediction_by(uncovered, Prediction(default, UNPROVED))
    else:
        otherwise = proved
    return RuleProgram(
        rules=rules,
        columns=columns,
        classes=rules.classes,
        branches=_branches(rules, columns, None if mixed else kind) if typed else (),
        unknown=unknown,
        uncovered=uncovered,
        outside=prediction_by(unknown, proved),
        otherwise=otherwise,
        label_kind=kind,
        mixed=mixed,
    )


def check_policy(name: str, policy: str) -> None:
    """Refuse an unknown policy."""
    if policy not in ("none", "default", "error"):
        raise OptionError(f"{name}: {policy!r}, expected 'none', 'default' or 'error'")


def refuse_errors(program: Program, engine: str) -> None:
    """Refuse a program that may raise an error, for an engine that has none."""
    for name, others in program.policies.items():
        if name in program.errors:
            raise OptionError(
                f"{name}: 'error', but {engine} cannot raise an error; use "
                f"{' or '.join(map(repr, others))}"
            )


def prediction_by(policy: Policy, default: Prediction) -> Prediction | None:
    """Return the prediction that a policy gives to rows."""
    return {"none": NO_PREDICTION, "default": default, "error": None}[policy]


def kind_of_labels(classes: tuple[Value, ...]) -> Kind:
    """Return the kind of class labels; those of several types are texts."""
    if all(isinstance(label, bool) for label in classes):
        return "truth"
    return "number" if all(is_number(label) for label in classes) else "text"


def exported_label(label: Value, kind: Kind | None) -> Value:
    """Return a class label as an export of labels of a kind has it."""
    return str(label) if kind == "text" else label


def _branches(
    rules: RuleList, columns: tuple[Column, ...], kind: Kind | None
) -> tuple[Branch, ...]:
    offsets = rules.domain.offsets.tolist()
    made: dict[tuple[int, bytes], tuple[Cells, Cells]] = {}
    branches = []
    for index, name in enumerate(rules.names):
        tests, closed = {}, {}
        for place, column in enumerate(columns):
            allowed = rules.boxes[index, offsets[place] : offsets[place + 1]]
            if allowed.all():
                continue
            key = (place, allowed.tobytes())
            if key not in made:
                own = np.asarray(allowed)
                made[key] = (
                    column.cells(own, closed=False),
                    column.cells(own, closed=True),
                )
            tests[place], closed[place] = made[key]
        label = exported_label(rules.classes[rules.answers[index]], kind)
        branches.append(Branch(name, label, tests, closed))
    return tuple(branches)
