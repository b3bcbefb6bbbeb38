"""Edited files of rules: `check` notices, and does not rely on certificates."""

import json
import warnings
from collections.abc import Callable
from typing import Any

from numpy.random import Generator

import nn2rules
from fuzz.judge import Judge
from fuzz.networks import ordinary_network, pick
from fuzz.questions import demand


def edit_rules(rng: Generator) -> int:
    """Edit a file of rules: whatever changes an answer, `check` notices."""
    judge = Judge(ordinary_network(rng))
    network = judge.network
    if None in judge.truth:
        return 0
    form = pick(rng, ["list", "set"])
    rules = nn2rules.extract(network, form=form, effort=0)
    noticed = 0
    for _ in range(8):
        document = json.loads(nn2rules.files.to_json(rules))
        for _ in range(int(rng.integers(1, 3))):
            _edit(rng, document)
        wrong = sum(
            _answer(document, row) != network.classes[right]
            for row, right in zip(_rows(judge), judge.truth, strict=True)
        )
        edited = _read(json.dumps(document))
        report = nn2rules.check(network, edited)
        what = f"check says {report.ok}, {wrong} answers of {document} are wrong"
        demand(not (wrong and report.ok), what, network)
        if form == "list":
            demand(report.different == wrong, what, network)
        noticed += bool(wrong)
    return noticed


def _read(text: str) -> nn2rules.RuleList:
    """Read rules that someone edited; that they lose their certificate is expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nn2rules.CertificateWarning)
        rules = nn2rules.files.from_json(text)
    assert isinstance(rules, nn2rules.RuleList)
    return rules


def edit_certificates(rng: Generator) -> int:
    """Edit the certificate of rules, right or wrong: the verdict stays what it is."""
    judge = Judge(ordinary_network(rng))
    network = judge.network
    if None in judge.truth:
        return 0
    rules = nn2rules.extract(network, form="rules", effort=0)
    document = json.loads(nn2rules.files.to_json(rules))
    if rng.integers(0, 2):
        _edit(rng, document)
    certificate = document.get("certificate", {})
    for _ in range(int(rng.integers(1, 4))):
        _forge(rng, document, certificate)
    reports = []
    for forged in ({}, certificate):
        text = json.dumps({**document, "certificate": forged})
        report = nn2rules.check(network, _read(text))
        reports.append((report.ok, report.checked, report.different))
    what = f"check says {reports[1]}, without {certificate} it says {reports[0]}"
    demand(reports[0] == reports[1], what, network)
    return 1


def _edit(rng: Generator, document: dict[str, Any]) -> None:
    """Edit rules at random; numbers of other rules would no longer be theirs."""
    for rule in document["rules"]:
        rule.pop("unless", None)
    edits = _EDITS if document["rules"] else [_other_default, _new_rule]
    edits[rng.integers(len(edits))](rng, document)


def _rows(judge: Judge) -> list[dict[str, Any]]:
    return judge.network.domain.decode([list(codes) for codes in judge.inputs])


def _answer(document: dict[str, Any], row: dict[str, Any]) -> Any:
    """Answer as a file of rules does, read as its format says."""
    for rule in document["rules"]:
        if all(row[name] in values for name, values in rule["if"].items()):
            return rule["then"]
    return document["default"]


def _other_answer(rng: Generator, document: dict[str, Any]) -> None:
    rule = pick(rng, document["rules"])
    rule["then"] = pick(rng, document["classes"])


def _other_default(rng: Generator, document: dict[str, Any]) -> None:
    document["default"] = pick(rng, document["classes"])


def _other_values(rng: Generator, document: dict[str, Any]) -> None:
    rule, feature = pick(rng, document["rules"]), pick(rng, document["features"])
    kept = [value for value in feature["values"] if rng.integers(0, 2)]
    rule["if"][feature["name"]] = kept or feature["values"][:1]


def _without_condition(rng: Generator, document: dict[str, Any]) -> None:
    rule = pick(rng, document["rules"])
    if rule["if"]:
        del rule["if"][pick(rng, list(rule["if"]))]


def _without_rule(rng: Generator, document: dict[str, Any]) -> None:
    if document["rules"]:
        del document["rules"][rng.integers(len(document["rules"]))]


def _twice(rng: Generator, document: dict[str, Any]) -> None:
    place = int(rng.integers(len(document["rules"]) + 1))
    document["rules"].insert(
        place, json.loads(json.dumps(pick(rng, document["rules"])))
    )


def _swapped(rng: Generator, document: dict[str, Any]) -> None:
    listed = document["rules"]
    one, other = rng.integers(len(listed), size=2)
    listed[one], listed[other] = listed[other], listed[one]


def _new_rule(rng: Generator, document: dict[str, Any]) -> None:
    place = int(rng.integers(len(document["rules"]) + 1))
    new = {"if": {}, "then": pick(rng, document["classes"])}
    document["rules"].insert(place, new)
    feature = pick(rng, document["features"])
    new["if"][feature["name"]] = [pick(rng, feature["values"])]


_EDITS: list[Callable[[Generator, dict[str, Any]], None]] = [
    _new_rule,
    _other_answer,
    _other_default,
    _other_values,
    _other_values,
    _swapped,
    _twice,
    _without_condition,
    _without_rule,
]


def _forge(
    rng: Generator, document: dict[str, Any], certificate: dict[str, Any]
) -> None:
    feature = pick(rng, document["features"])
    box = {feature["name"]: [pick(rng, feature["values"])]}
    key, value = [
        ("impossible", [box]),
        ("impossible", [{}]),
        ("possible", 1),
        ("different", int(rng.integers(0, 9))),
        ("inputs", int(rng.integers(0, 9))),
        ("network", "0" * 64),
        ("rules", "0" * 64),
        ("engine", "oracle"),
        ("complete", False),
        ("uncovered", 10**9),
    ][rng.integers(10)]
    certificate[key] = value
    if not rng.integers(0, 4):
        del certificate[pick(rng, list(certificate))]
