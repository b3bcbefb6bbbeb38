"""Explanations in words, which can go into a letter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nn2rules.language import count, label_text, value_condition
from nn2rules.output import Grid, Heading, Paragraph, Part
from nn2rules.space import Feature, Range, Value, is_missing, is_number

if TYPE_CHECKING:
    from nn2rules.questions.explain.result import Explanation

_LINE = 80  # characters of conditions that share a line


@dataclass(frozen=True, slots=True)
class _Section:
    """A title, the lines it lists, and the sentences below them."""

    title: str
    lines: tuple[str, ...] = ()
    below: tuple[str, ...] = ()


def _feature(explanation: "Explanation", name: str) -> Feature:
    assert explanation.domain is not None, "explanations know their domain"
    return explanation.domain.feature(name)


def reason_text(explanation: "Explanation", reason: Mapping[str, Any]) -> str:
    """Return the conditions of a reason in one line."""
    texts = conditions(explanation, reason)
    return " · ".join(texts) or "(no condition: every input has this class)"


def conditions(explanation: "Explanation", reason: Mapping[str, Any]) -> list[str]:
    """Return the conditions of a reason, as rules print them."""
    texts = []
    for name, allowed in reason.items():
        values = allowed if isinstance(allowed, list) else [allowed]
        texts.append(value_condition(_feature(explanation, name), values))
    return texts


def change_text(explanation: "Explanation", change: Mapping[str, Value]) -> str:
    """Return a counterfactual as text: the features before and after the change."""
    return _before_and_after(
        explanation, {name: [value] for name, value in change.items()}
    )


def _before_and_after(
    explanation: "Explanation", after: Mapping[str, Sequence[Value]]
) -> str:
    """Return what features are → what they become; conditions on both sides."""
    before = {name: [explanation.row[name]] for name in after}
    texts = [" · ".join(conditions(explanation, side)) for side in (before, after)]
    return " → ".join(texts)


def points_texts(explanation: "Explanation") -> list[str]:
    """Return what features cost, each in one line."""
    texts = []
    for lost in explanation.points or ():
        sides = ({lost.feature: [value]} for value in (lost.value, lost.instead))
        own, other = (conditions(explanation, side)[0] for side in sides)
        code = "" if lost.code is None else f"   {lost.code}"
        compared = f"{explanation.points_against}: {other}"
        texts.append(f"{own}: {lost.points:,g} ({compared}){code}")
    return texts


def _sections(explanation: "Explanation", most: int) -> list[_Section]:
    """Return all that is known of a row, with at most `most` counterfactuals."""
    sections = [_prediction(explanation), _reasons(explanation)]
    if explanation.has_counterfactuals:
        sections.append(_counterfactuals(explanation, most))
    if explanation.points is not None:
        title = "Points that each feature costs towards another class (scorecard):"
        lines = tuple(points_texts(explanation))
        sections.append(_Section(title, lines or ("none",)))
    if explanation.reason_codes is not None:
        codes = enumerate(explanation.reason_codes, 1)
        numbered = tuple(f"{number}. {text}" for number, text in codes)
        sections.append(_Section("Reason codes", numbered or ("none",)))
    if explanation.rules is not None:
        lines = tuple(
            f"{rule.text}{' (determines the prediction)' if rule.determines else ''}"
            for rule in explanation.rules
        )
        sections.append(_Section("Rules that cover this row", lines or ("none",)))
    if explanation.undecided:
        sections.append(_Section("Undecided", tuple(explanation.undecided)))
    return sections


def _prediction(explanation: "Explanation") -> _Section:
    title = (
        f"Prediction: {label_text(explanation.prediction)} (probability "
        f"{_rounded(explanation.probability)}, margin {explanation.margin:.3g})."
    )
    if not explanation.is_fragile:
        return _Section(title)
    rounding = "The deployed model may predict another class here, because it rounds."
    return _Section(title, below=(rounding,))


def _rounded(probability: float) -> str:
    """Return a probability with three decimals, never rounded to 0 or 1."""
    if probability < 0.001:
        return "below 0.001"
    if probability > 0.999:
        return "above 0.999"
    return f"{probability:.3f}"


def _reasons(explanation: "Explanation") -> _Section:
    reasons, proved = explanation.reasons, explanation.proved
    if not reasons[0]:
        return _Section("Every input gets this prediction.")
    below = []
    if proved.smallest:
        size = count(len(reasons[0]), "condition")
        below.append(f"No reason has fewer than {size}.")
    if proved.every_reason:
        below.append("There is no other reason.")
    texts = [reason_text(explanation, reason) for reason in reasons]
    title = "Each of these reasons alone guarantees it:"
    if len(reasons) == 1:
        if len(texts[0]) > _LINE:
            texts = conditions(explanation, reasons[0])
        rest = len(explanation.row) - len(reasons[0])
        others = f"the other {rest} features" if rest > 1 else "the other feature"
        regardless = f", regardless of {others}" if rest else ""
        title = f"These conditions alone guarantee it{regardless}:"
    return _Section(title, tuple(texts), tuple(below))


def _counterfactuals(explanation: "Explanation", most: int) -> _Section:
    changes, proved = explanation.counterfactuals, explanation.proved
    radius = _radius(explanation)
    if not changes:
        title = "No counterfactual was found."
        if explanation.radius == len(explanation.row):
            return _Section("No change flips the prediction (proved).")
        if proved.fewest:
            title = "No allowed change flips the prediction (proved)."
        return _Section(title, (), radius)
    grouped = _grouped(explanation)
    lines = [line for line, _ in grouped[:most]]
    rest = sum(number for _, number in grouped[most:])
    if rest:
        at_least = "" if proved.every_counterfactual else "at least "
        lines.append(f"… and {at_least}{rest:,} more")
    below = []
    if proved.fewest:
        smaller = "cheaper" if explanation.is_cost else "smaller"
        below.append(f"No {smaller} change flips the prediction.")
    if any(_is_from_missing(explanation, change) for change in changes):
        below.append(
            "No number is closest to a missing value: the one shown is an example."
        )
    return _Section(_how_many(explanation), tuple(lines), (*below, *radius))


def _how_many(explanation: "Explanation") -> str:
    """Return the title of the counterfactuals: how many there are, and what each costs.

    The cost is the number of features that change, unless the user gave costs.
    """
    changes = explanation.counterfactuals
    size = count(len(changes[0]), "change")
    if explanation.is_cost:
        size = f"cost {explanation.cost:g}"
    if len(changes) == 1:
        return f"Counterfactual ({size}):"
    number = f"{len(changes):,} counterfactuals ({size} each):"
    is_all = explanation.proved.every_counterfactual
    return number if is_all else f"At least {number}"


def _is_from_missing(explanation: "Explanation", change: dict[str, Value]) -> bool:
    """Tell whether a missing value becomes one of many numbers."""
    return any(
        explanation.domain is not None
        and is_missing(explanation.row[name])
        and is_number(value)
        and isinstance(explanation.domain.feature(name), Range)
        for name, value in change.items()
    )


def _grouped(explanation: "Explanation") -> list[tuple[str, int]]:
    """Return counterfactuals as lines, and how many each line holds.

    Those of one feature to the same class share a line.
    """
    groups: dict[Any, list[dict[str, Value]]] = {}
    both = zip(explanation.counterfactuals, explanation.outcomes, strict=True)
    for place, (change, outcome) in enumerate(both):
        key = tuple(change) if len(change) == 1 else place
        groups.setdefault((key, outcome), []).append(change)
    lines = []
    for (_, outcome), changes in groups.items():
        text = change_text(explanation, changes[0])
        if len(changes) > 1:
            [name] = changes[0]
            after = {name: [change[name] for change in changes]}
            text = _before_and_after(explanation, after)
        lines.append((f"{text}   ({label_text(outcome)})", len(changes)))
    return lines


def _radius(explanation: "Explanation") -> tuple[str, ...]:
    radius, n_features = explanation.radius, len(explanation.row)
    if radius is None:
        return ()
    if radius == n_features:
        return ("No change of any features flips the prediction.",)
    if radius == 0:
        return ("Changing a single feature can flip the prediction.",)
    which = "one feature" if radius == 1 else f"up to {radius} features"
    return (f"Changing {which} never flips the prediction; changing {radius + 1} can.",)


def parts_of(explanation: "Explanation", most: int) -> tuple[Part, ...]:
    """Return an explanation with at most `most` lines of counterfactuals."""
    parts: list[Part] = []
    for section in _sections(explanation, most):
        parts.append(Heading(section.title, "strong"))
        if section.lines:
            rows = tuple((line,) for line in section.lines)
            parts.append(Grid(rows, (False,), indent=2, is_aligned=False))
        parts += [Paragraph(line, "faint") for line in section.below]
    return tuple(parts)
