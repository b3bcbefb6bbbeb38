"""What stands above a description: the network, what is proved, and of what."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nn2rules.language import count, label_text, limits_text, percent, quoted, share
from nn2rules.output import GAP, Items, Line, Paragraph, Part, Piece
from nn2rules.rules.certificate import certificate_of
from nn2rules.rules.facts import (
    class_counts,
    features_in_order,
    is_counted,
    is_right,
    n_rows,
    turned_rows,
)
from nn2rules.rules.wording import coverage_of, large_text, question_of

if TYPE_CHECKING:
    from nn2rules.rules.description import Description

_NAMED = 6  # classes that a title names
_INFLUENCES = 12


def head_of(description: "Description", claims: Sequence[str]) -> tuple[Part, ...]:
    """Return what stands above a description.

    Parameters
    ----------
    description : Description
    claims : sequence of str
        Sentences on what is proved of it, and how it is read.
    """
    said = [
        _network(description),
        _different_rows(description),
        *claims,
        *limits_of(description),
        coverage_of(description),
    ]
    question = Piece(question_of(description, _NAMED), "title")
    title = Line((question, GAP, Piece(_size(description), "faint")))
    return (
        *_warnings(description),
        title,
        *map(Paragraph, filter(None, said)),
        *_influences(description),
    )


def short_head_of(description: "Description", claim: str) -> tuple[Part, ...]:
    """Return what stands above very few rules without rows: hardly anything."""
    has_coverage = certificate_of(description).coverage is not None
    covered = [coverage_of(description)] * has_coverage
    short = filter(None, (claim, *limits_of(description), *covered))
    return (*_warnings(description), *map(Paragraph, short))


def limits_of(description: "Description") -> list[str]:
    """Say of which inputs nothing is claimed, and which numbers there are."""
    return [*_impossible(description), *_numbers(description)]


def _warnings(description: "Description") -> list[Part]:
    return [Paragraph(text, "warning") for text in description.warnings()]


def _size(rules: "Description") -> str:
    """Say how many features, inputs and rows there are."""
    parts = [count(len(rules.domain.features), "feature")]
    n_ranges = sum(f.limits is not None for f in rules.domain.features)
    if n_ranges:
        parts.append(count(n_ranges, "range") + " of numbers")
    elif is_counted(rules):
        parts.append(f"{large_text(rules.n_possible)} possible inputs")
    rows = n_rows(rules)
    return " · ".join([*parts, *([] if rows is None else [count(rows, "row")])])


def _network(rules: "Description") -> str:
    """Say how often the network gives each class, and how often labels agree."""
    counts, noun = class_counts(rules)
    whole = n_rows(rules) if noun == "rows" else rules.n_possible
    if counts is None or not whole:
        return ""
    chosen = list(range(len(counts)))
    if len(counts) == 2:
        chosen = [0 if counts[0] < counts[1] else 1]
    texts = [
        f"{label_text(rules.classes[index])} for {share(counts[index], whole)}"
        for index in chosen[:_NAMED]
    ]
    said = f"The network says {_listed(texts)} of {noun}"
    agreeing = certificate_of(rules).labels_agree
    if agreeing is not None and noun == "rows":
        said += f"; the labels agree with it on {share(agreeing, whole)}"
    return f"{said}."


def _different_rows(rules: "Description") -> str:
    """Say on how many rows rules that are not the network's answer differ from it."""
    different = certificate_of(rules).rows_different
    rows = n_rows(rules)
    if different is None or not rows or is_right(rules):
        return ""
    part = f"{different:,} of {count(rows, 'row')} ({share(different, rows)})"
    return f"On {part} the rules do not answer as the network does."


def _listed(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1])] * (len(texts) > 1) + [texts[-1]])


def _influences(rules: "Description") -> tuple[Part, ...]:
    """Say for each feature on which share of rows it alone can turn the answer."""
    whole, counts = turned_rows(rules)
    if not whole or not counts:
        return ()
    ranked = [name for name in features_in_order(rules) if name in counts]
    shown = [f"{quoted(name)} {percent(counts[name], whole)}" for name in ranked]
    more = ["…"] if len(shown) > _INFLUENCES else []
    some = f"of {whole:,} rows drawn, those" if whole != n_rows(rules) else "rows"
    title = f"What can turn an answer ({some} where this feature alone would):"
    items = (*shown[:_INFLUENCES], *more)
    return Paragraph(""), Paragraph(title), Items(items, GAP, 2)


def _impossible(rules: "Description") -> list[str]:
    """Say that nothing is claimed of inputs that cannot occur."""
    if not certificate_of(rules).impossible:
        return []
    which = "inputs"
    if is_counted(rules):
        n_impossible = rules.domain.n_inputs - rules.n_possible
        which = f"the {count(n_impossible, 'input')}"
    different, rest = certificate_of(rules).rows_different, ""
    if different and is_right(rules):
        rows = count(different, "row")
        rest = f": on {rows} there the rules do not answer as the network does"
    elif different is None and n_rows(rules) is not None:
        rest = ", nor of rows there"
    return [f"Nothing is claimed of {which} declared impossible{rest}."]


def _numbers(rules: "Description") -> list[str]:
    """Say which numbers there are: ranges, or only those that occur."""
    bent = certificate_of(rules).model.get("not_along_a_line")
    texts = []
    for feature in rules.domain.features:
        if feature.limits is not None:
            texts.append(limits_text(feature))
        elif isinstance(bent, list) and feature.name in bent:
            texts.append(f"{quoted(feature.name)} the {feature.n_plain:,} that occur")
    return [f"Numbers: {'; '.join(texts)}."] if texts else []
