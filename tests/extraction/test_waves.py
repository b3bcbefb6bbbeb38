"""The same rules, byte for byte, whoever lets boxes grow."""

import pickle

import joblib
import numpy as np
import pytest

import interrupting
import ranged
from nn2rules import extract
from nn2rules.engine import Meter, Oracle
from nn2rules.engine.parallel.spread import shared_workers
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction.from_search import growing
from nn2rules.extraction.from_search.by_search import TRIES
from nn2rules.extraction.from_search.growing import Goal, Grower
from nn2rules.extraction.from_search.growth_context import Cases, Step, Wave, grow
from nn2rules.files import to_json
from nn2rules.space import Boxes, Inputs


def _subjects(seeds):
    """Yield networks, with options that search them: words, and ranges of numbers."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        network = interrupting.a_network(rng)
        sizes = network.domain.sizes
        rows = network.domain.decode(rng.integers(sizes, size=(80, len(sizes))))
        yield network, {"data": rows, "scope": "support", "engine": "search"}
        yield network, {"engine": "search", "form": "list"}
        domain = ranged.mixed_domain()
        rows = ranged.random_rows(rng, domain, 80)
        yield ranged.random_network(rng, domain), {"data": rows, "scope": "support"}


def test_threads_and_processes_find_the_same(monkeypatch):
    monkeypatch.setattr(growing, "_ROWS_EACH", 8)  # so that waves widen
    subjects = list(_subjects(range(3)))
    alone = [to_json(extract(n, n_jobs=1, **options)) for n, options in subjects]
    threads = [to_json(extract(n, n_jobs=3, **options)) for n, options in subjects]
    assert threads == alone
    with joblib.parallel_config(backend="loky", n_jobs=2), shared_workers() as pool:
        processes = [to_json(extract(n, **options)) for n, options in subjects]
        assert pool.traffic.n_pieces > len(subjects)  # they did work there
    assert processes == alone


def _grower(seed=0, n_rows=60):
    rng = np.random.default_rng(seed)
    domain = ranged.mixed_domain()
    network = ranged.random_network(rng, domain)
    codes, numbers = domain.inputs_of(ranged.random_rows(rng, domain, n_rows))
    both = np.unique(np.hstack([codes, numbers]), axis=0)
    codes, numbers = (
        both[:, : codes.shape[1]].astype(np.int64),
        both[:, codes.shape[1] :],
    )
    answers = network.predict_codes(codes, numbers)
    cases = Cases(Inputs(codes, numbers), rng.random(len(codes)), answers)
    return Grower(Oracle(network), cases, Goal(False, 3, seed)), rng


@pytest.mark.parametrize("seed", range(5))
def test_what_is_sent_arrives_as_it_was(seed):
    grower, rng = _grower(seed)
    context = pickle.loads(pickle.dumps(grower.context))
    for own, other in zip(grower.context.row_index, context.row_index, strict=True):
        assert np.array_equal(own, other)
        assert own.dtype == other.dtype
    assert np.array_equal(
        grower.context.covered_row_weights, context.covered_row_weights
    )
    n_rows, n_columns = len(grower.cases.answers), len(grower.plan.lines)
    n_features = len(grower.plan.ranges)
    ignored = Boxes(rng.random((2, n_columns)) < 0.5, rng.random((2, 2, n_features)))
    wave = Wave(rng.random(n_rows) < 0.5, rng.random(n_rows) < 0.5, ignored)
    sent = pickle.loads(pickle.dumps(wave))
    assert np.array_equal(sent.uncovered, wave.uncovered)
    assert np.array_equal(sent.others, wave.others)
    assert np.array_equal(sent.ignored.allowed, ignored.allowed)
    assert np.array_equal(sent.ignored.ends, ignored.ends)


def _wave(grower):
    """Return a wave of which every row is to be decided."""
    every = np.ones(len(grower.cases.answers), dtype=np.bool_)
    n_columns, n_features = len(grower.plan.lines), len(grower.plan.ranges)
    nothing = Boxes(np.zeros((0, n_columns), np.bool_), np.ones((0, 2, n_features)))
    return Wave(every, every, nothing)


def test_waves_widen_where_boxes_do_not_overlap(monkeypatch):
    rng, domain = np.random.default_rng(0), ranged.mixed_domain()
    network = ranged.random_network(rng, domain)
    rows = ranged.random_rows(rng, domain, 400)
    extract(network, rows[:9], scope="support")  # what is compiled is compiled
    monkeypatch.setattr(growing, "_ROWS_EACH", 8)
    widths, grow_some = [], Grower.grow

    def watched(self, number, wave, width):
        widths.append(width)
        return grow_some(self, number, wave, width)

    monkeypatch.setattr(Grower, "grow", watched)
    extract(network, rows, scope="support")
    assert widths[0] == TRIES < max(widths) <= len(rows) // 8


def test_what_came_back_in_time_is_kept(monkeypatch):
    """Of boxes that grow elsewhere when the time ends; the others stay as they were."""
    grower, _ = _grower()
    wave = _wave(grower)
    started = grower.grow(0, wave, 3)
    whole = grower.finish(started, wave)
    share = growing.spread

    def cut_short(*args, **kwargs):
        yield from list(share(*args, **kwargs))[:2]
        raise BudgetExceededError("the budget of 1 seconds is spent")

    monkeypatch.setattr(growing, "spread", cut_short)
    cut = grower.finish(started, wave)
    assert pickle.dumps(cut) == pickle.dumps([*whole[:2], *started[2:]])


def test_what_grows_is_not_changed():
    grower, _ = _grower()
    [started, *_] = grower.grow(0, _wave(grower), 3)
    before = pickle.dumps(started)
    for _ in range(2):
        step = Step(_wave(grower), started, True)
        state, n_questions, n_boxes = grow(grower.context, step, Meter())
        assert pickle.dumps(started) == before
        assert n_boxes >= n_questions > 0
        assert state.box.sum() >= started.state.box.sum()
