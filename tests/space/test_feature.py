"""Which value a cell is: bins, grids, other values."""

import math
from bisect import bisect_right

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nn2rules import Domain, DomainError, Feature, UnknownValueError
from nn2rules.files import from_json, read_table, to_json
from nn2rules.network.layer import Layer
from nn2rules.network.network import Network
from nn2rules.space.lookup import UNKNOWN, Lookup

numbers = st.floats(-1e6, 1e6) | st.integers(-1000, 1000)
edge_lists = st.lists(numbers, min_size=1, max_size=6, unique=True).map(sorted)


def code(feature, cell):
    return int(Domain((feature,)).encode([{feature.name: cell}], unknown="mark")[0, 0])


@given(edge_lists, numbers)
def test_a_number_is_in_the_bin_whose_edges_enclose_it(edges, number):
    feature = Feature.bins("x", edges)
    place = code(feature, number)
    assert place == sum(edge <= number for edge in edges)
    assert code(feature, np.float64(number)) == place
    assert code(feature, repr(number)) == place  # the text of a CSV file


@given(edge_lists)
def test_an_edge_belongs_to_the_bin_above_it(edges):
    feature = Feature.bins("x", edges)
    for index, edge in enumerate(edges):
        assert code(feature, edge) == index + 1
        below = math.nextafter(edge, -math.inf)
        assert code(feature, below) == bisect_right(edges, below)


def test_numbers_off_the_grid_are_unknown():
    feature = Feature("x", (1, 2.5, None), ordered=True)
    assert [code(feature, cell) for cell in (1, "2.5", 2, "", float("nan"))] == [
        0, 1, -1, 2, 2,
    ]  # fmt: skip
    with pytest.raises(UnknownValueError, match=r"has no value 2; it has 1, 2\.5"):
        Domain((feature,)).encode([{"x": 2}])


@pytest.mark.parametrize("cell", [math.inf, -math.inf, "inf", "word", "1e999x"])
def test_what_is_no_finite_number_is_in_no_bin(cell):
    assert code(Feature.bins("x", (0, 1)), cell) == -1
    assert code(Feature.real("x", 0, 1), cell) == -1


def test_other_values():
    feature = Feature("x", ("a", "b", "other", None), other="other")
    cells = ["a", "c", "other", None, "", 7]
    assert [code(feature, cell) for cell in cells] == [0, 2, 2, 3, 3, 2]
    without_missing = Feature("x", ("a", "other"), other="other")
    assert code(without_missing, None) == code(without_missing, "") == -1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Feature.bins("x", ()), "edges are one or more finite numbers"),
        (lambda: Feature.bins("x", (2, 1)), "each edge must be larger"),
        (lambda: Feature.bins("x", (1, 1)), "each edge must be larger"),
        (lambda: Feature.bins("x", (math.nan,)), "edges are one or more finite"),
        (lambda: Feature("x", ("a",), ordered=True, edges=(1,)), "1 edges make 2"),
        (lambda: Feature("x", ("a",), other="b"), "'b' stands for other values"),
    ],
)
def test_features_that_make_no_sense(make, message):
    with pytest.raises(DomainError, match=message):
        make()


@given(edge_lists, st.booleans())
def test_features_survive_files(edges, has_missing):
    features = (
        Feature.bins("bins", edges, missing=has_missing),
        Feature("grid", (*edges, None), ordered=True),
        Feature("word", ("a", "rest", None), other="rest"),
    )
    domain = Domain(features)
    weights = np.arange(domain.offsets[-1] * 1.0)[:, None]
    network = Network(domain, (Layer(weights, [0.0], "sigmoid"),), ("no", "yes"))
    assert from_json(to_json(network)) == network
    assert to_json(from_json(to_json(network))) == to_json(network)


def test_an_unknown_number_of_a_grid_gets_a_hint():
    grid = Domain((Feature("age", range(20, 80, 10), ordered=True),))
    with pytest.raises(UnknownValueError, match=r"as a range, \(low, hi"):
        grid.encode([{"age": 33}])
    few = Domain((Feature("code", (0, 1, 2)),))
    with pytest.raises(UnknownValueError) as caught:
        few.encode([{"code": 3}])
    assert "range" not in str(caught.value)


# Texts that stand for missing ---------------------------------------------------------

GAPS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "<NA>", "n/a", "#N/A"]


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize(
    "feature",
    [
        Feature("f", (1, 2, None), ordered=True),
        Feature("f", (2, 1, None)),
        Feature("f", (False, True, None)),
        Feature.bins("f", (3,), missing=True),
        Feature("f", (1, 2, "rest", None), other="rest"),
    ],
    ids=str,
)
def test_gaps_among_numbers(gap, feature, tmp_path):
    assert Lookup(feature)[gap] == feature.values.index(None)
    path = tmp_path / "x.csv"
    path.write_text(f"f,g\n{gap},7\n1,8\n")
    rows = read_table(path).typed()
    assert [row["f"] for row in rows] == [None, 1]


@pytest.mark.parametrize("gap", GAPS[1:])
def test_the_same_texts_among_words_are_words(gap, tmp_path):
    """NA is a country, too."""
    country = Feature("c", ("DE", "FR", None))
    assert Lookup(country)[gap] == UNKNOWN
    assert Lookup(Feature("c", ("DE", gap, None)))[gap] == 1
    assert Lookup(Feature("c", ("DE", "rest", None), other="rest"))[gap] == 1
    path = tmp_path / "x.csv"
    path.write_text(f"c\n{gap}\nDE\n")
    assert read_table(path).typed() == [{"c": gap}, {"c": "DE"}]


def test_numbers_without_a_value_for_missing_refuse_gaps():
    assert Lookup(Feature("f", (1, 2), ordered=True))["NA"] == UNKNOWN
    assert Lookup(Feature("f", (1, 2, "rest"), other="rest"))["NA"] == UNKNOWN


# Bins of whole numbers ----------------------------------------------------------------


def test_bins_of_whole_numbers():
    feature = Feature.bins("age", (33, 48), whole=True)
    assert feature.values == ("(-inf, 33)", "[33, 48)", "[48, inf)")
    assert repr(feature).endswith("edges=(33, 48), whole=True)")
    lookup = Lookup(feature)
    assert [lookup[n] for n in (32, 33, 33.0, "47", 48, 10**30)] == [0, 1, 1, 1, 2, 2]
    assert [lookup[n] for n in (32.5, "32.5", 47.999)] == [UNKNOWN] * 3
    with pytest.raises(DomainError, match="bins of whole numbers have whole edges"):
        Feature.bins("age", (32.5,), whole=True)
    with pytest.raises(DomainError, match="bins of whole numbers have whole edges"):
        Feature("age", (1, 2), whole=True)
