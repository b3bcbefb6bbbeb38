"""Claims beyond a table: proved, or refuted by an input, by search."""

import time
from functools import cache

import numpy as np

from nn2rules.domain import Domain
from nn2rules.engine import Meter, Oracle
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.engine.reaching import find_class, find_twins
from nn2rules.feature import Feature
from nn2rules.layer import Layer
from nn2rules.network import Network
from nn2rules.verifying.nearest import Point
from nn2rules.verifying.pairs import Paired
from nn2rules.verifying.questions import Plain
from nn2rules.verifying.region import Region
from nn2rules.verifying.twins import search_pair


def search(question: Plain | Paired, region: Region, meter: Meter) -> list[Point]:
    """Return inputs that break a claim; none is a proof that there are none."""
    if isinstance(question, Plain):
        return _search_plain(question, meter, region)
    return search_pair(question, region, meter)


def _search_plain(plain: Plain, meter: Meter, region: Region) -> list[Point]:
    oracles: dict[int, Oracle] = {}
    for search in plain.searches(region):
        network = search.network
        if search.is_never:
            found = find_class(
                network, search.index, search.within, search.ignoring, meter
            )
            if found.counterexample is not None and found.numbers is not None:
                return [(found.counterexample, found.numbers)]
            continue
        oracle = oracles.setdefault(id(network), Oracle(network, meter))
        for box, ends in zip(search.within.allowed, search.within.ends, strict=True):
            found = oracle.ask(box, search.index, ends=ends, ignoring=search.ignoring)
            if found.counterexample is not None and found.numbers is not None:
                return [(found.counterexample, found.numbers)]
    return []


def compile_search(meter: Meter) -> None:
    """Compile what a search needs, at nobody's cost."""
    began = time.monotonic()
    _compile_once()
    meter.started += time.monotonic() - began


@cache
def _compile_once() -> None:
    domain = Domain((Feature.real("number", 0, 9), Feature("word", ("a", "b"))))
    weights = np.array([[1.0, -1.0], [2.0, 0.5], [-3.0, 1.0]])
    hidden = Layer(weights, np.array([-4.0, 4.0]), "relu")
    last = Layer(np.array([[1.0], [-1.0]]), np.array([0.1]), "sigmoid")
    network = Network(domain, (hidden, last), ("no", "yes"))
    whole = np.ones((1, 3), dtype=np.bool_)
    everything = Boxes(whole, domain.limits[np.newaxis].copy())
    nothing = Boxes(whole[:0], everything.ends[:0])
    Oracle(network).ask(whole[0], 1)
    find_twins(network, [1], (0, 1), everything, nothing, Meter())
