"""Linear regions of small networks, and claims that they settle."""

import time
import warnings
from typing import Any

import bench_adult
import bench_numbers
import numpy as np
import pandas as pd
import tables
from timing import markdown

import nn2rules
from nn2rules import BudgetExceededError, Network, claims, datasets
from nn2rules.engine import Meter, find_twins, linear_regions
from nn2rules.space import no_boxes, whole_boxes

MOST = 2_000
SEARCHED = 2.0
FROZEN = ("car", "nursery", "contraception", "adult")
RAW = {"4": (4,), "8": (8,), "6-3": (6, 3), "6-3-2": (6, 3, 2)}
TABLES = {
    "like Pima": tables.health,
    "20 numbers": lambda: tables.numeric(20),
}
UNITS = {"4": (4,), "8": (8,)}


def regions() -> str:
    """Find the regions of whole domains, and settle monotonic claims."""
    return f"{_listed()}\n\n{_claims()}"


def _listed() -> str:
    train, _ = datasets.raw("adult")
    frame = pd.DataFrame(train.columns)
    networks = {f"{name} 6-3": _bundled(name) for name in FROZEN}
    for units, hidden in RAW.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some do not converge in their rounds
            model = bench_adult.trained(hidden, frame, train.labels)
        networks[f"raw Adult {units}"] = nn2rules.read_network(model, data=frame)
    rows = [(name, *_measured(network)) for name, network in networks.items()]
    header = ("network", "features", "columns", "regions", "joined by class")
    return (
        "Linear regions of the whole domain, every verdict of a linear program "
        "verified in whole numbers; beside them affinitree, in float64. Regions of one "
        "class are joined where their split no longer matters.\n\n"
        + markdown(
            (
                *(*header, "with a border", "programs", "time"),
                *("affinitree: regions", "affinitree: time"),
            ),
            rows,
        )
    )


def _bundled(name: str) -> Network:
    network = nn2rules.load(datasets.network_file(name))
    assert isinstance(network, Network), "a network file holds one"
    return network


def _measured(network: Network) -> tuple[Any, ...]:
    apart = len(linear_regions(network, max_regions=MOST, one_class=False))
    started = time.perf_counter()
    found = linear_regions(network, max_regions=MOST)
    spent = time.perf_counter() - started
    return (
        len(network.domain.features),
        len(network.layers[0].weights),
        apart,
        len(found),
        sum(len(region.classes) > 1 for region in found),
        f"{found.n_programs:,}",
        f"{spent:.1f} s",
        *_by_affinitree(network),
    )


def _by_affinitree(network: Network) -> tuple[Any, Any]:
    """Let affinitree find the regions of the same domain."""
    try:
        from affinitree import AffFunc, AffTree, Architecture, Polytope, builder
    except ImportError:
        return "not installed", ""
    weights, bias, sides, limits = _independent(network)
    architecture = Architecture(len(weights))
    for index, layer in enumerate(network.layers):
        matrix = weights if index == 0 else layer.weights
        constant = bias if index == 0 else layer.bias
        architecture.linear(AffFunc.from_mats(np.ascontiguousarray(matrix.T), constant))
        if index < len(network.layers) - 1:
            architecture.relu()
    where = Polytope.from_mats(sides, limits)
    start = AffTree.from_poly(where, AffFunc.identity(len(weights)))
    started = time.perf_counter()
    tree = builder.from_layers(architecture, start)
    return tree.num_terminals(), f"{time.perf_counter() - started:.1f} s"


def _independent(network: Network) -> tuple[np.ndarray, ...]:
    """Return a network over inputs of which none follows from others, and their limits.

    Of a category all values but the last, together at most 1; of a range its share.
    """
    domain, first = network.domain, network.layers[0]
    rows, bias, sums = [], first.bias.copy(), []
    for index, column in enumerate(domain.ranges.tolist()):
        start, stop = domain.offsets[index : index + 2].tolist()
        if column >= 0:
            assert stop == start + 1, "no values beside a range"
            low, high = domain.limits[:, index]
            bias = bias + low * first.weights[column]
            own = [(high - low) * first.weights[column]]
        else:
            bias = bias + first.weights[stop - 1]
            own = [
                row - first.weights[stop - 1] for row in first.weights[start : stop - 1]
            ]
        sums.append(np.zeros(len(first.weights)))
        sums[-1][len(rows) : len(rows) + len(own)] = 1.0
        rows += own
    n_inputs = len(rows)
    above = [each[:n_inputs] for each in sums if each[:n_inputs].any()]
    sides = np.vstack([-np.eye(n_inputs), *above])
    return (
        np.array(rows),
        bias,
        sides,
        np.append(np.zeros(n_inputs), np.ones(len(above))),
    )


def _claims() -> str:
    rows = [
        (name, units, *_claimed(make(), hidden))
        for name, make in TABLES.items()
        for units, hidden in UNITS.items()
    ]
    header = ("table", "units", "claims", "proved", "refuted", "undecided", "longest")
    return (
        f"Claims that the prediction grows, or falls, with each ordered feature, by "
        f"`verify`; and how many of them the search for two inputs alone leaves "
        f"undecided in {SEARCHED:g} s.\n\n"
        + markdown((*header, "all claims", "undecided by search alone"), rows)
    )


def _claimed(table: Any, hidden: tuple[int, ...]) -> tuple[Any, ...]:
    frame, labels = table
    model = bench_numbers.pipeline(hidden)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some do not converge in their rounds
        model.fit(frame, labels)
        network = nn2rules.read_network(model, data=frame)
    names = [feature.name for feature in network.domain.features if feature.ordered]
    asked = [(name, is_up) for name in names for is_up in (True, False)]
    statuses, seconds, n_open = [], [], 0
    for name, is_up in asked:
        started = time.perf_counter()
        claim = claims.monotonic(name, increasing=is_up)
        statuses.append(nn2rules.verify(network, claim).status)
        seconds.append(time.perf_counter() - started)
        n_open += _is_open(network, name, is_up=is_up)
    counts = [statuses.count(status) for status in ("proved", "refuted")]
    return (
        len(asked),
        *counts,
        len(asked) - sum(counts),
        f"{max(seconds):.1f} s",
        f"{sum(seconds):.1f} s",
        n_open,
    )


def _is_open(network: Network, name: str, *, is_up: bool) -> bool:
    """Tell whether a search for two inputs does not end in time."""
    domain = network.domain
    index, ranks = domain.index(name), np.zeros(int(domain.offsets[-1]))
    for code, place in domain.features[index].places.items():
        ranks[domain.offsets[index] + code] = place
    within = whole_boxes(domain, np.ones((1, len(ranks)), dtype=np.bool_))
    classes = (1, 0) if is_up else (0, 1)
    meter = Meter(nn2rules.Budget(seconds=SEARCHED))
    try:
        find_twins(
            network, [index], classes, within, no_boxes(domain), meter, ranks=ranks
        )
    except BudgetExceededError:
        return True
    return False
