"""The page that shows rules: what it says, whatever medium it is for.

It is made from rules alone: their boxes, what is known of each, and the certificate.
"""

import math
import re
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, TypeAlias

from nn2rules.language import (
    allowed_text,
    condition_text,
    count,
    label_text,
    percent,
    quoted,
    share,
)
from nn2rules.output import Block, Document, Part, RuleTable, ShownCondition, ShownRule
from nn2rules.rules.certificate import certificate_of
from nn2rules.rules.facts import (
    by_influence,
    class_inputs,
    class_rows,
    decided_by,
    is_decided,
    is_right,
    is_true_alone,
    is_whole_domain,
    n_agreeing,
    n_rows,
    uncovered_inputs,
    uncovered_rows,
)
from nn2rules.rules.names import classes_in_order
from nn2rules.rules.page_head import head_of, short_head_of
from nn2rules.rules.wording import order_text, proof_of
from nn2rules.space import box_sizes, whole_number

if TYPE_CHECKING:
    from nn2rules.rules.rule import Rule
    from nn2rules.rules.rule_list import RuleList

Top: TypeAlias = int | Literal["most", "all"]
"""How many rules are shown: so many, those that decide most, or all."""

_ENOUGH = 0.95  # of the rows: what decides them is shown
_FEW, _LEAST, _MOST = 20, 5, 50  # so few are all shown; of more so many, at least
_MUCH = 0.8
_FEWEST = 3  # of so few rules one reads all
_NAMED = 3  # rules that a rule leans on are named; of more, two and their number


def page_of(rules: "RuleList", top: Top, *, verbose: bool) -> Document:
    """Return the page of rules, with the `top` ones of each block."""
    if top not in ("most", "all"):
        top = whole_number("top", top)
    columns = _columns(rules, verbose=verbose)
    has_rows = n_rows(rules) is not None or any("rows" in title for title in columns)
    is_small = len(rules) <= 5 and not (has_rows and certificate_of(rules).is_given)
    head = _head(rules, is_small=is_small, has_labels="labels agree" in columns)
    blocks = _blocks(rules, columns, top, is_small=is_small)
    rest = _otherwise(rules, columns)
    return Document((head, RuleTable(rules.form, tuple(columns), blocks, rest)))


_LABELS = (
    "“Labels agree” is about the network: where a label differs, the rule still says "
    "what the network says."
)


def _head(rules: "RuleList", *, is_small: bool, has_labels: bool) -> tuple[Part, ...]:
    """Return what stands above rules; of few, without rows, hardly anything."""
    if is_small or not certificate_of(rules).is_given:
        words = proof_of(rules) if rules.form == "set" else ""
        return short_head_of(rules, f"{words}." if words else "")
    proved = " ".join(part for part in (_proved(rules), _open(rules)) if part)
    labels = _LABELS if has_labels and is_right(rules) else ""
    return head_of(rules, (proved, _reading(rules), labels))


def _proved(rules: "RuleList") -> str:
    """Say what is proved of each rule, and of all together."""
    if not is_right(rules):
        return ""
    each = "Each rule is proved where it decides"
    if is_true_alone(rules):
        each = "Each rule is proved, and true on its own"
    if not len(rules):
        always = f"Proved: every possible input is {label_text(rules.default)}."
        return always if is_whole_domain(rules) else "There are no rules."
    if not is_whole_domain(rules):
        return f"{each}."
    if is_decided(rules) and is_true_alone(rules):
        return f"{each}. Together they decide every possible input."
    if is_true_alone(rules):
        rest = f"whatever fits none is {label_text(rules.default)}"
        return f"{each}; {rest}, which is proved, too."
    return "Proved: the list answers as the network does on every possible input."


def _reading(rules: "RuleList") -> str:
    """Say how a list is read."""
    if is_true_alone(rules) or not is_right(rules):
        return ""
    if any(rule.unless is not None for rule in rules):
        return (
            "The first rule that holds answers. What stands behind “unless” is needed: "
            "without it the rule is false when read alone."
        )
    return "The first rule that holds answers: read alone, a rule may be false."


def _open(rules: "RuleList") -> str:
    """Say how many rows and inputs no rule decides."""
    if rules.scope != "support" or not is_right(rules):
        return ""
    stopped = not certificate_of(rules).is_complete
    left, rows = uncovered_rows(rules), n_rows(rules)
    is_all = bool(rows) and left == 0
    text = f"{_open_inputs(rules, ', no row among them,' if is_all else '')}."
    if is_all:
        text = f"all rows are decided, as rules are made for them; {text}"
    elif left and rows:
        verb = "is" if left == 1 else "are"
        text = f"{left:,} of {count(rows, 'row')} {verb} left open; {text}"
    return f"Stopped early: {text}" if stopped else text[0].upper() + text[1:]


def _open_inputs(rules: "RuleList", remark: str) -> str:
    """Say how many inputs are open: counted, bounded, or a share of the volume."""
    inputs, exact = rules.n_possible, uncovered_inputs(rules)
    known = certificate_of(rules)
    least, most = known.uncovered_at_least, known.uncovered_at_most
    if exact == 0:
        return "no possible input is left open"
    if exact is not None:
        verb = "is" if exact == 1 else "are"
        part = f" ({share(exact, inputs)})"
        return f"{count(exact, 'possible input')}{part}{remark} {verb} left open"
    if most is not None:
        bound = f"at most {most:,} possible inputs ({share(most, inputs)})"
        if least:
            shares = f"{share(least, inputs)} to {share(most, inputs)}"
            bound = f"{least:,} to {most:,} possible inputs ({shares})"
        return f"{bound}{remark} are left open"
    if rules.domain.has_ranges:
        return (
            f"the rules decide {rules.volume} of the volume, numbers evenly spread, "
            f"and leave the rest open"
        )
    return "what no rule decides is left open"


def _blocks(
    rules: "RuleList", columns: dict[str, list[str]], top: Top, *, is_small: bool
) -> tuple[Block, ...]:
    answers = rules.answers.tolist()
    if rules.form == "list":
        everything = list(range(len(rules)))
        title = proof_of(rules) if is_small else ""
        about = "" if is_small else _about_list(rules)
        return (_block(rules, everything, columns, top, (title, about)),)
    return tuple(
        _block(
            rules,
            [index for index, answer in enumerate(answers) if answer == chosen],
            columns,
            top,
            (label_text(rules.classes[chosen]), _about_class(rules, chosen)),
        )
        for chosen in classes_in_order(rules)
    )


def _block(
    rules: "RuleList",
    positions: Sequence[int],
    columns: dict[str, list[str]],
    top: Top,
    titles: tuple[str, str],
) -> Block:
    weights, noun = decided_by(rules, positions)
    shown = len(positions)
    if top == "most":
        shown = _n_shown(weights, shown)
    elif top != "all":
        shown = min(top, shown)
    lines = tuple(
        shown_rule(
            rules, rules.rules[index], [column[index] for column in columns.values()]
        )
        for index in positions[:shown]
    )
    hidden = ""
    if shown < len(positions):
        left = len(positions) - shown
        hidden = f"{count(left, 'more rule')}"
        if weights is not None:
            part, whole = sum(weights[shown:]), _whole(rules, noun)
            verb = "decides" if left == 1 else "decide"
            amount = f"{share(part, whole)} of {noun}" if whole else count(part, "row")
            hidden += f" {verb} {amount}"
        hidden += '; top="all" (--all) shows all'
    return Block(*titles, lines, hidden)


def shown_rule(rules: "RuleList", rule: "Rule", numbers: Sequence[str]) -> ShownRule:
    """Return a rule as it is shown."""
    conditions = tuple(
        ShownCondition(
            condition_text(feature, condition.values),
            quoted(feature.name),
            _plain(allowed_text(feature, condition.values)),
        )
        for condition in sorted(rule.conditions, key=by_influence(rules))
        for feature in [rules.domain.feature(condition.feature)]
    )
    always = "" if conditions else "always "
    remark = (always + unless_text(rule.unless)).strip()
    return ShownRule(
        rule.name, label_text(rule.then), conditions, remark, tuple(numbers)
    )


def text_of_rule(rules: "RuleList", rule: "Rule") -> str:
    """Return what `RuleList.rule_text` does."""
    parts = [
        condition_text(rules.domain.feature(c.feature), c.values)
        for c in sorted(rule.conditions, key=by_influence(rules))
    ]
    premise = " and ".join(parts) if parts else "anything"
    unless = unless_text(rule.unless)
    return f"if {premise} then {label_text(rule.then)} {unless}".rstrip()


def _plain(allowed: str) -> str:
    """Return values without the signs around them, for a line of their own.

    Examples
    --------
    >>> _plain("in {red, green}"), _plain("all but {red, green}"), _plain("≠ red")
    ('red, green', 'all but red, green', '≠ red')
    """
    found = re.fullmatch(r"(?:in|(all but )) ?\{(.*)\}", allowed)
    return f"{found[1] or ''}{found[2]}" if found else allowed


def unless_text(unless: Sequence[int] | None) -> str:
    """Say which rules above a rule leans on: all of them if they are few.

    Examples
    --------
    >>> unless_text((4,)), unless_text((1, 2, 4)), unless_text((1, 2, 4, 7))
    ('unless 4', 'unless 1, 2 or 4', 'unless 1, 2 or 2 others above')
    """
    named = [f"{number}" for number in unless or ()]
    if len(named) > _NAMED:
        named = [*named[: _NAMED - 1], f"{len(named) - _NAMED + 1} others above"]
    *most, last = named or [""]
    words = f"{', '.join(most)} or {last}" if most else last
    return f"unless {words}" if words else ""


def _columns(rules: "RuleList", *, verbose: bool) -> dict[str, list[str]]:
    """Return the numbers beside the rules, by the titles of their columns."""
    facts, columns = rules.facts, {}
    is_fit = rules.form == "set" and any(f.covered is not None for f in facts)
    has_rows = is_fit or any(f.support is not None for f in facts)
    if is_fit:
        columns["rows fit"] = [_number(f.covered) for f in facts]
        agreeing = [(f.covered_agree, f.covered) for f in facts]
    else:
        if has_rows:
            columns["rows decided"] = [_number(f.support) for f in facts]
        agreeing = [(n_agreeing(f), f.support) for f in facts]
    if any(part is not None for part, _ in agreeing):
        columns["labels agree"] = [
            percent(part, whole) if part is not None and whole else ""
            for part, whole in agreeing
        ]
    if rules.form == "set" and (verbose or not has_rows):
        columns |= _fitting_inputs(rules)
    if verbose or not (has_rows or columns):
        columns |= _decided_inputs(rules)
    if verbose and any(f.probability is not None for f in facts):
        columns["probability there"] = [_range(f.probability) for f in facts]
    return columns


def _fitting_inputs(rules: "RuleList") -> dict[str, list[str]]:
    """Return the shares of inputs that fit the rules of a set."""
    if rules.domain.has_ranges or certificate_of(rules).has_impossible:
        return {}
    sizes = box_sizes(rules.domain, rules.boxes)
    return {"inputs fit": [share(size, rules.domain.n_inputs) for size in sizes]}


def _decided_inputs(rules: "RuleList") -> dict[str, list[str]]:
    """Return the shares of inputs that rules decide, which none above them does."""
    if rules.domain.has_ranges or any(f.inputs is None for f in rules.facts):
        return {}
    shares = [share(f.inputs or 0, rules.n_possible) for f in rules.facts]
    return {"inputs decided": shares} if shares else {}


def _number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _range(ends: tuple[float, float] | None) -> str:
    """Return a range of probabilities, rounded outwards, as it must hold."""
    if ends is None:
        return ""
    low, high = math.floor(100 * ends[0]) / 100, math.ceil(100 * ends[1]) / 100
    return f"{low:.2f} to {high:.2f}"


def _whole(rules: "RuleList", noun: str) -> int | None:
    """Return how many rows or inputs there are, if that is known."""
    return rules.n_possible if noun == "inputs" else n_rows(rules)


def _n_shown(weights: Sequence[int] | None, n_rules: int) -> int:
    """Return how many of the first rules decide enough to stand for all."""
    shown = _FEW
    if weights is not None:
        shown = max(_LEAST, min(_MOST, _needed(weights, _ENOUGH * sum(weights))))
    return n_rules if n_rules <= _FEW else shown


def _needed(weights: Sequence[int], wanted: float) -> int:
    """Return how many of the first rules decide so much; all, if they do not."""
    reached = (k for k, sum_ in enumerate(accumulate(weights), 1) if sum_ >= wanted)
    return next(reached, len(weights))


def _about_list(rules: "RuleList") -> str:
    """Say how many rules a list has, and how many of them one has to read."""
    if not len(rules):
        return ""
    text = f"{count(len(rules), 'rule')}, {order_text(rules)}"
    weights, noun = decided_by(rules, range(len(rules)))
    if weights is None or len(rules) <= 5:
        return text
    whole = _whole(rules, noun)
    needed = _needed(weights, _MUCH * (whole or 0))
    if not whole or sum(weights[:needed]) < _MUCH * whole or needed == len(rules):
        return text
    verb = "decides" if needed == 1 else "decide"
    return f"{text}; {needed:,} {verb} {100 * _MUCH:.0f}% of {noun}"


def _about_class(rules: "RuleList", chosen: int) -> str:
    """Say how much a class is, and how many of its rules one has to read."""
    positions = [
        i for i, answer in enumerate(rules.answers.tolist()) if answer == chosen
    ]
    text, rows, whole = count(len(positions), "rule"), class_rows(rules), n_rows(rules)
    weights, noun = decided_by(rules, positions)
    if not is_right(rules):  # the shares of classes are those of the network
        return text
    if rows is not None and whole:
        text = f"{share(rows[chosen], whole)} of rows; {text}"
        # Rows that cannot occur may be those of another class.
        if noun == "rows" and weights and not certificate_of(rules).has_impossible:
            text += _covering(weights, rows[chosen])
    elif (inputs := class_inputs(rules)) is not None:
        text = f"{share(inputs[chosen], rules.n_possible)} of inputs; {text}"
    return text


def _covering(weights: Sequence[int], n_rows: int) -> str:
    """Say how much of a class its rules cover, or how few of them cover most of it.

    Examples
    --------
    >>> _covering([5, 2], 10), _covering([7, 1, 1, 1], 10), _covering([7, 3], 10)
    (', which cover 70.0% of them', ', 2 cover 80% of them', '')
    """
    if sum(weights) < n_rows:
        verb = "covers" if len(weights) == 1 else "cover"
        return f", which {verb} {share(sum(weights), n_rows)} of them"
    needed = _needed(weights, _MUCH * n_rows)
    if len(weights) <= _FEWEST or needed == len(weights):
        return ""
    verb = "covers" if needed == 1 else "cover"
    return f", {needed:,} {verb} {100 * _MUCH:.0f}% of them"


def _otherwise(rules: "RuleList", columns: dict[str, list[str]]) -> ShownRule | None:
    """Return what is said of inputs that no rule decides; nothing if there are none."""
    if is_decided(rules):
        return None
    is_constant = not len(rules) and is_whole_domain(rules)
    remark = "always" if is_constant else "otherwise"
    if rules.scope == "support":
        remark += " (open: not proved)"
    left: dict[str, str] = {}
    decided = [facts.inputs for facts in rules.facts]
    if "inputs decided" in columns and None not in decided:
        rest = rules.n_possible - sum(decided)  # type: ignore[arg-type]
        left["inputs decided"] = share(rest, rules.n_possible)
    rows = n_rows(rules)
    if "rows decided" in columns and rows is not None:
        decided = [facts.support or 0 for facts in rules.facts]
        left["rows decided"] = _number(rows - sum(decided))  # type: ignore[arg-type]
    numbers = tuple(left.get(title, "") for title in columns)
    return ShownRule("", label_text(rules.default), (), remark, numbers)
