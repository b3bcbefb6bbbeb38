"""What comes first: the model, what is proved, and the rules that say most."""

from collections.abc import Sequence
from dataclasses import dataclass

from nn2rules.language import count, label_text, limits_text, percent, share
from nn2rules.network import Network
from nn2rules.output import ShownRule
from nn2rules.report.subject import Subject
from nn2rules.rules import (
    RuleList,
    certificate_of,
    class_counts,
    coverage_of,
    decided_by,
    is_counted,
    is_right,
    n_agreeing,
    n_rows,
    proved_of,
    question_of,
    shown_rule,
    uncovered_inputs,
    uncovered_rows,
)

_MOST = 5  # so many rules stand in the summary
_NAMED = 4  # classes that a title names


@dataclass(frozen=True)
class ClassShare:
    """A class, how much of it there is, and how wide a bar that is, in percent."""

    label: str
    number: int
    share: str
    width: float


@dataclass(frozen=True)
class Summary:
    """The first section, in words and numbers."""

    title: str
    proved: str
    warnings: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    classes: tuple[ClassShare, ...]
    noun: str
    rules: tuple[ShownRule, ...]
    columns: tuple[str, ...]
    said: str


def summary_of(subject: Subject) -> Summary:
    """Return the summary."""
    rules = subject.counted
    classes, noun = _classes(rules)
    shown, columns, said = _most(rules)
    return Summary(
        subject.title or question_of(rules, _NAMED),
        proved_of(rules),
        tuple(rules.warnings()),
        tuple(_facts(subject)),
        classes,
        noun,
        shown,
        columns,
        said,
    )


def shape_of(network: Network) -> str:
    """Return the layers of a network in words.

    Examples
    --------
    >>> import nn2rules
    >>> shape_of(nn2rules.load(nn2rules.datasets.network_file("car")))
    '6 features → 6 relu → 3 relu → 1 sigmoid'
    """
    units = [f"{len(layer.bias):,} {layer.activation}" for layer in network.layers]
    return " → ".join([count(len(network.domain.features), "feature"), *units])


def _facts(subject: Subject) -> list[tuple[str, str]]:
    rules, found = subject.counted, []
    if subject.network is not None:
        found.append(("Network", shape_of(subject.network)))
    ranges = [limits_text(f) for f in rules.domain.features if f.limits is not None]
    words = count(len(rules.domain.features), "feature")
    if ranges:
        words += f", {count(len(ranges), 'range')} of numbers: {'; '.join(ranges)}"
    found.append(("Domain", words))
    if is_counted(rules):
        found.append(("Possible inputs", f"{rules.n_possible:,}"))
    form = "a set" if rules.form == "set" else "a list, tried from the top"
    found.append(("Rules", f"{len(rules):,}, {form}"))
    rows = n_rows(rules)
    if rows is not None:
        found.append(("Rows", f"{rows:,}"))
        found += _of_rows(rules, rows)
    if rules.scope == "support" and is_right(rules):
        found.append(("Open inputs", _open(rules)))
    if covered := coverage_of(subject.rules):
        found.append(("New rows", covered))
    return found


def _of_rows(rules: RuleList, rows: int) -> list[tuple[str, str]]:
    """Say how often labels agree, and what is left open or answered otherwise."""
    found = []
    agreeing = certificate_of(rules).labels_agree
    if agreeing is not None:
        said = f"{share(agreeing, rows)} ({agreeing:,} labels agree with the network)"
        found.append(("Accuracy", said))
    left = uncovered_rows(rules)
    if rules.scope == "support" and left is not None:
        said = f"{left:,} ({share(left, rows)})" if left else "none"
        found.append(("Open rows", said))
    different = certificate_of(rules).rows_different
    if different:
        said = f"{different:,} ({share(different, rows)})"
        found.append(("Rows that the rules answer otherwise", said))
    return found


def _open(rules: RuleList) -> str:
    exact, whole = uncovered_inputs(rules), rules.n_possible
    if exact is not None:
        return f"{exact:,} ({share(exact, whole)})" if exact else "none"
    known = certificate_of(rules)
    least, most = known.uncovered_at_least, known.uncovered_at_most
    if least is not None and most is not None:
        return f"{least:,} to {most:,}"
    if rules.domain.has_ranges:
        return f"the rules decide {rules.volume} of the volume, numbers evenly spread"
    return "not counted"


def _classes(rules: RuleList) -> tuple[tuple[ClassShare, ...], str]:
    """Return how often the network gives each class: on rows, or else on inputs."""
    counts, noun = class_counts(rules)
    whole = sum(counts or ())
    if counts is None or not whole:
        return (), ""
    return tuple(
        ClassShare(
            label_text(label), number, share(number, whole), 100 * number / whole
        )
        for label, number in zip(rules.classes, counts, strict=True)
    ), noun


def _most(rules: RuleList) -> tuple[tuple[ShownRule, ...], tuple[str, ...], str]:
    """Return the rules that decide most, with their numbers."""
    decided, noun = decided_by(rules, range(len(rules)))
    if not decided:
        first = [shown_rule(rules, rule, ()) for rule in rules.rules[:_MOST]]
        return tuple(first), (), "The first ones" if first else ""
    order = sorted(range(len(rules)), key=lambda index: -decided[index])[:_MOST]
    whole = n_rows(rules) if noun == "rows" else rules.n_possible
    has_labels = noun == "rows" and any(f.accuracy is not None for f in rules.facts)
    shown = [
        shown_rule(
            rules,
            rules.rules[index],
            _numbers(rules, index, noun, has_labels=has_labels),
        )
        for index in order
    ]
    part = share(sum(decided[index] for index in order), whole or sum(decided))
    said = f"Together they decide {part} of {noun}"
    said = f"It decides {part} of {noun}" if len(order) == 1 else said
    columns = (f"{noun} decided", *(["labels agree"] if has_labels else []))
    return tuple(shown), columns, said


def _numbers(
    rules: RuleList, index: int, noun: str, *, has_labels: bool
) -> Sequence[str]:
    facts = rules.facts[index]
    if noun == "inputs":
        return (f"{facts.inputs:,}",)
    support = facts.support or 0
    if not has_labels:
        return (f"{support:,}",)
    agree = ""
    agreeing = n_agreeing(facts)
    if agreeing is not None and support:
        agree = percent(agreeing, support)
    return (f"{support:,}", agree)
