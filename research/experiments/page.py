"""One page with everything: no script, nothing from the network, figures inside."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nn2rules.report.html import filled_page
from research.experiments.figures import Drawing
from research.experiments.results import Results
from research.experiments.sentences import (
    better_printed,
    findings,
    introduction,
    largest_gaps,
    making,
    reasons,
)
from research.experiments.table import ResultTable

_SECTIONS = {
    "Data sets": ("data-sets",),
    "Fidelity": ("fidelity", "fidelity-bars", "fidelity-on-the-domain"),
    "Accuracy": ("accuracy",),
    "Number of rules": ("number-of-rules", "fidelity-by-rules", "accuracy-by-rules"),
    "Networks made to be read": ("with-and-without",),
    "The network's errors": ("fidelity-on-errors", "errors-bars"),
    "The paper's form and nn2rules": (
        "side-by-side",
        "rules-needed-table",
        "rules-needed",
    ),
    "Support lists at the same number of rules": (
        "support-at-the-same-number-of-rules",
    ),
}


@dataclass(frozen=True)
class Inline:
    """A figure as it stands in the page: `svg` is markup of our own making."""

    name: str
    title: str
    caption: str
    svg: str


def page(
    results: Results, tables: Sequence[ResultTable], drawings: Sequence[Drawing]
) -> str:
    """Return the page as HTML text."""
    blocks: dict[str, ResultTable | Inline] = {
        "rules-needed-table" if table.name == "rules-needed" else table.name: table
        for table in tables
    }
    blocks |= {drawing.name: inline(drawing) for drawing in drawings}
    title = "The experiments of NN2Rules, run anew"
    if not results.is_paper:
        title = f"Rules for {results.sets[0].label}"
    sections = {
        heading: [blocks[name] for name in names if name in blocks]
        for heading, names in _SECTIONS.items()
    }
    return filled_page(
        "paper.html.jinja",
        styles=("page.css", "paper.css"),
        package="research.experiments",
        title=title,
        introduction=introduction(results),
        findings=findings(results),
        sections={heading: found for heading, found in sections.items() if found},
        differences=blocks.get("differences") if results.is_paper else None,
        reasons=reasons(),
        gaps=[largest_gaps(result) for result in results.sets]
        if results.is_paper
        else [],
        better=better_printed(results) if results.is_paper else [],
        making=making(results),
    )


def inline(drawing: Drawing) -> Inline:
    """Return a figure to stand in a page, its names unlike those of the others.

    The page allows no styles but its own, so each becomes attributes.
    """
    text = drawing.svg.decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<style.*?</style>\s*", "", text, flags=re.DOTALL)
    for before in ('id="', 'href="#', "url(#"):
        text = text.replace(before, f"{before}{drawing.name}-")
    text = re.sub(r'style="([^"]*)"', _attributes, text)
    return Inline(drawing.name, drawing.title, drawing.caption, text.strip())


def _attributes(style: re.Match[str]) -> str:
    """Return styles of an element as attributes.

    Examples
    --------
    >>> re.sub(r'style="([^"]*)"', _attributes, '<g style="fill: none; opacity: 0.5">')
    '<g fill="none" opacity="0.5">'
    """
    pairs = [part.partition(":") for part in style[1].split(";") if part.strip()]
    return " ".join(f'{name.strip()}="{value.strip()}"' for name, _, value in pairs)
