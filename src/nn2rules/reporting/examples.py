"""Rows of the data that stand below rules: some that fit, and some that are wrong.

A report is mailed, so it holds few rows, and none if that was asked for.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.given_rows import GivenRows
from nn2rules.reporting.subject import Subject
from nn2rules.values import plain_number

_ROWS = 4000  # in the whole page, about
_MOST = 8  # below one rule, of each kind


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
    most = max(1, min(_MOST, _ROWS // (2 * len(rules))))
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
