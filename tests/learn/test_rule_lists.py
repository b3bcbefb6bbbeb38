"""Rule lists as networks: equal on every input, with scores of the uncut network."""

import itertools

import numpy as np
import pandas as pd
import pytest

import nn2rules
from nn2rules import (
    Condition,
    ConstantWarning,
    Domain,
    Feature,
    Layer,
    Network,
    ReadableClassifier,
    Rule,
    RuleList,
)
from nn2rules.learn.training.columns import Cells
from nn2rules.learn.training.learning import first_weights, input_codes
from nn2rules.learn.training.rule_lists import described, network_of_list
from nn2rules.learn.training.targets import Targets

DOMAIN = Domain(
    (
        Feature("color", ("red", "green", "blue")),
        Feature("size", ("small", "big", None)),
        Feature.bins("age", (25, 40)),
    )
)
EVERY = np.array(list(itertools.product(*map(range, DOMAIN.sizes))))
ROWS = DOMAIN.decode(EVERY)


def drawn_list(rng, classes):
    """Draw rules with none to three conditions each."""
    rules = []
    for _ in range(rng.integers(0, 6)):
        conditions = []
        for feature in DOMAIN.features:
            if rng.random() < 0.6:
                n_kept = rng.integers(1, 3)
                kept = rng.choice(3, n_kept, replace=False)
                values = tuple(feature.values[code] for code in sorted(kept))
                conditions.append(Condition(feature.name, values))
        rules.append(Rule(tuple(conditions), classes[rng.integers(len(classes))]))
    return RuleList(DOMAIN, rules, classes[rng.integers(len(classes))], classes)


def drawn_network(rng, classes, size):
    n_outputs = 1 if len(classes) == 2 else len(classes)
    hidden = Layer(size * rng.normal(size=(9, 3)), size * rng.normal(size=3), "relu")
    name = "sigmoid" if n_outputs == 1 else "softmax"
    last = Layer(rng.normal(size=(3, n_outputs)), rng.normal(size=n_outputs), name)
    return Network(DOMAIN, (hidden, last), classes)


@pytest.mark.parametrize("classes", [("a", "b"), ("a", "b", "c")])
@pytest.mark.parametrize("seed", range(25))
def test_the_network_of_a_list_predicts_what_the_list_does(classes, seed):
    rng = np.random.default_rng(seed)
    rules = drawn_list(rng, classes)
    uncut = drawn_network(rng, classes, 10.0 ** rng.integers(-3, 4))
    targets = Targets.of_labels(rng.integers(0, len(classes), len(ROWS)), len(classes))
    network = network_of_list(rules, uncut, ROWS, targets)
    assert (network.predict(ROWS) == rules.predict(ROWS)).all()
    if len(classes) == 2:
        before, after = uncut.scores(ROWS), network.scores(ROWS)
        agree = uncut.predict(ROWS) == rules.predict(ROWS)
        near = 1 / 16 + 1e-6 * np.abs(before).max()
        assert np.abs(after - before)[agree].max(initial=0) <= near
        assert np.abs(after)[~agree].max(initial=0) <= near
    labels = [classes[place] for place in targets.truth]
    told = described(rules, network, ROWS, labels)
    assert (told.predict(ROWS) == rules.predict(ROWS)).all()
    assert nn2rules.check(network, told).ok
    right = told.predict(ROWS) == np.array(labels)
    assert told.certificate["labels_agree"] == right.sum()


def test_inputs_are_known_from_answers():
    cells = [
        Cells("a", (1, 2, 3), None, like=1),
        Cells("b", (1, 2), None),
        Cells("c", (5,), None, like=0),
    ]
    rows = [
        {"a": a, "b": b, "c": c}
        for a in (0, 1, 2, 3, None)
        for b in (0, 1, 2)
        for c in (4, 5, None)
    ]
    answers = np.hstack(
        [c.answers[c.places([row[c.name] for row in rows])] for c in cells]
    )
    n_questions = answers.shape[1]
    for chosen in range(1, 2**n_questions):
        asked = [place for place in range(n_questions) if chosen >> place & 1]
        domain, weights = first_weights(cells, asked, np.ones((len(asked), 1)))
        codes = input_codes(cells, asked, answers)
        summed = weights[codes + domain.offsets[:-1]].sum(axis=(1, 2))
        assert (summed == answers[:, asked].sum(axis=1)).all()


QUICK = {"questions": 6, "units": 4, "alpha": 0.1, "cuts": 3, "folds": 2, "n_jobs": 1}


def parity(n_rows=300):
    """Return rows whose class no sum of points tells."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (n_rows, 3)), columns=["x", "y", "z"])
    return frame, np.where(frame["x"] == frame["y"], "same", "other")


def test_the_form_is_chosen_on_held_out_rows():
    frame, labels = parity()
    model = ReadableClassifier(**QUICK).fit(frame, labels)
    assert {point.form for point in model.path_.points} == {"rules", "scorecard"}
    assert model.path_.points[model.path_.chosen].form == "rules"
    assert model.score(frame, labels) == 1
    assert nn2rules.check(model.network_, model.rules_).ok
    with pytest.raises(AttributeError, match="described by rules"):
        _ = model.scorecard_
    added = np.where(frame.sum(axis=1) > 1, "many", "few")
    assert ReadableClassifier(**QUICK).fit(frame, added).score(frame, added) == 1


@pytest.mark.parametrize("form", ["rules", "scorecard"])
def test_nothing_to_learn_gives_a_constant_network_and_a_warning(form):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.random(200), "y": rng.choice(["a", "b"], 200)})
    labels = np.where(np.arange(200) % 4 == 0, "rare", "usual")
    model = ReadableClassifier(**QUICK, form=form, max_rules=2, max_lines=4)
    with pytest.warns(ConstantWarning, match="predicts usual for all rows"):
        model.fit(frame, labels)
    assert set(model.predict(frame)) == {"usual"}
    assert (model.description_.predict(frame) == model.predict(frame)).all()
    first = model.choose(0)
    assert first.path_.points[0].size == 0
    shares = first.predict_proba(frame)
    assert (shares == shares[0]).all()
    assert shares[0, 1] == pytest.approx(0.75, abs=0.02)


def test_lists_are_on_the_path_and_equal_their_networks():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.integers(0, 3, (400, 4)), columns=list("abcd"))
    labels = (frame.sum(axis=1) > 4).to_numpy()
    model = ReadableClassifier(
        **{**QUICK, "questions": 8}, form="rules", max_rules=4
    ).fit(frame, labels)
    deep = [point for point in model.path_.points if len(point.network.layers) == 4]
    assert deep
    for point in deep:
        assert point.size <= 4
        domain = point.network.domain
        codes = np.array(list(itertools.product(*map(range, domain.sizes))))
        rows = domain.decode(codes)
        expected = point.description.predict(rows)
        assert (point.network.predict(rows) == expected).all()
