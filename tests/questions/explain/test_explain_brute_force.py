"""Every answer of `explain` against brute force, on random networks."""

from itertools import product

import numpy as np
import pytest
from brute_force import (
    World,
    listed_domain,
    random_boxes,
    random_network,
    random_row,
    ranged_domain,
)

from nn2rules import datasets, explain, load
from nn2rules.engine import beyond_tables
from nn2rules.questions.explain import small_changes
from nn2rules.questions.explain.hitting_sets import Demands
from nn2rules.space import Range


def positions(world, explanation_part, row):
    """Return an input, as positions, from a row and what of it is changed."""
    changed = {**world.row(row), **explanation_part}
    return tuple(
        values.index(changed[name])
        for name, values in zip(world.names, world.values, strict=True)
    )


def allowed_by(world, reason):
    """Return the positions that a reason allows each feature."""
    allowed = []
    for index, (name, values) in enumerate(zip(world.names, world.values, strict=True)):
        if name not in reason:
            allowed.append(set(range(len(values))))
            continue
        said = reason[name] if isinstance(reason[name], list) else [reason[name]]
        is_range = isinstance(world.features[index], Range)
        found = set()
        for value in said:
            if is_range and isinstance(value, tuple):
                low, high = (values.index(end) for end in value)
                found |= set(range(low, high + 1))
            else:
                found.add(values.index(value))
        allowed.append(found)
    return allowed


def check_reasons(world, row, found, *, smallest, number):
    answer, every = world.answers[row], world.reasons(row)
    sets = [tuple(world.names.index(name) for name in r) for r in found.reasons]
    assert len(set(sets)) == len(sets) == min(number, len(every))
    assert set(sets) <= every
    assert found.proved.minimal
    assert found.proved.every_reason == (len(sets) == len(every)) or len(sets) == number
    if smallest:
        assert found.proved.smallest
        assert [len(one) for one in sets] == sorted(map(len, every))[: len(sets)]
    for reason in found.reasons:
        check_wide(world, row, answer, allowed_by(world, reason), reason)


def check_wide(world, row, answer, allowed, reason):
    """Demand that a reason is true, holds the row, and cannot be said more widely."""
    assert all(row[i] in some for i, some in enumerate(allowed))
    assert world.is_true(answer, allowed)
    for name in reason:
        index = world.names.index(name)
        own, some = world.place(index, row[index]), allowed[index]
        is_range = isinstance(world.features[index], Range)
        numbers = {
            p
            for p in range(len(world.values[index]))
            if is_range and world.place(index, p) is not None
        }
        if own is None and numbers - some:  # all of them, or none
            assert not world.is_true(
                answer, [*allowed[:index], some | numbers, *allowed[index + 1 :]]
            )
        for position in set(range(len(world.values[index]))) - some:
            place = world.place(index, position)
            if own is None and position in numbers:
                continue
            if own is not None and place is not None:
                beside = {position - 1, position + 1} & some
                if all(world.place(index, other) is None for other in beside):
                    continue
            wider = [*allowed]
            wider[index] = some | {position}
            assert not world.is_true(answer, wider)


def random_options(rng, world):
    """Draw costs and constraints, for `explain` and for brute force."""
    options, names = {}, world.names
    ordered = [i for i, f in enumerate(world.features) if f.ordered]
    kinds = rng.integers(0, 5, size=len(names)).tolist()
    fixed = {i for i, kind in enumerate(kinds) if kind == 1}
    up = {i for i, kind in enumerate(kinds) if kind == 2} & set(ordered)
    down = {i for i, kind in enumerate(kinds) if kind == 3} & set(ordered)
    banned = {
        i: set(rng.choice(len(world.values[i]), size=1).tolist())
        for i, kind in enumerate(kinds)
        if kind == 4
    }
    options["immutable"] = [names[i] for i in sorted(fixed)]
    options["increase"] = [names[i] for i in sorted(up)]
    options["decrease"] = [names[i] for i in sorted(down)]
    options["forbidden"] = {
        names[i]: [world.values[i][p] for p in some] for i, some in banned.items()
    }

    def is_allowed(index, before, after):
        if index in fixed or after in banned.get(index, ()):
            return False
        if index not in up | down:
            return True
        places = world.place(index, before), world.place(index, after)
        if None in places:
            return False
        return places[1] > places[0] if index in up else places[1] < places[0]

    if not rng.integers(0, 2):
        return options, is_allowed, lambda *_: 1
    prices = {}
    for index in range(len(names)):
        change, step = rng.integers(1, 4), rng.integers(0, 3)
        prices[index] = int(change), int(step) if index in ordered else 0
    options["costs"] = {names[i]: price for i, price in prices.items()}

    def cost(index, before, after):
        places = world.place(index, before), world.place(index, after)
        steps = 1 if None in places else abs(places[1] - places[0])
        return prices[index][0] + prices[index][1] * steps

    return options, is_allowed, cost


@pytest.fixture(params=["few are tried", "none is tried", "regions first"])
def _every_way(request, monkeypatch):
    """Look for changes by trying few of them, by demands alone, and by regions."""
    if request.param != "few are tried":
        monkeypatch.setattr(small_changes, "_TRIED", -1)
    if request.param == "regions first":
        monkeypatch.setattr(beyond_tables, "TURNS", ((0, 4_000),))
        monkeypatch.setattr(beyond_tables, "LATE_TURNS", ((0, 4_000),))


@pytest.mark.usefixtures("_every_way")
@pytest.mark.parametrize("seed", range(2))
def test_listed_values_by_table_and_by_search(seed):
    rng = np.random.default_rng([7, seed])
    for _ in range(100):
        network = random_network(rng, listed_domain(rng))
        impossible = random_boxes(rng, World(network))
        world = World(network, impossible)
        if not world.possible:
            continue
        row = random_row(rng, world)
        options, is_allowed, cost = random_options(rng, world)
        smallest, number = bool(rng.integers(0, 2)), int(rng.integers(1, 4))
        expected = world.changes(row, is_allowed, cost)
        for engine in ("table", "search"):
            found = explain(
                network,
                world.row(row),
                smallest=smallest,
                reasons=number,
                impossible=impossible,
                engine=engine,
                **options,
            )
            assert found.prediction == world.answers[row]
            assert found.undecided == []
            check_reasons(world, row, found, smallest=smallest, number=number)
            assert found.radius == world.radius(row)
            assert found.proved.fewest
            assert found.proved.every_counterfactual
            if expected is None:
                assert (found.counterfactuals, found.cost) == ([], None)
                continue
            turned = [positions(world, change, row) for change in found.counterfactuals]
            assert found.cost == expected[0]
            assert len(turned) == len(expected[1])
            assert set(turned) == set(expected[1])
            assert found.outcomes == [world.answers[one] for one in turned]


def kind_of(world, row, one):
    """Return what is changed: values, and of numbers whether they go up or down."""
    kind = []
    for index, (before, after) in enumerate(zip(row, one, strict=True)):
        if before == after:
            continue
        is_range = isinstance(world.features[index], Range)
        places = world.place(index, before), world.place(index, after)
        if is_range and places[1] is not None:
            to = "number" if places[0] is None else ("up", "down")[after < before]
            kind.append((index, to))
        else:
            kind.append((index, after))
    return tuple(kind)


def steps_between(world, row, one):
    """Return how far each number of a range is moved; 0 for all else."""
    return [
        abs(after - before)
        if isinstance(world.features[i], Range)
        and None not in (world.place(i, before), world.place(i, after))
        else 0
        for i, (before, after) in enumerate(zip(row, one, strict=True))
    ]


@pytest.mark.usefixtures("_every_way")
@pytest.mark.parametrize("seed", range(2))
def test_ranges_of_whole_numbers(seed):
    rng = np.random.default_rng([8, seed])
    for _ in range(40):
        network = random_network(rng, ranged_domain(rng))
        impossible = random_boxes(rng, World(network))
        world = World(network, impossible)
        row = random_row(rng, world)
        options, is_allowed, cost = random_options(rng, world)
        smallest, number = bool(rng.integers(0, 2)), int(rng.integers(1, 4))
        found = explain(
            network,
            world.row(row),
            smallest=smallest,
            reasons=number,
            impossible=impossible,
            **options,
        )
        check_reasons(world, row, found, smallest=smallest, number=number)
        assert (found.radius, found.undecided) == (world.radius(row), [])
        expected = world.changes(row, is_allowed, cost)
        if expected is None:
            assert (found.counterfactuals, found.proved.fewest) == ([], True)
            continue
        turned = [positions(world, change, row) for change in found.counterfactuals]
        assert found.cost == expected[0]
        assert set(turned) <= set(expected[1])
        kinds = [kind_of(world, row, one) for one in turned]
        assert len(set(kinds)) == len(kinds) or "costs" in options
        assert set(kinds) == {kind_of(world, row, one) for one in expected[1]}
        for one, kind in zip(turned, kinds, strict=True):
            own = steps_between(world, row, one)
            for other in expected[1]:
                if kind_of(world, row, other) == kind:
                    steps = steps_between(world, row, other)
                    is_nearer = all(a <= b for a, b in zip(steps, own, strict=True))
                    assert steps == own or not is_nearer


def test_cheapest_levels_are_those_of_all_levels():
    rng = np.random.default_rng(9)
    for _ in range(300):
        costs = [
            np.cumsum(rng.integers(1, 4, size=rng.integers(0, 4))).tolist()
            for _ in range(rng.integers(1, 5))
        ]
        demands, wanted, blocked = Demands(costs), [], []
        last = 0
        for _ in range(8):
            needed = {
                i: int(rng.integers(1, len(levels) + 1))
                for i, levels in enumerate(costs)
                if levels and rng.integers(0, 2)
            }
            wanted.append(needed)
            demands.add(needed)
            every = [
                levels
                for levels in product(*(range(len(of) + 1) for of in costs))
                if all(any(levels[i] >= n for i, n in d.items()) for d in wanted)
                and not any(
                    all(a >= b for a, b in zip(levels, one, strict=True))
                    for one in blocked
                )
            ]
            found = demands.cheapest()
            if not every:
                assert found is None
                break
            assert found in every
            assert demands.cost(found) == min(map(demands.cost, every)) >= last
            last = demands.cost(found)
            if not rng.integers(0, 3):
                blocked.append(found)
                demands.block(found)


@pytest.mark.parametrize("name", ["car", "nursery", "contraception", "adult"])
def test_data_sets_by_table_and_by_search(name):
    network = load(datasets.network_file(name))
    rng = np.random.default_rng(4)
    codes = rng.integers(0, network.domain.sizes, size=(12, len(network.domain.sizes)))
    rows = network.domain.decode(codes)
    ordered = [f.name for f in network.domain.features if f.ordered]
    options = {"increase": ordered[:1], "costs": dict.fromkeys(ordered, (1, 0.5))}
    for some in ({"smallest": True}, {"reasons": 3}, options):
        by_table = explain(network, rows, engine="table", **some)
        by_search = explain(network, rows, engine="search", **some)
        for one, other in zip(by_table, by_search, strict=True):
            both = one.to_dict(), other.to_dict()
            sizes = [[*map(len, found.pop("reasons"))] for found in both]
            assert sizes[0] == sizes[1] or "smallest" not in some
            assert both[0] == both[1]
