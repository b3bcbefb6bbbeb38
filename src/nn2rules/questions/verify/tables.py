"""Claims judged on every input of a region that can be listed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import KEPT_INPUTS, Meter, build_table, table_of
from nn2rules.language import Region, label_text, value_words
from nn2rules.network import Layer, Network
from nn2rules.questions.verify.pairs import Paired
from nn2rules.questions.verify.questions import Kinds, Plain
from nn2rules.questions.verify.region import empty_region
from nn2rules.space import Domain, Feature

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
