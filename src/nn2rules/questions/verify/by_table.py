"""Claims judged on every input of a region that can be listed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import KEPT_INPUTS, Meter, build_table, table_of
from nn2rules.errors import OptionError
from nn2rules.extraction import Work, effort_of, rule_set
from nn2rules.language import Region, label_text, unused, value_words
from nn2rules.models import GivenRows, with_rows
from nn2rules.network import Layer, Network
from nn2rules.questions.verify.pairs import Paired
from nn2rules.questions.verify.single_inputs import Kinds, Plain
from nn2rules.rules import Facts, RuleList, covered
from nn2rules.space import Domain, Feature, box_sizes, inside_each

_DRAWN_INPUTS = 4096


def check_region(region: Region) -> None:
    """Refuse a region without an input, where that can be told."""
    if region.holds(*region.drawn(_DRAWN_INPUTS)).any():
        return
    if region.listed is not None and region.is_impossible is None:
        outside = [region.impossible.allowed]
        whole = np.ones(int(region.domain.offsets[-1]), dtype=np.bool_)
        for index in range(len(region.domain.sizes)):
            start, stop = region.domain.offsets[index : index + 2]
            box = whole.copy()
            box[start:stop] = ~region.within.allowed[0][start:stop]
            if box[start:stop].any():
                outside.append(box[np.newaxis])
        found = covered(region.domain, np.vstack(outside))
        if found.lower == found.total:
            raise empty_region()


def empty_region() -> OptionError:
    """Return the error of constraints that leave nothing."""
    return OptionError(
        "impossible: no input is left that can occur where the claim is made"
    )


_CHUNK = 1 << 16

_NOTHING = 255  # in place of a class, of which a table has fewer

_PATTERNS, _VALUES = 6, 4  # so many ways to turn are told apart, of so many values


@dataclass
class Tables:
    """The classes that networks give the inputs of regions."""

    meter: Meter
    n_jobs: int | None
    _asked: dict[int, tuple[Network, NDArray[np.uint8]]] = field(default_factory=dict)

    def classes(
        self, network: Network, listed: list[NDArray[np.int64]]
    ) -> NDArray[np.uint8]:
        """Return the class of every input that has these codes, feature by feature."""
        domain = network.domain
        if not domain.has_ranges and domain.n_inputs <= KEPT_INPUTS:
            if id(network) not in self._asked:
                self.meter.spend()  # a table that is there already is no faster
                table = table_of(network, meter=self.meter, n_jobs=self.n_jobs)
                self._asked[id(network)] = network, table.classes.reshape(domain.sizes)
            return self._asked[id(network)][1][np.ix_(*listed)]
        small = restricted(network, listed)
        table = build_table(small, meter=self.meter, n_jobs=self.n_jobs)
        return table.classes.reshape(small.domain.sizes)


def restricted(network: Network, listed: list[NDArray[np.int64]]) -> Network:
    """Return a network that knows only some values of each feature."""
    domain, first = network.domain, network.layers[0]
    columns = np.concatenate(
        [start + codes for start, codes in zip(domain.offsets, listed, strict=False)]
    )
    features = [
        Feature(name, tuple(range(len(codes))))
        for name, codes in zip(domain.names, listed, strict=True)
    ]
    layer = Layer(first.weights[columns], first.bias, first.activation, first.slope)
    return Network(
        Domain(tuple(features)),
        (layer, *network.layers[1:]),
        network.classes,
        network.threshold,
    )


@dataclass(frozen=True, eq=False)
class Judged:
    """What became of a claim on every input of a region.

    Attributes
    ----------
    listed : list of arrays
        The codes that each feature has in the region.
    kinds : ndarray of uint8, with a dimension for each feature
        0 where the claim holds, or the number of a way to break it.
    possible : ndarray of bool, of the same shape
        Which inputs count.
    ways : tuple of str
    classes : ndarray of uint8, of the same shape
        What the network answers.
    contexts : (int, int) or None
        Of a claim about two inputs: how many sets of values of the other features
        break it, and how many there are.
    """

    listed: list[NDArray[np.int64]]
    kinds: Kinds
    possible: NDArray[np.bool_]
    ways: tuple[str, ...]
    classes: NDArray[np.uint8]
    contexts: tuple[int, int] | None = None

    def codes_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the codes of inputs, given by their places in the flat arrays."""
        found = np.unravel_index(places, self.kinds.shape)
        both = zip(self.listed, found, strict=True)
        return np.stack([codes[place] for codes, place in both], axis=1)

    def places_of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of inputs in the flat arrays; -1 of those outside."""
        own = np.empty_like(codes)
        for index, listed in enumerate(self.listed):
            place = np.full(max(codes[:, index].max(initial=0), listed.max()) + 1, -1)
            place[listed] = np.arange(len(listed))
            own[:, index] = place[codes[:, index]]
        inside = (own >= 0).all(axis=1)
        places = np.full(len(codes), -1, dtype=np.int64)
        if inside.any():
            places[inside] = np.ravel_multi_index(
                tuple(own[inside].T), self.kinds.shape
            )
            places[inside] = np.where(
                self.possible.ravel()[places[inside]], places[inside], -1
            )
        return places


def judge_plain(
    plain: Plain, network: Network, region: Region, tables: Tables
) -> Judged:
    """Judge a claim about each input for itself."""
    listed = _listed(region)
    answers = [tables.classes(own, listed) for own in plain.networks]
    shape = tuple(len(codes) for codes in listed)
    possible = _possible(region, listed, tables.meter)
    if plain.needs_inputs:
        kinds = np.zeros(possible.size, dtype=np.uint8)
        for start, codes in _inputs(listed):
            tables.meter.spend()
            stop = start + len(codes)
            part = [each.ravel()[start:stop].astype(np.int64) for each in answers]
            kinds[start:stop] = plain.judge(part, codes, _ones(region, codes))
    else:
        nothing = np.zeros((possible.size, 0), dtype=np.int64)
        flat: list[Any] = [each.ravel() for each in answers]
        kinds = plain.judge(flat, nothing, None)
    kinds = np.where(possible, kinds.reshape(shape), np.uint8(0))
    classes = tables.classes(network, listed)
    return Judged(listed, kinds, possible, plain.ways, classes)


def judge_pairs(paired: Paired, region: Region, tables: Tables) -> Judged:
    """Judge a claim about two inputs that differ in some features alone."""
    listed = _listed(region)
    classes = tables.classes(paired.network, listed)
    possible = _possible(region, listed, tables.meter)
    axes = list(paired.features)
    if paired.ranks is None:
        kinds, ways = _turning(paired, listed, _along(classes, axes), possible)
    else:
        [axis] = axes
        start = paired.network.domain.offsets[axis]
        order = np.argsort(paired.ranks[start + listed[axis]], kind="stable")
        order = order if paired.is_increasing else order[::-1]
        lines, counted = _along(classes, axes), _along(possible, axes)
        found = np.zeros(lines.shape, dtype=np.uint8)
        found[:, order] = _falling(
            lines[:, order] == paired.toward, counted[:, order]
        ).astype(np.uint8)
        kinds, ways = found, (paired.way,)
    broken, real = kinds.any(axis=1), _along(possible, axes).any(axis=1)
    shape = classes.shape
    rest = [size for axis, size in enumerate(shape) if axis not in axes]
    whole = kinds.reshape(*rest, *(shape[axis] for axis in axes))
    moved = np.moveaxis(whole, range(len(rest), len(shape)), axes)
    contexts = int(broken.sum()), int(real.sum())
    return Judged(
        listed, np.ascontiguousarray(moved), possible, ways, classes, contexts
    )


def _along(array: NDArray[Any], axes: list[int]) -> NDArray[Any]:
    """Return an array with a row for each set of values of the other features."""
    moved = np.moveaxis(array, axes, range(array.ndim - len(axes), array.ndim))
    n_along = int(np.prod([array.shape[axis] for axis in axes]))
    return moved.reshape(-1, n_along)


def _falling(is_toward: NDArray[np.bool_], counted: NDArray[np.bool_]) -> Any:
    """Tell which inputs lose the class further up, or have lost it on the way."""
    has, lost = is_toward & counted, ~is_toward & counted
    before = np.logical_or.accumulate(has, axis=1)
    behind = np.logical_or.accumulate(lost[:, ::-1], axis=1)[:, ::-1]
    return (lost & before) | (has & behind)


def _turning(
    paired: Paired,
    listed: list[NDArray[np.int64]],
    lines: NDArray[np.uint8],
    possible: NDArray[np.bool_],
) -> tuple[Kinds, tuple[str, ...]]:
    """Tell which inputs turn, and which way: by what the answer is for each value."""
    counted = _along(possible, list(paired.features))
    least = np.where(counted, lines, _NOTHING).min(axis=1)
    most = np.where(counted, lines, 0).max(axis=1)
    broken = counted.any(axis=1) & (least < most)
    kinds = np.zeros(lines.shape, dtype=np.uint8)
    shown = np.where(counted[broken], lines[broken], _NOTHING)
    if lines.shape[1] <= _VALUES:
        patterns, which = np.unique(shown, axis=0, return_inverse=True)
        if len(patterns) <= _PATTERNS:
            kinds[broken] = (which.reshape(-1, 1) + 1) * counted[broken]
            return kinds, tuple(_pattern(paired, listed, p) for p in patterns)
    kinds[broken] = counted[broken]
    return kinds, (paired.way,)


def _pattern(
    paired: Paired, listed: list[NDArray[np.int64]], classes: NDArray[np.uint8]
) -> str:
    """Return what the answer is for each value of the features."""
    network = paired.network
    grid = np.meshgrid(*(listed[f] for f in paired.features), indexing="ij")
    values = np.stack([each.ravel() for each in grid], axis=1)
    parts = []
    for codes, index in zip(values.tolist(), classes.tolist(), strict=True):
        if index == _NOTHING:
            continue
        features = [network.domain.features[f] for f in paired.features]
        both = zip(features, codes, strict=True)
        names = [value_words(feature, feature.values[code]) for feature, code in both]
        parts.append(f"{' '.join(names)}: {label_text(network.classes[index])}")
    return ", ".join(parts)


def _listed(region: Region) -> list[NDArray[np.int64]]:
    listed = region.listed
    assert listed is not None, "asked only where inputs can be listed"
    return listed


def _inputs(listed: list[NDArray[np.int64]]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield every input, some at a time, and the place of the first of them."""
    shape = tuple(len(codes) for codes in listed)
    total = int(np.prod(shape))
    for start in range(0, total, _CHUNK):
        places = np.arange(start, min(total, start + _CHUNK))
        found = np.unravel_index(places, shape)
        both = zip(listed, found, strict=True)
        yield start, np.stack([codes[place] for codes, place in both], axis=1)


def _ones(region: Region, codes: NDArray[np.int64]) -> NDArray[np.float64] | None:
    return np.ones(codes.shape) if region.domain.has_ranges else None


def _possible(
    region: Region, listed: list[NDArray[np.int64]], meter: Meter
) -> NDArray[np.bool_]:
    """Tell which inputs count; none of them is an error."""
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


def nearest_broken(judged: Judged, rows: NDArray[np.int64]) -> tuple[int, int]:
    """Return where the claim is broken nearest to some row, and how far from it.

    That is the number of features in which they differ. From the rows on, one feature
    after another may have any value, until an input is reached that breaks the claim.

    Parameters
    ----------
    rows : ndarray of int, shape (n_rows, n_features)
    """
    broken = judged.kinds > 0
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
        found = np.flatnonzero(reached & broken)
        if len(found):
            return int(found[0]), steps
    raise AssertionError("every input is reached once all features may differ")


def _starts(
    judged: Judged, rows: NDArray[np.int64]
) -> dict[int, set[tuple[int | None, ...]]]:
    """Return where rows lie, by how many of their values the region has not.

    A feature whose value it has not is different, whatever it is in the region.
    """
    starts: dict[int, set[tuple[int | None, ...]]] = {}
    places = [
        {int(code): place for place, code in enumerate(codes)}
        for codes in judged.listed
    ]
    for row in rows.tolist():
        both = zip(places, row, strict=True)
        own = tuple(known.get(code) for known, code in both)
        starts.setdefault(own.count(None), set()).add(own)
    return starts


def partner_of(paired: Paired, judged: Judged, place: int) -> int:
    """Return an input that breaks a claim together with one, the nearest of them."""
    shape = judged.kinds.shape
    own = list(np.unravel_index(place, shape))
    index = tuple(
        slice(None) if axis in paired.features else own[axis]
        for axis in range(len(shape))
    )
    places = np.arange(judged.kinds.size).reshape(shape)[index].ravel()
    classes = judged.classes.ravel()[places]
    counts = judged.possible.ravel()[places]
    answer = judged.classes.ravel()[place]
    if paired.ranks is None:
        return int(places[counts & (classes != answer)][0])
    [axis] = paired.features
    start = paired.network.domain.offsets[axis]
    ranks = paired.ranks[start + judged.listed[axis]]
    rank = ranks[own[axis]]
    is_up = paired.is_increasing == (answer == paired.toward)
    beyond = ranks > rank if is_up else ranks < rank
    is_other = (classes == paired.toward) != (answer == paired.toward)
    chosen = np.flatnonzero(counts & beyond & is_other)
    return int(places[chosen[np.argmin(np.abs(ranks[chosen] - rank))]])


_FEW = 1 << 15


def broken_rules(
    judged: Judged,
    domain: Domain,
    rows: GivenRows | None,
    *,
    seed: int,
    n_jobs: int | None,
) -> RuleList:
    """Return rules whose boxes hold just the inputs that break a claim."""
    sizes = judged.kinds.shape
    kinds = judged.kinds.ravel()
    used = np.flatnonzero(np.bincount(kinds, minlength=len(judged.ways) + 1)[1:]) + 1
    place_of = np.zeros(len(judged.ways) + 1, dtype=np.uint8)
    place_of[used] = np.arange(1, len(used) + 1)
    table, n_columns = place_of[kinds], int(domain.offsets[-1])
    boxes = np.zeros((0, n_columns), dtype=np.bool_)
    answers = np.zeros(0, dtype=np.int64)
    if len(used):
        level = 1 if table.size <= _FEW else 0
        work = Work(effort_of(level, table.size), seed, Meter(), n_jobs)
        wanted = range(1, len(used) + 1)
        found = rule_set(table, sizes, work, wanted=list(wanted), default=0)
        boxes = _lifted(found.boxes, judged, domain)
        answers = found.classes
    ways = [judged.ways[way - 1] for way in used]
    labels = (unused("holds", ways), *(ways or ["breaks"]))
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
    unlabelled = GivenRows(rows.domain, rows.codes, rows.numbers)  # ways are no classes
    return with_rows(rules, unlabelled)


def _fitting(boxes: NDArray[np.bool_], rows: GivenRows) -> NDArray[np.int64]:
    """Count the rows in each box."""
    held = inside_each(rows.domain, boxes, rows.distinct[0])
    found = [int(rows.weights[is_held].sum()) for is_held in held]
    return np.array(found, dtype=np.int64)


def _lifted(
    boxes: NDArray[np.bool_], judged: Judged, domain: Domain
) -> NDArray[np.bool_]:
    """Return boxes of the region as boxes of the domain."""
    lifted = np.zeros((len(boxes), int(domain.offsets[-1])), dtype=np.bool_)
    both = zip(domain.offsets, judged.listed, strict=False)
    lifted[:, np.concatenate([start + codes for start, codes in both])] = boxes
    return lifted
