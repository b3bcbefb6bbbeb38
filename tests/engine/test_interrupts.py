import signal
import threading
import time

import numpy as np
import pytest

from interrupting import check_right, interrupted, interrupts
from nn2rules import Budget, BudgetExceededError, datasets, extract, load
from nn2rules.engine import Meter, interruptible

CONTRACEPTION = load(datasets.network_file("contraception"))
CAR = load(datasets.network_file("car"))


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """Compile every kernel before anything is interrupted."""
    for form in ("list", "set", "paper"):
        for engine in ("table", "search"):
            extract(CAR, form=form, engine=engine, effort=1, budget=Budget(boxes=9**9))


@pytest.mark.parametrize("seed", range(8))
def test_an_interrupt_leaves_what_is_right(seed):
    interrupts(np.random.default_rng(seed))


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("form", ["list", "set"])
def test_an_interrupt_while_a_list_is_improved_leaves_a_complete_list(form, n_jobs):
    """Where numba made a SystemError of it."""
    options = {"form": form, "engine": "table", "effort": 50, "n_jobs": n_jobs}
    reached = threading.Event()

    def progress(what, share):
        if "rules" in what and share > 0.8:
            reached.set()

    def shoot():
        assert reached.wait(60)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=shoot)
    thread.start()
    with pytest.raises(KeyboardInterrupt) as error:
        extract(CONTRACEPTION, progress=progress, **options)
    thread.join()
    rules = error.value.rules
    assert len(rules) > 50
    if form == "list":
        assert rules.scope == "domain"
        assert rules.certificate["different"] == 0
    else:  # one class is covered after the other
        assert rules.scope == "support"
        assert rules.certificate["complete"] is False
    check_right(rules, CONTRACEPTION)


def test_an_interrupt_at_the_very_end_is_not_swallowed():
    done = []

    def work():
        with interruptible(Meter()):
            signal.raise_signal(signal.SIGINT)
            done.append("all")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_does_not_wait():
    after = []

    def work():
        with interruptible(Meter()):
            for number in ("first", "second"):
                signal.raise_signal(signal.SIGINT)
                after.append(number)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert after == ["first"]


def test_a_handler_of_the_program_stays():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append("mine"))
    try:
        with interruptible(Meter()):
            signal.raise_signal(signal.SIGINT)
        assert extract(CAR, effort=0).certificate["different"] == 0
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == ["mine"]


def test_other_threads_leave_signals_alone():
    found = []
    thread = threading.Thread(target=lambda: found.append(extract(CAR, effort=0)))
    thread.start()
    while thread.is_alive():
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        time.sleep(0.001)
    assert found == [extract(CAR, effort=0)]


def test_interrupts_come_soon():
    options = {"form": "set", "engine": "table", "effort": 50}
    error, late = interrupted(CONTRACEPTION, options, 0.5)
    assert isinstance(error, KeyboardInterrupt)
    assert late < 5  # about a fifth of a second where nothing else runs


@pytest.mark.parametrize("form", ["list", "set"])
def test_a_budget_of_time_is_kept(form):
    started = time.monotonic()
    try:
        rules = extract(CONTRACEPTION, form=form, effort=50, budget=Budget(seconds=2))
    except BudgetExceededError as error:
        rules = error.rules
    assert time.monotonic() - started < 8  # a slow machine has its moments
    check_right(rules, CONTRACEPTION)
