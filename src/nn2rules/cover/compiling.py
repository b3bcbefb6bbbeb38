"""Compile what a search needs, before any clock runs."""

from functools import cache

import numpy as np

from nn2rules.cover._kernels.nearness import holds_any
from nn2rules.cover.ground import Cases
from nn2rules.cover.growing import Goal, Grower
from nn2rules.cover.merging import merge
from nn2rules.cover.searched import Cover, cover_rows, find_uncovered
from nn2rules.domain import Domain
from nn2rules.engine import Oracle, score_range
from nn2rules.engine._kernels.boxes import Points
from nn2rules.engine.flat import room
from nn2rules.feature import Feature
from nn2rules.layer import Layer
from nn2rules.network import Network


@cache
def compile_search(*, everywhere: bool) -> None:
    """Search a network of one number and one word, so that all kernels are there.

    Those that look for inputs without a rule only if there is to be one `everywhere`.
    """
    domain = Domain((Feature.real("number", 0, 9), Feature("word", ("a", "b"))))
    weights = np.array([[1.0, -1.0], [2.0, 0.5], [-3.0, 1.0]])
    hidden = Layer(weights, np.array([-4.0, 4.0]), "relu")
    last = Layer(np.array([[1.0], [-1.0]]), np.array([0.1]), "sigmoid")
    oracle = Oracle(Network(domain, (hidden, last), ("no", "yes")))
    codes = np.array([[0, 0], [0, 1], [0, 1]])
    inputs = Points(codes, np.array([[1.5, 1], [7, 1], [8, 1]]))
    answers = oracle.network.predict_codes(*inputs)
    cases, nothing = Cases(inputs, np.ones(3), answers), room(oracle.nets[0], 0)
    grower, cover = Grower(oracle, cases, Goal(False, 1, 0, 1)), Cover()
    cover_rows(grower, cover=cover, impossible=nothing)
    merge(grower, cover, impossible=nothing)
    holds_any(domain.ranges, grower.columns, inputs.numbers, *grower.hull([0]))
    if everywhere:
        find_uncovered(oracle, nothing)
    score_range(oracle.network, np.ones(3, dtype=np.bool_))
