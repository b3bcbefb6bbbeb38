"""The path from simple to rich, and which of its networks is taken."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nn2rules.errors import MissingExtraError, OptionError
from nn2rules.network import Network
from nn2rules.rules import RuleList

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Point:
    """A network on the path.

    Attributes
    ----------
    questions : int
        What it asks about a row: numbers of cuts, one question each.
    accuracy : float
        The share of held-out rows that such networks answer right: the mean over folds.
    error : float
        The standard error of this mean.
    network : Network
    rules : RuleList
        They answer as the network does on every input.
    """

    questions: int
    accuracy: float
    error: float
    network: Network
    rules: RuleList


@dataclass(frozen=True)
class Path:
    """Networks from simple to rich, and which of them was chosen.

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
                f"{100 * point.accuracy:5.1f} ± {100 * point.error:.1f} %{mark}"
            )
        return "\n".join(lines)

    def to_frame(self) -> "pd.DataFrame":
        """Return the path as a pandas data frame, a row for each network."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise MissingExtraError("pandas", "pandas", "to_frame()") from None
        rows = [
            {
                "questions": point.questions,
                "columns": len(point.network.domain.features),
                "inputs": point.network.domain.n_inputs,
                "rules": len(point.rules),
                "accuracy": point.accuracy,
                "error": point.error,
                "chosen": place == self.chosen,
            }
            for place, point in enumerate(self.points)
        ]
        return pd.DataFrame(rows)

    def plot(self, axes: Any = None, *, peers: Sequence[Any] = ()) -> Any:
        """Draw accuracy against the number of rules.

        Parameters
        ----------
        axes : matplotlib axes, optional
        peers : sequence of Peer
            Other models on the same rows, as `nn2rules.training.peers` measures them.
        """
        from nn2rules.training.plotting import path_plot

        return path_plot(self, axes, peers)


def chosen(points: Sequence[Point], tolerance: float | None, most: int | None) -> int:
    """Return the position of the network with the fewest rules that is good enough.

    Good enough is an accuracy at most `tolerance` below the best of the path, by
    default the standard error of that. With `most`, those that need more rules are left
    out, and if none of the others is good enough, the most accurate is taken.
    """
    best = max(points, key=lambda point: point.accuracy)
    least = best.accuracy - (best.error if tolerance is None else tolerance)
    short = [
        (len(point.rules), -point.accuracy, place)
        for place, point in enumerate(points)
        if most is None or len(point.rules) <= most
    ]
    if not short:
        fewest = min(len(point.rules) for point in points)
        raise OptionError(
            f"max_rules: {most}, but the simplest network of the path needs {fewest}"
        )
    good = [entry for entry in short if -entry[1] >= least]
    if good:
        return min(good)[2]
    return min((worse, number, place) for number, worse, place in short)[2]
