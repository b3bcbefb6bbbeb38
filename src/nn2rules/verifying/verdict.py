"""What became of a claim."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from nn2rules.domain import Domain
from nn2rules.input_text import input_conditions
from nn2rules.rules import RuleList
from nn2rules.rules.printing import filled
from nn2rules.text import count, label_text, share
from nn2rules.values import Value

Status = Literal["proved", "refuted", "open"]
Row = dict[str, Value]

_WIDTH = 88


@dataclass(frozen=True, eq=False)
class Verdict:
    """A claim, and whether it holds.

    Attributes
    ----------
    claim : str
        In words.
    status : {"proved", "refuted", "open"}
        Open if the budget was spent first; `reason` says on what.
    counterexample : dict, or two of them, or None
        An input that breaks the claim; of a claim about two inputs both, which differ
        in the features of the claim alone. Where there is data, that which differs from
        some row in the fewest features; beyond a table it is moved toward a row.
    answer : class label, or two of them, or None
        What the model answers there.
    distance : int or None
        In how many features the counterexample, or the first of the two, differs from
        the nearest row.
    on : {"domain", "rows"}
        What the claim was asked of, and what `count` and `total` count.
    count, total : int or None
        How many break the claim, and of how many it was made. None where they are not
        counted, as beyond a table. An input breaks a claim about two if it is one of
        two that do.
    contexts, total_contexts : int or None
        Of a claim about two inputs, how many sets of values of the other features
        break it, of how many.
    ways, row_ways : mapping from str to int
        How many inputs, and rows, break the claim in each way that they do.
    rows, total_rows : int or None
        How many rows of the data break the claim, and how many it was made of.
    reason : str
        Why it is open.
    boxes : int
        Boxes searched.
    seconds : float
    """

    claim: str
    status: Status
    counterexample: Row | tuple[Row, Row] | None = None
    answer: Value | tuple[Value, Value] = None
    distance: int | None = None
    on: Literal["domain", "rows"] = "domain"
    count: int | None = None
    total: int | None = None
    contexts: int | None = None
    total_contexts: int | None = None
    ways: Mapping[str, int] = field(default_factory=dict)
    rows: int | None = None
    total_rows: int | None = None
    row_ways: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""
    boxes: int = 0
    seconds: float = 0.0
    domain: Domain | None = field(default=None, repr=False)
    make_rules: Callable[[], RuleList] | None = field(default=None, repr=False)

    @cached_property
    def rules(self) -> RuleList | None:
        """The inputs that break the claim, as rules; made when they are asked for.

        A set of boxes that holds exactly these inputs, with the way in which each
        breaks the claim for a class; "holds" is everywhere else. None where there is
        no table of the inputs.
        """
        return None if self.make_rules is None else self.make_rules()

    def to_dict(self) -> dict[str, Any]:
        """Return all but the rules as JSON has it."""
        found: Any = self.counterexample
        answer: Any = self.answer
        return {
            "claim": self.claim,
            "status": self.status,
            "on": self.on,
            "counterexample": list(found) if isinstance(found, tuple) else found,
            "answer": list(answer) if isinstance(answer, tuple) else answer,
            "distance": self.distance,
            "count": self.count,
            "total": self.total,
            "contexts": self.contexts,
            "total_contexts": self.total_contexts,
            "ways": dict(self.ways),
            "rows": self.rows,
            "total_rows": self.total_rows,
            "row_ways": dict(self.row_ways),
            "reason": self.reason or None,
            "boxes": self.boxes,
            "seconds": round(self.seconds, 3),
        }

    def __str__(self) -> str:
        return "\n".join([f"{self.status}: {self.claim}", *_lines(self)])


def _lines(found: Verdict) -> list[str]:
    """Return what is known of a claim, a fact a line."""
    lines = []
    if found.status == "open":
        spent = f"{found.boxes:,} boxes and {found.seconds:.1f} seconds"
        lines.append(f"  {found.reason}; spent: {spent}")
    nouns = [("input", found.count, found.total, found.ways)]
    if found.on == "rows":
        nouns = []
    nouns.append(("row", found.rows, found.total_rows, found.row_ways))
    for noun, number, total, ways in nouns:
        if number is None or not total:
            continue
        if number == 0:
            all_of = f"all {total:,} {noun}s" if total > 1 else f"the only {noun}"
            lines.append(f"  holds for {all_of}")
            continue
        verb = "breaks" if number == 1 else "break"
        lines.append(
            f"  {number:,} of {count(total, noun)} {verb} it ({share(number, total)})"
        )
        if len(ways) > 1:
            lines += [f"    {n:,}  {way}" for way, n in ways.items()]
    if found.contexts and found.total_contexts:
        lines.append(
            f"  in {found.contexts:,} of {count(found.total_contexts, 'context')} of "
            f"the other features"
        )
    return lines + _example(found)


def _example(found: Verdict) -> list[str]:
    """Return the counterexample: of two inputs, what they share is said once."""
    example, answer = found.counterexample, found.answer
    if example is None:
        return []
    near = ""
    if found.distance is not None:
        near = f", {count(found.distance, 'feature')} from a row"
        near = ", a row" if found.distance == 0 else near
    if isinstance(example, dict):
        assert not isinstance(answer, tuple), "one input has one answer"
        lines = [f"  {label_text(answer)} here{near}:"]
        return lines + _wrapped(parts_of(found, example))
    one, other = example
    assert isinstance(answer, tuple), "two inputs have two answers"
    shared = {name: value for name, value in one.items() if other[name] == value}
    lines = [f"  as here{near}:", *_wrapped(parts_of(found, shared))]
    for row, label in zip(example, answer, strict=True):
        own = {name: value for name, value in row.items() if name not in shared}
        lines.append(f"    {' · '.join(parts_of(found, own))}: {label_text(label)}")
    return lines


def _wrapped(parts: list[str]) -> list[str]:
    if not parts:
        return []
    return [f"    {line}" for line in filled(parts, " · ", _WIDTH - 4)]


def parts_of(found: Verdict, row: Row) -> list[str]:
    """Return an input in the words of rules."""
    assert found.domain is not None, "verdicts with an example know their domain"
    return input_conditions(found.domain, row)
