"""Questions beyond a table: search and linear regions take turns.

`which_engine` has the limits. Whichever engine settles a question first, the result
is a proof, or inputs that the network itself has confirmed.
"""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from nn2rules.engine.by_regions import Accepts, find_classes, find_pair
from nn2rules.engine.limits import Meter
from nn2rules.engine.pair_questions import PairQuestion
from nn2rules.engine.proof_or_counterexample import Answer
from nn2rules.engine.reaching import find_class, find_twins
from nn2rules.engine.region_programs import PROVED, Settled
from nn2rules.engine.regions import piecewise_linear_obstacle
from nn2rules.engine.search import Oracle
from nn2rules.engine.which_engine import (
    BRIEF_PAIR_BOXES,
    LATE_TURNS,
    REGION_SHARE,
    TURNS,
)
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.space import Boxes, Inputs


def settle_class(
    oracle: Oracle,
    index: int,
    within: Boxes,
    ignoring: Boxes,
    meter: Meter,
    *,
    is_never: bool = False,
) -> Settled:
    """Prove that every input of some boxes has a class, or return one of another class.

    Parameters
    ----------
    oracle : Oracle
        Of the network.
    index : int
        The class.
    within : Boxes
    ignoring : Boxes
        Inputs inside these do not count.
    meter : Meter
        The budget to spend. With a limit on boxes, regions are not tried.
    is_never : bool
        Prove instead that no input has the class.

    Raises
    ------
    BudgetExceededError
        If the budget is spent first.
    UndecidedError
        If no arithmetic can tell the class of an input.

    Examples
    --------
    >>> from nn2rules import datasets, load
    >>> from nn2rules.engine import box_of
    >>> from nn2rules.space import no_boxes, whole_boxes
    >>> network = load(datasets.network_file("tomato"))
    >>> red = whole_boxes(network.domain, box_of(network, {"color": ["red"]})[None])
    >>> nothing = no_boxes(network.domain)
    >>> settle_class(Oracle(network), 1, red, nothing, Meter()).status
    'refuted'
    """
    question = oracle, index, within, ignoring
    if not _may_use_regions(oracle, meter):
        return _searched(*question, meter, is_never=is_never)
    every = {*range(len(oracle.network.classes))}
    classes = {index} if is_never else every - {index}
    for boxes, programs in TURNS if _has_numbers(oracle, within) else LATE_TURNS:
        brief = meter.part(boxes)
        try:
            return _searched(*question, brief, is_never=is_never)
        except (BudgetExceededError, UndecidedError):
            meter.spend()
        finally:
            meter.count(brief.boxes)
        with suppress(BudgetExceededError), meter.leaving(REGION_SHARE):
            settled = find_classes(
                oracle.network,
                classes,
                within,
                ignoring,
                meter,
                most_programs=programs,
            )
            if settled.status != "undecided":
                return settled
    return _searched(*question, meter, is_never=is_never)


def _has_numbers(oracle: Oracle, within: Boxes) -> bool:
    """Tell whether some range of numbers varies in some boxes."""
    columns = oracle.network.domain.ranges
    ranged = np.flatnonzero(columns >= 0)
    is_allowed = within.allowed[:, columns[ranged]]
    varies = within.ends[:, 0, ranged] < within.ends[:, 1, ranged]
    return bool((is_allowed & varies).any())


def _may_use_regions(oracle: Oracle, meter: Meter) -> bool:
    return (
        meter.budget.boxes is None and piecewise_linear_obstacle(oracle.network) is None
    )


def _searched(
    oracle: Oracle,
    index: int,
    within: Boxes,
    ignoring: Boxes,
    meter: Meter,
    *,
    is_never: bool,
) -> Settled:
    """Search, box by box."""
    for answer in _answers(oracle, index, within, ignoring, meter, is_never=is_never):
        if answer.counterexample is not None:
            assert answer.numbers is not None, "a search returns numbers"
            inputs = Inputs(answer.counterexample[None], answer.numbers[None])
            return Settled("refuted", inputs)
    return PROVED


def _answers(
    oracle: Oracle,
    index: int,
    within: Boxes,
    ignoring: Boxes,
    meter: Meter,
    *,
    is_never: bool,
) -> Iterator[Answer]:
    if is_never:
        yield find_class(oracle.network, index, within, ignoring, meter)
        return
    oracle.meter = meter
    for box, ends in zip(within.allowed, within.ends, strict=True):
        yield oracle.ask(box, index, ends=ends, ignoring=ignoring)


def settle_pair(
    question: PairQuestion,
    within: Boxes,
    ignoring: Boxes,
    accepts: Accepts,
    meter: Meter,
) -> Settled:
    """Prove that no two inputs of some boxes violate a claim, or return two that do.

    Parameters
    ----------
    question : PairQuestion
    within : Boxes
    ignoring : Boxes
        Inputs inside these do not count.
    accepts : callable
        Tells which inputs count: those in the boxes that are not ignored.
    meter : Meter
        The budget to spend.

    Raises
    ------
    BudgetExceededError
        If the budget is spent first.
    """
    settled = _pair_by_regions(question, within, accepts, meter)
    if settled.status != "undecided":
        return settled
    return _pair_by_search(question, within, ignoring, meter)


def _pair_by_regions(
    question: PairQuestion, within: Boxes, accepts: Accepts, meter: Meter
) -> Settled:
    """Settle a claim by linear regions; undecided if they cannot.

    If no feature alone violates it, several together do not either, because they can be
    moved one after another.
    """
    settled = Settled("undecided")
    with suppress(BudgetExceededError), meter.leaving(REGION_SHARE):
        for feature in question.features:
            settled = find_pair(
                question.network,
                feature,
                question.columns(feature),
                within,
                accepts,
                meter,
                toward=question.toward,
                is_increasing=question.is_increasing,
            )
            if settled.status != "proved":
                return settled
        return PROVED
    return Settled("undecided")


def _pair_by_search(
    question: PairQuestion, within: Boxes, ignoring: Boxes, meter: Meter
) -> Settled:
    """Search for two inputs; for each two classes briefly first."""
    left = [*question.classes()]
    for boxes in (*BRIEF_PAIR_BOXES, None):
        still = []
        for classes in left:
            part = meter if boxes is None else meter.part(boxes)
            try:
                twins = find_twins(
                    question.network,
                    question.features,
                    classes,
                    within,
                    ignoring,
                    part,
                    ranks=question.ranks,
                )
            except BudgetExceededError:
                if boxes is None:
                    raise
                still.append(classes)
                twins = None
            if part is not meter:
                meter.spend(part.boxes)
            if twins is not None:
                return Settled("refuted", Inputs(twins.codes, twins.numbers))
        left = still
    return PROVED
