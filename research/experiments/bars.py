"""Bars: how well each method does, data set by data set."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from research.experiments.drawing import LOOKS, Drawing, Look, panels, saved, styled
from research.experiments.measure import Score
from research.experiments.printed import SHORT
from research.experiments.results import Result, Results
from research.experiments.table import Spread, number_text


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
