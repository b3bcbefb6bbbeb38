"""Known rules are kept, and rules are added for rows that none of them covers."""

import json
import warnings
from importlib import import_module

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import nn2rules
from nn2rules import (
    BudgetExceededError,
    Domain,
    Feature,
    Network,
    OptionError,
    RowsError,
    RuleList,
    cli,
    datasets,
    extract,
)
from nn2rules.extraction.from_table.by_table import rules_by_table
from nn2rules.rules import certificate_of
from ranged import mixed_domain, random_network, random_rows
from strategies import PIECEWISE_LINEAR, networks, rows_of

CAR = nn2rules.load(datasets.network_file("car"))
ROWS = datasets.load("car").train.rows


def boxes(rules):
    """Return the rules as they are read."""
    return [(rule.conditions, rule.then) for rule in rules]


def assert_extends(rules, known, network, rows):
    """Judge by every input: kept rules are the same, and every rule is right."""
    assert boxes(rules)[: len(known)] == boxes(known)
    assert rules.names[: len(known)] == known.names or len(rules.classes) > 2
    for codes in network.domain.inputs():
        fired = rules.match(codes)
        expected = network.predict_codes(codes)
        is_covered = fired >= 0
        predicted = rules.answers[fired[is_covered]]
        assert (predicted == expected[is_covered]).all()
        if rules.form == "set":
            for box, answer in zip(rules.boxes, rules.answers, strict=True):
                inside = box[codes + rules.domain.offsets[:-1]].all(axis=1)
                assert (expected[inside] == answer).all()
        before = known.match(codes)
        assert (fired[before >= 0] == before[before >= 0]).all()
        counts = np.bincount(fired[is_covered], minlength=len(rules))
        for rule, number in zip(rules, counts.tolist(), strict=True):
            assert rule.inputs in (None, number)
    assert (rules.match(network.domain.encode(rows)) >= 0).all()


@given(st.data())
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=40, deadline=None)
def test_any_network_and_rows(data):
    network = data.draw(networks(PIECEWISE_LINEAR))
    first, second = (
        network.domain.decode(data.draw(rows_of(network.domain).filter(len)))
        for _ in range(2)
    )
    form = data.draw(st.sampled_from(["set", "list"]))
    engine = data.draw(st.sampled_from(["table", "search"]))
    options = {"engine": engine, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = extract(network, first, form=form, scope="support", **options)
        assume(form == "list" or len(set(known.answers.tolist())) > 1)
        rules = extract(network, second, known=known, **options)
    assert_extends(rules, known, network, second)
    again = nn2rules.files.from_json(rules.to_json())  # without a CertificateWarning
    assert again == rules
    if len(rules) > len(known):
        (entry,) = certificate_of(rules).earlier
        assert (entry.rules, entry.digest) == (len(known), known.digest)


@pytest.mark.parametrize("form", ["set", "list"])
def test_three_steps(form):
    known = extract(CAR, ROWS[:40], form=form, scope="support")
    second = extract(CAR, ROWS[:300], known=known)
    third = extract(CAR, ROWS, known=second)
    assert len(known) < len(second) < len(third)
    assert_extends(second, known, CAR, ROWS[:300])
    assert_extends(third, second, CAR, ROWS)
    assert [one.rules for one in certificate_of(third).earlier] == [
        len(known),
        len(second),
    ]
    text = (
        f"Extracted in 3 steps: {len(known)} rules, then {len(second) - len(known)} "
        f"added to these, then {len(third) - len(second)} added to these."
    )
    assert text in " ".join(str(third).split())
    assert certificate_of(third).rows_covered == len(ROWS)
    assert nn2rules.check(CAR, third).ok
    _, uncovered = third.certificate["uncovered"], 0
    for codes in CAR.domain.inputs():
        uncovered += int((third.match(codes) < 0).sum())
    assert third.certificate["uncovered"] == uncovered


def test_ranges_of_numbers():
    rng = np.random.default_rng(5)
    network = random_network(rng, mixed_domain())
    rows = random_rows(rng, network.domain, 60)
    known = extract(network, rows[:20], form="set", scope="support")
    rules = extract(network, rows, known=known)
    assert boxes(rules)[: len(known)] == boxes(known)
    assert rules.covers(rows).all()
    many = random_rows(rng, network.domain, 3000)
    covered = rules.covers(many)
    inside = [row for row, is_in in zip(many, covered.tolist(), strict=True) if is_in]
    assert (rules.predict(inside) == network.predict(inside)).all()
    assert nn2rules.check(network, rules).ok


def test_nothing_to_add_keeps_the_rules_and_counts_the_new_rows():
    known = extract(CAR, ROWS, form="set", scope="support")
    rules = extract(CAR, ROWS[:100], known=known)
    assert boxes(rules) == boxes(known)
    assert certificate_of(rules).earlier == ()
    assert certificate_of(rules).rows == 100
    assert sum(rule.support for rule in rules) == 100


def test_one_sided_rules_stay_one_sided():
    known = extract(CAR, ROWS[:60], scope="support", target="acc")
    rules = extract(CAR, ROWS, known=known)
    assert len(rules) > len(known)
    assert {rule.then for rule in rules} == {"acc"}


def test_proofs_of_extended_rules_are_written(tmp_path):
    known = extract(CAR, ROWS[:40], form="set", scope="support", engine="search")
    path = tmp_path / "proofs"
    rules = extract(CAR, ROWS, known=known, engine="search", proofs=path)
    assert nn2rules.check(CAR, rules, proofs=path).ok


def test_a_model_is_read_on_the_domain_of_the_rules():
    domain = Domain((Feature("a", (0, 1, 2)), Feature("b", ("x", "y"))))
    rng = np.random.default_rng(1)
    network = random_network(rng, domain)
    known = extract(network, [{"a": 0, "b": "x"}], form="set", scope="support")
    with pytest.raises(RowsError, match=r"row 0: .*'a' has no value 7.*larger domain"):
        extract(network, [{"a": 7, "b": "x"}], known=known)


def test_interrupted_work_keeps_the_known_rules(monkeypatch):
    known = extract(CAR, ROWS[:40], form="set", scope="support")

    def interrupted(job):
        raise KeyboardInterrupt

    monkeypatch.setattr(MODULE, "rules_by_table", interrupted)
    with pytest.raises(KeyboardInterrupt) as stopped:
        extract(CAR, ROWS, known=known)
    assert boxes(stopped.value.rules) == boxes(known)

    def spent(job):
        added = extract(CAR, ROWS[40:80], form="set", scope="support")
        job.meter.keep(lambda: added)
        raise BudgetExceededError("spent")

    monkeypatch.undo()
    real = rules_by_table
    calls = []

    def once(job):
        calls.append(job)
        return real(job) if len(calls) > 1 else spent(job)

    monkeypatch.setattr(MODULE, "rules_by_table", once)
    with pytest.raises(BudgetExceededError) as error:
        extract(CAR, ROWS, known=known)
    kept = error.value.rules
    assert len(kept) > len(known)
    assert boxes(kept)[: len(known)] == boxes(known)


def other_weights():
    first, *rest = CAR.layers
    moved = nn2rules.Layer(first.weights + 1.0, first.bias, first.activation)
    return Network(CAR.domain, (moved, *rest), CAR.classes)


MODULE = import_module("nn2rules.extraction.extract")

KNOWN = extract(CAR, ROWS[:40], form="set", scope="support")

REFUSED = [
    ({"known": "rules.json"}, "known: a str, expected the rules"),
    ({"known": extract(CAR)}, "already cover every input"),
    ({"known": KNOWN.take([0, 1])}, "nothing is proved about these rules"),
    ({"known": extract(CAR).top(2)}, "nothing is proved"),
    ({"model": other_weights()}, "extracted from another network.*other weights"),
    ({"form": "list"}, "form: 'list', but the known rules have 'set'"),
    ({"form": "scorecard"}, "known is for rules; a scorecard"),
    ({"scope": "domain"}, "scope: 'domain', but the known rules have 'support'"),
    ({"max_rules": 3}, "max_rules is not for known rules"),
    ({"engine": "paper"}, "paper"),
    ({"data": None}, "needs data"),
    ({"impossible": ["doors = 2"]}, "with other impossible inputs"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_refused(change, message):
    options = {"model": CAR, "data": ROWS, "known": KNOWN, **change}
    with pytest.raises(OptionError, match=message) as error:
        extract(options.pop("model"), options.pop("data"), **options)
    assert "\n" not in str(error.value)


def test_impossible_inputs_must_be_the_same():
    options = {"impossible": ["doors = 2 and persons = 2"], "scope": "support"}
    possible = [r for r in ROWS if r["doors"] != "2" or r["persons"] != "2"]
    known = extract(CAR, possible[:40], form="set", **options)
    rules = extract(CAR, possible, known=known, **options)
    assert boxes(rules)[: len(known)] == boxes(known)
    with pytest.raises(OptionError, match="other impossible inputs"):
        extract(CAR, possible, known=known)


def test_a_forged_certificate_entry_is_ignored():
    document = json.loads(KNOWN.to_json())
    document["certificate"]["earlier"] = [3, {"rules": "x"}, {"rules": 1}]
    again = nn2rules.files.from_json(json.dumps(document))
    assert isinstance(again, RuleList)
    assert [one.rules for one in certificate_of(again).earlier] == [1]


def test_extend_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nn2rules.save(CAR, "car.json")
    KNOWN.save("known.json")
    frame = datasets.load("car").train.to_frame()
    frame.to_csv("cars.csv", index=False)

    def run(text):
        return CliRunner().invoke(cli.app, ["extract", "car.json", *text.split()])

    made = run("--data cars.csv --labels label --extend known.json -o more.json")
    assert made.exit_code == 0, made.output
    rules = nn2rules.load_rules("more.json")
    assert boxes(rules)[: len(KNOWN)] == boxes(KNOWN)
    again = run("--data cars.csv --labels label --extend more.json")
    assert again.exit_code == 0
    assert "cover all rows of --data already" in again.stderr
    assert run("--data cars.csv --extend none.json").exit_code == 2
    same = run("--data cars.csv --labels label --extend known.json -o known.json")
    assert same.exit_code == 2
    assert "known.json" in same.stderr
    frame.assign(doors="7").to_csv("odd.csv", index=False)
    odd = run("--data odd.csv --labels label --extend known.json")
    assert odd.exit_code == 2
    (line,) = [one for one in odd.stderr.splitlines() if one.startswith("error")]
    assert "'doors' has no value '7'" in line
    assert run("--extend known.json").exit_code == 2
