"""Two networks whose domains overlap, compared on the inputs of both."""

import math
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

import naive
from fuzz.judge import class_of
from fuzz.networks import code_of, pick
from nn2rules import Budget, Domain, Feature, Layer, Network, compare
from nn2rules.errors import DomainError
from nn2rules.questions.compare.result import Comparison
from nn2rules.space import Grouped, Intervals, Range

WORDS = ("a", "b", "c", "other", 1, "1", 2.0, "2")
STRANGER = "z"
SPECIAL = (99, -7, "refused", "99")
KINDS = ("list", "list", "grouped", "bins", "whole", "real")


class Cell(NamedTuple):
    """A cell of a row: its code and its number for both sides, and for compare."""

    cell: Any
    old: tuple[int, float] | None
    new: tuple[int, float] | None
    met: tuple[int, float]


def compare_common(rng: Generator) -> int:
    """Compare two networks on what both know; judge every input of that, or many."""
    old, new = _two_networks(rng)
    engine = pick(rng, ["auto", "search"])
    shown = f"{code_of(old)}\nold = network\n{code_of(new)}\nnew = network\n"
    shown += f"compare(old, new, common=True, engine={engine!r})"
    try:
        found = compare(old, new, common=True, engine=engine, budget=Budget(boxes=3000))
    except DomainError as error:
        if not _is_refused(old.domain, new.domain, str(error)):
            raise AssertionError(f"{error}\n{shown}") from None
        return 1
    cells = [
        _cells(old.domain, new.domain, feature, found, shown)
        for feature in found.domain.features
    ]
    inputs = [*product(*cells)]
    if len(inputs) > 400:
        chosen = rng.choice(len(inputs), size=400, replace=False)
        inputs = [inputs[index] for index in sorted(chosen.tolist())]
    is_all = len(inputs) == math.prod(map(len, cells))
    return _judge(old, new, found, inputs, shown, is_all=is_all)


# Networks


def _two_networks(rng: Generator) -> tuple[Network, Network]:
    """Draw two networks over features of the same kinds, often of the same weights."""
    names = [f"f{index}" for index in range(rng.integers(1, 4))]
    kinds = {name: pick(rng, KINDS) for name in names}
    networks = []
    for _ in range(2):
        kept = [name for name in names if rng.integers(6)] or names[:1]
        rng.shuffle(kept)
        features = [_feature(rng, name, kinds[name]) for name in kept]
        networks.append(_network(rng, Domain(tuple(features))))
    return networks[0], networks[1]


def _feature(rng: Generator, name: str, kind: str) -> Feature:
    if not rng.integers(20):
        kind = pick(rng, KINDS)
    missing = bool(rng.integers(2))
    if kind == "bins":
        whole = bool(rng.integers(2))
        pool = [-2, 0, 1, 3] if whole else [-2.5, 0, 0.5, 1, 3]
        edges = sorted({pick(rng, pool) for _ in range(rng.integers(1, 4))})
        return Feature.bins(name, tuple(edges), missing=missing, whole=whole)
    if kind in ("whole", "real"):
        low, high = sorted(rng.integers(-3, 5, size=2).tolist())
        special = [s for s in SPECIAL if not rng.integers(4)]
        special = special if len({*map(str, special)}) == len(special) else special[:1]
        whole = kind == "whole"
        return Feature.real(
            name, low, high, whole=whole, special=special, missing=missing
        )
    words = [word for word in WORDS if rng.integers(2)]
    words = [*{str(word).removesuffix(".0"): word for word in words}.values()]
    rng.shuffle(words)  # type: ignore[arg-type]
    words = words or ["a"]
    if kind == "grouped":
        return _grouped(rng, name, words, missing=missing)
    values = [*words, *([None] if missing else [])]
    texts = [word for word in words if isinstance(word, str)]
    other = pick(rng, texts) if texts and rng.integers(2) else None
    return Feature(name, tuple(values), other=other)


def _grouped(rng: Generator, name: str, words: list[Any], *, missing: bool) -> Feature:
    groups: list[list[Any]] = [[] for _ in range(rng.integers(1, 4))]
    for word in [*words, *([None] if missing and rng.integers(2) else [])]:
        pick(rng, groups).append(word)
    other = int(rng.integers(len(groups))) if rng.integers(2) else None
    kept = [g for index, g in enumerate(groups) if g or index == other]
    other = None if other is None else kept.index(groups[other])
    has_gap = any(None in group for group in kept)
    try:
        return Feature.grouped(name, kept, other=other, missing=missing and not has_gap)
    except DomainError:  # a name that would be another group's word
        return Feature(name, tuple(words))


def _network(rng: Generator, domain: Domain) -> Network:
    hidden = rng.integers(1, 4, size=rng.integers(0, 2)).tolist()
    outputs = int(rng.choice([1, 1, 2, 3]))
    widths, layers = [int(domain.offsets[-1]), *hidden, outputs], []
    for index, width in enumerate(widths[1:]):
        weights = rng.integers(-2, 3, size=(widths[index], width)).astype(float)
        bias = rng.integers(-2, 3, size=width) + 0.5 * rng.integers(2)
        final = "sigmoid" if outputs == 1 else "softmax"
        name = "relu" if index < len(hidden) else final
        layers.append(Layer(weights, bias, name))
    if rng.integers(3) == 0:  # all of one class, but perhaps for some values
        last = layers[-1]
        scale = rng.integers(2, size=(len(last.weights), 1))
        layers[-1] = Layer(last.weights * scale, last.bias, last.activation)
    return Network(domain, tuple(layers), ("no", "yes", "maybe")[: max(2, outputs)])


# What both know


def _is_refused(old: Domain, new: Domain, message: str) -> bool:
    """Tell whether a refusal is right: other kinds, or nothing in common."""
    shared = [name for name in old.names if name in new.names]
    if (
        " is a range " in message
        or " is numbers " in message
        or " is a list " in message
    ):
        return any(_kind(old.feature(n)) != _kind(new.feature(n)) for n in shared)
    for name in shared:
        sides = old.feature(name), new.feature(name)
        known = [c for c in _pool(*sides) if all(_find(s, c) for s in sides)]
        if not [c for c in known if not _is_odd(sides, c)]:
            return True
    return False


def _kind(feature: Feature) -> tuple[bool, bool, bool]:
    is_range = isinstance(feature, Range)
    return is_range, isinstance(feature, Intervals), is_range and feature.whole


def _pool(*features: Feature) -> list[Any]:
    """Return every cell that one of these features may tell from others."""
    found: list[Any] = [None]
    for feature in features:
        if not isinstance(feature, Intervals):
            found += [*WORDS, STRANGER]
            continue
        ends = [*(feature.limits if isinstance(feature, Range) else ()), *feature.edges]
        found += [n for end in ends for n in (end, end - 0.5, end + 0.5)]
        found += [*range(-5, 8), *SPECIAL]
    kept: list[Any] = []
    for cell in found:
        if not any(type(cell) is type(k) and cell == k for k in kept):
            kept.append(cell)
    return kept


def _find(feature: Feature, cell: Any) -> tuple[int, float] | None:
    """Return the code of a cell, and the number that it puts into a network."""
    if isinstance(feature, Grouped):
        words = [word for group in feature.groups for word in group]
        at = naive.code_of(words, cell)
        groups = feature.groups
        code = next((i for i, g in enumerate(groups) if at >= 0 and words[at] in g), -1)
    elif not isinstance(feature, Intervals):
        code = naive.code_of(feature.values, cell)
    else:
        return _find_number(feature, cell)
    if code < 0 and cell is not None and feature.other is not None:
        code = feature.other_code
    return None if code < 0 else (code, 1.0)


def _find_number(feature: Feature, cell: Any) -> tuple[int, float] | None:
    assert isinstance(feature, Intervals), "asked of bins and ranges"
    n_plain = len(feature.edges) + 1
    code = naive.code_of(feature.values[n_plain:], cell)
    if code >= 0:
        return n_plain + code, 1.0
    number = float(cell) if isinstance(cell, str) and cell.isdigit() else cell
    if not isinstance(number, int | float):
        return None
    low, high = -math.inf, math.inf
    if isinstance(feature, Range):
        low, high = feature.limits
    if not low <= number <= high or (feature.whole and number != int(number)):
        return None
    at = sum(number >= edge for edge in feature.edges)
    return at, float(number) if isinstance(feature, Range) else 1.0


def _is_odd(sides: tuple[Feature, Feature], cell: Any) -> bool:
    """Tell whether a cell is a special value of one side, and a number of the other."""
    if any(not isinstance(side, Range) for side in sides):
        return False
    codes = [_find(side, cell) for side in sides]
    return None not in codes and len({code[0] == 0 for code in codes if code}) == 2


def _cells(
    old: Domain, new: Domain, met: Feature, found: Comparison, shown: str
) -> list[Cell]:
    """Return the cells that both sides know, each input once; check the domain."""
    sides = [d.feature(met.name) if met.name in d.names else None for d in (old, new)]
    own = [side for side in sides if side is not None]
    kept: dict[tuple[int, float], Cell] = {}
    for cell in _pool(*own):
        codes = [None if side is None else _find(side, cell) for side in sides]
        is_known = all(_find(side, cell) is not None for side in own)
        if len(own) == 2 and _is_odd((own[0], own[1]), cell):
            assert any(str(cell) in note for note in found.notes), f"{cell!r}\n{shown}"
            continue
        place = _find(met, cell)
        where = f"{cell!r} of {met.name!r}: {codes}, compared as {place}\n{shown}"
        assert (place is not None) == is_known, where
        if place is None:
            continue
        one = Cell(cell, codes[0], codes[1], place)
        same = kept.setdefault(place, one)
        assert (same.old, same.new) == (one.old, one.new), where
    reached = {place[0] for place in kept}
    assert reached == {*range(len(met))}, f"{met!r}: {reached}\n{shown}"
    return [*kept.values()]


# The judge


def _judge(
    old: Network,
    new: Network,
    found: Comparison,
    inputs: list[tuple[Cell, ...]],
    shown: str,
    *,
    is_all: bool,
) -> int:
    names = found.domain.names
    pairs = [
        (_label(old, names, cells, "old"), _label(new, names, cells, "new"))
        for cells in inputs
    ]
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    assert not (found.equal and differing), f"equal; {differing[:1]}\n{shown}"
    if found.equal is False:
        _judge_example(old, new, found, shown)
        _judge_rules(found, inputs, pairs, shown)
    is_listed = is_all and found.n_inputs is not None
    if is_listed:
        assert found.n_inputs == len(inputs), f"{found.n_inputs} inputs\n{shown}"
        assert found.equal is None or found.equal == (not differing), shown
        assert found.at_least <= len(differing), f"{found.at_least}\n{shown}"
        assert found.inputs in (None, len(differing)), f"{found.inputs}\n{shown}"
    for change in found.changes if found.equal is False else ():
        count = differing.count((change.old, change.new))
        assert not is_listed or change.inputs in (None, count), f"{change}\n{shown}"
    return len(inputs)


def _label(network: Network, names: Any, cells: tuple[Cell, ...], side: str) -> Any:
    known = dict(zip(names, cells, strict=True))
    codes = [getattr(known[name], side) for name in network.domain.names]
    answer = class_of(network, [code for code, _ in codes], [n for _, n in codes])
    return network.classes[answer]  # type: ignore[index]


def _judge_example(old: Network, new: Network, found: Comparison, shown: str) -> None:
    """Demand that both know the counterexample, and answer as the result says."""
    assert found.counterexample is not None, shown
    cells = []
    for feature in found.domain.features:
        value = found.counterexample[feature.name]
        if not isinstance(feature, Range) or value in feature.values[1:]:
            code = feature.values.index(value)
            sides = [
                d.feature(feature.name)
                for d in (old.domain, new.domain)
                if feature.name in d.names
            ]
            pool = [c for c in _pool(*sides) if _find(feature, c) == (code, 1.0)]
            value = pool[0]
        both = [
            _find(d.feature(feature.name), value) if feature.name in d.names else None
            for d in (old.domain, new.domain)
        ]
        place = _find(feature, value)
        assert place is not None, f"{value!r}\n{shown}"
        cells.append(Cell(value, both[0], both[1], place))
    names = found.domain.names
    pair = tuple(
        _label(network, names, tuple(cells), side)
        for network, side in ((old, "old"), (new, "new"))
    )
    assert pair[0] != pair[1], f"{found.counterexample} gets {pair}\n{shown}"
    assert pair == found.predictions, f"{found.predictions}, not {pair}\n{shown}"


def _judge_rules(
    found: Comparison, inputs: list[tuple[Cell, ...]], pairs: list[Any], shown: str
) -> None:
    """Demand that every rule holds only where the two differ, as it says."""
    rules = found.rule_list
    if rules is None:
        assert not found.complete, shown
        return
    codes = np.array([[cell.met[0] for cell in cells] for cells in inputs])
    numbers = np.array([[cell.met[1] for cell in cells] for cells in inputs])
    rows = found.domain.decode(codes, numbers)
    for row, rule, pair in zip(rows, rules.apply(rows), pairs, strict=True):
        where = f"{row} gets {pair}, rule {rule}\n{shown}"
        if rule < 0:
            assert not found.complete or pair[0] == pair[1], where
            continue
        told = found.rules[rule]
        assert (told.old, told.new) == pair, where
