"""Prove or refute what rules claim, box by box, if there are too many inputs to try.

A claim is that every input of some boxes has one class, except for inputs in free
boxes: inputs that cannot occur and, in a list, those that rules above cover. A box is
halved until bounds (`bounds`) prove it, or it lies in a free box, or an input in it has
another class. The halves together hold the whole box; everything else in this module
only decides what is tried first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.checker.bounds import Leads, Look
from nn2rules.checker.parts import Part, around, by_numbers, by_values, middle_of
from nn2rules.checker.read import Codes, Floats
from nn2rules.checker.run_network import UNDECIDED, exact_class, sure_classes
from nn2rules.network import Network
from nn2rules.space import Range

_AT_ONCE = 256  # boxes that are bounded together
_CLOSE = 4  # near ties that are worked out in fractions each time
_FIRST = 512  # boxes that each claim gets at first; then four times as many, and so on

Status = Literal["proved", "refuted", "undecided"]


class Point(NamedTuple):
    """Some inputs: codes of the network, and numbers, 1 where none is needed."""

    codes: Codes
    numbers: Floats


@dataclass(frozen=True)
class Claim:
    """What a rule claims.

    Attributes
    ----------
    rule : int or None
        Its position; None for the default.
    is_alone : bool
        Whether it is claimed unless the rules hold that the rule itself names.
    index : int
        The position of the class.
    parts : sequence of Part
        Where it is claimed.
    free : Free
        Where it is not.
    """

    rule: int | None
    is_alone: bool
    index: int
    parts: Sequence[Part]
    free: "Free"


@dataclass
class Search:
    """A claim on its way to be proved or refuted."""

    network: Network
    claim: Claim
    leads: Leads
    is_refuted: Callable[[Point], bool]
    status: Status = "undecided"
    boxes: int = 0
    ties: int = 0
    _open: list[Part] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._open = list(reversed(self.claim.parts))
        self._free = self.claim.free
        self._random = np.random.default_rng(0)

    @property
    def is_over(self) -> bool:
        """Whether more time would not help."""
        return self.status != "undecided" or not self._open

    def go_on(self, boxes: int, is_late: Callable[[], bool]) -> None:
        """Look at some boxes more, until it is late."""
        last = self.boxes + boxes
        while self._open and self.boxes < last and not is_late():
            size = min(_AT_ONCE, self.leads.at_once)
            taken, self._open = self._open[-size:], self._open[:-size]
            try:
                self._look_at(taken)
            except BaseException:
                self._open += taken  # what was not finished is still open
                raise
            if self.status == "refuted":
                return
        if not self._open and not self.ties:
            self.status = "proved"

    def _look_at(self, parts: list[Part]) -> None:
        allowed = np.array([part[0] for part in parts])
        ends = np.array([part[1] for part in parts])
        kept = np.flatnonzero(~self._free.around(allowed, ends).any(axis=1))
        look = self.leads.look(allowed[kept], ends[kept]) if len(kept) else None
        self.boxes += len(parts)
        if look is None:
            return
        is_left = ~(look.lowest > 0)  # what is not a number proves nothing
        kept, look = kept[is_left], Look(*(item[is_left] for item in look))
        if len(kept):
            halves = self._halves([parts[at] for at in kept], look)
            if self.status != "refuted":
                self._open += halves

    def _halves(self, parts: list[Part], look: Look) -> list[Part]:
        """Look for inputs of another class; return the halves of boxes without one."""
        allowed = np.array([part[0] for part in parts])
        ends = np.array([part[1] for part in parts])
        by_chance = self._random.normal(size=look.slopes.shape)
        wrong: dict[int, int] = {}  # of boxes: a free box around a wrong input
        is_single = self._is_single(allowed, ends)
        for slopes in (look.slopes, by_chance):
            points = self._points(allowed, ends, slopes)
            classes = self._classes(points, is_single)
            self.ties += int((is_single & (classes == UNDECIDED)).sum())
            for at in np.flatnonzero(
                (classes != self.claim.index) & (classes != UNDECIDED)
            ).tolist():
                one = Point(points.codes[at : at + 1], points.numbers[at : at + 1])
                free = self._free.nearest(one, parts[at])
                if free is not None:
                    wrong.setdefault(at, free)
                elif self.is_refuted(one):
                    self.status = "refuted"
                    return []
                elif is_single[at]:
                    self.ties += 1  # not confirmed, so not settled
            if is_single.all():
                break
        order = self._importance(allowed, ends, look)
        halves: list[Part] = []
        for at in np.flatnonzero(~is_single).tolist():
            if at in wrong:
                halves += self._apart(parts[at], wrong[at], order[at])
            else:
                halves += self._halved(parts[at], order[at], look.slopes[at])
        return halves

    def _is_single(self, allowed: NDArray[np.bool_], ends: Floats) -> NDArray[np.bool_]:
        """Tell which boxes are a single input."""
        domain = self.network.domain
        found = allowed.sum(axis=1) == len(domain.sizes)
        for feature, column in enumerate(domain.ranges.tolist()):
            if column >= 0:
                is_one = ends[:, 0, feature] == ends[:, 1, feature]
                found &= is_one | ~allowed[:, column]
        return np.asarray(found)

    def _classes(self, points: Point, is_single: NDArray[np.bool_]) -> Codes:
        """Return classes: in fractions where they must be known, and of a few more."""
        classes = sure_classes(self.network, *points)
        close = np.flatnonzero(classes == UNDECIDED).tolist()
        exact = [at for at in close if is_single[at]]
        exact += [at for at in close if not is_single[at]][:_CLOSE]
        for at in exact:
            one = points.codes[at], points.numbers[at]
            classes[at] = exact_class(self.network, *one)
        return classes

    def _points(
        self, allowed: NDArray[np.bool_], ends: Floats, slopes: Floats
    ) -> Point:
        """Return an input of each box, of values that add the least."""
        domain = self.network.domain
        codes = np.zeros((len(allowed), len(domain.sizes)), dtype=np.int64)
        numbers = np.ones(codes.shape)
        added = _added(self.network, ends, slopes)
        for feature, (start, stop) in enumerate(_columns(self.network)):
            own = np.where(allowed[:, start:stop], added[:, start:stop], np.inf)
            codes[:, feature] = own.argmin(axis=1)
            column = int(domain.ranges[feature])
            if column >= 0:
                falls = slopes[:, column] < 0
                end = np.where(falls, ends[:, 1, feature], ends[:, 0, feature])
                numbers[:, feature] = np.where(codes[:, feature] == 0, end, 1.0)
        return Point(codes, numbers)

    def _importance(
        self, allowed: NDArray[np.bool_], ends: Floats, look: Look
    ) -> Floats:
        """Return how much the bound may gain by halving each feature of each box."""
        domain, found = self.network.domain, []
        low = _added(self.network, ends, look.slopes)
        high = -_added(self.network, ends, -look.slopes)
        for feature, (start, stop) in enumerate(_columns(self.network)):
            own = allowed[:, start:stop]
            most = np.where(own, high[:, start:stop], -np.inf).max(axis=1)
            gain = most - np.where(own, low[:, start:stop], np.inf).min(axis=1)
            if look.blur.shape[1]:
                widths = self.leads.widths(allowed, ends, feature)
                gain += np.nan_to_num(look.blur * widths).sum(axis=1)
            can_be_halved = own.sum(axis=1) > 1
            if domain.ranges[feature] >= 0:
                is_range = ends[:, 0, feature] < ends[:, 1, feature]
                can_be_halved |= own[:, 0] & is_range
            found.append(np.where(can_be_halved, np.nan_to_num(gain), -np.inf))
        return np.array(found).T

    def _halved(self, part: Part, order: Floats, slopes: Floats) -> list[Part]:
        """Halve the feature that promises most."""
        feature = int(order.argmax())
        columns = slice(*_columns(self.network)[feature])
        own, about = part[0][columns], self.network.domain.features[feature]
        is_first = np.zeros_like(own)
        if isinstance(about, Range) and own[0]:
            if own.sum() == 1:
                low, high = part[1][:, feature].tolist()
                cut = middle_of(low, high, is_whole=about.whole)
                return by_numbers(part, feature, *cut)
            is_first[0] = True
            return by_values(part, columns, is_first)
        codes = np.flatnonzero(own)
        codes = codes[np.argsort(slopes[columns][codes], kind="stable")]
        is_first[codes[: len(codes) // 2]] = True
        return by_values(part, columns, is_first)

    def _apart(self, part: Part, free: int, order: Floats) -> list[Part]:
        """Cut off what reaches beyond a free box, by one feature."""
        other = self._free.parts[free]
        beyond = _beyond(self.network, part, other)
        feature = max(beyond, key=lambda one: order[one])
        columns = slice(*_columns(self.network)[feature])
        own, about = part[0][columns], self.network.domain.features[feature]
        is_first = own & other[0][columns]
        if (is_first == own).all():  # so its numbers reach beyond
            if own.sum() == 1:
                low, (first, last) = part[1][0, feature], other[1][:, feature].tolist()
                cut = around(float(low), first, last, is_whole=about.whole)
                return by_numbers(part, feature, *cut)
            is_first = np.zeros_like(own)
            is_first[0] = True
        return by_values(part, columns, is_first)


@dataclass(frozen=True)
class Free:
    """Boxes whose inputs a claim leaves free."""

    network: Network
    parts: Sequence[Part]
    outside: NDArray[np.float32]  # (n_columns, n_boxes): 1 where none is allowed
    ends: Floats

    @classmethod
    def of(cls, network: Network, parts: Sequence[Part]) -> "Free":
        """Put boxes together."""
        shape = (len(parts), int(network.domain.offsets[-1]))
        allowed = np.array([part[0] for part in parts], dtype=np.bool_).reshape(shape)
        ends = np.array([part[1] for part in parts], dtype=np.float64)
        outside = (~allowed).T.astype(np.float32)
        return cls(
            network,
            parts,
            outside,
            ends.reshape(len(parts), 2, -1) if len(parts) else ends,
        )

    def first(self, number: int) -> "Free":
        """Return the first of these boxes; nothing is copied."""
        return Free(
            self.network,
            self.parts[:number],
            self.outside[:, :number],
            self.ends[:number],
        )

    def around(self, allowed: NDArray[np.bool_], ends: Floats) -> NDArray[np.bool_]:
        """Tell which free boxes hold all of each of some boxes."""
        found = allowed.astype(np.float32) @ self.outside == 0
        if not len(self.parts):
            return np.asarray(found)
        for feature, column in enumerate(self.network.domain.ranges.tolist()):
            if column >= 0:
                low, high = ends[:, [0], feature], ends[:, [1], feature]
                first, last = self.ends[:, 0, feature], self.ends[:, 1, feature]
                found &= ((first <= low) & (high <= last)) | ~allowed[:, [column]]
        return np.asarray(found)

    def nearest(self, one: Point, part: Part) -> int | None:
        """Return a free box that an input lies in, and most of a box, or None."""
        domain = self.network.domain
        allowed = np.zeros((1, int(domain.offsets[-1])), dtype=np.bool_)
        allowed[0, domain.offsets[:-1] + one.codes[0]] = True
        ends = np.stack([one.numbers, one.numbers], axis=1)
        found = np.flatnonzero(self.around(allowed, ends)[0]).tolist()
        return min(
            found,
            key=lambda at: len(_beyond(self.network, part, self.parts[at])),
            default=None,
        )


def _columns(network: Network) -> list[tuple[int, int]]:
    """Return where the columns of each feature begin and end."""
    return list(pairwise(network.domain.offsets.tolist()))


def _added(network: Network, ends: Floats, slopes: Floats) -> Floats:
    """Return what each value adds at least, by what its column is worth."""
    added = np.nan_to_num(slopes)
    for feature, column in enumerate(network.domain.ranges.tolist()):
        if column >= 0:
            both = added[:, [column]] * ends[:, :, feature]
            added[:, column] = np.nan_to_num(both.min(axis=1))
    return added


def _beyond(network: Network, part: Part, other: Part) -> list[int]:
    """Return the features in which a box reaches beyond another."""
    found, ranges = [], network.domain.ranges.tolist()
    for feature, (start, stop) in enumerate(_columns(network)):
        low, high = part[1][:, feature]
        first, last = other[1][:, feature]
        is_out = (
            ranges[feature] >= 0 and part[0][start] and (low < first or last < high)
        )
        if is_out or (part[0][start:stop] & ~other[0][start:stop]).any():
            found.append(feature)
    return found


def search_all(
    searches: Sequence[Search],
    is_late: Callable[[], bool],
    tell: Callable[[float], None],
) -> None:
    """Go on with all searches, each for a while and then longer, until it is late."""
    quota = _FIRST
    waiting = [search for search in searches if not search.is_over]
    while waiting and not is_late():
        for search in waiting:
            search.go_on(quota, is_late)
            done = sum(search.is_over for search in searches)
            tell(done / len(searches))
            if is_late():
                break
        waiting = [search for search in waiting if not search.is_over]
        quota *= 4
