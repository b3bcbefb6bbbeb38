"""How few rules say how much, for every number of first rules."""

from itertools import accumulate
from typing import Any

from nn2rules.reporting.subject import Subject
from nn2rules.rules.known import n_rows


def curve_of(subject: Subject) -> dict[str, Any] | None:
    """Return shares for each number of first rules, from 0; None if nobody counted.

    ``decided`` is what the first rules decide, of rows or else of inputs; ``fidelity``
    and ``accuracy`` are as in `RuleList.curve`.
    """
    rules = subject.counted
    if not len(rules):
        return None
    if subject.rows is not None and len(subject.rows):
        found = rules.curve(subject.data, subject.labels)
        names = ("decided", "fidelity", "accuracy")
        kept = {name: found[name].tolist() for name in names if name in found}
        return {"noun": "rows", "whole": len(subject.rows), **kept}
    for name, noun, whole in (
        ("support", "rows", n_rows(rules)),
        ("inputs", "inputs", None if rules.domain.has_ranges else rules.n_possible),
    ):
        decided = [getattr(facts, name) for facts in rules.facts]
        if None not in decided and whole:
            shares = [part / whole for part in accumulate(decided, initial=0)]
            return {"noun": noun, "whole": whole, "decided": shares}
    return None
