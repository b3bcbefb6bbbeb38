"""Lines: what the first rules of a list achieve, and how many are needed."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.ticker import LogLocator, NullLocator

from research.experiments.counts import SHARES
from research.experiments.drawing import LOOKS, Drawing, panels, saved, styled
from research.experiments.measure import Measured
from research.experiments.printed import LISTS, NAMES
from research.experiments.results import Result, Results

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
    """Draw how many rules answer 90, 95, 99 and 100 % of the test rows rightly."""
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
            axis.set_xticks(range(len(SHARES)), [f"{share} %" for share in SHARES])
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
        title = "Rules needed for 90, 95, 99 and 100 % of test rows"
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
