"""What `extract` is asked for, in three values, each with its checks.

`RuleOptions` says what rules are wanted, `Length` how few of them, and `Limits` how
hard to look, and how long. They are made before any work is done, so that a mistake
costs no time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np

from nn2rules.engine import Budget, Meter, Progress
from nn2rules.errors import OptionError
from nn2rules.space import Value

RulesForm: TypeAlias = Literal["list", "set", "paper"]
Form: TypeAlias = RulesForm | Literal["rules", "scorecard"]
Scope: TypeAlias = Literal["domain", "support"]
Engine: TypeAlias = Literal["auto", "table", "search", "paper"]

FORMS = ("list", "set", "paper")
"""What rules may look like."""

SCOPES = ("domain", "support")
"""What rules must decide: every input, or the rows of the data."""

ENGINES = ("auto", "table", "search", "paper")
"""The engines: the table of all inputs, the search, or the paper's own algorithm.

"auto" is the table where it is small enough, and the search elsewhere.
"""

APPROXIMATIONS = ("soft-binary",)
"""What the paper's algorithm does to units that it cannot represent."""


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """What rules are wanted.

    Attributes
    ----------
    form : {"list", "set", "paper"} or None
        None lets the scope decide; the engine "paper" makes its own form only, and a
        target is that of a set.
    engine, target, order, approximate
        As in `extract`.
    scope : {"domain", "support"} or None
        None lets the size of the domain decide.
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
        for name, known in (("form", FORMS), ("engine", ENGINES), ("scope", SCOPES)):
            value = getattr(self, name)
            if value not in known and not (name != "engine" and value is None):
                raise OptionError(f"{name}: {value!r}, expected {' or '.join(known)}")
        if self.engine == "paper" and self.form != "paper":
            raise OptionError(
                f"the engine 'paper' makes the form 'paper', not {self.form!r}"
            )
        if self.target is not None and self.form == "list":
            raise OptionError(
                "a class to have rules for can be named for a set, of two classes"
            )
        self._check_paper()

    def _check_paper(self) -> None:
        """Refuse what the paper's form has not, and what only it has."""
        if self.approximate is not None and self.engine != "paper":
            raise OptionError(
                f"approximate={self.approximate!r} is part of the paper's algorithm; "
                f"use it with the engine 'paper'"
            )
        if self.approximate not in (None, *APPROXIMATIONS):
            known = " or ".join(map(repr, APPROXIMATIONS))
            raise OptionError(f"approximate: {self.approximate!r}, expected {known}")
        if self.form == "paper":
            refuse_for_paper(target=self.target)
        elif self.order is not None:
            raise OptionError("order is for the form 'paper': other rules have none")


@dataclass(frozen=True, slots=True)
class Length:
    """How few rules are wanted: the first so many, or enough for a fidelity."""

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
    """How hard to look for rules.

    Attributes
    ----------
    effort, seed, n_jobs
        How much work to do, from which start, on how many threads.
    budget : Budget or None
        Where to stop, with an error.
    time : float or None
        Where to stop, in seconds, with what is there.
    progress : callable or None
        Whom to tell how far the work is.
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
        self._check_whole("seed", "a whole number from 0 on", lambda n: n >= 0)
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
                f"progress: {self.progress!r}, expected a function that is told what "
                f"is being done, and the share that is done"
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
            raise OptionError("time and the budget's seconds are both given; leave one")

    @property
    def spendable(self) -> Budget:
        """What may be spent, in whichever way it was said."""
        budget = self.budget or Budget()
        return budget if self.time is None else replace(budget, seconds=self.time)

    def meter(self) -> Meter:
        """Return a meter for work that begins now."""
        return Meter(self.spendable, self.progress)


def refuse_for_paper(**given: Any) -> None:
    """Refuse options that the form 'paper' has not."""
    for name, value in given.items():
        if value is not None:
            raise OptionError(f"{name} is for the forms 'list' and 'set', not 'paper'")


def check_labels(labels: Any) -> None:
    """Refuse what cannot be a class for each row."""
    if labels is None:
        return
    if isinstance(labels, str):
        raise OptionError(
            f"labels are the classes of the rows, not the name of a column: "
            f"labels=data[{labels!r}]"
        )
    kind = type(labels).__name__
    if not hasattr(labels, "__len__") or isinstance(labels, dict):
        raise OptionError(f"labels: a {kind}, expected a list, an array or a column")
    if getattr(labels, "ndim", 1) != 1:
        shape = " × ".join(map(str, np.shape(labels)))
        raise OptionError(f"labels: {shape} of them, expected one for each row")


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
