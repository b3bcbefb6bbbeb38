"""An audit as plain values, and as data frames."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import narwhals as nw

from nn2rules.auditing.findings import Protected, Trend
from nn2rules.auditing.shown_rows import turned_by
from nn2rules.errors import MissingExtraError, OptionError
from nn2rules.text import label_text, unused
from nn2rules.values import Value
from nn2rules.verifying import Verdict

if TYPE_CHECKING:
    from nn2rules.auditing.report import Audit

PARTS = ("influence", "monotone", "shares", "fragile")
"""What there are data frames of."""


def dict_of(audit: "Audit") -> dict[str, Any]:
    """Return what `Audit.to_dict` does."""
    return {
        "status": audit.status,
        "how": audit.how,
        "warnings": [*audit.warnings],
        "classes": [*audit.classes],
        "of_inputs": audit.domain.n_numbers,
        "of_rows": audit.rows,
        "dead": [*audit.dead],
        "open": [*audit.open],
        "protected": [_protected(one) for one in audit.protected.values()],
        "influence": [
            {
                "feature": one.feature,
                "status": one.status,
                "rows": one.rows,
                "of_rows": one.of_rows,
                "inputs": one.inputs,
                "of_inputs": one.of_inputs,
            }
            for one in audit.influence.values()
        ],
        "monotone": [
            _trend(trend) for by in audit.monotone.values() for trend in by.values()
        ],
        "shares": [
            {
                "feature": name,
                "value": list(g.value) if isinstance(g.value, tuple) else g.value,
                "text": g.text,
                "rows": g.rows,
                "answers": _counts(g.classes),
                "labels": None if g.labels is None else _counts(g.labels),
            }
            for name, groups in audit.shares.items()
            for g in groups
        ],
        "fragile": [
            {"place": one.place, "times": one.times, **one.explanation.to_dict()}
            for one in audit.fragile
        ],
    }


def _counts(found: Mapping[Value, int]) -> list[dict[str, Any]]:
    return [{"class": label, "rows": number} for label, number in found.items()]


def _protected(found: Protected) -> dict[str, Any]:
    verdict, rules = found.verdict, found.rules
    return {
        "feature": found.feature,
        "status": found.status,
        "verdict": None if verdict is None else verdict.to_dict(),
        "answers": [
            {"value": value, "answers": _counts(by_class)}
            for value, by_class in found.answers.items()
        ],
        "n_rules": None if rules is None else len(rules),
        "rules": []
        if rules is None
        else [
            {
                "way": rule.then,
                "if": {c.feature: [*c.values] for c in rule.conditions},
                "inputs": rule.inputs,
                "rows": rule.fits,
            }
            for rule in rules.rules
            if rule.fits
        ],
    }


def _trend(trend: Trend) -> dict[str, Any]:
    def told(verdict: Verdict | None) -> dict[str, Any] | None:
        return None if verdict is None else verdict.to_dict()

    return {
        "feature": trend.feature,
        "toward": trend.toward,
        "direction": trend.direction,
        "falls": trend.falls,
        "rises": trend.rises,
        "contexts": trend.contexts,
        "increasing": told(trend.increasing),
        "decreasing": told(trend.decreasing),
    }


def frame_of(audit: "Audit", part: str, backend: Any) -> Any:
    """Return what `Audit.to_frame` does."""
    if part not in PARTS:
        raise OptionError(f"part: {part!r}, expected {', '.join(PARTS)}")
    if backend not in ("pandas", "polars", "pyarrow"):
        raise OptionError(
            f"backend: {backend!r}, expected 'pandas', 'polars' or 'pyarrow'"
        )
    columns = {"shares": _shares, "fragile": _fragile}.get(part, _told)
    try:
        return nw.from_dict(columns(audit, part), backend=backend).to_native()
    except ModuleNotFoundError:
        raise MissingExtraError(backend, backend, "to_frame()") from None


def _told(audit: "Audit", part: str) -> dict[str, list[Any]]:
    """Return columns of what `to_dict` has, without verdicts."""
    entries = dict_of(audit)[part]
    names = {
        "influence": ("feature", "status", "rows", "of_rows", "inputs", "of_inputs"),
        "monotone": ("feature", "toward", "direction", "falls", "rises", "contexts"),
    }
    return {name: [entry[name] for entry in entries] for name in names[part]}


def _shares(audit: "Audit", _part: str) -> dict[str, list[Any]]:
    both = [(name, group) for name, of in audit.shares.items() for group in of]
    found: dict[str, list[Any]] = {
        "feature": [name for name, _ in both],
        "value": [group.text for _, group in both],
        "rows": [group.rows for _, group in both],
    }
    for label in audit.classes:
        found[f"answered {label_text(label)}"] = [g.classes[label] for _, g in both]
    if any(group.labels is not None for _, group in both):
        for label in audit.classes:
            found[f"labelled {label_text(label)}"] = [
                None if g.labels is None else g.labels[label] for _, g in both
            ]
    return found


def _fragile(audit: "Audit", _part: str) -> dict[str, list[Any]]:
    names = audit.domain.names
    found: dict[str, list[Any]] = {
        name: [one.explanation.row[name] for one in audit.fragile] for name in names
    }
    columns: dict[str, list[Any]] = {
        "place": [one.place for one in audit.fragile],
        "times": [one.times for one in audit.fragile],
        "answer": [one.explanation.answer for one in audit.fragile],
        "margin": [one.explanation.margin for one in audit.fragile],
        "radius": [one.explanation.radius for one in audit.fragile],
        "turns with": [turned_by(one) for one in audit.fragile],
    }
    return found | {unused(name, names): column for name, column in columns.items()}
