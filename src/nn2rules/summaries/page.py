"""The page of a summary: what it is not, the points, and what was measured."""

from fractions import Fraction
from typing import TYPE_CHECKING

from nn2rules.language import count, label_text, quoted, share
from nn2rules.output import Document, Grid, Heading, Paragraph, Part, Section
from nn2rules.scorecards import number_text
from nn2rules.summaries.agreement import Agreement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nn2rules.summaries.summary import ProvedCutOff, Summary

_SHOWN = 20
"""Of more rows on which the two differ, the first ones are listed."""


def page_of(summary: "Summary") -> Document:
    """Return the page: the card, whose first line warns, and the measurements."""
    card = summary.card.document()
    measured: list[Section] = [_how(summary), _by_class(summary)]
    if summary.bands:
        measured.append(_by_band(summary))
    measured.append(_differences(summary))
    return Document((*card.sections, *measured))


def _how(summary: "Summary") -> tuple[Part, ...]:
    source = "test rows" if summary.is_test else "rows that were held out"
    low, high = summary.agreement.interval
    return (
        Heading("Agreement with the model"),
        Paragraph(
            f"The summary was trained on the model's predictions for "
            f"{count(summary.rows, 'row')} and for rows drawn around them. Agreement "
            f"is measured on {count(summary.agreement.rows, 'other row')} "
            f"({source}): they agree on {summary.agreement.agree:,}. The 95% interval "
            f"is {100 * low:.1f}% to {100 * high:.1f}%."
        ),
        *(Paragraph(note) for note in summary.notes),
    )


def _by_class(summary: "Summary") -> tuple[Part, ...]:
    rows = {
        label_text(label): agreement
        for label, agreement in summary.classes_agreement.items()
    }
    return (_grid("the model predicts", rows),)


def _by_band(summary: "Summary") -> tuple[Part, ...]:
    return (_grid("total points", summary.bands),)


def _grid(title: str, rows: "Mapping[str, Agreement]") -> Grid:
    lines = tuple(
        (name, f"{agreement.rows:,}", f"{agreement.agree:,}", agreement.text)
        for name, agreement in rows.items()
        if agreement.rows
    )
    header = (title, "rows", "agree", "share, 95%")
    return Grid(lines, (False, True, True, True), header)


def _differences(summary: "Summary") -> tuple[Part, ...]:
    """Say on which rows and inputs the two differ, and where they cannot."""
    parts: list[Part] = []
    number, rows = len(summary.different), summary.agreement.rows
    if number:
        shown = ", ".join(f"{row:,}" for row in summary.different[:_SHOWN])
        more = ", …" if number > _SHOWN else ""
        where = "of the test rows" if summary.is_test else "of the data, from 0"
        parts.append(
            Paragraph(
                f"They differ on {number:,} of {count(rows, 'unseen row')} "
                f"({share(number, rows)}): "
                f"{'row' if number == 1 else 'rows'} {shown}{more} {where}."
            )
        )
    else:
        parts.append(
            Paragraph(
                f"They agree on all {count(rows, 'unseen row')}; this proves nothing "
                f"about other rows."
            )
        )
    if summary.example is not None:
        found = summary.example
        texts = (
            f"{quoted(name)} = {label_text(value)}" for name, value in found.row.items()
        )
        parts.append(
            Paragraph(
                f"An input on which they differ: {' · '.join(texts)}. The model "
                f"predicts {label_text(found.model)}, the summary "
                f"{label_text(found.summary)}."
            )
        )
    parts += [Paragraph(_proved(cut)) for cut in summary.cut_offs]
    return tuple(parts)


def _proved(cut: "ProvedCutOff") -> str:
    total = number_text(Fraction(cut.total))
    side = f"at least {total}" if cut.is_least else f"at most {total}"
    return (
        f"Proved by comparing all {count(cut.of_inputs, 'input')}: where the total is "
        f"{side}, both predict {label_text(cut.label)} "
        f"({count(cut.inputs, 'input')})."
    )
