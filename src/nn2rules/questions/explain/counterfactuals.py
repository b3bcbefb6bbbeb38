"""Counterfactuals: the cheapest changes to another class, and the proof that they are.

With a table, the cost of every input is computed. With a search, changes of one or two
features are tried one by one if they are few. Otherwise costs are raised level by
level: if no input within some levels flips the prediction, the box is grown as far as
possible, and one of its features has to leave it. The cheapest levels that meet all
such demands are asked about next, so the first that flip the prediction are the
cheapest, with proof.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, product
from math import ceil, floor, prod

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import DONT_CARE, Judgement, Point, TableJudge
from nn2rules.errors import BudgetExceededError, InternalError, UndecidedError
from nn2rules.questions.explain.case import Block, Case, is_changed
from nn2rules.questions.explain.change_costs import Ladder, Walk, decimal
from nn2rules.questions.explain.hitting_sets import Demands, Levels
from nn2rules.questions.explain.small_changes import SmallChanges
from nn2rules.space import Boxes, inside

_MOST_TRIED = 64


def nearest(
    case: Case,
    chosen: Mapping[int, Block],
    walks: Mapping[int, Walk],
    flipped: Point,
    forbidden: Boxes | None,
) -> tuple[Point, bool]:
    """Return the nearest input that flips the prediction, and whether that is proved.

    Parameters
    ----------
    chosen : mapping from features to blocks
        Values, or numbers on one side of the row's.
    walks : mapping from features to walks
        Steps away from the row's number, for some of these.
    flipped : Point
        An input among these that flips the prediction.
    """
    near = _Nearest(case, dict(chosen), walks, flipped, forbidden)
    near.shrink()
    return near.rounded(), near.is_sure


class _Nearest:
    def __init__(
        self,
        case: Case,
        chosen: dict[int, Block],
        walks: Mapping[int, Walk],
        flipped: Point,
        forbidden: Boxes | None,
    ) -> None:
        self.case, self.chosen, self.flipped = case, chosen, flipped
        self.forbidden, self.is_sure = forbidden, True
        self.walks = {
            index: walk
            for index, walk in walks.items()
            if chosen[index].values[0] and chosen[index].low < chosen[index].high
        }
        self.is_up = {i: chosen[i].low > walk.number for i, walk in self.walks.items()}
        self.most = {i: walk.n_steps for i, walk in self.walks.items()}

    def shrink(self) -> None:
        """Take fewer steps: all features together, then each alone."""
        if len(self.walks) > 1:
            self._least(max(self.most.values()), self._together)
        for index in self.walks:
            self._least(self.most[index], partial(self._alone, index))

    def _alone(self, index: int, steps: int) -> dict[int, int]:
        return {**self.most, index: steps}

    def _together(self, steps: int) -> dict[int, int]:
        most = max(self.most.values())
        return {i: ceil(steps * n / most) for i, n in self.most.items()}

    def _least(self, most: int, taken: Callable[[int], dict[int, int]]) -> None:
        """Find the fewest steps that flip the prediction, by bisection."""
        low, high = 1, most
        while low < high:
            middle = (low + high) // 2
            within = self._within(taken(middle))
            is_empty = any(block.low > block.high for block in within.values())
            flipped = None
            if not is_empty:
                asked = self.case.ask(within, self.forbidden)
                flipped = asked.point
                self.is_sure = self.is_sure and asked.status != "undecided"
            if flipped is None:
                low = middle + 1
            else:
                high, self.flipped = middle, flipped
        self.most = taken(high)

    def _within(self, steps: Mapping[int, int]) -> dict[int, Block]:
        blocks = dict(self.chosen)
        for index, walk in self.walks.items():
            block, end = blocks[index], walk.at(steps[index])
            low, high = block.low, min(block.high, end)
            if not self.is_up[index]:
                low, high = max(block.low, walk.at(-steps[index])), block.high
            blocks[index] = Block(block.values, low, high)
        return blocks

    def rounded(self) -> Point:
        """Return the input with round numbers instead, if these flip it as well."""
        choices = []
        for index, walk in self.walks.items():
            near, is_up = self._within(self.most)[index], self.is_up[index]
            own_number = float(self.flipped.numbers[index])
            rounded = _round(walk, near, self.chosen[index], is_up=is_up)
            choices.append([*rounded, own_number])
        for count, numbers in enumerate(product(*choices)):
            tried = self.flipped.numbers.copy()
            tried[list(self.walks)] = numbers
            one = self.flipped.codes[np.newaxis], tried[np.newaxis]
            is_in = self.forbidden is not None and bool(
                inside(self.case.domain, self.forbidden, *one)[0]
            )
            if not is_in and self.case.is_flipped(*one)[0]:
                return Point(self.flipped.codes, tried)
            if count == _MOST_TRIED:
                break
        return self.flipped


def _round(walk: Walk, near: Block, chosen: Block, *, is_up: bool) -> list[float]:
    """Return multiples of the step near the far end of a block, then that end.

    The multiple just beyond is left out unless the `chosen` block contains it.
    """
    step, far = decimal(walk.step), near.high if is_up else near.low
    times = decimal(far) / step
    both = [floor(times), ceil(times)] if is_up else [ceil(times), floor(times)]
    numbers = []
    for multiple, block in zip(both, (near, chosen), strict=True):
        if decimal(block.low) <= multiple * step <= decimal(block.high):
            numbers.append(float(multiple * step))
    return [*dict.fromkeys([*numbers, far])]


_REMEMBERED = 100  # flipped inputs; later ones are nearer

MOST_LISTED = 10_000
"""The most counterfactuals listed; if there are more, that is reported."""


@dataclass(slots=True)
class Counterfactuals:
    """The cheapest changes that flip the prediction of a row.

    Attributes
    ----------
    found : list of Point
        Inputs of another class, each as near as possible.
    cost : int or None
        The cost of each; None if none is known.
    at_least : int
        No change costs less.
    is_none : bool
        It is proved that no change flips the prediction.
    is_every : bool
        All changes of this cost are listed: of numbers of a range, one for each choice
        of features, values, and whether numbers go up or down.
    is_nearest : bool
        Numbers of ranges take the fewest steps; see `nearest`.
    """

    found: list[Point] = field(default_factory=list)
    cost: int | None = None
    at_least: int = 0
    is_none: bool = False
    is_every: bool = True
    is_nearest: bool = True

    @property
    def is_cheapest(self) -> bool:
        """Whether it is proved that nothing cheaper flips the prediction."""
        return self.is_none or (self.cost is not None and self.at_least >= self.cost)


class CounterfactualSearch:
    """Searches the cheapest changes of one row."""

    def __init__(
        self,
        case: Case,
        ladders: Sequence[Ladder],
        order: Sequence[int],
        forbidden: Boxes | None,
    ) -> None:
        self.case, self.ladders, self.order = case, ladders, order
        self.forbidden = forbidden
        self.changes = Counterfactuals()
        self._known: deque[Point] = deque(maxlen=_REMEMBERED)
        self.demands = Demands([ladder.costs for ladder in ladders], case.judge.meter)

    def find(self, *, first: bool) -> Counterfactuals:
        """Return the cheapest changes, or what was known when the budget ended."""
        changes, solved, asked = self.changes, False, Judgement("undecided")
        try:
            most = tuple(len(ladder.costs) for ladder in self.ladders)
            asked = self._ask(most)
            if asked.status == "proved":
                changes.is_none = True
                return changes
            is_sure, solved = True, self._by_size(first=first)
            while not (solved or (first and changes.found)):
                levels = self.demands.cheapest()
                cost = None if levels is None else self.demands.cost(levels)
                if levels is None or (changes.found and cost != changes.cost):
                    solved = True
                    break
                assert cost is not None, "these levels have a cost"
                if is_sure:
                    changes.at_least = max(changes.at_least, cost)
                asked = self._ask(levels)
                if asked.status == "refuted":
                    changes.cost = cost
                    self.demands.block(levels)
                    self._list(levels, asked, first=first)
                    continue
                is_sure = is_sure and asked.status == "proved"
                self._demand(
                    levels if asked.status == "undecided" else self._grown(levels)
                )
        except BudgetExceededError:
            solved = False
            self._take_known()
        changes.is_every = changes.is_every and solved
        return changes

    def _by_size(self, *, first: bool) -> bool:
        """Try changes of one feature, of two, and so on, as long as there are few.

        Returns whether that found all of the smallest size; if not, the demands know
        how many features must change at least.
        """
        if any(ladder.costs not in ([], [1]) for ladder in self.ladders):
            return False
        small = SmallChanges(self.case, self.ladders, self.forbidden)
        while small.take_next():
            if small.found or small.flipping:
                self.changes.cost = self.changes.at_least = small.size
                if first:
                    some = small.found or [asked for _, asked in small.flipping]
                    self.changes.found = some[:1]
                    return True
                self.changes.found = small.found
                for moved, asked in small.flipping:
                    levels = tuple(int(i in moved) for i in range(len(self.ladders)))
                    self._list(levels, Judgement("refuted", asked), first=False)
                return True
            self.changes.at_least = small.size + 1
            self.demands.start_at(small.size + 1)
        return False

    def _ask(self, levels: Levels) -> Judgement:
        blocks = {
            index: ladder.block(level)
            for index, (ladder, level) in enumerate(
                zip(self.ladders, levels, strict=True)
            )
            if level
        }
        asked = self.case.ask(blocks, self.forbidden)
        if asked.point is not None:
            self._known.append(asked.point)
        return asked

    def _take_known(self) -> None:
        """Take the cheapest flipped input seen so far, if nothing else was found."""
        if self.changes.found or not self._known:
            return
        costs = [self.demands.cost(self._levels_of(point)) for point in self._known]
        least = int(np.argmin(costs))
        self.changes.found = [self._known[least]]
        self.changes.cost = costs[least]

    def _levels_of(self, point: Point) -> Levels:
        """Return the lowest levels within which an input lies."""
        return tuple(
            ladder.level_of(int(code), float(number))
            for ladder, code, number in zip(self.ladders, *point, strict=True)
        )

    def _demand(self, levels: Levels) -> None:
        """Demand to leave levels within which nothing flips the prediction."""
        self.demands.add(
            {
                index: level + 1
                for index, level in enumerate(levels)
                if level < len(self.ladders[index].costs)
            }
        )

    def _grown(self, levels: Levels) -> Levels:
        """Raise levels feature by feature, as long as nothing flips the prediction."""
        grown = list(levels)
        for index in self.order:
            low, high = grown[index], len(self.ladders[index].costs)
            trial = high
            while low < high:
                grown[index] = trial
                if self._ask(tuple(grown)).status == "proved":
                    low = trial
                else:
                    high = trial - 1
                trial = (low + high + 1) // 2
            grown[index] = low
        return tuple(grown)

    def _list(self, levels: Levels, asked: Judgement, *, first: bool) -> None:
        """List what flips the prediction at exactly these levels."""
        changes, moved = self.changes, [i for i, level in enumerate(levels) if level]
        if first:
            assert asked.point is not None, "it was refuted"
            changes.found.append(asked.point)
            return
        options = [self.ladders[i].options(levels[i]) for i in moved]
        room = MOST_LISTED - len(changes.found)
        if prod(map(len, options)) > MOST_LISTED:
            changes.is_every = False
        choices = islice(product(*options), MOST_LISTED)
        if any(block.low < block.high for some in options for block in some):
            points = self._near(moved, choices)
        else:
            points = self._flipping(moved, list(choices))
        if not points:  # everything tried is undecided, or beyond the limit
            assert asked.point is not None, "it was refuted"
            points, changes.is_every = [asked.point], False
        changes.found += points[:room]
        changes.is_every = changes.is_every and len(points) <= room

    def _near(
        self, moved: Sequence[int], choices: Iterable[tuple[Block, ...]]
    ) -> list[Point]:
        """Return the nearest flipped input of each choice that has one."""
        points = []
        for blocks in choices:
            chosen = dict(zip(moved, blocks, strict=True))
            asked = self.case.ask(chosen, self.forbidden)
            if asked.status == "undecided":
                self.changes.is_every = False
            elif asked.point is not None:
                walks = {i: walk for i in moved if (walk := self.ladders[i].walk)}
                point, is_sure = nearest(
                    self.case, chosen, walks, asked.point, self.forbidden
                )
                points.append(point)
                self.changes.is_nearest = self.changes.is_nearest and is_sure
        return points

    def _flipping(
        self, moved: Sequence[int], choices: Sequence[tuple[Block, ...]]
    ) -> list[Point]:
        """Return all flipped inputs, where every choice is a single input."""
        row = self.case.point
        codes = np.tile(row.codes, (len(choices), 1))
        numbers = np.tile(row.numbers, (len(choices), 1))
        for place, index in enumerate(moved):
            codes[:, index] = [int(np.argmax(b[place].values)) for b in choices]
            numbers[:, index] = [b[place].low for b in choices]
        is_flipped = self._flipped(codes, numbers)
        return [
            Point(codes[i], numbers[i]) for i in np.flatnonzero(is_flipped).tolist()
        ]

    def _flipped(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        case = self.case
        try:
            classes = case.judge.classes_of(codes, numbers)
            is_flipped = (classes != case.class_index) & (classes != DONT_CARE)
        except UndecidedError:  # one of them is undecided, and may be flipped
            is_flipped = case.is_flipped(codes, numbers)
            self.changes.is_every = False
        if self.forbidden is not None:
            is_flipped &= ~inside(case.domain, self.forbidden, codes, numbers)
        return np.asarray(is_flipped)


_FORBIDDEN = 1 << 50


def find_counterfactuals(
    case: Case,
    ladders: Sequence[Ladder],
    order: Sequence[int],
    forbidden: Boxes | None = None,
    *,
    first: bool = False,
) -> Counterfactuals:
    """Return the cheapest changes, or only the `first` of them."""
    if isinstance(case.judge, TableJudge):
        try:
            changes = _by_table(case, case.judge, ladders, first=first)
        except BudgetExceededError:
            return Counterfactuals(is_every=False)
    else:
        search = CounterfactualSearch(case, ladders, order, forbidden)
        changes = search.find(first=first)
    changes.found.sort(key=lambda point: _place(case, point))
    return changes


def _place(case: Case, point: Point) -> tuple[object, ...]:
    """Return the sort key of a change: its features, then how near it is."""
    changed = np.flatnonzero(is_changed(case, point.codes, point.numbers)).tolist()
    apart = point.numbers / 2 - case.point.numbers / 2  # halves do not overflow
    away = point.codes - case.point.codes, apart
    near = [np.abs(part[changed]).tolist() for part in away]
    return tuple(changed), *near, point.codes.tolist(), point.numbers.tolist()


def _by_table(
    case: Case, judge: TableJudge, ladders: Sequence[Ladder], *, first: bool
) -> Counterfactuals:
    judge.meter.spend()
    costs = np.zeros(1, dtype=np.int64)
    for size, ladder in zip(case.domain.sizes, ladders, strict=True):
        costs = np.add.outer(costs, ladder.value_costs(size, _FORBIDDEN)).ravel()
    others = judge.others(case.class_index)
    reached = costs[others]
    least = int(reached.min(initial=_FORBIDDEN))
    if least >= _FORBIDDEN:
        return Counterfactuals(is_none=True)
    numbers = others[reached == least]
    is_every = len(numbers) <= MOST_LISTED and not (first and len(numbers) > 1)
    codes = case.domain.codes_of(numbers[: 1 if first else MOST_LISTED])
    points = [Point(row, np.ones(len(row))) for row in codes]
    return Counterfactuals(points, least, least, is_every=is_every)


def check_counterfactuals(case: Case, changes: Counterfactuals) -> None:
    """Check every listed counterfactual with the network itself."""
    if changes.found:
        codes = np.array([point.codes for point in changes.found])
        numbers = np.array([point.numbers for point in changes.found])
        if not case.is_flipped(codes, numbers).all():
            raise InternalError("a counterfactual does not flip the prediction")
