"""Summaries: what they measure is recomputed here, row by row."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.neural_network import MLPClassifier

import nn2rules
from nn2rules import Domain, Feature, Layer, Network
from nn2rules.errors import FormatError, Nn2RulesError, OptionError, RowsError
from nn2rules.summaries import Agreement

QUIET = {"progress": False, "time": 1.0}


@pytest.fixture(scope="module")
def network():
    return nn2rules.load(nn2rules.datasets.network_file("car"))


@pytest.fixture(scope="module")
def rows():
    return nn2rules.datasets.load("car").train.rows[:400]


@pytest.fixture(scope="module")
def summary(network, rows):
    return nn2rules.summarize(network, rows, max_lines=12, **QUIET)


def numbers_frame(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    return frame, (frame["a"] * frame["b"] > 0).astype(int)


def mlp(frame, labels):
    return MLPClassifier((8,), random_state=0, max_iter=400).fit(frame, labels)


def test_the_first_line_says_that_it_is_a_summary(summary):
    first = " ".join(summary.text(width=200).splitlines()[:1])
    agreement = summary.agreement
    assert first == (
        f"Summary, not an exact description: agrees with the model on "
        f"{agreement.text} of unseen rows ({agreement.rows} rows)"
    )
    assert summary.card.text(width=200).startswith(first)  # also by itself
    assert "(proved)" not in summary.text(width=1000)
    assert "those of the model" not in summary.text(width=1000)


def test_agreement_is_what_one_counts(network, rows, summary):
    rng = np.random.default_rng(0)
    held = np.sort(rng.permutation(len(rows))[: len(rows) // 5])
    unseen = [rows[place] for place in held]
    truth, predicted = network.predict(unseen), summary.predict(unseen)
    agree = truth == predicted
    assert summary.agreement == Agreement(len(held), int(agree.sum()))
    assert summary.different == tuple(held[~agree].tolist())
    for label, part in summary.classes_agreement.items():
        assert part == Agreement(
            int((truth == label).sum()), int(agree[truth == label].sum())
        )
    assert sum(part.rows for part in summary.bands.values()) == len(held)
    assert sum(part.agree for part in summary.bands.values()) == agree.sum()


def test_agreement_on_test_rows(network, rows):
    test = nn2rules.datasets.load("car").test.rows
    found = nn2rules.summarize(network, rows, test=test, max_lines=5, **QUIET)
    agree = network.predict(test) == found.predict(test)
    assert found.agreement == Agreement(len(test), int(agree.sum()))
    assert found.different == tuple(np.flatnonzero(~agree).tolist())
    assert found.is_test
    assert len(found) <= 5


def test_proved_cut_offs_hold_on_every_input(network, summary):
    names = network.domain.names
    values = [feature.values for feature in network.domain.features]
    inputs = [dict(zip(names, row, strict=True)) for row in itertools.product(*values)]
    truth = network.predict(inputs)
    totals = summary.card.points(inputs).totals[:, 0]
    assert summary.cut_offs
    for cut in summary.cut_offs:
        beyond = totals >= cut.total if cut.is_least else totals <= cut.total
        assert set(truth[beyond]) == {cut.label}
        assert set(summary.predict([inputs[i] for i in np.flatnonzero(beyond)])) == {
            cut.label
        }
        assert (cut.inputs, cut.of_inputs) == (beyond.sum(), len(inputs))


def test_an_example_is_an_input_on_which_they_differ(network, summary):
    if summary.example is not None:
        row = summary.example.row
        assert network.predict([row]).tolist() == [summary.example.model]
        assert summary.predict([row]).tolist() == [summary.example.summary]
        assert summary.example.model != summary.example.summary


def test_search_finds_an_example_where_rows_do_not():
    """The model differs from any sum at one input only, which no row shows."""
    domain = Domain(tuple(Feature(name, (0, 1)) for name in "abcdef"))
    weights = np.array([[0.0], [1.0]] * 6)
    second = np.array([[1.0, 0.0], [0.0, 1.0]] * 6)
    first = Layer(np.hstack([weights, second[:, :1]]), np.array([-2.5, -5.5]), "relu")
    network = Network(
        domain,
        (first, Layer(np.array([[1.0], [20.0]]), np.array([-0.25]), "sigmoid")),
        ("no", "yes"),
    )
    inputs = [
        dict(zip("abcdef", row, strict=True))
        for row in itertools.product((0, 1), repeat=6)
    ]
    rows = [row for row in inputs if sum(row.values()) >= 2] * 3
    found = nn2rules.summarize(network, rows, max_lines=12, max_parts=1, **QUIET)
    truth, predicted = network.predict(inputs), found.predict(inputs)
    assert (truth != predicted).any() or found.example is None
    if found.example is not None:
        place = inputs.index(dict(found.example.row))
        assert (truth[place], predicted[place]) == (
            found.example.model,
            found.example.summary,
        )
        assert truth[place] != predicted[place]


def test_the_same_seed_gives_the_same_summary(network, rows, summary):
    again = nn2rules.summarize(network, rows, max_lines=12, **QUIET)
    assert again == summary
    assert again.to_json() == summary.to_json()
    assert len(summary) <= 12


def test_files_keep_everything(summary, tmp_path):
    path = tmp_path / "summary.json"
    summary.save(path)
    assert nn2rules.load(path) == summary
    assert json.loads(summary.to_json()) == summary.to_dict()
    assert summary.to_dict()["format"] == "nn2rules-summary/1"
    broken = json.loads(path.read_text())
    broken["agreement"]["agree"] = broken["agreement"]["rows"] + 1
    path.write_text(json.dumps(broken))
    with pytest.raises(FormatError, match="an agreement on"):
        nn2rules.load(path)


def test_check_does_not_take_a_summary_for_a_description(network, summary):
    with pytest.raises(OptionError, match="not a Network and a Summary"):
        nn2rules.check(network, summary)
    with pytest.raises(Nn2RulesError):  # another domain
        nn2rules.check(network, summary.card)
    own = summary.card.network
    assert nn2rules.check(own, summary.card).ok
    other = replace(own, layers=(*own.layers[:-1], _negated(own.layers[-1])))
    assert not nn2rules.check(other, summary.card).ok


def _negated(layer):
    return Layer(-layer.weights, -layer.bias, layer.activation)


def test_numbers_beyond_the_data_count_as_the_nearest():
    frame, labels = numbers_frame()
    found = nn2rules.summarize(mlp(frame, labels), frame, **QUIET)
    edge = {name: float(frame[name].max()) for name in frame}
    far = {name: value + 1e9 for name, value in edge.items()}
    assert found.predict([far]).tolist() == found.predict([edge]).tolist()
    assert found.agreement.share > 0.8
    assert len(found) == 3


def test_three_classes():
    frame, labels = numbers_frame()
    found = nn2rules.summarize(mlp(frame, labels + (frame["c"] > 0)), frame, **QUIET)
    assert len(found.classes) == 3
    assert not found.bands
    assert not found.cut_offs
    assert sum(part.rows for part in found.classes_agreement.values()) == 60


def test_any_object_with_predict():
    frame, labels = numbers_frame()
    words = np.array(["no", "yes"])[labels]
    boosting = GradientBoostingClassifier(n_estimators=20, random_state=0)
    boosting.fit(frame, words)
    found = nn2rules.summarize(boosting, frame, **QUIET)
    assert found.model == "GradientBoostingClassifier"
    unseen = frame.iloc[np.sort(np.random.default_rng(0).permutation(300)[:60])]
    agree = int((boosting.predict(unseen) == found.predict(unseen)).sum())
    assert found.agreement == Agreement(60, agree)
    assert not found.cut_offs


def test_a_model_that_always_predicts_the_same():
    frame, labels = numbers_frame()
    model = mlp(frame, labels)
    model.coefs_[-1][:] = 0.0
    model.intercepts_[-1][:] = -1.0
    found = nn2rules.summarize(model, frame, **QUIET)
    assert set(found.predict(frame)) == {0}
    assert found.agreement == Agreement(60, 60)
    assert "100.0% ± 6.0" in found.text(width=200)


def test_bad_input(network, rows):
    with pytest.raises(RowsError, match="data has 2 rows; a summary needs at least 10"):
        nn2rules.summarize(network, rows[:2])
    with pytest.raises(RowsError, match="data has 0 rows"):
        nn2rules.summarize(network, [])
    for wrong in (5, np.zeros((20, 6))):
        with pytest.raises(RowsError):
            nn2rules.summarize(network, wrong)
    with pytest.raises(RowsError, match="every column has the same value"):
        nn2rules.summarize(network, rows[:1] * 20)
    for wrong in (1, 0, 2.5, "many"):
        with pytest.raises(OptionError, match="max_lines"):
            nn2rules.summarize(network, rows, max_lines=wrong)
    with pytest.raises(OptionError, match="max_parts: 9, expected at most 8"):
        nn2rules.summarize(network, rows, max_parts=9)
    with pytest.raises(OptionError, match="time"):
        nn2rules.summarize(network, rows, time=-1)
    unnamed = [{"color": "red"}] * 20
    with pytest.raises(RowsError, match="buying"):
        nn2rules.summarize(network, unnamed)
    with pytest.raises(Nn2RulesError):
        nn2rules.summarize("model.onnx", rows)
    with pytest.raises(RowsError, match="buying"):
        nn2rules.summarize(network, rows, test=unnamed)


def test_the_smallest_summary_has_two_lines(network, rows):
    assert len(nn2rules.summarize(network, rows, max_lines=2, **QUIET)) == 2


@pytest.mark.parametrize(
    ("rows", "agree"), [(0, 0), (1, 0), (1, 1), (50, 25), (50, 50)]
)
def test_intervals_contain_the_share(rows, agree):
    found = Agreement(rows, agree)
    low, high = found.interval
    assert 0 <= low <= high <= 1
    if rows:
        assert low <= found.share <= high


def test_all_is_written_only_of_all():
    assert Agreement(100_000, 99_999).text.startswith("99.9%")
    with pytest.raises(FormatError):
        Agreement(3, 4)
