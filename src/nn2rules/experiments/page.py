"""One page with everything: no script, nothing from the network, figures inside."""

import html
import re
from collections.abc import Sequence

from nn2rules.experiments.drawing import Drawing
from nn2rules.experiments.findings import better_printed, findings, largest_gaps
from nn2rules.experiments.folder import MARK
from nn2rules.experiments.prose import CSS, introduction, making, reasons
from nn2rules.experiments.results import Results
from nn2rules.experiments.table import ResultTable

_ORDER = (
    ("data-sets",),
    ("fidelity", "fidelity-bars", "fidelity-on-the-domain"),
    ("accuracy",),
    ("number-of-rules", "fidelity-by-rules", "accuracy-by-rules"),
    ("with-and-without",),
    ("fidelity-on-errors", "errors-bars"),
    ("side-by-side", "rules-needed-table", "rules-needed"),
    ("support-at-the-same-number-of-rules",),
)
_SECTIONS = (
    "Data sets",
    "Fidelity",
    "Accuracy",
    "Number of rules",
    "Networks made to be read",
    "The network's errors",
    "The paper's form and nn2rules",
    "Support lists at the same number of rules",
)


def page(
    results: Results, tables: Sequence[ResultTable], drawings: Sequence[Drawing]
) -> str:
    """Return the page as HTML text."""
    blocks = {
        "rules-needed-table" if table.name == "rules-needed" else table.name: _table(
            table
        )
        for table in tables
    }
    blocks |= {drawing.name: _drawing(drawing) for drawing in drawings}
    title = "The experiments of NN2Rules, run anew"
    if not results.is_paper:
        title = f"Rules for {results.sets[0].label}"
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        *_paragraphs(introduction(results)),
        "<h2>What this run shows</h2>",
        *_findings(results),
    ]
    for heading, names in zip(_SECTIONS, _ORDER, strict=True):
        present = [blocks[name] for name in names if name in blocks]
        if present:
            parts += [f"<h2>{html.escape(heading)}</h2>", *present]
    if results.is_paper:
        parts += _differences(results, blocks["differences"])
    parts += ["<h2>How this page was made</h2>", *_paragraphs(making(results))]
    return _document(title, "\n".join(parts))


def _findings(results: Results) -> list[str]:
    parts = []
    for heading, sentences in findings(results):
        parts += [f"<h3>{html.escape(heading)}</h3>", _listed(sentences)]
    return parts


def _differences(results: Results, table: str) -> list[str]:
    better = better_printed(results)
    parts = [
        "<h2>Why these numbers differ from the paper's</h2>",
        *_paragraphs(reasons()),
        _listed([largest_gaps(result) for result in results.sets]),
    ]
    if better:
        parts += [
            "<p>The paper's printed figures are better than this run's here: more "
            "faithful, more accurate, or fewer rules.</p>",
            _listed(better),
        ]
    return [*parts, table]


def _document(title: str, body: str) -> str:
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{MARK}\n<title>{html.escape(title)}</title>\n"
        f"<style>\n{CSS}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n"
        "</body>\n</html>\n"
    )


def _paragraphs(texts: Sequence[str]) -> list[str]:
    return [f"<p>{html.escape(text)}</p>" for text in texts]


def _listed(texts: Sequence[str]) -> str:
    items = "\n".join(f"<li>{html.escape(text)}</li>" for text in texts)
    return f"<ul>\n{items}\n</ul>"


def _table(table: ResultTable) -> str:
    title, caption = html.escape(table.title), html.escape(table.caption)
    return (
        f'<figure id="table-{table.name}">\n'
        f"<figcaption><strong>{title}.</strong> {caption}</figcaption>\n"
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">\n'
        f"{table.to_html()}\n</div>\n</figure>"
    )


def _drawing(drawing: Drawing) -> str:
    title, caption = html.escape(drawing.title), html.escape(drawing.caption)
    return (
        f'<figure id="figure-{drawing.name}">\n'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">\n'
        f"{_inline(drawing)}\n</div>\n"
        f"<figcaption><strong>{title}.</strong> {caption}</figcaption>\n</figure>"
    )


def _inline(drawing: Drawing) -> str:
    """Return an SVG to stand in a page, its names unlike those of the others."""
    text = drawing.svg.decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    for before in ('id="', 'href="#', "url(#"):
        text = text.replace(before, f"{before}{drawing.name}-")
    label = html.escape(drawing.title, quote=True)
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1).strip()
