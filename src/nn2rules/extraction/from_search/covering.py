"""Cover rows, or a domain, with rules proved by search.

Boxes are grown from rows: rows of the data in the scope "support", or random inputs
that no rule covers yet in the scope "domain". A box grows slab by slab, and each slab
is proved by search. Of several such boxes the one that covers most rows becomes a rule.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, Oracle, empty_boxes, empty_inputs
from nn2rules.engine.parallel import in_threads
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction._kernels import covering
from nn2rules.extraction._kernels.near_rows import held_rows
from nn2rules.extraction.from_search.checkpoints import SearchState
from nn2rules.extraction.from_search.growing import Goal, Grower
from nn2rules.extraction.from_search.growth_context import Cases, Grown, Spare, Wave
from nn2rules.space import Boxes, Domain, Inputs, random_inputs

Rows = NDArray[np.int64]
"""The positions of rows."""

_NEARLY = 0.2
"""Boxes that gain at least this fraction of the best box's gain are chosen with it."""

_WIDER = 1.5
"""How many boxes grow in the next wave for each box chosen in the last.

At first boxes are large, and of many that grow at the same time only few are useful
together. Later each covers few rows, and they hardly overlap.
"""

_FEW_CELLS = 1 << 22
"""With fewer values to compare, starting threads does not pay."""


class Pool:
    """Boxes that were grown but not chosen; they stay proved, so they are kept.

    `width` is the number of boxes to grow next.
    """

    def __init__(self, grower: Grower, spare: Spare) -> None:
        self.grower, self.width = grower, spare.width or grower.goal.tries
        self.kept = list(zip(spare.boxes, self.held(spare.boxes), strict=True))

    @property
    def spare(self) -> Spare:
        """What this wave leaves to the next."""
        return Spare([grown for grown, _ in self.kept], self.width)

    def held(self, boxes: Sequence[Grown]) -> list[Rows]:
        """Return for each box which rows it contains."""
        grower = self.grower
        is_small = len(boxes) * grower.columns.size < _FEW_CELLS
        n_jobs = 1 if is_small else grower.goal.n_jobs
        meter = grower.oracle.meter
        with closing(
            in_threads(_held, grower, boxes, meter=meter, n_jobs=n_jobs)
        ) as rows:
            return list(rows)

    def choose(self, new: Sequence[Grown], left: NDArray[np.float64]) -> list[Grown]:
        """Take out the box with the largest gain, and those with nearly as much.

        From the new boxes and those kept. The gain of a box is the weight of the rows
        that are not covered yet. It can only decrease, so few gains are recomputed.
        """
        boxes = [*zip(new, self.held(new), strict=True), *self.kept]
        left, least = left.copy(), 0.0
        waiting = [(-_gain(left, held), index) for index, (_, held) in enumerate(boxes)]
        heapify(waiting)
        chosen: list[int] = []
        while waiting and len(chosen) < len(new):
            _, index = heappop(waiting)
            gain = _gain(left, boxes[index][1])
            if waiting and (-gain, index) > waiting[0]:
                heappush(waiting, (-gain, index))
                continue
            if chosen and gain < least:
                break
            least = least or _NEARLY * gain
            chosen.append(index)
            left[boxes[index][1]] = 0.0
        taken = set(chosen)
        others = [box for index, box in enumerate(boxes) if index not in taken]
        gains = [_gain(left, held) for _, held in others]
        order = sorted(range(len(others)), key=lambda at: -gains[at])
        self.kept = [others[at] for at in order[: self.width] if gains[at] > 0]
        wider = min(self.grower.widest, int(_WIDER * len(chosen)))
        self.width = max(self.grower.goal.tries, wider)
        return [boxes[index][0] for index in chosen]


def _gain(left: NDArray[np.float64], held: Rows) -> float:
    return float(left[held].sum())


def _held(grower: Grower, grown: Grown, _meter: Meter) -> Rows:
    row_index, ranges = grower.row_index, grower.plan.ranges
    return np.flatnonzero(
        held_rows(
            ranges,
            row_index.columns,
            row_index.numbers,
            grown.state.box,
            grown.state.ends,
        )
    )


OnWave = Callable[[Spare], None]
"""Called after each wave with what it leaves to the next."""

OnRule = Callable[[int, float], None]
"""Called after each rule with the number of rules and the fraction covered."""

_SAMPLE = 4096
_AT_ONCE = 64
_WITNESS_BOXES = 1 << 20
_PARTS = 3  # the most parts of each feature when one box is cut out of another
_WITNESS_WORK = 1 << 27  # comparisons between two checks of the clock


@dataclass(slots=True)
class Cover:
    """The rules so far: boxes, the positions of their classes, and of the default."""

    allowed: list[NDArray[np.bool_]] = field(default_factory=list)
    ends: list[NDArray[np.float64]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    default: int = 0

    def boxes(self, domain: Domain) -> Boxes:
        """Return the boxes as arrays."""
        n_rules = min(
            len(self.ends), len(self.answers)
        )  # if interrupted between the two
        return Boxes(
            np.array(self.allowed[:n_rules], dtype=np.bool_).reshape(
                -1, int(domain.offsets[-1])
            ),
            np.array(self.ends[:n_rules]).reshape(-1, 2, len(domain.sizes)),
        )


def cover_rows(
    grower: Grower,
    *,
    cover: Cover,
    impossible: Boxes,
    on_rule: OnRule | None = None,
    is_enough: Callable[[], bool] | None = None,
    spare: Spare | None = None,
    note: OnWave | None = None,
) -> None:
    """Add rules to `cover` until they cover every row, those with most rows first.

    Parameters
    ----------
    grower : Grower
        It has the rows.
    cover : Cover
        Earlier rules; extended in place.
    impossible : Boxes
        Inputs in these boxes are ignored.
    on_rule : callable, optional
        Called after each rule.
    is_enough : callable, optional
        Returns whether to stop before every row is covered.
    spare : Spare, optional
        What an earlier wave left, when resuming.
    note : callable, optional
        Called after each wave.
    """
    oracle, goal, weights = grower.oracle, grower.goal, grower.cases.weights
    domain, row_index = oracle.network.domain, grower.row_index
    holds = partial(held_rows, domain.ranges, row_index.columns, row_index.numbers)
    possible = np.ones(len(weights), dtype=np.bool_)
    for allowed, ends in zip(*impossible, strict=True):
        possible &= ~holds(allowed, ends)
    uncovered = possible.copy()
    for allowed, ends in zip(*cover.boxes(domain), strict=True):
        uncovered &= ~holds(allowed, ends)
    total = float(weights.sum())
    pool = Pool(grower, spare or Spare())
    while (weights[uncovered] > 0).any() and not (
        is_enough is not None and is_enough()
    ):
        oracle.meter.spend()
        ignored = impossible
        if goal.is_ordered:
            both = zip(impossible, cover.boxes(domain), strict=True)
            ignored = Boxes(*(np.concatenate(pair) for pair in both))
        now = uncovered.copy()  # boxes chosen below change it
        wave = Wave(now, now if goal.is_ordered else possible, ignored)
        new = grower.grow(len(cover.answers), wave, pool.width)
        chosen = pool.choose(new, np.where(now, weights, 0.0))
        for grown in grower.finish(chosen, wave):
            if is_enough is not None and is_enough():
                break
            cover.allowed.append(grown.state.box)
            cover.ends.append(grown.state.ends)
            cover.answers.append(grown.answer)
            uncovered &= ~holds(grown.state.box, grown.state.ends)
            if on_rule is not None:
                on_rule(len(cover.answers), 1 - float(weights[uncovered].sum()) / total)
        oracle.meter.spend()  # do not record a wave that was cut short
        if note is not None:
            note(pool.spare)


def cover_domain(
    oracle: Oracle,
    goal: Goal,
    *,
    cover: Cover,
    impossible: Boxes,
    on_rule: OnRule | None = None,
    is_enough: Callable[[], bool] | None = None,
    begun: SearchState | None = None,
    note: Callable[[int, int, Spare], None] | None = None,
) -> bool:
    """Add rules to `cover` until they cover every input of the domain.

    Random inputs that no rule covers are covered like rows. When none can be drawn any
    more, a search looks for one, until it proves that there is none. Returns False if
    there were enough rules before, or if only gaps between real numbers are left, which
    boxes fill ever more slowly where two classes meet.
    """
    network = oracle.network
    is_real = network.domain.n_numbers is None
    rng = np.random.default_rng([goal.seed, 1 << 32])
    spare, number, n_before = Spare(), 0, len(cover.answers)
    if begun is not None and begun.n_rounds:
        spare, number, n_before = begun.spare, begun.n_rounds - 1, begun.n_before
        for _ in range(number):
            random_inputs(network.domain, _SAMPLE, rng)
    while True:
        boxes = cover.boxes(network.domain)
        both = zip(impossible, (part[:n_before] for part in boxes), strict=True)
        taken = Boxes(*(np.concatenate(pair) for pair in both))
        inputs, number = _drawn(oracle, taken, rng), number + 1
        is_gap = inputs is None
        if inputs is None:
            inputs = find_uncovered(oracle, taken)
        if inputs is None:
            return True
        if (is_enough is not None and is_enough()) or (is_gap and is_real):
            return False
        answers = _classes(oracle, inputs)
        cover_rows(
            Grower(oracle, Cases(inputs, np.ones(len(answers)), answers), goal),
            cover=cover,
            impossible=impossible,
            on_rule=on_rule,
            is_enough=is_enough,
            spare=spare,
            note=None if note is None else partial(note, number, n_before),
        )
        spare, n_before = Spare(), len(cover.answers)


def _classes(oracle: Oracle, inputs: Inputs) -> NDArray[np.int64]:
    """Return the classes of inputs; checks the clock, as near-ties take long."""
    classes = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(inputs.codes), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        classes.append(
            oracle.network.predict_codes(inputs.codes[part], inputs.numbers[part])
        )
        oracle.meter.spend()
    return np.concatenate(classes)


def _drawn(oracle: Oracle, taken: Boxes, rng: np.random.Generator) -> Inputs | None:
    """Return random inputs that lie in none of the boxes; None if none is drawn."""
    domain = oracle.network.domain
    inputs = random_inputs(domain, _SAMPLE, rng)
    columns = (inputs.codes + domain.offsets[:-1]).T.copy()
    numbers = inputs.numbers.T.copy()
    uncovered = np.ones(_SAMPLE, dtype=np.bool_)
    for allowed, ends in zip(*taken, strict=True):
        uncovered &= ~held_rows(domain.ranges, columns, numbers, allowed, ends)
    if not uncovered.any():
        return None
    both = np.hstack([inputs.codes[uncovered], inputs.numbers[uncovered]])
    _, first = np.unique(both, axis=0, return_index=True)
    return Inputs(inputs.codes[uncovered][first], inputs.numbers[uncovered][first])


def find_uncovered(oracle: Oracle, boxes: Boxes) -> Inputs | None:
    """Return an input that lies in none of `boxes`; None is a proof that all do.

    Raises
    ------
    BudgetExceededError
        If this is undecided within the limit of the search.
    """
    domain, net = oracle.network.domain, oracle.nets[0]
    n_columns = int(domain.offsets[-1])
    stack, uncovered = (
        empty_boxes(net, 2 + _PARTS * len(domain.sizes)),
        empty_inputs(net, 1),
    )
    stack.allowed[0], stack.ends[0], top = True, domain.limits, 1
    batch = max(1, _WITNESS_WORK // (n_columns * max(1, len(boxes.allowed))))
    left = _WITNESS_BOXES
    while left > 0:
        status, top = covering.first_uncovered(net, boxes, stack, top, uncovered, batch)
        oracle.meter.spend()
        if status >= 0:
            return uncovered if status else None
        if status == -2:
            both = zip(stack, empty_boxes(net, len(stack.allowed)), strict=True)
            stack = Boxes(*(np.concatenate(pair) for pair in both))
        else:
            left -= batch
    raise BudgetExceededError(
        f"it is undecided after {_WITNESS_BOXES:,} boxes whether the "
        f"{len(boxes.allowed):,} rules cover every input"
    )
