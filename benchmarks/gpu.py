"""What a device does, beside the cores of the same machine.

    python benchmarks/gpu.py cuda
    python benchmarks/gpu.py cpu      # the same code, on less, where there is no GPU

Rewrites `benchmarks/results-gpu.md`. Ratios are taken within one run.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import torch
from bench_adult import trained
from timing import markdown

import nn2rules
from nn2rules.cover._kernels.growth import ask
from nn2rules.cover.ground import LIMITS, PATIENCE, Cases
from nn2rules.cover.growing import Goal, Grower
from nn2rules.engine import Meter, Oracle, count_classes
from nn2rules.engine._kernels.boxes import Boxes, Points
from nn2rules.engine.flat import claim, room
from nn2rules.engine.tensors import Searcher

TABLED = 12  # features of what a table holds
RESULTS = Path(__file__).parent / "results-gpu.md"


@dataclass(frozen=True)
class Sizes:
    """How much is measured: less where there is no GPU."""

    units: tuple[int, ...]
    questions: int
    seconds: tuple[int, ...]
    features: int


SIZES = {
    "cuda": Sizes((6, 16, 64, 100, 128, 256, 512), 8192, (60, 300), 22),
    "cpu": Sizes((6, 100), 1024, (60, 300), 14),
}


def main(device: str) -> None:
    """Measure, and write the results."""
    sizes = SIZES[device.partition(":")[0]]
    where = torch.cuda.get_device_name(device) if device != "cpu" else "no GPU: the CPU"
    parts = [
        "# What a device does",
        f"`python benchmarks/gpu.py {device}`, on {where}, beside "
        f"{joblib.cpu_count()} cores; PyTorch {torch.__version__}.",
        "## Boxes a second",
        boxes(device, sizes),
        "## Raw Adult, all rows",
        adult(device, sizes),
        "## Every input, one by one",
        every(device, sizes),
    ]
    RESULTS.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print("\n\n".join(parts))


def _adult(hidden: tuple[int, ...]) -> tuple[nn2rules.Network, pd.DataFrame]:
    train, _ = nn2rules.datasets.raw("adult")
    frame = pd.DataFrame(train.columns)
    return nn2rules.read_network(
        trained(hidden, frame, train.labels), data=frame
    ), frame


def boxes(device: str, sizes: Sizes) -> str:
    """Ask about boxes around pairs of rows, on the cores and on the device."""
    rows = []
    for units in sizes.units:
        network, frame = _adult((units,))
        hulls = _hulls(network, frame, sizes.questions)
        net = claim(network, 0)
        limits = np.full(len(hulls.allowed), int(LIMITS[0]))
        n_cores, by_cores = _by_cores(network, hulls)
        searcher, nothing = Searcher(net, device), room(net, 0)
        searcher.search(
            Boxes(*(part[:64] for part in hulls)), limits[:64], PATIENCE, nothing
        )
        started = time.perf_counter()
        found = searcher.search(hulls, limits, PATIENCE, nothing)
        by_device = int(found.n_boxes.sum()) / (time.perf_counter() - started)
        if int(found.n_boxes.sum()) != n_cores:
            raise AssertionError("device and cores searched other boxes")
        ratio = f"{by_device / by_cores:.2f}"
        rows.append((units, f"{by_cores:,.0f}", f"{by_device:,.0f}", ratio))
    header = ("units", f"{joblib.cpu_count()} cores", device, "ratio")
    return (
        f"{sizes.questions:,} questions about boxes around two rows of raw Adult with "
        f"the same answer, at most {int(LIMITS[0])} boxes each; the boxes searched are "
        f"the same.\n\n{markdown(header, rows)}"
    )


def _hulls(network: nn2rules.Network, frame: pd.DataFrame, number: int) -> Boxes:
    codes, numbers = network.domain.inputs_of(frame)
    answers = network.predict_codes(codes, numbers)
    mine = np.flatnonzero(answers == 0)
    cases = Cases(Points(codes, numbers), np.ones(len(codes)), answers)
    grower = Grower(Oracle(network), cases, Goal(False, 1, 0))
    rng = np.random.default_rng(0)
    pairs = rng.choice(mine, size=(number, 2))
    hulls = [grower.hull(pair.tolist()) for pair in pairs]
    return Boxes(*(np.array(part) for part in zip(*hulls)))


def _by_cores(network: nn2rules.Network, hulls: Boxes) -> tuple[int, float]:
    """Return how many boxes were searched, and how many a second, on all cores."""
    oracle = Oracle(network)
    codes = np.zeros((1, len(network.domain.sizes)), np.int64)
    inputs = Points(codes, np.ones(codes.shape))
    cases = Cases(inputs, np.ones(1), np.zeros(1, dtype=np.int64))
    ground = Grower(oracle, cases, Goal(False, 1, 0)).ground
    nothing = room(ground.nets[0], 0)

    def some(part: slice) -> int:
        desk = ground.desk(0, nothing)
        for allowed, ends in zip(hulls.allowed[part], hulls.ends[part]):
            desk.counts[0] = 0
            desk.stack.allowed[0], desk.stack.ends[0] = allowed, ends
            ask(ground.nets[0], desk, int(LIMITS[0]), PATIENCE)
        return int(desk.counts[1])

    some(slice(0, 8))
    n_cores = joblib.cpu_count()
    parts = [slice(core, None, n_cores) for core in range(n_cores)]
    started = time.perf_counter()
    with ThreadPoolExecutor(n_cores) as pool:
        n_boxes = sum(pool.map(some, parts))
    return n_boxes, n_boxes / (time.perf_counter() - started)


def adult(device: str, sizes: Sizes) -> str:
    """Rows of raw Adult that are decided in some time, on the cores and on a device."""
    rows = []
    places = (None,) if device == "cpu" else (None, device)  # few boxes are for cores
    for hidden in ((100,), (64, 32)):
        network, frame = _adult(hidden)
        for seconds in sizes.seconds:
            for place in places:
                nn2rules.extract(network, frame[:50], time=1, device=place)
                rules = nn2rules.extract(network, frame, time=seconds, device=place)
                share = float((rules.apply(frame) >= 0).mean())
                name = "-".join(map(str, hidden))
                rows.append((name, f"{seconds} s", place or "cores", f"{share:.1%}"))
    return markdown(("units", "time", "on", "rows decided"), rows)


def every(device: str, sizes: Sizes) -> str:
    """Count every input of a domain, and check rules on all of them."""
    small = _wide(TABLED)
    nn2rules.engine.build_table(_wide(4))  # what is compiled is compiled
    started = time.perf_counter()
    nn2rules.engine.build_table(small)
    tabled, n_tabled = time.perf_counter() - started, small.domain.n_inputs
    network = _wide(sizes.features)
    started = time.perf_counter()
    counts = count_classes(network, meter=Meter(), device=device)
    counted = time.perf_counter() - started
    rows = network.domain.decode(
        np.random.default_rng(1).integers(
            network.domain.sizes, size=(200, sizes.features)
        )
    )
    rules = nn2rules.extract(network, rows, scope="support", engine="search", time=10)
    n_inputs = network.domain.n_inputs
    started = time.perf_counter()
    report = nn2rules.check(network, rules, device=device, largest=n_inputs)
    checked = time.perf_counter() - started
    if not report.ok or report.method.startswith("sample"):
        raise AssertionError("not every input was compared, or some differ")
    header = ("what", "inputs", "time", "inputs a second")
    table = [
        (
            "a table, by the cores",
            f"{n_tabled:,}",
            f"{tabled:.1f} s",
            f"{n_tabled / tabled:.2e}",
        ),
        ("counting", f"{n_inputs:,}", f"{counted:.1f} s", f"{n_inputs / counted:.2e}"),
        (
            f"check of {len(rules)} rules",
            f"{n_inputs:,}",
            f"{checked:.1f} s",
            f"{n_inputs / checked:.2e}",
        ),
    ]
    text = ", ".join(f"{count:,}" for count in counts.lower or ())
    return (
        f"{sizes.features} features of 3 and 4 values, {TABLED} for the table, a 6-3 "
        f"relu network; of each class there are {text} inputs.\n\n"
        f"{markdown(header, table)}"
    )


def _wide(n_features: int) -> nn2rules.Network:
    rng = np.random.default_rng(0)
    shape = [4 if index % 6 else 3 for index in range(n_features)]
    features = [
        nn2rules.Feature(f"f{index}", tuple(range(size)))
        for index, size in enumerate(shape)
    ]
    sizes = (sum(shape), 6, 3, 1)
    kinds = ("relu", "relu", "sigmoid")
    layers = [
        nn2rules.Layer(rng.normal(size=(a, b)), rng.normal(size=b), kind)
        for a, b, kind in zip(sizes, sizes[1:], kinds)
    ]
    return nn2rules.Network(
        nn2rules.Domain(tuple(features)), tuple(layers), ("no", "yes")
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("which device? python benchmarks/gpu.py cuda")
    main(sys.argv[1])
