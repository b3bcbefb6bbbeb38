"""The path of networks from simple to complex, and which of them is chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nn2rules.errors import MissingExtraError
from nn2rules.learn.training.measures import Measures
from nn2rules.network import Network
from nn2rules.output import frame_of
from nn2rules.rules import RuleList
from nn2rules.scorecards import Scorecard

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
    shown = [point for point in path.points if point.size]
    axes.errorbar(
        [point.size for point in shown],
        [100 * point.accuracy for point in shown],
        [100 * point.error for point in shown],
        fmt="o-",
        color="black",
        capsize=2,
        label="readable networks",
    )
    taken = path.points[path.chosen]
    axes.plot(
        [max(1, taken.size)],
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
    measures : tuple of Measures
        For each fold, how good such a network is on held-out rows.
    network : Network
    description : RuleList or Scorecard
        It predicts what the network does for every input.
    """

    questions: int
    measures: tuple[Measures, ...]
    network: Network
    description: RuleList | Scorecard

    @property
    def form(self) -> Literal["rules", "scorecard"]:
        """The form of the description."""
        return "rules" if isinstance(self.description, RuleList) else "scorecard"

    @property
    def size(self) -> int:
        """The number of rules, or of lines with points."""
        if isinstance(self.description, RuleList):
            return len(self.description)
        return self.description.n_lines

    @property
    def accuracy(self) -> float:
        """The share of held-out rows that are predicted correctly, over all folds."""
        return _mean([found.accuracy for found in self.measures])

    @property
    def error(self) -> float:
        """The standard error of the accuracy."""
        return _standard_error([found.accuracy for found in self.measures])

    @property
    def auc(self) -> float:
        """The area under the ROC curve, over all folds."""
        return _mean([found.auc for found in self.measures])

    @property
    def brier(self) -> float:
        """The mean squared error of the probabilities, over all folds."""
        return _mean([found.brier for found in self.measures])


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
        lines = ["form       columns   size  accuracy        AUC  Brier"]
        for place, point in enumerate(self.points):
            mark = "  ← chosen" if place == self.chosen else ""
            n_columns = len(point.network.domain.features) if point.size else 0
            lines.append(
                f"{point.form:9}  {n_columns:7}  {point.size:5,}  "
                f"{100 * point.accuracy:5.1f} ± {100 * point.error:.1f}%  "
                f"{point.auc:.3f}  {point.brier:.3f}{mark}"
            )
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return the path as a pandas data frame, a row for each network."""
        return frame_of(self.columns, "pandas")

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame`."""
        points = self.points
        domains = [point.network.domain for point in points]
        return {
            "form": [point.form for point in points],
            "columns": [len(domain.features) for domain in domains],
            "inputs": [domain.n_inputs for domain in domains],
            "size": [point.size for point in points],
            "accuracy": [point.accuracy for point in points],
            "error": [point.error for point in points],
            "auc": [point.auc for point in points],
            "brier": [point.brier for point in points],
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


TOLERANCE = 0.003
"""How much accuracy and AUC may be lost for a shorter description, by default."""


def chosen(points: Sequence[Point], tolerance: float | None, most: int | None) -> int:
    """Return the position of the network with the shortest description that is good.

    The best network has the largest sum of accuracy and AUC on held-out rows, of those
    that are at least as accurate as always predicting the most frequent class: this is
    what the first point does. Good enough is a network whose accuracy and AUC are at
    most `tolerance` below those of the best, by default 0.003. With `most`, networks
    with more rules are left out.
    """
    limit = np.inf if most is None else most
    short = [
        place
        for place, point in enumerate(points)
        if point.form != "rules" or point.size <= limit
    ]
    useful = [place for place in short if points[place].accuracy >= points[0].accuracy]
    best = points[max(useful, key=lambda place: _merit(points[place]))]
    allowed = TOLERANCE if tolerance is None else tolerance
    good = [
        place
        for place in useful
        if points[place].accuracy >= best.accuracy - allowed
        and points[place].auc >= best.auc - allowed
    ]
    return min(good, key=lambda p: (points[p].size, -_merit(points[p])))


def best_of_each_size(points: Sequence[Point]) -> list[Point]:
    """Return the best point of each size, from small to large.

    The first point, which is a constant network, stays the only one of size 0.
    """
    best = {0: points[0]}
    for point in points[1:]:
        known = best.get(point.size)
        if known is None or (point.size and _merit(point) > _merit(known)):
            best[point.size] = point
    return [best[size] for size in sorted(best)]


def _merit(point: Point) -> float:
    return point.accuracy + point.auc


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def _standard_error(numbers: Sequence[float]) -> float:
    return float(np.std(numbers, ddof=1) / np.sqrt(len(numbers)))
