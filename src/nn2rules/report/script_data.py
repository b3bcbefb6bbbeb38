"""The rules as the scripts of the page have them, with rows and a curve.

Many rules share a condition, so conditions stand once, and rules point at them. A
report is mailed, so it holds few rows of the data, and none if that was asked for.
"""

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.language import label_text, quoted, value_text
from nn2rules.models import GivenRows
from nn2rules.report.subject import Subject
from nn2rules.rules import (
    RuleList,
    by_influence,
    is_right,
    is_true_alone,
    is_whole_domain,
    n_agreeing,
    n_rows,
    shown_rule,
    unless_text,
)
from nn2rules.space import Feature, plain_number


def plain_rules(rules: RuleList) -> dict[str, Any]:
    """Return rules as plain values."""
    conditions, pointers = _conditions(rules)
    return {
        "features": [_feature(feature) for feature in rules.domain.features],
        "classes": [label_text(label) for label in rules.classes],
        "default": rules.classes.index(rules.default),
        "form": rules.form,
        "scope": rules.scope,
        "is_right": is_right(rules),
        "is_whole": is_whole_domain(rules),
        "is_alone": is_true_alone(rules),
        "conditions": conditions,
        "rules": [_rule(rules, index, pointers[index]) for index in range(len(rules))],
    }


def _feature(feature: Feature) -> dict[str, Any]:
    """Return a feature; of a range its ends and where rules cut it."""
    first = 0 if feature.limits is None else feature.n_plain
    found: dict[str, Any] = {
        "name": quoted(feature.name),
        "values": [value_text(feature, value) for value in feature.values[first:]],
    }
    if feature.limits is not None:
        low, high = feature.limits
        found |= {"low": low, "high": high, "whole": feature.whole}
        found["edges"] = list(feature.edges or ())
    return found


def _conditions(rules: RuleList) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """Return the different conditions, and for each rule which of them it has."""
    found: list[dict[str, Any]] = []
    known: dict[tuple[int, bytes], int] = {}
    pointers: list[list[int]] = []
    key, offsets = by_influence(rules), rules.domain.offsets
    for index, rule in enumerate(rules.rules):
        own = []
        shown = shown_rule(rules, rule, ()).conditions
        chosen = sorted(rule.conditions, key=key)
        for condition, words in zip(chosen, shown, strict=True):
            place = rules.domain.index(condition.feature)
            allowed = rules.boxes[index, offsets[place] : offsets[place + 1]]
            name = place, allowed.tobytes()
            if name not in known:
                known[name] = len(found)
                bits = "".join("01"[bit] for bit in allowed.astype(int).tolist())
                found.append({"feature": place, "text": words.text, "allowed": bits})
            own.append(known[name])
        pointers.append(own)
    return found, pointers


def _rule(rules: RuleList, index: int, conditions: list[int]) -> dict[str, Any]:
    facts = rules.facts[index]
    found: dict[str, Any] = {
        "name": rules.names[index],
        "then": int(rules.answers[index]),
        "if": conditions,
        "covered": facts.covered,
        "covered_agree": facts.covered_agree,
        "decided": facts.support,
        "decided_agree": None,
        "inputs": facts.inputs,
        "probability": None if facts.probability is None else [*facts.probability],
    }
    if facts.accuracy is not None and facts.support is not None:
        found["decided_agree"] = n_agreeing(facts)
    unless = unless_text(facts.unless)
    if unless:
        found["unless"] = unless
    return {name: known for name, known in found.items() if known is not None}


def curve_of(subject: Subject) -> dict[str, Any] | None:
    """Return shares for each number of first rules, from 0; None if nobody counted.

    ``covered`` is what the first rules cover, of rows or else of inputs; the others
    are as in `RuleList.curve`, None where there is no share.
    """
    rules = subject.counted
    if not len(rules):
        return None
    if subject.rows is not None and len(subject.rows):
        found = rules.curve(subject.data, subject.labels)
        names = ("covered", "fidelity", "accuracy", "accuracy_on_covered")
        kept = {name: _shares_of(found[name]) for name in names if name in found}
        return {"noun": "rows", "whole": len(subject.rows), **kept}
    for name, noun, whole in (
        ("support", "rows", n_rows(rules)),
        ("inputs", "inputs", None if rules.domain.has_ranges else rules.n_possible),
    ):
        decided = [getattr(facts, name) for facts in rules.facts]
        if None not in decided and whole:
            shares = [part / whole for part in accumulate(decided, initial=0)]
            return {"noun": noun, "whole": whole, "covered": shares}
    return None


def _shares_of(shares: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(share) else float(share) for share in shares]


_ROWS = 4000  # in the whole page, about
_MOST_examples = 8  # below one rule, of each kind


def examples_of(subject: Subject) -> dict[str, Any]:
    """Return some rows, and for each rule which of them stand below it.

    Of equal rows with equal labels one stands for all, with their number. ``fit`` are
    the most frequent ones that a rule decides, ``wrong`` those of them whose label is
    not its class.
    """
    rows, rules = subject.rows, subject.counted
    if rows is None or not subject.shows_rows or not len(rules):
        return {"cells": [], "times": [], "labels": [], "fit": [], "wrong": []}
    first, times, labels = _different(rows)
    fired = rules.match(rows.codes_in(rules.domain)[first])
    most = max(1, min(_MOST_examples, _ROWS // (2 * len(rules))))
    order = np.argsort(-times, kind="stable")
    order = order[np.argsort(fired[order], kind="stable")]
    fit: list[list[int]] = [[] for _ in range(len(rules))]
    wrong: list[list[int]] = [[] for _ in range(len(rules))]
    kept: dict[int, int] = {}
    for place in order[fired[order] >= 0].tolist():
        rule = int(fired[place])
        is_wrong = labels is not None and labels[place] != rules.answers[rule]
        for chosen, wanted in ((fit[rule], True), (wrong[rule], is_wrong)):
            if wanted and len(chosen) < most:
                chosen.append(kept.setdefault(place, len(kept)))
    places = np.array([*kept], dtype=np.int64)
    return {
        "cells": _cells(rows, first[places]),
        "times": times[places].tolist(),
        "labels": [] if labels is None else labels[places].tolist(),
        "fit": fit,
        "wrong": wrong,
    }


def _different(
    rows: GivenRows,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None]:
    """Return where the different rows come first, how often, and their labels."""
    if rows.labels is None:
        codes, _ = rows.distinct
        first = np.full(len(codes), len(rows), dtype=np.int64)
        np.minimum.at(first, rows.places, np.arange(len(rows)))
        return first, rows.weights, None
    both = np.stack([rows.places, rows.labels], axis=1)
    _, first, times = np.unique(both, axis=0, return_index=True, return_counts=True)
    return first, times, rows.labels[first]


def _cells(rows: GivenRows, places: NDArray[np.int64]) -> list[list[Any]]:
    """Return the cells of rows: codes; of ranges a number, or the code as text."""
    columns: list[list[Any]] = []
    for index, feature in enumerate(rows.domain.features):
        codes = rows.codes[places, index].tolist()
        if feature.limits is None or rows.numbers is None:
            columns.append(codes)
            continue
        numbers = rows.numbers[places, index].tolist()
        columns.append(
            [
                str(code) if code else plain_number(number)
                for code, number in zip(codes, numbers, strict=True)
            ]
        )
    return [list(cells) for cells in zip(*columns, strict=True)]
