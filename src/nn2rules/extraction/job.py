"""What is asked of a cover: the network, the data, and the options, checked."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter
from nn2rules.errors import OptionError
from nn2rules.extraction.options import Length, Limits, RuleOptions
from nn2rules.language import Impossible, IsImpossible, read_impossible, told_by
from nn2rules.models import GivenRows
from nn2rules.network import Network
from nn2rules.space import (
    Boxes,
    Value,
    conditions_of,
    did_you_mean,
    inside_any,
)


@dataclass(frozen=True)
class Job:
    """A cover to be made.

    Attributes
    ----------
    network : Network
    form : {"list", "set"}
    scope : {"domain", "support"}
    target : int or None
        The only class that rules are wanted for; sets of two classes only.
    rows : GivenRows or None
        The rows of the data.
    impossible : Boxes
        Inputs that cannot occur; of ranges all numbers, or none.
    is_impossible : callable or None
        The same as a function of rows.
    length : Length
        How few rules are wanted.
    how : Limits
        How hard to try, from where, and on how many threads.
    meter : Meter
        What is spent, and what is kept if the work is stopped.
    held : ndarray of bool, or None
        Which rows are held out until it is counted how many of them are covered.
    """

    network: Network
    form: Literal["list", "set"]
    scope: Literal["domain", "support"]
    target: int | None
    rows: GivenRows | None
    impossible: Boxes
    is_impossible: IsImpossible | None
    length: Length
    how: Limits
    meter: Meter
    held: NDArray[np.bool_] | None = None

    @property
    def wanted(self) -> tuple[int, ...]:
        """The classes that rules are wanted for."""
        everything = tuple(range(len(self.network.classes)))
        return everything if self.target is None else (self.target,)

    @property
    def has_impossible(self) -> bool:
        """Whether something cannot occur."""
        return bool(len(self.impossible.allowed)) or self.is_impossible is not None

    def default(self, totals: NDArray[Any]) -> int:
        """Return the class of what no rule decides: with a target its other class.

        Otherwise that with the most, by the `totals` of each class.
        """
        return int(np.argmax(totals)) if self.target is None else 1 - self.target


def make_job(
    network: Network,
    kind: RuleOptions,
    length: Length,
    how: Limits,
    *,
    rows: GivenRows | None,
    impossible: Impossible | None,
    meter: Meter,
) -> Job:
    """Put together what is asked of a cover, checked against the network."""
    assert kind.form is not None, "extract has chosen one"
    assert kind.form != "paper", "that form has no cover"
    assert kind.scope is not None, "extract has chosen one"
    boxes, is_impossible = read_impossible(network.domain, impossible, numbers=False)
    return Job(
        network,
        kind.form,
        kind.scope,
        _target(network, kind.target),
        rows,
        boxes,
        is_impossible,
        length,
        how,
        meter,
    )


def _target(network: Network, target: Value) -> int | None:
    """Return the position of the class that rules are wanted for."""
    if target is None:
        return None
    if target not in network.classes:
        known = ", ".join(repr(label) for label in network.classes)
        raise OptionError(
            f"target: {target!r} is not a class; there are {known}; the true "
            f"classes of the rows are given as labels"
            f"{did_you_mean(target, network.classes)}"
        )
    if len(network.classes) != 2:
        raise OptionError(
            "a class to have rules for can be named for a set, of two classes"
        )
    return network.classes.index(target)


def possible_inputs(job: Job) -> NDArray[np.bool_] | None:
    """Tell of every input of the domain whether it can occur; None if all can."""
    domain = job.network.domain
    if not job.has_impossible:
        return None
    possible = np.ones(domain.n_inputs, dtype=np.bool_)
    start = 0
    for codes in domain.inputs():
        job.meter.spend()
        part = possible[start : start + len(codes)]
        part &= ~inside_any(domain, job.impossible.allowed, codes)
        if job.is_impossible is not None:
            part &= ~told_by(job.is_impossible, domain.decode(codes))
        start += len(codes)
    if not possible.any():
        raise OptionError("impossible: no input is left that can occur")
    return possible


def impossible_inputs(job: Job) -> Any:
    """Return the inputs that cannot occur as the checker reads them."""
    if job.is_impossible is not None:
        return "a function of rows"
    return [
        {condition.feature: list(condition.values) for condition in conditions}
        for conditions in conditions_of(job.network.domain, job.impossible.allowed)
    ]
