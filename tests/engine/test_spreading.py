"""Work shared out: the same from threads and from processes."""

import os
import signal
import threading
import time
import warnings
from contextlib import closing
from pathlib import Path

import joblib
import numpy as np
import pytest

import errands
import nn2rules
from nn2rules.engine import Budget, Meter, build_table, interruptible
from nn2rules.engine.parallel import worker_pool
from nn2rules.engine.parallel.spread import (
    as_completed,
    in_threads,
    shared_workers,
    spread,
)
from nn2rules.errors import (
    BudgetExceededError,
    ClusterError,
    RetryWarning,
    UndecidedError,
    UnknownValueError,
)

BACKENDS = ("threading", "loky")


@pytest.fixture(params=BACKENDS)
def backend(request):
    with joblib.parallel_config(backend=request.param, n_jobs=2):
        yield request.param


@pytest.fixture
def _processes():
    with joblib.parallel_config(backend="loky", n_jobs=2):
        yield


def alive(pid):
    """Tell whether a process runs; one that has ended and nobody asked for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(pids, seconds=5.0):
    ends = time.monotonic() + seconds
    while any(alive(pid) for pid in pids) and time.monotonic() < ends:
        time.sleep(0.02)
    return not any(alive(pid) for pid in pids)


# Results


@pytest.mark.parametrize("n_tasks", [0, 1, 7, 100])
def test_results_come_in_order(backend, n_tasks):
    tasks = list(range(n_tasks))
    expected = [3 * task for task in tasks]
    assert list(spread(errands.times, 3, tasks, meter=Meter())) == expected
    assert list(in_threads(errands.times, 3, tasks, meter=Meter())) == expected
    done = as_completed(errands.times, 3, tasks, meter=Meter())
    assert sorted(done) == list(enumerate(expected))


def test_a_late_task_changes_no_order(backend):
    assert list(spread(errands.late_first, 0.3, range(9), meter=Meter())) == [*range(9)]


def test_what_is_done_first_comes_first(backend):
    done = list(as_completed(errands.late_first, 0.5, range(5), meter=Meter()))
    assert done[-1] == (0, 0)
    assert sorted(done) == [(number, number) for number in range(5)]


@pytest.mark.usefixtures("_processes")
def test_work_goes_to_other_processes_unless_there_is_but_one():
    pids = set(spread(errands.whoami, None, range(20), meter=Meter()))
    assert len(pids) == 2
    assert os.getpid() not in pids
    alone = spread(errands.whoami, None, range(3), meter=Meter(), n_jobs=1)
    assert set(alone) == {os.getpid()}


@pytest.mark.usefixtures("_processes")
def test_work_within_work_is_done_here():
    with (
        shared_workers(),
        closing(spread(errands.times, 1, [1, 2], meter=Meter())) as out,
    ):
        next(out)
        assert set(spread(errands.whoami, 1, [1, 2], meter=Meter())) == {os.getpid()}


def test_a_table_is_the_same_from_processes():
    network = nn2rules.load(nn2rules.datasets.network_file("nursery"))
    here = build_table(network, n_jobs=1)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        there = build_table(network)
    assert np.array_equal(here.classes, there.classes)
    assert here.smallest_margin == there.smallest_margin
    assert here.fragile == there.fragile
    assert here.fragile_inputs == there.fragile_inputs


@pytest.mark.usefixtures("_processes")
def test_what_is_shared_is_not_sent_again():
    shared = np.random.default_rng(0).bytes(1 << 18)  # that nothing can compress
    with shared_workers() as workers:
        copies = []
        for _ in range(20):  # until one that came late has it, too
            before = workers.traffic.sent
            results = list(spread(errands.times, shared, [0] * 40, meter=Meter()))
            assert results == [b""] * 40
            copies.append((workers.traffic.sent - before) // len(shared))
            if copies[-1] == 0:
                break
        assert copies[0] > 0 == copies[-1]
        assert workers.traffic.n_retried == 0


@pytest.mark.usefixtures("_processes")
def test_what_is_shared_may_be_anything():
    assert list(spread(errands.late_first, None or 0.0, [1], meter=Meter())) == [1]
    nothing = spread(errands.whoami, None, range(4), meter=Meter())
    assert os.getpid() not in set(nothing)


# Errors of the work


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("unknown", UnknownValueError),
        ("budget", BudgetExceededError),
        ("undecided", UndecidedError),
        ("value", ValueError),
    ],
)
def test_errors_come_back_as_they_are(backend, tmp_path, name, kind):
    tasks = [(number, name if number == 5 else None) for number in range(8)]
    expected = errands.ERRORS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kind) as raised:
            list(spread(errands.fails, str(tmp_path), tasks, meter=Meter()))
    assert type(raised.value) is kind
    assert raised.value.args == expected.args
    assert str(raised.value) == str(expected)
    assert vars(raised.value) == vars(expected)
    assert len(list(tmp_path.iterdir())) == 1  # nothing is tried again


def test_results_before_an_error_are_there(backend, tmp_path):
    tasks = [(number, "value" if number == 99 else None) for number in range(100)]
    done = []
    with pytest.raises(ValueError, match="no such thing"):
        done.extend(spread(errands.fails, str(tmp_path), tasks, meter=Meter()))
    assert done == list(range(len(done)))


@pytest.mark.usefixtures("_processes")
def test_an_error_that_cannot_be_sent_is_described(tmp_path):
    tasks = [(number, "odd" if number == 5 else None) for number in range(8)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RetryWarning)
        with pytest.raises(ClusterError) as raised:
            list(spread(errands.fails, str(tmp_path), tasks, meter=Meter()))
    assert str(raised.value) == "a worker failed with OddError: this and that"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.usefixtures("_processes")
def test_workers_of_another_version_are_refused(monkeypatch):
    monkeypatch.setattr(worker_pool, "__version__", "0.0.1")
    with pytest.raises(ClusterError) as raised:
        list(spread(errands.times, 1, [1, 2], meter=Meter()))
    own = nn2rules.__version__
    assert str(raised.value) == (
        f"a worker has nn2rules {own}, this process 0.0.1; install the same version "
        f"everywhere"
    )


# Time


def test_time_ends_work(backend):
    started = time.monotonic()
    meter = Meter(Budget(seconds=0.7))
    with pytest.raises(BudgetExceededError) as raised:
        list(spread(errands.endless, None, range(8), meter=meter))
    assert str(raised.value) == "the budget of 0.7 seconds is spent"
    assert time.monotonic() - started < 5  # processes may have to start


@pytest.mark.usefixtures("_processes")
def test_time_counts_from_the_beginning_of_all_work():
    list(spread(errands.times, 1, range(9), meter=Meter()))  # they are started
    meter = Meter(Budget(seconds=1))
    meter.started -= 0.8
    started = time.monotonic()
    with pytest.raises(BudgetExceededError):
        list(spread(errands.endless, None, range(20), meter=meter))
    assert time.monotonic() - started < 0.8


# Lost workers


@pytest.mark.usefixtures("_processes")
def test_what_a_lost_worker_had_is_done_again(tmp_path):
    marker = str(tmp_path / "died")
    with shared_workers() as workers:
        with pytest.warns(RetryWarning) as warned:
            done = list(spread(errands.dies_once, marker, range(40), meter=Meter()))
        assert done == [task * task for task in range(40)]
        n_again = workers.traffic.n_retried
        assert 0 < n_again <= 8
        assert [str(warning.message) for warning in warned] == [
            f"a worker was lost (A worker process managed by the executor was "
            f"unexpectedly terminated); {n_again} of 8 pieces of work are repeated"
        ]
        with warnings.catch_warnings():  # and the new workers are as good
            warnings.simplefilter("error")
            done = list(spread(errands.dies_once, marker, range(40), meter=Meter()))
        assert done == [task * task for task in range(40)]


@pytest.mark.usefixtures("_processes")
def test_workers_that_always_die_are_an_error_in_a_sentence():
    with pytest.warns(RetryWarning) as warned, pytest.raises(ClusterError) as raised:
        list(spread(errands.dies, None, [1, 2], meter=Meter()))
    assert str(raised.value) == (
        "giving up after 4 worker failures; last error: A worker process managed by "
        "the executor was unexpectedly terminated"
    )
    assert len(warned) == 3


# Ctrl-C


@pytest.mark.usefixtures("_processes")
def test_an_interrupt_does_not_wait_for_workers(tmp_path):
    before, meter, shots = (
        signal.signal(signal.SIGINT, signal.default_int_handler),
        Meter(),
        [],
    )

    def shoot():
        while len(list(tmp_path.iterdir())) < 2:
            time.sleep(0.01)
        shots.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=shoot)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt), interruptible(meter):
            list(spread(errands.marked, str(tmp_path), range(8), meter=meter))
        late = time.monotonic() - shots[0]
    finally:
        signal.signal(signal.SIGINT, before)
        thread.join()
    assert late < 3
    pids = [int(path.name.rpartition("-")[2]) for path in tmp_path.iterdir()]
    assert len(pids) == 2
    assert gone(pids)


@pytest.mark.usefixtures("_processes")
def test_a_generator_that_is_closed_leaves_no_work(tmp_path):
    tasks = [(0, None), *[(number, None) for number in range(1, 30)]]
    with closing(spread(errands.fails, str(tmp_path), tasks, meter=Meter())) as results:
        assert next(results) == 0
    assert list(spread(errands.times, 1, [1, 2], meter=Meter())) == [1, 2]


def test_processes_are_no_more_than_cores():
    with (
        joblib.parallel_config(backend="loky", n_jobs=1000),
        shared_workers() as workers,
    ):
        assert workers.n_workers() <= max(2, joblib.cpu_count())
        results = list(spread(errands.times, 2, range(9), meter=Meter(), n_jobs=500))
    assert results == [2 * task for task in range(9)]


@pytest.mark.usefixtures("_processes")
def test_the_hooks_of_the_program_stay_as_they_are():
    hook = threading.excepthook
    assert list(spread(errands.times, 2, [1, 2], meter=Meter())) == [2, 4]
    assert threading.excepthook is hook
