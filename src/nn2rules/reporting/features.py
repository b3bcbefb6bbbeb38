"""What each feature does: how often it turns an answer, and of whom."""

from dataclasses import dataclass

from nn2rules.auditing.findings import Influence
from nn2rules.auditing.page import Section, sections_of
from nn2rules.reporting.subject import Subject
from nn2rules.rules.known import n_rows
from nn2rules.rules.turned import turned_rows
from nn2rules.text import quoted, share

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
    head, *sections = sections_of(audit, _TOP)
    left = [
        s for s in sections if not s.title.startswith("What can turn an answer, alone")
    ]
    return Features(
        tuple(_turning(one, audit.rows) for one in found if one.status != "dead"),
        any(one.inputs is not None for one in found),
        tuple(map(quoted, audit.dead)),
        not any(one.status == "open" for one in found),
        tuple(part for part in head.parts if isinstance(part, str)),
        tuple(left),
    )


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
