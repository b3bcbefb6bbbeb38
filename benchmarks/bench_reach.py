"""How far rules for rows reach: against rows, columns and hidden units."""

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import tables
from timing import markdown

import nn2rules

SECONDS = 20.0
FIGURE = Path(__file__).parents[1] / "docs" / "explanation" / "reach.svg"
STUDY = {
    "rows": [(n, {"n_rows": n}) for n in (100, 1_000, 10_000, 100_000)],
    "columns": [(n, {"n_columns": n}) for n in (5, 10, 20, 30, 50)],
    "units": [(n, {"units": n}) for n in (6, 16, 64, 128, 256, 512)],
}
SHARES = (0.5, 0.9)


def reach() -> str:
    """Tables of real numbers alone: when half, and nine of ten rows are covered."""
    parts = {
        name: [(number, *_measured(**options)) for number, options in points]
        for name, points in STUDY.items()
    }
    _draw(parts)
    texts = [
        f"Each table has 1,000 rows of 8 real numbers, and a network of 16 units, but "
        f"for what is varied; {SECONDS:g} s at most."
    ]
    for name, points in parts.items():
        header = (
            name,
            "half covered",
            "90% covered",
            f"covered after {SECONDS:g} s",
            "rules",
        )
        rows = [
            (f"{number:,}", *(_time(t) for t in times), f"{share:.0%}", f"{rules:,}")
            for number, times, share, rules in points
        ]
        texts.append(markdown(header, rows))
    return "\n\n".join(texts)


def _time(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.2f} s"


def _measured(
    n_rows: int = 1000, n_columns: int = 8, units: int = 16
) -> tuple[list[float | None], float, int]:
    """Return when each share of the rows was covered, the last share, and the rules."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    frame, labels = tables.numeric(n_columns, n_rows)
    model = make_pipeline(
        StandardScaler(), MLPClassifier((units,), max_iter=50, random_state=0)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fifty rounds are enough here
        model.fit(frame, labels)
    network = nn2rules.read_network(model, data=frame)
    nn2rules.extract(network, frame[:20], time=1)  # what is compiled is compiled
    seen: list[tuple[float, float]] = []
    started = time.perf_counter()

    def progress(what: str, share: float) -> None:
        if "proved" in what:
            seen.append((time.perf_counter() - started, share))

    rules = nn2rules.extract(network, frame, time=SECONDS, progress=progress)
    times = [
        next((when for when, share in seen if share >= least), None) for least in SHARES
    ]
    return times, float((rules.apply(frame) >= 0).mean()), len(rules)


def _draw(parts: dict[str, Any]) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "nn2rules"  # the same figure, byte for byte
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        2, 3, figsize=(9, 5), layout="constrained", sharex="col", sharey="row"
    )
    for (above, below), (name, points) in zip(axes.T, parts.items(), strict=True):
        numbers = [point[0] for point in points]
        for place, (share, style) in enumerate(zip(SHARES, ("o-", "s--"), strict=True)):
            times = [np.nan if p[1][place] is None else p[1][place] for p in points]
            above.loglog(numbers, times, style, color="black", label=f"{share:.0%}")
        below.semilogx(numbers, [100 * p[2] for p in points], "o-", color="black")
        below.set_xlabel(name)
        for plot in (above, below):
            plot.set_xticks(numbers, [f"{number:,}" for number in numbers])
            plot.minorticks_off()
            plot.grid(alpha=0.3)
    axes[0, 0].set_ylabel("seconds until covered")
    axes[0, 0].legend(title="of the rows")
    axes[1, 0].set_ylabel(f"% covered in {SECONDS:g} s")
    axes[1, 0].set_ylim(0, 105)
    figure.savefig(FIGURE, metadata={"Date": None})
    plt.close(figure)
