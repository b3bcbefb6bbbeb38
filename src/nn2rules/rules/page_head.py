"""The top of a description's page: the network, what is proved, about which inputs."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from nn2rules.language import count, label_text, limits_text, percent, quoted, share
from nn2rules.output import GAP, Items, Line, Paragraph, Part, Piece
from nn2rules.rules.certificate import certificate_of
from nn2rules.rules.facts import (
    class_counts,
    features_in_order,
    influence_rows,
    is_counted,
    is_exact,
    n_rows,
)
from nn2rules.rules.wording import coverage_of, large_text, title_of
from nn2rules.space import Range

if TYPE_CHECKING:
    from nn2rules.rules.description import Description

_MOST_NAMED = 6  # classes that a title names
_MOST_INFLUENCES = 12


def head_of(description: "Description", claims: Sequence[str]) -> tuple[Part, ...]:
    """Return the top of the page.

    Parameters
    ----------
    description : Description
    claims : sequence of str
        Sentences on what is proved, and on how to read the description.
    """
    sentences = [
        _network(description),
        _differing_rows(description),
        *claims,
        *limits_of(description),
        _earlier(description),
        coverage_of(description),
        _scorecard(description),
    ]
    title = Piece(title_of(description, _MOST_NAMED), "title")
    return (
        *_warnings(description),
        Line((title, GAP, Piece(_size(description), "faint"))),
        *map(Paragraph, filter(None, sentences)),
        *_influences(description),
    )


def _scorecard(description: "Description") -> str:
    """Say that a scorecard would cover every input, where rules may not."""
    lines = certificate_of(description).scorecard_lines
    if lines is None or not is_exact(description):
        return ""
    return (
        f"A scorecard with {count(lines, 'line')} would cover every input: "
        f"form='scorecard' (--form scorecard)."
    )


def _earlier(description: "Description") -> str:
    """Say how many rules were kept from earlier extractions, and which came when."""
    earlier = [entry.rules for entry in certificate_of(description).earlier]
    if not earlier or not hasattr(description, "names"):
        return ""
    parts = [count(earlier[0], "rule")]
    for first, last in pairwise([*earlier, len(description.names)]):
        parts.append(f"{last - first:,} added to these")
    return f"Extracted in {len(parts)} steps: {', then '.join(parts)}."


def short_head_of(description: "Description", claim: str) -> tuple[Part, ...]:
    """Return the top of the page of very few rules without rows: hardly anything."""
    has_coverage = certificate_of(description).coverage is not None
    coverage = [coverage_of(description)] * has_coverage
    sentences = filter(None, (claim, *limits_of(description), *coverage))
    return (*_warnings(description), *map(Paragraph, sentences))


def limits_of(description: "Description") -> list[str]:
    """Say about which inputs nothing is claimed, and which numbers there are."""
    return [*_impossible(description), *_numbers(description)]


def _warnings(description: "Description") -> list[Part]:
    return [Paragraph(text, "warning") for text in description.warnings()]


def _size(description: "Description") -> str:
    """Say how many features, inputs and rows there are."""
    features = description.domain.features
    parts = [count(len(features), "feature")]
    n_ranges = sum(isinstance(feature, Range) for feature in features)
    if n_ranges:
        parts.append(count(n_ranges, "range") + " of numbers")
    elif is_counted(description):
        parts.append(f"{large_text(description.n_possible)} possible inputs")
    rows = n_rows(description)
    return " · ".join([*parts, *([] if rows is None else [count(rows, "row")])])


def _network(description: "Description") -> str:
    """Say how often the network predicts each class, and how often it is right."""
    counts, noun = class_counts(description)
    total = n_rows(description) if noun == "rows" else description.n_possible
    if counts is None or not total:
        return ""
    chosen = list(range(len(counts)))
    if len(counts) == 2:
        chosen = [0 if counts[0] < counts[1] else 1]
    shares = [
        f"{label_text(description.classes[index])} for {share(counts[index], total)}"
        for index in chosen[:_MOST_NAMED]
    ]
    text = f"The network predicts {_listed(shares)} of {noun}"
    n_agreeing = certificate_of(description).labels_agree
    if n_agreeing is not None and noun == "rows":
        text += f"; its accuracy on all rows is {share(n_agreeing, total)}"
    return f"{text}."


def _differing_rows(description: "Description") -> str:
    """Say on how many rows an approximation differs from the network."""
    n_different = certificate_of(description).rows_different
    rows = n_rows(description)
    if n_different is None or not rows or is_exact(description):
        return ""
    return (
        f"The rules differ from the network on {n_different:,} of "
        f"{count(rows, 'row')} ({share(n_different, rows)})."
    )


def _listed(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1])] * (len(texts) > 1) + [texts[-1]])


def _influences(description: "Description") -> tuple[Part, ...]:
    """Say for each feature on which share of rows it alone can flip the prediction."""
    total, counts = influence_rows(description)
    if not total or not counts:
        return ()
    ranked = [name for name in features_in_order(description) if name in counts]
    shown = [f"{quoted(name)} {percent(counts[name], total)}" for name in ranked]
    more = ["…"] if len(shown) > _MOST_INFLUENCES else []
    title = "Rows whose prediction can flip if only this feature changes"
    if total != n_rows(description):
        title += f" (of {total:,} rows drawn at random)"
    items = (*shown[:_MOST_INFLUENCES], *more)
    return Paragraph(""), Paragraph(f"{title}:"), Items(items, GAP, 2)


def _impossible(description: "Description") -> list[str]:
    """Say that nothing is claimed about inputs that cannot occur."""
    certificate = certificate_of(description)
    if not certificate.impossible:
        return []
    which = "inputs"
    if is_counted(description):
        n_impossible = description.domain.n_inputs - description.n_possible
        which = f"the {count(n_impossible, 'input')}"
    n_different, rest = certificate.rows_different, ""
    if n_different and is_exact(description):
        rows = count(n_different, "row")
        rest = f"; on {rows} among them, the rules differ from the network"
    elif n_different is None and n_rows(description) is not None:
        rest = ", nor about rows among them"
    return [f"Nothing is claimed about {which} declared impossible{rest}."]


def _numbers(description: "Description") -> list[str]:
    """Say which numbers there are: ranges, or only those that occur."""
    not_linear = certificate_of(description).model.get("not_linear")
    texts = []
    for feature in description.domain.features:
        if isinstance(feature, Range):
            texts.append(limits_text(feature))
        elif isinstance(not_linear, list) and feature.name in not_linear:
            name = quoted(feature.name)
            texts.append(f"{name} only the {feature.n_plain:,} values that occur")
    return [f"Numbers: {'; '.join(texts)}."] if texts else []
