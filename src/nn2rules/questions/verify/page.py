"""Verdicts in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nn2rules.language import count, input_conditions, label_text, share
from nn2rules.output import Grid, Items, Line, Paragraph, Part, Piece
from nn2rules.space import Value

if TYPE_CHECKING:
    from nn2rules.questions.verify.result import Verdict

_STATUSES = ("proved", "refuted", "open")


@dataclass(frozen=True, slots=True)
class _Fact:
    """A sentence, and how often each way is that it speaks of."""

    said: str
    ways: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Example:
    """A counterexample: what its inputs share, and what each has of its own."""

    title: str
    shared: tuple[str, ...]
    own: tuple[tuple[str, str], ...]


def parts_of(found: "Verdict", name: str = "") -> list[Part]:
    """Return what is said of a claim, which may have a name in a book."""
    kind = "strong" if found.status == "proved" else "warning"
    claim = (Piece(found.status, kind), ": ", Piece(found.claim))
    parts: list[Part] = [Line((Piece(f"{name}. ", "name"), *claim) if name else claim)]
    for fact in _facts(found):
        parts.append(Paragraph(fact.said, indent=2))
        if fact.ways:
            rows = tuple((f"{number:,}", way) for way, number in fact.ways.items())
            parts.append(Grid(rows, (True, False), indent=4, is_aligned=False))
    example = _example(found)
    if example is not None:
        parts.append(Paragraph(f"{example.title}:", indent=2))
        if example.shared:
            parts.append(Items(example.shared, " · ", indent=4))
        if example.own:
            parts.append(_own(example.own))
    return parts


def _own(own: tuple[tuple[str, str], ...]) -> Grid:
    """Return what each of two inputs has of its own, and its answer."""
    kinds = ("", "strong")
    return Grid(own, (False, False), (), kinds, 4, gap=": ", is_aligned=False)


def _facts(found: "Verdict") -> list[_Fact]:
    """Return what is known of a claim."""
    facts = []
    if found.status == "open":
        spent = f"{found.boxes:,} boxes and {found.seconds:.1f} seconds"
        facts.append(_Fact(f"{found.reason}; spent: {spent}", {}))
    nouns = [("input", found.count, found.total, found.ways)]
    if found.on == "rows":
        nouns = []
    elif found.count is None and found.total and found.at_least is not None:
        ends = f"at least {found.at_least:,} and at most {found.at_most:,}"
        facts.append(_Fact(f"{ends} of {count(found.total, 'input')} break it", {}))
    nouns.append(("row", found.rows, found.total_rows, found.row_ways))
    for noun, number, total, ways in nouns:
        if number is None or not total:
            continue
        if number == 0:
            all_of = f"all {total:,} {noun}s" if total > 1 else f"the only {noun}"
            facts.append(_Fact(f"holds for {all_of}", {}))
            continue
        verb = "breaks" if number == 1 else "break"
        part = share(number, total)
        said = f"{number:,} of {count(total, noun)} {verb} it ({part})"
        facts.append(_Fact(said, ways if len(ways) > 1 else {}))
    if found.contexts and found.total_contexts:
        whole = count(found.total_contexts, "context")
        said = f"in {found.contexts:,} of {whole} of the other features"
        facts.append(_Fact(said, {}))
    return facts


def _example(found: "Verdict") -> _Example | None:
    """Return the counterexample: of two inputs, what they share is said once."""
    example, answer = found.counterexample, found.answer
    if example is None:
        return None
    near = ""
    if found.distance is not None:
        near = f", {count(found.distance, 'feature')} from a row"
        near = ", a row" if found.distance == 0 else near
    if isinstance(example, dict):
        assert not isinstance(answer, tuple), "one input has one answer"
        parts = _parts(found, example)
        return _Example(f"{label_text(answer)} here{near}", tuple(parts), ())
    one, other = example
    assert isinstance(answer, tuple), "two inputs have two answers"
    shared = {name: value for name, value in one.items() if other[name] == value}
    own = []
    for row, label in zip(example, answer, strict=True):
        differing = {name: value for name, value in row.items() if name not in shared}
        own.append((" · ".join(_parts(found, differing)), label_text(label)))
    return _Example(f"as here{near}", tuple(_parts(found, shared)), tuple(own))


def _parts(found: "Verdict", row: Mapping[str, Value]) -> list[str]:
    """Return an input in the words of rules."""
    assert found.domain is not None, "verdicts with an example know their domain"
    return input_conditions(found.domain, row)


def book_of(found: Mapping[str, "Verdict"]) -> list[Part]:
    """Return the verdicts of several claims."""
    return [p for name, verdict in found.items() for p in parts_of(verdict, name)]


def summary(found: Sequence["Verdict"]) -> str:
    """Return how many claims are proved, refuted and open."""
    statuses = [verdict.status for verdict in found]
    numbers = [f"{statuses.count(s)} {s}" for s in _STATUSES if s in statuses]
    said = f": {', '.join(numbers)}" if numbers else ""
    return f"{count(len(found), 'claim')}{said}"
