"""Rules: lists, sets and supports answer as the judge does, and say what they mean."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpmath import mp
from numpy.random import Generator

import naive
import nn2rules
from fuzz.judge import BITS, Judge
from fuzz.networks import ordinary_network
from fuzz.questions import demand, draw
from nn2rules import Feature, UndecidedError
from nn2rules.text import condition_text


def make_rules(rng: Generator) -> int:
    """Make a list or a set, by either engine; compare every answer and probability."""
    judge = draw(rng)
    network = judge.network
    forms = ["list", "set", "paper"] if network.is_binary else ["list", "set"]
    form, engine = str(rng.choice(forms)), str(rng.choice(["table", "search"]))
    try:
        rules = nn2rules.extract(network, form=form, engine=engine, effort=0)
    except UndecidedError:
        return 0
    what = f"the {form} by {engine}"
    for codes, right in zip(judge.inputs, judge.truth, strict=True):
        [row] = network.domain.decode([list(codes)])
        answer = naive.answer(rules, row)
        fine = right is None or answer == network.classes[right]
        demand(fine, f"{what} says {answer} of {row}, {right} is right", network)
    return len(judge.inputs) + _compare_probabilities(judge, rules, what)


def make_support(rng: Generator) -> int:
    """Make rules for some rows: all rows are answered, and no rule is ever wrong."""
    judge = draw(rng)
    network = judge.network
    rows = network.domain.decode(
        [list(judge.inputs[i]) for i in rng.integers(len(judge.inputs), size=3)]
    )
    form, engine = (
        str(rng.choice(["list", "set"])),
        str(rng.choice(["table", "search"])),
    )
    try:
        rules = nn2rules.extract(
            network, rows, form=form, engine=engine, scope="support", effort=0
        )
    except UndecidedError:
        return 0
    for codes, right in zip(judge.inputs, judge.truth, strict=True):
        [row] = network.domain.decode([list(codes)])
        index, answer = naive.first_match(rules, row), naive.answer(rules, row)
        fine = right is None or answer == network.classes[right]
        fine |= index < 0 and row not in rows
        what = f"the {form} by {engine} for {rows} says {answer} of {row}"
        demand(fine, what, network)
    return len(judge.inputs)


def _compare_probabilities(judge: Judge, rules: Any, what: str) -> int:
    """Compare the range of each rule with the probabilities of what it decides."""
    network, compared = judge.network, 0
    columns = [judge.scores(k) for k in range(len(network.layers[-1].bias))]
    with mp.workprec(BITS[0]):
        for position, codes in enumerate(judge.inputs):
            [row] = network.domain.decode([list(codes)])
            index = naive.first_match(rules, row)
            if index < 0 or rules.rules[index].probability is None:
                continue
            rule = rules.rules[index]
            found = [_mpf(column[position]) for column in columns]
            if any(off > abs(value) * 1e-30 + 1e-30 for value, off in found):
                continue
            exact = _probability(
                [v for v, _ in found], network.classes.index(rule.then)
            )
            low, high = rule.probability
            fine = low <= exact + mp.mpf("1e-25") and exact <= high + mp.mpf("1e-25")
            demand(fine, f"{what}: p {low} to {high}, {exact} for {row}", network)
            compared += 1
    return compared


def _mpf(number: tuple[Any, Any]) -> tuple[Any, Any]:
    return tuple(
        mp.mpf(x.numerator) / x.denominator if hasattr(x, "numerator") else x
        for x in number
    )


def _probability(scores: Sequence[Any], index: int) -> Any:
    if len(scores) == 1:
        sign = 1 if index == 1 else -1
        return 1 / (1 + mp.exp(-sign * scores[0]))
    return 1 / sum(mp.exp(score - scores[index]) for score in scores)


# Files that someone edited


def edit_rules(rng: Generator) -> int:
    """Edit a file of rules: whatever changes an answer, `check` notices."""
    judge = Judge(ordinary_network(rng))
    network = judge.network
    if None in judge.truth:
        return 0
    form = str(rng.choice(["list", "set"]))
    rules = nn2rules.extract(network, form=form, effort=0)
    noticed = 0
    for _ in range(8):
        document = json.loads(nn2rules.formats.to_json(rules))
        for _ in range(int(rng.integers(1, 3))):
            edits = _EDITS if document["rules"] else [_other_default, _new_rule]
            edits[rng.integers(len(edits))](rng, document)
        wrong = sum(
            _answer(document, row) != network.classes[right]
            for row, right in zip(_rows(judge), judge.truth, strict=True)
        )
        edited = nn2rules.formats.from_json(json.dumps(document))
        report = nn2rules.check(network, edited)
        what = f"check says {report.ok}, {wrong} answers of {document} are wrong"
        demand(not (wrong and report.ok), what, network)
        if form == "list":
            demand(report.different == wrong, what, network)
        noticed += bool(wrong)
    return noticed


def edit_certificates(rng: Generator) -> int:
    """Edit the certificate of rules, right or wrong: the verdict stays what it is."""
    judge = Judge(ordinary_network(rng))
    network = judge.network
    if None in judge.truth:
        return 0
    document = json.loads(nn2rules.formats.to_json(nn2rules.extract(network, effort=0)))
    if rng.integers(0, 2):
        edits = _EDITS if document["rules"] else [_other_default, _new_rule]
        edits[rng.integers(len(edits))](rng, document)
    certificate = document.get("certificate", {})
    for _ in range(int(rng.integers(1, 4))):
        _forge(rng, document, certificate)
    reports = []
    for forged in ({}, certificate):
        text = json.dumps({**document, "certificate": forged})
        report = nn2rules.check(network, nn2rules.formats.from_json(text))
        reports.append((report.ok, report.checked, report.different))
    what = f"check says {reports[1]}, without {certificate} it says {reports[0]}"
    demand(reports[0] == reports[1], what, network)
    return 1


def _rows(judge: Judge) -> list[dict[str, Any]]:
    return judge.network.domain.decode([list(codes) for codes in judge.inputs])


def _answer(document: dict[str, Any], row: dict[str, Any]) -> Any:
    """Answer as a file of rules does, read as its format says."""
    for rule in document["rules"]:
        if all(row[name] in values for name, values in rule["if"].items()):
            return rule["then"]
    return document["default"]


def _other_answer(rng: Generator, document: dict[str, Any]) -> None:
    rule = _any(rng, document["rules"])
    rule["then"] = _any(rng, document["classes"])


def _other_default(rng: Generator, document: dict[str, Any]) -> None:
    document["default"] = _any(rng, document["classes"])


def _other_values(rng: Generator, document: dict[str, Any]) -> None:
    rule, feature = _any(rng, document["rules"]), _any(rng, document["features"])
    kept = [value for value in feature["values"] if rng.integers(0, 2)]
    rule["if"][feature["name"]] = kept or feature["values"][:1]


def _without_condition(rng: Generator, document: dict[str, Any]) -> None:
    rule = _any(rng, document["rules"])
    if rule["if"]:
        del rule["if"][_any(rng, list(rule["if"]))]


def _without_rule(rng: Generator, document: dict[str, Any]) -> None:
    if document["rules"]:
        del document["rules"][rng.integers(len(document["rules"]))]


def _twice(rng: Generator, document: dict[str, Any]) -> None:
    place = int(rng.integers(len(document["rules"]) + 1))
    document["rules"].insert(
        place, json.loads(json.dumps(_any(rng, document["rules"])))
    )


def _swapped(rng: Generator, document: dict[str, Any]) -> None:
    listed = document["rules"]
    one, other = rng.integers(len(listed), size=2)
    listed[one], listed[other] = listed[other], listed[one]


def _new_rule(rng: Generator, document: dict[str, Any]) -> None:
    place = int(rng.integers(len(document["rules"]) + 1))
    new = {"if": {}, "then": _any(rng, document["classes"])}
    document["rules"].insert(place, new)
    feature = _any(rng, document["features"])
    new["if"][feature["name"]] = [_any(rng, feature["values"])]


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
    feature = _any(rng, document["features"])
    box = {feature["name"]: [_any(rng, feature["values"])]}
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
        ("undecided", 10**9),
    ][rng.integers(10)]
    certificate[key] = value
    if not rng.integers(0, 4):
        del certificate[_any(rng, list(certificate))]


def _any(rng: Generator, items: Sequence[Any]) -> Any:
    return items[int(rng.integers(len(items)))]


# Words


def read_conditions(rng: Generator) -> int:
    """Print a condition and read it as people do: it holds for its values alone."""
    feature = _feature(rng)
    chosen = [value for value in feature.values if rng.integers(0, 2)]
    if not 0 < len(chosen) < len(feature.values):
        return 0
    text = condition_text(feature, chosen)
    for code, value in enumerate(feature.values):
        for cell in _cells(feature, code):
            if _reads(text, feature, cell) != (value in chosen):
                raise AssertionError(f"{text!r} for {chosen} of {feature}: {cell!r}")
    return len(feature.values)


def _feature(rng: Generator) -> Feature:
    size, missing = int(rng.integers(2, 6)), bool(rng.integers(0, 2))
    end = (None,) if missing else ()
    ordered = bool(rng.integers(0, 2))
    kind = rng.integers(0, 3)
    if kind == 0:
        words = tuple(f"w{code}" for code in range(size))
        return Feature("f", words + end, ordered=ordered)
    numbers = np.unique(np.round(rng.normal(size=size) * 10, int(rng.integers(0, 3))))
    if kind == 1:
        return Feature.bins("f", numbers.tolist(), missing=missing)
    shuffled = rng.permutation(numbers) if rng.integers(0, 2) else numbers
    return Feature("f", tuple(shuffled.tolist()) + end, ordered=ordered)


def _cells(feature: Feature, code: int) -> list[Any]:
    """Return what may stand in a row for a value: numbers of a bin, or itself."""
    edges = feature.edges
    if edges is None or feature.values[code] is None:
        return [feature.values[code]]
    low = edges[code - 1] if code else edges[0] - 5
    high = edges[code] if code < len(edges) else low + 5
    return [low, (low + high) / 2, float(np.nextafter(high, -np.inf))]


def _reads(text: str, feature: Feature, cell: Any) -> bool:
    """Tell whether a printed condition holds for a cell."""
    text = text[1:-1] if text.startswith("(") else text
    return any(_part_reads(part, feature, cell) for part in text.split(" or "))


def _part_reads(part: str, feature: Feature, cell: Any) -> bool:
    def number(word: str) -> Any:
        if word == "missing":
            return None
        return word if word.startswith("w") else float(word)

    def place(word: Any) -> Any:
        return feature.values.index(word) if isinstance(word, str) else word

    found = re.fullmatch(r"f (not in|in) \{(.*)\}", part)
    if found:
        listed = [number(word) for word in found[2].split(", ")]
        return (cell in listed) == (found[1] == "in")
    found = re.fullmatch(r"f (=|≠|is) (.*)", part)
    if found:
        if found[2] == "a number":
            return cell is not None
        return (cell == number(found[2])) == (found[1] != "≠")
    if cell is None:
        return False
    found = re.fullmatch(r"(?:(\S+) ([≤<]) )?f(?: ([≤<≥>]) (\S+))?", part)
    assert found, part
    compare = {
        "≤": lambda a, b: a <= b,
        "<": lambda a, b: a < b,
        "≥": lambda a, b: a >= b,
        ">": lambda a, b: a > b,
    }
    low, below, above, high = found.groups()
    at = place(cell)
    fine = low is None or compare[below](place(number(low)), at)
    return fine and (high is None or compare[above](at, place(number(high))))
