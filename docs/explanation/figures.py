"""Draw the figures of how-rules-are-found.md, from networks and their rules.

    python docs/explanation/figures.py [FOLDER]

writes boxes.svg and rules.svg beside this file, or into FOLDER. It needs matplotlib,
and about a minute: the rules are extracted anew.
"""

import sys
from itertools import product
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Patch, Rectangle

import nn2rules
from nn2rules import Domain, Feature, Layer, Network, RuleList

STYLE = {
    "font.size": 9,
    "svg.hashsalt": "nn2rules",
    "axes.spines.top": False,
    "axes.spines.right": False,
}
GRANTED, REFUSED, LINE = "#bcd9ee", "#ffffff", "#333333"
RULES = (  # colours that the colour-blind can tell apart, and lines for print
    ("#0072b2", "-"),
    ("#d55e00", (0, (5, 2))),
    ("#000000", (0, (1.2, 1.2))),
    ("#9a4f80", (0, (6, 2, 1, 2))),
    ("#00785a", (0, (3, 1))),
)
FORMS = (("paper", "the paper's form"), ("set", "set"), ("list", "list"))
BARS = (("#c9c9c9", ""), ("#56a3d9", "///"), ("#0a3d62", ""))
NETWORKS = ("car", "nursery", "contraception", "adult")
SKIPPED = {("adult", "set")}  # takes longer than all the rest together


def loans() -> Network:
    """Return a network of three hidden units that grants loans."""
    years, incomes = range(8), range(1, 7)
    domain = Domain(
        [
            Feature("years", list(years), ordered=True),
            Feature("income", list(incomes), ordered=True),
        ]
    )
    weights = [[y, -2 * y, 2 * y] for y in years] + [[2 * i, 0, 0] for i in incomes]
    hidden = Layer(weights, [-7, 3, -9], "relu")
    output = Layer([[1], [-2], [2]], [-0.5], "sigmoid")
    return Network(domain, [hidden, output], ["refused", "granted"])


def runs(chosen: list[int]) -> list[tuple[int, int]]:
    """Return the first and last position of every run of neighbours."""
    found: list[tuple[int, int]] = []
    for position in chosen:
        if found and found[-1][1] == position - 1:
            found[-1] = (found[-1][0], position)
        else:
            found.append((position, position))
    return found


def pieces(rules: RuleList, index: int) -> list[tuple[int, int, int, int]]:
    """Return the rectangles that the box of a rule is made of: x, y, width, height."""
    split = int(rules.domain.offsets[1])
    box = rules.boxes[index]
    across = runs(np.flatnonzero(box[:split]).tolist())
    up = runs(np.flatnonzero(box[split:]).tolist())
    return [(x, y, w - x + 1, h - y + 1) for (x, w), (y, h) in product(across, up)]


def draw_grid(axes: Axes, network: Network) -> None:
    """Draw every input as a square in the colour of its class."""
    for x, y in next(network.domain.inputs()).tolist():
        label = network.classes[network.predict_codes(np.array([[x, y]]))[0]]
        color = GRANTED if label == "granted" else REFUSED
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=color, edgecolor="#d8d8d8"))
    width, height = network.domain.sizes
    axes.set(xlim=(-0.1, width + 0.1), ylim=(-0.1, height + 0.1), aspect="equal")
    first, second = network.domain.features
    axes.set_xticks(np.arange(width) + 0.5, [str(v) for v in first.values])
    axes.set_yticks(np.arange(height) + 0.5, [str(v) for v in second.values])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("years in the job")
    axes.set_ylabel("income, in six steps")


def draw_prefixes(axes: Axes, rules: RuleList) -> None:
    """Outline every rule of the paper's form."""
    for index in range(len(rules)):
        for x, y, width, height in pieces(rules, index):
            shape = FancyBboxPatch(
                (x + 0.14, y + 0.14),
                width - 0.28,
                height - 0.28,
                boxstyle="round,pad=0,rounding_size=0.12",
                fill=False,
                edgecolor=LINE,
                linewidth=1.2,
            )
            axes.add_patch(shape)


def draw_boxes(axes: Axes, rules: RuleList) -> None:
    """Outline every rule, and number the inputs by the rule that decides them."""
    for index in range(len(rules)):
        color, dashes = RULES[index % len(RULES)]
        inset = 0.04 + 0.065 * index
        for x, y, width, height in pieces(rules, index):
            shape = Rectangle(
                (x + inset, y + inset),
                width - 2 * inset,
                height - 2 * inset,
                fill=False,
                edgecolor=color,
                linestyle=dashes,
                linewidth=1.5,
            )
            axes.add_patch(shape)
    codes = next(rules.domain.inputs())
    fired = rules.apply_codes(codes).tolist()
    for (x, y), rule in zip(codes.tolist(), fired, strict=True):
        if rule >= 0:
            color = RULES[rule % len(RULES)][0]
            axes.text(
                x + 0.5,
                y + 0.48,
                str(rule + 1),
                ha="center",
                va="center",
                color=color,
                fontsize=8,
            )


def legend_of(axes: Axes, rules: RuleList) -> None:
    """Say below a panel what its rules say."""
    lines = []
    for index, rule in enumerate(rules):
        color, dashes = RULES[index % len(RULES)]
        text = rules.rule_text(rule).removeprefix("if ")
        text = text.replace(" then ", ": ").replace(" and ", ", ")
        label = f"{rule.name}  {text}"
        lines.append(Line2D([], [], color=color, linestyle=dashes, label=label))
    last = Line2D([], [], color="none", label=f"otherwise {rules.default}")
    _legend(axes, [*lines, last])


def _legend(axes: Axes, handles: list[Line2D] | list[Patch]) -> None:
    axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(-0.04, -0.21),
        frameon=False,
        fontsize=8,
        handlelength=2.2,
        borderpad=0,
    )


def rules_of(network: Network, form: str) -> nn2rules.RuleList:
    """Return rules; of sets with rules of one class the one with fewer."""
    if form != "set":
        return nn2rules.extract(network, form=form)
    sets = (
        nn2rules.extract(network, form=form, target=label) for label in network.classes
    )
    return min(sets, key=len)


def draw_panels(path: Path) -> None:
    """Draw the same network in the paper's form, as a set and as a list."""
    network = loans()
    figure, panels = plt.subplots(1, 3, figsize=(11, 4.2))
    for axes, (form, name) in zip(panels, FORMS, strict=True):
        rules = rules_of(network, form)
        draw_grid(axes, network)
        axes.set_title(f"{name.capitalize()}: {len(rules)} rules", fontsize=10, pad=8)
        if form == "paper":
            draw_prefixes(axes, rules)
            fills = (GRANTED, "granted"), (REFUSED, "refused")
            keys = [Patch(facecolor=c, edgecolor="#999999", label=t) for c, t in fills]
            _legend(axes, keys)
        else:
            draw_boxes(axes, rules)
            legend_of(axes, rules)
    figure.subplots_adjust(left=0.05, right=0.985, top=0.91, bottom=0.35, wspace=0.2)
    save(figure, path)


def draw_bars(path: Path) -> None:
    """Draw how many rules each form needs."""
    figure, axes = plt.subplots(figsize=(7.5, 3.8))
    width = 0.27
    for place, (form, name) in enumerate(FORMS):
        color, hatch = BARS[place]
        counts, at = [], []
        for index, network_name in enumerate(NETWORKS):
            if (network_name, form) not in SKIPPED:
                network = nn2rules.load(nn2rules.datasets.network_file(network_name))
                counts.append(len(rules_of(network, form)))
                at.append(index + (place - 1) * width)
        bars = axes.bar(
            at,
            counts,
            width * 0.92,
            label=name,
            color=color,
            hatch=hatch,
            edgecolor="#222222",
            linewidth=0.6,
        )
        axes.bar_label(bars, [f"{number:,}" for number in counts], padding=2)
    axes.set_yscale("log")
    axes.set_ylim(1, 60_000)
    axes.set_yticks([1, 10, 100, 1000, 10_000], ["1", "10", "100", "1,000", "10,000"])
    axes.minorticks_off()
    axes.set_ylabel("rules (each step is ten times more)")
    sizes = [nn2rules.datasets.load(name).domain.n_inputs for name in NETWORKS]
    names = [f"{n}\n{s:,} inputs" for n, s in zip(NETWORKS, sizes, strict=True)]
    axes.set_xticks(range(len(NETWORKS)), names)
    axes.tick_params(axis="x", length=0)
    axes.legend(frameon=False, loc="upper left")
    figure.tight_layout()
    save(figure, path)


def save(figure: plt.Figure, path: Path) -> None:
    """Write a figure, the same bytes for the same picture."""
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    with mpl.rc_context(STYLE):
        draw_panels(folder / "boxes.svg")
        draw_bars(folder / "rules.svg")
