"""Where a claim is said to hold: the inputs that count, as boxes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.extraction import parts_of
from nn2rules.language import Said, conditions_for, together
from nn2rules.questions.claims import premise
from nn2rules.rules import covered
from nn2rules.space import Condition, Domain, Value, boxes_of
from nn2rules.space._kernels.boxes import Boxes

_DRAWN = 4096


@dataclass(frozen=True)
class Region:
    """The inputs that count.

    Attributes
    ----------
    domain : Domain
        Of the network.
    conditions : tuple of Condition
        That they meet.
    within : Boxes
        The same as boxes of the network's domain, no two of which have an input in
        common.
    impossible : Boxes
        What cannot occur.
    is_impossible : callable or None
        The same as a function of rows.
    """

    domain: Domain
    conditions: tuple[Condition, ...]
    within: Boxes
    impossible: Boxes
    is_impossible: Callable[[list[dict[str, Value]]], Any] | None = None

    def holds(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None
    ) -> NDArray[np.bool_]:
        """Tell which inputs count."""
        amounts = np.ones(codes.shape) if numbers is None else numbers
        inside = held_by(self.domain, self.within, codes, amounts)
        inside &= ~held_by(self.domain, self.impossible, codes, amounts)
        if self.is_impossible is not None and inside.any():
            places = np.flatnonzero(inside)
            rows = self.domain.decode(codes[places], amounts[places])
            told = np.asarray(self.is_impossible(rows))
            if told.shape != (len(rows),):
                raise OptionError(
                    f"impossible: the function must give one answer for each of "
                    f"{len(rows)} rows; it gave an array of shape {told.shape}"
                )
            inside[places[told.astype(np.bool_)]] = False
        return inside

    @property
    def listed(self) -> list[NDArray[np.int64]] | None:
        """The codes that each feature has here; None where one has a range of numbers.

        A region is then more than its codes.
        """
        allowed = self.within.allowed[0]
        ranged = self.domain.ranges[self.domain.ranges >= 0]
        if len(self.within.allowed) > 1 or allowed[ranged].any():
            return None
        return [np.flatnonzero(part) for part in self._blocks(allowed)]

    def _blocks(self, box: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
        return np.split(box, self.domain.offsets[1:-1])

    def drawn(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Draw inputs that meet the conditions, whether they can occur or not.

        Of each box as many, as codes and numbers; half of these are ends of ranges.
        """
        rng, domain = np.random.default_rng(0), self.domain
        found: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        for allowed, ends in zip(self.within.allowed, self.within.ends, strict=True):
            blocks = [np.flatnonzero(block) for block in self._blocks(allowed)]
            codes = np.stack([rng.choice(block, number) for block in blocks], axis=1)
            shares = rng.random(codes.shape)
            shares[rng.random(codes.shape) < 0.25] = 0
            shares[rng.random(codes.shape) < 0.25] = 1
            numbers = (1 - shares) * ends[0] + shares * ends[1]
            whole = np.array([feature.whole for feature in domain.features])
            numbers = np.where(whole, np.round(numbers), numbers)
            numbers = np.clip(numbers, ends[0], ends[1])
            numbers[codes + domain.offsets[:-1] != domain.ranges] = 1.0
            found.append((codes, numbers))
        return np.vstack([c for c, _ in found]), np.vstack([n for _, n in found])

    def check(self) -> None:
        """Refuse a region without an input, where that can be told."""
        if self.holds(*self.drawn(_DRAWN)).any():
            return
        if self.listed is not None and self.is_impossible is None:
            outside = [self.impossible.allowed]
            whole = np.ones(int(self.domain.offsets[-1]), dtype=np.bool_)
            for index in range(len(self.domain.sizes)):
                start, stop = self.domain.offsets[index : index + 2]
                box = whole.copy()
                box[start:stop] = ~self.within.allowed[0][start:stop]
                if box[start:stop].any():
                    outside.append(box[np.newaxis])
            found = covered(self.domain, np.vstack(outside))
            if found.lower == found.total:
                raise empty_region()


def empty_region() -> OptionError:
    """Return the error of constraints that leave nothing."""
    return OptionError(
        "impossible: no input is left that can occur where the claim is made"
    )


def held_by(
    domain: Domain,
    boxes: Boxes,
    codes: NDArray[np.int64],
    numbers: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Tell which inputs lie in one of several boxes."""
    columns = codes + domain.offsets[:-1]
    is_number = columns == domain.ranges
    found = np.zeros(len(codes), dtype=np.bool_)
    for allowed, ends in zip(boxes.allowed, boxes.ends, strict=True):
        inside = allowed[columns].all(axis=1)
        fits = (ends[0] <= numbers) & (numbers <= ends[1])
        found |= inside & (fits | ~is_number).all(axis=1)
    return found


def region_of(
    domain: Domain,
    conditions: Sequence[tuple[Condition, ...]],
    impossible: Any,
) -> Region:
    """Return where several conditions hold together, without what cannot occur."""
    found = together(domain, *conditions)
    if found is None:
        texts = [premise(domain, each) for each in conditions if each]
        raise OptionError(
            f"no input is left: these cannot hold together: {'; '.join(texts)}"
        )
    is_function = callable(impossible)
    region = Region(
        domain,
        found,
        boxes_for(domain, found),
        _impossible(domain, () if is_function or impossible is None else impossible),
        impossible if is_function else None,
    )
    region.check()
    return region


def boxes_for(domain: Domain, conditions: Sequence[Condition]) -> Boxes:
    """Return conditions as boxes of the network's domain, which are apart."""
    cut, boxes = boxes_of(domain, [tuple(conditions)])
    return parts_of(cut, boxes[0])


def _impossible(domain: Domain, given: Any) -> Boxes:
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise OptionError(
            f"impossible: a list of boxes, each a dict or a text, or a function of "
            f"rows; not {given!r}"
        )
    said: list[Said] = list(given)
    parts = [
        boxes_for(domain, conditions_for(domain, each, "impossible")) for each in said
    ]
    nothing = np.zeros((0, int(domain.offsets[-1])), dtype=np.bool_)
    ends = np.zeros((0, 2, len(domain.sizes)))
    return Boxes(
        np.vstack([nothing, *(part.allowed for part in parts)]),
        np.concatenate([ends, *(part.ends for part in parts)]),
    )


def common_boxes(domain: Domain, one: Boxes, other: Boxes) -> Boxes:
    """Return the boxes in which a box of each lies over the other."""
    allowed, ends = [], []
    for a, a_ends in zip(one.allowed, one.ends, strict=True):
        for b, b_ends in zip(other.allowed, other.ends, strict=True):
            box, within = a & b, a_ends.copy()
            ranged = np.flatnonzero(domain.ranges >= 0)
            within[0] = np.maximum(a_ends[0], b_ends[0])
            within[1] = np.minimum(a_ends[1], b_ends[1])
            for index in ranged:
                if within[0, index] > within[1, index]:
                    box[domain.ranges[index]] = False
                    within[:, index] = domain.limits[:, index]
            kept = np.logical_or.reduceat(box, domain.offsets[:-1])
            if kept.all():
                allowed.append(box)
                ends.append(within)
    n_columns, n_features = int(domain.offsets[-1]), len(domain.sizes)
    return Boxes(
        np.array(allowed, dtype=np.bool_).reshape(-1, n_columns),
        np.array(ends, dtype=np.float64).reshape(-1, 2, n_features),
    )
