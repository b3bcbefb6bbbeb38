"""Rules proved by search, for domains too large for a table.

Rows say what matters: rows of data (support scope), or inputs drawn at random that no
rule decides yet (domain scope). From a row a box is grown, slab by slab, each proved
by search; of several such boxes the one that decides most rows becomes a rule.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, Oracle, points, room
from nn2rules.engine.parallel import in_threads
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction._kernels import covering
from nn2rules.extraction._kernels.nearness import held_rows
from nn2rules.extraction.from_search.checkpoints import Moment
from nn2rules.extraction.from_search.growing import Goal, Grower
from nn2rules.extraction.from_search.growth_context import Cases, Grown, Spare, Wave
from nn2rules.space import Boxes, Domain, Inputs, random_inputs

Rows = NDArray[np.int64]
"""The numbers of rows."""

_NEARLY = 0.2
"""A box that brings this share of what the best one brings is taken with it."""

_WIDER = 1.5
"""So many boxes grow in the next wave for each that was chosen of the last.

At first boxes are large, and of many that grow at the same time few are of use beside
each other; later each decides few rows, and hardly any overlap.
"""

_FEW_CELLS = 1 << 22
"""With fewer values to compare, threads are not worth their start."""


class Pool:
    """Boxes that were grown but not chosen; they stay right, so they are kept.

    `width` is how many are to grow next.
    """

    def __init__(self, grower: Grower, spare: Spare) -> None:
        self.grower, self.width = grower, spare.width or grower.goal.tries
        self.kept = list(zip(spare.boxes, self.held(spare.boxes), strict=True))

    @property
    def spare(self) -> Spare:
        """What the next wave needs of this one."""
        return Spare([grown for grown, _ in self.kept], self.width)

    def held(self, boxes: Sequence[Grown]) -> list[Rows]:
        """Tell of each box which rows it holds."""
        grower = self.grower
        is_small = len(boxes) * grower.columns.size < _FEW_CELLS
        n_jobs = 1 if is_small else grower.goal.n_jobs
        meter = grower.oracle.meter
        with closing(
            in_threads(_held, grower, boxes, meter=meter, n_jobs=n_jobs)
        ) as found:
            return list(found)

    def choose(self, new: Sequence[Grown], left: NDArray[np.float64]) -> list[Grown]:
        """Take out the box that decides most, and those that decide nearly as much.

        Of the new ones and of those kept; each is worth what those before it leave, and
        that only becomes less, so few of them are counted anew.
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
    crowd, ranges = grower.crowd, grower.plan.ranges
    return np.flatnonzero(
        held_rows(
            ranges, crowd.columns, crowd.numbers, grown.state.box, grown.state.ends
        )
    )


Note = Callable[[Spare], None]
"""Called after each wave with what it leaves to the next."""

Found = Callable[[int, float], None]
"""Called after each rule, with the number of rules and the share that is decided."""

_SAMPLE = 4096
_AT_ONCE = 64
_WITNESS_BOXES = 1 << 20
_PARTS = 3  # of each feature, that one box leaves of another
_WITNESS_WORK = 1 << 27  # comparisons of values between two looks at the clock


@dataclass(slots=True)
class Cover:
    """Rules found so far: boxes, the positions of their classes, and the default's."""

    allowed: list[NDArray[np.bool_]] = field(default_factory=list)
    ends: list[NDArray[np.float64]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    default: int = 0

    def boxes(self, domain: Domain) -> Boxes:
        """Return the boxes in two arrays."""
        n_rules = min(len(self.ends), len(self.answers))  # if stopped between the two
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
    found: Found | None = None,
    is_enough: Callable[[], bool] | None = None,
    spare: Spare | None = None,
    note: Note | None = None,
) -> None:
    """Add rules to `cover` until they decide every row, those that decide most first.

    Parameters
    ----------
    grower : Grower
        It knows the rows.
    cover : Cover
        Rules found before, which are extended in place.
    impossible : Boxes
        Inputs inside these do not count.
    found : callable, optional
        Told of each rule.
    is_enough : callable, optional
        Tells whether to stop before every row is decided.
    spare : Spare, optional
        What an earlier wave left, if the work goes on.
    note : callable, optional
        Told after each wave what it leaves.
    """
    oracle, goal, weights = grower.oracle, grower.goal, grower.cases.weights
    domain, crowd = oracle.network.domain, grower.crowd
    holds = partial(held_rows, domain.ranges, crowd.columns, crowd.numbers)
    possible = np.ones(len(weights), dtype=np.bool_)
    for allowed, ends in zip(*impossible, strict=True):
        possible &= ~holds(allowed, ends)
    open_ = possible.copy()
    for allowed, ends in zip(*cover.boxes(domain), strict=True):
        open_ &= ~holds(allowed, ends)
    total = float(weights.sum())
    pool = Pool(grower, spare or Spare())
    while (weights[open_] > 0).any() and not (is_enough is not None and is_enough()):
        oracle.meter.spend()
        ignored = impossible
        if goal.is_ordered:
            both = zip(impossible, cover.boxes(domain), strict=True)
            ignored = Boxes(*(np.concatenate(pair) for pair in both))
        now = open_.copy()  # boxes chosen below change it
        wave = Wave(now, now if goal.is_ordered else possible, ignored)
        new = grower.grow(len(cover.answers), wave, pool.width)
        chosen = pool.choose(new, np.where(now, weights, 0.0))
        for grown in grower.finish(chosen, wave):
            if is_enough is not None and is_enough():
                break
            cover.allowed.append(grown.state.box)
            cover.ends.append(grown.state.ends)
            cover.answers.append(grown.answer)
            open_ &= ~holds(grown.state.box, grown.state.ends)
            if found is not None:
                found(len(cover.answers), 1 - float(weights[open_].sum()) / total)
        oracle.meter.spend()  # a wave that the time cut short is not where to go on
        if note is not None:
            note(pool.spare)


def cover_domain(
    oracle: Oracle,
    goal: Goal,
    *,
    cover: Cover,
    impossible: Boxes,
    found: Found | None = None,
    is_enough: Callable[[], bool] | None = None,
    begun: Moment | None = None,
    note: Callable[[int, int, Spare], None] | None = None,
) -> bool:
    """Add rules to `cover` until they decide every input of the domain.

    Random inputs that no rule decides are covered like rows; when none can be drawn any
    more, a search looks for one, until it proves that there is none. Returns whether it
    did: false if there were rules enough before, or if what is left are gaps between
    real numbers, which boxes fill ever more slowly where two classes meet.
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
            found=found,
            is_enough=is_enough,
            spare=spare,
            note=None if note is None else partial(note, number, n_before),
        )
        spare, n_before = Spare(), len(cover.answers)


def _classes(oracle: Oracle, inputs: Inputs) -> NDArray[np.int64]:
    """Return the classes of inputs; near-ties take long, so the clock is looked at."""
    found = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(inputs.codes), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        found.append(
            oracle.network.predict_codes(inputs.codes[part], inputs.numbers[part])
        )
        oracle.meter.spend()
    return np.concatenate(found)


def _drawn(oracle: Oracle, taken: Boxes, rng: np.random.Generator) -> Inputs | None:
    """Return inputs drawn at random that lie in none of the boxes, or None."""
    domain = oracle.network.domain
    inputs = random_inputs(domain, _SAMPLE, rng)
    columns = (inputs.codes + domain.offsets[:-1]).T.copy()
    numbers = inputs.numbers.T.copy()
    open_ = np.ones(_SAMPLE, dtype=np.bool_)
    for allowed, ends in zip(*taken, strict=True):
        open_ &= ~held_rows(domain.ranges, columns, numbers, allowed, ends)
    if not open_.any():
        return None
    both = np.hstack([inputs.codes[open_], inputs.numbers[open_]])
    _, first = np.unique(both, axis=0, return_index=True)
    return Inputs(inputs.codes[open_][first], inputs.numbers[open_][first])


def find_uncovered(oracle: Oracle, boxes: Boxes) -> Inputs | None:
    """Return an input that lies in none of `boxes`, or None: there is none, proved.

    Raises
    ------
    BudgetExceededError
        If neither is found within the search's limit.
    """
    domain, net = oracle.network.domain, oracle.nets[0]
    n_columns = int(domain.offsets[-1])
    stack, found = room(net, 2 + _PARTS * len(domain.sizes)), points(net, 1)
    stack.allowed[0], stack.ends[0], top = True, domain.limits, 1
    batch = max(1, _WITNESS_WORK // (n_columns * max(1, len(boxes.allowed))))
    left = _WITNESS_BOXES
    while left > 0:
        status, top = covering.first_uncovered(net, boxes, stack, top, found, batch)
        oracle.meter.spend()
        if status >= 0:
            return found if status else None
        if status == -2:
            both = zip(stack, room(net, len(stack.allowed)), strict=True)
            stack = Boxes(*(np.concatenate(pair) for pair in both))
        else:
            left -= batch
    raise BudgetExceededError(
        f"whether the {len(boxes.allowed):,} rules decide every input is still open "
        f"after {_WITNESS_BOXES:,} boxes"
    )
