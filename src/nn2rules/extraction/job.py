"""What is asked of a cover: the network, the data, and the options, checked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, box_of, check_box
from nn2rules.errors import OptionError
from nn2rules.extraction.options import Length, Limits, RuleOptions
from nn2rules.models import GivenRows
from nn2rules.network import Network
from nn2rules.space import (
    Domain,
    Value,
    conditions_of,
    did_you_mean,
    inside_any,
    refuse_parts,
    special_values,
)

Impossible: TypeAlias = (
    Sequence[Mapping[str, Sequence[Value]]] | Callable[[list[dict[str, Value]]], Any]
)
"""Inputs that cannot occur: boxes, as mappings from features to values, or a function
that is given rows and tells for each whether it is impossible."""


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
    impossible : boxes of inputs that cannot occur, of shape (n, n_columns)
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
    impossible: NDArray[np.bool_]
    is_impossible: Callable[[list[dict[str, Value]]], Any] | None
    length: Length
    how: Limits
    meter: Meter
    held: NDArray[np.bool_] | None = None

    @property
    def wanted(self) -> tuple[int, ...]:
        """The classes that rules are wanted for."""
        everything = tuple(range(len(self.network.classes)))
        return everything if self.target is None else (self.target,)

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
    is_function = callable(impossible)
    boxes = np.zeros((0, int(network.domain.offsets[-1])), dtype=np.bool_)
    if is_function:
        _refuse_joined_words(network.domain)
    elif impossible is not None:
        boxes = impossible_boxes(network, impossible)
    return Job(
        network,
        kind.form,
        kind.scope,
        _target(network, kind.target),
        rows,
        boxes,
        impossible if callable(impossible) else None,
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


def impossible_boxes(network: Network, given: Any) -> NDArray[np.bool_]:
    """Return the boxes of inputs that cannot occur."""
    n_columns = int(network.domain.offsets[-1])
    if not isinstance(given, Sequence):
        raise OptionError(
            f"impossible: a list of dicts or a function of rows, not {given!r}"
        )
    boxes = []
    for item in given:
        if not isinstance(item, Mapping):
            raise OptionError(
                f"impossible: each entry is a dict from features to values, not "
                f"{item!r}"
            )
        allowed: dict[str, Sequence[object]] = {
            name: [values]
            if values is None or isinstance(values, str | int | float)
            else list(values)
            for name, values in item.items()
        }
        _refuse_numbers(network.domain, allowed)
        box = box_of(network, allowed)
        for name, values in allowed.items():
            refuse_parts(network.domain.feature(name), values, "impossible")
        check_box(network.domain, box)
        boxes.append(box)
    return np.array(boxes, dtype=np.bool_).reshape(-1, n_columns)


def _refuse_numbers(domain: Domain, allowed: Mapping[str, Sequence[object]]) -> None:
    """Refuse boxes that hold some of the numbers of a range."""
    for name, values in allowed.items():
        feature = domain.feature(name)
        if feature.limits is None:
            continue
        for value in values:
            if value not in special_values(feature):
                raise OptionError(
                    f"impossible: feature {name!r} is a range of numbers, of which a "
                    f"box can hold only the values beside it, not {value!r}; put the "
                    f"numbers into bins to leave some out"
                )


def _refuse_joined_words(domain: Domain) -> None:
    """Refuse to ask a function about rows, which would not hold the user's words."""
    for feature in domain.features:
        if feature.joins_words:
            raise OptionError(
                f"impossible: a function is asked about rows of words, and feature "
                f"{feature.name!r} has groups of them; give a list of dicts instead"
            )


def possible_inputs(job: Job) -> NDArray[np.bool_] | None:
    """Tell of every input of the domain whether it can occur; None if all can."""
    domain = job.network.domain
    if not len(job.impossible) and job.is_impossible is None:
        return None
    possible = np.ones(domain.n_inputs, dtype=np.bool_)
    start = 0
    for codes in domain.inputs():
        job.meter.spend()
        part = possible[start : start + len(codes)]
        part &= ~inside_any(domain, job.impossible, codes)
        if job.is_impossible is not None:
            told = np.asarray(job.is_impossible(domain.decode(codes)))
            if told.shape != (len(codes),):
                raise OptionError(
                    f"impossible: the function must give one answer for each of "
                    f"{len(codes)} rows; it gave an array of shape {told.shape}"
                )
            part &= ~told.astype(np.bool_)
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
        for conditions in conditions_of(job.network.domain, job.impossible)
    ]
