"""Where the model is wrong: by class, and by rule."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UndecidedError
from nn2rules.reporting.subject import Subject
from nn2rules.rules.known import is_right
from nn2rules.rules.page import ShownRule, shown_rule
from nn2rules.text import count, label_text, percent, share

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
