"""Compare two models: read both, find their common domain, choose the engine."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from nn2rules.engine import (
    COMPARED_BOXES,
    COMPARED_BRIEFLY,
    COMPARED_INPUTS,
    COVERED_INPUTS,
    Budget,
    Meter,
    ProgressOption,
    check_engine,
    closing_progress,
    compile_for,
    progress_callback,
    session,
    uses_table,
)
from nn2rules.errors import UnsupportedModelError
from nn2rules.extraction import Limits
from nn2rules.models import ModelOutput, read_network
from nn2rules.network import Network
from nn2rules.questions.compare.by_regions import may_have_regions, settle_difference
from nn2rules.questions.compare.by_search import compare_by_search
from nn2rules.questions.compare.by_table import compare_tables
from nn2rules.questions.compare.canonical_form import is_seen_equal
from nn2rules.questions.compare.common_domain import SharedDomain, shared_domain_of
from nn2rules.questions.compare.differences import (
    DifferenceBoxes,
    DifferentRows,
    EngineResult,
    Pair,
    Point,
    different_rows,
    left_out,
    no_difference,
    rows_on,
)
from nn2rules.questions.compare.page import labels_of_pair
from nn2rules.questions.compare.predictors import (
    NEVER,
    NetworkPredictor,
    Predictor,
    labels_of,
    position_of,
    predictors_of,
    table_domain,
)
from nn2rules.questions.compare.result import Comparison
from nn2rules.rules import RuleList
from nn2rules.space import Domain, Rows, Value, refuse_curves, text_of

_UNCOVERED = {
    False: "The {} rules claim nothing about inputs that they do not cover. These "
    "count as “no rule”, which differs from every class.",
    True: "Inputs that the {} rules do not cover are left out: the rules claim nothing "
    "about them.",
}


def notes_on(
    both: tuple[Network | RuleList, Network | RuleList],
    shared: SharedDomain,
    *,
    covered_only: bool,
) -> list[str]:
    """Return what a reader must know about the two."""
    notes = []
    if shared.differences:
        notes.append(
            f"Their domains differ, so they are compared on what they share: "
            f"{'; '.join(shared.differences)}."
        )
    for name, one, beside in (("old", *both), ("new", *both[::-1])):
        only_classes = [c for c in one.classes if not _has(beside.classes, c)]
        if only_classes:
            verb = "class" if len(only_classes) == 1 else "classes"
            shown = ", ".join(map(text_of, only_classes))
            notes.append(f"Only the {name} one has the {verb} {shown}.")
        if isinstance(one, RuleList) and one.scope == "support":
            notes.append(_UNCOVERED[covered_only].format(name))
    return notes


def _has(labels: Sequence[Value], label: Value) -> bool:
    try:
        position_of(labels, label)
    except ValueError:
        return False
    return True


def compare(
    old: object,
    new: object,
    data: Rows = None,
    *,
    domain: Domain | Mapping[str, Any] | None = None,
    encode: Any = None,
    classes: Sequence[Value] | None = None,
    threshold: float = 0.5,
    output: ModelOutput | None = None,
    other: bool | Sequence[str] = False,
    common: bool = False,
    covered_only: bool = False,
    effort: int = 1,
    seed: int = 0,
    engine: Literal["auto", "table", "search"] = "auto",
    budget: Budget | None = None,
    time: float | None = None,
    n_jobs: int | None = None,
    progress: ProgressOption = None,
) -> Comparison:
    """Tell whether two models predict the same on every input, and if not, where.

    Parameters
    ----------
    old, new : model, Network or RuleList
        Two models, a model and rules, or two rule lists. Models are what `extract`
        takes. Rules of scope "support" claim nothing about inputs that they do not
        cover; these count as *no rule*, which differs from every class.
    data : frame or list of dicts, optional
        Rows on which differences are counted as well. They also show what values the
        features of models can have.
    domain, encode, classes, threshold, output, other
        How both models are read; see `read_network`. If the options differ, read the
        models one by one first.
    common : bool
        If the domains differ, compare what they share: common values, and common parts
        of ranges. A model without some feature ignores it.
    covered_only : bool
        Leave out inputs that rules do not cover: are the rules right wherever they
        claim something?
    effort, seed
        How hard to look for few rules, with a table of all inputs.
    engine : {"auto", "table", "search"}
        Compare input by input, or box by box; by default the first if there are few
        enough inputs.
    budget : Budget, optional
        Limits on time, boxes and memory. If one is reached, the result has what is
        known by then; `equal` is None if that is undecided. A search without a limit on
        time or boxes ends after about 260,000 boxes.
    time : float, optional
        Seconds, instead of a budget. Rules are made on first use, with the same time
        again.
    n_jobs : int, optional
        The number of threads; the result does not depend on it.
    progress : callable or False, optional
        As in `extract`.

    Returns
    -------
    Comparison

    Raises
    ------
    DomainError
        If the two have different features or values and `common` is false, or if they
        have no class in common. The message states what differs.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> rules = nn2rules.extract(network)
    >>> print(nn2rules.compare(network, rules))
    Equal on all 6 inputs: proved by comparing them one by one.
    >>> found = nn2rules.compare(network, rules.take([]))
    >>> found.equal, found.inputs, found.counterexample
    (False, 2, {'color': 'red', 'size': 'medium'})
    >>> [(rule.old, rule.new, rule.inputs) for rule in found.rules]
    [('ripe', 'unripe', 2)]
    """
    progress_bar = progress_callback(progress)
    limits = Limits(effort, seed, n_jobs, budget, progress_bar, time)
    meter = limits.meter()
    check_engine(engine)
    model_options = {
        "encode": encode,
        "classes": classes,
        "threshold": threshold,
        "output": output,
        "other": other,
    }
    both = _read(old, new, data, domain, model_options)
    shared = shared_domain_of(both[0].domain, both[1].domain, common=common)
    labels = labels_of(both[0].classes, both[1].classes)
    predictors = predictors_of(shared.domain, both, labels)
    skipped = len(labels) if covered_only else NEVER
    rows, outside = (None, 0) if data is None else rows_on(shared, data)
    with closing_progress(progress_bar):
        different = None if rows is None else different_rows(predictors, rows, skipped)
        by_table = _is_table(engine, predictors, limits)
        if not by_table:
            compile_for(meter, "search", "halves")
        with session(meter, n_jobs=n_jobs):
            result = _found(
                shared.domain,
                predictors,
                limits,
                meter,
                different,
                skipped,
                by_table=by_table,
            )
    notes = (
        *notes_on(both, shared, covered_only=covered_only),
        *([] if not outside else [left_out(outside, rows)]),
    )
    leaves_inputs = any(
        isinstance(one, RuleList) and one.scope == "support" for one in both
    )
    covered_only = covered_only and leaves_inputs
    return _comparison(
        shared.domain,
        predictors,
        labels,
        notes,
        result,
        different,
        covered_only=covered_only,
    )


def _read(
    old: object,
    new: object,
    data: Rows,
    domain: Domain | Mapping[str, Any] | None,
    model_options: dict[str, Any],
) -> tuple[Network | RuleList, Network | RuleList]:
    """Read the models; without other information a model has the other's domain."""
    read: list[Network | RuleList] = []
    for one, beside in ((old, new), (new, old)):
        if isinstance(one, Network | RuleList):
            read.append(one)
            continue
        model_domain = domain
        if data is None and isinstance(beside, Network | RuleList):
            model_domain = domain or beside.domain
        network = read_network(one, data=data, domain=model_domain, **model_options)
        read.append(network)
    for one in read:
        refuse_curves(one.domain.features, "compare")
    return read[0], read[1]


def _is_table(
    engine: str, predictors: tuple[Predictor, Predictor], limits: Limits
) -> bool:
    """Tell whether inputs are compared one by one."""
    domain = table_domain(predictors)
    if engine == "table" and domain is None:
        raise UnsupportedModelError(
            "a table lists every input, but here a feature is a range of numbers, or "
            "there are too many features or classes; use engine='search'"
        )
    n_inputs = None if domain is None else domain.n_inputs
    return uses_table(engine, n_inputs, COMPARED_INPUTS, limits.spendable.memory)


def _found(
    domain: Domain,
    predictors: tuple[Predictor, Predictor],
    limits: Limits,
    meter: Meter,
    different: DifferentRows | None,
    skipped: int,
    *,
    by_table: bool,
) -> EngineResult:
    """Compare the two with the chosen engine."""
    listed = table_domain(predictors)
    if by_table and listed is not None:
        result = compare_tables(
            listed, predictors, replace(limits, progress=None), meter, skipped
        )
        if result.equal is not False or listed.n_inputs <= COVERED_INPUTS:
            return result
        quietly = replace(limits, progress=None)
        later = partial(_covered, domain, predictors, quietly, None, different, skipped)
        return replace(result, covering=later)
    return _searched(domain, predictors, limits, meter, different, skipped)


def _covered(*asked: Any) -> DifferenceBoxes:
    """Search for the differences, where a table is too large to make rules from."""
    return _searched(*asked).covering()


def _searched(
    domain: Domain,
    predictors: tuple[Predictor, Predictor],
    limits: Limits,
    meter: Meter | None,
    different: DifferentRows | None,
    skipped: int,
) -> EngineResult:
    """Compare the two by search, unless their weights or rules show the result."""
    meter, (old, new) = meter or Meter(limits.spendable), predictors
    if is_seen_equal(old, new):
        is_network = isinstance(old, NetworkPredictor)
        return no_difference(domain, True, "weights" if is_network else "rules")
    rows: Point | None = None
    if different is not None and len(different.codes):
        rows = different.codes, different.numbers
    search = partial(compare_by_search, domain, predictors, skipped=skipped)
    if rows is None and meter.budget.boxes is None and may_have_regions(predictors):
        brief = search(meter.part(COMPARED_BRIEFLY), seed=limits.seed, rows=None)
        if brief.equal:
            return brief
        if brief.equal is None:
            settled = settle_difference(predictors, meter)
            if settled.status == "proved":
                return no_difference(domain, True, "regions")
            if settled.inputs is not None:
                codes, numbers = settled.inputs
                rows = codes, numbers if domain.has_ranges else None
    if meter.budget.seconds is None and meter.budget.boxes is None:
        meter.budget = replace(meter.budget, boxes=COMPARED_BOXES)
    return search(meter, seed=limits.seed, rows=rows)


def _comparison(
    domain: Domain,
    predictors: tuple[Predictor, Predictor],
    labels: tuple[Value, ...],
    notes: Sequence[str],
    result: EngineResult,
    different: DifferentRows | None,
    *,
    covered_only: bool,
) -> Comparison:
    point, pair = result.example, None
    if different is not None and different.pairs:
        numbers = None if different.numbers is None else different.numbers[0]
        point = different.codes[0], numbers
    example = None
    if point is not None:
        codes, numbers = point[0][np.newaxis], point[1]
        row_numbers = None if numbers is None else numbers[np.newaxis]
        example = domain.decode(codes, row_numbers)[0]
        pair = _pair(predictors, codes, row_numbers)
    predictions = None if pair is None else labels_of_pair(labels, pair)
    return Comparison(
        domain,
        labels,
        tuple(notes),
        example,
        predictions,
        covered_only,
        result,
        different,
    )


def _pair(predictors: tuple[Predictor, Predictor], codes: Any, numbers: Any) -> Pair:
    old, new = (int(one.predict(codes, numbers)[0]) for one in predictors)
    return old, new
