"""What a column of data, and a user's word on it, make of a feature."""

import datetime
import math
import re
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nn2rules import Domain, DomainError, Feature, OptionError, SpecialValueWarning
from nn2rules.datasets import raw
from nn2rules.space import Intervals, Range
from nn2rules.space.feature_spec import MOST_VALUES, Column
from nn2rules.space.observed import checked_specs, feature_of


@pytest.mark.parametrize(
    ("cells", "values", "ordered"),
    [
        (["b", "a"], ("a", "b"), False),
        ([3, 1], (1, 3), True),
        ([2.5, -1.0], (-1.0, 2.5), True),
        ([2.0, 1.0], (1, 2), True),
        ([True], (False, True), False),
        (["b", None], ("b", None), False),
        ([1, float("nan")], (1, None), True),
        ([pd.NA, "x", pd.NaT], ("x", None), False),
        ([2, "x", 1], (1, 2, "x"), False),
        (["10", "9"], ("10", "9"), False),
        ([np.int64(4), np.float64(2)], (2, 4), True),
        ([None], (None,), False),
    ],
)
def test_what_occurs(cells, values, ordered):
    feature = feature_of("f", Column(cells), "observed")
    assert feature.values == values
    assert [type(v) for v in feature.values] == [type(v) for v in values]
    assert feature.ordered == ordered


def test_no_number_is_minus_zero():
    column = Column([-0.0, 0.5])
    assert str(feature_of("f", column, "observed").values) == "(0.0, 0.5)"
    assert str(feature_of("f", column).limits) == "(0, 0.5)"


@pytest.mark.parametrize(
    ("cells", "feature"),
    [
        ([3, 9, 4], Feature.real("f", 3, 9, whole=True)),
        ([3.0, 9.0, 4.0], Feature.real("f", 3, 9)),
        ([0.5, None, 1.25], Feature.real("f", 0.5, 1.25, missing=True)),
        ([3.0, 9.0, np.nan], Feature.real("f", 3, 9, whole=True, missing=True)),
        ([3, 9, None], Feature.real("f", 3, 9, whole=True, missing=True)),
        ([*range(21)], Feature.real("f", 0, 20, whole=True)),
        ([np.float32(0.5), np.int64(7)], Feature.real("f", 0.5, 7)),
        ([*range(20)], Feature("f", tuple(range(20)), ordered=True)),
        ([1.0, 2.0, 3.0], Feature("f", (1, 2, 3), ordered=True)),
        ([0.7], Feature("f", (0.7,), ordered=True)),
        ([0.7, None], Feature("f", (0.7, None), ordered=True)),
        ([1, 2**60], Feature("f", (1, 2**60), ordered=True)),
        ([True, False], Feature("f", (False, True))),
        ([1, 7, "x"], Feature("f", (1, 7, "x"))),
    ],
    ids=str,
)
def test_numbers_are_a_range(cells, feature):
    """Unless they are few whole ones without gaps, or one, or no float holds them."""
    assert feature_of("f", Column(cells)) == feature
    listed = feature_of("f", Column(cells), listed=True)
    assert listed == feature_of("f", Column(cells), "observed")
    assert not isinstance(listed, Range)


@pytest.mark.parametrize(
    ("cells", "said", "feature"),
    [
        ([1, 2, 3], (0, 9), Feature.real("f", 0, 9, whole=True)),
        ([1, 2, 3], (np.int64(0), np.float64(9)), Feature.real("f", 0, 9, whole=True)),
        ([1, 2, 3], (0.5, 9.5), Feature.real("f", 1, 9, whole=True)),
        ([1, 2, None], "range", Feature.real("f", 1, 2, whole=True, missing=True)),
        ([1, 0.5], "range:0, 9", Feature.real("f", 0, 9)),
        ([1, 0.5, 999], "range:0,9,999,-1", Feature.real("f", 0, 9, special=[999, -1])),
        (
            [1, 3, 9],
            "range:0,4,9",
            Feature.real("f", 0, 4, whole=True, special=[9]),
        ),
        ([], (0, 9), Feature.real("f", 0, 9)),
        ([5, 6], [0, 9], Feature("f", (0, 9), ordered=True)),
        ([5, 6], (0, 4, 9), Feature("f", (0, 4, 9), ordered=True)),
    ],
    ids=str,
)
def test_ranges_that_the_user_says(cells, said, feature):
    assert feature_of("f", Column(cells), said) == feature


def test_special_values_stand_beside_a_range():
    column = Column([3, 9, 0, None])
    feature = feature_of("f", column, special=[0])
    assert feature == Feature.real("f", 3, 9, whole=True, special=[0], missing=True)
    assert feature_of("f", column, "observed", special=[0]).values == (0, 3, 9, None)
    amid = feature_of("f", Column([-3, 9, 0]), special=[0])
    assert amid == Feature("f", (-3, 0, 9), ordered=True)


@pytest.mark.parametrize(
    ("cells", "said", "message"),
    [
        (
            [1, 2],
            (9, 0),
            "a range goes from a finite number to one that is not",
        ),
        ([1, 2], (0, math.inf), "a range goes from a finite number to one"),
        (["x"], (0, 1), "column 'f' is not a range: it has words"),
        ([None], "range", "column 'f' has no numbers; specify the range"),
    ],
)
def test_ranges_that_are_none(cells, said, message):
    with pytest.raises(DomainError, match=message):
        feature_of("f", Column(cells), said)


def test_categories_keep_their_order():
    column = Column(["mid"], ["low", "mid", "high"], is_ordered=True)
    feature = feature_of("f", column)
    assert feature == Feature("f", ("low", "mid", "high"), ordered=True)
    assert not feature_of("f", Column([], ["low", "high"])).ordered


def test_what_the_model_knows_comes_first():
    feature = feature_of("f", Column(["z", "a"]), known=("m", "z", None))
    assert feature.values == ("m", "z", "a")
    numbers = feature_of("f", Column([2]), known=(3, 1))
    assert numbers == Feature("f", (1, 2, 3), ordered=True)


@pytest.mark.parametrize(
    ("said", "values"),
    [
        (["x", "a"], ("x", "a")),
        (("x", None), ("x", None)),
        ([3, 1], (3, 1)),
        (range(3), (0, 1, 2)),
        (np.array([0.5, 1.5]), (0.5, 1.5)),
        (pd.Index([1, 2]), (1, 2)),
        ("1..3", (1, 2, 3)),
        ("-1..1", (-1, 0, 1)),
        ("0..1:0.25", (0, 0.25, 0.5, 0.75, 1)),
        ("0..0.3:0.1", (0, 0.1, 0.2, 0.3)),
        ("-1..1:.5", (-1, -0.5, 0, 0.5, 1)),
        ("1e3..3000:1e3", (1000, 2000, 3000)),
        ("quantiles:1", (1, 9)),
        ("quantiles:2", (1, 2, 9)),
        ("observed", (1, 2, 9)),
    ],
)
def test_what_the_user_says(said, values):
    feature = feature_of("f", Column([1, 2, 9]), said)
    assert feature.values == values
    assert not isinstance(feature, Intervals)
    is_ascending = "x" not in values and values != (3, 1)
    assert feature.ordered == is_ascending
    missing = feature_of("f", Column([1, 2, None, 9]), said)
    assert missing.values[-1] is None


def test_bins_and_features_are_taken_as_they_are():
    bins = feature_of("f", Column([1]), "bins:2, 3.5")
    assert bins == Feature.bins("f", (2, 3.5))
    given_ = Feature("f", ("a",), labels=("A",))
    assert feature_of("f", Column(["b"]), given_) is given_
    with pytest.raises(
        OptionError, match="column 'g': the specification is a feature named 'f'"
    ):
        feature_of("g", Column(["b"]), given_)


@given(
    st.lists(st.integers(0, 5) | st.floats(-9, 9), min_size=1, max_size=30),
    st.integers(1, 8),
)
def test_quantiles_are_numbers_of_the_rows_by_their_rank(cells, count):
    """The quantile of a share is the smallest number that so many do not exceed."""
    column = Column(set(cells), rows=lambda: [*cells, None])
    found = feature_of("f", column, f"quantiles:{count}").values
    ranks = sorted(cells)
    places = [max(-(-len(cells) * i // count), 1) - 1 for i in range(count + 1)]
    assert found == tuple(sorted({ranks[place] for place in places}))


@pytest.mark.parametrize(
    "said",
    [
        *("", "17-90", "5..1", "1..2:0", "1..2:-1", "1..x", "0..1e9:1e-9"),
        *("quantiles:", "quantiles:0", "quantiles:1.5", "deciles:10"),
        *("bins:", "bins:1,x", "range:", "range:1", "range:1,x"),
        *("range:missing", "range:1,missing", "range:1,2,special:x", "range:1,2,gap"),
        *("range,special:", "range,special:x", "range,1,2", "range:1,2,,missing"),
        *("ordered:", "ordered:missing", "ordered:a,,b"),
    ],
)
def test_texts_that_say_nothing(said):
    told = (
        f"feature 'f': invalid specification {said!r}; expected 'range:18,100', "
        f"'range:18,100,missing,special:999', 'observed', '17..90', '0..100:2.5', "
        f"'quantiles:10', 'bins:25,40,65' or 'ordered:low,medium,high'"
    )
    with pytest.raises(OptionError, match=re.escape(told)):
        feature_of("f", Column([1]), said)


@pytest.mark.parametrize("said", [7, 2.5, True, {"a": 1}])
def test_what_is_neither_text_nor_list(said):
    with pytest.raises(
        OptionError, match="expected a list of its values, a Feature, or"
    ):
        feature_of("f", Column([1]), said)


def test_quantiles_of_words():
    with pytest.raises(DomainError, match="column 'f' has no quantiles: it has val"):
        feature_of("f", Column(["x", 1]), "quantiles:3")
    with pytest.raises(DomainError, match="or no values"):
        feature_of("f", Column([None]), "quantiles:3")


def test_too_many_values():
    many = range(MOST_VALUES + 1)
    with pytest.raises(DomainError) as caught:
        feature_of("f", Column(many), listed=True)
    assert str(caught.value) == (
        "column 'f' has 1,001 distinct numbers, and cannot be a range, because the "
        "model is not linear in it; put them into bins in the model, leave out the "
        "non-linear step, or choose a few of them, by domain={'f': 'quantiles:20'} "
        "(--values f=quantiles:20)"
    )
    with pytest.raises(DomainError) as caught:
        feature_of("f", Column(map(str, many)))
    assert str(caught.value) == (
        "column 'f' has 1,001 distinct values, like a name or an id; train without it, "
        "or list its values by domain= (--values)"
    )
    assert len(feature_of("f", Column(many), "observed")) == MOST_VALUES + 1
    assert len(feature_of("f", Column(many), many)) == MOST_VALUES + 1


@pytest.mark.parametrize(
    "cell", [datetime.date(2020, 1, 2), Decimal("1.5"), 1j, np.inf]
)
def test_cells_that_cannot_be_values(cell):
    with pytest.raises(DomainError, match=r"column 'f': .* cannot be a value"):
        feature_of("f", Column([cell]))
    with pytest.raises(DomainError, match=r"column 'f': .* cannot be a value"):
        feature_of("f", Column([1]), [cell])


def test_an_empty_column():
    with pytest.raises(DomainError, match="column 'f' has no values; there are no"):
        feature_of("f", Column([]))


def test_names_that_are_no_column():
    with pytest.raises(OptionError, match="no column 'b'; the columns are 'a', 'c'"):
        checked_specs({"b": [1]}, ["a", "c"])
    with pytest.raises(OptionError, match="by a dict from names to values, not a list"):
        checked_specs(["a"], ["a"])
    assert checked_specs(None, ["a"]) == {}


def test_a_domain_of_a_frame():
    frame = pd.DataFrame({"n": [1, 1, 1, 5], "w": ["x", None, "y", "x"]})
    words = Feature("w", ("x", "y", None))
    domain = Domain.from_data(frame, {"n": [1, 3, 5]})
    assert domain.features == (Feature("n", (1, 3, 5), ordered=True), words)
    numbers = Feature.real("n", 1, 5, whole=True)
    assert Domain.from_data(frame).features == (numbers, words)


def test_steps_are_the_decimals_that_they_look_like():
    """Sums of floats are not: 0.1 + 2 * 0.1 is no 0.3."""
    [feature] = Domain.from_data([{"x": 0.3}], {"x": "0..1:0.1"}).features
    assert feature.values == (0, *(float(f"0.{i}") for i in range(1, 10)), 1)
    assert [*map(type, feature.values)] == [int, *[float] * 9, int]
    large = feature_of("f", Column([1]), f"{2**60 + 1}..{2**60 + 3}")
    assert large.values == (2**60 + 1, 2**60 + 2, 2**60 + 3)


def test_words_that_are_another_in_every_row():
    names = [f"case {number}" for number in range(400)]
    rows = pd.DataFrame({"case": names, "n": range(400), "town": ["A", "B"] * 200})
    with pytest.raises(DomainError) as caught:
        Domain.from_data(rows)
    assert str(caught.value) == (
        "column 'case' has a different value in nearly every row (400 in 400), like a "
        "name or an id; train without it, or, if it is not one, declare this by "
        "domain={'case': 'observed'} (--values case=observed)"
    )
    with pytest.raises(DomainError, match="in nearly every row"):
        Domain.from_data(rows.to_dict("records"))
    assert Domain.from_data(rows, {"case": "observed"}).sizes == (400, 1, 2)
    assert Domain.from_data(rows, {"case": names}).sizes == (400, 1, 2)
    twice = pd.concat([rows, rows], ignore_index=True)
    assert Domain.from_data(twice).sizes == (400, 1, 2)
    assert Domain.from_data(rows[:99]).sizes == (99, 1, 2)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_nan_of_every_type_is_missing(kind):
    domain = Domain((Feature("f", (1, None)),))
    assert domain.encode([{"f": kind("nan")}]).tolist() == [[1]]
    assert feature_of("f", Column([kind(2), kind("nan")])).values == (2, None)


@pytest.mark.parametrize(
    ("cells", "said", "feature"),
    [
        ([3.5], "range:1,9,missing", Feature.real("f", 1, 9, missing=True)),
        ([3.5], "range:1, 9, missing", Feature.real("f", 1, 9, missing=True)),
        (
            [3, 999],
            "range:0,9,missing,special:999,special:-1",
            Feature.real("f", 0, 9, whole=True, special=[999, -1], missing=True),
        ),
        ([3, 7], "range,missing", Feature.real("f", 3, 7, whole=True, missing=True)),
        (
            [3, 7, 999],
            "range, special:999",
            Feature.real("f", 3, 7, whole=True, special=[999]),
        ),
        (["B"], "ordered:C,B,A", Feature("f", ("C", "B", "A"), ordered=True)),
        ([2], "ordered:3,1,2", Feature("f", (3, 1, 2), ordered=True)),
        (["B"], "ordered:B,A,missing", Feature("f", ("B", "A", None), ordered=True)),
        (["B", None], "ordered:B,A", Feature("f", ("B", "A", None), ordered=True)),
    ],
)
def test_missing_special_values_and_order_in_texts(cells, said, feature):
    assert feature_of("f", Column(cells), said) == feature


@pytest.mark.parametrize(
    "cell",
    [
        pd.Timestamp("2024-05-01"),
        datetime.date(2024, 5, 1),
        np.datetime64("2024-05-01", "ns"),
    ],
)
def test_dates_are_refused_with_the_conversion(cell):
    with pytest.raises(
        DomainError, match=r"column 'f': a date .* cannot be a value.*\.days, and give"
    ):
        feature_of("f", Column([cell]))


AGES = [18 + place % 73 for place in range(300)]


def hints(cells, said=None):
    """Return the warnings that a column of data gets."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        Domain.from_data(pd.DataFrame({"f": cells}), said and {"f": said})
    assert all(each.category is SpecialValueWarning for each in noted)
    return [str(each.message) for each in noted]


def test_a_code_in_a_range_is_pointed_at():
    assert hints([*AGES, *[999] * 12]) == [
        "column 'f': 999 (in 12 rows) is apart from all other numbers (18 to 90), but "
        "part of the range; if it is a code, such as for unknown, declare this by "
        "domain={'f': 'range:18,90,special:999'} (--values f=range:18,90,special:999)"
    ]


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ([*AGES, 999], "range:18,90,special:999"),
        ([*AGES, None, 999.0], "range:18,90,special:999"),
        ([*AGES, *[99] * 5], "range:18,90,special:99"),
        ([*AGES, *[-1] * 5], "range:18,90,special:-1"),
        ([*AGES, *[7777] * 5], "range:18,90,special:7777"),
        ([*AGES, *[-1] * 5, *[999] * 3], "range:18,90,special:-1,special:999"),
        ([*AGES, *[999] * 3, 9999], "range:18,90,special:999,special:9999"),
        ([1, 2, 3, 4, 5] * 9 + [9] * 5, "range:1,5,special:9"),
        ([number / 8 for number in AGES] + [-9.0] * 5, "range:2.25,11.25,special:-9"),
    ],
)
def test_the_text_that_a_hint_gives_declares_the_code(cells, text):
    [hint] = hints(cells)
    assert f"domain={{'f': '{text}'}} (--values f={text})" in hint
    assert not hints(cells, text)
    codes = [float(part.strip(",")) for part in text.split("special:")[1:]]
    domain = Domain.from_data(pd.DataFrame({"f": cells}), {"f": text})
    values = domain.feature("f").values[1:]
    assert [value for value in values if value is not None] == codes


def test_the_largest_capital_gain_of_adult_is_a_code():
    train, _ = raw("adult")
    with pytest.warns(SpecialValueWarning) as noted:
        Domain.from_data(pd.DataFrame(train.columns))
    assert [str(each.message).partition(" (")[0] for each in noted] == [
        "column 'capital-gain': 99999"
    ]


RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize(
    "cells",
    [
        np.exp(RANDOM.normal(10, 1.5, 5000)),
        np.exp(RANDOM.normal(10, 1.5, 5000)).round(-2),
        RANDOM.pareto(1.5, 5000).round(),
        RANDOM.poisson(0.5, 5000),
        [0, 1] * 50,
        [0.0, 1.0] * 50,
        [-1, 1] * 50,
        [0, 99] * 50,
        [12, 24, 60] * 50,
        [1, 10, 100, 1000] * 50,
        [2**power for power in range(14)] * 9,
        [*range(-1, 40)] * 9,
        [*range(0, 1000, 50)] * 9,
        np.arange(0, 1000, 2.5),
        [20, 31, 64, 999],
        [20, 31, 64, *[999] * 9],
        [*AGES, 7777],
        [*AGES, 99],
        ["a", "b", "999"] * 9,
        [True, False] * 20,
    ],
)
def test_ordinary_numbers_get_no_hint(cells):
    assert not hints(cells)


@pytest.mark.parametrize("said", ["range", (0, 999), "range:0,999", "observed"])
def test_declared_columns_get_no_hint(said):
    assert not hints([*AGES, *[999] * 12], said)


DAYS = pd.date_range("2020-02-02", periods=4)
PLAIN_DAYS = [day.date() for day in DAYS]
LENGTHS = DAYS - DAYS[0]


@pytest.mark.parametrize(
    ("frame", "numbers"),
    [
        (pd.DataFrame({"day": DAYS}), [32, 33, 34, 35]),
        (pd.DataFrame({"day": DAYS.tz_localize("UTC")}), [32, 33, 34, 35]),
        (pd.DataFrame({"day": DAYS.tz_localize("Asia/Tokyo")}), [31, 32, 33, 34]),
        (pd.DataFrame({"day": PLAIN_DAYS}), [32, 33, 34, 35]),
        (pd.DataFrame({"day": [DAYS[0], pd.NaT]}), [32, None]),
        (pl.DataFrame({"day": PLAIN_DAYS}), [32, 33, 34, 35]),
        (pl.DataFrame({"day": [*PLAIN_DAYS, None]}), [32, 33, 34, 35, None]),
        (pl.DataFrame({"day": list(DAYS.to_pydatetime())}), [32, 33, 34, 35]),
        (
            pl.DataFrame({"day": list(DAYS.to_pydatetime())}).with_columns(
                pl.col("day").dt.replace_time_zone("UTC")
            ),
            [32, 33, 34, 35],
        ),
        (pd.DataFrame({"day": LENGTHS}), [0, 86400, 172800, 259200]),
        (pd.DataFrame({"day": [LENGTHS[1], pd.NaT]}), [86400, None]),
        (
            pl.DataFrame({"day": list(LENGTHS.to_pytimedelta())}),
            [0, 86400, 172800, 259200],
        ),
    ],
)
def test_dates_and_durations_are_refused_with_code_that_works(frame, numbers):
    """The code was an error for time zones, date objects and Polars."""
    with pytest.raises(DomainError) as error:
        Domain.from_data(frame)
    found = re.search(r"before training, as in (.*), and give these", str(error.value))
    made = eval(found[1], {"pandas": pd, "frame": frame, "column": "day"})
    assert [None if math.isnan(number) else number for number in made] == numbers
    Domain.from_data(pd.DataFrame({"day": made}))
