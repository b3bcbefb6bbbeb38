"""Two domains become one: what is refused, what is said, what is compared."""

from itertools import product

import numpy as np
import pytest

from nn2rules import (
    Condition,
    Domain,
    DomainError,
    Feature,
    Layer,
    Network,
    Rule,
    RuleList,
    compare,
)
from nn2rules.questions.compare.common_domain import shared_domain_of

COLOR = Feature("color", ("red", "green", "blue"))
SIZE = Feature("size", ("small", "big"), ordered=True)


def network_on(rng, *features):
    domain = Domain(features)
    hidden = Layer(rng.normal(size=(int(domain.offsets[-1]), 3)), [0, 0, 0], "relu")
    last = Layer(rng.normal(size=(3, 1)), [0.1], "sigmoid")
    return Network(domain, (hidden, last), ("no", "yes"))


def check(old, new, rows, **options):
    """Compare on `rows`, which are all inputs that both know."""
    found = compare(old, new, **options)
    differing = old.predict(rows) != new.predict(rows)
    assert found.n_inputs == len(rows)
    assert found.inputs == differing.sum()
    if found.rule_list is not None:
        assert ((found.rule_list.predict(rows) != "same") == differing).all()
    return found


def rows_of(**values):
    return [dict(zip(values, row, strict=True)) for row in product(*values.values())]


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_features_and_values_is_no_difference(seed):
    rng = np.random.default_rng(seed)
    old = network_on(rng, COLOR, SIZE)
    turned = Feature("color", ("blue", "red", "green"))
    order = [3, 4, 2, 0, 1]
    hidden, last = old.layers
    same = Layer(hidden.weights[order], hidden.bias, hidden.activation)
    new = Network(Domain((SIZE, turned)), (same, last), old.classes)
    for engine in ("table", "search"):
        found = check(
            old, new, rows_of(color=COLOR.values, size=SIZE.values), engine=engine
        )
        assert found.equal is True
        assert found.notes == ()
        other = network_on(rng, SIZE, turned)
        check(old, other, rows_of(color=COLOR.values, size=SIZE.values), engine=engine)


def test_what_differs_is_said_and_the_common_part_is_offered():
    rng = np.random.default_rng(0)
    old = network_on(rng, COLOR, SIZE)
    new = network_on(
        rng, Feature("color", ("red", "pink", "blue")), Feature("age", (1, 2))
    )
    with pytest.raises(DomainError) as error:
        compare(old, new)
    assert str(error.value) == (
        "the two have different domains: feature 'color': only the old one has green, "
        "only the new one has pink; only the old one has the feature 'size'; only the "
        "new one has the feature 'age'; with common=True (--common) they are compared "
        "on what they share"
    )


@pytest.mark.parametrize("engine", ["table", "search"])
def test_the_common_part_is_compared(engine):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        old = network_on(rng, COLOR, SIZE)
        colors = Feature("color", ("pink", "blue", "red"))
        new = network_on(rng, Feature("age", (1, 2, 3)), colors)
        rows = rows_of(color=("red", "blue"), size=SIZE.values, age=(1, 2, 3))
        found = check(old, new, rows, common=True, engine=engine)
        assert found.domain.names == ("color", "size", "age")
        assert found.notes[0].startswith("Their domains differ, so they are compared")
        rules = RuleList(
            new.domain,
            (Rule((Condition("color", ("pink",)),), "yes"),),
            "no",
            ("no", "yes"),
        )
        assert compare(old, rules, common=True, engine=engine).inputs == int(
            (old.predict(rows) == "yes").sum()
        )


def test_rows_outside_of_the_common_part_are_left_out():
    rng = np.random.default_rng(1)
    old = network_on(rng, COLOR, SIZE)
    new = network_on(rng, Feature("color", ("red", "pink", "blue")), SIZE)
    rows = rows_of(color=("red", "green", "blue", "pink"), size=SIZE.values)
    found = compare(old, new, rows, common=True)
    inside = [row for row in rows if row["color"] in ("red", "blue")]
    assert found.n_rows == len(inside)
    assert found.rows == (old.predict(inside) != new.predict(inside)).sum()
    assert found.notes[-1] == (
        "4 of 8 rows are outside the shared domain and left out."
    )


def test_ranges_that_overlap():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        old = network_on(rng, Feature.real("age", 10, 30, whole=True, missing=True))
        new = network_on(rng, Feature.real("age", 20, 40, whole=True, special=[99]))
        with pytest.raises(
            DomainError, match="'age' goes from 10 to 30 in the old one"
        ):
            compare(old, new)
        check(old, new, rows_of(age=range(20, 31)), common=True)
    old = network_on(rng, Feature.real("age", 0, 1, missing=True))
    new = network_on(rng, Feature.real("age", 0, 1))
    with pytest.raises(DomainError, match="'age' has other special values"):
        compare(old, new)
    apart = network_on(rng, Feature.real("age", 2, 3))
    with pytest.raises(DomainError, match="share no value of feature 'age'"):
        compare(new, apart, common=True)


@pytest.mark.parametrize("engine", ["table", "search"])
def test_bins_cut_elsewhere_are_cut_at_both(engine):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        old = network_on(rng, Feature.bins("age", (20, 40)), SIZE)
        new = network_on(rng, Feature.bins("age", (30, 40, 50)), SIZE)
        with pytest.raises(DomainError, match="bins are cut at 20, 40 in the old one"):
            compare(old, new)
        rows = rows_of(age=(10, 20, 30, 40, 50), size=SIZE.values)
        found = check(old, new, rows, common=True, engine=engine)
        assert found.domain.feature("age").edges == (20, 30, 40, 50)


def test_bins_of_other_names_are_the_same_bins():
    rng = np.random.default_rng(0)
    named = Feature("age", ("young", "old"), ordered=True, edges=(30,))
    old = network_on(rng, named)
    new = Network(Domain((Feature.bins("age", (30,)),)), old.layers, old.classes)
    assert compare(old, new).equal is True
    moved = Feature("age", ("young", "old"), ordered=True, edges=(40,))
    with pytest.raises(DomainError, match="cut at 30 in the old one, 40 in the new"):
        compare(old, Network(Domain((moved,)), old.layers, old.classes))


def test_other_kinds_of_one_feature_have_nothing_in_common():
    rng = np.random.default_rng(0)
    old = network_on(rng, Feature.real("age", 10, 30))
    new = network_on(rng, Feature("age", (10, 20)))
    with pytest.raises(
        DomainError, match="a range of real numbers in the old one and a"
    ):
        compare(old, new, common=True)


def test_values_that_read_the_same_are_the_same():
    old = Domain((Feature("doors", (2, 3, None)),))
    new = Domain((Feature("doors", (None, "3", "2")),))
    shared = shared_domain_of(old, new, common=False)
    assert shared.domain == old
    rng = np.random.default_rng(0)
    one = network_on(rng, *old.features)
    hidden, last = one.layers
    same = Layer(hidden.weights[[2, 1, 0]], hidden.bias, hidden.activation)
    assert compare(one, Network(new, (same, last), one.classes)).equal is True


def test_values_for_all_others_know_what_only_one_lists():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        old = network_on(rng, Feature("job", ("a", "b", None, "other"), other="other"))
        new = network_on(rng, Feature("job", ("c", "a", "rest"), other="rest"))
        found = check(old, new, rows_of(job=("a", "b", "c", "z")), common=True)
        rows = rows_of(job=("z", "c", "b", "b"))
        counted = compare(old, new, rows, common=True)
        assert counted.rows == (old.predict(rows) != new.predict(rows)).sum()
        assert found.domain.feature("job").values == ("a", "b", "c", "other")
        listed = network_on(rng, Feature("job", ("c", "a")))
        check(old, listed, rows_of(job=("a", "c")), common=True)
        check(listed, old, rows_of(job=("a", "c")), common=True)


def test_a_value_for_all_others_is_a_difference():
    old = Domain((Feature("job", ("a", "b"), other=None),))
    new = Domain((Feature("job", ("a", "b"), other="b"),))
    with pytest.raises(DomainError, match="only one of the two accepts other values"):
        shared_domain_of(old, new, common=False)


def grouped_network(groups, other, seed):
    rng = np.random.default_rng(seed)
    job = Feature.grouped("job", groups, other=other)
    domain = Domain((job, Feature.bins("age", (30, 50), missing=True)))
    size = int(domain.offsets[-1])
    hidden = Layer(rng.normal(0, 2, (size, 3)), rng.normal(0, 1, 3), "relu")
    last = Layer(rng.normal(0, 2, (3, 1)), [0.1], "sigmoid")
    return Network(domain, (hidden, last), ("no", "yes"))


@pytest.mark.parametrize("seed", range(12))
def test_groups_of_words_meet_word_by_word(seed):
    old = grouped_network([["clerk", "cook"], ["judge", None], ["smith"]], 2, seed)
    new = grouped_network(
        [["clerk"], ["cook", "judge", "pilot"], [None], []], 3, seed + 50
    )
    words = ["clerk", "cook", "judge", "smith", "pilot", "baker", None]
    rows = [{"job": word, "age": age} for word in words for age in (20, 40, 60, None)]
    differs = old.predict(rows) != new.predict(rows)
    for engine in ("table", "search"):
        found = compare(old, new, rows, engine=engine)
        assert found.rows == differs.sum()
        assert found.equal == (not differs.any())
        if not found.equal:
            assert ((found.rule_list.apply(rows) >= 0) == differs).all()


@pytest.mark.parametrize("engine", ["table", "search"])
def test_a_missing_value_that_both_have_is_compared(engine):
    values = ("1", "2", None)
    old = Network(
        Domain((Feature("f", values),)),
        (Layer([[-1.0], [-1.0], [-1.0]], [0.0], "sigmoid"),),
        ("no", "yes"),
    )
    new = Network(
        Domain((Feature("f", ("1", "2", "extra", None)),)),
        (Layer([[-1.0], [-1.0], [-1.0], [1.0]], [0.0], "sigmoid"),),
        ("no", "yes"),
    )
    found = check(old, new, rows_of(f=values), common=True, engine=engine)
    assert found.equal is False
    assert found.counterexample == {"f": None}


def scored(feature, *scores):
    """Return a network of one feature: "yes" where the score of a value is positive."""
    weights = [[float(score)] for score in scores]
    layers = (Layer(weights, [0.0], "sigmoid"),)
    return Network(Domain((feature,)), layers, ("no", "yes"))


BOTH_ENGINES = pytest.mark.parametrize("engine", ["table", "search"])


@BOTH_ENGINES
def test_bins_of_whole_and_of_all_numbers_meet_in_whole_ones(engine):
    old = scored(Feature.bins("f", (1, 3), whole=True), -1, 1, 1)
    new = scored(Feature.bins("f", (0.5, 2.5)), -1, 1, 1)
    found = compare(old, new, common=True, engine=engine)
    assert found.equal is True  # at 0.75, which only the new one knows, it is "yes"
    assert found.domain.feature("f").edges == (1, 3)
    assert found.domain.feature("f").whole
    assert "is limited to whole numbers" in found.notes[0]


@BOTH_ENGINES
def test_the_word_for_others_may_be_an_ordinary_word_of_the_other_side(engine):
    old = scored(Feature("f", ("a", "other"), other="other"), 1, -1)
    new = scored(Feature("f", ("a", "rest", "other"), other="rest"), 1, -1, 1)
    found = compare(old, new, common=True, engine=engine)
    assert found.equal is False
    assert found.inputs == 1
    assert found.counterexample == {"f": "other"}
    assert found.domain.encode([{"f": "stranger"}]).tolist() == [[2]]


@BOTH_ENGINES
def test_two_values_that_stand_for_others_are_words_as_well(engine):
    values = ("a", "b", "c")
    old = scored(Feature("f", values, other="b"), 1, 1, -1)
    new = scored(Feature("f", values, other="c"), 1, 1, -1)
    found = compare(old, new, common=True, engine=engine)
    assert found.n_inputs == 4  # a stranger is b in the old one, c in the new one
    assert found.inputs == 1
    cells = ["a", "b", "c", "z"]
    assert (found.rule_list.apply([{"f": cell} for cell in cells]) >= 0).tolist() == [
        False,
        False,
        False,
        True,
    ]


@BOTH_ENGINES
def test_numbers_and_texts_that_are_the_same_cell_are_one_value(engine):
    old = scored(Feature("f", (2.0, 3.0)), 1, 1)
    new = scored(Feature("f", ("2", "x")), -1, 1)
    found = compare(old, new, common=True, engine=engine)
    assert (found.n_inputs, found.inputs) == (1, 1)
    groups = scored(Feature.grouped("f", [["1", "2"], ["x"]]), -1, 1)
    listed = scored(Feature("f", (1, "x")), 1, 1)
    assert compare(listed, groups, common=True, engine=engine).inputs == 1


@BOTH_ENGINES
def test_special_values_meet_also_where_ranges_do_not(engine):
    old = scored(Feature.real("f", 0, 1, special=[99], missing=True), 1, 1, 1)
    new = scored(Feature.real("f", 3, 4, special=["99"], missing=True), 1, 1, -1)
    found = compare(old, new, common=True, engine=engine)
    assert (found.n_inputs, found.inputs) == (2, 1)
    assert found.counterexample == {"f": None}


def test_a_special_value_that_is_a_number_of_the_other_range_is_named():
    old = scored(Feature.real("f", 0, 10, special=[99]), 1, 1)
    new = scored(Feature.real("f", 0, 200), 1)
    found = compare(old, new, common=True)
    assert found.equal is True
    assert "99, special in one of the two" in found.notes[0]
    assert "is not compared" in found.notes[0]


def test_spellings_of_missing_that_one_side_refuses_are_no_common_cells():
    old = scored(Feature("f", ("a", None), not_missing=("None",)), 1, 1)
    new = scored(Feature("f", ("a", None), not_missing=("NaN",)), 1, 1)
    shared = shared_domain_of(old.domain, new.domain, common=False)
    assert shared.domain.feature("f").not_missing == ("None", "NaN")
