import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import SMALL, answers, members, network_of, tables

from nn2rules import check, datasets, extract, load
from nn2rules.extraction.from_table.runs import Effort, Work
from nn2rules.extraction.from_table.short_list import (
    Aim,
    grid_of,
    heaviest,
    inside,
    short_list,
    weights_of,
)

WORK = Work(Effort(runs=1, tries=4, steps=4, sweeps=1, rebuilds=10))


@settings(max_examples=200)
@given(tables(), st.integers(0, 2**32 - 1))
def test_the_sum_of_a_box_is_that_of_its_inputs_and_no_value_makes_it_larger(
    table, seed
):
    rng, grid = np.random.default_rng(seed), grid_of(table.sizes)
    values = rng.integers(-4, 5, len(table.classes)).astype(np.float64)
    starts = rng.random((3, sum(table.sizes))) < 0.5
    for block in grid.blocks:
        starts[:, block.start] = True
    total, box = heaviest(grid, values, starts)
    own = members(box[np.newaxis], table.sizes)[0]
    assert inside(grid, box).tolist() == own.tolist()
    assert total == values[own].sum()
    sums = values @ members(starts, table.sizes).T
    assert total >= sums.max()


@settings(max_examples=150)
@given(tables(), st.integers(0, 6), st.booleans(), st.integers(0, 2**32 - 1))
def test_more_rules_are_right_on_more(table, most, has_rows, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, len(table.classes)) if has_rows else None
    weights = weights_of(table.classes, counts)
    n_possible = int(table.possible.sum())
    found = short_list(table.classes, table.sizes, Aim(most, n_possible, counts), WORK)
    assert len(found) <= most
    given_ = answers((found.boxes, found.classes), found.default, table.sizes)
    right = weights[given_ == table.classes].sum()
    nothing = [weights[table.classes == c].sum() for c in range(table.n_classes)]
    n_wrong = int((given_ != table.classes)[table.possible].sum())
    assert right >= max(nothing)
    if len(found) < most:
        assert n_wrong == 0
    again = short_list(table.classes, table.sizes, Aim(most, n_possible, counts), WORK)
    assert again.boxes.tolist() == found.boxes.tolist()


@settings(max_examples=100)
@given(tables(), st.floats(0, 1))
def test_as_soon_as_enough_is_right_no_rule_is_added(table, share):
    n_possible = int(table.possible.sum())
    least = int(share * n_possible)
    found = short_list(table.classes, table.sizes, Aim(10_000, least), WORK)
    given_ = answers((found.boxes, found.classes), found.default, table.sizes)
    assert int((given_ == table.classes)[table.possible].sum()) >= least
    if least <= n_possible / table.n_classes:
        assert len(found) == 0


def test_rows_and_inputs_weigh_the_same():
    table = np.array([0, 1, 255, 1], dtype=np.uint8)
    weights = weights_of(table, np.array([6, 0, 5, 1]))
    assert weights.tolist() == [3 * 6 + 7, 7, 0, 3 + 7]
    assert weights_of(table, None).tolist() == [1, 1, 0, 1]


@settings(max_examples=60)
@given(tables(shapes=SMALL, dont_care=False), st.data(), st.integers(0, 4))
def test_a_short_list_counts_what_it_gets_wrong(table, data, most):
    network = network_of(table)
    positions = st.integers(0, len(table.classes) - 1)
    drawn = data.draw(st.lists(positions, min_size=1, max_size=25))
    rows = network.domain.decode(table.inputs[drawn])
    options = {"scope": "domain", "form": "list", "effort": 0}
    exact = extract(network, rows, **options)
    short = extract(network, rows, max_rules=most, **options)
    wrong = answers(
        (short.boxes, short.answers), short.classes.index(short.default), table.sizes
    )
    wrong = wrong != table.classes
    assert len(short) <= most
    assert short.certificate["different"] == wrong.sum()
    assert short.certificate.get("rows_different", 0) == wrong[drawn].sum()
    assert (wrong.sum() > 0) == any("APPROXIMATE" in w for w in short.warnings())
    assert check(network, short).different == wrong.sum()
    if most >= len(exact):
        assert short == exact
    weights = weights_of(table.classes, np.bincount(drawn, minlength=len(wrong)))
    first = exact.top(most)
    others = first.predict(network.domain.decode(table.inputs))
    others = others != network.predict(network.domain.decode(table.inputs))
    assert weights[wrong].sum() <= weights[others].sum()


def test_few_rules_say_more_than_the_first_of_the_exact_list():
    """The first five of the exact list differ on 8.8% of the inputs."""
    network = load(datasets.network_file("car"))
    short = extract(network, max_rules=5, form="list")
    assert short.certificate["different"] <= 0.03 * network.domain.n_inputs
    assert len(extract(network, fidelity=0.95, form="list")) <= 3
