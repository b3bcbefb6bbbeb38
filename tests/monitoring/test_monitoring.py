"""Monitoring: worked by hand, against naive loops, and with planted drift."""

import json
import math
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import nn2rules
from nn2rules import (
    Condition,
    Domain,
    Feature,
    Layer,
    Network,
    OptionError,
    RowsError,
    Rule,
    RuleList,
    Scorecard,
    UnsupportedModelError,
    monitor,
)
from nn2rules.monitoring import bins, counting, reading
from nn2rules.monitoring.bins import FeatureCells, Quantiles, bin_words
from nn2rules.monitoring.drift import psi
from nn2rules.scorecards import Card
from strategies import rows_of, rule_lists

JOB = Feature("job", ("clerk", "cook", "judge"))
AGE = Feature.real("age", 18, 90, whole=True, special=(999,), missing=True)
DOMAIN = Domain((JOB, AGE))
OLD_CLERKS = Rule((Condition("job", ("clerk",)), Condition("age", ((40, 90),))), "yes")
COOKS = Rule((Condition("job", ("cook",)),), "no")
LIST = RuleList(DOMAIN, (OLD_CLERKS, COOKS), "no", ("no", "yes"))
SET = RuleList(DOMAIN, (OLD_CLERKS, COOKS), "no", ("no", "yes"), "set", "support")
CARD = Scorecard(
    Domain((JOB, Feature("size", ("S", "M", "L")))),
    ("no", "yes"),
    [Card(-2.0, [1.0, 0.0, 3.0, 0.0, 1.0, 2.0])],
)


def rows(*counted):
    """Return rows: so many of each (job, age, ...)."""
    return [
        dict(zip(("job", "age", "y", "month"), cells, strict=False))
        for number, *cells in counted
        for _ in range(number)
    ]


REFERENCE = rows(
    (50, "clerk", 50, "yes"), (30, "cook", 30, "no"), (20, "judge", 70, "no")
)
"""Half of the rows are old clerks."""


def names(breakdown):
    return [cell.name for cell in breakdown.cells]


def counts(breakdown, measure="rows", *, reference=False):
    found = breakdown.reference(measure) if reference else breakdown.new(measure)
    return dict(zip(names(breakdown), found.tolist(), strict=True))


def expected_psi(before, after):
    """Return the PSI of two lists of counts, by the definition."""
    total = 0.0
    for n, m in zip(before, after, strict=True):
        if n or m:
            p, q = (n or 0.5) / sum(before), (m or 0.5) / sum(after)
            total += (q - p) * math.log(q / p)
    return total


def test_by_hand():
    new = rows(
        (30, "clerk", 50, "yes"), (50, "cook", 30, "no"), (20, "judge", 70, "yes")
    )
    found = monitor(LIST, REFERENCE, new, labels="y")
    assert counts(found.rules, reference=True) == {
        "1": 50,
        "2": 30,
        "otherwise": 20,
        "outside the domain": 0,
    }
    assert counts(found.rules) == {
        "1": 30,
        "2": 50,
        "otherwise": 20,
        "outside the domain": 0,
    }
    # (0.3 - 0.5) ln 0.6 + (0.5 - 0.3) ln (5/3) = 0.4 ln (5/3)
    assert found.rules.psi() == pytest.approx(0.4 * math.log(5 / 3), rel=1e-12)
    job = found.features[0]
    assert job.psi() == pytest.approx(0.4 * math.log(5 / 3), rel=1e-12)
    assert counts(found.classes) == {
        "no": 70,
        "yes": 30,
        "not covered": 0,
        "outside the domain": 0,
    }
    right = found.agreement("right", reference=False)
    assert (right.part, right.whole) == (80, 100)
    low, high = right.interval
    assert (round(low, 4), round(high, 4)) == (0.7112, 0.8666)  # Wilson's, by hand
    assert found.rules.rate("right", 2, reference=False).share == 0.0
    assert found.rules.rate("events", 2, reference=False).share == 1.0
    assert (found.target, found.score, found.bands) == ("yes", None, None)


def test_planted_drift_is_named_by_its_rule_and_its_value():
    new = rows(
        (12, "clerk", 50, "yes"), (68, "cook", 30, "no"), (20, "judge", 70, "no")
    )
    found = monitor(LIST, REFERENCE, new, labels="y")
    assert not found.is_stable
    about = {one.about: one for one in found.findings}
    assert set(about) == {"rules", "predicted classes", "feature job", "feature age"}
    assert about["rules"].level == "major"
    assert about["rules"].text == (
        f"rules: PSI {found.rules.psi():.2f} (major); rule 1 (job = clerk · 40 ≤ age "
        f"≤ 90 → yes): 12.0% of rows, 50.0% in the reference"
    )
    assert "job: clerk: 12.0% of rows" in about["feature job"].text


def test_the_same_rows_are_stable():
    found = monitor(LIST, REFERENCE, REFERENCE, labels="y")
    assert found.is_stable
    assert found.findings == ()
    assert [one.psi() for one in found.breakdowns] == [0.0] * len(found.breakdowns)
    assert found.text().startswith(
        "Stable: no change is above its threshold and beyond chance"
    )


def test_drift_in_one_band_of_a_scorecard():
    """Points are those of the printed card, which a reader adds up."""
    domain = CARD.domain
    before = [{"job": j, "size": s} for j in JOB.values for s in "SML"] * 20
    after = [*before, *([{"job": "judge", "size": "L"}] * 600)]
    found = monitor(CARD, before, after, bands=[CARD.points([before[4]]).totals[0, 0]])
    assert (found.score, found.rules) == ("points", None)
    edge = float(CARD.points([before[4]]).totals[0, 0])
    for data, is_reference in ((before, True), (after, False)):
        totals = CARD.points(data).totals[:, 0]
        n_low = int((totals < edge).sum())
        shown = [*counts(found.bands, reference=is_reference).values()]
        assert shown == [n_low, len(data) - n_low, 0]
    assert any(one.about == "score bands" for one in found.findings)
    assert found.features[0].name == domain.names[0]


def test_deciles_of_the_totals():
    rng = np.random.default_rng(0)
    before = [
        {"job": str(j), "size": str(s)}
        for j, s in zip(
            rng.choice(JOB.values, 500), rng.choice(["S", "M", "L"], 500), strict=True
        )
    ]
    found = monitor(CARD, before, before)
    totals = CARD.points(before).totals[:, 0]
    shown = [n for name, n in counts(found.bands).items() if name != "no score"]
    assert sum(shown) == 500
    assert all(shown), "no band is empty in the reference"
    assert len(shown) <= len(set(totals.tolist()))


def test_rows_that_are_not_covered_or_outside_have_their_own_thresholds():
    new = rows(
        (40, "clerk", 50),
        (20, "judge", 50),
        (30, "cook", 20),
        (8, "boss", 30),
        (2, "cook", 17),
    )
    found = monitor(SET, REFERENCE, new)
    assert found.uncovered(reference=False).share == 0.2
    assert found.outside_domain(reference=False).share == 0.1
    assert found.outside == {"job": (("boss", 8),), "age": (("17", 2),)}
    texts = {one.about: one.text for one in found.findings}
    assert texts["not covered"] == (
        "not covered: 20.0% of rows, 20.0% of rows in the reference; the limit is 0.1"
    )
    assert texts["outside the domain"].endswith(
        "the limit is 0.01; most often job = boss (8 rows), age = 17 (2 rows)"
    )
    psi = expected_psi([50, 30], [40, 30])
    assert found.rules.psi() == pytest.approx(psi, rel=1e-12)
    lenient = monitor(SET, REFERENCE, new, uncovered=0.2, outside=0.1)
    assert not {"not covered", "outside the domain"} & {
        one.about for one in lenient.findings
    }


def test_periods_in_order_with_one_row_and_without_a_name():
    new = [
        *({**row, "month": "10"} for row in REFERENCE),
        {"job": "judge", "age": 20, "month": "9"},
        {"job": "clerk", "age": 20, "month": None},
    ]
    found = monitor(LIST, REFERENCE, new, by="month")
    assert found.periods == ("9", "10", "missing")
    totals = [int(found.classes.new(period=place).sum()) for place in range(3)]
    assert totals == [1, 100, 1]
    assert found.rules.psi(0) > 1, "one row has a large PSI"
    assert found.is_stable, "which is no more than chance"
    assert found.to_dict()["periods"][1] == {"name": "10", "rows": 100}


def test_drift_in_one_period_only():
    shifted = rows((90, "cook", 30), (10, "judge", 70))
    months = [*(("a", row) for row in REFERENCE * 40), *(("b", row) for row in shifted)]
    new = [{**row, "month": month} for month, row in months]
    found = monitor(LIST, REFERENCE, new, by="month")
    text = next(one.text for one in found.findings if one.about == "rules")
    assert "in b; rule 1" in text
    assert "0% of rows, 50.0% in the reference" in text


def test_labels_may_be_missing():
    new = rows((5, "clerk", 50, "yes"), (3, "cook", 30, ""), (2, "cook", 30, None))
    found = monitor(LIST, REFERENCE, new, labels="y")
    assert int(found.classes.new("labelled").sum()) == 5
    without = [{"job": "clerk", "age": 50}] * 10
    assert monitor(LIST, REFERENCE, without, labels="y").has_labels
    nothing = monitor(LIST, REFERENCE, without, labels="y").agreement(
        "right", reference=False
    )
    assert (nothing.share, nothing.interval) == (None, None)
    swapped = monitor(LIST, without, REFERENCE, labels="y")
    assert swapped.agreement("right", reference=False).share == 1.0


def test_a_fall_of_the_agreement_is_named_by_rule():
    before = rows((100, "clerk", 50, "yes"), (1000, "cook", 30, "no"))
    after = rows(
        (50, "clerk", 50, "yes"), (50, "clerk", 50, "no"), (1000, "cook", 30, "no")
    )
    found = monitor(LIST, before, after, labels="y")
    (text,) = [one.text for one in found.findings]
    assert text == (
        "label agreement, rule 1 (job = clerk · 40 ≤ age ≤ 90 → yes): 50.0% of 100 "
        "rows, 100% in the reference"
    )
    few = rows((1, "clerk", 50, "no"), (11, "cook", 30, "no"))
    assert not [
        f
        for f in monitor(LIST, before, few, labels="y").findings
        if f.about == "label agreement"
    ], "one row may be chance"


def test_everything_missing_or_unknown():
    missing = [{"job": None, "age": None}] * 7
    found = monitor(LIST, REFERENCE, missing)
    assert counts(found.features[1])["missing"] == 7
    assert counts(found.rules)["outside the domain"] == 7
    assert found.rules.psi() is None
    assert found.outside == {"job": (("missing", 7),)}
    assert not found.is_stable
    assert "–" in found.text()
    assert found.html()


def test_special_values_and_bins_of_numbers():
    before = [{"job": "cook", "age": age} for age in range(20, 70)]
    after = [{"job": "cook", "age": age} for age in (999, None, 19, 25, 69, 90, 91)]
    found = monitor(LIST, before, after)
    age = found.features[1]
    first = "below 25"
    assert names(age)[:2] == [first, "25 to below 30"]
    assert names(age)[-4:] == ["65 and above", "999", "missing", "outside the domain"]
    shown = {name: n for name, n in counts(age).items() if n}
    assert shown == {
        first: 1,
        "25 to below 30": 1,
        "65 and above": 2,
        "999": 1,
        "missing": 1,
        "outside the domain": 1,
    }


def pipeline():
    """Return a model over texts, its rows and its network."""
    frame = pd.DataFrame(REFERENCE * 3)[["job", "y"]]
    model = make_pipeline(OneHotEncoder(handle_unknown="error"), LogisticRegression())
    model.fit(frame[["job"]], frame["y"])
    return model, frame


def test_the_model_agrees_or_not():
    model, frame = pipeline()
    network = nn2rules.read_network(model, data=frame[["job"]])
    rules = nn2rules.extract(model, data=frame[["job"]], form="rules")
    same = monitor(rules, frame, frame, model=network, labels="y")
    assert same.score == "score"
    assert same.agreement("same", reference=False).share == 1.0
    assert same.is_stable
    by_model = monitor(rules, frame, frame, model=model, labels="y")
    assert by_model.agreement("same", reference=False).share == 1.0
    assert names(by_model.bands) == names(same.bands)
    other = RuleList(rules.domain, (), "no", ("no", "yes"))
    found = monitor(other, frame, frame, model=network)
    (finding,) = found.findings
    assert "predicts otherwise on 150 of 300 covered rows" in finding.text


def test_scores_of_several_classes_need_a_target():
    domain = Domain((Feature("f", ("a", "b", "c")),))
    layer = Layer(np.eye(3) * 2, np.zeros(3), "softmax")
    network = Network(domain, (layer,), ("x", "y", "z"))
    rules = nn2rules.extract(network, form="rules")
    data = [{"f": value} for value in "aabbbc"]
    assert monitor(rules, data, data, model=network).bands is None
    found = monitor(rules, data, data, model=network, target="y", bands=[0.5])
    assert counts(found.bands) == {"below 0.5": 3, "0.5 and above": 3, "no score": 0}
    with pytest.raises(OptionError, match="no scores to put into bands"):
        monitor(rules, data, data, model=network, bands=[0.5])


@given(st.data())
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60, deadline=None)
def test_counts_equal_naive_ones_and_add_up(data):
    rules = data.draw(rule_lists())
    domain = rules.domain
    reference, new = (data.draw(rows_of(domain).filter(len)) for _ in range(2))
    months = data.draw(
        st.lists(st.sampled_from("abc"), min_size=len(new), max_size=len(new))
    )
    labels = data.draw(
        st.lists(
            st.sampled_from(range(len(rules.classes))),
            min_size=len(new),
            max_size=len(new),
        )
    )
    by, y = "\x00by", "\x00y"
    shown = [
        {**row, by: month, y: rules.classes[label]}
        for row, month, label in zip(domain.decode(new), months, labels, strict=True)
    ]
    found = monitor(rules, domain.decode(reference), shown, by=by, labels=y)
    fired = rules.match(new)
    classes, is_covered = rules.predictions_by(fired)
    n_rules = len(rules)
    for place, month in enumerate(found.periods):
        here = [m == month for m in months]
        expected = Counter(
            n_rules if rule < 0 else rule
            for rule, is_here in zip(fired.tolist(), here, strict=True)
            if is_here
        )
        shown_counts = found.rules.new(period=place).tolist()
        assert shown_counts == [expected[i] for i in range(n_rules + 2)]
        for one in found.breakdowns:
            assert int(one.new(period=place).sum()) == sum(here)
        for index, one in enumerate(found.features):
            by_code = np.bincount(new[np.array(here), index], minlength=len(one.cells))
            assert one.new(period=place).tolist() == by_code.tolist()
    for one in found.breakdowns:
        assert int(one.new().sum()) == len(new)
        assert int(one.reference().sum()) == len(reference)
    right = found.agreement("right", reference=False)
    expected_right = sum(
        is_in and label == predicted
        for is_in, label, predicted in zip(
            is_covered.tolist(), labels, classes.tolist(), strict=True
        )
    )
    is_labelled = [str(rules.classes[label]) != "" for label in labels]
    assert right.whole == sum(
        is_in and is_known
        for is_in, is_known in zip(is_covered.tolist(), is_labelled, strict=True)
    ) or "" in map(str, rules.classes)
    assert right.part == expected_right
    covered = found.covered(reference=False)
    assert (covered.part, covered.whole) == (int(is_covered.sum()), len(new))
    json.dumps(found.to_dict())
    assert found.html().startswith("<!DOCTYPE html>")


def plain(found):
    """Return everything but the names of the data sets."""
    values = found.to_dict()
    for side in ("reference", "new"):
        del values[side]["name"]
    return values


@pytest.mark.parametrize("description", [LIST, SET], ids=["list", "set"])
def test_every_kind_of_rows_gives_the_same_numbers(tmp_path, description):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "job": rng.choice(["clerk", "cook", "judge", "boss", None], 300),
            "age": rng.choice([18, 25, 31, 40, 62, 90, 91, 999], 300),
            "y": rng.choice(["no", "yes", None], 300),
            "month": rng.choice([8, 9, 10], 300),
        }
    )
    frame["age"] = frame["age"].where(rng.random(300) > 0.1, np.nan)
    before = pd.DataFrame(REFERENCE)
    options = {"labels": "y", "by": "month"}
    paths = {}
    for name, each in (("before", before), ("after", frame)):
        for suffix in ("csv", "parquet"):
            paths[name, suffix] = tmp_path / f"{name}.{suffix}"
        each.to_csv(paths[name, "csv"], index=False)
        each.to_parquet(paths[name, "parquet"])
    expected = plain(monitor(description, before, frame, **options))
    for suffix in ("csv", "parquet"):
        files = (paths[name, suffix] for name in ("before", "after"))
        assert plain(monitor(description, *files, **options)) == expected
    polars = pl.from_pandas(before), pl.from_pandas(frame)
    assert plain(monitor(description, *polars, **options)) == expected
    records = before.to_dict("records"), frame.to_dict("records")
    assert plain(monitor(description, *records, **options)) == expected
    frame.to_excel(tmp_path / "after.xlsx", index=False)
    sheet = plain(monitor(description, before, str(tmp_path / "after.xlsx"), **options))
    assert sheet == expected


def test_scores_of_a_network_in_files(tmp_path, monkeypatch):
    model, frame = pipeline()
    network = nn2rules.read_network(model, data=frame[["job"]])
    rules = nn2rules.extract(model, data=frame[["job"]], form="rules")
    expected = plain(monitor(rules, frame, frame, model=network, labels="y"))
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.setattr(reading, "PART", 7)
    for suffix in ("csv", "parquet"):
        path = tmp_path / f"rows.{suffix}"
        assert plain(monitor(rules, path, path, model=network, labels="y")) == expected
    assert plain(monitor(rules, frame, frame, model=network, labels="y")) == expected
    with pytest.raises(OptionError, match="for rows in files, give a Network"):
        monitor(rules, frame, tmp_path / "rows.csv", model=model)


@given(st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=80), st.data())
def test_deciles_do_not_depend_on_order_or_parts(numbers, data):
    pieces = data.draw(st.permutations(numbers))
    cut = data.draw(st.integers(0, len(pieces)))
    found = []
    for parts in ([numbers], [pieces[:cut], pieces[cut:]]):
        quantiles = Quantiles()
        for part in parts:
            quantiles.add(*np.unique(np.array(part, float), return_counts=True))
        found.append(quantiles.edges())
    assert found[0] == found[1]
    ranked = sorted(numbers)
    expected = {ranked[len(ranked) * tenth // 10] for tenth in range(1, 10)}
    assert found[0] == tuple(sorted(e for e in expected if e > ranked[0]))


def test_deciles_of_many_numbers_take_little_memory(monkeypatch):
    monkeypatch.setattr(bins, "MOST_DISTINCT", 500)
    values = np.random.default_rng(0).permutation(40_000) / 40_000
    edges = []
    for order in (values, values[::-1]):
        quantiles = Quantiles()
        for part in np.array_split(order, 9):
            quantiles.add(part, np.ones(len(part), np.int64))
        edges.append(quantiles.edges())
    assert edges[0] == edges[1]
    assert len(edges[0]) == 9
    assert np.abs(np.array(edges[0]) - np.arange(1, 10) / 10).max() < 0.1


def test_words_of_bins_say_where_they_begin():
    assert bin_words([0.5]) == ["below 0.5", "0.5 and above"]
    cells = FeatureCells(AGE, (30.0, 50.0))
    assert cells.words == [
        "below 30",
        "30 to below 50",
        "50 and above",
        "999",
        "missing",
        "outside the domain",
    ]


def test_more_values_than_are_remembered(monkeypatch):
    monkeypatch.setattr(counting, "_MOST_VALUES", 3)
    new = [{"job": f"job {number % 9}", "age": 30} for number in range(90)]
    found = monitor(LIST, REFERENCE, new)
    assert counts(found.features[0])["outside the domain"] == 90
    assert [rows for _, rows in found.outside["job"]] == [10, 10, 10]


MISTAKES = [
    ({"description": [LIST]}, "expected rules or a scorecard"),
    ({"new": []}, "new: there are no rows"),
    ({"new": [{"job": "cook"}]}, "new: the feature 'age' is missing"),
    ({"labels": "why"}, "there is no column 'why'; the columns are job, age, y"),
    ({"by": "mont"}, "new: there is no column 'mont'; .*did you mean 'month'"),
    ({"labels": "job"}, "reference, column 'job': the label 'clerk' is not a class"),
    ({"psi": -1}, "psi: -1, expected a number from 0 on"),
    ({"psi": 0.5}, "major_psi: 0.25, expected at least psi, which is 0.5"),
    ({"drop": "much"}, "drop: 'much', expected a number"),
    ({"bands": [1, 2]}, "bands: there are no scores"),
    ({"target": "maybe"}, "target: the label 'maybe' is not a class"),
    ({"new": "nowhere.csv"}, "nowhere.csv"),
    ({"new": "rows.txt"}, "rows.txt"),
]


@pytest.mark.parametrize(("change", "message"), MISTAKES)
def test_a_mistake_is_one_sentence(change, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.txt").write_text("job,age\n")
    options = {
        "description": LIST,
        "reference": REFERENCE,
        "new": rows((1, "cook", 30, "no", "a")),
        **change,
    }
    places = [options.pop(name) for name in ("description", "reference", "new")]
    with pytest.raises(nn2rules.Nn2RulesError, match=message) as error:
        monitor(*places, **options)
    assert "\n" not in str(error.value)


def test_more_mistakes():
    with pytest.raises(UnsupportedModelError, match="has no predict method"):
        monitor(LIST, REFERENCE, REFERENCE, model=object())
    small = [{"job": "cook", "size": "S"}]
    with pytest.raises(OptionError, match="expected ascending numbers"):
        monitor(CARD, small, small, bands=[2, 1])
    many = [{"job": "cook", "age": 30, "by": str(number)} for number in range(1001)]
    with pytest.raises(OptionError, match="more than 1,000 different values"):
        monitor(LIST, REFERENCE, many, by="by")
    with pytest.raises(RowsError, match="not a single value"):
        monitor(LIST, REFERENCE, [{"job": ["cook"], "age": 30}])


def test_the_page_holds_no_script_and_escapes_names():
    evil = "</title><script>alert(1)</script>"
    domain = Domain((Feature(evil, ("a", "b")),))
    rules = RuleList(
        domain, (Rule((Condition(evil, ("a",)),), "yes"),), "no", ("no", "yes")
    )
    new = [{evil: value, "m": evil} for value in "aabx"]
    page = monitor(rules, [{evil: "a"}, {evil: "b"}], new, by="m").html(evil)
    assert "<script" not in page
    assert "style=" not in page
    assert "default-src &#39;none&#39;" in page
    assert "&lt;script&gt;alert" in page


def test_the_charts_show_the_counts():
    new = rows((30, "clerk", 50, "yes", "9"), (70, "cook", 30, "no", "10"))
    page = monitor(LIST, REFERENCE, new, by="month", labels="y").html()
    assert "clerk: 30.0% of the new rows, 50.0% in the reference" in page
    assert "9: 100%" in page
    assert "highest 100%, reference 50.0%" in page


def test_data_frame():
    found = monitor(LIST, REFERENCE, REFERENCE)
    frame = found.to_frame()
    assert list(frame.columns) == ["of", "cell", "reference", "new", "psi"]
    of_rules = frame[frame["of"] == "rules"]
    assert of_rules["new"].tolist() == [50, 30, 20, 0]


def test_a_cell_that_is_empty_on_one_side_counts_as_half_a_row():
    found = psi(np.array([50, 50, 0, 0]), np.array([40, 50, 10, 0]))
    by_hand = -0.1 * math.log(0.8) + 0.095 * math.log(20)
    assert found == pytest.approx(by_hand, rel=1e-12)
    assert psi(np.array([0, 0]), np.array([1, 2])) is None
