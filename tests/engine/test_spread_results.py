"""Whoever works, and however many: the results are equal, field by field."""

from dataclasses import asdict, replace
from functools import partial
from importlib import import_module

import joblib
import numpy as np
import pytest

import nn2rules
import ranged
from nn2rules import Budget, Domain, Feature, InternalError, RuleList, datasets
from nn2rules.checker import check
from nn2rules.engine import Meter, count_classes
from nn2rules.engine.parallel.spread import spread
from nn2rules.errors import RowsError

compare = import_module("nn2rules.checker.compare")
CAR = nn2rules.load(datasets.network_file("car"))
TOMATO = nn2rules.load(datasets.network_file("tomato"))
CARS = datasets.load("car").train.rows[:60]
RANGED = ranged.random_network(np.random.default_rng(5), ranged.mixed_domain())
ROWS = ranged.random_rows(np.random.default_rng(6), RANGED.domain, 24)
WHOLE = Domain((Feature.real("n", 0, 40, whole=True), Feature("job", ("a", "b", "c"))))
COUNTED = ranged.random_network(
    np.random.default_rng(7), WHOLE, classes=("a", "b", "c")
)


def explained(n_jobs):
    """Explain rows by table and by search; some of them are the same."""
    return [
        nn2rules.explain(CAR, [*CARS, *CARS[:5]], n_jobs=n_jobs),
        nn2rules.explain(CAR, CARS[:8], engine="search", reasons=2, n_jobs=n_jobs),
        nn2rules.explain(RANGED, ROWS, smallest=True, n_jobs=n_jobs),
        nn2rules.explain(
            RANGED, ROWS[:6], budget=Budget(boxes=300), n_jobs=n_jobs, costs={"age": 2}
        ),
    ]


def audited(n_jobs):
    """Audit by table and by search, with no clock; seconds do not count."""
    limits = {"budget": Budget(boxes=2_000), "n_jobs": n_jobs}
    found = [
        nn2rules.audit(CAR, CARS, protected=["safety"], **limits),
        nn2rules.audit(RANGED, ROWS, protected=["job", "age"], **limits),
    ]
    return [without_seconds(audit.to_dict()) for audit in found]


def without_seconds(found):
    """Return plain values without the time that they took."""
    if isinstance(found, dict):
        return {k: without_seconds(v) for k, v in found.items() if k != "seconds"}
    return [without_seconds(one) for one in found] if isinstance(found, list) else found


def counted(n_jobs):
    """Count classes beyond a table, to the end and within a budget."""
    beyond = partial(Budget, memory=0)
    return [
        count_classes(network, meter=Meter(budget), n_jobs=n_jobs)
        for network in (CAR, TOMATO, COUNTED)
        for budget in (beyond(), beyond(boxes=90))
    ]


def spoilt(rules):
    """Let some rules answer with another class."""
    classes = rules.classes
    turned = [
        replace(rule, then=classes[classes.index(rule.then) - 1]) if at % 3 else rule
        for at, rule in enumerate(rules.rules)
    ]
    said = rules.default, classes, rules.form, rules.scope
    return RuleList(rules.domain, turned, *said)


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    """Rules that are right and wrong, on every input and beyond, and proofs."""
    path = tmp_path_factory.mktemp("proofs") / "car.proofs"
    lists = nn2rules.extract(CAR, effort=0)
    sets = nn2rules.extract(CAR, form="set", effort=0, engine="search", proofs=path)
    numbers = nn2rules.extract(RANGED, data=ROWS, form="set")
    return lists, sets, numbers, path


def checked(rules):
    """Check all of these, by whatever `compare.in_order` is."""
    lists, sets, numbers, path = rules
    cannot = [{"safety": ["low"]}]
    return [
        check(CAR, lists),
        check(CAR, spoilt(lists)),
        check(CAR, spoilt(sets), rows=CARS, impossible=cannot),
        check(CAR, sets, proofs=path),
        check(RANGED, numbers, samples=3_000, rows=ROWS, default=True),
        check(RANGED, spoilt(numbers), samples=3_000),
    ]


def spread_by(n_jobs):
    """Return what does tasks as others do."""
    return partial(spread, meter=Meter(), n_jobs=n_jobs)


@pytest.fixture
def small_tiles(monkeypatch):
    monkeypatch.setattr(compare, "_CHUNK", 16)


@pytest.mark.parametrize("work", [explained, audited, counted])
def test_two_threads_find_what_one_finds(work):
    assert work(1) == work(2)


@pytest.mark.usefixtures("small_tiles")
def test_two_threads_check_as_one_does(rules, monkeypatch):
    alone = checked(rules)
    assert [report.ok for report in alone] == [True, False, False, True, False, False]
    assert alone[3].proofs.proved == len(rules[1])
    assert alone[1].untrue or alone[2].untrue
    assert len(alone[1].counterexamples) == 5
    for n_jobs in (1, 2):
        monkeypatch.setattr(compare, "in_order", spread_by(n_jobs))
        for one, other in zip(alone, checked(rules), strict=True):
            assert asdict(one) == asdict(other)


@pytest.mark.usefixtures("small_tiles")
def test_other_processes_find_the_same(rules, monkeypatch):
    alone = [explained(1), audited(1), counted(1), checked(rules)]
    monkeypatch.setattr(compare, "in_order", spread_by(None))
    with joblib.parallel_config(backend="loky", n_jobs=2):
        found = [explained(None), audited(None), counted(None), checked(rules)]
    for one, other in zip(alone, found, strict=True):
        assert one == other


@pytest.mark.usefixtures("small_tiles")
def test_a_tile_that_is_lost_is_noticed(rules, monkeypatch):
    def forgetful(work, shared, tasks):
        return [work(shared, task, None) for task in tasks[1:]]

    monkeypatch.setattr(compare, "in_order", forgetful)
    for one in ({}, {"proofs": rules[3]}):
        with pytest.raises(InternalError, match=r"compared|followed"):
            check(CAR, rules[1], **one)
    with pytest.raises(InternalError, match="not every input was compared"):
        check(RANGED, rules[2], samples=50)


def test_each_row_is_explained_once_and_reported():
    told = []
    rows = [*CARS[:3], *CARS[:3]]
    found = nn2rules.explain(
        CAR, rows, n_jobs=2, progress=lambda what, share: told.append((what, share))
    )
    shares = [share for what, share in told if what == "explaining"]
    assert len(shares) == len({tuple(row.items()) for row in rows})
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert found[0] is found[3]


def test_rows_that_cannot_occur_are_refused_before_any_work():
    rows = [{"color": "red", "size": "big"}, {"color": "yellow", "size": "big"}]
    with pytest.raises(RowsError, match="row 1: it is among the impossible inputs"):
        nn2rules.explain(TOMATO, rows, impossible=[{"color": "yellow"}], n_jobs=2)
