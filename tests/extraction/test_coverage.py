"""How many new rows rules cover: on rows held out, or given to test."""

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PowerTransformer, StandardScaler

import nn2rules
from nn2rules.engine.progress import LogProgress
from nn2rules.errors import Nn2RulesError
from nn2rules.extraction.coverage import held_out, is_new
from nn2rules.rules.data_rows import given_rows
from nn2rules.rules.wording import coverage_of


def _data(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n_rows, 3)).round(2), columns=list("abc"))


TRAIN, TEST = _data(200), _data(300, seed=1)
LABELS = ["good" if row.a + row.b > 0 else "bad" for row in TRAIN.itertuples()]
MODEL = make_pipeline(StandardScaler(), LogisticRegression()).fit(TRAIN, LABELS)
NETWORK = nn2rules.read_network(MODEL, data=TRAIN)


def test_a_tenth_of_the_rows_is_held_out_and_then_covered():
    rules = nn2rules.extract(NETWORK, TRAIN, form="rules")
    found = rules.certificate["coverage"]
    assert (found["on"], found["rows"]) == ("held-out rows", 20)
    assert 0 <= found["covered"] < 20, "some lie outside of all boxes, or alone"
    assert rules.certificate["rows_covered"] == len(TRAIN)
    assert coverage_of(rules) in " ".join(str(rules).split())
    assert coverage_of(rules).startswith("About ")
    alone = nn2rules.extract(NETWORK, TRAIN, n_jobs=1, form="rules")
    assert alone == rules


def test_test_rows_are_counted_and_no_row_is_held_out():
    far = TEST.assign(a=TEST.a.where(TEST.index > 4, 99.0))
    rules = nn2rules.extract(NETWORK, TRAIN, test=far, form="rules")
    fired = rules.apply(far, unknown="none")
    covered = int((fired >= 0).sum())
    coverage = {"on": "test rows", "rows": 300, "covered": covered}
    assert rules.certificate["coverage"] == coverage
    assert covered < 300 - 4, "rows off the domain are not covered"


def test_test_rows_without_a_feature_are_refused_before_any_work():
    with pytest.raises(Nn2RulesError, match="'b'"):
        nn2rules.extract(
            NETWORK, TRAIN, test=TEST.drop(columns="b"), time=0, form="rules"
        )


def test_of_few_rows_nothing_is_estimated():
    rules = nn2rules.extract(NETWORK, TRAIN[:49], form="rules")
    assert coverage_of(rules) == (
        "How many new rows are covered was not estimated: too few rows."
    )


def test_rules_for_every_input_do_not_cover_values_that_are_not_listed():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"inc": np.exp(rng.normal(8, 1, 400)).round(2)})
    rows["age"] = rng.integers(18, 80, 400)
    labels = np.where(np.log(rows.inc) + rows.age / 20 > 10.5, "good", "bad")
    model = make_pipeline(PowerTransformer(), LogisticRegression()).fit(rows, labels)
    known, unseen = rows[:300], rows[300:]
    domain = {"inc": "observed", "age": "observed"}
    rules = nn2rules.extract(model, known, form="rules", domain=domain)
    assert rules.scope == "domain"
    answered = [label for label in rules.predict(unseen, unknown="none") if label]
    assert not answered  # else this test shows nothing
    coverage = {"on": "held-out rows", "rows": 30, "covered": 0}
    assert rules.certificate["coverage"] == coverage
    told = "About 0% of new rows are covered (0 of 30 held-out rows"
    assert told in " ".join(str(rules).split())
    tested = nn2rules.extract(model, known, test=unseen, form="rules")
    assert tested.certificate["coverage"]["on"] == "test rows"


def test_values_that_all_occur_again_leave_no_row_unknown():
    rows = pd.DataFrame({"a": [0, 1, 5] * 40, "b": ["x", "y"] * 60})
    labels = np.where(rows.a > 0, "good", "bad")
    encode = make_column_transformer((OneHotEncoder(), ["a", "b"]))
    model = make_pipeline(encode, LogisticRegression()).fit(rows, labels)
    rules = nn2rules.extract(model, rows, form="rules")
    assert rules.certificate["coverage"] == {"on": "every input"}


def test_rules_for_every_input_cover_every_input_of_a_domain_that_is_given():
    network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    rules = nn2rules.extract(network, form="rules")
    assert rules.certificate["coverage"] == {"on": "every input"}
    assert coverage_of(rules) == ""


def test_rules_for_rows_from_a_table_have_rows_held_out():
    network = nn2rules.load(nn2rules.datasets.network_file("car"))
    rng = np.random.default_rng(0)
    sizes = network.domain.sizes
    rows = network.domain.decode(rng.integers(sizes, size=(200, len(sizes))))
    rules = nn2rules.extract(network, rows, scope="support", engine="table")
    found = rules.certificate["coverage"]
    assert (found["on"], found["rows"]) == ("held-out rows", 20)
    assert rules.certificate["rows_covered"] == 200
    assert "coverage" not in rules.top(3).certificate


def test_work_that_goes_on_counts_the_same(tmp_path):
    whole = nn2rules.extract(NETWORK, TRAIN, form="rules")
    path = tmp_path / "work.ckpt"

    class Stop:
        """Interrupts after so many calls."""

        def __init__(self, left):
            self.left = left

        def __call__(self, _what, _share):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt

    options = {"checkpoint": path, "resume": True}
    for left in (2, 4, 8):
        with suppress(KeyboardInterrupt):
            nn2rules.extract(NETWORK, TRAIN, progress=Stop(left), **options)
    rules = nn2rules.extract(NETWORK, TRAIN, **options)
    assert rules.certificate["coverage"] == whole.certificate["coverage"]
    assert rules.digest == whole.digest


def test_a_value_that_only_held_out_rows_have_counts_as_new():
    rows = given_rows(NETWORK, TRAIN)
    held = held_out(rows, 0)
    only = np.zeros(len(TRAIN), dtype=bool)
    only[int(TRAIN.a.argmax())] = True
    assert is_new(rows, only)[only].all()
    assert not is_new(rows, held)[~held].any()


def test_without_a_terminal_there_is_a_line_now_and_then():
    now = [0.0]
    console = Console(record=True, width=80, force_terminal=False, quiet=False)
    lines = LogProgress(console, lambda: now[0])
    for second in range(120):
        now[0] = float(second)
        lines("7 rules proved", 0.5)
    told = console.export_text().splitlines()
    assert told[0] == "after 15 s: 7 rules proved, 50%"
    assert 3 <= len(told) <= 6
