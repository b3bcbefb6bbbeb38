"""What the scripts of the page work with: rules, some rows, and the coverage curve.

What they need to add up points is in `card`.

Many rules share a condition, so conditions are listed once and rules refer to them. A
report is sent around, so it holds few rows of the data, or none on request.
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
    holds_alone,
    is_exact,
    is_whole_domain,
    n_agreeing,
    n_rows,
    shown_rule,
    unless_text,
)
from nn2rules.space import Domain, Feature, Range, plain_number


def plain_rules(rules: RuleList) -> dict[str, Any]:
    """Return rules as plain values."""
    conditions, pointers = _conditions(rules)
    return {
        "features": features_data(rules.domain),
        "classes": [label_text(label) for label in rules.classes],
        "default": rules.classes.index(rules.default),
        "form": rules.form,
        "scope": rules.scope,
        "is_exact": is_exact(rules),
        "is_whole": is_whole_domain(rules),
        "is_alone": holds_alone(rules),
        "conditions": conditions,
        "rules": [_rule(rules, index, pointers[index]) for index in range(len(rules))],
    }


def features_data(domain: Domain) -> list[dict[str, Any]]:
    """Return features as plain values."""
    return [_feature(feature) for feature in domain.features]


def _feature(feature: Feature) -> dict[str, Any]:
    """Return a feature; of a range, its ends and where rules cut it."""
    first = feature.n_cells
    entry: dict[str, Any] = {
        "name": quoted(feature.name),
        "values": [value_text(feature, value) for value in feature.values[first:]],
    }
    if isinstance(feature, Range):
        low, high = feature.limits
        entry |= {"low": low, "high": high, "whole": feature.whole}
        entry["edges"] = list(feature.edges)
    return entry


def _conditions(rules: RuleList) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """Return the distinct conditions, and for each rule which of them it has."""
    conditions: list[dict[str, Any]] = []
    places: dict[tuple[int, bytes], int] = {}
    pointers: list[list[int]] = []
    key, offsets = by_influence(rules), rules.domain.offsets
    for index, rule in enumerate(rules.rules):
        pointed = []
        shown = shown_rule(rules, rule, ()).conditions
        chosen = sorted(rule.conditions, key=key)
        for condition, words in zip(chosen, shown, strict=True):
            place = rules.domain.index(condition.feature)
            allowed = rules.boxes[index, offsets[place] : offsets[place + 1]]
            identity = place, allowed.tobytes()
            if identity not in places:
                places[identity] = len(conditions)
                bits = "".join("01"[bit] for bit in allowed.astype(int).tolist())
                conditions.append(
                    {"feature": place, "text": words.text, "allowed": bits}
                )
            pointed.append(places[identity])
        pointers.append(pointed)
    return conditions, pointers


def _rule(rules: RuleList, index: int, conditions: list[int]) -> dict[str, Any]:
    facts = rules.facts[index]
    entry: dict[str, Any] = {
        "name": rules.names[index],
        "then": int(rules.answers[index]),
        "if": conditions,
        "covered": facts.covered,
        "covered_agree": facts.covered_agree,
        "determined": facts.support,
        "determined_agree": None,
        "inputs": facts.inputs,
        "probability": None if facts.probability is None else [*facts.probability],
    }
    if facts.accuracy is not None and facts.support is not None:
        entry["determined_agree"] = n_agreeing(facts)
    unless = unless_text(facts.unless)
    if unless:
        entry["unless"] = unless
    return {name: value for name, value in entry.items() if value is not None}


def curve_of(subject: Subject) -> dict[str, Any] | None:
    """Return shares for each number of first rules, from 0; None if not counted.

    ``covered`` is what the first rules cover, of rows or else of inputs; the others
    are as in `RuleList.curve`, None where there is no share.
    """
    rules = subject.rules
    if not len(rules):
        return None
    if subject.rows is not None and len(subject.rows):
        curve = rules.curve(subject.data, subject.labels)
        names = ("covered", "fidelity", "accuracy", "accuracy_on_covered")
        kept = {name: _shares_of(curve[name]) for name in names if name in curve}
        return {"noun": "rows", "whole": len(subject.rows), **kept}
    for name, noun, whole in (
        ("support", "rows", n_rows(rules)),
        ("inputs", "inputs", None if rules.domain.has_ranges else rules.n_possible),
    ):
        determined = [getattr(facts, name) for facts in rules.facts]
        if None not in determined and whole:
            shares = [part / whole for part in accumulate(determined, initial=0)]
            return {"noun": noun, "whole": whole, "covered": shares}
    return None


def _shares_of(shares: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(share) else float(share) for share in shares]


_ROWS = 4000  # in the whole page, approximately
_MOST_EXAMPLES = 8  # below one rule, of each kind
_MOST_SHOWN = 50  # beside a scorecard


def examples_of(subject: Subject) -> dict[str, Any]:
    """Return some rows, and for each rule which of them to show below it.

    Equal rows with equal labels are one entry, with their number. ``covered`` are the
    most frequent rows that a rule determines, ``wrong`` those of them whose label is
    not its class.
    """
    rows = subject.rows
    nothing: dict[str, Any] = {"covered": [], "wrong": []}
    if rows is None or not subject.shows_rows or not len(rows):
        return {"cells": [], "times": [], "labels": [], **nothing}
    first, times, labels = _distinct(rows)
    if subject.card is not None:
        places = np.argsort(-times, kind="stable")[:_MOST_SHOWN]
        return {
            "cells": _cells(rows, first[places]),
            "times": times[places].tolist(),
            "labels": [] if labels is None else labels[places].tolist(),
            **nothing,
        }
    rules = subject.rules
    if not len(rules):
        return {"cells": [], "times": [], "labels": [], **nothing}
    fired = rules.match(rows.codes_in(rules.domain)[first])
    most = max(1, min(_MOST_EXAMPLES, _ROWS // (2 * len(rules))))
    order = np.argsort(-times, kind="stable")
    order = order[np.argsort(fired[order], kind="stable")]
    covered: list[list[int]] = [[] for _ in range(len(rules))]
    wrong: list[list[int]] = [[] for _ in range(len(rules))]
    numbers: dict[int, int] = {}
    for place in order[fired[order] >= 0].tolist():
        rule = int(fired[place])
        is_wrong = labels is not None and labels[place] != rules.answers[rule]
        for chosen, wanted in ((covered[rule], True), (wrong[rule], is_wrong)):
            if wanted and len(chosen) < most:
                chosen.append(numbers.setdefault(place, len(numbers)))
    places = np.array([*numbers], dtype=np.int64)
    return {
        "cells": _cells(rows, first[places]),
        "times": times[places].tolist(),
        "labels": [] if labels is None else labels[places].tolist(),
        "covered": covered,
        "wrong": wrong,
    }


def _distinct(
    rows: GivenRows,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None]:
    """Return where each distinct row occurs first, how often, and its label."""
    if rows.labels is None:
        codes, _ = rows.distinct
        first = np.full(len(codes), len(rows), dtype=np.int64)
        np.minimum.at(first, rows.places, np.arange(len(rows)))
        return first, rows.weights, None
    both = np.stack([rows.places, rows.labels], axis=1)
    _, first, times = np.unique(both, axis=0, return_index=True, return_counts=True)
    return first, times, rows.labels[first]


def _cells(rows: GivenRows, places: NDArray[np.int64]) -> list[list[Any]]:
    """Return the cells of rows: codes; for ranges a number, or the code as text."""
    columns: list[list[Any]] = []
    for index, feature in enumerate(rows.domain.features):
        codes = rows.codes[places, index].tolist()
        if not isinstance(feature, Range) or rows.numbers is None:
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
