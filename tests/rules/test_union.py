"""How many inputs lie in at least one of several boxes."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import ranged
import strategies
from nn2rules import Domain, Feature
from nn2rules.cli.extract import summary
from nn2rules.files import from_json, to_json
from nn2rules.language.text import share
from nn2rules.rules import RuleList, volume
from nn2rules.rules.data_rows import GivenRows, with_decided
from nn2rules.rules.volume import Covered, covered
from nn2rules.space.spans import volumes


def drawn(rng, sizes, n_boxes, *, wide=False):
    """Draw boxes with a few conditions each, none without values."""
    boxes = np.ones((n_boxes, sum(sizes)), dtype=bool)
    ends = np.cumsum([0, *sizes])
    for box in boxes:
        for feature in rng.choice(len(sizes), min(4, len(sizes)), replace=False):
            allowed = rng.random(sizes[feature]) < rng.choice([0.3, 0.6, 0.9])
            allowed[rng.integers(sizes[feature])] = True
            if allowed.all() and not wide:
                allowed[rng.integers(sizes[feature])] = sizes[feature] == 1
            box[ends[feature] : ends[feature + 1]] = allowed
    return boxes


def counted(domain, boxes):
    """Return the share of the inputs of at least one box, input by input."""
    total, shares = Fraction(0), [volumes(feature) for feature in domain.features]
    for codes in naive.inputs(domain.sizes):
        columns = domain.offsets[:-1] + np.array(codes)
        if boxes[:, columns].all(axis=1).any():
            total += math.prod(
                own[code] for own, code in zip(shares, codes, strict=True)
            )
    return total


@given(st.data())
def test_the_union_of_boxes_equals_enumeration(data):
    sizes = data.draw(strategies.sizes(max_inputs=150))
    domain = strategies.plain_domain(sizes)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    boxes = drawn(rng, sizes, data.draw(st.integers(0, 12)), wide=True)
    expected = counted(domain, boxes) * domain.n_inputs
    assert covered(domain, boxes) == Covered(expected, expected, domain.n_inputs)
    for steps in (0, 1, 20, 300):
        found = covered(domain, boxes, steps=steps)
        assert 0 <= found.lower <= expected <= found.upper <= found.total


@given(st.integers(0, 2**32), st.integers(0, 10))
def test_the_volume_of_boxes_equals_the_sum_over_cells(seed, n_boxes):
    rng = np.random.default_rng(seed)
    age, amount, job = ranged.mixed_domain().features
    edges = sorted(set(rng.uniform(0, 20000, size=3).round(3).tolist()))
    domain = Domain((age.cut([20, 35]), amount.cut(edges), job))
    boxes = drawn(rng, list(domain.sizes), n_boxes)
    expected, rules = counted(domain, boxes), of_boxes(domain, boxes)
    assert (rules.volume.lower, rules.volume.upper) == (expected, expected)
    for steps in (0, 10, 100):
        found = covered(domain, boxes, steps=steps)
        assert found.lower <= expected * found.total <= found.upper <= found.total


def of_boxes(domain, boxes, **options):
    answers = np.ones(len(boxes), dtype=np.int64)
    return RuleList.from_boxes(
        domain, boxes, answers, "no", ("no", "yes"), scope="support", **options
    )


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_wherever_the_work_stops(seed, monkeypatch):
    rng = np.random.default_rng([80, seed])
    sizes = [3, 4, 2, 3, 5, 2, 4]
    domain, boxes = strategies.plain_domain(sizes), drawn(rng, sizes, 60)
    codes = np.concatenate(list(domain.inputs())) + domain.offsets[:-1]
    expected = int(boxes[:, codes].all(axis=2).any(axis=0).sum())
    exact = Covered(expected, expected, domain.n_inputs)
    assert covered(domain, boxes) == exact
    widths = []
    for steps in (0, 100, 1_000, 10_000, 100_000):
        found = covered(domain, boxes, steps=steps)
        assert found.lower <= expected <= found.upper
        widths.append(found.upper - found.lower)
    assert widths[0] > widths[2] > 0 == widths[-1]
    with monkeypatch.context() as patch:
        patch.setattr(volume, "_MOST", 20)
        found = covered(domain, boxes)
        assert found.lower < expected <= found.upper
    monkeypatch.setattr(volume, "_DEEPEST", 2)
    found = covered(domain, boxes)
    assert found.lower <= expected <= found.upper
    assert found.lower < found.upper


def test_unions_on_domains_of_any_size():
    """Of 80 features only five matter; or each box has features of its own."""
    rng, small = np.random.default_rng(81), [2, 3, 3, 4, 2]
    few = drawn(rng, small, 30)
    sizes = [3] * 80
    places = [4, 20, 21, 50, 79]
    for place, size in zip(places, small, strict=True):
        sizes[place] = size
    domain = strategies.plain_domain(sizes)
    boxes, start = np.ones((30, sum(sizes)), dtype=bool), 0
    for place, size in zip(places, small, strict=True):
        at = domain.offsets[place]
        boxes[:, at : at + size] = few[:, start : start + size]
        start += size
    expected = covered(strategies.plain_domain(small), few).lower * 3**75
    assert covered(domain, boxes) == Covered(expected, expected, 144 * 3**75)
    wide = strategies.plain_domain([2] * 300)
    apart = np.ones((100, 600), dtype=bool)
    for index in range(100):
        apart[index, [6 * index, 6 * index + 2, 6 * index + 4]] = False
    found = 2**300 - 7**100
    assert covered(wide, apart) == Covered(found, found, 2**300)


def test_the_same_boxes_cover_the_same_in_any_order():
    rng = np.random.default_rng(82)
    sizes = [4] * 20
    domain, boxes = strategies.plain_domain(sizes), drawn(rng, sizes, 80)
    found = covered(domain, boxes, steps=2_000)
    assert found.lower < found.upper
    assert covered(domain, boxes[::-1], steps=2_000) == found
    assert covered(domain, np.vstack([boxes, boxes]), steps=2_000) == found


def test_a_value_that_counts_nothing():
    amount = Feature.real("amount", 0, 4, edges=[1], missing=True)
    domain = Domain((amount, Feature("job", ("a", "b"))))
    boxes = np.array(
        [[0, 0, 1, 1, 1], [1, 0, 1, 1, 0], [0, 1, 1, 1, 1], [0, 0, 1, 1, 0]], dtype=bool
    )
    found = covered(domain, boxes)
    assert found.lower == found.upper
    assert Fraction(found.lower, found.total) == Fraction(7, 8)


def test_what_a_search_leaves_uncovered_is_certified(monkeypatch):
    rng = np.random.default_rng(83)
    sizes = [3, 4, 2, 3, 5]
    domain, boxes = strategies.plain_domain(sizes), drawn(rng, sizes, 25)
    left = domain.n_inputs - covered(domain, boxes).lower
    rules = of_boxes(domain, boxes, certificate={"engine": "search"})
    rows = GivenRows(domain, np.zeros((1, 5), dtype=np.int64))
    assert with_decided(rules, rows).certificate["uncovered"] == left
    monkeypatch.setattr(covered, "__kwdefaults__", {"steps": 0})
    certificate = with_decided(rules, rows).certificate
    assert "uncovered" not in certificate
    low, high = (certificate[f"uncovered_at_{end}"] for end in ("least", "most"))
    assert low <= left <= high
    assert low < high
    bounded = with_decided(rules, rows)
    shares = f"{share(low, domain.n_inputs)} to {share(high, domain.n_inputs)}"
    assert f"{low:,} to {high:,} inputs ({shares}) are not covered" in summary(
        bounded, 1
    )
    assert from_json(to_json(bounded)).certificate == certificate
    top = bounded.top(3)
    assert not any(key.startswith("uncovered") for key in top.certificate)
