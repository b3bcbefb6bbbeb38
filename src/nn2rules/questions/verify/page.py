"""Verdicts in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nn2rules.language import count, input_conditions, label_text, share
from nn2rules.output import Grid, Items, Line, Paragraph, Part, Piece
from nn2rules.space import Value

if TYPE_CHECKING:
    from nn2rules.questions.verify.result import Verdict

_STATUSES = ("proved", "refuted", "undecided")


@dataclass(frozen=True, slots=True)
class _Fact:
    """A sentence, and how often the claim is violated in each way."""

    text: str
    ways: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Example:
    """A counterexample: what its inputs share, and where they differ."""

    title: str
    shared: tuple[str, ...]
    differing: tuple[tuple[str, str], ...]


def parts_of(verdict: "Verdict", name: str = "") -> list[Part]:
    """Return a verdict in words, after the name of the claim if it has one."""
    kind = "strong" if verdict.status == "proved" else "warning"
    claim = (Piece(verdict.status, kind), ": ", Piece(verdict.claim))
    parts: list[Part] = [Line((Piece(f"{name}. ", "name"), *claim) if name else claim)]
    for fact in _facts(verdict):
        parts.append(Paragraph(fact.text, indent=2))
        if fact.ways:
            rows = tuple((f"{number:,}", way) for way, number in fact.ways.items())
            parts.append(Grid(rows, (True, False), indent=4, is_aligned=False))
    example = _example(verdict)
    if example is not None:
        parts.append(Paragraph(f"{example.title}:", indent=2))
        if example.shared:
            parts.append(Items(example.shared, " · ", indent=4))
        if example.differing:
            parts.append(_differing(example.differing))
    return parts


def _differing(parts: tuple[tuple[str, str], ...]) -> Grid:
    """Return where two inputs differ, and the prediction for each."""
    styles = ("", "strong")
    return Grid(parts, (False, False), (), styles, 4, gap=": ", is_aligned=False)


def _facts(verdict: "Verdict") -> list[_Fact]:
    """Return what is known of a claim."""
    facts = []
    if verdict.status == "undecided":
        spent = f"{verdict.boxes:,} boxes and {verdict.seconds:.1f} seconds"
        facts.append(_Fact(f"{verdict.reason}; spent: {spent}", {}))
    nouns = [("input", verdict.count, verdict.total, verdict.ways)]
    if verdict.on == "rows":
        nouns = []
    elif verdict.count is None and verdict.total and verdict.at_least is not None:
        ends = f"at least {verdict.at_least:,} and at most {verdict.at_most:,}"
        facts.append(_Fact(f"{ends} of {count(verdict.total, 'input')} violate it", {}))
    nouns.append(("row", verdict.rows, verdict.total_rows, verdict.row_ways))
    for noun, number, total, ways in nouns:
        if number is None or not total:
            continue
        if number == 0:
            all_of = f"all {total:,} {noun}s" if total > 1 else f"the only {noun}"
            facts.append(_Fact(f"holds for {all_of}", {}))
            continue
        verb = "violates" if number == 1 else "violate"
        part = share(number, total)
        sentence = f"{number:,} of {count(total, noun)} {verb} it ({part})"
        facts.append(_Fact(sentence, ways if len(ways) > 1 else {}))
    if verdict.contexts and verdict.total_contexts:
        contexts = count(verdict.total_contexts, "combination")
        sentence = f"in {verdict.contexts:,} of {contexts} of the other features"
        facts.append(_Fact(sentence, {}))
    return facts


def _example(verdict: "Verdict") -> _Example | None:
    """Return the counterexample; what two inputs share is stated once."""
    example, prediction = verdict.counterexample, verdict.prediction
    if example is None:
        return None
    near = ""
    if verdict.distance is not None:
        near = f" ({count(verdict.distance, 'feature')} from the nearest row)"
        near = " (a row)" if verdict.distance == 0 else near
    if isinstance(example, dict):
        assert not isinstance(prediction, tuple), "one input has one prediction"
        parts = _parts(verdict, example)
        title = f"counterexample{near}, predicted {label_text(prediction)}"
        return _Example(title, tuple(parts), ())
    one, other = example
    assert isinstance(prediction, tuple), "two inputs have two predictions"
    shared = {name: value for name, value in one.items() if other[name] == value}
    differing_parts = []
    for row, label in zip(example, prediction, strict=True):
        differing = {name: value for name, value in row.items() if name not in shared}
        differing_parts.append(
            (" · ".join(_parts(verdict, differing)), label_text(label))
        )
    return _Example(
        f"counterexample{near}", tuple(_parts(verdict, shared)), tuple(differing_parts)
    )


def _parts(verdict: "Verdict", row: Mapping[str, Value]) -> list[str]:
    """Return an input in the words of rules."""
    assert verdict.domain is not None, "verdicts with an example know their domain"
    return input_conditions(verdict.domain, row)


def book_of(verdicts: Mapping[str, "Verdict"]) -> list[Part]:
    """Return the verdicts of several claims."""
    return [p for name, one in verdicts.items() for p in parts_of(one, name)]


def summary(verdicts: Sequence["Verdict"]) -> str:
    """Return how many claims are proved, refuted and undecided."""
    statuses = [verdict.status for verdict in verdicts]
    numbers = [f"{statuses.count(s)} {s}" for s in _STATUSES if s in statuses]
    numbers_text = f": {', '.join(numbers)}" if numbers else ""
    return f"{count(len(verdicts), 'claim')}{numbers_text}"
