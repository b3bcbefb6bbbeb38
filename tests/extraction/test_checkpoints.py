"""Searches that are stopped and go on end with the same rules, byte for byte."""

import numpy as np
import pytest

import interrupting
import ranged
from nn2rules import Budget, BudgetExceededError, FormatError, OptionError, extract
from nn2rules.extraction.from_search import growing
from nn2rules.files import to_json


def _stopping(after):
    """Return a progress function that presses Ctrl-C after so many reports of rules."""
    seen = 0

    def progress(what, _share):
        nonlocal seen
        seen += "proved" in what
        if seen == after:
            raise KeyboardInterrupt

    return progress


def _in_parts(network, path, after, **options):
    """Extract, stopped again and again; return the rules and how often that was.

    Ever later: within a wave it goes on from where that began.
    """
    for n_stops in range(100):
        try:
            rules = extract(
                network,
                checkpoint=path,
                resume=True,
                progress=_stopping(after * (1 + n_stops)),
                **options,
            )
        except KeyboardInterrupt:
            continue
        return rules, n_stops
    raise AssertionError("it never ends")


@pytest.mark.parametrize("form", ["list", "set"])
@pytest.mark.parametrize("scope", ["domain", "support"])
@pytest.mark.parametrize("seed", range(4))
def test_a_search_that_goes_on_gives_the_same_bytes(
    monkeypatch, tmp_path, form, scope, seed
):
    monkeypatch.setattr(growing, "_ROWS_EACH", 8)  # so that waves widen
    rng = np.random.default_rng(seed)
    network = interrupting.a_network(rng)
    sizes = network.domain.sizes
    rows = network.domain.decode(rng.integers(sizes, size=(150, len(sizes))))
    options = {"form": form, "scope": scope, "engine": "search", "seed": seed}
    options |= {"data": rows} if scope == "support" else {}
    whole = extract(network, **options)
    rules, _ = _in_parts(network, tmp_path / "some.ckpt", after=5, **options)
    assert to_json(rules) == to_json(whole)


@pytest.mark.parametrize("seed", range(3))
def test_so_does_one_over_ranges_of_numbers(tmp_path, seed):
    rng = np.random.default_rng(seed)
    domain = ranged.mixed_domain()
    network = ranged.random_network(rng, domain)
    rows = ranged.random_rows(rng, domain, 200)
    whole = extract(network, rows, scope="support")
    rules, n_stops = _in_parts(
        network, tmp_path / "some.ckpt", after=3, data=rows, scope="support"
    )
    assert to_json(rules) == to_json(whole)
    assert n_stops > 0 or len(rules) < 3


def test_a_budget_that_is_spent_can_be_raised(tmp_path):
    rng = np.random.default_rng(5)
    network = interrupting.a_network(rng)
    options = {"engine": "search", "checkpoint": tmp_path / "some.ckpt", "resume": True}
    whole = extract(network, engine="search")
    boxes = 1
    while True:
        try:
            rules = extract(network, budget=Budget(boxes=boxes), **options)
            break
        except BudgetExceededError:
            boxes *= 2
    assert to_json(rules) == to_json(whole)


@pytest.fixture
def stopped(tmp_path):
    """Return a network and the checkpoint of its search, which was stopped."""
    network = interrupting.a_network(np.random.default_rng(5))
    path = tmp_path / "some.ckpt"
    with pytest.raises(KeyboardInterrupt):
        extract(network, engine="search", checkpoint=path, progress=_stopping(20))
    return network, path


def test_what_is_there_is_not_overwritten(stopped):
    network, path = stopped
    before = path.read_bytes()
    with pytest.raises(OptionError, match=r"has \d+ rules? of the same work; resume"):
        extract(network, engine="search", checkpoint=path)
    assert path.read_bytes() == before


def test_a_checkpoint_of_other_work_is_refused(stopped):
    network, path = stopped
    with pytest.raises(FormatError, match="belongs to other work"):
        extract(network, engine="search", checkpoint=path, resume=True, seed=9)
    other = interrupting.a_network(np.random.default_rng(6))
    with pytest.raises(FormatError, match="belongs to other work"):
        extract(other, engine="search", checkpoint=path, resume=True)


def test_a_file_that_was_edited_is_refused(stopped):
    network, path = stopped
    stored = dict(np.load(path))
    stored["answers"] = 1 - stored["answers"]
    with path.open("wb") as stream:
        np.savez_compressed(stream, **stored)
    with pytest.raises(FormatError, match="damaged: its digest differs"):
        extract(network, engine="search", checkpoint=path, resume=True)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(FormatError, match="not a checkpoint"):
        extract(network, engine="search", checkpoint=path, resume=True)
    path.write_text("rules")
    with pytest.raises(FormatError, match="not a checkpoint"):
        extract(network, engine="search", checkpoint=path, resume=True)


def test_to_go_on_needs_a_checkpoint(stopped, tmp_path):
    network, _ = stopped
    with pytest.raises(OptionError, match="give its path"):
        extract(network, resume=True)
    with pytest.raises(FormatError, match="there is no folder"):
        extract(network, checkpoint=tmp_path / "no" / "some.ckpt")


def test_tables_write_none(tmp_path):
    network = interrupting.a_network(np.random.default_rng(5))
    path = tmp_path / "some.ckpt"
    rules = extract(network, engine="table", checkpoint=path)
    assert to_json(rules) == to_json(extract(network, engine="table"))
    assert not path.exists()
