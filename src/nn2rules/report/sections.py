"""Rows of the data that stand below rules: some that fit, and some that are wrong.

A report is mailed, so it holds few rows, and none if that was asked for.
"""

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UndecidedError
from nn2rules.language import count, label_text, percent, quoted, share
from nn2rules.models import GivenRows
from nn2rules.output import Heading, Paragraph, Part, RuleTable, ShownRule
from nn2rules.questions.audit import INFLUENCE, Audit, Influence
from nn2rules.report.subject import Subject
from nn2rules.rules import is_right, n_rows, shown_rule, turned_rows
from nn2rules.space import plain_number


def curve_of(subject: Subject) -> dict[str, Any] | None:
    """Return shares for each number of first rules, from 0; None if nobody counted.

    ``decided`` is what the first rules decide, of rows or else of inputs; the others
    are as in `RuleList.curve`, None where there is no share.
    """
    rules = subject.counted
    if not len(rules):
        return None
    if subject.rows is not None and len(subject.rows):
        found = rules.curve(subject.data, subject.labels)
        names = ("decided", "fidelity", "accuracy", "accuracy_on_decided")
        kept = {name: _shares_of(found[name]) for name in names if name in found}
        return {"noun": "rows", "whole": len(subject.rows), **kept}
    for name, noun, whole in (
        ("support", "rows", n_rows(rules)),
        ("inputs", "inputs", None if rules.domain.has_ranges else rules.n_possible),
    ):
        decided = [getattr(facts, name) for facts in rules.facts]
        if None not in decided and whole:
            shares = [part / whole for part in accumulate(decided, initial=0)]
            return {"noun": noun, "whole": whole, "decided": shares}
    return None


def _shares_of(shares: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(share) else float(share) for share in shares]


_TOP = 5  # rules of each way in which a protected feature turns


@dataclass(frozen=True)
class Turning:
    """A feature, how often it alone turns an answer, and how wide a bar that is."""

    feature: str
    rows: str
    rows_share: str
    width: float
    inputs: str
    inputs_share: str
    remark: str


@dataclass(frozen=True)
class Section:
    """A title, and what the audit says below it."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Features:
    """What is known of the features; `sections` are those of the audit."""

    turning: tuple[Turning, ...]
    has_inputs: bool
    dead: tuple[str, ...]
    is_proved: bool
    said: tuple[str, ...]
    sections: tuple[Section, ...]


def features_of(subject: Subject) -> Features | None:
    """Return what the features do: by the audit, or by the certificate; or None."""
    audit = subject.audit
    if audit is None:
        return _certified(subject)
    found = list(audit.influence.values())
    head, *sections = _sections(audit)
    return Features(
        tuple(_turning(one, audit.rows) for one in found if one.status != "dead"),
        any(one.inputs is not None for one in found),
        tuple(map(quoted, audit.dead)),
        not any(one.status == "open" for one in found),
        tuple(part.text for part in head.parts if isinstance(part, Paragraph)),
        tuple(section for section in sections if section.title != INFLUENCE),
    )


def _sections(audit: Audit) -> list[Section]:
    """Return the sections of an audit by their titles."""
    found = []
    for section in audit.document(_TOP).sections:
        assert not isinstance(section, RuleTable), "an audit shows rules in grids"
        title, *parts = section
        assert isinstance(title, Heading), "every section of an audit has a title"
        found.append(Section(title.text, tuple(parts)))
    return found


def _turning(one: Influence, n_rows: int) -> Turning:
    remarks = ["open: not excluded, not found"] if one.status == "open" else []
    if one.of_rows is not None and one.of_rows != n_rows:
        remarks.append(f"of {one.of_rows:,} rows, drawn")
    rows, whole = one.rows, one.of_rows or 0
    is_counted = one.inputs is not None and one.of_inputs is not None
    return Turning(
        quoted(one.feature),
        "" if rows is None else f"{rows:,}",
        "" if rows is None else share(rows, whole),
        100 * rows / whole if rows and whole else 0.0,
        f"{one.inputs:,}" if is_counted else "",
        share(one.inputs or 0, one.of_inputs or 0) if is_counted else "",
        "; ".join(remarks),
    )


def _certified(subject: Subject) -> Features | None:
    """Return what the certificate says of the rows that rules were extracted with."""
    whole, counts = turned_rows(subject.rules)
    if not whole or not counts:
        return None
    ranked = sorted(counts, key=lambda name: -counts[name])
    drawn = "" if whole == n_rows(subject.rules) else f"of {whole:,} rows, drawn"
    found = tuple(
        Turning(
            quoted(name),
            f"{counts[name]:,}",
            share(counts[name], whole),
            100 * counts[name] / whole,
            "",
            "",
            drawn,
        )
        for name in ranked
    )
    return Features(found, False, (), False, (), ())


_MOST = 10  # so many rules are listed


@dataclass(frozen=True)
class RuleErrors:
    """A rule, the rows it decides, and on how many of them the model is wrong."""

    rule: ShownRule
    rows: str
    wrong: str
    rate: str
    part: str


@dataclass(frozen=True)
class Mistakes:
    """The errors of a model: `matrix` has a line for each true class."""

    said: str
    classes: tuple[str, ...]
    matrix: tuple[tuple[str, ...], ...]
    by_rule: tuple[RuleErrors, ...]
    rest: str


def mistakes_of(subject: Subject) -> Mistakes | None:
    """Return where the model is wrong; None without labels or answers."""
    rows, rules = subject.rows, subject.counted
    answers = _answers(subject)
    if rows is None or rows.labels is None or answers is None or not len(rows):
        return None
    wrong = rows.labels != answers
    total, n_rows = int(wrong.sum()), len(rows)
    said = f"The network is wrong on {total:,} of {count(n_rows, 'row')}"
    n_classes = len(rules.classes)
    pairs = np.bincount(rows.labels * n_classes + answers, minlength=n_classes**2)
    matrix = tuple(
        tuple(f"{number:,}" for number in line)
        for line in pairs.reshape(n_classes, n_classes).tolist()
    )
    by_rule, rest = _by_rule(subject, wrong)
    return Mistakes(
        f"{said} ({share(total, n_rows)}).",
        tuple(label_text(label) for label in rules.classes),
        matrix,
        by_rule,
        rest,
    )


def _answers(subject: Subject) -> NDArray[np.int64] | None:
    """Return what the network answers each row: asked, or by rules that equal it."""
    rows, rules = subject.rows, subject.counted
    if rows is None:
        return None
    if subject.network is not None:
        try:
            return rows.answers(subject.network)[rows.places]
        except UndecidedError:
            return None
    fired = rules.match(rows.codes_in(rules.domain))
    is_open = rules.scope == "support" and bool((fired < 0).any())
    if not is_right(rules) or is_open:
        return None
    default = rules.classes.index(rules.default)
    return np.append(rules.answers, default)[fired]


def _by_rule(
    subject: Subject, wrong: NDArray[np.bool_]
) -> tuple[tuple[RuleErrors, ...], str]:
    """Return the rules with most errors, and what is said of all others."""
    rows, rules = subject.rows, subject.counted
    assert rows is not None, "asked only where there are rows"
    fired = rules.match(rows.codes_in(rules.domain))
    decided = np.bincount(fired + 1, minlength=len(rules) + 1)
    errors = np.bincount(fired[wrong] + 1, minlength=len(rules) + 1)
    order = np.argsort(-errors, kind="stable")
    chosen = [place for place in order.tolist() if errors[place]][:_MOST]
    total = int(errors.sum())
    listed = tuple(
        RuleErrors(
            _shown(subject, place - 1),
            f"{decided[place]:,}",
            f"{errors[place]:,}",
            percent(int(errors[place]), int(decided[place])),
            share(int(errors[place]), total),
        )
        for place in chosen
    )
    left = int((errors > 0).sum()) - len(chosen)
    if left <= 0:
        return listed, ""
    part = total - int(errors[chosen].sum())
    verb = "has" if left == 1 else "have"
    return listed, f"{count(left, 'more rule')} {verb} {count(part, 'error')}."


def _shown(subject: Subject, index: int) -> ShownRule:
    """Return a rule, or what stands for rows that no rule decides."""
    rules = subject.counted
    if index >= 0:
        return shown_rule(rules, rules.rules[index], ())
    is_open = rules.scope == "support"
    remark = "open: no rule decides" if is_open else "otherwise: no rule holds"
    then = "" if is_open else label_text(rules.default)
    return ShownRule("", then, (), remark, ())


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
