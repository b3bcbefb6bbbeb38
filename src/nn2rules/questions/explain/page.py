"""Explanations in words, which can go into a letter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nn2rules.language import count, label_text, value_condition
from nn2rules.output import Grid, Heading, Paragraph, Part
from nn2rules.space import Feature, Value, is_missing, is_number

if TYPE_CHECKING:
    from nn2rules.questions.explain.result import Explanation

_LINE = 80  # characters of conditions that share a line


@dataclass(frozen=True, slots=True)
class _Section:
    """A sentence, what it lists, and what is said below."""

    title: str
    lines: tuple[str, ...] = ()
    below: tuple[str, ...] = ()


def _feature(explanation: "Explanation", name: str) -> Feature:
    assert explanation.domain is not None, "explanations know their domain"
    return explanation.domain.feature(name)


def reason_text(explanation: "Explanation", reason: Mapping[str, Any]) -> str:
    """Return the conditions of a reason in one line."""
    texts = conditions(explanation, reason)
    return " · ".join(texts) or "(nothing: every input is of this class)"


def conditions(explanation: "Explanation", reason: Mapping[str, Any]) -> list[str]:
    """Return the conditions of a reason, as rules print them."""
    texts = []
    for name, allowed in reason.items():
        values = allowed if isinstance(allowed, list) else [allowed]
        texts.append(value_condition(_feature(explanation, name), values))
    return texts


def change_text(explanation: "Explanation", change: Mapping[str, Value]) -> str:
    """Return a change: what its features are, and what they become."""
    return _becoming(explanation, {name: [value] for name, value in change.items()})


def _becoming(explanation: "Explanation", new: Mapping[str, Sequence[Value]]) -> str:
    """Return what features are → what they become; conditions on both sides."""
    now = conditions(explanation, {name: [explanation.row[name]] for name in new})
    return f"{' · '.join(now)} → {' · '.join(conditions(explanation, new))}"


def _sections(explanation: "Explanation", most: int) -> list[_Section]:
    """Return all that is said of a row, with so many changes at most."""
    found = [_answer(explanation), _reasons(explanation)]
    if explanation.has_changes:
        found.append(_changes(explanation, most))
    if explanation.codes is not None:
        numbered = [f"{n}. {text}" for n, text in enumerate(explanation.codes, 1)]
        found.append(_Section("Reason codes", tuple(numbered or ["none"])))
    if explanation.rules is not None:
        lines = [
            f"{rule.text}{' (decides)' if rule.decides else ''}"
            for rule in explanation.rules
        ]
        found.append(_Section("Rules that hold", tuple(lines or ["none"])))
    if explanation.open:
        found.append(_Section("Not known", tuple(explanation.open)))
    return found


def _answer(explanation: "Explanation") -> _Section:
    known = f"probability {_share(explanation.probability)}"
    below = []
    if explanation.is_fragile:
        below = ["The model may answer otherwise, because it rounds."]
    title = (
        f"The answer is {label_text(explanation.answer)} ({known}, margin "
        f"{explanation.margin:.3g})."
    )
    return _Section(title, (), tuple(below))


def _share(probability: float) -> str:
    """Return a probability with three decimals, never rounded to 0 or 1."""
    if probability < 0.001:
        return "below 0.001"
    if probability > 0.999:
        return "above 0.999"
    return f"{probability:.3f}"


def _reasons(explanation: "Explanation") -> _Section:
    reasons, proved = explanation.reasons, explanation.proved
    n_features = len(explanation.row)
    texts = [reason_text(explanation, reason) for reason in reasons]
    below = []
    if proved.smallest and reasons[0]:
        size = len(reasons[0])
        below.append(f"No reason has fewer than {count(size, 'condition')}.")
    if proved.every_reason:
        below.append("There is no other reason.")
    if not reasons[0]:
        return _Section("It is the answer to every input, whatever the values are.")
    if len(reasons) == 1:
        if len(texts[0]) > _LINE:
            texts = conditions(explanation, reasons[0])
        rest = n_features - len(reasons[0])
        others = (
            f"the other {rest} features are" if rest > 1 else "the other feature is"
        )
        whatever = f", whatever {others}" if rest else ""
        title = f"It follows from these conditions alone{whatever}:"
    else:
        title = "It follows from each of these alone, whatever other features are:"
    return _Section(title, tuple(texts), tuple(below))


def _changes(explanation: "Explanation", most: int) -> _Section:
    changes, proved = explanation.changes, explanation.proved
    radius = _radius(explanation)
    if not changes:
        title = "No change is known that turns it."
        if proved.fewest:
            title = "No change that is allowed turns it; this is proved."
        return _Section(title, (), radius)
    grouped = _grouped(explanation)
    lines = [line for line, _ in grouped[:most]]
    rest = sum(number for _, number in grouped[most:])
    more = "or more " if not proved.every_change else ""
    if rest:
        ways = "way" if rest == 1 and not more else "ways"
        lines.append(f"… and {rest:,} {more}other {ways}")
    size = count(len(changes[0]), "change")
    if explanation.is_cost:
        size = f"changes that cost {explanation.cost:g}"
    ways = "" if len(changes) == 1 else f", in {len(changes):,} {more}ways"
    title = f"It turns with {size}{ways}:"
    below = ["Nothing less turns it."] if proved.fewest else []
    if any(_is_from_missing(explanation, change) for change in changes):
        below.append(
            "From missing, no number is nearer than others: the one that is shown "
            "turns it, and others may."
        )
    return _Section(title, tuple(lines), (*below, *radius))


def _is_from_missing(explanation: "Explanation", change: dict[str, Value]) -> bool:
    """Tell whether a missing value becomes one of many numbers."""
    return any(
        explanation.domain is not None
        and is_missing(explanation.row[name])
        and is_number(value)
        and explanation.domain.feature(name).limits is not None
        for name, value in change.items()
    )


def _grouped(explanation: "Explanation") -> list[tuple[str, int]]:
    """Return changes as lines, and how many each holds.

    Those of one feature to the same class share a line.
    """
    groups: dict[Any, list[dict[str, Value]]] = {}
    both = zip(explanation.changes, explanation.outcomes, strict=True)
    for place, (change, outcome) in enumerate(both):
        key = tuple(change) if len(change) == 1 else place
        groups.setdefault((key, outcome), []).append(change)
    lines = []
    for (_, outcome), changes in groups.items():
        text = change_text(explanation, changes[0])
        if len(changes) > 1:
            [name] = changes[0]
            text = _becoming(explanation, {name: [each[name] for each in changes]})
        lines.append((f"{text}   ({label_text(outcome)})", len(changes)))
    return lines


def _radius(explanation: "Explanation") -> tuple[str, ...]:
    radius, n_features = explanation.radius, len(explanation.row)
    if radius is None:
        return ()
    if radius == n_features:
        return ("It stays whatever the features become.",)
    if radius == 0:
        return ("A single feature can turn it.",)
    which = (
        "any one feature becomes" if radius == 1 else f"any {radius} features become"
    )
    return (f"It stays whatever {which}; {radius + 1} can turn it.",)


def parts_of(explanation: "Explanation", most: int) -> tuple[Part, ...]:
    """Return an explanation, with so many changes at most."""
    parts: list[Part] = []
    for section in _sections(explanation, most):
        parts.append(Heading(section.title, "strong"))
        if section.lines:
            rows = tuple((line,) for line in section.lines)
            parts.append(Grid(rows, (False,), indent=2, is_aligned=False))
        parts += [Paragraph(line, "faint") for line in section.below]
    return tuple(parts)
