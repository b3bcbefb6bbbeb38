"""Rules as a program that other engines can run: columns, tests, answers.

All exporters start from a `Program`, and none looks at the rules themselves, so what
an answer is, to every cell that a column can hold, is decided here once:

1. A row with a cell off the domain gets what `unknown` says.
2. Otherwise the first rule whose tests all hold answers.
3. Otherwise, if the default is proved, that answers; rules of scope "support" claim
   nothing there, the row is *open*, and gets what `undecided` says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from nn2rules.errors import OptionError
from nn2rules.export.cells import Cells, Kind
from nn2rules.export.columns import Column, column_of
from nn2rules.rules import RuleList
from nn2rules.space import Value, is_number

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


@dataclass(frozen=True)
class Program:
    """Rules as other engines run them.

    Attributes
    ----------
    rules : RuleList
        What the program was made from.
    columns : tuple of Column
    branches : tuple of Branch
        In the order in which they are tried; of a set, any order gives the same class.
    outside : Answer or None
        What a row off the domain gets; None is an error.
    otherwise : Answer or None
        What a row of the domain gets that no rule decides; None is an error.
    label_kind : {"text", "number", "truth"}
        What class labels are. Labels of several types are texts, unless they stay
        `mixed`.
    mixed : bool
        Whether labels of several types stay what they are.
    """

    rules: RuleList
    columns: tuple[Column, ...]
    branches: tuple[Branch, ...]
    unknown: Policy
    undecided: Policy
    outside: Answer | None
    otherwise: Answer | None
    label_kind: Kind
    mixed: bool = False

    @property
    def label_kinds(self) -> tuple[Kind, ...]:
        """The kinds that class labels are of: several only if they stay mixed."""
        if not self.mixed:
            return (self.label_kind,)
        return tuple(sorted({_label_kind((c,)) for c in self.rules.classes}))

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
        for branch in self.branches:
            if all(test.hold(cells[place]) for place, test in branch.tests.items()):
                return Answer(branch.label, branch.name)
        return self.otherwise


def program_of(
    rules: RuleList,
    *,
    unknown: Policy = "none",
    undecided: Policy = "none",
    typed: bool = True,
    mixed: bool = False,
) -> Program:
    """Return rules as a program.

    Parameters
    ----------
    rules : RuleList
    unknown : {"none", "default", "error"}
        What a row gets with a value outside the domain, as in `RuleList.predict`.
    undecided : {"none", "default", "error"}
        What a row gets that no rule of scope "support" decides.
    typed : bool
        Whether columns have one type each, as those of other engines do. Without, the
        program has no columns and no branches, and only its rules can be shown.
    mixed : bool
        Whether class labels of several types stay what they are, where an engine can
        return values of any type; else they become texts.
    """
    for name, policy in (("unknown", unknown), ("undecided", undecided)):
        if policy not in ("none", "default", "error"):
            raise OptionError(
                f"{name}: {policy!r}, expected 'none', 'default' or 'error'"
            )
    features = rules.domain.features if typed else ()
    columns = tuple(column_of(feature) for feature in features)
    kind = _label_kind(rules.classes)
    default = rules.default if mixed else _label(rules.default, kind)
    proved = Answer(default, DEFAULT)
    if rules.scope == "support":
        otherwise = _policy(undecided, Answer(default, UNPROVED))
    else:
        otherwise = proved
    return Program(
        rules=rules,
        columns=columns,
        branches=_branches(rules, columns, None if mixed else kind) if typed else (),
        unknown=unknown,
        undecided=undecided,
        outside=_policy(unknown, proved),
        otherwise=otherwise,
        label_kind=kind,
        mixed=mixed,
    )


def _policy(policy: Policy, default: Answer) -> Answer | None:
    return {"none": NOTHING, "default": default, "error": None}[policy]


def _label_kind(classes: tuple[Value, ...]) -> Kind:
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
