import time
from contextlib import suppress

import numpy as np
import pytest
import reference
from reference import binary, whole
from rich.console import Console

from nn2rules import BudgetExceededError, Layer, OptionError
from nn2rules.engine import (
    Budget,
    Meter,
    Oracle,
    TerminalProgress,
    build_table,
    score_range,
    session,
)


@pytest.mark.parametrize("name", ["seconds", "boxes", "memory"])
def test_a_negative_budget_is_refused(name):
    with pytest.raises(OptionError, match=f"{name} is -1"):
        Budget(**{name: -1})
    assert getattr(Budget(**{name: 0}), name) == 0


def test_a_budget_that_is_not_a_number_is_refused():
    with pytest.raises(OptionError, match="seconds"):
        Budget(seconds=float("nan"))


def test_boxes_are_counted_to_the_last():
    meter = Meter(Budget(boxes=3))
    for _ in range(3):
        meter.spend(1)
    with pytest.raises(BudgetExceededError, match="3 boxes"):
        meter.spend(1)


def test_allowance_never_runs_past_the_budget_by_more_than_one():
    meter = Meter(Budget(boxes=10))
    assert meter.allowance(4096) == 11
    meter.spend(10)
    assert meter.allowance(4096) == 1
    assert Meter().allowance(4096) == 4096


def test_time_runs_out():
    meter = Meter(Budget(seconds=10), started=time.monotonic() - 9)
    meter.spend()
    meter = Meter(Budget(seconds=10), started=time.monotonic() - 11)
    with pytest.raises(BudgetExceededError, match="10 seconds"):
        meter.spend()


def hard_question():
    rng = np.random.default_rng(1)
    sizes = [4] * 10
    hidden = Layer(rng.normal(size=(40, 12)), rng.normal(size=12), "tanh")
    return binary(sizes, hidden, Layer(rng.normal(size=(12, 1)), [0], "sigmoid"))


@pytest.mark.parametrize("budget", [Budget(boxes=0), Budget(seconds=0)])
def test_nothing_is_decided_without_a_budget(budget):
    network = hard_question()
    with pytest.raises(BudgetExceededError):
        Oracle(network, Meter(budget)).ask(whole(network), 1)
    with pytest.raises(BudgetExceededError):
        score_range(network, whole(network), meter=Meter(budget))


def test_a_table_beyond_the_memory_is_refused():
    network = binary([2, 3], Layer(np.zeros((5, 1)), [1], "sigmoid"))
    with pytest.raises(BudgetExceededError, match="6 inputs"):
        build_table(network, meter=Meter(Budget(memory=5)))
    table = build_table(network, meter=Meter(Budget(memory=6)))
    assert table.counts() == [0, 6]


def test_a_table_takes_time_too():
    network = hard_question()
    with pytest.raises(BudgetExceededError, match="seconds"):
        build_table(network, meter=Meter(Budget(seconds=0)))


def test_progress_is_reported_up_to_the_end(monkeypatch):
    monkeypatch.setattr("nn2rules.engine.table._CHUNK", 7)
    shares = []
    rng = np.random.default_rng(2)
    network = reference.random_network(rng, sizes=[4, 3, 2], palettes=["floats"])
    meter = Meter(progress=lambda what, share: shares.append((what, share)))
    build_table(network, meter=meter)
    assert [what for what, _ in shares] == ["classifying every input"] * 4
    assert [share for _, share in shares] == [0.25, 0.5, 0.75, 1.0]


def test_work_that_other_work_follows_ends_early():
    meter = Meter(Budget(seconds=100, boxes=7))
    meter.started -= 97
    meter.spend()
    with meter.leaving(0.04):
        assert meter.budget.boxes == 7
    with pytest.raises(BudgetExceededError), meter.leaving(0.04):
        meter.spend()
    meter.spend()
    assert meter.budget == Budget(seconds=100, boxes=7)
    endless = Meter()
    with endless.leaving(0.5):
        endless.spend()


def test_time_that_a_meter_is_paused_does_not_count(monkeypatch):
    now = [10.0]
    monkeypatch.setattr("nn2rules.engine.limits.time.monotonic", lambda: now[0])
    meter = Meter(Budget(seconds=5), started=now[0])
    with meter.paused():
        now[0] += 60
    now[0] += 4
    meter.spend()
    now[0] += 2
    with pytest.raises(BudgetExceededError):
        meter.spend()


@pytest.mark.parametrize("error", [None, BudgetExceededError, KeyboardInterrupt])
def test_a_session_removes_its_bar_regardless_of_errors(error):
    bar, closed = TerminalProgress(Console(stderr=True)), []
    bar.close = lambda: closed.append(bar)
    with (
        suppress(BudgetExceededError, KeyboardInterrupt),
        session(Meter(progress=bar)),
    ):
        if error is not None:
            raise error("stopped")
    assert closed == [bar]
