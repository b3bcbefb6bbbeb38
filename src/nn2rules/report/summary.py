"""What comes first: the model, what is proved, and the top rules, if there are any."""

from collections.abc import Sequence
from dataclasses import dataclass

from nn2rules.language import count, label_text, limits_text, percent, share
from nn2rules.network import Network
from nn2rules.output import ShownRule
from nn2rules.report.card import card_facts, card_proof
from nn2rules.report.subject import Subject
from nn2rules.rules import (
    Description,
    RuleList,
    certificate_of,
    class_counts,
    coverage_of,
    determined_by,
    is_counted,
    is_exact,
    n_agreeing,
    n_rows,
    order_text,
    proof_sentence_of,
    shown_rule,
    title_of,
    uncovered_inputs,
    uncovered_rows,
)
from nn2rules.space import Range

_N_TOP = 5  # rules in the summary
_MOST_NAMED = 4  # classes that a title names


@dataclass(frozen=True)
class ClassShare:
    """A class, how frequent it is, and the width of a bar, in percent."""

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
    note: str


def summary_of(subject: Subject) -> Summary:
    """Return the summary."""
    rules = subject.counted
    classes, noun = _classes(rules)
    card = subject.card
    shown, columns, note = ((), (), "") if card else _top_rules(subject.rules)
    return Summary(
        subject.title or title_of(rules, _MOST_NAMED),
        card_proof(card) if card else proof_sentence_of(subject.rules),
        tuple(rules.warnings()),
        tuple(_facts(subject)),
        classes,
        noun,
        shown,
        columns,
        note,
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
    rules, facts = subject.counted, []
    if subject.network is not None:
        facts.append(("Network", shape_of(subject.network)))
    features = rules.domain.features
    ranges = [limits_text(f) for f in features if isinstance(f, Range)]
    domain = count(len(features), "feature")
    if ranges:
        domain += f", {count(len(ranges), 'range')} of numbers: {'; '.join(ranges)}"
    facts.append(("Domain", domain))
    if is_counted(rules):
        facts.append(("Possible inputs", f"{rules.n_possible:,}"))
    card = subject.card
    if card is not None:
        facts += card_facts(card)
    else:
        facts.append(("Rules", f"{len(subject.rules):,}, {order_text(subject.rules)}"))
    rows = n_rows(rules)
    if rows is not None:
        facts.append(("Rows", f"{rows:,}"))
        facts += _row_facts(rules, rows)
    if rules.scope == "support" and is_exact(rules):
        facts.append(("Inputs not covered", _uncovered(subject.rules)))
    if coverage := coverage_of(subject.description):
        facts.append(("New rows", coverage))
    return facts


def _row_facts(rules: Description, rows: int) -> list[tuple[str, str]]:
    """State the accuracy, and on how many rows rules differ or claim nothing."""
    facts = []
    n_right = certificate_of(rules).labels_agree
    if n_right is not None:
        text = f"{share(n_right, rows)} (the network predicts the label of {n_right:,})"
        facts.append(("Accuracy", text))
    n_left = uncovered_rows(rules) if isinstance(rules, RuleList) else None
    if rules.scope == "support" and n_left is not None:
        text = f"{n_left:,} ({share(n_left, rows)})" if n_left else "none"
        facts.append(("Rows not covered", text))
    n_different = certificate_of(rules).rows_different
    if n_different:
        text = f"{n_different:,} ({share(n_different, rows)})"
        facts.append(("Rows where the rules differ from the network", text))
    return facts


def _uncovered(rules: RuleList) -> str:
    n_left, n_inputs = uncovered_inputs(rules), rules.n_possible
    if n_left is not None:
        return f"{n_left:,} ({share(n_left, n_inputs)})" if n_left else "none"
    certificate = certificate_of(rules)
    low, high = certificate.uncovered_at_least, certificate.uncovered_at_most
    if low is not None and high is not None:
        return f"{low:,} to {high:,}"
    if rules.domain.has_ranges:
        return (
            f"not counted; the rules cover {rules.volume} of the volume of the domain, "
            f"with numbers spread evenly"
        )
    return "not counted"


def _classes(rules: Description) -> tuple[tuple[ClassShare, ...], str]:
    """Return how often the network predicts each class: on rows, or else inputs."""
    counts, noun = class_counts(rules)
    total = sum(counts or ())
    if counts is None or not total:
        return (), ""
    return tuple(
        ClassShare(
            label_text(label), number, share(number, total), 100 * number / total
        )
        for label, number in zip(rules.classes, counts, strict=True)
    ), noun


def _top_rules(rules: RuleList) -> tuple[tuple[ShownRule, ...], tuple[str, ...], str]:
    """Return the rules that determine most, with their numbers and a note."""
    determined, noun = determined_by(rules, range(len(rules)))
    if not determined:
        first = [shown_rule(rules, rule, ()) for rule in rules.rules[:_N_TOP]]
        return tuple(first), (), "The first in the list" if first else ""
    order = sorted(range(len(rules)), key=lambda index: -determined[index])[:_N_TOP]
    total = n_rows(rules) if noun == "rows" else rules.n_possible
    has_labels = noun == "rows" and any(f.accuracy is not None for f in rules.facts)
    shown = [
        shown_rule(
            rules,
            rules.rules[index],
            _numbers(rules, index, noun, has_labels=has_labels),
        )
        for index in order
    ]
    part = share(sum(determined[index] for index in order), total or sum(determined))
    note = f"Together they determine {part} of {noun}"
    note = f"It determines {part} of {noun}" if len(order) == 1 else note
    columns = (f"{noun} determined", *(["labels agree"] if has_labels else []))
    return tuple(shown), columns, note


def _numbers(
    rules: RuleList, index: int, noun: str, *, has_labels: bool
) -> Sequence[str]:
    facts = rules.facts[index]
    if noun == "inputs":
        return (f"{facts.inputs:,}",)
    support = facts.support or 0
    if not has_labels:
        return (f"{support:,}",)
    n_right = n_agreeing(facts)
    agree = percent(n_right, support) if n_right is not None and support else ""
    return (f"{support:,}", agree)
