"""Who answers a question about boxes, and that all who may do agree."""

from dataclasses import replace

import numpy as np
import pytest

from nn2rules import Budget, BudgetExceededError, OptionError, datasets, load
from nn2rules.engine import (
    DONT_CARE,
    Halving,
    Meter,
    Oracle,
    SearchJudge,
    TableJudge,
    judge_of,
    table_of,
    table_size,
    uses_table,
    which_engine,
)
from nn2rules.space import inside, no_boxes, whole_boxes
from ranged import mixed_domain, random_network


def tomato():
    return load(datasets.network_file("tomato"))


@pytest.mark.parametrize(
    ("engine", "n_inputs", "most", "memory", "expected"),
    [
        ("auto", 10, 10, 10, True),
        ("auto", 11, 10, 99, False),
        ("auto", 11, 99, 10, False),
        ("auto", None, 99, 99, False),
        ("search", 1, 99, 99, False),
        ("table", 99, 1, 1, True),
    ],
)
def test_a_table_is_used_for_few_inputs(engine, n_inputs, most, memory, expected):
    assert uses_table(engine, n_inputs, most, memory) is expected


def test_ranges_have_no_table():
    network = random_network(np.random.default_rng(0), mixed_domain())
    assert table_size(network) is None
    nothing = no_boxes(network.domain)
    assert isinstance(judge_of(network, "auto", nothing, Meter()), SearchJudge)
    with pytest.raises(OptionError, match="expected 'auto', 'table' or 'search'"):
        judge_of(network, "oracle", nothing, Meter())


def test_a_small_table_is_kept_but_not_beyond_the_memory(monkeypatch):
    network = tomato()
    table = table_of(network)
    assert table_of(network) is table
    with pytest.raises(BudgetExceededError, match="needs as many bytes"):
        table_of(network, meter=Meter(Budget(memory=5)))
    monkeypatch.setattr(which_engine, "KEPT_INPUTS", 5)
    other = replace(tomato(), threshold=0.6)
    assert table_of(other) is not table_of(other)
    assert table_of(other, keep=True) is table_of(other)


def test_table_search_and_halves_agree():
    network = load(datasets.network_file("car"))
    domain, rng = network.domain, np.random.default_rng(5)
    drawn = rng.random((3, int(domain.offsets[-1]))) < 0.4
    impossible = whole_boxes(domain, drawn)
    judges = [judge_of(network, e, impossible, Meter()) for e in ("table", "search")]
    assert [*map(type, judges)] == [TableJudge, SearchJudge]
    codes = np.concatenate([*domain.inputs()])
    numbers = np.ones(codes.shape)
    by_table, by_search = (each.classes_of(codes, numbers) for each in judges)
    assert (by_table == by_search).all()
    left_out = inside(domain, impossible, codes, numbers)
    assert ((by_table == DONT_CARE) == left_out).all()
    halving, n_proved = Halving(Oracle(network)), 0
    for _ in range(60):
        box = rng.random(len(drawn[0])) < 0.6
        box[domain.offsets[:-1]] = True
        held = inside(domain, whole_boxes(domain, box[None]), codes, numbers)
        classes = network.predict_codes(codes[held])
        for index in range(len(network.classes)):
            is_proved = np.isin(by_table[held], [index, DONT_CARE]).all()
            for each in judges:
                found = each.ask(box, domain.limits, index, None)
                assert found.status == ("proved" if is_proved else "refuted")
                if found.point is not None:
                    [own] = each.classes_of(
                        found.point.codes[None], found.point.numbers[None]
                    )
                    assert own not in (index, DONT_CARE)
        index, halves = halving.look((box, domain.limits))
        assert index is None or set(classes) == {index}
        n_proved += index is not None
        if index is None:
            parts = [whole_boxes(domain, half[0][None]) for half in halves]
            both = [inside(domain, part, codes, numbers) for part in parts]
            assert (np.logical_or(*both) == held).all()
            assert not np.logical_and(*both).any()
    assert n_proved
