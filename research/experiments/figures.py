"""The figures of the experiments, as PNG and SVG: bars and curves.

Colours are those of Okabe and Ito, which the colour-blind tell apart; and what has a
colour also has a hatch, or a marker and a line style of its own.
"""

import io
import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import LogLocator, NullLocator

from research.experiments.measure import Measured, Score
from research.experiments.printed import FIDELITY, LISTS, NAMES, ON_ERRORS, SHORT
from research.experiments.results import Result, Results
from research.experiments.table import Spread, number_text
from research.experiments.tables import SHARES

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


def bars(
    results: Results,
    name: str,
    title: str,
    of: Callable[[Score], float | None],
    printed: Mapping[str, Mapping[str, float]],
) -> Drawing | None:
    """Draw a bar for each method; its whisker is the spread over the networks."""
    lows = [
        end
        for result in results.sets
        for key in LOOKS
        for end in _ends(result.score(key, of), printed.get(result.case.name), key)
    ]
    if not lows:
        return None
    start = math.floor(20 * min(lows) - 0.5) / 20 if min(lows) > 0.5 else 0.0
    with styled():
        figure, axes = panels(results, 2.3)
        for axis, result in zip(axes, results.sets, strict=False):
            _panel_of_bars(axis, result, of, printed.get(result.case.name, {}), start)
        return saved(figure, f"{name}-bars", title, _bar_words(results, title, start))


def _ends(spread: Spread | None, printed: Mapping[str, float] | None, key: str) -> Any:
    low = None if spread is None else spread.low
    mark = (printed or {}).get(key)
    return [number for number in (low, mark) if number is not None]


def _panel_of_bars(
    axis: Any,
    result: Result,
    of: Callable[[Score], float | None],
    printed: Mapping[str, float],
    start: float,
) -> None:
    keys = [key for key in LOOKS if result.has(key)]
    for place, key in enumerate(keys):
        spread = result.score(key, of)
        if spread is not None and spread.mean is not None:
            _bar(axis, place, spread, LOOKS[key], start)
        if key in printed:
            axis.plot(
                printed[key],
                place,
                "D",
                ms=6,
                mfc="white",
                mec="black",
                mew=1.2,
                zorder=4,
            )
    if not axis.patches:
        words = "no network makes an error"
        axis.text(0.5, 0.5, words, ha="center", transform=axis.transAxes)
    axis.set_yticks(range(len(keys)), [SHORT[key] for key in keys])
    axis.set_ylim(len(keys) - 0.4, -0.6)
    axis.set_xlim(start, 1 + (1 - start) * 0.25)
    ticks = [tick for tick in axis.get_xticks() if start - 1e-9 <= tick <= 1 + 1e-9]
    axis.set_xticks(ticks)
    axis.spines.bottom.set_bounds(start, 1)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x", color="#dddddd", lw=0.6)
    axis.set_axisbelow(True)


def _bar(axis: Any, place: int, spread: Spread, look: Look, start: float) -> None:
    mean, low, high = spread.mean, spread.low, spread.high
    assert mean is not None
    assert low is not None
    assert high is not None
    axis.barh(
        place,
        mean - start,
        left=start,
        height=0.72,
        color=look.colour,
        hatch=look.hatch,
        edgecolor="#222222",
        lw=0.6,
        xerr=[[mean - low], [high - mean]] if high > low else None,
        error_kw={"lw": 1, "capsize": 2.5},
    )
    axis.annotate(
        number_text(mean, "share"),
        (1, place),
        (8, 0),
        textcoords="offset points",
        va="center",
        fontsize=8.5,
    )


def _bar_words(results: Results, title: str, start: float) -> str:
    words = (
        f"{title}, by method; the number at the right is the mean. The decision tree "
        f"and simple TREPAN are those of depth 6."
    )
    if results.seeds > 1:
        words += (
            f" A bar is the mean over {results.seeds} networks, and its whisker "
            f"reaches from the smallest to the largest."
        )
    if results.is_paper:
        words += " A white diamond is the figure that the paper prints."
    if start > 0:
        words += f" The axes begin at {start:.2f}, not at 0."
    return words


_CURVES = ("full", "list", "support-list")
_PERCENTS = np.arange(0, 101)


def curves(results: Results, what: str) -> Drawing:
    """Draw what the first so many percent of the rules of a list achieve."""
    with styled():
        figure, axes = panels(results, 2.5)
        for axis, result in zip(axes, results.sets, strict=False):
            for key in _CURVES:
                if result.has(key):
                    _curve(axis, result, key, what)
            axis.set_xlim(-2, 102)
            axis.set_xlabel("first rules, % of the list")
            axis.set_ylabel(f"{what}, test rows")
            axis.grid(color="#dddddd", lw=0.6)
            axis.legend(loc="lower right", frameon=True, framealpha=0.9)
        title = f"{what.capitalize()} against the share of rules"
        bands = " A band reaches from the smallest to the largest." * (
            results.seeds > 1
        )
        caption = (
            f"The {what} on test rows of the first rules of a list, in percent of its "
            f"length, with a default for the rest; lines are means over the networks."
            f"{bands} Legends give the mean length of each list: the same percentage "
            f"is many rules of a long list and few of a short one."
        )
        return saved(figure, f"{what}-by-rules", title, caption)


def _curve(axis: Any, result: Result, key: str, what: str) -> None:
    part = 0 if what == "fidelity" else 1
    lines = np.array(
        [found.first[key].at_shares(_PERCENTS)[part] for found in result.networks]
    )
    look, sizes = LOOKS[key], result.score(key, lambda score: score.n_rules)
    assert sizes is not None
    assert sizes.mean is not None
    label = f"{NAMES[key]}: {sizes.mean:,.0f} rules"
    axis.plot(
        _PERCENTS,
        lines.mean(axis=0),
        color=look.colour,
        ls=look.line,
        lw=1.8,
        marker=look.marker,
        ms=4.5,
        mec="#222222",
        mew=0.5,
        markevery=(5 * _CURVES.index(key), 20),
        label=label,
    )
    axis.fill_between(
        _PERCENTS,
        lines.min(axis=0),
        lines.max(axis=0),
        color=look.colour,
        alpha=0.18,
        lw=0,
    )


def needed(results: Results) -> Drawing:
    """Draw how many rules answer 90, 95, 99 and 100% of the test rows rightly."""
    with styled():
        figure, axes = panels(results, 2.5)
        for axis, result in zip(axes, results.sets, strict=False):
            for offset, key in enumerate(LISTS):
                if result.has(key):
                    _needed_line(axis, result, key, (offset - 1.5) * 0.13)
            axis.set_yscale("log")
            axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.yaxis.set_minor_locator(NullLocator())
            axis.yaxis.set_major_formatter(lambda number, _place: f"{number:,.0f}")
            axis.set_xticks(range(len(SHARES)), [f"{share}%" for share in SHARES])
            axis.set_xlim(-0.4, len(SHARES) - 0.6)
            axis.set_xlabel("test rows answered as the network does")
            axis.set_ylabel("rules needed")
            axis.grid(axis="y", color="#dddddd", lw=0.6)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=4)
        caption = (
            "How many of the first rules of a list it takes, with a default for the "
            "rest, to answer this share of the test rows as the network does, on a "
            "logarithmic scale. Points are means over the networks, and whiskers reach "
            "from the smallest to the largest; a point is missing where a list does "
            "not reach the share for every network."
        )
        title = "Rules needed for 90, 95, 99 and 100% of test rows"
        return saved(figure, "rules-needed", title, caption)


def _needed_line(axis: Any, result: Result, key: str, offset: float) -> None:
    def of(share: int) -> Callable[[Measured], float | None]:
        return lambda found: found.first[key].needed(share)

    spreads = [result.spread(of(share)) for share in SHARES]
    chosen = [p for p, s in enumerate(spreads) if None not in s.values and s.low]
    means = np.array([spreads[place].mean for place in chosen], dtype=float)
    lows = np.array([spreads[place].low for place in chosen], dtype=float)
    highs = np.array([spreads[place].high for place in chosen], dtype=float)
    look = LOOKS[key]
    axis.errorbar(
        np.array(chosen, dtype=float) + offset,
        means,
        yerr=[means - lows, highs - means],
        color=look.colour,
        ls=look.line,
        marker=look.marker,
        ms=6,
        mec="#222222",
        mew=0.7,
        lw=1.5,
        elinewidth=1,
        capsize=2.5,
        label=NAMES[key],
    )


def figures_of(results: Results) -> list[Drawing]:
    """Draw every figure that can be made of what was measured."""
    found = [
        bars(results, "fidelity", "Fidelity on test rows", _fidelity, FIDELITY),
        curves(results, "fidelity"),
        curves(results, "accuracy"),
        bars(results, "errors", "Fidelity on the network's errors", _errors, ON_ERRORS),
        needed(results),
    ]
    return [drawing for drawing in found if drawing is not None]


def figure_files(drawings: list[Drawing]) -> dict[str, bytes]:
    """Return the files of some figures: two for each."""
    found = {}
    for drawing in drawings:
        found[f"figures/{drawing.name}.png"] = drawing.png
        found[f"figures/{drawing.name}.svg"] = drawing.svg
    return found


def _fidelity(score: Score) -> float | None:
    return score.fidelity


def _errors(score: Score) -> float | None:
    return score.on_errors
