import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import naive
from nn2rules import (
    Condition,
    Domain,
    Feature,
    Layer,
    Network,
    OptionError,
    RowsError,
    Rule,
    RuleList,
    UnknownValueError,
    datasets,
    load,
)
from research.baselines import Trepan
from research.baselines.growth import Leaf, Split
from strategies import PIECEWISE_LINEAR, networks, plain_domain

TOMATO = load(datasets.network_file("tomato"))
CAR = load(datasets.network_file("car"))
CAR_ROWS = datasets.load("car").train.rows
MILD = ("integers", "signs", "dyadic", "decimal")


def every_input(domain):
    return domain.decode(naive.inputs(domain.sizes))


def splits(tree):
    return [] if isinstance(tree, Leaf) else [tree, *splits(tree.yes), *splits(tree.no)]


def random_network(seed, sizes=(3, 2, 4, 3, 2, 3), outputs=1):
    rng = np.random.default_rng([5, seed])
    one = Layer(rng.normal(size=(sum(sizes), 6)), rng.normal(size=6), "relu")
    bias = np.linspace(-0.3, 0.3, outputs)
    output = "sigmoid" if outputs == 1 else "softmax"
    two = Layer(rng.normal(size=(6, outputs)), bias, output)
    classes = ("a", "b", "c")[: max(outputs, 2)]
    return Network(plain_domain(list(sizes)), (one, two), classes)


# m of n


def m_of_n_network(sizes, n, m):
    """Return the network that counts the first n features at their first value."""
    weights = np.zeros((sum(sizes), 1))
    starts = np.cumsum([0, *sizes[:-1]])
    weights[starts[:n]] = 1
    layer = Layer(weights, [0.5 - m], "sigmoid")
    return Network(plain_domain(list(sizes)), (layer,), ("no", "yes"))


@pytest.mark.parametrize(
    ("sizes", "n", "m"),
    [
        ((2, 2, 2), 3, 2),
        ((2, 2, 2, 2, 2, 2), 5, 3),
        ((3, 2, 3, 2, 4), 4, 2),
        ((2, 3, 2, 3, 2, 3, 2), 6, 4),
        ((3, 3, 3), 2, 1),
        ((2, 2, 2), 3, 3),
    ],
)
def test_a_network_that_is_m_of_n_becomes_one_test(sizes, n, m):
    network = m_of_n_network(sizes, n, m)
    inputs = every_input(network.domain)
    order = np.random.default_rng(0).permutation(len(inputs))
    rows = [inputs[index] for index in order[: max(8, len(inputs) // 4)]]
    tree = Trepan(network).fit(rows)
    assert tree.n_nodes_ == 1
    assert tree.n_leaves_ == 2
    assert tree.score(inputs) == 1
    test = tree.tree_.test
    assert len(test.literals) == n
    assert test.features == set(range(n))
    assert test.m in (m, n - m + 1)


def test_the_text_of_an_m_of_n_tree():
    network = m_of_n_network((2, 2, 2), 3, 2)
    text = Trepan(network).fit(every_input(network.domain)).text()
    first, *rest = text.splitlines()
    assert first.startswith("2 of {f")
    assert sorted(first[6:-1].split(", ")) in (
        ["f0 = v0", "f1 = v0", "f2 = v0"],
        ["f0 = v1", "f1 = v1", "f2 = v1"],
    )
    labels = ["yes", "no"] if "v0" in first else ["no", "yes"]
    assert rest == [f"  yes: {labels[0]}", f"  no: {labels[1]}"]


# fidelity


def test_fidelity_grows_with_the_number_of_queries():
    fidelity, queries = [], []
    for min_samples in (0, 30, 100, 300, 1000):
        trees = []
        for seed in range(8):
            network = random_network(seed)
            inputs = every_input(network.domain)
            order = np.random.default_rng(seed).permutation(len(inputs))
            rows = [inputs[index] for index in order[:30]]
            options = {"max_nodes": 10, "purity": 0.9, "random_state": seed}
            tree = Trepan(network, min_samples=min_samples, **options).fit(rows)
            trees.append((tree.score(inputs), tree.n_queries_))
        fidelity.append(np.mean([one for one, _ in trees]))
        queries.append(np.mean([one for _, one in trees]))
    assert queries == sorted(queries)
    assert fidelity == sorted(fidelity)
    assert fidelity[0] < 0.85
    assert fidelity[-1] > 0.93


def test_a_tree_without_a_limit_equals_a_small_network():
    network = random_network(3, sizes=(3, 3, 2, 2))
    inputs = every_input(network.domain)
    tree = Trepan(network, purity=0.9999, max_nodes=1000).fit(inputs)
    assert tree.score(inputs) == 1
    assert tree.n_nodes_ > 1


@settings(max_examples=40)
@given(networks(PIECEWISE_LINEAR, palettes=MILD), st.integers(0, 3), st.booleans())
def test_trees_of_all_kinds_of_networks(network, seed, reuse_features):
    inputs = every_input(network.domain)
    tree = Trepan(
        network,
        max_nodes=5,
        min_samples=60,
        reuse_features=reuse_features,
        random_state=seed,
    ).fit(inputs[seed:] if len(inputs) > seed else inputs)
    assert tree.n_nodes_ <= 5
    assert tree.n_leaves_ == tree.n_nodes_ + 1 == tree.n_rules()
    assert sum(tree.n_rules(label) for label in network.classes) == tree.n_leaves_
    for split in splits(tree.tree_):
        assert not (isinstance(split.yes, Leaf) and split.yes == split.no)
    codes = naive.inputs(network.domain.sizes)
    for row, answer in zip(codes, tree.predict(inputs), strict=True):
        assert answer == network.classes[followed(tree.tree_, row)]


def followed(tree, row):
    """Return the answer of a tree for one row, literal by literal."""
    while isinstance(tree, Split):
        satisfied = sum(one.allowed[row[one.feature]] for one in tree.test.literals)
        tree = tree.yes if satisfied >= tree.test.m else tree.no
    return tree.answer


def test_siblings_that_answer_the_same_are_one_leaf():
    n_nodes = []
    for max_nodes in range(1, 12):
        tree = Trepan(CAR, max_nodes=max_nodes).fit(CAR_ROWS)
        n_nodes.append(tree.n_nodes_)
        assert tree.n_nodes_ == len(splits(tree.tree_)) <= max_nodes
        for split in splits(tree.tree_):
            assert isinstance(split.yes, Split) or split.yes != split.no
    assert n_nodes != list(range(1, 12))


def test_three_classes():
    network = random_network(1, outputs=3)
    inputs = every_input(network.domain)
    tree = Trepan(network).fit(inputs)
    assert set(tree.predict(inputs)) == {"a", "b", "c"}
    assert tree.score(inputs) > 0.97
    assert all(tree.n_rules(label) > 0 for label in "abc")


def test_the_largest_share_of_errors_is_split_first():
    """Two regions are equally mixed, and only one more test is allowed."""
    domain = Domain(tuple(Feature(name, (0, 1)) for name in "abc"))

    class Regions:
        def predict(self, rows):
            a, b, c = np.array([[row[name] for name in "abc"] for row in rows]).T
            return np.where(a == 0, np.where(b == 0, 0, 1), np.where(c == 0, 2, 3))

    inputs = every_input(domain)
    for common in (0, 1):
        rows = [row for row in inputs for _ in range(60 if row["a"] == common else 40)]
        tree = Trepan(Regions(), domain=domain, max_nodes=2, min_samples=0).fit(rows)
        assert tree.tree_.test.features == {0}
        (second,) = splits(tree.tree_)[1:]
        assert second.test.features == {1 + common}


# what the original forbids


def test_features_of_disjunctive_tests_are_reused_only_if_allowed():
    reused = {}
    for reuse_features in (True, False):
        tree = Trepan(CAR, reuse_features=reuse_features).fit(CAR_ROWS).tree_
        reused[reuse_features] = any(shared(tree, frozenset()))
    assert reused == {True: True, False: False}


def shared(tree, taken):
    """Tell for each test of several literals whether it repeats a feature above."""
    if isinstance(tree, Leaf):
        return
    test, n = tree.test, len(tree.test.literals)
    if n > 1:
        yield bool(test.features & taken)
    for branch, conjunctive in ((tree.yes, test.m == n), (tree.no, test.m == 1)):
        yield from shared(branch, taken if conjunctive else taken | test.features)


# queries


def test_every_input_asked_about_is_counted():
    class Asked:
        domain, n_rows = CAR.domain, 0

        def predict(self, rows):
            self.n_rows += len(rows)
            return CAR.predict(rows)

    oracle = Asked()
    tree = Trepan(oracle, max_nodes=4).fit(CAR_ROWS)
    assert tree.n_queries_ == oracle.n_rows > 4 * 1000
    same = Trepan(CAR, max_nodes=4).fit(CAR_ROWS)
    assert same.n_queries_ == tree.n_queries_
    assert same.text() == tree.text()


def test_a_constant_oracle_is_one_leaf():
    domain = plain_domain([3, 2])
    layer = Layer(np.zeros((5, 1)), [1], "sigmoid")
    network = Network(domain, (layer,), ("no", "yes"))
    tree = Trepan(network).fit(domain.decode([[0, 0], [2, 1]]))
    assert (tree.n_leaves_, tree.n_nodes_, tree.text()) == (1, 0, "yes")
    assert tree.n_rules("yes") == 1
    assert tree.n_rules("no") == 0
    assert tree.score(every_input(domain)) == 1


def test_features_of_one_value_are_never_tested():
    network = m_of_n_network((1, 2, 2, 1), 3, 3)
    tree = Trepan(network).fit(every_input(network.domain))
    assert tree.score(every_input(network.domain)) == 1
    assert tree.tree_.test.features == {1, 2}
    lonely = m_of_n_network((1,), 1, 1)
    assert Trepan(lonely).fit(lonely.domain.decode([[0]])).text() == "yes"


def test_one_row_is_enough():
    tree = Trepan(CAR).fit(CAR_ROWS[:1])
    assert tree.n_leaves_ == 1
    assert tree.predict(CAR_ROWS[:1]).tolist() == CAR.predict(CAR_ROWS[:1]).tolist()


def test_no_nodes_is_the_most_frequent_class():
    tree = Trepan(CAR, max_nodes=0).fit(CAR_ROWS)
    assert tree.text() == "unacc"


def test_the_same_seed_gives_the_same_tree():
    one, two = (Trepan(CAR, random_state=4).fit(CAR_ROWS) for _ in range(2))
    assert one.tree_ == two.tree_
    assert one.n_queries_ == two.n_queries_
    shuffled = np.random.default_rng(0).permutation(CAR_ROWS).tolist()
    assert Trepan(CAR, random_state=4).fit(shuffled).tree_ == one.tree_
    others = {Trepan(CAR, random_state=seed).fit(CAR_ROWS).text() for seed in range(4)}
    assert len(others) > 1


def test_copies_are_as_good():
    tree = clone(Trepan(CAR, max_nodes=4)).fit(CAR_ROWS)
    assert tree.text() == Trepan(CAR, max_nodes=4).fit(CAR_ROWS).text()


# oracles


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_an_oracle_is_given_frames_of_the_same_library(kind):
    class Frames:
        def predict(self, frame):
            kinds.add(type(frame))
            assert list(getattr(frame, "column_names", frame.columns)) == [
                "color",
                "size",
            ]
            return TOMATO.predict(frame)

    kinds = set()
    columns = datasets.load("tomato").train.columns
    frame = kind({"id": list(range(6)), **columns})
    tree = Trepan(Frames(), domain=TOMATO.domain).fit(frame)
    assert kinds == {type(frame)}
    assert tree.score(frame) == 1
    assert tree.n_rules("ripe") == 1


def test_an_oracle_is_given_dicts_for_dicts():
    class Dicts:
        def predict(self, rows):
            return [f"{row['color']} tomato" for row in rows]

    rows = datasets.load("tomato").train.rows
    tree = Trepan(Dicts(), domain=TOMATO.domain).fit(rows)
    assert tree.text().splitlines()[0] in ("color = red", "color = yellow")
    assert tree.predict(rows[:1]).tolist() == [f"{rows[0]['color']} tomato"]


def test_rules_are_an_oracle_too():
    conditions = (Condition("color", ("red",)), Condition("size", ("medium", "big")))
    rule = Rule(conditions, "ripe")
    rules = RuleList(TOMATO.domain, (rule,), "unripe", TOMATO.classes)
    tree = Trepan(rules).fit(every_input(TOMATO.domain))
    assert tree.text() == Trepan(TOMATO).fit(every_input(TOMATO.domain)).text()


def test_classes_that_no_row_has_are_found_by_asking():
    """All rows are of one class; only asking about others shows that there are two."""
    domain = Domain((Feature("f", (0, 1)), Feature("g", (0, 1))))

    class Both:
        def predict(self, rows):
            sums = np.array([row["f"] + row["g"] for row in rows])
            return np.where(sums == 2, "both", "not both")

    rows = domain.decode([[0, 1], [1, 0], [0, 0]])
    tree = Trepan(Both(), domain=domain, min_samples=0).fit(rows)
    assert tree.score(every_input(domain)) == 1
    assert tree.n_rules("both") == 1


# mistakes


def test_rows_that_cannot_be_read():
    tree = Trepan(TOMATO)
    with pytest.raises(RowsError, match=r"^row 0: the feature 'size' is missing"):
        tree.fit([{"color": "red"}])
    with pytest.raises(UnknownValueError, match=r"^row 1: feature 'size' has no value"):
        tree.fit([{"color": "red", "size": "big"}, {"color": "red", "size": "huge"}])
    with pytest.raises(RowsError, match=r"^there are no rows; a tree is trained on"):
        tree.fit([])
    with pytest.raises(RowsError, match="an array of rows has no names of columns"):
        tree.fit(np.array([[0.0, 1.0]]))
    tree.fit(every_input(TOMATO.domain))
    with pytest.raises(
        UnknownValueError, match=r"^row 0: feature 'color' has no value"
    ):
        tree.predict([{"color": "blue", "size": "big"}])
    with pytest.raises(RowsError, match=r"^there are 1 labels for 6 rows"):
        tree.score(every_input(TOMATO.domain), ["ripe"])
    with pytest.raises(
        OptionError, match="there is no class 'red'; there are 'unripe'"
    ):
        tree.n_rules("red")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_nodes": -1}, "max_nodes: -1, expected a whole number from 0 on"),
        ({"min_samples": 2.5}, "min_samples: 2.5, expected a whole number from 0"),
        ({"beam_width": 0}, "beam_width: 0, expected a whole number from 1 on"),
        ({"purity": 1}, "purity: 1, expected between 0 and 1"),
        ({"confidence": 0}, "confidence: 0, expected between 0 and 1"),
        ({"domain": plain_domain([2])}, "a Network has its own domain; leave out"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(OptionError, match=message):
        Trepan(TOMATO, **options).fit(every_input(TOMATO.domain))


def test_an_oracle_and_a_domain_are_needed():
    class NoDomain:
        def predict(self, rows):
            return ["a"] * len(rows)

    with pytest.raises(OptionError, match="the oracle is missing; it is a Network"):
        Trepan().fit(CAR_ROWS)
    with pytest.raises(OptionError, match="the features are not known; give domain="):
        Trepan(NoDomain()).fit(CAR_ROWS)
    with pytest.raises(NotFittedError):
        Trepan(CAR).predict(CAR_ROWS)


def test_an_oracle_that_answers_too_little():
    class Silent:
        domain = CAR.domain

        def predict(self, rows):
            return CAR.predict(rows)[:1]

    with pytest.raises(RowsError, match="there are 1 labels for"):
        Trepan(Silent()).fit(CAR_ROWS)
