"""Model in, rule list out: the one entry that chooses how."""

from collections.abc import Sequence
from typing import Any, Literal

from nn2rules.adapters import read_network
from nn2rules.certificate import search_certificate, table_certificate
from nn2rules.cover.paper_form import search_prefixes, table_prefixes
from nn2rules.domain import Rows
from nn2rules.engine import Budget, Meter, Oracle, build_table
from nn2rules.engine.budget import Progress
from nn2rules.engine.table import fits
from nn2rules.errors import BudgetExceededError, OptionError, UnsupportedModelError
from nn2rules.network import Network
from nn2rules.paper import paper_rules
from nn2rules.paper.order import feature_order
from nn2rules.paper.rules import prefix_rules, supported
from nn2rules.rules import RuleList

FORMS = ("paper",)
"""What rules may look like."""

ENGINES = ("auto", "table", "search", "paper")
"""The engines: the table of all inputs, the search, or the paper's own algorithm.

"auto" is the table where it fits in the budget's memory, and the search elsewhere.
"""


def extract(
    model: object,
    *,
    data: Rows = None,
    domain: Any = None,
    form: Literal["paper"] = "paper",
    engine: Literal["auto", "table", "search", "paper"] = "auto",
    scope: Literal["domain", "support"] = "domain",
    order: Sequence[str] | None = None,
    approximate: str | None = None,
    budget: Budget | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> RuleList:
    """Turn a trained network into a rule list that answers as it does.

    Parameters
    ----------
    model : Network, or fitted scikit-learn MLPClassifier or Pipeline
        `nn2rules.load` reads a network from a file.
    data : frame, list of dicts, or array of codes, optional
        Rows on which support is counted. Rules come in descending order of it.
    domain : Domain, or fitted OneHotEncoder, optional
        How the columns of a model group into features, where it cannot know.
    form : {"paper"}
        What rules look like: the paper's, which fix the features in one order.
    engine : {"auto", "table", "search", "paper"}
        How they are found: from the class of every input, by search, or by the paper's
        own algorithm. All give the same rules; "auto" takes the table if it fits.
    scope : {"domain", "support"}
        Rules for every input of the domain; or only those that decide a row of `data`.
    order : sequence of str, optional
        The order in which rules fix the features; by default the authors' order.
    approximate : {None, "soft-binary"}
        Treat sigmoid units as the paper does; only with ``engine="paper"``. The result
        is then no longer exact, and its certificate and its text say on how many inputs
        it differs.
    budget : Budget, optional
        Limits on time, boxes and memory.
    n_jobs : int, optional
        How many threads; the result is the same whatever their number.
    progress : callable, optional
        Called now and then with what is being done and the share that is done.

    Returns
    -------
    RuleList
        With ``scope="domain"`` and nothing approximated, its answer equals the
        network's on every input of the domain.

    Raises
    ------
    UnsupportedModelError
        If no adapter reads the model, or the engine cannot be exact on it.
    BudgetExceededError
        If the budget is spent; its `rules` are those proved so far.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> print(nn2rules.extract(network))
    1. if color = red and size = medium then ripe
    2. if color = red and size = big then ripe
       otherwise unripe
    """
    _check_options(form, engine, scope, approximate)
    network = read_network(model, domain=domain)
    if engine == "paper":
        return paper_rules(
            network, data=data, scope=scope, order=order, approximate=approximate
        )
    if not network.is_binary:
        raise UnsupportedModelError(
            f"form='paper' is for networks with two classes; this one has "
            f"{len(network.classes)}"
        )
    meter = Meter(budget or Budget(), progress)
    positions = feature_order(network, order)
    if engine == "table" or (engine == "auto" and fits(network.domain, meter.budget)):
        table = build_table(network, meter=meter, n_jobs=n_jobs)
        rules = prefix_rules(network, positions, table_prefixes(table, positions))
        certificate = table_certificate(network, table)
    else:
        oracle = Oracle(network, meter)
        rules = prefix_rules(network, positions, _searched(oracle, positions))
        certificate = search_certificate(network, oracle)
    return supported(rules.replace(certificate=certificate), data, scope)


def _searched(oracle: Oracle, order: Sequence[int]) -> list[tuple[int, ...]]:
    """Search all prefixes; when the budget is spent, attach the rules proved so far."""
    found: list[tuple[int, ...]] = []
    try:
        for prefix in search_prefixes(oracle, order):
            found.append(prefix)
            oracle.meter.report(
                f"searching, {len(found):,} rules",
                _place(oracle.network, order, prefix),
            )
    except (BudgetExceededError, KeyboardInterrupt) as error:
        rules = prefix_rules(oracle.network, order, found)
        certificate = search_certificate(oracle.network, oracle)
        certificate["complete"] = False
        error.rules = rules.replace(scope="support", certificate=certificate)  # type: ignore[union-attr]
        raise
    return found


def _place(network: Network, order: Sequence[int], prefix: Sequence[int]) -> float:
    """Return how far through the domain a prefix is, from 0 to 1."""
    share, step = 0.0, 1.0
    for feature, code in zip(order, prefix, strict=False):
        step /= network.domain.sizes[feature]
        share += step * code
    return share


def _check_options(form: str, engine: str, scope: str, approximate: str | None) -> None:
    for name, value, known in (
        ("form", form, FORMS),
        ("engine", engine, ENGINES),
        ("scope", scope, ("domain", "support")),
    ):
        if value not in known:
            raise OptionError(f"{name}: {value!r}, expected {' or '.join(known)}")
    if approximate is not None and engine != "paper":
        raise OptionError(
            f"approximate={approximate!r} is part of the paper's algorithm; "
            f"use it with engine='paper'"
        )
