"""Two sections: what features do, by audit or certificate, and where the model errs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UndecidedError
from nn2rules.language import count, label_text, percent, quoted, share
from nn2rules.output import Heading, Paragraph, Part, RuleTable, ShownRule
from nn2rules.questions.audit import INFLUENCE, Audit, Influence
from nn2rules.report.subject import Subject
from nn2rules.rules import (
    influence_rows,
    is_exact,
    n_rows,
    otherwise_text,
    shown_rule,
)

_MOST_AUDIT_RULES = 5  # for each way in which a protected feature flips the prediction


@dataclass(frozen=True)
class FeatureInfluence:
    """A feature, how often it alone can flip the prediction, and the width of a bar."""

    feature: str
    rows: str
    rows_share: str
    width: float
    inputs: str
    inputs_share: str
    remark: str


@dataclass(frozen=True)
class Section:
    """A title, and what the audit reports below it."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Features:
    """What is known about the features; `sections` are those of the audit."""

    influences: tuple[FeatureInfluence, ...]
    has_inputs: bool
    independent_of: tuple[str, ...]
    is_proved: bool
    sentences: tuple[str, ...]
    sections: tuple[Section, ...]


def features_of(subject: Subject) -> Features | None:
    """Return what the features do, by the audit or else the certificate, if known."""
    audit = subject.audit
    if audit is None:
        return _certified_features(subject)
    influences = list(audit.influence.values())
    alive = [one for one in influences if one.status != "independent"]
    head, *sections = _audit_sections(audit)
    return Features(
        tuple(_influence(one, audit.rows) for one in alive),
        any(one.inputs is not None for one in influences),
        tuple(map(quoted, audit.independent_of)),
        not any(one.status == "undecided" for one in influences),
        tuple(part.text for part in head.parts if isinstance(part, Paragraph)),
        tuple(section for section in sections if section.title != INFLUENCE),
    )


def _audit_sections(audit: Audit) -> list[Section]:
    """Return the sections of an audit with their titles."""
    sections = []
    for section in audit.document(_MOST_AUDIT_RULES).sections:
        assert not isinstance(section, RuleTable), "an audit shows rules in grids"
        title, *parts = section
        assert isinstance(title, Heading), "every section of an audit has a title"
        sections.append(Section(title.text, tuple(parts)))
    return sections


def _influence(one: Influence, n_rows: int) -> FeatureInfluence:
    is_unknown = one.status == "undecided"
    remarks = ["undecided: neither excluded nor found"] if is_unknown else []
    if one.of_rows is not None and one.of_rows != n_rows:
        remarks.append(f"of {one.of_rows:,} rows drawn at random")
    rows, total = one.rows, one.of_rows or 0
    is_counted = one.inputs is not None and one.of_inputs is not None
    return FeatureInfluence(
        quoted(one.feature),
        "" if rows is None else f"{rows:,}",
        "" if rows is None else share(rows, total),
        100 * rows / total if rows and total else 0.0,
        f"{one.inputs:,}" if is_counted else "",
        share(one.inputs or 0, one.of_inputs or 0) if is_counted else "",
        "; ".join(remarks),
    )


def _certified_features(subject: Subject) -> Features | None:
    """Return what the certificate says, about the rows that rules were made from."""
    total, counts = influence_rows(subject.description)
    if not total or not counts:
        return None
    ranked = sorted(counts, key=lambda name: -counts[name])
    is_drawn = total != n_rows(subject.description)
    remark = f"of {total:,} rows drawn at random" if is_drawn else ""
    influences = tuple(
        FeatureInfluence(
            quoted(name),
            f"{counts[name]:,}",
            share(counts[name], total),
            100 * counts[name] / total,
            "",
            "",
            remark,
        )
        for name in ranked
    )
    return Features(influences, False, (), False, (), ())


_MOST_RULES = 10  # with errors


@dataclass(frozen=True)
class RuleErrors:
    """A rule, the rows it determines, and on how many of them the model is wrong."""

    rule: ShownRule
    rows: str
    wrong: str
    rate: str
    part: str


@dataclass(frozen=True)
class Errors:
    """The errors of a model: `matrix` has a line for each true class."""

    summary: str
    classes: tuple[str, ...]
    matrix: tuple[tuple[str, ...], ...]
    by_rule: tuple[RuleErrors, ...]
    rest: str


def errors_of(subject: Subject) -> Errors | None:
    """Return where the model is wrong; None without labels or predictions."""
    rows, rules = subject.rows, subject.counted
    predicted = _predicted(subject)
    by_rule: tuple[RuleErrors, ...] = ()
    rest = ""
    if rows is None or rows.labels is None or predicted is None or not len(rows):
        return None
    is_wrong = rows.labels != predicted
    n_wrong, total = int(is_wrong.sum()), len(rows)
    n_classes = len(rules.classes)
    pairs = np.bincount(rows.labels * n_classes + predicted, minlength=n_classes**2)
    matrix = tuple(
        tuple(f"{number:,}" for number in line)
        for line in pairs.reshape(n_classes, n_classes).tolist()
    )
    if subject.card is None:
        by_rule, rest = _by_rule(subject, is_wrong)
    return Errors(
        f"The network is wrong on {n_wrong:,} of {count(total, 'row')} "
        f"({share(n_wrong, total)}).",
        tuple(label_text(label) for label in rules.classes),
        matrix,
        by_rule,
        rest,
    )


def _predicted(subject: Subject) -> NDArray[np.int64] | None:
    """Return the network's class of each row: its own, or by rules that equal it."""
    rows, rules = subject.rows, subject.counted
    if rows is None:
        return None
    if subject.network is not None:
        try:
            return rows.answers(subject.network)[rows.places]
        except UndecidedError:
            return None
    classes, is_covered = subject.rules.predictions(rows.codes_in(rules.domain))
    return classes if is_exact(rules) and is_covered.all() else None


def _by_rule(
    subject: Subject, is_wrong: NDArray[np.bool_]
) -> tuple[tuple[RuleErrors, ...], str]:
    """Return the rules with most errors, and a sentence on all others."""
    rows, rules = subject.rows, subject.rules
    assert rows is not None, "asked only where there are rows"
    fired = rules.match(rows.codes_in(rules.domain))
    determined = np.bincount(fired + 1, minlength=len(rules) + 1)
    errors = np.bincount(fired[is_wrong] + 1, minlength=len(rules) + 1)
    order = np.argsort(-errors, kind="stable")
    chosen = [place for place in order.tolist() if errors[place]][:_MOST_RULES]
    total = int(errors.sum())
    listed = tuple(
        RuleErrors(
            _shown(subject, place - 1),
            f"{determined[place]:,}",
            f"{errors[place]:,}",
            percent(int(errors[place]), int(determined[place])),
            share(int(errors[place]), total),
        )
        for place in chosen
    )
    n_others = int((errors > 0).sum()) - len(chosen)
    if n_others <= 0:
        return listed, ""
    n_left = total - int(errors[chosen].sum())
    verb = "has" if n_others == 1 else "have"
    return listed, f"{count(n_others, 'more rule')} {verb} {count(n_left, 'error')}."


def _shown(subject: Subject, index: int) -> ShownRule:
    """Return a rule, or the line for rows that no rule covers."""
    rules = subject.rules
    if index >= 0:
        return shown_rule(rules, rules.rules[index], ())
    if rules.scope == "support":
        return ShownRule("", "", (), "not covered by any rule", ())
    default = label_text(rules.default)
    return ShownRule("", default, (), otherwise_text(rules), ())
