"""Claims judged on every input of a region that can be listed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, PairQuestion, classes_of_listed
from nn2rules.errors import OptionError
from nn2rules.extraction import Work, effort_of, rule_set
from nn2rules.language import Region, label_text, unused, value_words
from nn2rules.models import GivenRows, with_rows
from nn2rules.network import Network
from nn2rules.questions.verify.pairs import way_of
from nn2rules.questions.verify.single_inputs import InputQuestion, Violations
from nn2rules.rules import Facts, RuleList, covered
from nn2rules.space import Domain, box_sizes, inside_each

_DRAWN_INPUTS = 4096


def check_region(region: Region) -> None:
    """Refuse a region that has no input, where that can be seen."""
    if region.holds(*region.drawn(_DRAWN_INPUTS)).any():
        return
    if region.listed is not None and region.is_impossible is None:
        outside = [region.impossible.allowed]
        everything = np.ones(int(region.domain.offsets[-1]), dtype=np.bool_)
        for index in range(len(region.domain.sizes)):
            start, stop = region.domain.offsets[index : index + 2]
            box = everything.copy()
            box[start:stop] = ~region.within.allowed[0][start:stop]
            if box[start:stop].any():
                outside.append(box[np.newaxis])
        covered_part = covered(region.domain, np.vstack(outside))
        if covered_part.lower == covered_part.total:
            raise empty_region()


def empty_region() -> OptionError:
    """Return the error for a region without possible inputs."""
    return OptionError(
        "impossible: no possible input is left in the region of the claim"
    )


_CHUNK = 1 << 16

_NOTHING = 255  # in place of a class, of which a table has fewer

_PATTERNS = 6  # the most ways to flip that are told apart

_VALUES = 4  # the most values of the features for that


@dataclass
class TableMaker:
    """Looks up the classes of all inputs of a region, in the budget of a meter."""

    meter: Meter
    n_jobs: int | None

    def classes(
        self, network: Network, listed: list[NDArray[np.int64]]
    ) -> NDArray[np.uint8]:
        """Return the class of every input that has one of these codes per feature."""
        return classes_of_listed(network, listed, meter=self.meter, n_jobs=self.n_jobs)


@dataclass(frozen=True, eq=False)
class JudgedInputs:
    """A claim judged on every input of a region.

    Attributes
    ----------
    listed : list of arrays
        The codes that each feature has in the region.
    violations : ndarray of uint8, with a dimension for each feature
        0 where the claim holds, or the number of the way in which it is violated.
    possible : ndarray of bool, of the same shape
        Which inputs can occur.
    ways : tuple of str
    classes : ndarray of uint8, of the same shape
        What the network predicts.
    contexts : (int, int) or None
        For a claim about two inputs: how many combinations of the other features
        violate it, and how many there are.
    """

    listed: list[NDArray[np.int64]]
    violations: Violations
    possible: NDArray[np.bool_]
    ways: tuple[str, ...]
    classes: NDArray[np.uint8]
    contexts: tuple[int, int] | None = None

    def codes_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the codes of inputs at positions of the flat arrays."""
        positions = np.unravel_index(places, self.violations.shape)
        both = zip(self.listed, positions, strict=True)
        return np.stack([codes[place] for codes, place in both], axis=1)

    def places_of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of inputs in the flat arrays; -1 for those outside."""
        positions = np.empty_like(codes)
        for index, listed in enumerate(self.listed):
            place = np.full(max(codes[:, index].max(initial=0), listed.max()) + 1, -1)
            place[listed] = np.arange(len(listed))
            positions[:, index] = place[codes[:, index]]
        inside = (positions >= 0).all(axis=1)
        places = np.full(len(codes), -1, dtype=np.int64)
        if inside.any():
            places[inside] = np.ravel_multi_index(
                tuple(positions[inside].T), self.violations.shape
            )
            places[inside] = np.where(
                self.possible.ravel()[places[inside]], places[inside], -1
            )
        return places


def judge_inputs(
    question: InputQuestion, network: Network, region: Region, tables: TableMaker
) -> JudgedInputs:
    """Judge a claim about each input by itself."""
    listed = _listed(region)
    answers = [tables.classes(one, listed) for one in question.networks]
    shape = tuple(len(codes) for codes in listed)
    possible = _possible(region, listed, tables.meter)
    if question.needs_inputs:
        violations = np.zeros(possible.size, dtype=np.uint8)
        for start, codes in _inputs(listed):
            tables.meter.spend()
            stop = start + len(codes)
            part = [each.ravel()[start:stop].astype(np.int64) for each in answers]
            violations[start:stop] = question.judge(part, codes, _ones(region, codes))
    else:
        nothing = np.zeros((possible.size, 0), dtype=np.int64)
        flat: list[Any] = [each.ravel() for each in answers]
        violations = question.judge(flat, nothing, None)
    violations = np.where(possible, violations.reshape(shape), np.uint8(0))
    classes = tables.classes(network, listed)
    return JudgedInputs(listed, violations, possible, question.ways, classes)


def judge_pairs(
    question: PairQuestion, region: Region, tables: TableMaker
) -> JudgedInputs:
    """Judge a claim about two inputs that differ only in some features."""
    listed = _listed(region)
    classes = tables.classes(question.network, listed)
    possible = _possible(region, listed, tables.meter)
    axes = list(question.features)
    if question.ranks is None:
        violations, ways = _flipping(question, listed, _along(classes, axes), possible)
    else:
        [axis] = axes
        start = question.network.domain.offsets[axis]
        order = np.argsort(question.ranks[start + listed[axis]], kind="stable")
        order = order if question.is_increasing else order[::-1]
        lines, counted = _along(classes, axes), _along(possible, axes)
        ordered = np.zeros(lines.shape, dtype=np.uint8)
        ordered[:, order] = _falling(
            lines[:, order] == question.toward, counted[:, order]
        ).astype(np.uint8)
        violations, ways = ordered, (way_of(question),)
    broken, real = violations.any(axis=1), _along(possible, axes).any(axis=1)
    shape = classes.shape
    rest = [size for axis, size in enumerate(shape) if axis not in axes]
    stacked = violations.reshape(*rest, *(shape[axis] for axis in axes))
    moved = np.moveaxis(stacked, range(len(rest), len(shape)), axes)
    contexts = int(broken.sum()), int(real.sum())
    return JudgedInputs(
        listed, np.ascontiguousarray(moved), possible, ways, classes, contexts
    )


def _along(array: NDArray[Any], axes: list[int]) -> NDArray[Any]:
    """Return an array with a row for each combination of the other features."""
    moved = np.moveaxis(array, axes, range(array.ndim - len(axes), array.ndim))
    n_along = int(np.prod([array.shape[axis] for axis in axes]))
    return moved.reshape(-1, n_along)


def _falling(is_toward: NDArray[np.bool_], counted: NDArray[np.bool_]) -> Any:
    """Tell which inputs lose the class further up, or have lost it below."""
    has, lost = is_toward & counted, ~is_toward & counted
    before = np.logical_or.accumulate(has, axis=1)
    behind = np.logical_or.accumulate(lost[:, ::-1], axis=1)[:, ::-1]
    return (lost & before) | (has & behind)


def _flipping(
    question: PairQuestion,
    listed: list[NDArray[np.int64]],
    lines: NDArray[np.uint8],
    possible: NDArray[np.bool_],
) -> tuple[Violations, tuple[str, ...]]:
    """Tell which inputs flip, and how: by the prediction for each value."""
    counted = _along(possible, list(question.features))
    least = np.where(counted, lines, _NOTHING).min(axis=1)
    most = np.where(counted, lines, 0).max(axis=1)
    broken = counted.any(axis=1) & (least < most)
    violations = np.zeros(lines.shape, dtype=np.uint8)
    shown = np.where(counted[broken], lines[broken], _NOTHING)
    if lines.shape[1] <= _VALUES:
        patterns, which = np.unique(shown, axis=0, return_inverse=True)
        if len(patterns) <= _PATTERNS:
            violations[broken] = (which.reshape(-1, 1) + 1) * counted[broken]
            return violations, tuple(_pattern(question, listed, p) for p in patterns)
    violations[broken] = counted[broken]
    return violations, (way_of(question),)


def _pattern(
    question: PairQuestion, listed: list[NDArray[np.int64]], classes: NDArray[np.uint8]
) -> str:
    """Return the prediction for each value of the features, as text."""
    network = question.network
    grid = np.meshgrid(*(listed[f] for f in question.features), indexing="ij")
    values = np.stack([each.ravel() for each in grid], axis=1)
    parts = []
    for codes, index in zip(values.tolist(), classes.tolist(), strict=True):
        if index == _NOTHING:
            continue
        features = [network.domain.features[f] for f in question.features]
        both = zip(features, codes, strict=True)
        names = [value_words(feature, feature.values[code]) for feature, code in both]
        parts.append(f"{' '.join(names)}: {label_text(network.classes[index])}")
    return ", ".join(parts)


def _listed(region: Region) -> list[NDArray[np.int64]]:
    listed = region.listed
    assert listed is not None, "asked only where inputs can be listed"
    return listed


def _inputs(listed: list[NDArray[np.int64]]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield all inputs in chunks, with the position of the first of each."""
    shape = tuple(len(codes) for codes in listed)
    total = int(np.prod(shape))
    for start in range(0, total, _CHUNK):
        places = np.arange(start, min(total, start + _CHUNK))
        positions = np.unravel_index(places, shape)
        both = zip(listed, positions, strict=True)
        yield start, np.stack([codes[place] for codes, place in both], axis=1)


def _ones(region: Region, codes: NDArray[np.int64]) -> NDArray[np.float64] | None:
    return np.ones(codes.shape) if region.domain.has_ranges else None


def _possible(
    region: Region, listed: list[NDArray[np.int64]], meter: Meter
) -> NDArray[np.bool_]:
    """Tell which inputs can occur; it is an error if none can."""
    shape = tuple(len(codes) for codes in listed)
    if not region.has_impossible:
        return np.ones(shape, dtype=np.bool_)
    possible = np.zeros(int(np.prod(shape)), dtype=np.bool_)
    for start, codes in _inputs(listed):
        meter.spend()
        possible[start : start + len(codes)] = region.holds(codes, _ones(region, codes))
    if not possible.any():
        raise empty_region()
    return possible.reshape(shape)


def nearest_violation(judged: JudgedInputs, rows: NDArray[np.int64]) -> tuple[int, int]:
    """Return the violation nearest to some row, and its distance from it.

    The distance is the number of features that differ. Starting from the rows, one more
    feature at a time may have any value, until an input violates the claim.

    Parameters
    ----------
    rows : ndarray of int, shape (n_rows, n_features)
    """
    broken = judged.violations > 0
    shape, starts = broken.shape, _starts(judged, rows)
    reached = np.zeros(shape, dtype=np.bool_)
    for steps in range(len(shape) + 1):
        spread = np.zeros(shape, dtype=np.bool_)
        if steps:
            for axis in range(len(shape)):
                spread |= reached.any(axis=axis, keepdims=True)
        reached |= spread
        for row in starts.get(steps, ()):
            reached[tuple(slice(None) if place is None else place for place in row)] = 1
        hits = np.flatnonzero(reached & broken)
        if len(hits):
            return int(hits[0]), steps
    raise AssertionError("every input is reached once all features may differ")


def _starts(
    judged: JudgedInputs, rows: NDArray[np.int64]
) -> dict[int, set[tuple[int | None, ...]]]:
    """Return the positions of rows, by how many of their values the region lacks.

    A feature whose value the region lacks always counts as different.
    """
    starts: dict[int, set[tuple[int | None, ...]]] = {}
    places = [
        {int(code): place for place, code in enumerate(codes)}
        for codes in judged.listed
    ]
    for row in rows.tolist():
        both = zip(places, row, strict=True)
        position = tuple(position_of.get(code) for position_of, code in both)
        starts.setdefault(position.count(None), set()).add(position)
    return starts


def partner_of(question: PairQuestion, judged: JudgedInputs, place: int) -> int:
    """Return the nearest input that violates a claim together with a given one."""
    shape = judged.violations.shape
    position = list(np.unravel_index(place, shape))
    index = tuple(
        slice(None) if axis in question.features else position[axis]
        for axis in range(len(shape))
    )
    places = np.arange(judged.violations.size).reshape(shape)[index].ravel()
    classes = judged.classes.ravel()[places]
    counts = judged.possible.ravel()[places]
    answer = judged.classes.ravel()[place]
    if question.ranks is None:
        return int(places[counts & (classes != answer)][0])
    [axis] = question.features
    start = question.network.domain.offsets[axis]
    ranks = question.ranks[start + judged.listed[axis]]
    rank = ranks[position[axis]]
    is_up = question.is_increasing == (answer == question.toward)
    beyond = ranks > rank if is_up else ranks < rank
    is_other = (classes == question.toward) != (answer == question.toward)
    chosen = np.flatnonzero(counts & beyond & is_other)
    return int(places[chosen[np.argmin(np.abs(ranks[chosen] - rank))]])


_FEW = 1 << 15


def violation_rules(
    judged: JudgedInputs,
    domain: Domain,
    rows: GivenRows | None,
    *,
    seed: int,
    n_jobs: int | None,
) -> RuleList:
    """Return rules that cover exactly the inputs that violate a claim."""
    sizes = judged.violations.shape
    violations = judged.violations.ravel()
    used = (
        np.flatnonzero(np.bincount(violations, minlength=len(judged.ways) + 1)[1:]) + 1
    )
    place_of = np.zeros(len(judged.ways) + 1, dtype=np.uint8)
    place_of[used] = np.arange(1, len(used) + 1)
    table, n_columns = place_of[violations], int(domain.offsets[-1])
    boxes = np.zeros((0, n_columns), dtype=np.bool_)
    answers = np.zeros(0, dtype=np.int64)
    if len(used):
        level = 1 if table.size <= _FEW else 0
        work = Work(effort_of(level, table.size), seed, Meter(), n_jobs)
        wanted = range(1, len(used) + 1)
        cover = rule_set(table, sizes, work, wanted=list(wanted), default=0)
        boxes = _lifted(cover.boxes, judged, domain)
        answers = cover.classes
    ways = [judged.ways[way - 1] for way in used]
    labels = (unused("holds", ways), *(ways or ["violates"]))
    sizes_of = box_sizes(domain, boxes)
    order = np.argsort(-np.array(sizes_of, dtype=np.int64), kind="stable")
    if rows is not None:
        fitting = _fitting(boxes[order], rows)
        order = order[np.argsort(-fitting, kind="stable")]
    rules = RuleList.from_boxes(
        domain,
        boxes[order],
        answers[order],
        labels[0],
        labels,
        form="set",
        facts=[Facts(inputs=sizes_of[index]) for index in order.tolist()],
    )
    if rows is None:
        return rules
    unlabelled = GivenRows(rows.domain, rows.codes, rows.numbers)  # by way
    return with_rows(rules, unlabelled)


def _fitting(boxes: NDArray[np.bool_], rows: GivenRows) -> NDArray[np.int64]:
    """Count the rows in each box."""
    held = inside_each(rows.domain, boxes, rows.distinct[0])
    counts = [int(rows.weights[is_held].sum()) for is_held in held]
    return np.array(counts, dtype=np.int64)


def _lifted(
    boxes: NDArray[np.bool_], judged: JudgedInputs, domain: Domain
) -> NDArray[np.bool_]:
    """Return boxes of the region as boxes of the whole domain."""
    lifted = np.zeros((len(boxes), int(domain.offsets[-1])), dtype=np.bool_)
    both = zip(domain.offsets, judged.listed, strict=False)
    lifted[:, np.concatenate([start + codes for start, codes in both])] = boxes
    return lifted
