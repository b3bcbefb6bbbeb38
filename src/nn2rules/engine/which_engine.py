"""Choose the engine for a question: a table, a search or linear regions.

A table looks at every input, which is fast for small domains. How small depends on the
question. Beyond that a search goes first, for as many boxes as usually settle a
question; where it does not end by then, linear regions have a part of the time, if the
network has few, and the search has the rest. No other module makes this choice, and the
sizes that decide it are listed here. Tables are kept, and kernels compiled, in one
place, too.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine.limits import Meter
from nn2rules.engine.reaching import find_twins
from nn2rules.engine.search import Halving, Oracle
from nn2rules.engine.table import (
    Table,
    array_obstacle,
    build_table,
    fits_in_memory,
)
from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.network import Layer, Network
from nn2rules.space import Boxes, Domain, Feature, refuse_ranges, whole_boxes

EXPLAINED_INPUTS = 1 << 20
"""The largest domain whose rows are explained from a table by default."""

SHOWN_INPUTS = 1 << 20
"""The largest domain whose table is included in a report."""

KEPT_INPUTS = 1 << 22
"""The largest domain whose table is kept for further questions."""

COVERED_INPUTS = 1 << 22
"""The largest domain whose rules are made from a table, or that is compared in full."""

ROW_LIST_INPUTS, ROW_SET_INPUTS = 1 << 19, 1 << 16
"""The same for lists and sets that cover rows only, where search is far faster."""

VERIFIED_INPUTS = 1 << 24
"""The largest region on which a claim is checked input by input."""

COMPARED_INPUTS = 1 << 25
"""The largest domain on which two models are compared input by input."""

COUNTED_NUMBERS = 1 << 14
"""With ranges of whole numbers: the largest domain that rules cover by default."""

LATE_TURNS = ((20_000, 4_000),)
"""Where search and linear regions take turns: how many boxes are searched, and how many
linear programs solved, before it is the other's turn. Then the search goes on."""

TURNS = ((200, 200), *LATE_TURNS)
"""The same where ranges of numbers vary, which a search splits without end."""

BRIEF_PAIR_BOXES = 1_000, 30_000
"""How many boxes are searched for two classes, and then again, before all others."""

COMPARED_BRIEFLY = 2_000
"""How many boxes of two models are searched before linear regions are tried."""

COMPARED_BOXES = 1 << 18
"""How many boxes of two models are searched without any limit: some twenty seconds."""

REGION_SHARE = 0.5
"""The part of the time that linear regions may take."""


Listed = Sequence[NDArray[np.int64]]
"""The codes that each feature has in a part of a domain."""


def table_size(network: Network, listed: Listed | None = None) -> int | None:
    """Return how many inputs a table would have; None if there can be no table.

    Examples
    --------
    >>> from nn2rules import datasets, load
    >>> tomato = load(datasets.network_file("tomato"))
    >>> table_size(tomato), table_size(tomato, [np.array([0]), np.array([1, 2])])
    (6, 2)
    """
    if array_obstacle(network) is not None:
        return None
    if listed is not None:
        return math.prod(map(len, listed))
    return None if network.domain.has_ranges else network.domain.n_inputs


def uses_table(engine: str, n_inputs: int | None, most: int, memory: int) -> bool:
    """Choose between a table with this number of inputs and a search.

    Examples
    --------
    >>> uses_table("auto", 6, EXPLAINED_INPUTS, 1 << 27)
    True
    >>> uses_table("search", 6, EXPLAINED_INPUTS, 1 << 27)
    False
    """
    if engine == "search" or n_inputs is None:
        return False
    return engine == "table" or n_inputs <= min(most, memory)


def engine_for(
    network: Network, engine: str, most: int, memory: int
) -> Literal["table", "search"]:
    """Choose the engine for a question about a whole domain.

    Raises
    ------
    UnsupportedModelError
        If a table is requested, but this network cannot have one.
    """
    if engine == "table":
        features, obstacle = network.domain.features, array_obstacle(network)
        refuse_ranges(features, "a table", "use the engine 'search', or ")
        if obstacle is not None:
            raise UnsupportedModelError(f"{obstacle}; use the engine 'search'")
    by_table = uses_table(engine, table_size(network), most, memory)
    return "table" if by_table else "search"


def check_engine(engine: object) -> None:
    """Refuse an unknown engine."""
    if engine not in ("auto", "table", "search"):
        raise OptionError(f"engine: {engine!r}, expected 'auto', 'table' or 'search'")


_tables: WeakKeyDictionary[Network, Table] = WeakKeyDictionary()


def table_of(
    network: Network,
    *,
    meter: Meter | None = None,
    n_jobs: int | None = None,
    keep: bool = False,
) -> Table:
    """Return the table of a network; small tables are cached as long as the network.

    With `keep`, large ones are cached, too.
    """
    meter = meter or Meter()
    if network in _tables and fits_in_memory(network.domain, meter.budget):
        return _tables[network]
    table = build_table(network, meter=meter, n_jobs=n_jobs)
    if keep or network.domain.n_inputs <= KEPT_INPUTS:
        _tables[network] = table
    return table


def classes_of_listed(
    network: Network,
    listed: Listed,
    *,
    meter: Meter,
    n_jobs: int | None = None,
) -> NDArray[np.uint8]:
    """Return the class of every input that has one of these codes per feature.

    The result has a dimension for each feature.
    """
    domain = network.domain
    if not domain.has_ranges and domain.n_inputs <= KEPT_INPUTS:
        meter.spend()  # kept tables cost the same as new ones
        table = table_of(network, meter=meter, n_jobs=n_jobs)
        return table.classes.reshape(domain.sizes)[np.ix_(*listed)]
    part = network_of_listed(network, listed)
    table = build_table(part, meter=meter, n_jobs=n_jobs)
    return table.classes.reshape(part.domain.sizes)


def network_of_listed(network: Network, listed: Listed) -> Network:
    """Return a network on a domain with only some values of each feature."""
    domain, first = network.domain, network.layers[0]
    columns = np.concatenate(
        [start + codes for start, codes in zip(domain.offsets, listed, strict=False)]
    )
    features = [
        Feature(name, tuple(range(len(codes))))
        for name, codes in zip(domain.names, listed, strict=True)
    ]
    layer = Layer(first.weights[columns], first.bias, first.activation, first.slope)
    return Network(
        Domain(tuple(features)),
        (layer, *network.layers[1:]),
        network.classes,
        network.threshold,
    )


Kernels = Literal["table", "search", "pairs", "halves"]


def compile_for(meter: Meter, *kernels: Kernels) -> None:
    """Compile kernels before the clock starts; once on each machine."""
    with meter.paused():
        for each in kernels:
            _compile(each)


@cache
def _compile(kernels: Kernels) -> None:
    network = tiny_network(with_range=kernels != "table")
    everything = whole_boxes(
        network.domain, np.ones((1, int(network.domain.offsets[-1])), dtype=np.bool_)
    )
    nothing = Boxes(everything.allowed[:0], everything.ends[:0])
    if kernels == "table":
        build_table(network).ask(everything.allowed[0], 0)
    elif kernels == "search":
        Oracle(network).ask(everything.allowed[0], 1)
    elif kernels == "pairs":
        find_twins(network, [1], (0, 1), everything, nothing, Meter())
    else:
        Halving(Oracle(network)).look((everything.allowed[0], everything.ends[0]))


def tiny_network(*, with_range: bool = True) -> Network:
    """Return a network with a number and a category, to compile kernels with.

    Or with the category alone, for a table.
    """
    category = Feature("category", ("a", "b"))
    features = (Feature.real("number", 0, 9), category) if with_range else (category,)
    weights = np.array([[1.0, -1.0], [2.0, 0.5], [-3.0, 1.0]])
    hidden = Layer(weights[-len(features) - 1 :], np.array([-4.0, 4.0]), "relu")
    last = Layer(np.array([[1.0], [-1.0]]), np.array([0.1]), "sigmoid")
    return Network(Domain(features), (hidden, last), ("no", "yes"))
