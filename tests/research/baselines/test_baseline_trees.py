import importlib
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import naive
from nn2rules import (
    Domain,
    Feature,
    MissingExtraError,
    OptionError,
    RowsError,
    UnknownValueError,
    datasets,
    load,
)
from research.baselines import DecisionTree, SimpleTrepan

CAR = datasets.load("car")
NETWORK = load(datasets.network_file("car"))
TRAIN, TEST = (part.to_frame().drop(columns="label") for part in (CAR.train, CAR.test))


def by_hand(labels, depth, train=TRAIN):
    """Return answers for every input of car, the tree and the encoder."""
    encoder = OneHotEncoder(
        categories=[list(feature.values) for feature in CAR.domain.features]
    )
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
    tree.fit(encoder.fit_transform(train), labels)
    every = CAR.domain.decode(np.array(naive.inputs(CAR.domain.sizes)))
    return tree.predict(encoder.transform(pd.DataFrame(every))), tree, encoder


def answers(model):
    return model.predict(CAR.domain.decode(naive.inputs(CAR.domain.sizes)))


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_the_decision_tree_is_that_of_scikit_learn(depth):
    expected, tree, _ = by_hand(CAR.train.labels, depth)
    ours = DecisionTree(CAR.domain, max_depth=depth).fit(TRAIN, CAR.train.labels)
    assert answers(ours).tolist() == expected.tolist()
    assert ours.n_rules() == tree.get_n_leaves()
    assert ours.depth_ == depth
    assert ours.classes_.tolist() == ["acc", "unacc"]


def test_six_is_the_default():
    assert DecisionTree(CAR.domain).max_depth == SimpleTrepan(NETWORK).max_depth == 6


def test_simple_trepan_learns_what_the_network_answers():
    expected, tree, _ = by_hand(NETWORK.predict(CAR.train.rows), 6)
    ours = SimpleTrepan(NETWORK).fit(TRAIN, ["ignored"] * len(TRAIN))
    assert answers(ours).tolist() == expected.tolist()
    assert ours.n_rules() == tree.get_n_leaves()
    same = (ours.predict(TEST) == NETWORK.predict(TEST)).mean()
    assert ours.score(TEST) == pytest.approx(same)
    assert ours.score(TEST, CAR.test.labels) == pytest.approx(
        (ours.predict(TEST) == CAR.test.labels).mean()
    )


def test_rules_are_leaves_by_class():
    ours = SimpleTrepan(NETWORK).fit(TRAIN)
    _, tree, encoder = by_hand(NETWORK.predict(CAR.train.rows), 6)
    leaves = tree.apply(encoder.transform(TRAIN))
    named = tree.predict(encoder.transform(TRAIN))
    for label in ("acc", "unacc"):
        assert ours.n_rules(label) == len(set(leaves[named == label]))
    assert ours.n_rules() == ours.n_rules("acc") + ours.n_rules("unacc")
    with pytest.raises(OptionError, match="there is no class 'good'; there are 'acc'"):
        ours.n_rules("good")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_validation_takes_the_smallest_of_the_best_depths(seed):
    ours = SimpleTrepan(NETWORK, max_depth="validate", random_state=seed).fit(TRAIN)
    labels = NETWORK.predict(CAR.train.rows)
    columns = by_hand(labels, 1)[2].transform(TRAIN).toarray()
    train, held, train_labels, held_labels = train_test_split(
        columns, labels, test_size=0.2, random_state=seed
    )
    right = {}
    for depth in range(1, 21):
        tree = DecisionTreeClassifier(max_depth=depth, random_state=seed)
        tree.fit(train, train_labels)
        right[depth] = sum(tree.predict(held) == held_labels)
    assert ours.depth_ == min(d for d in right if right[d] == max(right.values()))
    assert len(set(right.values())) > 3
    chosen = DecisionTreeClassifier(max_depth=ours.depth_, random_state=seed)
    chosen.fit(columns, labels)
    assert ours.n_rules() == chosen.get_n_leaves()


def test_rows_of_every_kind_give_the_same_tree():
    expected = answers(SimpleTrepan(NETWORK).fit(CAR.train.rows)).tolist()
    for rows in (TRAIN, TRAIN.assign(label="x")):
        assert answers(SimpleTrepan(NETWORK).fit(rows)).tolist() == expected


def test_labels_of_every_kind():
    domain = Domain((Feature("f", (1, 2, 3)),))
    labels = [True, "yes", 2.5]
    tree = DecisionTree(domain).fit(domain.decode([[0], [1], [2]]), labels)
    assert tree.predict([{"f": 1}, {"f": 2}, {"f": 3}]).tolist() == labels
    assert tree.score(domain.decode([[0], [1]]), [True, "no"]) == 0.5
    assert tree.predict([]).tolist() == []


def test_copies_are_as_good():
    ours = clone(SimpleTrepan(NETWORK, max_depth=3)).fit(TRAIN)
    expected = SimpleTrepan(NETWORK, max_depth=3).fit(TRAIN)
    assert answers(ours).tolist() == answers(expected).tolist()


def test_mistakes_in_one_sentence():
    tree = DecisionTree(CAR.domain)
    with pytest.raises(RowsError, match=r"^there are 2 labels for 1382 rows"):
        tree.fit(TRAIN, ["acc", "acc"])
    with pytest.raises(RowsError, match=r"^row 1 has no label$"):
        tree.fit(TRAIN[:2], ["acc", None])
    with pytest.raises(RowsError, match=r"^the labels cannot be read"):
        tree.fit(TRAIN, None)
    with pytest.raises(RowsError, match=r"^there are no rows; a tree"):
        tree.fit(TRAIN[:0], [])
    with pytest.raises(RowsError, match="the feature 'safety' is missing"):
        tree.fit(TRAIN.drop(columns="safety"), CAR.train.labels)
    with pytest.raises(
        UnknownValueError, match=r"^row 3: feature 'doors' has no value"
    ):
        tree.fit([*CAR.train.rows[:3], {**CAR.train.rows[0], "doors": 7}], ["acc"] * 4)
    with pytest.raises(RowsError, match=r"^there are no rows to score"):
        tree.fit(TRAIN, CAR.train.labels).score(TEST[:0], [])
    with pytest.raises(NotFittedError):
        DecisionTree(CAR.domain).predict(TRAIN)


@pytest.mark.parametrize("depth", [0, -1, 2.5, "best", None, True])
def test_depths_that_make_no_sense(depth):
    tree = DecisionTree(CAR.domain, max_depth=depth)
    with pytest.raises(OptionError, match=r"max_depth: .*, expected a number from 1"):
        tree.fit(TRAIN, CAR.train.labels)


def test_options_that_are_missing():
    with pytest.raises(OptionError, match="give domain= a Domain"):
        DecisionTree().fit(TRAIN, CAR.train.labels)
    with pytest.raises(OptionError, match="the oracle is missing; it is a Network"):
        SimpleTrepan().fit(TRAIN)
    with pytest.raises(OptionError, match="the oracle is a str; it is a Network"):
        SimpleTrepan("car.json").fit(TRAIN)
    with pytest.raises(RowsError, match="needs at least 2 rows"):
        SimpleTrepan(NETWORK, max_depth="validate").fit(TRAIN[:1])


# the extra


def test_without_scikit_learn_the_command_is_given(monkeypatch):
    for name in list(sys.modules):
        if name.startswith("research.baselines"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtraError, match=r'pip install ".\[sklearn\]"'):
        importlib.import_module("research.baselines")


def test_importing_nn2rules_does_not_load_the_baselines():
    code = "import sys, nn2rules; nn2rules.Domain; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    modules = run.stdout.split()
    assert "nn2rules.space.domain" in modules
    assert not any(name.startswith("research.baselines") for name in modules)
