"""The tables and the figure of the page, from the lines of results alone."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from timing import markdown

from peers.registry import PEERS, SUMMARIES, Peer
from peers.running import HERE, RESULTS, read

FACTS = HERE / "tables.json"
FIGURE = HERE.parents[1] / "docs" / "explanation" / "measured.svg"
BASELINE = "majority"
SECTIONS = ("peers", "peers more classes", "peers summaries", "peers tables")
"""Of `benchmarks/results.md`."""
N_FOLDS = 5
SMALL = 35
"""A model of this mean size, or less, is ranked among the small ones."""
SIDES = [
    (side, right, up)
    for up in (4, -10, 14, -20)
    for side, right in (("left", 5), ("right", -5))
]
"""Where the name of a point may be, in points from it."""
MEASURES = ("accuracy", "auc", "brier")

Folds = dict[tuple[str, int], dict[str, Any]]
"""The lines of one peer, by table and fold."""


def section(name: str) -> str:
    """Return the text of one of the sections of `results.md`, and draw the figure."""
    facts = json.loads(FACTS.read_text("utf-8"))
    lines = read(RESULTS)
    if name == SECTIONS[0]:
        draw(*measured(facts, lines, two_classes=True))
    return texts_of(facts, lines)[name]


def texts_of(facts: dict[str, Any], lines: list[dict[str, Any]]) -> dict[str, str]:
    """Return the text of each section."""
    summaries = _common(facts, lines, "summarize", SUMMARIES, facts)
    texts = (
        _classifiers(*measured(facts, lines, two_classes=True)),
        _classifiers(*measured(facts, lines, two_classes=False)),
        f"Agreement with a default MLP on held-out rows: {_over(summaries[1])}.\n\n"
        f"{_agreements(*summaries)}",
        _facts(facts),
    )
    return dict(zip(SECTIONS, texts))


def _classifiers(table: dict[str, Folds], lengths: dict[str, int]) -> str:
    if not table:
        return "Nothing was measured."
    parts = [f"Means over tables: {_over(lengths)}.\n\n{_means(table, lengths)}"]
    parts += [
        f"{shown} of each table.\n\n{_per_table(table, lengths, name)}"
        for name, shown in (("accuracy", "Accuracy"), ("auc", "AUC"))
    ]
    return "\n\n".join(parts)


def _over(lengths: dict[str, int]) -> str:
    return f"{len(lengths)} tables, {sum(lengths.values())} folds"


def measured(
    facts: dict[str, Any], lines: Iterable[dict[str, Any]], *, two_classes: bool
) -> tuple[dict[str, Folds], dict[str, int]]:
    """Return the lines of the classifiers that ran on all these tables, and the folds.

    A fold on which a classifier failed has the measures of the majority class.
    """
    names = [
        n for n, fact in facts.items() if (len(fact["classes"]) == 2) == two_classes
    ]
    peers = {n: peer for n, peer in PEERS.items() if two_classes or peer.more_classes}
    return _common(facts, lines, "classify", peers, names)


def _common(
    facts: dict[str, Any],
    lines: Iterable[dict[str, Any]],
    task: str,
    peers: dict[str, Peer],
    names: Collection[str],
) -> tuple[dict[str, Folds], dict[str, int]]:
    """Return the lines of peers that ran on all tables, and how many folds all have."""
    found: dict[str, Folds] = defaultdict(dict)
    for line in lines:
        of_table = line["task"] == task and line["table"] in names
        if of_table and facts[line["table"]]["digest"] == line["digest"]:
            found[line["peer"]][line["table"], line["fold"]] = line
    first = [(name, fold) for name in names for fold in range(N_FOLDS)]
    complete = {
        peer: found[peer]
        for peer in peers
        if all(place in found[peer] for place in first)
        and any("error" not in line for line in found[peer].values())
    }
    lengths = {}
    for name in names:
        folds = facts[name]["folds"]
        everywhere = all(
            (name, fold) in kept for kept in complete.values() for fold in range(folds)
        )
        lengths[name] = folds if everywhere else N_FOLDS
    return {p: _filled(kept, complete) for p, kept in complete.items()}, lengths


def _filled(kept: Folds, complete: dict[str, Folds]) -> Folds:
    """Put the majority class's measures where a peer failed."""
    baseline = complete.get(BASELINE, {})
    return {
        place: {**baseline.get(place, {}), **line} if "error" in line else line
        for place, line in kept.items()
    }


def _mean(folds: Folds, lengths: dict[str, int], name: str) -> list[float]:
    """Return the mean over the folds of each table; folds that failed have no size."""
    means = []
    for table, n_folds in lengths.items():
        lines = [folds[table, fold] for fold in range(n_folds)]
        of_own = name in MEASURES or name == "agreement"
        lines = [line for line in lines if of_own or "error" not in line]
        means.append(
            float(np.mean([line[name] for line in lines])) if lines else np.nan
        )
    return means


def _size(folds: Folds, lengths: dict[str, int]) -> float:
    return float(np.nanmean(_mean(folds, lengths, "size")))


def _ranks(
    table: dict[str, Folds], lengths: dict[str, int], name: str
) -> dict[str, float]:
    """Return mean ranks over tables, 1 for the best; equal ones share their ranks."""
    values = np.array([_mean(folds, lengths, name) for folds in table.values()])
    rounded = np.round(values, 6)
    better = (rounded[np.newaxis] > rounded[:, np.newaxis]).sum(axis=1)
    equal = (rounded[np.newaxis] == rounded[:, np.newaxis]).sum(axis=1)
    ranks = (better + (equal + 1) / 2).mean(axis=1)
    return dict(zip(table, ranks.tolist()))


def _means(table: dict[str, Folds], lengths: dict[str, int]) -> str:
    small = {
        name: folds
        for name, folds in table.items()
        if name != BASELINE and _size(folds, lengths) <= SMALL
    }
    by_rank = _ranks(table, lengths, "accuracy"), _ranks(table, lengths, "auc")
    of_small = _ranks(small, lengths, "accuracy") if small else {}
    order = sorted(table, key=lambda n: -np.mean(_mean(table[n], lengths, "accuracy")))
    rows = []
    for name in order:
        folds = table[name]
        accuracy, auc, brier = (np.mean(_mean(folds, lengths, m)) for m in MEASURES)
        used = [folds[t, f] for t, n in lengths.items() for f in range(n)]
        rows.append(
            (
                PEERS[name].title,
                f"{accuracy:.1%}",
                f"{auc:.3f}",
                f"{brier:.3f}",
                f"{_count(_size(folds, lengths))} {PEERS[name].size}",
                f"{by_rank[0][name]:.1f}",
                f"{by_rank[1][name]:.1f}",
                f"{of_small[name]:.1f}" if name in of_small else "",
                f"{np.nanmean(_mean(folds, lengths, 'seconds')):.1f} s",
                str(sum("error" in line for line in used) or ""),
            )
        )
    header = (
        "model",
        "accuracy",
        "AUC",
        "Brier score",
        "size",
        "rank by accuracy",
        "rank by AUC",
        f"rank among sizes up to {SMALL}",
        "CPU time of a fit",
        "failed folds",
    )
    return markdown(header, rows)


def _count(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}"


def _per_table(table: dict[str, Folds], lengths: dict[str, int], name: str) -> str:
    columns = [_mean(folds, lengths, name) for folds in table.values()]
    rows = [
        (label, *(f"{column[place]:.3f}" for column in columns))
        for place, label in enumerate(lengths)
    ]
    return markdown(("table", *table), rows)


def _agreements(table: dict[str, Folds], lengths: dict[str, int]) -> str:
    rows = []
    for name, folds in table.items():
        agreed = np.mean(_mean(folds, lengths, "agreement"))
        size = f"{_count(_size(folds, lengths))} {SUMMARIES[name].size}"
        seconds = f"{np.nanmean(_mean(folds, lengths, 'seconds')):.1f} s"
        title = SUMMARIES[name].title
        rows.append((title, f"{agreed:.1%}", f"{1 - agreed:.1%}", size, seconds))
    header = ("model", "agreement", "disagreement", "size", "CPU time of a fit")
    return markdown(header, rows)


def _facts(facts: dict[str, Any]) -> str:
    rows = [
        (
            name,
            fact["target"],
            f"{fact['rows']:,}",
            f"{fact['numeric']} + {fact['categorical']}",
            str(fact["missing"] or ""),
            f"{fact['majority']:.1%}",
            fact["source"],
            fact["licence"],
        )
        for name, fact in facts.items()
    ]
    header = (
        "table",
        "predicted",
        "rows",
        "numeric + categorical columns",
        "columns with missing values",
        "largest class",
        "package",
        "licence",
    )
    return markdown(header, rows)


def draw(table: dict[str, Folds], lengths: dict[str, int], file: Path = FIGURE) -> None:
    """Draw mean accuracy against mean size."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "nn2rules"  # the same figure, byte for byte
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5))
    places: list[tuple[str, float, float]] = []
    for name, folds in table.items():
        if name == BASELINE:
            continue
        accuracy = 100 * np.mean(_mean(folds, lengths, "accuracy"))
        size, ours = _size(folds, lengths), PEERS[name].title.startswith("**")
        color = "#d55e00" if ours else "#0072b2"
        axes.plot([size], [accuracy], "D" if ours else "o", color=color)
        places.append((name, size, accuracy))
    axes.set_xscale("log")
    axes.set_xlabel("size, as each model counts it (logarithmic)")
    axes.set_ylabel(f"accuracy on held-out rows, mean over {len(lengths)} tables, %")
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.15, y=0.1)
    figure.tight_layout()
    _label(axes, places)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def _label(axes: Any, places: list[tuple[str, float, float]]) -> None:
    """Write names beside their points, on the first side where there is nothing."""
    points = axes.transData.transform([place[1:] for place in places])
    taken: list[Any] = []
    for name, size, accuracy in places:
        for last, (side, right, up) in enumerate(SIDES, start=1 - len(SIDES)):
            text = axes.annotate(
                name,
                (size, accuracy),
                (right, up),
                textcoords="offset points",
                ha=side,
                fontsize=7.5,
            )
            box = text.get_window_extent()
            on_names = any(box.overlaps(other) for other in taken)
            if not on_names and not any(box.contains(*point) for point in points):
                break
            if last:
                text.remove()
        taken.append(box)
