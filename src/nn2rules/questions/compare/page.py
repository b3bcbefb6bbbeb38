"""A comparison as a page, as plain values, and as a data frame."""

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

_FEW, _SHOWN = 10, 5  # rules of a change: all if at most 10, otherwise 5


def labels_of_pair(labels: Sequence[Value], pair: Pair) -> tuple[Value, Value]:
    """Return the labels of an old and a new prediction; None for *no rule*."""
    all_labels = (*labels, None)
    return all_labels[pair[0]], all_labels[pair[1]]


def prediction_text(label: Value) -> str:
    """Return a prediction as it is printed."""
    return "no rule" if label is None else label_text(label)


def change_text(old: Value, new: Value) -> str:
    """Return a change as it is printed.

    Examples
    --------
    >>> change_text("<=50K", ">50K"), change_text(None, 1)
    ('<=50K → >50K', 'no rule → 1')
    """
    return f"{prediction_text(old)} → {prediction_text(new)}"


def document_of(comparison: "Comparison", top: Top) -> Document:
    """Return the page of a comparison, with the `top` rules of each change."""
    if top not in ("most", "all"):
        top = whole_number("top", top)
    head = tuple(map(Paragraph, (*_result(comparison), *comparison.notes)))
    columns: tuple[str, ...] = ()
    if any(rule.inputs is not None for rule in comparison.rules):
        columns = ("inputs",)
    if comparison.rows is not None and comparison.rules:
        columns = (*columns, "rows")
    blocks = [_block(comparison, change, columns, top) for change in comparison.changes]
    shown = tuple(block for block in blocks if block.rules or block.about)
    return Document((head, RuleTable("set", columns, shown)))


def _result(comparison: "Comparison") -> list[str]:
    """Return whether the two are equal, and what is proved."""
    if comparison.equal:
        return [_equal(comparison)]
    if comparison.equal is None:
        return [
            "Undecided: the budget was spent before a difference was found, but there "
            "may be one."
        ]
    sentences = [f"Different {_amounts(comparison)}."]
    if comparison.counterexample is not None and comparison.predictions is not None:
        sentences.append(f"For example, {_example(comparison)}.")
    if comparison.complete:
        sentences.append(
            "Proved: the rules below cover exactly the inputs that differ, and each "
            "holds on its own."
        )
    elif comparison.rules:
        sentences.append(
            "Incomplete: each rule below is proved, but other inputs may differ as "
            "well."
        )
    return sentences


def _equal(comparison: "Comparison") -> str:
    where = "every input"
    if comparison.n_inputs is not None:
        where = f"all {count(comparison.n_inputs, 'input')}"
    if comparison.covered_only:
        where = "every input that a rule covers"
    by = {
        "table": "by comparing them one by one",
        "search": "by search",
        "regions": "region by region, on which both are linear",
        "weights": "by their weights, which define the same function",
        "rules": "by their rules, which are the same",
    }
    return f"Equal on {where}: proved {by[comparison.how]}."


def _amounts(comparison: "Comparison") -> str:
    """Return the numbers of inputs and rows on which the two differ."""
    parts, total = [], comparison.n_inputs
    if comparison.inputs is not None and total is not None:
        part = share(comparison.inputs, total)
        parts.append(f"on {comparison.inputs:,} of {count(total, 'input')} ({part})")
    elif total is not None:
        parts.append(f"on at least {comparison.at_least:,} of {count(total, 'input')}")
    else:
        comma = "," if comparison.rows is not None else ""
        parts.append(f"on inputs that cannot be counted (real numbers){comma}")
    if comparison.rows is not None and comparison.n_rows is not None:
        part = share(comparison.rows, comparison.n_rows)
        parts.append(
            f"on {comparison.rows:,} of {count(comparison.n_rows, 'row')} ({part})"
        )
    return " and ".join(parts)


def _example(comparison: "Comparison") -> str:
    assert comparison.counterexample is not None, "asked only where there is one"
    assert comparison.predictions is not None, "they come with it"
    texts = input_conditions(comparison.domain, comparison.counterexample)
    return f"{' · '.join(texts)}: {change_text(*comparison.predictions)}"


def _block(
    comparison: "Comparison", change: "Change", columns: Sequence[str], top: Top
) -> Block:
    """Return the rules of one change."""
    rules = [
        (rule, index)
        for index, rule in enumerate(comparison.rules)
        if (rule.old, rule.new) == (change.old, change.new)
    ]
    n_shown = len(rules)
    if top == "most":
        n_shown = n_shown if n_shown <= _FEW else _SHOWN
    elif top != "all":
        n_shown = min(top, n_shown)
    lines = tuple(
        _shown(comparison, index, _numbers(rule, columns))
        for rule, index in rules[:n_shown]
    )
    parts = [] if change.inputs is None else [count(change.inputs, "input")]
    parts += [] if change.rows is None else [count(change.rows, "row")]
    parts += [count(len(rules), "rule")] if rules else []
    hidden = ""
    if n_shown < len(rules):
        hidden = f"{count(len(rules) - n_shown, 'more rule')}; "
        hidden += 'top="all" (--all) shows all'
    return Block(change_text(change.old, change.new), ", ".join(parts), lines, hidden)


def _numbers(rule: "Difference", columns: Sequence[str]) -> tuple[str, ...]:
    counts = {"inputs": rule.inputs, "rows": rule.rows}
    return tuple("" if counts[c] is None else f"{counts[c]:,}" for c in columns)


def _shown(comparison: "Comparison", index: int, numbers: Sequence[str]) -> ShownRule:
    rules = comparison.rule_list
    assert rules is not None, "there is a rule"
    return shown_rule(rules, rules.rules[index], numbers)


def json_of(comparison: "Comparison") -> dict[str, Any]:
    """Return what `Comparison.to_dict` does."""
    return {
        "equal": comparison.equal,
        "how": comparison.how,
        "inputs": comparison.inputs,
        "at_least": comparison.at_least,
        "of_inputs": comparison.n_inputs,
        "rows": comparison.rows,
        "of_rows": comparison.n_rows,
        "counterexample": comparison.counterexample,
        "predictions": None
        if comparison.predictions is None
        else [*comparison.predictions],
        "changes": [
            {"old": c.old, "new": c.new, "inputs": c.inputs, "rows": c.rows}
            for c in comparison.changes
        ],
        "complete": comparison.complete,
        "rules": [
            {
                "rule": rule.name,
                "old": rule.old,
                "new": rule.new,
                "if": {c.feature: [*c.values] for c in rule.conditions},
                "inputs": rule.inputs,
                "rows": rule.rows,
            }
            for rule in comparison.rules
        ],
        "notes": [*comparison.notes],
    }


def columns_of(comparison: "Comparison") -> dict[str, list[object]]:
    """Return the columns of `Comparison.to_frame`."""
    rules, taken = comparison.rules, set(comparison.domain.names)
    table: dict[str, list[object]] = {unused("rule", taken): [r.name for r in rules]}
    cut = (
        comparison.domain
        if comparison.rule_list is None
        else comparison.rule_list.domain
    )
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
            prediction_text(getattr(rule, name)) for rule in rules
        ]
    for name in ("inputs", "rows"):
        table[unused(name, taken)] = [getattr(rule, name) for rule in rules]
    return table
