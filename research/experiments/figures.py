"""The figures of the experiments, as PNG and SVG."""

from research.experiments.bars import bars
from research.experiments.curves import curves, needed
from research.experiments.drawing import Drawing
from research.experiments.measure import Score
from research.experiments.printed import FIDELITY, ON_ERRORS
from research.experiments.results import Results


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


def files_of(drawings: list[Drawing]) -> dict[str, bytes]:
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
