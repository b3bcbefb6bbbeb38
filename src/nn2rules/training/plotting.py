"""Accuracy against rules, drawn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nn2rules.errors import MissingExtraError

if TYPE_CHECKING:
    from nn2rules.training.path import Path
    from nn2rules.training.peers import Peer

_MARKS = "sD^vP*X"


def path_plot(path: "Path", axes: Any, peers: Sequence["Peer"]) -> Any:
    """Return what `Path.plot` does."""
    try:
        from matplotlib import pyplot, ticker
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "plot()") from None
    if axes is None:
        _, axes = pyplot.subplots(figsize=(6.5, 4), layout="constrained")
    shown = [point for point in path.points if len(point.rules)]
    axes.errorbar(
        [len(point.rules) for point in shown],
        [100 * point.accuracy for point in shown],
        [100 * point.error for point in shown],
        fmt="o-",
        color="black",
        capsize=2,
        label="networks made to be read",
    )
    taken = path.points[path.chosen]
    axes.plot(
        [max(1, len(taken.rules))],
        [100 * taken.accuracy],
        "o",
        color="black",
        markersize=14,
        fillstyle="none",
        label="chosen",
    )
    for place, peer in enumerate(peers):
        colour = f"C{place}"
        if peer.size is None:
            axes.axhline(100 * peer.accuracy, color=colour, ls="--", label=peer.name)
            continue
        axes.plot(
            [max(1, peer.size)],
            [100 * peer.accuracy],
            _MARKS[place % len(_MARKS)],
            color=colour,
            label=f"{peer.name} ({peer.size:,} {peer.unit})",
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    axes.set(xlabel="rules", ylabel="% right, on rows held out")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small")
    return axes
