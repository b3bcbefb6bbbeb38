"""A job: the options of one extraction together with the network and the rows."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter
from nn2rules.errors import OptionError
from nn2rules.extraction.options import Length, Limits, Request
from nn2rules.language import IsImpossible, is_impossible_at, read_impossible
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
    """What one extraction is to do.

    Attributes
    ----------
    network : Network
    form : {"list", "set"}
    scope : {"domain", "support"}
    target : int or None
        The only class that rules are made for; sets of two classes only.
    rows : GivenRows or None
        The rows of the data.
    impossible : Boxes
        Inputs that cannot occur; without limits on ranges.
    is_impossible : callable or None
        The same as a function of rows.
    length : Length
        Limits on the number of rules.
    how : Limits
        Effort, seed, threads and time.
    meter : Meter
        Measures the budget, and holds the partial result.
    held_out : ndarray of bool, or None
        Which rows are held out until their coverage is counted.
    """

    network: Network
    form: Literal["list", "set"]
    scope: Literal["domain", "support"]
    target: int | None
    rows: GivenRows | None
    impossible: Boxes
    is_impossible: IsImpossible | None
    length: Length
    limits: Limits
    meter: Meter
    held_out: NDArray[np.bool_] | None = None

    @property
    def wanted(self) -> tuple[int, ...]:
        """The classes that rules are made for."""
        all_classes = tuple(range(len(self.network.classes)))
        return all_classes if self.target is None else (self.target,)

    @property
    def has_impossible(self) -> bool:
        """Whether some inputs cannot occur."""
        return bool(len(self.impossible.allowed)) or self.is_impossible is not None

    def default(self, totals: NDArray[Any]) -> int:
        """Return the default class: with a target the other class.

        Otherwise the class with the largest of the `totals`.
        """
        return int(np.argmax(totals)) if self.target is None else 1 - self.target


def make_job(
    network: Network, request: Request, *, rows: GivenRows | None, meter: Meter
) -> Job:
    """Combine a request with a network and rows, and check it against them."""
    options = request.rules
    assert options.form is not None, "extract has chosen one"
    assert options.form != "paper", "that form has no cover"
    assert options.scope is not None, "extract has chosen one"
    boxes, is_impossible = read_impossible(
        network.domain, request.impossible, numbers=False
    )
    return Job(
        network,
        options.form,
        options.scope,
        _target(network, options.target),
        rows,
        boxes,
        is_impossible,
        request.length,
        request.limits,
        meter,
    )


def _target(network: Network, target: Value) -> int | None:
    """Return the position of the target class."""
    if target is None:
        return None
    if target not in network.classes:
        labels = ", ".join(repr(label) for label in network.classes)
        raise OptionError(
            f"target: {target!r} is not a class; the classes are {labels}; for the "
            f"true classes of the rows use labels"
            f"{did_you_mean(target, network.classes)}"
        )
    if len(network.classes) != 2:
        raise OptionError("a target is for sets, and for networks with two classes")
    return network.classes.index(target)


def possible_inputs(job: Job) -> NDArray[np.bool_] | None:
    """Return for every input of the domain whether it can occur; None if all can."""
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
            part &= ~is_impossible_at(job.is_impossible, domain.decode(codes))
        start += len(codes)
    if not possible.any():
        raise OptionError("impossible: no possible input is left")
    return possible


def impossible_inputs(job: Job) -> Any:
    """Return the inputs that cannot occur in the form that the checker reads."""
    if job.is_impossible is not None:
        return "a function of rows"
    return [
        {condition.feature: list(condition.values) for condition in conditions}
        for conditions in conditions_of(job.network.domain, job.impossible.allowed)
    ]
