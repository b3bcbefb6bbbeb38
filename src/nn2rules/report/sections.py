"""What features do, by the audit or the certificate, and where the model is wrong."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UndecidedError
from nn2rules.language import count, label_text, percent, quoted, share
from nn2rules.output import Heading, Paragraph, Part, RuleTable, ShownRule
from nn2rules.questions.audit import INFLUENCE, Audit, Influence
from nn2rules.report.subject import Subject
from nn2rules.rules import is_right, n_rows, shown_rule, turned_rows

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
    answers, is_covered = rules.predictions_by(fired)
    return answers if is_right(rules) and is_covered.all() else None


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
