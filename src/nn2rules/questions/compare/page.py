"""A comparison as people and programs read it: a page, plain values, a data frame."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nn2rules.language import (
    allowed_text,
    count,
    input_conditions,
    label_text,
    share,
    unused,
)
from nn2rules.output import Block, Document, Paragraph, RuleTable, ShownRule
from nn2rules.questions.compare.differences import Pair
from nn2rules.rules import Top, shown_rule
from nn2rules.space import Value, whole_number

if TYPE_CHECKING:
    from nn2rules.questions.compare.result import Change, Comparison, Difference

_FEW, _SHOWN = 10, 5  # so few rules of a change are all shown; of more, so many


def labelled(labels: Sequence[Value], pair: Pair) -> tuple[Value, Value]:
    """Return the labels of an old and a new answer; None for *no rule*."""
    known = (*labels, None)
    return known[pair[0]], known[pair[1]]


def answer_text(label: Value) -> str:
    """Return an answer as it is printed."""
    return "no rule" if label is None else label_text(label)


def changed_text(old: Value, new: Value) -> str:
    """Return a change as it is printed.

    Examples
    --------
    >>> changed_text("<=50K", ">50K"), changed_text(None, 1)
    ('<=50K → >50K', 'no rule → 1')
    """
    return f"{answer_text(old)} → {answer_text(new)}"


def document_of(found: "Comparison", top: Top) -> Document:
    """Return what is shown of a comparison, with the `top` rules of each change."""
    if top not in ("most", "all"):
        top = whole_number("top", top)
    head = tuple(map(Paragraph, (*_result(found), *found.notes)))
    columns: tuple[str, ...] = ()
    if any(rule.inputs is not None for rule in found.rules):
        columns = ("inputs",)
    if found.rows is not None and found.rules:
        columns = (*columns, "rows")
    blocks = [_block(found, change, columns, top) for change in found.changes]
    shown = tuple(block for block in blocks if block.rules or block.about)
    return Document((head, RuleTable("set", columns, shown)))


def _result(found: "Comparison") -> list[str]:
    """Say whether the two are equal, and what is proved."""
    if found.equal:
        return [_equal(found)]
    if found.equal is None:
        return [
            "Open: no difference was found before the budget was spent, and none is "
            "excluded."
        ]
    said = [f"Different {_amounts(found)}."]
    if found.counterexample is not None and found.answers is not None:
        said.append(f"For example {_example(found)}.")
    if found.complete:
        said.append(
            "Proved: the rules below hold exactly the inputs that differ, and each is "
            "true on its own."
        )
    elif found.rules:
        said.append(
            "Not all is known: each rule below is proved, but there may be inputs that "
            "differ and that no rule holds."
        )
    return said


def _equal(found: "Comparison") -> str:
    where = "every input"
    if found.n_inputs is not None:
        where = f"all {count(found.n_inputs, 'input')}"
    if found.decided:
        where = "every input for which a rule holds"
    by = {
        "table": "compared one by one",
        "search": "by search",
        "weights": "for their weights make one function",
        "rules": "for their rules are the same",
    }
    return f"Equal on {where}: proved, {by[found.how]}."


def _amounts(found: "Comparison") -> str:
    """Say on how many inputs and rows the two differ."""
    parts, total = [], found.n_inputs
    if found.inputs is not None and total is not None:
        part = share(found.inputs, total)
        parts.append(f"on {found.inputs:,} of {count(total, 'input')} ({part})")
    elif total is not None:
        parts.append(f"on at least {found.at_least:,} of {count(total, 'input')}")
    else:
        comma = "," if found.rows is not None else ""
        parts.append(f"on inputs that cannot be counted, among real numbers{comma}")
    if found.rows is not None and found.n_rows is not None:
        part = share(found.rows, found.n_rows)
        parts.append(f"on {found.rows:,} of {count(found.n_rows, 'row')} ({part})")
    return " and ".join(parts)


def _example(found: "Comparison") -> str:
    assert found.counterexample is not None, "asked only where there is one"
    assert found.answers is not None, "they come with it"
    texts = input_conditions(found.domain, found.counterexample)
    return f"{' · '.join(texts)}: {changed_text(*found.answers)}"


def _block(
    found: "Comparison", change: "Change", columns: Sequence[str], top: Top
) -> Block:
    """Return the rules of one change."""
    rules = [
        (rule, index)
        for index, rule in enumerate(found.rules)
        if (rule.old, rule.new) == (change.old, change.new)
    ]
    n_shown = len(rules)
    if top == "most":
        n_shown = n_shown if n_shown <= _FEW else _SHOWN
    elif top != "all":
        n_shown = min(top, n_shown)
    lines = tuple(
        _shown(found, index, _numbers(rule, columns)) for rule, index in rules[:n_shown]
    )
    parts = [] if change.inputs is None else [count(change.inputs, "input")]
    parts += [] if change.rows is None else [count(change.rows, "row")]
    parts += [count(len(rules), "rule")] if rules else []
    hidden = ""
    if n_shown < len(rules):
        hidden = f"{count(len(rules) - n_shown, 'more rule')}; "
        hidden += 'top="all" (--all) shows all'
    return Block(changed_text(change.old, change.new), ", ".join(parts), lines, hidden)


def _numbers(rule: "Difference", columns: Sequence[str]) -> tuple[str, ...]:
    known = {"inputs": rule.inputs, "rows": rule.rows}
    return tuple("" if known[c] is None else f"{known[c]:,}" for c in columns)


def _shown(found: "Comparison", index: int, numbers: Sequence[str]) -> ShownRule:
    rules = found.rule_list
    assert rules is not None, "there is a rule"
    return shown_rule(rules, rules.rules[index], numbers)


def json_of(found: "Comparison") -> dict[str, Any]:
    """Return what `Comparison.to_dict` does."""
    return {
        "equal": found.equal,
        "how": found.how,
        "inputs": found.inputs,
        "at_least": found.at_least,
        "of_inputs": found.n_inputs,
        "rows": found.rows,
        "of_rows": found.n_rows,
        "counterexample": found.counterexample,
        "answers": None if found.answers is None else [*found.answers],
        "changes": [
            {"old": c.old, "new": c.new, "inputs": c.inputs, "rows": c.rows}
            for c in found.changes
        ],
        "complete": found.complete,
        "rules": [
            {
                "rule": rule.name,
                "old": rule.old,
                "new": rule.new,
                "if": {c.feature: [*c.values] for c in rule.conditions},
                "inputs": rule.inputs,
                "rows": rule.rows,
            }
            for rule in found.rules
        ],
        "notes": [*found.notes],
    }


def columns_of(found: "Comparison") -> dict[str, list[object]]:
    """Return the columns of `Comparison.to_frame`."""
    rules, taken = found.rules, set(found.domain.names)
    table: dict[str, list[object]] = {unused("rule", taken): [r.name for r in rules]}
    cut = found.domain if found.rule_list is None else found.rule_list.domain
    for feature in cut.features:
        table[feature.name] = [
            next(
                (
                    allowed_text(feature, condition.values)
                    for condition in rule.conditions
                    if condition.feature == feature.name
                ),
                "",
            )
            for rule in rules
        ]
    for name in ("old", "new"):
        table[unused(name, taken)] = [
            answer_text(getattr(rule, name)) for rule in rules
        ]
    for name in ("inputs", "rows"):
        table[unused(name, taken)] = [getattr(rule, name) for rule in rules]
    return table
