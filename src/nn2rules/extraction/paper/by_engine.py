"""The paper's form from a table or by search: the shortest prefixes of class 1.

For a given order of the features the paper's result is unique: the shortest prefixes
whose every completion has class 1. On a table they are found by folding it, one feature
at a time; on larger domains by proving prefixes, shortest first.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from nn2rules.engine import Meter, Oracle, Table, build_table
from nn2rules.errors import UnsupportedModelError
from nn2rules.extraction.certifying import search_certificate, table_certificate
from nn2rules.extraction.describe import refuse_different
from nn2rules.extraction.options import Limits, RuleOptions
from nn2rules.extraction.paper.prefixes import feature_order, prefix_boxes
from nn2rules.extraction.paper.rules import prefix_rules
from nn2rules.models import GivenRows, by_support
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.space import Domain, box_sizes


def table_prefixes(
    table: Table, order: Sequence[int], meter: Meter | None = None
) -> list[tuple[int, ...]]:
    """Return the prefixes of class 1, in ascending order.

    Notes
    -----
    Takes O(n_inputs): after folding away the last k features, an entry is True where
    all completions of a prefix have class 1. A prefix is a result where its own entry
    is True and its parent's is not.
    """
    domain = table.domain
    cube = (table.classes == 1).reshape(domain.sizes).transpose(order)
    folded = [cube]
    for _ in order:
        folded.append(folded[-1].all(axis=-1))
    folded.reverse()  # folded[k] is about prefixes of length k
    if folded[0]:
        return [()]
    prefixes: list[tuple[int, ...]] = []
    for parents, children in pairwise(folded):
        if meter is not None:
            meter.spend()
        maximal = children & ~parents[..., np.newaxis]
        prefixes += map(tuple, np.argwhere(maximal).tolist())
    prefixes.sort()
    return prefixes


def search_prefixes(oracle: Oracle, order: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the prefixes of class 1, in ascending order, as they are proved."""
    domain = oracle.network.domain
    pending: list[tuple[int, ...]] = [()]
    while pending:
        prefix = pending.pop()
        [box] = prefix_boxes(domain, order, [prefix])
        if oracle.ask(box, 1):
            yield prefix
        elif len(prefix) < len(order) and not oracle.ask(box, 0):
            size = domain.sizes[order[len(prefix)]]
            pending += [(*prefix, code) for code in reversed(range(size))]


def paper_form(
    network: Network,
    options: RuleOptions,
    limits: Limits,
    *,
    rows: GivenRows | None,
    meter: Meter,
) -> RuleList:
    """Return the rules of the paper's algorithm, found by table or search."""
    if not network.is_binary:
        raise UnsupportedModelError(
            f"the form 'paper' needs a network with two classes; this one has "
            f"{len(network.classes)}"
        )
    positions = feature_order(network, options.order)
    if options.engine == "table":
        table = build_table(network, meter=meter, n_jobs=limits.n_jobs)
        prefixes = table_prefixes(table, positions, meter)
        rules = prefix_rules(network, positions, prefixes)
        refuse_different(rules, table.classes, meter=meter)
        certificate = table_certificate(network, table)
    else:
        oracle = Oracle(network, meter)
        rules = prefix_rules(network, positions, _searched(oracle, positions))
        certificate = search_certificate(network, oracle)
        positive = sum(box_sizes(network.domain, rules.boxes))  # no two overlap
        certificate["class_inputs"] = [network.domain.n_inputs - positive, positive]
    rules = rules.replace(certificate=certificate)
    meter.keep(lambda: rules)
    return rules if rows is None else by_support(rules, rows, options.scope or "domain")


def _searched(oracle: Oracle, order: Sequence[int]) -> list[tuple[int, ...]]:
    """Search all prefixes; those proved are kept if the work is stopped."""
    prefixes: list[tuple[int, ...]] = []

    def so_far() -> RuleList:
        rules = prefix_rules(oracle.network, order, prefixes)
        certificate = {**search_certificate(oracle.network, oracle), "complete": False}
        return rules.replace(scope="support", certificate=certificate)

    oracle.meter.keep(so_far)
    for prefix in search_prefixes(oracle, order):
        prefixes.append(prefix)
        share = _place(oracle.network.domain, order, prefix)
        oracle.meter.report(f"{len(prefixes):,} rules proved", share)
    return prefixes


def _place(domain: Domain, order: Sequence[int], prefix: Sequence[int]) -> float:
    """Return how far through the domain a prefix is, from 0 to 1."""
    share, step = 0.0, 1.0
    for feature, code in zip(order, prefix, strict=False):
        step /= domain.sizes[feature]
        share += step * code
    return share
