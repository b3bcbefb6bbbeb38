"""Verify the regions of a scorecard, and that together they hold every input.

A region claims that its scores, or its class, are those of the network wherever its
conditions are met. The checker finds for itself on which piece each unit is there. That
the regions hold every input is shown by splitting the domain along their conditions,
until each part has all conditions of some region, or is proved to be empty.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from nn2rules.checker.scorecards.decisions import Decision
from nn2rules.checker.scorecards.linear_parts import Networks, Part
from nn2rules.checker.scorecards.multipliers import LateError, Prover
from nn2rules.checker.scorecards.sums import Form, is_multiple, minus, times
from nn2rules.network import Affine, Network
from nn2rules.scorecards import CardRegion

Conditions = tuple[Form, ...]


@dataclass
class RegionResult:
    """What came of the regions.

    Attributes
    ----------
    proved : set of int
        Positions of the regions that are verified.
    left : set of int
        Of those that no proof was found for.
    gaps : list of Conditions
        Parts of the domain for which no region was found; None of them may hold an
        input.
    is_covered : bool
        Whether it is proved that every input is in a region.
    """

    proved: set[int] = field(default_factory=set)
    left: set[int] = field(default_factory=set)
    gaps: list[Conditions] = field(default_factory=list)
    is_covered: bool = False


def form_of(affine: Affine) -> Form:
    """Return an affine function of a scorecard as a form."""
    return (*affine.coefficients, affine.constant)


def check_regions(
    prover: Prover,
    network: Network,
    regions: Sequence[CardRegion],
    tell: Callable[[float], None],
) -> RegionResult:
    """Verify regions, until the time limit."""
    result = RegionResult()
    networks = Networks(prover, [network])
    decision = Decision.of(network)
    everything = [tuple(map(form_of, region.conditions)) for region in regions]
    try:
        result.is_covered = _is_covered(prover, everything, result.gaps)
        for place, region in enumerate(regions):
            tell(place / len(regions))
            parts = networks.parts(everything[place])
            is_right = all(_is_right(prover, decision, region, part) for part in parts)
            (result.proved if is_right else result.left).add(place)
    except LateError:
        pass
    return result


def _is_right(
    prover: Prover, decision: Decision, region: CardRegion, part: Part
) -> bool:
    """Tell whether what a region claims is proved for a part of it."""
    [scores] = part.scores
    conditions = part.conditions
    claimed = None if region.scores is None else tuple(map(form_of, region.scores))
    if claimed is not None and claimed != scores:
        differences = [minus(a, b) for a, b in zip(scores, claimed, strict=True)]
        if not all(
            prover.proves(times(sign, form), conditions)
            for form in differences
            for sign in (Fraction(1), Fraction(-1))
        ):
            return False
    if claimed is None and len(region.classes) != 1:
        return False
    if len(region.classes) == 1:
        [index] = region.classes
        if decision.is_always(prover, scores, index, conditions):
            return True
    return all(
        index in region.classes or decision.is_never(prover, scores, index, conditions)
        for index in range(decision.n_classes)
    )


def _is_covered(
    prover: Prover, regions: Sequence[Conditions], gaps: list[Conditions]
) -> bool:
    """Tell whether some region holds each input; note the parts without one."""
    pending: list[tuple[Conditions, list[Conditions]]] = [((), list(regions))]
    while pending:
        if prover.is_late():
            raise LateError
        met, candidates = pending.pop()
        missing = [
            [each for each in conditions if not _has(met, each)]
            for conditions in candidates
        ]
        if any(not each for each in missing):
            continue
        if not candidates:
            if not prover.is_empty(met):
                gaps.append(met)
            continue
        border = missing[0][0]
        other = times(Fraction(-1), border)
        for side, opposite in ((border, other), (other, border)):
            left = [each for each in candidates if not _has(each, opposite)]
            pending.append(((*met, side), left))
    return not gaps


def _has(conditions: Sequence[Form], form: Form) -> bool:
    """Tell whether a form is among conditions, but for a factor above 0."""
    return any(is_multiple(form, condition) for condition in conditions)
