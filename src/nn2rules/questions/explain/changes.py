"""The cheapest changes to another class, all of them, and that none is cheaper.

From a table the cost of every input is added up. By search, changes of one or two
features are tried one by one, where they are few. Otherwise costs are raised level by
level: where no input turns within some levels, the box is made as large as it can be,
and one of its features has to go beyond. Levels that meet all such demands at the least
cost are asked next; so what turns first is the cheapest, with proof.
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
from nn2rules.questions.explain.small_changes import Few
from nn2rules.space import Boxes, inside

_MOST_TRIED = 64


def nearest(
    case: Case,
    chosen: Mapping[int, Block],
    walks: Mapping[int, Walk],
    turned: Point,
    forbidden: Boxes | None,
) -> tuple[Point, bool]:
    """Return the nearest input that turns, and whether it is known to be.

    Parameters
    ----------
    chosen : mapping from features to blocks
        Values, or numbers on one side of the row's.
    walks : mapping from features to walks
        Steps away from the row's number, of some of these.
    turned : Point
        An input of them that turns.
    """
    near = _Nearest(case, dict(chosen), walks, turned, forbidden)
    near.shrink()
    return near.rounded(), near.is_sure


class _Nearest:
    def __init__(
        self,
        case: Case,
        chosen: dict[int, Block],
        walks: Mapping[int, Walk],
        turned: Point,
        forbidden: Boxes | None,
    ) -> None:
        self.case, self.chosen, self.turned = case, chosen, turned
        self.forbidden, self.is_sure = forbidden, True
        self.walks = {
            index: walk
            for index, walk in walks.items()
            if chosen[index].values[0] and chosen[index].low < chosen[index].high
        }
        self.is_up = {i: chosen[i].low > walk.number for i, walk in self.walks.items()}
        self.most = {i: walk.n_steps for i, walk in self.walks.items()}

    def shrink(self) -> None:
        """Take fewer steps: all together, then each alone."""
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
        """Find the fewest steps with which something turns, by halving."""
        low, high = 1, most
        while low < high:
            middle = (low + high) // 2
            within = self._within(taken(middle))
            is_empty = any(block.low > block.high for block in within.values())
            turned = None
            if not is_empty:
                asked = self.case.ask(within, self.forbidden)
                turned = asked.point
                self.is_sure = self.is_sure and asked.status != "undecided"
            if turned is None:
                low = middle + 1
            else:
                high, self.turned = middle, turned
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
        """Return the input with round numbers instead, where these turn as well."""
        choices = []
        for index, walk in self.walks.items():
            near, is_up = self._within(self.most)[index], self.is_up[index]
            found = float(self.turned.numbers[index])
            rounded = _round(walk, near, self.chosen[index], is_up=is_up)
            choices.append([*rounded, found])
        for count, numbers in enumerate(product(*choices)):
            tried = self.turned.numbers.copy()
            tried[list(self.walks)] = numbers
            one = self.turned.codes[np.newaxis], tried[np.newaxis]
            is_in = self.forbidden is not None and bool(
                inside(self.case.domain, self.forbidden, *one)[0]
            )
            if not is_in and self.case.turned(*one)[0]:
                return Point(self.turned.codes, tried)
            if count == _MOST_TRIED:
                break
        return self.turned


def _round(walk: Walk, near: Block, whole: Block, *, is_up: bool) -> list[float]:
    """Return multiples of the step, of the last one and just beyond; then its far end.

    The one beyond only where the `whole` block that was chosen reaches so far.
    """
    step, far = decimal(walk.step), near.high if is_up else near.low
    times = decimal(far) / step
    both = [floor(times), ceil(times)] if is_up else [ceil(times), floor(times)]
    found = []
    for multiple, block in zip(both, (near, whole), strict=True):
        if decimal(block.low) <= multiple * step <= decimal(block.high):
            found.append(float(multiple * step))
    return [*dict.fromkeys([*found, far])]


_REMEMBERED = 100  # inputs that turn; the later ones are nearer

MOST_CHANGES = 10_000
"""So many alternatives are listed, at most; more are said to be there."""


@dataclass(slots=True)
class Changes:
    """The cheapest changes that turn a row.

    Attributes
    ----------
    found : list of Point
        Inputs of another class, each as near as can be.
    cost : int or None
        What each costs; None if none is known.
    at_least : int
        No change costs less.
    is_none : bool
        It is proved that no change turns the row.
    is_every : bool
        No other change costs as little. Of numbers of a range, one is listed for each
        choice of features, values, and whether numbers go up or down.
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
        """Whether it is proved that nothing cheaper turns the row."""
        return self.is_none or (self.cost is not None and self.at_least >= self.cost)


class Search:
    """Looks for the cheapest changes of one row."""

    def __init__(
        self,
        case: Case,
        ladders: Sequence[Ladder],
        order: Sequence[int],
        forbidden: Boxes | None,
    ) -> None:
        self.case, self.ladders, self.order = case, ladders, order
        self.forbidden = forbidden
        self.changes = Changes()
        self._known: deque[Point] = deque(maxlen=_REMEMBERED)
        self.demands = Demands([ladder.costs for ladder in ladders], case.judge.meter)

    def find(self, *, first: bool) -> Changes:
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
        """Try changes of one feature, of two, and so on, for as long as they are few.

        Returns whether that found all of the smallest size; if not, the demands know
        how many features must change at least.
        """
        if any(ladder.costs not in ([], [1]) for ladder in self.ladders):
            return False
        few = Few(self.case, self.ladders, self.forbidden)
        while few.take_next():
            if few.found or few.turned:
                self.changes.cost = self.changes.at_least = few.size
                if first:
                    some = few.found or [asked for _, asked in few.turned]
                    self.changes.found = some[:1]
                    return True
                self.changes.found = few.found
                for moved, asked in few.turned:
                    levels = tuple(int(i in moved) for i in range(len(self.ladders)))
                    self._list(levels, Judgement("refuted", asked), first=False)
                return True
            self.changes.at_least = few.size + 1
            self.demands.start_at(few.size + 1)
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
        """Take the cheapest input that is known to turn, if nothing else was found."""
        if self.changes.found or not self._known:
            return
        costs = [self.demands.cost(self._levels_of(point)) for point in self._known]
        least = int(np.argmin(costs))
        self.changes.found = [self._known[least]]
        self.changes.cost = costs[least]

    def _levels_of(self, point: Point) -> Levels:
        """Return the least levels within which an input lies."""
        return tuple(
            ladder.level_of(int(code), float(number))
            for ladder, code, number in zip(self.ladders, *point, strict=True)
        )

    def _demand(self, levels: Levels) -> None:
        """Demand to go beyond levels within which nothing turns."""
        self.demands.add(
            {
                index: level + 1
                for index, level in enumerate(levels)
                if level < len(self.ladders[index].costs)
            }
        )

    def _grown(self, levels: Levels) -> Levels:
        """Raise levels, one feature after the other, for as long as nothing turns."""
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
        """List what turns at exactly these levels."""
        changes, moved = self.changes, [i for i, level in enumerate(levels) if level]
        if first:
            assert asked.point is not None, "it was turned"
            changes.found.append(asked.point)
            return
        options = [self.ladders[i].options(levels[i]) for i in moved]
        room = MOST_CHANGES - len(changes.found)
        if prod(map(len, options)) > MOST_CHANGES:
            changes.is_every = False
        choices = islice(product(*options), MOST_CHANGES)
        if any(block.low < block.high for some in options for block in some):
            found = self._near(moved, choices)
        else:
            found = self._turning(moved, list(choices))
        if not found:  # all that was tried is open, or beyond what is listed
            assert asked.point is not None, "it was turned"
            found, changes.is_every = [asked.point], False
        changes.found += found[:room]
        changes.is_every = changes.is_every and len(found) <= room

    def _near(
        self, moved: Sequence[int], choices: Iterable[tuple[Block, ...]]
    ) -> list[Point]:
        """Return the nearest input that turns, for each choice that has any."""
        found = []
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
                found.append(point)
                self.changes.is_nearest = self.changes.is_nearest and is_sure
        return found

    def _turning(
        self, moved: Sequence[int], choices: Sequence[tuple[Block, ...]]
    ) -> list[Point]:
        """Return all inputs that turn, where every choice is a single one."""
        row = self.case.point
        codes = np.tile(row.codes, (len(choices), 1))
        numbers = np.tile(row.numbers, (len(choices), 1))
        for place, index in enumerate(moved):
            codes[:, index] = [int(np.argmax(b[place].values)) for b in choices]
            numbers[:, index] = [b[place].low for b in choices]
        is_turned = self._turned(codes, numbers)
        return [Point(codes[i], numbers[i]) for i in np.flatnonzero(is_turned).tolist()]

    def _turned(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        case = self.case
        try:
            classes = case.judge.classes_of(codes, numbers)
            is_turned = (classes != case.index) & (classes != DONT_CARE)
        except UndecidedError:  # of one of them, which may turn
            is_turned = case.turned(codes, numbers)
            self.changes.is_every = False
        if self.forbidden is not None:
            is_turned &= ~inside(case.domain, self.forbidden, codes, numbers)
        return np.asarray(is_turned)


_FORBIDDEN = 1 << 50


def find_changes(
    case: Case,
    ladders: Sequence[Ladder],
    order: Sequence[int],
    forbidden: Boxes | None = None,
    *,
    first: bool = False,
) -> Changes:
    """Look for the cheapest changes, or for the `first` of them alone."""
    if isinstance(case.judge, TableJudge):
        try:
            changes = _by_table(case, case.judge, ladders, first=first)
        except BudgetExceededError:
            return Changes(is_every=False)
    else:
        changes = Search(case, ladders, order, forbidden).find(first=first)
    changes.found.sort(key=lambda point: _place(case, point))
    return changes


def _place(case: Case, point: Point) -> tuple[object, ...]:
    """Return where a change is listed: by its features, then by what is nearer."""
    changed = np.flatnonzero(is_changed(case, point.codes, point.numbers)).tolist()
    apart = point.numbers / 2 - case.point.numbers / 2  # halves do not overflow
    away = point.codes - case.point.codes, apart
    near = [np.abs(part[changed]).tolist() for part in away]
    return tuple(changed), *near, point.codes.tolist(), point.numbers.tolist()


def _by_table(
    case: Case, judge: TableJudge, ladders: Sequence[Ladder], *, first: bool
) -> Changes:
    judge.meter.spend()
    costs = np.zeros(1, dtype=np.int64)
    for size, ladder in zip(case.domain.sizes, ladders, strict=True):
        costs = np.add.outer(costs, ladder.value_costs(size, _FORBIDDEN)).ravel()
    others = judge.others(case.index)
    reached = costs[others]
    least = int(reached.min(initial=_FORBIDDEN))
    if least >= _FORBIDDEN:
        return Changes(is_none=True)
    numbers = others[reached == least]
    is_every = len(numbers) <= MOST_CHANGES and not (first and len(numbers) > 1)
    codes = case.domain.codes_of(numbers[: 1 if first else MOST_CHANGES])
    found = [Point(row, np.ones(len(row))) for row in codes]
    return Changes(found, least, least, is_every=is_every)


def check_changes(case: Case, changes: Changes) -> None:
    """Ask the network itself about every change that is listed."""
    if changes.found:
        codes = np.array([point.codes for point in changes.found])
        numbers = np.array([point.numbers for point in changes.found])
        if not case.turned(codes, numbers).all():
            raise InternalError("a change does not turn the answer")
