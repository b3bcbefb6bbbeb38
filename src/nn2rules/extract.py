"""Model in, rule list out: the one entry that chooses how."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from nn2rules.adapters import read_network
from nn2rules.domain import Rows
from nn2rules.errors import OptionError
from nn2rules.paper import paper_rules
from nn2rules.rules import RuleList

ENGINES: dict[str, Callable[..., RuleList]] = {"paper": paper_rules}
"""Every engine, by the name that `extract` and the command line know it by."""


def extract(
    model: object,
    *,
    data: Rows = None,
    domain: Any = None,
    engine: str = "paper",
    scope: Literal["domain", "support"] = "domain",
    order: Sequence[str] | None = None,
    approximate: str | None = None,
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
    engine : {"paper"}
        The algorithm.
    scope : {"domain", "support"}
        Rules for every input of the domain; or only those that decide a row of `data`.
    order : sequence of str, optional
        The order in which rules fix the features; by default the authors' order.
    approximate : {None, "soft-binary"}
        Treat sigmoid units as the paper does. The result is then no longer exact, and
        its certificate and its text say on how many inputs it differs.

    Returns
    -------
    RuleList
        With ``scope="domain"`` and nothing approximated, its answer equals the
        network's on every input of the domain.

    Raises
    ------
    UnsupportedModelError
        If no adapter reads the model, or the engine cannot be exact on it.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> print(nn2rules.extract(network))
    1. if color = red and size = medium then ripe
    2. if color = red and size = big then ripe
       otherwise unripe
    """
    if engine not in ENGINES:
        raise OptionError(f"engine: {engine!r}, expected {' or '.join(ENGINES)}")
    if scope not in ("domain", "support"):
        raise OptionError(f"scope: {scope!r}, expected 'domain' or 'support'")
    network = read_network(model, domain=domain)
    return ENGINES[engine](
        network, data=data, scope=scope, order=order, approximate=approximate
    )
