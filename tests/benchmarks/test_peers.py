"""The benchmark of peers: its tables, its harness, and the results in `results.md`."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
from peers import measures, models, preparing, registry, report, running, tables  # noqa: E402


@pytest.fixture
def small() -> tables.Table:
    """Return a table of 60 rows in which x tells the class and nothing is random."""
    x = np.arange(60) / 10
    rows = pd.DataFrame({"x": x, "sort": ["a", "b", None] * 20})
    rows.loc[3, "x"] = None
    labels = pd.Series(np.where(x > 3, "yes", "no"))
    return tables.Table("small", "x > 3", "a test", "none", lambda: (rows, labels))


# ---- Tables


def test_tables_that_nn2rules_has_can_be_read_without_other_packages():
    table = tables.TABLES["contraception"]
    assert len(table.rows) == len(table.labels) == 1473
    assert table.classes == ["long-term", "no method", "short-term"]
    assert len(tables.TABLES["tic-tac-toe"].categorical) == 9


def test_every_row_is_tested_once_in_each_repetition(small):
    tested = np.concatenate([test for _, test in small.folds()])
    assert (np.bincount(tested) == tables.REPETITIONS).all()
    again = np.concatenate([test for _, test in small.folds()])
    assert (tested == again).all()
    assert small.n_folds == len(list(small.folds()))


def test_long_tables_keep_the_shares_of_their_classes():
    labels = pd.Series(["rare"] * 1000 + ["common"] * 9000)
    rows, kept = tables._sampled(pd.DataFrame({"n": range(10000)}), labels)
    assert kept.value_counts().to_dict() == {"common": 2700, "rare": 300}
    assert (labels.iloc[rows["n"]].to_numpy() == kept.to_numpy()).all()


def test_columns_are_floats_or_texts():
    frame = pd.DataFrame({"n": [1, 2], "b": [True, False], "w": ["x", None]})
    plain = tables._plain(frame)
    assert plain["n"].tolist() == [1.0, 2.0]
    assert plain["b"].tolist() == [1.0, 0.0]
    assert plain["w"].tolist() == ["x", None]


def test_an_unknown_table_is_refused():
    with pytest.raises(ValueError, match="there is no table 'moon'; there are adult"):
        tables.load_tables(["moon"])


# ---- Measures and preparation


def test_measures_of_probabilities():
    truth = np.array([0, 0, 1, 1])
    probabilities = np.array([[0.9, 0.1], [0.5, 0.5], [0.4, 0.6], [0.7, 0.3]])
    assert measures.measures(probabilities, truth) == {
        "accuracy": 0.75,  # of a tie, the first class
        "auc": 0.75,  # three of four pairs are in order
        "brier": 0.2275,
    }


def test_measures_of_three_classes():
    truth = np.array([0, 1, 2, 2])
    right = np.eye(3)[truth]
    assert measures.measures(right, truth) == {"accuracy": 1, "auc": 1, "brier": 0}
    wrong = measures.measures(right[:, [1, 2, 0]], truth)
    assert (wrong["accuracy"], wrong["brier"]) == (0, 1)


def test_questions_about_rows(small):
    questions = preparing.Questions(small.rows, small.categorical, quantiles=2)
    assert questions.names == [
        "x <= 3",
        "x is missing",
        "sort = a",
        "sort is missing",
    ]
    row = pd.DataFrame({"x": [None, 2.9], "sort": ["b", None]}).astype({"x": float})
    assert questions.of(row).to_numpy().tolist() == [[0, 1, 0, 0], [1, 0, 0, 1]]


def test_values_that_training_rows_do_not_have_are_replaced():
    rows = pd.DataFrame({"x": [1.0, 2.0, 9.0], "sort": ["a", "b", "b"]})
    test = pd.DataFrame({"x": [np.nan, 5.0], "sort": ["c", None]})
    known = models.known(test, rows, ["sort"])
    assert known["x"].tolist() == [2.0, 5.0]
    assert known["sort"].tolist() == ["b", "b"]


def test_every_peer_has_a_function():
    names = {peer.function.partition(":")[0] for peer in registry.PEERS.values()}
    assert all(callable(getattr(models, name)) for name in names)
    environments = {peer.environment for peer in registry.PEERS.values()}
    assert environments == set(registry.ENVIRONMENTS)


# ---- Running


def test_a_run_continues_where_it_stopped(small, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "BUILD", tmp_path)
    results = tmp_path / "results.jsonl"
    todo = running.jobs([small], ["majority", "tree-10"])
    assert len(todo) == 2 * small.n_folds
    first = list(running.run(todo[:7], results))
    results.write_text(results.read_text() + '{"task": "class')  # cut off
    second = list(running.run(todo, results))
    assert [job for job, _ in first + second] == todo
    assert list(running.run(todo, results)) == []
    lines = running.read(results)
    assert {line["accuracy"] for line in lines if line["peer"] == "majority"} <= {
        7 / 12,
        0.5,
        0.416667,
        0.583333,
    }
    trees = [line for line in lines if line["peer"] == "tree-10"]
    assert min(line["accuracy"] for line in trees) >= 0.75
    running.forget(results, ["tree-10"], errors_only=False)
    assert {line["peer"] for line in running.read(results)} == {"majority"}


def test_a_model_that_fails_leaves_its_error(small, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "BUILD", tmp_path)
    monkeypatch.setitem(
        running.TASKS["classify"], "none", registry.Peer("no_such_model", "", "")
    )
    todo = running.jobs([small], ["none"])[:1]
    ((_, line),) = running.run(todo, tmp_path / "results.jsonl")
    assert line["error"].startswith("AttributeError: module 'peers.models' has no")


def test_a_worker_that_ends_does_not_end_the_run(small, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "BUILD", tmp_path)
    monkeypatch.setattr(running, "_answers", lambda *_: iter([{"accuracy": 1}]))
    lines = [line for _, line in running.run(_jobs(small, 3), tmp_path / "r.jsonl")]
    ended = {"error": "the process ended"}
    assert lines == [{"accuracy": 1}, ended, {"accuracy": 1}]


def _jobs(table: tables.Table, number: int) -> list[running.Job]:
    return running.jobs([table], ["majority"])[:number]


# ---- The report


FACTS = {
    name: {
        "target": "yes",
        "classes": ["no", "yes"],
        "rows": 60,
        "numeric": 1,
        "categorical": 1,
        "missing": 0,
        "majority": 0.5,
        "folds": 10,
        "source": "a test",
        "licence": "none",
        "digest": "d",
    }
    for name in ("one", "two")
}


def _line(peer: str, table: str, fold: int, accuracy: float) -> dict[str, object]:
    place = {"task": "classify", "peer": peer, "table": table, "digest": "d"}
    measured = {"accuracy": accuracy, "auc": accuracy, "brier": 1 - accuracy}
    return {**place, "fold": fold, **measured, "size": 3, "seconds": 1.0}


def _lines(peer: str, *accuracies: float, folds: int = 5) -> list[dict[str, object]]:
    return [
        _line(peer, table, fold, accuracy)
        for table, accuracy in zip(FACTS, accuracies, strict=True)
        for fold in range(folds)
    ]


def test_means_and_ranks_are_over_tables():
    lines = _lines("majority", 0.5, 0.5) + _lines("tree", 0.9, 0.7)
    lines += _lines("logistic", 0.8, 0.7)
    table, lengths = report.measured(FACTS, lines, two_classes=True)
    assert lengths == {"one": 5, "two": 5}
    assert report._ranks(table, lengths, "accuracy") == {
        "majority": 3,
        "logistic": 1.75,
        "tree": 1.25,
    }
    page = report.texts_of(FACTS, lines)["peers"]
    assert (
        "| decision tree, leaves tuned | 80.0% | 0.800 | 0.200 | 3.0 leaves |" in page
    )


def test_a_fold_that_failed_counts_as_the_majority_class():
    lines = _lines("majority", 0.5, 0.5) + _lines("tree", 0.9, 0.7)
    failed = {**lines[-1], "error": "late"}
    for name in ("accuracy", "auc", "brier", "size", "seconds"):
        del failed[name]
    table, lengths = report.measured(FACTS, [*lines[:-1], failed], two_classes=True)
    assert report._mean(table["tree"], lengths, "accuracy")[1] == pytest.approx(0.66)
    assert report._mean(table["tree"], lengths, "size")[1] == 3


def test_models_that_did_not_run_everywhere_are_left_out():
    lines = _lines("majority", 0.5, 0.5) + _lines("tree", 0.9, 0.7)[:-1]
    stale = [{**line, "digest": "old"} for line in _lines("logistic", 0.8, 0.7)]
    table, _ = report.measured(FACTS, lines + stale, two_classes=True)
    assert list(table) == ["majority"]


def test_second_repetitions_count_if_all_models_have_them():
    lines = _lines("majority", 0.5, 0.5, folds=10) + _lines("tree", 0.9, 0.7, folds=10)
    _, lengths = report.measured(FACTS, lines, two_classes=True)
    assert lengths == {"one": 10, "two": 10}
    _, lengths = report.measured(FACTS, lines[:-1], two_classes=True)
    assert lengths == {"one": 10, "two": 5}


def test_results_are_those_of_the_lines():
    texts = report.texts_of(json.loads(report.FACTS.read_text()), running.read())
    written = (ROOT / "benchmarks" / "results.md").read_text("utf-8")
    for name, text in texts.items():
        assert f"## {name}\n\n{text.strip()}\n" in written
