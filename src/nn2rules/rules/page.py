"""The page of rules, regardless of the medium that shows it.

It is made from the rules alone: their boxes, the facts about each, the certificate.
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
    determined_by,
    holds_alone,
    is_exact,
    is_whole_domain,
    n_agreeing,
    n_rows,
    needs_no_default,
    uncovered_inputs,
    uncovered_rows,
)
from nn2rules.rules.names import classes_in_order
from nn2rules.rules.page_head import head_of, short_head_of
from nn2rules.rules.wording import order_text, otherwise_text, proof_of
from nn2rules.space import box_sizes, whole_number

if TYPE_CHECKING:
    from nn2rules.rules.rule import Rule
    from nn2rules.rules.rule_list import RuleList

Top: TypeAlias = int | Literal["most", "all"]
"""How many rules are shown: this many, those that determine most, or all."""

_MOST_OF_THEM = 0.95  # the rules that determine this share of the rows are shown
_FEW = 20  # this few rules are all shown
_AT_LEAST, _AT_MOST = 5, 20  # of more, this many
_MUCH = 0.8
_FEWEST = 3  # of this few rules one reads all
_MOST_NAMED = 3  # rules behind "unless" that are named; of more, two and their number

_LABELS = (
    "“Labels agree” is the network's accuracy on the rows of each rule. Rules give the "
    "network's prediction even where it is wrong."
)


def page_of(rules: "RuleList", top: Top, *, verbose: bool) -> Document:
    """Return the page of rules, with the `top` ones of each block."""
    if top not in ("most", "all"):
        top = whole_number("top", top)
    columns = _columns(rules, verbose=verbose)
    has_rows = n_rows(rules) is not None or any("rows" in title for title in columns)
    is_small = len(rules) <= 5 and not (has_rows and certificate_of(rules).is_given)
    head = _head(rules, is_small=is_small, has_labels="labels agree" in columns)
    blocks = _blocks(rules, columns, top, is_small=is_small)
    default = _default(rules, columns)
    return Document((head, RuleTable(rules.form, tuple(columns), blocks, default)))


def _head(rules: "RuleList", *, is_small: bool, has_labels: bool) -> tuple[Part, ...]:
    """Return the top of the page; of few rules without rows, hardly anything."""
    if is_small or not certificate_of(rules).is_given:
        proof = proof_of(rules) if rules.form == "set" else ""
        return short_head_of(rules, f"{proof}." if proof else "")
    proof = " ".join(filter(None, (_proof(rules), _not_covered(rules))))
    labels = _LABELS if has_labels and is_exact(rules) else ""
    return head_of(rules, (proof, _reading(rules), labels))


def _proof(rules: "RuleList") -> str:
    """Say what is proved about each rule, and about all together."""
    if not is_exact(rules):
        return ""
    default = label_text(rules.default)
    if not len(rules):
        always = f"Proved: the network predicts {default} for every possible input."
        return always if is_whole_domain(rules) else "There are no rules."
    if holds_alone(rules):
        each = "Every rule is proved and holds on its own."
        if not is_whole_domain(rules):
            return each
        if needs_no_default(rules):
            return f"{each} Together, the rules cover every possible input."
        rest = "For possible inputs that no rule covers, the network predicts"
        return f"{each} {rest} {default} (also proved)."
    if not is_whole_domain(rules):
        return "Every rule is proved for the inputs whose prediction it determines."
    return "Proved: for every possible input, the list predicts what the network does."


def _reading(rules: "RuleList") -> str:
    """Say how to read a list whose rules do not hold on their own."""
    if holds_alone(rules) or not is_exact(rules):
        return ""
    order = (
        "Rules are tried in order: the first one that covers an input determines its "
        "prediction."
    )
    if all(rule.unless is not None for rule in rules):
        return f"{order} Do not drop the “unless”: without it, a rule may be false."
    return f"{order} By itself, a rule may be false."


def _not_covered(rules: "RuleList") -> str:
    """Say how many rows and inputs no rule covers."""
    if rules.scope != "support" or not is_exact(rules):
        return ""
    n_left, rows = uncovered_rows(rules), n_rows(rules)
    sentences = [_uncovered_inputs(rules)]
    if rows and n_left == 0:
        are = f"All {count(rows, 'row')} are" if rows > 1 else "The row is"
        them = "them" if rows > 1 else "it"
        text = f"{are} covered: the rules were made for {them}."
        sentences = [text, *sentences]
    elif n_left and rows:
        verb = "is" if n_left == 1 else "are"
        text = f"{n_left:,} of {count(rows, 'row')} {verb} not covered."
        sentences = [text, *sentences]
    if not certificate_of(rules).is_complete:
        sentences = ["Extraction stopped early.", *sentences]
    return " ".join(sentences)


def _uncovered_inputs(rules: "RuleList") -> str:
    """Say how many inputs are not covered: counted, bounded, or a share of volume."""
    n_inputs, n_left = rules.n_possible, uncovered_inputs(rules)
    certificate = certificate_of(rules)
    low, high = certificate.uncovered_at_least, certificate.uncovered_at_most
    claim = "nothing is claimed about them"
    if n_left == 0:
        return "Every possible input is covered."
    if n_left is not None:
        verb, them = ("is", "it") if n_left == 1 else ("are", "them")
        inputs = f"{count(n_left, 'possible input')} ({share(n_left, n_inputs)})"
        return f"{inputs} {verb} not covered: nothing is claimed about {them}."
    if high is not None:
        inputs = f"At most {high:,} possible inputs ({share(high, n_inputs)})"
        if low:
            shares = f"{share(low, n_inputs)} to {share(high, n_inputs)}"
            inputs = f"{low:,} to {high:,} possible inputs ({shares})"
        return f"{inputs} are not covered: {claim}."
    if rules.domain.has_ranges:
        return (
            f"The rules cover {rules.volume} of the volume of the domain, with numbers "
            f"spread evenly. Nothing is claimed about inputs that no rule covers."
        )
    return "Nothing is claimed about inputs that no rule covers."


def _blocks(
    rules: "RuleList", columns: dict[str, list[str]], top: Top, *, is_small: bool
) -> tuple[Block, ...]:
    if rules.form == "list":
        titles = (proof_of(rules), "") if is_small else ("", _about_list(rules))
        return (_block(rules, list(range(len(rules))), columns, top, titles),)
    return tuple(
        _block(
            rules,
            _positions_of(rules, chosen),
            columns,
            top,
            (label_text(rules.classes[chosen]), _about_class(rules, chosen)),
        )
        for chosen in classes_in_order(rules)
    )


def _positions_of(rules: "RuleList", chosen: int) -> list[int]:
    """Return the positions of the rules of a class."""
    return [i for i, one in enumerate(rules.answers.tolist()) if one == chosen]


def _block(
    rules: "RuleList",
    positions: Sequence[int],
    columns: dict[str, list[str]],
    top: Top,
    titles: tuple[str, str],
) -> Block:
    weights, noun = determined_by(rules, positions)
    n_shown = len(positions)
    if top == "most":
        n_shown = _n_shown(weights, n_shown)
    elif top != "all":
        n_shown = min(top, n_shown)
    lines = tuple(
        shown_rule(
            rules, rules.rules[index], [column[index] for column in columns.values()]
        )
        for index in positions[:n_shown]
    )
    hidden = ""
    if n_shown < len(positions):
        n_hidden = len(positions) - n_shown
        hidden = count(n_hidden, "more rule")
        if weights is not None:
            part, total = sum(weights[n_shown:]), _total(rules, noun)
            amount = f"{share(part, total)} of {noun}" if total else count(part, "row")
            verb = "determine" if rules.form == "list" else "cover"
            another = "" if rules.form == "list" else "another "
            hidden += f" {verb}{'s' * (n_hidden == 1)} {another}{amount}"
        them = "it" if n_hidden == 1 else "them"
        hidden += f'; top="all" (--all) shows {them}'
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
    texts = [
        condition_text(rules.domain.feature(c.feature), c.values)
        for c in sorted(rule.conditions, key=by_influence(rules))
    ]
    premise = f"if {' and '.join(texts)} then" if texts else "always"
    return f"{premise} {label_text(rule.then)} {unless_text(rule.unless)}".rstrip()


def _plain(allowed: str) -> str:
    """Return values without the signs around them, for a line of their own.

    Examples
    --------
    >>> _plain("in {red, green}"), _plain("all but {red, green}"), _plain("≠ red")
    ('red, green', 'all but red, green', '≠ red')
    """
    match = re.fullmatch(r"(?:in|(all but )) ?\{(.*)\}", allowed)
    return f"{match[1] or ''}{match[2]}" if match else allowed


def unless_text(unless: Sequence[int] | None) -> str:
    """Name the rules above without which a rule may be false: all, if they are few.

    Examples
    --------
    >>> unless_text((4,)), unless_text((1, 2, 4)), unless_text((1, 2, 4, 7))
    ('unless 4', 'unless 1, 2 or 4', 'unless 1, 2 or 2 others above')
    """
    names = [f"{number}" for number in unless or ()]
    if len(names) > _MOST_NAMED:
        n_others = len(names) - _MOST_NAMED + 1
        names = [*names[: _MOST_NAMED - 1], f"{n_others} others above"]
    *first, last = names or [""]
    listed = f"{', '.join(first)} or {last}" if first else last
    return f"unless {listed}" if listed else ""


def _columns(rules: "RuleList", *, verbose: bool) -> dict[str, list[str]]:
    """Return the numbers beside the rules, by the titles of their columns."""
    facts, columns = rules.facts, {}
    has_covered = rules.form == "set" and any(f.covered is not None for f in facts)
    has_rows = has_covered or any(f.support is not None for f in facts)
    if has_covered:
        columns["rows covered"] = [_number(f.covered) for f in facts]
        agreeing = [(f.covered_agree, f.covered) for f in facts]
    else:
        if has_rows:
            columns["rows determined"] = [_number(f.support) for f in facts]
        agreeing = [(n_agreeing(f), f.support) for f in facts]
    if any(part is not None for part, _ in agreeing):
        columns["labels agree"] = [
            percent(part, total) if part is not None and total else ""
            for part, total in agreeing
        ]
    if rules.form == "set" and (verbose or not has_rows):
        columns |= _covered_inputs(rules)
    if verbose or not (has_rows or columns):
        columns |= _determined_inputs(rules)
    if verbose and any(f.probability is not None for f in facts):
        columns["network probability"] = [_range(f.probability) for f in facts]
    return columns


def _covered_inputs(rules: "RuleList") -> dict[str, list[str]]:
    """Return the share of inputs that each rule of a set covers."""
    if rules.domain.has_ranges or certificate_of(rules).has_impossible:
        return {}
    sizes = box_sizes(rules.domain, rules.boxes)
    return {"inputs covered": [share(size, rules.domain.n_inputs) for size in sizes]}


def _determined_inputs(rules: "RuleList") -> dict[str, list[str]]:
    """Return the share of inputs that each rule, and none above it, covers."""
    if rules.domain.has_ranges or any(f.inputs is None for f in rules.facts):
        return {}
    shares = [share(f.inputs or 0, rules.n_possible) for f in rules.facts]
    return {"inputs determined": shares} if shares else {}


def _number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _range(ends: tuple[float, float] | None) -> str:
    """Return a range of probabilities, rounded outwards, as it must hold."""
    if ends is None:
        return ""
    low, high = math.floor(100 * ends[0]) / 100, math.ceil(100 * ends[1]) / 100
    return f"{low:.2f} to {high:.2f}"


def _total(rules: "RuleList", noun: str) -> int | None:
    """Return how many rows or inputs there are, if that is known."""
    return rules.n_possible if noun == "inputs" else n_rows(rules)


def _n_shown(weights: Sequence[int] | None, n_rules: int) -> int:
    """Return how many of the first rules determine enough to be shown alone."""
    n_shown = _FEW
    if weights is not None:
        n_enough = _n_needed(weights, _MOST_OF_THEM * sum(weights))
        n_shown = max(_AT_LEAST, min(_AT_MOST, n_enough))
    return n_rules if n_rules <= _FEW else n_shown


def _n_needed(weights: Sequence[int], amount: float) -> int:
    """Return how many of the first rules determine this much; else how many exist."""
    sums = enumerate(accumulate(weights), 1)
    return next((k for k, reached in sums if reached >= amount), len(weights))


def _first(n_rules: int) -> str:
    return "the first" if n_rules == 1 else f"the first {n_rules:,}"


def _about_list(rules: "RuleList") -> str:
    """Say how many rules a list has, and how many of them determine most."""
    if not len(rules):
        return ""
    text = f"{count(len(rules), 'rule')}, {order_text(rules)}"
    weights, noun = determined_by(rules, range(len(rules)))
    if weights is None or len(rules) <= 5:
        return text
    total = _total(rules, noun)
    needed = _n_needed(weights, _MUCH * (total or 0))
    if not total or sum(weights[:needed]) < _MUCH * total or needed == len(rules):
        return text
    verb = "determines" if needed == 1 else "determine"
    return f"{text}; {_first(needed)} {verb} at least {100 * _MUCH:.0f}% of {noun}"


def _about_class(rules: "RuleList", chosen: int) -> str:
    """Say how frequent a class is, and how many of its rules cover most of it."""
    positions = _positions_of(rules, chosen)
    text, rows, total = count(len(positions), "rule"), class_rows(rules), n_rows(rules)
    weights, noun = determined_by(rules, positions)
    if not is_exact(rules):  # the shares of classes are those of the network
        return text
    if rows is not None and total:
        text = f"{share(rows[chosen], total)} of rows; {text}"
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
    >>> _covering([5, 2], 10), _covering([7, 3], 10)
    (', which cover 70.0% of them', '')
    >>> _covering([7, 1, 1, 1], 10)
    ', the first 2 cover at least 80% of them'
    """
    if sum(weights) < n_rows:
        verb = "covers" if len(weights) == 1 else "cover"
        return f", which {verb} {share(sum(weights), n_rows)} of them"
    needed = _n_needed(weights, _MUCH * n_rows)
    if len(weights) <= _FEWEST or needed == len(weights):
        return ""
    verb = "covers" if needed == 1 else "cover"
    return f", {_first(needed)} {verb} at least {100 * _MUCH:.0f}% of them"


def _default(rules: "RuleList", columns: dict[str, list[str]]) -> ShownRule | None:
    """Return the line of the default; None if rules cover every possible input."""
    if needs_no_default(rules):
        return None
    is_constant = not len(rules) and is_whole_domain(rules)
    remark = "always" if is_constant else otherwise_text(rules)
    left: dict[str, str] = {}
    determined = [facts.inputs for facts in rules.facts]
    if "inputs determined" in columns and None not in determined:
        rest = rules.n_possible - sum(determined)  # type: ignore[arg-type]
        left["inputs determined"] = share(rest, rules.n_possible)
    rows = n_rows(rules)
    if "rows determined" in columns and rows is not None:
        support = sum(facts.support or 0 for facts in rules.facts)
        left["rows determined"] = _number(rows - support)
    numbers = tuple(left.get(title, "") for title in columns)
    return ShownRule("", label_text(rules.default), (), remark, numbers)
