"""Rules as a program that other engines can run: columns, tests, answers.

An exporter starts from a `Program` and looks at nothing else, so what an answer is, to
every cell that a column can hold, is decided here once:

1. A row with a cell off the domain gets what `unknown` says.
2. Otherwise the first rule whose tests all hold answers.
3. Otherwise, if the default is proved, that answers; rules of scope "support" claim
   nothing there, the row is *open*, and gets what `uncovered` says.

`Program` is what any description has: columns, classes, and what becomes of rows off
the domain. `RuleProgram` adds rules. Another description, such as a scorecard, is
another class beside it; see the package.
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
"""What a row gets that is off the domain, or open: nothing, the default, an error."""

DEFAULT = "default"
UNPROVED = "default (not proved)"
"""What the rule is called that answered where none did."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A class, and the name of the rule that says so; both None for no answer."""

    label: Value
    rule: str | None


NOTHING = Answer(None, None)


@dataclass(frozen=True, slots=True)
class Branch:
    """One rule: by the position of their columns, the cells it allows.

    Columns that it does not name may hold any known cell.
    """

    name: str
    label: Value
    tests: Mapping[int, Cells]
    closed: Mapping[int, Cells]
    """The same cells and no others; `tests` may hold cells off the domain, too."""


@dataclass(frozen=True, kw_only=True)
class Program(ABC):
    """A description of a network as other engines run it.

    Attributes
    ----------
    kind : str
        By which name formats say that they can write it; see `Format.writers`.
    columns : tuple of Column
    classes : tuple of values
        As the description has them.
    unknown : {"none", "default", "error"}
    outside : Answer or None
        What a row off the domain gets; None is an error.
    label_kind : {"text", "number", "truth"}
        What class labels are. Labels of several types are texts, unless they stay
        `mixed`.
    mixed : bool
        Whether labels of several types stay what they are.
    """

    kind: ClassVar[str]
    columns: tuple[Column, ...]
    classes: tuple[Value, ...]
    unknown: Policy
    outside: Answer | None
    label_kind: Kind
    mixed: bool = False

    @property
    @abstractmethod
    def about(self) -> tuple[tuple[str, str], ...]:
        """What every export says of itself, as pairs of a key and a sentence.

        Nothing of the user's is in it, no name and no value, so it can stand in a
        comment of any language; nor is there a date, so the same description gives the
        same export.
        """

    @property
    @abstractmethod
    def boxes(self) -> NDArray[np.bool_]:
        """Boxes of inputs that are worth a test vector each, such as those of rules."""

    @abstractmethod
    def decided(self, cells: Sequence[Value]) -> Answer | None:
        """Return the answer to known cells, one for each column."""

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

    def answer(self, row: Mapping[str, Value]) -> Answer | None:
        """Return the answer to a row whose cells are of the kinds of their columns.

        This is what every exported program does; None stands for an error.
        """
        assert self.columns, "only a program with columns answers"
        cells = [
            None if row[column.name] in column.gaps else row[column.name]
            for column in self.columns
        ]
        if not all(map(Column.knows, self.columns, cells)):
            return self.outside
        return self.decided(cells)


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
    otherwise : Answer or None
        What a row of the domain gets that no rule decides; None is an error.
    """

    kind: ClassVar[str] = "rules"
    rules: RuleList
    branches: tuple[Branch, ...]
    uncovered: Policy
    otherwise: Answer | None

    @cached_property
    def about(self) -> tuple[tuple[str, str], ...]:
        """What every export says of itself, as pairs of a key and a sentence.

        Examples
        --------
        >>> import nn2rules
        >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
        >>> for key, sentence in program_of(nn2rules.extract(network)).about[:4]:
        ...     print(f"{key}: {sentence}")
        rules: 1 rule, tried from the top
        scope: domain: every possible input
        proved: Proved for all 6 inputs
        off the domain: inputs with unknown values get no answer
        """
        rules = self.rules
        proof = proof_of(rules) or "nothing; nn2rules check compares with a model"
        is_open = rules.scope == "support"
        return (
            ("rules", f"{count(len(rules), 'rule')}, {order_text(rules)}"),
            ("scope", _SCOPES[rules.scope]),
            ("proved", proof),
            ("off the domain", f"inputs with unknown values {_ANSWERS[self.unknown]}"),
            ("open", _open_text(is_open, self.uncovered)),
            ("network", certificate_of(rules).network or "not known"),
            ("digest", rules.digest),
            ("made by", f"nn2rules {__version__}"),
        )

    @property
    def boxes(self) -> NDArray[np.bool_]:
        """The boxes of the rules, one for each branch."""
        return self.rules.boxes

    def decided(self, cells: Sequence[Value]) -> Answer | None:
        """Return the answer of the first rule whose tests all hold."""
        for branch in self.branches:
            if all(test.hold(cells[place]) for place, test in branch.tests.items()):
                return Answer(branch.label, branch.name)
        return self.otherwise


_SCOPES = {
    "domain": "domain: every possible input",
    "support": "support: rules made for rows of data",
}
_ANSWERS = {
    "none": "get no answer",
    "default": "get the default class, which is not proved there",
    "error": "are an error",
}


def _open_text(may_be: bool, policy: Policy) -> str:
    if not may_be:
        return "none: what no rule decides is the default"
    return f"inputs that no rule decides {_ANSWERS[policy]}"


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
        What a row gets with a value outside the domain, as in `RuleList.predict`.
    uncovered : {"none", "default", "error"}
        What a row gets that no rule of scope "support" decides.
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
    default = rules.default if mixed else _label(rules.default, kind)
    proved = Answer(default, DEFAULT)
    if rules.scope == "support":
        otherwise = answer_by(uncovered, Answer(default, UNPROVED))
    else:
        otherwise = proved
    return RuleProgram(
        rules=rules,
        columns=columns,
        classes=rules.classes,
        branches=_branches(rules, columns, None if mixed else kind) if typed else (),
        unknown=unknown,
        uncovered=uncovered,
        outside=answer_by(unknown, proved),
        otherwise=otherwise,
        label_kind=kind,
        mixed=mixed,
    )


def check_policy(name: str, policy: str) -> None:
    """Refuse what is none of the policies for rows without a rule."""
    if policy not in ("none", "default", "error"):
        raise OptionError(f"{name}: {policy!r}, expected 'none', 'default' or 'error'")


def refuse_errors(program: RuleProgram, engine: str) -> None:
    """Refuse a program that ends with an error, for an engine that has none."""
    for name, answer in (
        ("unknown", program.outside),
        ("uncovered", program.otherwise),
    ):
        if answer is None:
            raise OptionError(
                f"{name}: 'error', and {engine} cannot raise an error; take 'none' or "
                f"'default'"
            )


def answer_by(policy: Policy, default: Answer) -> Answer | None:
    """Return what rows get by a policy."""
    return {"none": NOTHING, "default": default, "error": None}[policy]


def kind_of_labels(classes: tuple[Value, ...]) -> Kind:
    """Return what class labels are; those of several types are texts."""
    if all(isinstance(label, bool) for label in classes):
        return "truth"
    return "number" if all(is_number(label) for label in classes) else "text"


def _label(label: Value, kind: Kind | None) -> Value:
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
        label = _label(rules.classes[rules.answers[index]], kind)
        branches.append(Branch(name, label, tests, closed))
    return tuple(branches)
