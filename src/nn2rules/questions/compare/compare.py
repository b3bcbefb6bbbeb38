"""Compare two models: read both, bring them together, choose the engine."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from nn2rules.engine import (
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
from nn2rules.questions.compare.by_search import compare_by_search
from nn2rules.questions.compare.by_table import compare_tables
from nn2rules.questions.compare.canonical_form import is_written_the_same
from nn2rules.questions.compare.common_domain import Meeting, meeting_of
from nn2rules.questions.compare.differences import (
    Covering,
    DifferentRows,
    Found,
    Pair,
    Point,
    different_rows,
    left_out,
    nothing,
    rows_on,
)
from nn2rules.questions.compare.page import labelled
from nn2rules.questions.compare.predictors import (
    NOTHING,
    NetworkSide,
    Side,
    labels_of,
    place_of,
    sides_of,
    table_domain,
)
from nn2rules.questions.compare.result import Comparison
from nn2rules.rules import RuleList
from nn2rules.space import Domain, Rows, Value, refuse_curves, text_of

_OPEN = {
    False: "The {} rules claim nothing where none of them holds: there they answer “no "
    "rule”, which is another answer than any class.",
    True: "Inputs for which none of the {} rules holds are left out: the rules claim "
    "nothing about them.",
}


def notes_on(
    both: tuple[Network | RuleList, Network | RuleList], met: Meeting, *, decided: bool
) -> list[str]:
    """Say what a reader must know of the two."""
    notes = []
    if met.differences:
        notes.append(
            f"Compared on what both know, for their domains differ: "
            f"{'; '.join(met.differences)}."
        )
    for name, one, beside in (("old", *both), ("new", *both[::-1])):
        own = [c for c in one.classes if not _has(beside.classes, c)]
        if own:
            verb = "class" if len(own) == 1 else "classes"
            shown = ", ".join(map(text_of, own))
            notes.append(f"Only the {name} one has the {verb} {shown}.")
        if isinstance(one, RuleList) and one.scope == "support":
            notes.append(_OPEN[decided].format(name))
    return notes


def _has(labels: Sequence[Value], label: Value) -> bool:
    try:
        place_of(labels, label)
    except ValueError:
        return False
    return True


_MOST_BOXES = 1 << 18  # for a search without a limit: some twenty seconds


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
    decided: bool = False,
    effort: int = 1,
    seed: int = 0,
    engine: Literal["auto", "table", "search"] = "auto",
    budget: Budget | None = None,
    time: float | None = None,
    n_jobs: int | None = None,
    progress: ProgressOption = None,
) -> Comparison:
    """Tell whether two decide the same on every input, and if not, where.

    Parameters
    ----------
    old, new : model, Network or RuleList
        Two models, a model and rules, or two rule lists. Models are what `extract`
        takes. Rules of scope "support" claim nothing where none of them holds; there
        they answer *no rule*, which no class is equal to.
    data : frame or list of dicts, optional
        Rows on which differences are counted, too. They say what the features of
        models can be.
    domain, encode, classes, threshold, gives, other
        How models are read, both of them; see `read_network`. Read two models one by
        one where that is not the same for both.
    common : bool
        Whether to compare what both know, if their domains differ: values that both
        have, and parts of ranges. What does not have a feature does not look at it.
    decided : bool
        Whether to leave out the inputs about which rules claim nothing: is a set right
        wherever one of its rules holds?
    effort, seed
        How hard to look for few rules, where every input is in a table.
    engine : {"auto", "table", "search"}
        Input by input, or box by box; by default the first where it is small enough.
    budget : Budget, optional
        Limits on time, boxes and memory. Where one is reached, what is known by then
        is returned: `equal` is None where nothing is. A search without a limit on
        time or boxes ends after some 260,000 boxes.
    time : float, optional
        A budget of so many seconds. Rules that are looked for when they are asked for
        have as many again.
    n_jobs : int, optional
        How many threads; the result is the same whatever their number.
    progress : callable or False, optional
        As in `extract`.

    Returns
    -------
    Comparison

    Raises
    ------
    DomainError
        If the two have different features or values, unless `common` is true, or no
        class in common; the message says what differs.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> rules = nn2rules.extract(network)
    >>> print(nn2rules.compare(network, rules))
    Equal on all 6 inputs: proved, compared one by one.
    >>> found = nn2rules.compare(network, rules.take([]))
    >>> found.equal, found.inputs, found.counterexample
    (False, 2, {'color': 'red', 'size': 'medium'})
    >>> [(rule.old, rule.new, rule.inputs) for rule in found.rules]
    [('ripe', 'unripe', 2)]
    """
    told = progress_callback(progress)
    how = Limits(effort, seed, n_jobs, budget, told, time)
    meter = how.meter()
    check_engine(engine)
    said = {
        "encode": encode,
        "classes": classes,
        "threshold": threshold,
        "output": output,
        "other": other,
    }
    both = _read(old, new, data, domain, said)
    met = meeting_of(both[0].domain, both[1].domain, common=common)
    labels = labels_of(both[0].classes, both[1].classes)
    sides = sides_of(met.domain, both, labels)
    skipped = len(labels) if decided else NOTHING
    rows, outside = (None, 0) if data is None else rows_on(met, data)
    with closing_progress(told):
        different = None if rows is None else different_rows(sides, rows, skipped)
        by_table = _is_table(engine, sides, how)
        if not by_table:
            compile_for(meter, "search", "halves")
        with session(meter, n_jobs=n_jobs):
            found = _found(
                met.domain, sides, how, meter, different, skipped, by_table=by_table
            )
    notes = (
        *notes_on(both, met, decided=decided),
        *([] if not outside else [left_out(outside, rows)]),
    )
    is_open = any(isinstance(one, RuleList) and one.scope == "support" for one in both)
    decided = decided and is_open
    return _comparison(
        met.domain, sides, labels, notes, found, different, decided=decided
    )


def _read(
    old: object,
    new: object,
    data: Rows,
    domain: Domain | Mapping[str, Any] | None,
    said: dict[str, Any],
) -> tuple[Network | RuleList, Network | RuleList]:
    """Read what are models; where nothing says their domain, it is the other's."""
    found: list[Network | RuleList] = []
    for one, beside in ((old, new), (new, old)):
        if isinstance(one, Network | RuleList):
            found.append(one)
            continue
        own = domain
        if data is None and isinstance(beside, Network | RuleList):
            own = domain or beside.domain
        found.append(read_network(one, data=data, domain=own, **said))
    for side in found:
        refuse_curves(side.domain.features, "compare")
    return found[0], found[1]


def _is_table(engine: str, sides: tuple[Side, Side], how: Limits) -> bool:
    """Tell whether every input is compared with the others, one by one."""
    domain = table_domain(sides)
    if engine == "table" and domain is None:
        raise UnsupportedModelError(
            "a table lists every input, and a feature of these is a range of numbers, "
            "or there are too many features or classes; use the engine 'search'"
        )
    n_inputs = None if domain is None else domain.n_inputs
    return uses_table(engine, n_inputs, COMPARED_INPUTS, how.spendable.memory)


def _found(
    domain: Domain,
    sides: tuple[Side, Side],
    how: Limits,
    meter: Meter,
    different: DifferentRows | None,
    skipped: int,
    *,
    by_table: bool,
) -> Found:
    """Compare two sides with the engine that was chosen."""
    listed = table_domain(sides)
    if by_table and listed is not None:
        found = compare_tables(
            listed, sides, replace(how, progress=None), meter, skipped
        )
        if found.equal is not False or listed.n_inputs <= COVERED_INPUTS:
            return found
        quietly = replace(how, progress=None)
        later = partial(_covered, domain, sides, quietly, None, different, skipped)
        return replace(found, covering=later)
    return _searched(domain, sides, how, meter, different, skipped)


def _covered(*asked: Any) -> Covering:
    """Search for what a table was too large to make rules of."""
    return _searched(*asked).covering()


def _searched(
    domain: Domain,
    sides: tuple[Side, Side],
    how: Limits,
    meter: Meter | None,
    different: DifferentRows | None,
    skipped: int,
) -> Found:
    """Compare two sides by search, after a look at their weights."""
    meter, (old, new) = meter or Meter(how.spendable), sides
    if is_written_the_same(old, new):
        is_network = isinstance(old, NetworkSide)
        return nothing(domain, True, "weights" if is_network else "rules")
    if meter.budget.seconds is None and meter.budget.boxes is None:
        meter.budget = replace(meter.budget, boxes=_MOST_BOXES)
    rows: Point | None = None
    if different is not None and len(different.codes):
        rows = different.codes, different.numbers
    return compare_by_search(
        domain, sides, meter, seed=how.seed, rows=rows, skipped=skipped
    )


def _comparison(
    domain: Domain,
    sides: tuple[Side, Side],
    labels: tuple[Value, ...],
    notes: Sequence[str],
    found: Found,
    different: DifferentRows | None,
    *,
    decided: bool,
) -> Comparison:
    point, pair = found.example, None
    if different is not None and different.pairs:
        numbers = None if different.numbers is None else different.numbers[0]
        point = different.codes[0], numbers
    example = None
    if point is not None:
        codes, numbers = point[0][np.newaxis], point[1]
        own = None if numbers is None else numbers[np.newaxis]
        example = domain.decode(codes, own)[0]
        pair = _pair(sides, codes, own)
    answers = None if pair is None else labelled(labels, pair)
    return Comparison(
        domain, labels, tuple(notes), example, answers, decided, found, different
    )


def _pair(sides: tuple[Side, Side], codes: Any, numbers: Any) -> Pair:
    old, new = (int(side.answers(codes, numbers)[0]) for side in sides)
    return old, new
