"""The user's own rows: numbers, words, missing cells, awkward names; and a model."""

import html
import json

import joblib
import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import nn2rules
from nn2rules.files import table_text
from nn2rules.space import Range
from research.experiments import methods as experiment_methods
from research.experiments import run
from research.experiments.cases import Own, own_case
from research.experiments.train import given, trained

HEADER = ["age", "income", "ki|ds", "<town>", "y"]


def rows(n_rows=240, classes=("no", "yes"), seed=1):
    random = np.random.default_rng(seed)
    found = []
    for index in range(n_rows):
        age, income = int(random.integers(18, 80)), float(random.normal(30, 10))
        kids, town = int(random.integers(0, 4)), str(random.choice(["a", "b & c"]))
        place = (age > 45) + (kids > 1 and town == "a")
        label = classes[min(place, len(classes) - 1)]
        cells = [str(age), f"{income:.2f}", str(kids), town, label]
        for column in range(4):
            if index % (7 + column) == 0:
                cells[column] = ""
        found.append(cells)
    return found


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "mine <b>.csv"
    path.write_text(table_text(HEADER, rows()), encoding="utf-8")
    return path


def table(folder, name):
    return json.loads((folder / "tables" / f"{name}.json").read_text())["rows"]


def test_columns_become_features(data):
    case = own_case(Own(data, "y"), 0)
    age, income, kids, town = case.domain.features
    assert len(age.edges) == 3
    assert age.values[-1] is None
    assert len(income.values) == 5
    assert kids.values == (0, 1, 2, 3, None)
    assert kids.ordered
    assert town.values == ("a", "b & c", None)
    assert case.classes == ("no", "yes")
    assert (len(case.train.labels), len(case.test.labels)) == (192, 48)


def test_missing_is_a_value_of_its_own(data):
    network = trained(own_case(Own(data, "y"), 0), 0).network
    weights = network.layers[0].weights
    start = network.domain.offsets[network.domain.index("age")]
    bins, missing = weights[start : start + 4], weights[start + 4]
    assert not any(np.array_equal(row, missing) for row in bins)


def test_a_run_on_own_data(data, tmp_path):
    page = run(tmp_path / "out", data=data, labels="y", seeds=2)
    text = page.read_text()
    assert "mine &lt;b&gt;.csv" in text
    assert "<b>" not in text
    (row,) = table(page.parent, "data-sets")
    assert row["inputs"] == 5 * 5 * 5 * 3
    exact = {r["method"]: r for r in table(page.parent, "fidelity-on-the-domain")}
    assert exact["nn2rules list"][data.name]["values"] == [1.0, 1.0]
    assert not (page.parent / "tables" / "differences.md").exists()
    assert "paper" not in table(page.parent, "fidelity")[0]
    (row,) = table(page.parent, "with-and-without")
    assert None not in row["network made to be read, accuracy"]["values"]


def test_three_classes_have_no_rules_of_the_paper(tmp_path):
    data = tmp_path / "three.csv"
    data.write_text(table_text(HEADER, rows(classes=("a", "b", "c"))))
    page = run(tmp_path / "out", data=data, labels="y", seeds=1)
    methods = {row["method"] for row in table(page.parent, "fidelity")}
    assert "nn2rules list" in methods
    assert "NN2Rules(Full)" not in methods
    assert "has 3 classes" in page.read_text()
    (row,) = table(page.parent, "with-and-without")
    assert row["network made to be read, rules"]["mean"] >= 2


def test_a_large_domain_has_a_support_list_only(data, tmp_path, monkeypatch):
    monkeypatch.setattr(experiment_methods, "LARGEST_DOMAIN", 100)
    page = run(tmp_path / "out", data=data, labels="y", seeds=1)
    methods = [row["method"] for row in table(page.parent, "fidelity")]
    assert methods[-1] == "nn2rules support list"
    assert "nn2rules list" not in methods
    assert "only the nn2rules support list was made" in page.read_text()
    assert not (page.parent / "tables" / "fidelity-on-the-domain.md").exists()
    (row,) = table(page.parent, "with-and-without")
    assert row["network of the paper's shape, rules"] is None
    assert row["network made to be read, rules"]["mean"] >= 1


def test_a_network_file_of_the_user(tmp_path):
    car = nn2rules.datasets.load("car")
    lines = [
        [*map(str, row.values()), label]
        for row, label in zip(car.test.rows, car.test.labels, strict=True)
    ]
    data = tmp_path / "cars.csv"
    data.write_text(table_text([*car.domain.names, "class"], lines))
    model = nn2rules.datasets.network_file("car")
    page = run(tmp_path / "out", data=data, labels="class", model=model, seeds=3)
    (row,) = table(page.parent, "data-sets")
    assert row["inputs"] == 1728
    fidelity = {row["method"]: row for row in table(page.parent, "fidelity")}
    assert len(fidelity["nn2rules list"]["cars.csv, this run"]["values"]) == 1
    assert "user's model" in html.unescape(page.read_text())
    (row,) = table(page.parent, "with-and-without")
    assert len(row["network made to be read, rules"]["values"]) == 1
    assert row["given model, columns"] == 6


def test_a_pipeline_of_the_user(data, tmp_path, monkeypatch):
    def refused(**_options):
        raise nn2rules.OptionError("there is nothing to learn from")

    monkeypatch.setattr(experiment_methods, "ReadableClassifier", refused)
    case = own_case(Own(data, "y"), 0)
    chosen = ColumnTransformer([("few", OneHotEncoder(), ["ki|ds", "<town>"])])
    network = MLPClassifier((3,), max_iter=500, random_state=0, solver="lbfgs")
    pipeline = make_pipeline(chosen, network)
    pipeline.fit(case.train.frame, case.train.labels)
    joblib.dump(pipeline, tmp_path / "model.joblib")
    options = {"data": data, "labels": "y", "model": tmp_path / "model.joblib"}
    with pytest.raises(nn2rules.FormatError, match="if you trust the author"):
        run(tmp_path / "out", **options)
    page = run(tmp_path / "out", trust=True, **options)
    methods = {row["method"] for row in table(page.parent, "fidelity")}
    assert "nn2rules support list" in methods
    words = "has no network made to be read, with seed 0: there is nothing to learn"
    assert words in page.read_text()
    assert not (page.parent / "tables" / "with-and-without.md").exists()
    assert "Network made to be read" not in {
        row["method"] for row in table(page.parent, "accuracy")
    }


def test_numbers_of_the_users_pipeline_are_listed(data, tmp_path):
    """The paper's experiments count inputs, and ranges have none to count."""
    case = own_case(Own(data, "y", tmp_path / "model.joblib"), 0)
    scaled = make_pipeline(SimpleImputer(), MLPClassifier((2,), max_iter=20))
    name = case.train.frame.columns[0]
    frame = case.train.frame[[name]]
    joblib.dump(scaled.fit(frame, case.train.labels), tmp_path / "model.joblib")
    trial = given(case, tmp_path / "model.joblib", 0, trust=True)
    [feature] = trial.network.domain.features
    assert not isinstance(feature, Range)
    assert len(feature) > 20
