"""Columns behind known curves are ranges: rules answer as the model on every number."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)

import nn2rules
from nn2rules import Feature, UnsupportedModelError, check, extract, read_network
from nn2rules.files import from_json, to_json
from nn2rules.space import Curved

CURVES = {
    "log": FunctionTransformer(np.log),
    "log2": FunctionTransformer(np.log2),
    "log10": FunctionTransformer(np.log10),
    "log1p": FunctionTransformer(np.log1p, inverse_func=np.expm1),
    "sqrt": FunctionTransformer(np.sqrt),
    "yeo-johnson": PowerTransformer(),
    "box-cox": PowerTransformer("box-cox", standardize=False),
    "quantiles": QuantileTransformer(n_quantiles=30),
}

NUMBERS = ("real", "repeated", "whole")


def people(seed=0, rows=200, numbers="real", missing=False):
    rng = np.random.default_rng(seed)
    pay = np.exp(rng.normal(6, 1, rows)).round(2)
    if numbers == "repeated":
        pay = pay.round(-2) + 1
    pay = pay.astype(int) + 1 if numbers == "whole" else pay
    frame = pd.DataFrame({"pay": pay, "age": rng.integers(18, 80, rows)})
    frame["good"] = np.log(pay) + frame.age / 20 + rng.normal(0, 0.5, rows) > 8.5
    if missing:
        frame["pay"] = frame.pay.astype(float).where(rng.random(rows) > 0.1)
    return frame


def fitted(curve, rows, *, filled=False, scaled=True, estimator=None):
    first = make_pipeline(SimpleImputer(), curve) if filled else curve
    steps = [make_column_transformer((first, ["pay"]), remainder="passthrough")]
    steps += [StandardScaler()] if scaled else []
    last = LogisticRegression(max_iter=2000) if estimator is None else estimator
    return make_pipeline(*steps, last).fit(rows[["pay", "age"]], rows.good)


def unseen(rules, rows, *, seed=1, size=1500, missing=False):
    """Return rows that were never seen, and some next to each end of a condition."""
    rng = np.random.default_rng(seed)
    pay = rules.domain.feature("pay")
    low, high = pay.limits
    cells = [*np.exp(rng.uniform(np.log(low), np.log(high), size)).clip(low, high)]
    cells = [*map(int, cells)] if pay.whole else cells
    for edge in (low, *pay.edges, high):
        for _ in range(3):
            cells += [edge, edge]
        cells += [
            number
            for way in (-np.inf, np.inf)
            for number in _beside(edge, way, whole=pay.whole)
            if low <= number <= high
        ]
    cells += [np.nan] * 50 if missing else []
    ages = rng.integers(rows.age.min(), rows.age.max() + 1, len(cells))
    return pd.DataFrame({"pay": cells, "age": ages})


def _beside(edge, way, *, whole, number=3):
    for _ in range(number):
        edge = edge + int(np.sign(way)) if whole else float(np.nextafter(edge, way))
        yield edge


def compare(rules, model, rows):
    """Compare rules with the model's own predictions; return the share they cover."""
    given = np.asarray(rules.predict(rows, unknown="none"), dtype=object)
    covered = np.array([label is not None for label in given])
    assert (given[covered] == model.predict(rows)[covered]).all()
    return covered.mean()


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("name", CURVES)
def test_rules_behind_a_curve_answer_on_numbers_never_seen(name, numbers):
    is_filled = numbers != "real"
    rows = people(numbers=numbers, missing=is_filled)
    model = fitted(CURVES[name], rows, filled=is_filled)
    rules = extract(model, data=rows[["pay", "age"]], form="rules")
    pay = rules.domain.feature("pay")
    assert pay.limits == (rows.pay.min(), rows.pay.max())
    assert not isinstance(pay, Curved)
    assert rules.certificate["model"]["curves"] == {"pay": name}
    assert "probed" not in rules.certificate["model"]
    new = unseen(rules, rows, missing=is_filled)
    assert compare(rules, model, new) > 0.85
    assert compare(rules, model, rows[["pay", "age"]]) == 1


@pytest.mark.parametrize("name", CURVES)
def test_a_network_behind_a_curve(name):
    rows = people(seed=3)
    last = MLPClassifier((4,), max_iter=500, random_state=0)
    model = fitted(CURVES[name], rows, estimator=last)
    rules = extract(model, data=rows[["pay", "age"]], form="rules")
    assert compare(rules, model, unseen(rules, rows)) > 0.8


def test_all_columns_behind_one_step():
    rows = people(seed=4)
    steps = FunctionTransformer(np.log1p), MinMaxScaler(), LogisticRegression()
    model = make_pipeline(*steps).fit(rows[["pay", "age"]], rows.good)
    rules = extract(model, data=rows[["pay", "age"]], form="rules")
    curves = rules.certificate["model"]["curves"]
    assert curves == {"pay": "log1p", "age": "log1p"}
    assert compare(rules, model, unseen(rules, rows)) > 0.85


def test_special_values_and_ends_that_are_stated():
    rows = people(seed=5)
    rows.loc[:20, "pay"] = -1
    first = make_pipeline(SimpleImputer(missing_values=-1), CURVES["log"])
    steps = make_column_transformer((first, ["pay"]), remainder="passthrough")
    model = make_pipeline(steps, StandardScaler(), LogisticRegression())
    model.fit(rows[["pay", "age"]], rows.good)
    domain = {"pay": Feature.real("pay", 1, 50_000, special=[-1])}
    rules = extract(model, data=rows[["pay", "age"]], domain=domain, form="rules")
    assert rules.domain.feature("pay").limits == (1, 50_000)
    new = unseen(rules, rows)
    new.loc[:100, "pay"] = -1
    assert compare(rules, model, new) > 0.8


def test_the_network_of_a_model_is_exact_on_numbers_and_can_be_saved():
    rows = people(seed=6)
    model = fitted(CURVES["quantiles"], rows)
    data = rows[["pay", "age"]]
    listed = read_network(model, data=data)
    assert listed.origin["not_linear"] == ["pay"]  # as the questions need it
    network = read_network(model, data=data, domain={"pay": "range"})
    assert network.domain.has_curves
    assert (network.predict(data) == model.predict(data)).all()
    again = from_json(to_json(network))
    assert again == network
    assert (again.predict(data) == model.predict(data)).all()
    assert (
        extract(network, data=data, form="rules").domain
        == extract(model, data=data, form="rules").domain
    )
    with pytest.raises(nn2rules.UnknownValueError) as caught:
        network.predict([{"pay": 1e9, "age": 30}])
    low, high = rows.pay.min(), rows.pay.max()
    assert str(caught.value) == (
        f"row 0: feature 'pay' is 1000000000.0, outside of {low} to {high}"
    )


def own_logarithm(pay):
    return np.log(pay)


KEPT_AS_LISTS = {
    "unknown function": FunctionTransformer(own_logarithm),
    "falling": FunctionTransformer(np.negative),
    "normal quantiles": QuantileTransformer(
        n_quantiles=20, output_distribution="normal"
    ),
    "two curves": make_union(CURVES["log"], CURVES["sqrt"]),
    "curve and line": make_union(CURVES["log"], StandardScaler()),
    "two in a row": make_pipeline(CURVES["log1p"], CURVES["sqrt"]),
    "clipped": make_pipeline(CURVES["log"], MinMaxScaler(clip=True)),
    "scaled before": make_pipeline(MinMaxScaler((1, 2)), CURVES["log"]),
    "filled behind": make_pipeline(CURVES["log"], SimpleImputer(missing_values=0)),
}


@pytest.mark.parametrize("name", KEPT_AS_LISTS)
def test_what_is_no_known_curve_is_never_taken_for_one(name):
    rows = people(seed=7, rows=80)
    model = fitted(KEPT_AS_LISTS[name], rows)
    rules = extract(model, data=rows[["pay", "age"]], time=120, form="rules")
    assert "curves" not in rules.certificate["model"]
    assert compare(rules, model, rows[["pay", "age"]]) == 1


def test_numbers_of_32_bits_are_no_curve():
    rows = people(seed=8, rows=80)
    rows["pay"] = rows.pay.astype(np.float32)
    model = fitted(CURVES["log"], rows)
    rules = extract(model, data=rows[["pay", "age"]], time=120, form="rules")
    assert "curves" not in rules.certificate["model"]


def test_a_logarithm_of_numbers_below_0_is_refused():
    rows = people(seed=9)
    model = fitted(CURVES["log"], rows)
    with pytest.raises(UnsupportedModelError, match="fails on the row"):
        extract(
            model, data=rows[["pay", "age"]], domain={"pay": (0, 100)}, form="rules"
        )


QUESTIONS = {
    "explain": nn2rules.explain,
    "verify": lambda model, rows: nn2rules.verify(model, "True if age > 1", rows),
    "audit": lambda model, rows: nn2rules.audit(model, rows, protected=["age"]),
    "compare": lambda model, rows: nn2rules.compare(model, model, data=rows),
    "influences": nn2rules.influences,
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_that_need_straight_lines_say_so(name):
    rows = people(seed=10, rows=60)
    model, data = fitted(CURVES["log"], rows), rows[["pay", "age"]]
    network = read_network(model, data=data, domain={"pay": "range"})
    with pytest.raises(UnsupportedModelError) as caught:
        QUESTIONS[name](network, data)
    assert str(caught.value) == (
        f"{name} takes ranges that a model reads along a straight line, and it reads "
        f"'pay' along a curve (log); read the model with the numbers that occur, by "
        f"domain={{'pay': 'observed'}} (--values pay=observed)"
    )


def test_proofs_keep_lists_and_are_refused_for_curves(tmp_path):
    rows = people(seed=11, rows=20)
    model, data = fitted(CURVES["log"], rows), rows[["pay", "age"]]
    rules = extract(model, data=data, proofs=tmp_path / "rules.proof", time=5)
    assert "curves" not in rules.certificate["model"]
    network = read_network(model, data=data, domain={"pay": "range"})
    with pytest.raises(UnsupportedModelError, match="a file of proofs takes ranges"):
        extract(network, data=data, proofs=tmp_path / "rules.proof")
    with pytest.raises(UnsupportedModelError, match="a file of proofs takes ranges"):
        nn2rules.write_proofs(network, rules, tmp_path / "rules.proof")


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("name", ["log", "yeo-johnson", "quantiles"])
def test_the_checker_proves_rules_by_its_own_code(name, numbers):
    rows = people(seed=12, numbers=numbers, missing=True)
    model, data = fitted(CURVES[name], rows, filled=True), rows[["pay", "age"]]
    rules = extract(model, data=data, form="rules")
    network = read_network(model, data=data, domain=rules.domain)
    found = check(network, rules, rows=data, samples=500)
    assert found.ok
    assert not found.is_undecided


@pytest.mark.parametrize("numbers", ["real", "whole"])
def test_the_checker_refutes_a_rule_that_ends_too_late(numbers):
    rows = people(seed=13, numbers=numbers)
    model, data = fitted(CURVES["log"], rows), rows[["pay", "age"]]
    rules = extract(model, data=data, form="set", target=True)
    network = read_network(model, data=data, domain=rules.domain)
    curve, wrong = network.domain.feature("pay").curve, []
    for rule in rules.rules:
        spans = [one.values[0] for one in rule.conditions if one.feature == "pay"]
        if spans and spans[0][0] > 20:
            low = curve.first_from(curve(spans[0][0] // 2))
            pay = nn2rules.Condition("pay", ((low, spans[0][1]),))
            rest = [one for one in rule.conditions if one.feature != "pay"]
            wrong.append(nn2rules.Rule((pay, *rest), rule.then))
    changed = nn2rules.RuleList(
        rules.domain.uncut, wrong, False, rules.classes, "set", "support"
    )
    found = check(network, changed, samples=500)
    assert not found.ok
    assert found.different
    for example in found.counterexamples:
        [given] = changed.predict([example.row])
        [own] = model.predict(pd.DataFrame([example.row])[["pay", "age"]])
        assert given != own


def test_an_end_within_numbers_that_the_network_reads_as_one_is_refused():
    rows = people(seed=14)
    model, data = fitted(CURVES["log"], rows), rows[["pay", "age"]]
    network = read_network(model, data=data, domain={"pay": (1, 50_000)})
    number = next(
        x
        for x in np.nextafter(4000.0, 5000.0) + np.arange(100) * np.spacing(4000.0)
        if network.domain.feature("pay").curve(x)
        == network.domain.feature("pay").curve(np.nextafter(x, 0))
    )
    rule = nn2rules.Rule((nn2rules.Condition("pay", ((float(number), 50_000),)),), True)
    domain = network.domain.uncurved
    rules = nn2rules.RuleList(domain, (rule,), False, (False, True), "set", "support")
    with pytest.raises(
        nn2rules.DomainError, match="that the network reads as the same one"
    ):
        check(network, rules)
