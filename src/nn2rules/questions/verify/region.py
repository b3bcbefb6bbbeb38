"""Where a claim is said to hold: the inputs that count, as boxes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.language import Said, conditions_for, together
from nn2rules.questions.claims import premise
from nn2rules.rules import covered
from nn2rules.space import (
    Boxes,
    Condition,
    Domain,
    Inputs,
    Value,
    boxes_of,
    inputs_in_boxes,
    inside,
    joined,
    parts_of,
)

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
        counts = inside(self.domain, self.within, codes, amounts)
        counts &= ~inside(self.domain, self.impossible, codes, amounts)
        if self.is_impossible is not None and counts.any():
            places = np.flatnonzero(counts)
            rows = self.domain.decode(codes[places], amounts[places])
            told = np.asarray(self.is_impossible(rows))
            if told.shape != (len(rows),):
                raise OptionError(
                    f"impossible: the function must give one answer for each of "
                    f"{len(rows)} rows; it gave an array of shape {told.shape}"
                )
            counts[places[told.astype(np.bool_)]] = False
        return counts

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

    def drawn(self, number: int) -> Inputs:
        """Draw inputs that meet the conditions, whether they can occur or not.

        Of each box as many; half of their numbers are ends of ranges.
        """
        rng = np.random.default_rng(0)
        return inputs_in_boxes(self.domain, self.within, number, rng)

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
    return joined(domain, parts)
