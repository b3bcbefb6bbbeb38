"""What changed by more than its threshold, as sentences that name a rule or a value."""

from collections.abc import Iterator

from nn2rules.language import count, share
from nn2rules.monitoring.drift import wilson_interval
from nn2rules.monitoring.result import (
    Breakdown,
    Finding,
    Level,
    Monitoring,
    Rate,
    Thresholds,
)

_NAMED = 3

_FEWEST_WRONG = 5
"""With fewer rows whose label differs, the agreement is not said to fall."""


def findings_of(found: Monitoring) -> tuple[Finding, ...]:
    """Return what to look at, major changes first."""
    listed = [
        *_distributions(found),
        *_shares(found),
        *_labels(found),
        *_model(found),
    ]
    return tuple(sorted(listed, key=lambda one: one.level != "major"))


def level_of(
    one: Breakdown, thresholds: Thresholds, period: int | None = None
) -> Level | None:
    """Return how large a shift is; None if it is small, or may be chance."""
    value, chance = one.psi(period), one.psi_by_chance(period)
    if value is None or chance is None or value <= chance or value < thresholds.psi:
        return None
    return "major" if value >= thresholds.major_psi else "moderate"


def shift_text(one: Breakdown, place: int, period: int | None = None) -> str:
    """Return the shares of a cell, in words."""
    sides = one.new(period=period), one.reference()
    new, reference = (share(int(rows[place]), int(rows.sum())) for rows in sides)
    return f"{one.cells[place].words}: {new} of rows, {reference} in the reference"


def _distributions(found: Monitoring) -> Iterator[Finding]:
    """Yield breakdowns whose PSI is too large, over all new rows or in periods."""
    for one in found.breakdowns:
        periods = range(len(found.periods)) if found.by else ()
        levels = {p: level_of(one, found.thresholds, p) for p in (None, *periods)}
        if not any(levels.values()):
            continue
        values = {p: one.psi(p) or 0.0 for p, level in levels.items() if level}
        level: Level = "major" if "major" in levels.values() else "moderate"
        highest = [p for p in values if levels[p] == level]
        worst = None if None in highest else max(highest, key=lambda p: values[p])
        value = values[worst]
        text = f"{one.title}: PSI {value:.2f} ({level})"
        if worst is not None:
            text += f" in {found.periods[worst]}"
        shifts = [shift_text(one, p, worst) for p in one.largest_shifts(1, worst)]
        text += f"; {shifts[0]}" if shifts else ""
        others = [p for p in values if p not in (None, worst)]
        if others:
            others.sort(key=lambda p: -values[p])
            listed = [f"{found.periods[p]} {values[p]:.2f}" for p in others[:_NAMED]]
            more = len(others) - len(listed)
            listed += [f"{more} more"] if more else []
            text += f"; {'by period' if worst is None else 'also'}: {', '.join(listed)}"
        yield Finding(level, one.title, text, value, found.thresholds.psi)


def _shares(found: Monitoring) -> Iterator[Finding]:
    """Yield shares of new rows that are not covered, or outside the domain."""
    for about, ask, most in (
        ("not covered", found.uncovered, found.thresholds.uncovered),
        ("outside the domain", found.outside_domain, found.thresholds.outside),
    ):
        new = ask(reference=False)
        if new.share is None or new.share <= most:
            continue
        text = (
            f"{about}: {_of_rows(new)}, {_of_rows(ask(reference=True))} in the "
            f"reference; the limit is {most:.4g}"
        )
        if about == "outside the domain":
            text += f"; {outside_text(found)}"
        yield Finding("major", about, text, new.share, most)


def _of_rows(rate: Rate) -> str:
    return f"{share(rate.part, rate.whole)} of rows"


def outside_text(found: Monitoring) -> str:
    """Return which values are outside the domain most often."""
    listed = [
        (rows, f"{name} = {value} ({count(rows, 'row')})")
        for name, values in found.outside.items()
        for value, rows in values[:1]
    ]
    listed.sort(key=lambda pair: -pair[0])
    return "most often " + ", ".join(text for _, text in listed[:_NAMED])


def _labels(found: Monitoring) -> Iterator[Finding]:
    """Yield drops of the label agreement: overall, and by rule or band."""
    drop = found.thresholds.drop
    for one, places in (
        (found.classes, [None]),
        *(
            (each, [*range(len(each.cells))])
            for each in (found.rules, found.bands)
            if each is not None
        ),
    ):
        tested = [
            (place, before, after)
            for place in places
            for before in [one.rate("right", place, reference=True)]
            for after in [one.rate("right", place, reference=False)]
            if before.whole and after.whole
        ]
        confidence = 1 - 0.05 / max(1, len(tested))
        for place, before, after in tested:
            fall = (before.share or 0.0) - (after.share or 0.0)
            low = wilson_interval(before.part, before.whole, confidence)[0]
            high = wilson_interval(after.part, after.whole, confidence)[1]
            is_few = after.whole - after.part < _FEWEST_WRONG
            if fall <= drop or high >= low or is_few:
                continue
            about = "label agreement"
            where = "" if place is None else f", {one.cells[place].words}"
            text = (
                f"{about}{where}: {share(after.part, after.whole)} of "
                f"{count(after.whole, 'row')}, {share(before.part, before.whole)} in "
                f"the reference"
            )
            yield Finding("major", about, text, fall, drop)


def _model(found: Monitoring) -> Iterator[Finding]:
    """Yield new rows on which the model predicts otherwise."""
    rate = found.agreement("same", reference=False)
    n_other = rate.whole - rate.part
    if found.has_model and n_other:
        text = (
            f"model agreement: the model predicts otherwise on {n_other:,} of "
            f"{count(rate.whole, 'covered row')}; it is not the model of this "
            f"description, or the description is not exact"
        )
        yield Finding("major", "model agreement", text, n_other / rate.whole, 0.0)
