"""The options of `extract` as values that check themselves.

`RuleOptions` are about the rules, `Length` is about their number, `Limits` about effort
and time, and `Files` about the files written on the way. A `Request` is all of them.
They are checked before any work begins, so that a mistake costs no time.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from nn2rules.engine import Budget, Meter, Progress
from nn2rules.errors import OptionError
from nn2rules.files import check_writable
from nn2rules.language import Impossible
from nn2rules.models import needs_rows
from nn2rules.rules import RuleList
from nn2rules.space import Rows, Value, listed_rows

RulesForm: TypeAlias = Literal["list", "set", "paper"]
Form: TypeAlias = Literal["rules", RulesForm, "scorecard"]
Scope: TypeAlias = Literal["domain", "support"]
Engine: TypeAlias = Literal["auto", "table", "search", "paper"]

FORMS = get_args(RulesForm)
"""The forms of rules."""

SCOPES = get_args(Scope)
"""What rules must cover: every input, or the rows of the data."""

ENGINES = get_args(Engine)
"""A table of all inputs, a search, or the paper's own algorithm.

"auto" is a table if that is small enough, and otherwise a search.
"""

APPROXIMATIONS = ("soft-binary",)
"""How the paper's algorithm treats units that it cannot represent."""


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """The kind of rules to extract.

    Attributes
    ----------
    form : {"list", "set", "paper"} or None
        None chooses by scope. The engine "paper" makes the form "paper" only, and a
        target requires a set.
    engine, target, order, approximate
        As in `extract`.
    scope : {"domain", "support"} or None
        None chooses by the size of the domain.
    """

    form: RulesForm | None = None
    scope: Scope | None = None
    engine: Engine = "auto"
    target: Value = None
    order: Sequence[str] | None = None
    approximate: str | None = None

    def __post_init__(self) -> None:
        if self.form is None and self.engine == "paper":
            object.__setattr__(self, "form", "paper")
        if self.form is None and self.target is not None:
            object.__setattr__(self, "form", "set")
        for name, allowed in (("form", FORMS), ("engine", ENGINES), ("scope", SCOPES)):
            value = getattr(self, name)
            if value not in allowed and not (name != "engine" and value is None):
                raise OptionError(f"{name}: {value!r}, expected {' or '.join(allowed)}")
        if self.engine == "paper" and self.form != "paper":
            raise OptionError(
                f"the engine 'paper' makes the form 'paper', not {self.form!r}"
            )
        if self.target is not None and self.form == "list":
            raise OptionError("a target is for sets, and for networks with two classes")
        self._check_paper()

    def _check_paper(self) -> None:
        """Refuse options that the form "paper" does not have, or that only it has."""
        if self.approximate is not None and self.engine != "paper":
            raise OptionError(
                f"approximate={self.approximate!r} is an option of the engine 'paper'"
            )
        if self.approximate not in (None, *APPROXIMATIONS):
            allowed = " or ".join(map(repr, APPROXIMATIONS))
            raise OptionError(f"approximate: {self.approximate!r}, expected {allowed}")
        if self.form == "paper":
            refuse_for_paper(target=self.target)
        elif self.order is not None:
            raise OptionError("order is an option of the form 'paper'")


@dataclass(frozen=True, slots=True)
class Length:
    """The number of rules: at most this many, or enough for a fidelity."""

    max_rules: int | None = None
    fidelity: float | None = None

    def __post_init__(self) -> None:
        number, share = self.max_rules, self.fidelity
        if number is not None:
            if not _is_whole(number) or number < 0:
                raise OptionError(f"max_rules: {number!r}, expected 0 or more")
            object.__setattr__(self, "max_rules", int(number))
        if share is not None:
            if not isinstance(share, Real) or isinstance(share, bool):
                raise OptionError(f"fidelity: {share!r}, expected a number, 0 to 1")
            if not 0 <= share <= 1:
                raise OptionError(f"fidelity: {share}, expected 0 to 1")
            object.__setattr__(self, "fidelity", float(share))


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the effort and the time spent.

    Attributes
    ----------
    effort, seed, n_jobs
        How much work to do, the random seed, and the number of threads.
    budget : Budget or None
        Limits that raise an error.
    time : float or None
        A time limit in seconds, after which the result so far is returned.
    progress : callable or None
        Progress callback.
    """

    effort: int = 1
    seed: int = 0
    n_jobs: int | None = None
    budget: Budget | None = None
    progress: Progress | None = None
    time: float | None = None

    def __post_init__(self) -> None:
        self._check_time()
        self._check_whole("effort", "0, 1, 2, …", lambda n: n >= 0)
        self._check_whole("seed", "a whole number, 0 or more", lambda n: n >= 0)
        if self.n_jobs is not None:
            expected = "1 or more threads, or -1 for all cores"
            self._check_whole("n_jobs", expected, lambda n: n != 0)
        budget = self.budget
        if budget is not None and not isinstance(budget, Budget):
            number = isinstance(budget, Real) and not isinstance(budget, bool)
            meant = f"Budget(seconds={budget})" if number else "a Budget"
            raise OptionError(f"budget: {budget!r}, expected {meant}")
        if self.progress is not None and not callable(self.progress):
            raise OptionError(
                f"progress: {self.progress!r}, expected a function of the current step "
                f"and the fraction done"
            )

    def _check_whole(
        self, name: str, expected: str, is_right: Callable[[int], bool]
    ) -> None:
        value = getattr(self, name)
        if not _is_whole(value) or not is_right(value):
            raise OptionError(f"{name}: {value!r}, expected {expected}")
        object.__setattr__(self, name, int(value))

    def _check_time(self) -> None:
        if self.time is None:
            return
        is_number = isinstance(self.time, Real) and not isinstance(self.time, bool)
        if not is_number or not float(self.time) >= 0:
            raise OptionError(f"time: {self.time!r}, expected seconds, 0 or more")
        if isinstance(self.budget, Budget) and self.budget.seconds is not None:
            raise OptionError("give either time or the budget's seconds, not both")

    @property
    def spendable(self) -> Budget:
        """The budget, whether given as `budget` or as `time`."""
        budget = self.budget or Budget()
        return budget if self.time is None else replace(budget, seconds=self.time)

    def meter(self) -> Meter:
        """Return a meter for work that starts now."""
        return Meter(self.spendable, self.progress)


@dataclass(frozen=True, slots=True)
class Files:
    """Files that `extract` writes.

    Attributes
    ----------
    proofs, checkpoint : path or None
    resume : bool
        Whether to resume from the checkpoint.
    """

    proofs: str | os.PathLike[str] | None = None
    checkpoint: str | os.PathLike[str] | None = None
    resume: bool = False

    def check(self) -> None:
        """Refuse paths that cannot be written, and `resume` without a checkpoint."""
        if self.checkpoint is not None:
            check_writable(self.checkpoint)
        elif self.resume:
            raise OptionError(
                "resume needs a checkpoint; give its path (checkpoint=, --checkpoint)"
            )
        if self.proofs is not None:
            check_writable(self.proofs)


@dataclass(frozen=True)
class Request:
    """All options of `extract`, except for the model and its rows.

    Attributes
    ----------
    rules, length, limits, files
        The kind of rules, their number, effort and time, and files.
    impossible, labels, test, known
        As in `extract`; `test` is a list.
    """

    rules: RuleOptions = RuleOptions()
    length: Length = Length()
    limits: Limits = Limits()
    files: Files = Files()
    impossible: Impossible | None = None
    labels: Sequence[Value] | None = None
    test: Rows = None
    known: RuleList | None = None

    def __post_init__(self) -> None:
        if self.test is not None:
            object.__setattr__(self, "test", listed_rows(self.test))

    def check(self, data: Rows) -> None:
        """Refuse options that conflict with each other or with these rows."""
        if self.rules.form == "paper":
            refuse_for_paper(
                impossible=self.impossible,
                max_rules=self.length.max_rules,
                fidelity=self.length.fidelity,
                proofs=self.files.proofs,
            )
        check_labels(self.labels)
        needs_rows(self.rules.scope, data, self.labels)
        self.check_length()
        self.files.check()

    def check_length(self) -> None:
        """Refuse a fidelity where it is not counted."""
        if self.length.fidelity is None:
            return
        if self.rules.scope == "support":
            raise OptionError("fidelity needs the scope 'domain', where it is counted")
        if self.rules.engine == "search":
            raise OptionError(
                "fidelity is counted on a table of every input, which the engine "
                "'search' does not make; use max_rules to limit a search"
            )


def refuse_for_paper(**options: Any) -> None:
    """Refuse options that the form 'paper' does not have."""
    for name, value in options.items():
        if value is not None:
            raise OptionError(f"{name} is for the forms 'list' and 'set', not 'paper'")


def check_labels(labels: Any) -> None:
    """Refuse labels that are not one class for each row."""
    if labels is None:
        return
    if isinstance(labels, str):
        raise OptionError(
            f"labels: {labels!r}, expected the classes of the rows, not a column name; "
            f"use labels=data[{labels!r}]"
        )
    kind = type(labels).__name__
    if not hasattr(labels, "__len__") or isinstance(labels, dict):
        raise OptionError(f"labels: a {kind}, expected a list, an array or a column")
    if getattr(labels, "ndim", 1) != 1:
        shape = " × ".join(map(str, np.shape(labels)))
        raise OptionError(f"labels: shape {shape}, expected one label for each row")
