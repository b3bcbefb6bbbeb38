"""Search and regions in turns, against every input, whoever settles the question."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_by_regions import every_input, is_in, random_boxes, small_domain

import naive
from engine.random_pieces import random_pieces
from nn2rules import Budget
from nn2rules.engine import Meter, Oracle, beyond_tables, settle_class
from nn2rules.space import no_boxes


@pytest.fixture(params=["as they are", "regions at once", "one program"])
def _turns(request, monkeypatch):
    turns = {"regions at once": ((0, 4_000),), "one program": ((1, 1), (2, 2))}
    if request.param in turns:
        monkeypatch.setattr(beyond_tables, "TURNS", turns[request.param])
        monkeypatch.setattr(beyond_tables, "LATE_TURNS", turns[request.param])


@pytest.mark.usefixtures("_turns")
@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_classes_in_boxes_equal_every_input(seed):
    rng = np.random.default_rng([21, seed])
    domain = small_domain(rng)
    network = random_pieces(rng, domain, max_layers=2)
    within = random_boxes(rng, domain)
    ignoring = random_boxes(rng, domain) if rng.random() < 0.5 else no_boxes(domain)
    index, is_never = int(rng.integers(len(network.classes))), bool(rng.random() < 0.5)
    settled = settle_class(
        Oracle(network), index, within, ignoring, Meter(), is_never=is_never
    )
    breaking = {
        one
        for one in every_input(domain)
        if (naive.class_of(network, *one) == index) == is_never
        and is_in(domain, within, *one)
        and not is_in(domain, ignoring, *one)
    }
    if settled.status == "refuted":
        codes, numbers = settled.inputs
        assert (tuple(codes[0].tolist()), tuple(numbers[0].tolist())) in breaking
    else:
        assert settled.status == "proved"
        assert not breaking


def test_a_budget_in_boxes_leaves_regions_out(monkeypatch):
    """Regions take time that is not counted in boxes."""

    def refuse(*_args, **_options):
        raise AssertionError("not to be asked")

    monkeypatch.setattr(beyond_tables, "find_classes", refuse)
    monkeypatch.setattr(beyond_tables, "TURNS", ((0, 4_000),))
    monkeypatch.setattr(beyond_tables, "LATE_TURNS", ((0, 4_000),))
    rng = np.random.default_rng(0)
    domain = small_domain(rng)
    network = random_pieces(rng, domain, max_layers=2)
    within, nothing = random_boxes(rng, domain), no_boxes(domain)
    counted = Meter(Budget(boxes=10_000))
    settle_class(Oracle(network), 0, within, nothing, counted)
    with pytest.raises(AssertionError, match="not to be asked"):
        settle_class(Oracle(network), 0, within, nothing, Meter())
