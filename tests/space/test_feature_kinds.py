"""The kinds of features: which one options describe, and what each answers."""

import copy
import pickle
from dataclasses import fields, replace

import pytest

from nn2rules import DomainError, Feature
from nn2rules.space import (
    UNKNOWN,
    Binned,
    Curve,
    Curved,
    Grouped,
    Intervals,
    Listed,
    Lookup,
    Range,
    Shape,
)

PAY = Feature.real("pay", 1, 64, special=[999], missing=True)
FEATURES = {
    "listed": Feature("size", ("S", "M", None), ordered=True, labels=("1", "2", "?")),
    "other": Feature("size", ("S", "rest", None), other="rest"),
    "grid": Feature("rooms", (3, 1, 2), ordered=True),
    "bins": Feature.bins("age", (25, 40), whole=True, missing=True),
    "range": Feature.real("age", 17, 90, whole=True, edges=(25,), special=[999]),
    "real": PAY,
    "curve": PAY.along(Curve(Shape("log2"), (1, 64))),
    "groups": Feature.grouped("job", [["a", "b"], ["c"], []], other=2, missing=True),
}
KINDS = {
    "listed": Listed,
    "other": Listed,
    "grid": Listed,
    "bins": Binned,
    "range": Range,
    "real": Range,
    "curve": Curved,
    "groups": Grouped,
}
OWN = {
    Listed: {"ordered"},
    Binned: {"edges", "whole"},
    Range: {"edges", "whole", "limits"},
    Curved: {"edges", "whole", "limits", "curve"},
    Grouped: {"groups"},
}


@pytest.mark.parametrize("name", FEATURES)
def test_options_choose_the_kind(name):
    """Calling `Feature` with all fields of a feature makes that feature again."""
    feature, kind = FEATURES[name], KINDS[name]
    assert type(feature) is kind
    given = {one.name: getattr(feature, one.name) for one in fields(feature)}
    again = Feature(**given | {"ordered": feature.ordered})
    assert (type(again), again) == (kind, feature)
    assert again != FEATURES["grid" if name != "grid" else "bins"]


@pytest.mark.parametrize("name", FEATURES)
def test_a_kind_has_only_its_own_fields(name):
    feature = FEATURES[name]
    common = {"name", "values", "labels", "other", "not_missing"}
    assert {one.name for one in fields(feature)} == common | OWN[type(feature)]
    for missing in {"edges", "limits", "groups", "curve"} - OWN[type(feature)]:
        assert not hasattr(feature, missing)


@pytest.mark.parametrize("name", FEATURES)
def test_copies_are_equal(name):
    feature = replace(FEATURES[name], not_missing=("NaN",))
    copies = (pickle.loads(pickle.dumps(feature)), copy.deepcopy(feature))
    for one in (*copies, copy.copy(feature), replace(feature)):
        assert (type(one), one, hash(one)) == (type(feature), feature, hash(feature))
        assert (one.not_missing, repr(one)) == (("NaN",), repr(feature))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Feature("x", (1, 2), whole=True), "whole numbers have whole edges"),
        (lambda: Feature("x", ("a", "b"), edges=(1,)), "bins are ordered"),
        (
            lambda: Feature("x", ("a", "b"), True, limits=(0, 1)),
            "a range has edges, and no labels",
        ),
        (
            lambda: replace(FEATURES["range"], labels=("a", "b", "c")),
            "has no 'labels'",
        ),
        (lambda: replace(PAY, other="999"), "has no 'other'"),
        (lambda: replace(FEATURES["bins"], edges=None), r"in bins\) needs 'edges'"),
        (lambda: Curved("x", ("a",), edges=(), limits=(0, 1)), "needs 'curve'"),
        (
            lambda: Listed("x", ("a",), edges=(1,)),
            r"of values\) has no 'edg",
        ),
        (lambda: Listed("x", ("a",), limits=(0, 1)), "has no 'lim"),
        (
            lambda: Binned("x", ("a", "b"), edges=(1,), groups=()),
            "has no 'groups'",
        ),
        (lambda: Grouped("x", ("a",), True, groups=(("a",),)), "has no 'ordered'"),
        (
            lambda: Range("x", ("a",), edges=(), limits=(0, 1), curve=PAY),
            "has no 'curve'",
        ),
        (
            lambda: replace(FEATURES["curve"], limits=(0, 5)),
            "its range is not that of its curve",
        ),
    ],
)
def test_kinds_do_not_mix(make, message):
    with pytest.raises(DomainError, match=message):
        make()


def test_what_each_value_is():
    """How many values are intervals, parts of a range, and before the others."""
    counted = {
        name: (feature.n_intervals, feature.n_cells, feature.n_plain)
        for name, feature in FEATURES.items()
    }
    assert counted == {
        "listed": (0, 0, 2),
        "other": (0, 0, 1),
        "grid": (0, 0, 3),
        "bins": (3, 0, 3),
        "range": (2, 2, 2),
        "real": (1, 1, 1),
        "curve": (1, 1, 1),
        "groups": (0, 0, 2),
    }
    for feature in FEATURES.values():
        assert feature.beside == feature.values[feature.n_plain :]
        assert isinstance(feature, Intervals) == (feature.n_intervals > 0)
        assert isinstance(feature, Range) == (feature.n_cells > 0)


def test_which_value_is_for_others():
    codes = {name: feature.other_code for name, feature in FEATURES.items()}
    assert codes == dict.fromkeys(FEATURES, UNKNOWN) | {"other": 1, "groups": 2}
    for feature in FEATURES.values():
        for code, value in enumerate(feature.values):
            assert feature.is_other(value) == (code == feature.other_code)
            is_ordinary = value is not None and code != feature.other_code
            assert feature.is_ordinary(value) == is_ordinary


def test_counts_of_inputs():
    """Each whole number of a part is found by its own lookup."""
    feature = FEATURES["range"]
    lookup = Lookup(feature)
    found = [lookup[number] for number in (*range(10, 100), 999)]
    assert feature.counts == [found.count(code) for code in range(len(feature))]
    assert FEATURES["real"].counts is FEATURES["curve"].counts is None
    assert FEATURES["bins"].counts == [1, 1, 1, 1]


def test_the_same_numbers():
    age = FEATURES["range"]
    assert age.has_same_numbers(Feature.real("other", 17, 90, whole=True))
    assert not age.has_same_numbers(Feature.real("other", 17, 90))
    assert not age.has_same_numbers(Feature.real("other", 17, 91, whole=True))
    assert not age.has_same_numbers(FEATURES["bins"])
    assert not FEATURES["bins"].has_same_numbers(age)
    assert not FEATURES["bins"].has_same_numbers(Feature.bins("age", (25, 40)))
    assert FEATURES["grid"].has_same_numbers(FEATURES["groups"])
