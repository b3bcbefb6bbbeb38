"""The path of networks from simple to complex, and which of them is chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nn2rules.errors import MissingExtraError, OptionError
from nn2rules.network import Network
from nn2rules.output import frame_of
from nn2rules.rules import RuleList

if TYPE_CHECKING:
    from nn2rules.learn.training.peers import Peer

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
        label="readable networks",
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
    axes.set(xlabel="rules", ylabel="accuracy on held-out rows (%)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small")
    return axes


@dataclass(frozen=True)
class Point:
    """A network on the path.

    Attributes
    ----------
    questions : int
        The number of yes-or-no questions about a row that are its inputs.
    right : tuple of float
        The share of held-out rows that such a network predicts correctly, per fold.
    network : Network
    rules : RuleList
        They predict what the network does for every input.
    """

    questions: int
    right: tuple[float, ...]
    network: Network
    rules: RuleList

    @property
    def accuracy(self) -> float:
        """The mean over the folds."""
        return sum(self.right) / len(self.right)

    @property
    def error(self) -> float:
        """The standard error of this mean."""
        return _standard_error(self.right)

    def behind(self, best: "Point") -> tuple[float, float]:
        """Return how much less accurate it is than `best`, and the standard error."""
        gaps = [b - own for b, own in zip(best.right, self.right, strict=True)]
        return sum(gaps) / len(gaps), _standard_error(gaps)


@dataclass(frozen=True)
class Path:
    """Networks from simple to complex, and which of them was chosen.

    Attributes
    ----------
    points : tuple of Point
    chosen : int
        The position of the one that was chosen.
    """

    points: tuple[Point, ...]
    chosen: int

    def __len__(self) -> int:
        return len(self.points)

    def __str__(self) -> str:
        lines = ["questions  columns   inputs  rules  accuracy"]
        for place, point in enumerate(self.points):
            mark = "  ← chosen" if place == self.chosen else ""
            lines.append(
                f"{point.questions:9}  {len(point.network.domain.features):7}  "
                f"{point.network.domain.n_inputs:7,}  {len(point.rules):5}  "
                f"{100 * point.accuracy:5.1f} ± {100 * point.error:.1f}%{mark}"
            )
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return the path as a pandas data frame, a row for each network."""
        return frame_of(self._columns, "pandas")

    def _columns(self) -> dict[str, list[Any]]:
        points = self.points
        domains = [point.network.domain for point in points]
        return {
            "questions": [point.questions for point in points],
            "columns": [len(domain.features) for domain in domains],
            "inputs": [domain.n_inputs for domain in domains],
            "rules": [len(point.rules) for point in points],
            "accuracy": [point.accuracy for point in points],
            "error": [point.error for point in points],
            "chosen": [place == self.chosen for place in range(len(points))],
        }

    def plot(self, axes: Any = None, *, peers: Sequence[Any] = ()) -> Any:
        """Draw accuracy against the number of rules.

        Parameters
        ----------
        axes : matplotlib axes, optional
        peers : sequence of Peer
            Other models on the same rows, as `ReadableClassifier.peers` measures them.
        """
        return path_plot(self, axes, peers)


def chosen(points: Sequence[Point], tolerance: float | None, most: int | None) -> int:
    """Return the position of the network with the fewest rules that is good enough.

    Good enough means that its accuracy is at most `tolerance` below the best of the
    path, by default one standard error of their difference, fold by fold: some folds
    are harder than others, for all networks. With `most`, networks with more rules are
    left out, and if none of the others is good enough, the most accurate is taken.
    """
    best = max(points, key=lambda point: point.accuracy)
    limit = np.inf if most is None else most
    short = [place for place, p in enumerate(points) if len(p.rules) <= limit]
    if not short:
        fewest = min(len(point.rules) for point in points)
        raise OptionError(
            f"max_rules: {most}, but the simplest network of the path needs {fewest}"
        )
    good = [place for place in short if _is_near(points[place], best, tolerance)]
    if not good:
        return max(short, key=lambda place: points[place].accuracy)
    return min(good, key=lambda p: (len(points[p].rules), -points[p].accuracy))


def _is_near(point: Point, best: Point, tolerance: float | None) -> bool:
    behind, error = point.behind(best)
    return behind <= (error if tolerance is None else tolerance)


def _standard_error(numbers: Sequence[float]) -> float:
    return float(np.std(numbers, ddof=1) / np.sqrt(len(numbers)))
