"""Verdicts in words: plain text that can go into a letter, and HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nn2rules.language import count, input_conditions, label_text, share
from nn2rules.output import document, paragraph, piece, table
from nn2rules.rules import filled
from nn2rules.space import Value

if TYPE_CHECKING:
    from nn2rules.questions.verify.verdict import Verdict

_WIDTH = 88
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


def text_of(found: "Verdict") -> str:
    """Return a verdict as plain text."""
    lines = [f"{found.status}: {found.claim}"]
    for fact in _facts(found):
        lines.append(f"  {fact.said}")
        lines += [f"    {number:,}  {way}" for way, number in fact.ways.items()]
    example = _example(found)
    if example is not None:
        lines.append(f"  {example.title}:")
        if example.shared:
            filling = filled(example.shared, " · ", _WIDTH - 4)
            lines += [f"    {line}" for line in filling]
        lines += [f"    {own}: {label}" for own, label in example.own]
    return "\n".join(lines)


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


def book_text(found: Mapping[str, "Verdict"]) -> str:
    """Return the verdicts of several claims, and how many hold."""
    parts = [f"{name}. {verdict}" for name, verdict in found.items()]
    return "\n".join([*parts, summary(list(found.values()))])


def summary(found: Sequence["Verdict"]) -> str:
    """Return how many claims are proved, refuted and open."""
    statuses = [verdict.status for verdict in found]
    numbers = [f"{statuses.count(s)} {s}" for s in _STATUSES if s in statuses]
    said = f": {', '.join(numbers)}" if numbers else ""
    return f"{count(len(found), 'claim')}{said}"


def html_of(found: "Verdict") -> str:
    """Return a verdict as a notebook shows it."""
    return document(_html(found, ""))


def book_html(found: Mapping[str, "Verdict"]) -> str:
    """Return the verdicts of several claims as a notebook shows them."""
    parts = [f"<p>{piece(summary(list(found.values())), 'title')}</p>"]
    for name, verdict in found.items():
        parts += _html(verdict, f"{name}. ")
    return document(parts)


def _html(found: "Verdict", name: str) -> list[str]:
    """Return the parts of a page about one claim."""
    kind = "strong" if found.status == "proved" else "warning"
    status = piece(found.status, kind)
    parts = [
        f"<p>{piece(name, 'name') if name else ''}{status}: {piece(found.claim)}</p>"
    ]
    for fact in _facts(found):
        parts.append(paragraph(fact.said))
        if fact.ways:
            rows = [[piece(f"{n:,}"), piece(way)] for way, n in fact.ways.items()]
            parts.append(table(rows, [True, False]))
    example = _example(found)
    if example is not None:
        parts.append(paragraph(f"{example.title}:"))
        if example.shared:
            said = " · ".join(piece(part) for part in example.shared)
            parts.append(f"<p>{said}</p>")
        if example.own:
            rows = [[piece(own), piece(label, "strong")] for own, label in example.own]
            parts.append(table(rows, [False, False]))
    return parts
