"""How figures look and how they are saved: the same bytes for the same numbers.

Colours are those of Okabe and Ito, which the colour-blind tell apart; and what has a
colour also has a hatch, or a marker and a line style of its own.
"""

import io
import math
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from research.experiments.results import Results

_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8,
    "hatch.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "nn2rules",
    "svg.fonttype": "path",
}


@dataclass(frozen=True)
class Look:
    """How a method is drawn: colour, hatch of its bars, marker and line."""

    colour: str
    hatch: str
    marker: str = "o"
    line: str = "-"


LOOKS = {
    "tree-6": Look("#999999", ""),
    "simple-6": Look("#F0E442", "///"),
    "trepan": Look("#CC79A7", "\\\\\\"),
    "full": Look("#56B4E9", "xxx", "s", "--"),
    "support": Look("#0072B2", "...", "D", ":"),
    "list": Look("#E69F00", "", "o", "-"),
    "support-list": Look("#D55E00", "---", "^", "-."),
}


@dataclass(frozen=True)
class Drawing:
    """A figure: the name of its files, its title, its caption, and both forms."""

    name: str
    title: str
    caption: str
    png: bytes
    svg: bytes


def styled() -> AbstractContextManager[None]:
    """Return the context in which figures are drawn and saved."""
    return mpl.rc_context(_STYLE)


def panels(results: Results, height: float) -> tuple[Figure, list[Any]]:
    """Return a figure with a panel for each data set, two in a row."""
    n_sets = len(results.sets)
    n_lines = math.ceil(n_sets / 2)
    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1)
    figure = Figure(figsize=(7.6, height * n_lines + 0.5), layout=layout)
    FigureCanvasAgg(figure)
    axes = figure.subplots(n_lines, min(n_sets, 2), squeeze=False).ravel().tolist()
    for spare in axes[n_sets:]:
        spare.set_axis_off()
    for axis, result in zip(axes, results.sets, strict=False):
        axis.set_title(_shortened(result.label), loc="left", fontweight="bold")
    return figure, axes


def _shortened(name: str) -> str:
    name = name.replace("$", r"\$")
    return name if len(name) <= 40 else f"{name[:39]}…"


def saved(figure: Figure, name: str, title: str, caption: str) -> Drawing:
    """Return a figure in both forms, without dates or versions inside."""
    png, svg = io.BytesIO(), io.BytesIO()
    figure.savefig(png, format="png", dpi=200, metadata={"Software": None})
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    return Drawing(name, title, caption, png.getvalue(), svg.getvalue())
