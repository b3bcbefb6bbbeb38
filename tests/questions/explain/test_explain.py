"""What `explain` says, of options one by one, and of input that makes no sense."""

import json
from time import monotonic

import numpy as np
import pandas as pd
import pytest

import nn2rules
import ranged
from nn2rules import (
    Budget,
    Domain,
    Feature,
    Layer,
    Network,
    OptionError,
    RowsError,
    UnknownValueError,
    explain,
)
from nn2rules.questions.explain import Explanation, Explanations

TOMATO = nn2rules.load(nn2rules.datasets.network_file("tomato"))
RED = {"color": "red", "size": "big"}


def linear(*features, weights, bias=0.0, **options):
    """Return a network that adds up one weight for each value."""
    last = Layer(np.array(weights, dtype=float)[:, np.newaxis], [bias], "sigmoid")
    return Network(Domain(features), (last,), ("no", "yes"), **options)


INCOME = linear(
    Feature.real("income", 0, 90000),
    Feature("job", ("none", "some", "good")),
    weights=[1, -10000, 0, 4000],
    bias=-32000,
)
"""yes iff income exceeds 42,000, 32,000 or 28,000, by job."""


# The result


def test_one_row_and_several():
    assert isinstance(explain(TOMATO, RED), Explanation)
    several = explain(TOMATO, [RED, {"color": "yellow", "size": "big"}])
    assert isinstance(several, Explanations)
    assert [one.prediction for one in several] == ["ripe", "unripe"]
    assert isinstance(several[:1], Explanations)
    assert several[0] == explain(TOMATO, RED) == explain(TOMATO, pd.Series(RED))
    assert len(explain(TOMATO, pd.DataFrame([RED, RED]))) == 2
    assert list(explain(TOMATO, [])) == []


def test_json_holds_all_of_it():
    found = explain(TOMATO, RED, smallest=True)
    assert json.loads(found.to_json()) == {
        "row": RED,
        "prediction": "ripe",
        "probability": pytest.approx(0.7311, abs=1e-4),
        "margin": 1.0,
        "fragile": False,
        "radius": 0,
        "reasons": [{"color": ["red"], "size": ["medium", "big"]}],
        "counterfactuals": [{"color": "yellow"}, {"size": "small"}],
        "outcomes": ["unripe", "unripe"],
        "cost": 1,
        "points": [
            {
                "feature": name,
                "value": RED[name],
                "points": 100,
                "instead": other,
                "code": None,
            }
            for name, other in (("color", "yellow"), ("size", "small"))
        ],
        "points_against": "best",
        "proved": {
            "minimal": True,
            "smallest": True,
            "every_reason": False,
            "widest": True,
            "fewest": True,
            "every_counterfactual": True,
            "nearest": True,
        },
        "undecided": [],
    }
    assert json.loads(explain(TOMATO, [RED]).to_json())[0]["prediction"] == "ripe"


def test_text_for_a_letter():
    assert str(explain(TOMATO, RED)) == (
        "Prediction: ripe (probability 0.731, margin 1).\n"
        "These conditions alone guarantee it:\n"
        "  color = red · size ≠ small\n"
        "2 counterfactuals (1 change each):\n"
        "  color = red → color = yellow   (unripe)\n"
        "  size = big → size = small   (unripe)\n"
        "No smaller change flips the prediction.\n"
        "Changing a single feature can flip the prediction.\n"
        "Points that each feature costs towards another class (scorecard):\n"
        "  color = red: 100 (best: color = yellow)\n"
        "  size = big: 100 (best: size = small)"
    )
    several = explain(TOMATO, [RED, RED])
    assert str(several).startswith("Row 0\nPrediction: ripe")
    assert "\n\nRow 1\nPrediction" in several.text()
    assert "… and 1 more" in explain(TOMATO, RED).text(1)


def test_html_is_escaped():
    network = linear(Feature("<b>", ("x<y", "z")), weights=[1, -1])
    shown = explain(network, [{"<b>": "z"}])._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown
    assert "x&lt;y" in shown
    assert "Row" not in shown
    assert "Row 1" in explain(network, [{"<b>": "z"}, {"<b>": "z"}])._repr_html_()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frame_has_a_line_for_each_row(backend):
    rules = nn2rules.extract(TOMATO)
    several = explain(TOMATO, [RED, {**RED, "color": "yellow"}], rules=rules)
    frame = several.to_frame(backend)
    rows = frame.to_dict("records") if backend == "pandas" else None
    rows = rows or getattr(frame, "to_dicts", getattr(frame, "to_pylist", None))()
    assert rows[0]["color"] == "red"
    assert rows[0]["reason"] == "color = red · size ≠ small"
    assert rows[0]["counterfactual"] == "color = red → color = yellow"
    assert [row["rules"] for row in rows] == ["1", ""]
    with pytest.raises(OptionError, match="backend: 'excel', expected"):
        several.to_frame("excel")


def test_progress_is_told():
    told = []
    explain(TOMATO, [RED] * 3, progress=lambda *said: told.append(said))
    assert told[-1] == ("explaining", 1.0)


# Reasons


def test_reasons_are_widened_to_ranges_and_sets():
    found = explain(INCOME, {"income": 31417, "job": "none"})
    assert found.reasons == [{"income": (0, 42000), "job": "none"}]
    assert explain(INCOME, {"income": 31417, "job": "none"}, widen=False).reasons == [
        {"income": 31417, "job": "none"}
    ]
    assert explain(INCOME, {"income": 20000.5, "job": "some"}).reasons == [
        {"income": (0, 28000)}
    ]


def test_ends_of_real_ranges_are_multiples_of_a_step():
    [reason] = explain(
        INCOME, {"income": 20001, "job": "good"}, steps={"income": 3000}
    ).reasons
    assert reason == {"income": (0, 27000)}
    [reason] = explain(
        INCOME, {"income": 27500, "job": "good"}, steps={"income": 3000}
    ).reasons
    assert reason == {"income": (0, 27500)}


def test_several_reasons_smallest_first():
    network = linear(
        *(Feature(name, (0, 1)) for name in "abc"),
        weights=[0, 3, 0, 2, 0, 2],
        bias=-2.5,
    )
    row = {"a": 1, "b": 1, "c": 1}
    found = explain(network, row, reasons=5, smallest=True)
    assert [set(reason) for reason in found.reasons] == [{"a"}, {"b", "c"}]
    assert found.proved.every_reason
    assert found.proved.smallest
    assert "There is no other reason." in str(found)
    assert "No reason has fewer than 1 condition." in str(found)


def test_what_never_changes_has_an_empty_reason():
    network = linear(Feature("a", (0, 1)), weights=[1, 2])
    found = explain(network, {"a": 0}, smallest=True)
    assert (found.reasons, found.counterfactuals, found.radius) == ([{}], [], 1)
    assert found.proved.fewest
    text = str(found)
    assert "Every input gets this prediction." in text
    assert "No change flips the prediction (proved)." in text
    [reason] = explain(network, [{"a": 0}]).to_frame()["reason"]
    assert reason == "(no condition: every input has this class)"


def test_a_row_is_explained_alike_whatever_rows_stand_before_it():
    network = nn2rules.load(nn2rules.datasets.network_file("adult"))
    sizes = network.domain.sizes
    codes = np.random.default_rng(0).integers(0, sizes, size=(12, len(sizes)))
    rows = network.domain.decode(codes)
    options = {"smallest": True, "engine": "search", "counterfactuals": False}
    several = explain(network, rows, **options)
    assert [explain(network, row, **options) for row in rows] == list(several)


# Changes


def test_the_nearest_number_turns():
    found = explain(INCOME, {"income": 31417, "job": "some"})
    assert found.prediction == "no"
    assert found.counterfactuals == [{"income": 32010}, {"job": "good"}]
    [exact] = explain(
        INCOME, {"income": 31417, "job": "some"}, immutable=["job"], steps={"income": 1}
    ).counterfactuals
    assert exact == {"income": 32001}
    assert list(
        INCOME.predict([{"income": i, "job": "some"} for i in (32000, 32001)])
    ) == [
        "no",
        "yes",
    ]


def test_numbers_of_two_ranges_move_together():
    network = linear(
        Feature.real("a", 0, 10, whole=True),
        Feature.real("b", 0, 10, whole=True),
        weights=[1, 1],
        bias=-11.5,
    )
    found = explain(network, {"a": 1, "b": 1})
    assert found.counterfactuals == [{"a": 6, "b": 6}]
    assert found.radius == 1
    text = "Changing one feature never flips the prediction; changing 2 can."
    assert text in str(found)


def test_costs_count_steps_that_are_begun():
    row = {"income": 31417, "job": "some"}
    options = {"steps": {"income": 1000}}
    costs = {"income": (0, 1), "job": 1.5}
    found = explain(INCOME, row, costs=costs, **options)
    assert (found.counterfactuals, found.cost) == ([{"income": 32417}], 1)
    found = explain(INCOME, row, costs={"income": (1, 1), "job": 1.5}, **options)
    assert (found.counterfactuals, found.cost) == ([{"job": "good"}], 1.5)
    assert "Counterfactual (cost 1.5):" in str(found)
    found = explain(INCOME, row, costs={"income": (0.5, 1), "job": 1.5}, **options)
    assert found.counterfactuals == [{"income": 32417}, {"job": "good"}]


def test_equal_costs_are_equal_whatever_is_rounded():
    network = linear(
        *(Feature(name, (0, 1)) for name in "abc"), weights=[0, 2, 0, 2, 0, 4], bias=-3
    )
    costs = {"a": 0.1, "b": 0.2, "c": 0.3}
    for engine in ("table", "search"):
        found = explain(network, dict.fromkeys("abc", 0), costs=costs, engine=engine)
        assert found.counterfactuals == [{"a": 1, "b": 1}, {"c": 1}]
        assert found.cost == 0.3


@pytest.mark.parametrize("engine", ["table", "search"])
def test_so_many_changes_are_listed(engine):
    network = linear(
        Feature("a", tuple(range(101))),
        Feature("b", tuple(range(102))),
        weights=[0, *[2] * 100, 0, *[2] * 101],
        bias=-3,
    )
    found = explain(network, {"a": 0, "b": 0}, engine=engine)
    assert (len(found.counterfactuals), found.cost) == (10_000, 2)
    assert found.proved.fewest
    assert not found.proved.every_counterfactual
    assert found.undecided == ["all counterfactuals of this size; 10,000 are listed"]
    assert "At least 10,000 counterfactuals (2 changes each):" in str(found)


def test_what_may_not_change():
    row = {"income": 31417, "job": "some"}
    assert explain(INCOME, row, immutable=["income"]).counterfactuals == [
        {"job": "good"}
    ]
    assert explain(INCOME, row, decrease="income").counterfactuals == [{"job": "good"}]
    nothing = explain(INCOME, row, decrease="income", forbidden={"job": "good"})
    assert (nothing.counterfactuals, nothing.proved.fewest, nothing.radius) == (
        [],
        True,
        0,
    )
    assert "No allowed change flips the prediction (proved)." in str(nothing)
    found = explain(INCOME, row, forbidden={"income": (32000, 50000), "job": "good"})
    assert found.counterfactuals == [{"income": 50010}]
    found = explain(INCOME, row, forbidden={"income": [(0, 60000), (70000, 90000)]})
    assert found.counterfactuals == [{"income": 60010}, {"job": "good"}]


def test_impossible_inputs_count_for_nothing():
    row = {"income": 31417, "job": "some"}
    impossible = [{"income": [(0, 50000)], "job": ["good"]}]
    found = explain(INCOME, row, impossible=impossible)
    assert found.counterfactuals == [{"income": 32010}]
    assert found.reasons == [{"income": (0, 32000)}]
    with pytest.raises(RowsError, match="row 0: it is among the impossible inputs"):
        explain(INCOME, {"income": 5, "job": "good"}, impossible=impossible)


def test_ties_and_fragile_rows():
    network = linear(Feature.real("a", 0, 10), weights=[1.0], bias=-3.0)
    tied = explain(network, {"a": 3}, steps={"a": 0.5})
    assert (tied.prediction, tied.margin, tied.is_fragile) == ("no", 0.0, False)
    assert tied.reasons == [{"a": (0, 3)}]
    assert tied.counterfactuals == [{"a": 3.5}]
    rounding = linear(Feature("a", (0, 1)), weights=[1e-9, 1], model_error=1e-6)
    found = explain(rounding, {"a": 0})
    assert found.is_fragile
    assert (
        "The deployed model may predict another class here, because it rounds."
        in str(found)
    )


def test_real_ranges_are_true_wherever_they_are_tried():
    rng = np.random.default_rng(3)
    domain = ranged.mixed_domain()
    for _ in range(15):
        network = ranged.random_network(rng, domain, classes=("a", "b", "c"))
        [row] = ranged.random_rows(rng, domain, 1)
        found = explain(network, row, reasons=2)
        assert found.undecided == []
        for reason in found.reasons:
            tried = ranged.random_rows(rng, domain, 400)
            for one in tried:
                for name, allowed in reason.items():
                    values = allowed if isinstance(allowed, list) else [allowed]
                    value = values[int(rng.integers(len(values)))]
                    if isinstance(value, tuple):
                        part = rng.choice([0.0, 1.0, rng.random()])
                        value = value[0] + part * (value[1] - value[0])
                        value = int(value) if name == "age" else float(value)
                    one[name] = value
            assert set(network.predict(tried)) == {found.prediction}
        for change, outcome in zip(found.counterfactuals, found.outcomes, strict=True):
            assert (
                network.predict([{**row, **change}])[0] == outcome != found.prediction
            )
        for _ in range(found.radius):
            for one in ranged.random_rows(rng, domain, 300):
                some = rng.choice(list(row), size=found.radius, replace=False)
                moved = {**row, **{name: one[name] for name in some}}
                assert network.predict([moved])[0] == found.prediction


# Reason codes and rules


def test_reason_codes_stand_in_a_stated_order():
    network = linear(
        Feature("age", (20, 30, 40), ordered=True),
        Feature("debt", (0, 1, 2), ordered=True),
        Feature("job", ("a", "b")),
        weights=[0, 1, 2, 0, -1.25, -2.5, 0, 1.5],
        bias=-0.9,
    )
    row = {"age": 20, "debt": 2, "job": "a"}
    codes = {
        ("age", "low"): "too young",
        ("age", "high"): "too old",
        ("debt", "high"): "too much debt",
        "job": "the job",
    }
    assert explain(network, row).reasons == [{"age": [20, 30], "debt": 2}]
    assert explain(network, row, reason_codes=codes).reason_codes == [
        "too much debt",
        "too young",
    ]
    assert explain(network, row, reason_codes=codes, adverse="yes").reason_codes == []
    text = str(explain(network, row, reason_codes=codes, adverse="no"))
    assert "Reason codes\n  1. too much debt\n  2. too young" in text
    assert explain(network, row, reason_codes={("debt", "any"): "x"}).reason_codes == [
        "x"
    ]
    same = dict.fromkeys(codes, "see our terms")
    assert explain(network, row, reason_codes=same).reason_codes == ["see our terms"]


def test_at_most_four_codes():
    names = "abcdef"
    features = [Feature(name, (0, 1), ordered=True) for name in names]
    network = linear(*features, weights=[0, 1] * 6, bias=-0.5)
    codes = {(name, "low"): name for name in names}
    found = explain(network, dict.fromkeys(names, 0), reason_codes=codes)
    assert len(found.reasons[0]) == 6
    assert found.reason_codes == ["a", "b", "c", "d"]


def test_rules_that_hold():
    rules = nn2rules.extract(TOMATO, form="set")
    found = explain(TOMATO, {"color": "yellow", "size": "small"}, rules=rules)
    held = [rule for rule in found.rules if rule.determines]
    assert len(found.rules) == 2
    assert [rule.then for rule in held] == [found.prediction] == ["unripe"]
    assert "Rules that cover this row\n" in str(found)
    assert json.loads(found.to_json())["rules"][0]["determines"]
    few = [{"income": 5, "job": "none"}]
    numbers = nn2rules.extract(INCOME, few, form="rules")
    found = explain(INCOME, {"income": 50, "job": "none"}, rules=numbers)
    assert [rule.then for rule in found.rules] == ["no"]


# Budgets


@pytest.mark.parametrize("engine", ["table", "search"])
def test_what_time_leaves_open_is_said(engine):
    explain(TOMATO, RED, engine=engine)
    nothing = Budget(seconds=1e-9)
    found = explain(TOMATO, RED, smallest=True, engine=engine, budget=nothing)
    assert found.prediction == "ripe"
    assert found.reasons == [RED]
    assert found.counterfactuals == []
    assert (found.radius, found.cost) == (None, None)
    proved = found.proved
    assert not any((proved.minimal, proved.smallest, proved.fewest, proved.widest))
    assert len(found.undecided) == 6
    assert found.points is None
    assert "Undecided\n" in str(found)
    assert "No counterfactual was found." in str(found)


def test_no_claim_is_wrong_however_small_the_budget():
    rng = np.random.default_rng(5)
    domain = ranged.mixed_domain()
    for _ in range(12):
        network = ranged.random_network(rng, domain)
        [row] = ranged.random_rows(rng, domain, 1)
        whole = explain(network, row, smallest=True)
        for boxes in (0, 1, 3, 10, 30, 100, 300):
            found = explain(network, row, smallest=True, budget=Budget(boxes=boxes))
            assert found.prediction == whole.prediction
            if found.proved.smallest:
                assert len(found.reasons[0]) == len(whole.reasons[0])
            if found.proved.fewest:
                assert found.cost == whole.cost
                assert bool(found.counterfactuals) == bool(whole.counterfactuals)
            if found.proved.every_counterfactual and found.proved.fewest:
                assert found.counterfactuals == whole.counterfactuals
            assert found.radius in (None, whole.radius)
            for change in found.counterfactuals:
                assert network.predict([{**row, **change}])[0] != found.prediction
            is_all = found.proved.minimal and found.proved.smallest
            is_all = is_all and found.proved.widest and found.proved.fewest
            is_all = is_all and found.proved.every_counterfactual
            assert found.undecided or is_all


def test_time_is_shared_by_rows_and_parts():
    rng = np.random.default_rng(0)
    features = [Feature(f"f{i}", tuple(range(5))) for i in range(20)]
    hidden = Layer(rng.normal(size=(100, 64)) / 4, rng.normal(size=64), "relu")
    last = Layer(rng.normal(size=(64, 1)), [0.0], "sigmoid")
    network = Network(Domain(tuple(features)), (hidden, last), ("no", "yes"))
    codes = rng.integers(0, 5, size=(4, 20))
    began = monotonic()
    found = explain(network, network.domain.decode(codes), smallest=True, time=1)
    assert monotonic() - began < 15  # other work on the machine, and compiling
    assert all(one.undecided for one in found)
    assert any(one.counterfactuals for one in found)
    assert all(len(one.reasons[0]) <= 20 for one in found)


def test_parts_can_be_left_out():
    found = explain(TOMATO, RED, counterfactuals=False)
    assert (found.counterfactuals, found.radius, found.undecided) == ([], None, [])
    assert "change" not in str(found)


# Input that makes no sense


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"immutable": ["hue"]}, "immutable: there is no feature 'hue'; there are"),
        ({"immutable": 3}, "immutable: 3, expected names of features"),
        ({"increase": ["color"]}, "increase: the values of feature 'color' have no or"),
        (
            {"increase": "age", "decrease": ["age"]},
            "feature 'age' is in both increase and decrease; keep it in one",
        ),
        (
            {"immutable": "age", "increase": "age"},
            "feature 'age' is in both immutable and increase; keep it in one",
        ),
        ({"forbidden": {"color": "blue"}}, "forbidden: feature 'color' has no value"),
        ({"forbidden": {"hue": "blue"}}, "forbidden: there is no feature 'hue'"),
        ({"forbidden": ["color"]}, "color'], expected a dict from features to values"),
        ({"forbidden": {"age": (50, 40)}}, r"forbidden: .*\(50, 40\) is reversed"),
        ({"forbidden": {"age": 200}}, "forbidden: feature 'age' is 200, outside of"),
        ({"forbidden": {"color": []}}, "forbidden: no value is listed for feature"),
        ({"impossible": {"color": "red"}}, "impossible: a list of dicts or texts, not"),
        ({"impossible": [{}]}, "impossible: each entry is a dict"),
        (
            {"impossible": [{"age": (0, 5)}]},
            r"impossible: feature 'age' goes from 18 to 99, and \(0, 5\) has none",
        ),
        ({"costs": {"hue": 1}}, "costs: there is no feature 'hue'"),
        ({"costs": {"color": 0}}, "costs: feature 'color' has 0, expected a number ab"),
        ({"costs": {"color": (1, 1)}}, "costs: the values of feature 'color' have no"),
        ({"costs": {"age": -1}}, "costs: feature 'age' has -1, expected"),
        ({"costs": [1]}, "expected a dict from features to costs"),
        ({"costs": {"age": 1e300}}, "costs: those of feature 'age' are too large"),
        (
            {"costs": {"income": (1, 1)}, "steps": {"income": 0.001}},
            "costs: feature 'income' has 89,990,000 steps of 0.001; give larger ones",
        ),
        ({"steps": {"color": 1}}, "steps: feature 'color' has listed values"),
        ({"steps": {"age": 0.5}}, "steps: feature 'age' has 0.5, expected a whole num"),
        ({"steps": {"income": 0}}, "steps: feature 'income' has 0, expected a number"),
        ({"steps": {"hue": 1}}, "steps: there is no feature 'hue'"),
        ({"steps": 3}, "steps: 3, expected a dict from features to n"),
        ({"reason_codes": {}}, "reason_codes: {}, expected a dict from"),
        ({"reason_codes": {("hue", "low"): "x"}}, "codes: there is no feature 'hue'"),
        (
            {"reason_codes": {("age", "up"): "x"}},
            "reason_codes: feature 'age' has the direction 'up'",
        ),
        ({"reason_codes": {("color", "low"): "x"}}, "the values of feature 'color'"),
        ({"reason_codes": {("age", "low"): 3}}, "feature 'age' has 3, expected a text"),
        ({"reason_codes": {("age",): "x"}}, "expected a feature and a direction"),
        (
            {"adverse": "maybe"},
            "adverse: 'maybe' is not a class; the classes are 'no', 'yes'",
        ),
        ({"rules": [1]}, "rules: a list, expected a RuleList"),
        (
            {"rules": nn2rules.extract(TOMATO)},
            "rules: they were made from another model",
        ),
        ({"engine": "magic"}, "engine: 'magic', expected"),
        ({"engine": "table"}, "a table lists every value"),
        ({"reasons": 0}, "reasons: 0, expected"),
        ({"time": -1}, "time: -1, expected seconds"),
    ],
)
def test_options_that_make_no_sense(options, message):
    network = linear(
        Feature("color", ("red", "green")),
        Feature.real("age", 18, 99, whole=True),
        Feature.real("income", 0, 90000),
        weights=[1, -1, 0.1, 0.001],
        bias=-20,
    )
    row = {"color": "red", "age": 30, "income": 10}
    with pytest.raises(nn2rules.Nn2RulesError, match=message) as caught:
        explain(network, row, **options)
    assert "\n" not in str(caught.value)


def test_a_number_for_a_missing_one_is_said_to_be_one_of_many():
    network = linear(
        Feature.real("income", 0, 90, missing=True), weights=[1, 0], bias=-20
    )
    text = "No number is closest to a missing value"
    assert text in str(explain(network, {"income": None}))
    assert text not in str(explain(network, {"income": 10}))


def test_a_text_that_is_no_condition_is_pointed_at():
    network = linear(Feature("color", ("red", "green")), weights=[1, -1], bias=0)
    with pytest.raises(nn2rules.ParseError, match="there is no feature red; there are"):
        explain(network, {"color": "red"}, impossible=["red"])


def test_rows_that_make_no_sense():
    with pytest.raises(RowsError, match="row 0: the feature 'size' is missing"):
        explain(TOMATO, {"color": "red"})
    with pytest.raises(UnknownValueError, match="row 1: feature 'size' has no value"):
        explain(TOMATO, [RED, {**RED, "size": "huge"}])
    with pytest.raises(UnknownValueError, match="outside of 0 to 90000"):
        explain(INCOME, {"income": -5, "job": "none"})


def test_a_model_with_its_data():
    from sklearn.compose import make_column_transformer
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(18, 80, 200), "job": rng.choice(["a", "b"], 200)}
    )
    labels = np.where(frame.age + 20 * (frame.job == "b") > 55, "yes", "no")
    columns = make_column_transformer(
        (StandardScaler(), ["age"]), (OneHotEncoder(), ["job"])
    )
    model = make_pipeline(columns, MLPClassifier((4,), solver="lbfgs", random_state=0))
    model.fit(frame, labels)
    row = {"age": 30, "job": "a"}
    found = explain(model, row, data=frame)
    assert found.prediction == model.predict(pd.DataFrame([row]))[0] == "no"
    for change, outcome in zip(found.counterfactuals, found.outcomes, strict=True):
        assert model.predict(pd.DataFrame([{**row, **change}]))[0] == outcome == "yes"
    [(low, high)] = [reason["age"] for reason in found.reasons]
    ages = pd.DataFrame({"age": range(low, high + 1), "job": "a"})
    assert set(model.predict(ages)) == {"no"}


def test_numbers_go_up_by_size_however_they_are_listed():
    """As in claims that an answer grows along a feature."""
    network = nn2rules.Network(
        nn2rules.Domain((nn2rules.Feature("f", (3, 1, 2), ordered=True),)),
        (nn2rules.Layer([[1], [2], [3]], [-2.5], "sigmoid"),),
        ("no", "yes"),
    )
    up = nn2rules.explain(network, {"f": 3}, increase=["f"])
    down = nn2rules.explain(network, {"f": 3}, decrease=["f"])
    assert up.counterfactuals == []
    assert down.counterfactuals == [{"f": 2}]


@pytest.mark.parametrize("kind", [list, pd.DataFrame])
def test_rows_that_cannot_be_explained_are_skipped_if_asked(kind):
    network = nn2rules.Network(
        nn2rules.Domain(
            (
                nn2rules.Feature.real("age", 18, 99, whole=True),
                nn2rules.Feature("f", ("a", "b")),
            )
        ),
        (nn2rules.Layer([[1], [0], [2]], [-40], "sigmoid"),),
        ("no", "yes"),
    )
    cells = [(30, "a"), (130, "a"), (50, "b"), (60, "zz"), ("old", "b"), (70, "b")]
    rows = [dict(zip(("age", "f"), row, strict=True)) for row in cells]
    given = {"impossible": [{"age": [(50, 50)]}]}
    found = nn2rules.explain(network, kind(rows), skip_invalid=True, **given)
    assert found.numbers == (0, 5)
    assert [one.row for one in found] == [rows[0], rows[5]]
    assert list(found.skipped) == [1, 2, 3, 4]
    assert found.skipped[2] == "it is among the impossible inputs"
    assert "'f' has no value 'zz'" in found.skipped[3]
    assert "\nRow 5\n" in found.text()
    assert "Row 5" in found._repr_html_()
    assert ["error" in entry for entry in json.loads(found.to_json())] == [
        *(False, True, True, True, True, False)
    ]
    with pytest.raises(nn2rules.UnknownValueError, match="row 1: "):
        nn2rules.explain(network, kind(rows), **given)
    with pytest.raises(nn2rules.RowsError, match="row 0: it is among"):
        nn2rules.explain(network, kind(rows[2:3] * 3), impossible=given["impossible"])
    with pytest.raises(nn2rules.UnknownValueError):
        nn2rules.explain(network, rows[1], skip_invalid=True)
