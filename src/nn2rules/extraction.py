"""Model in, rule list out: the one entry that chooses how."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np

from nn2rules.adapters import read_network
from nn2rules.adapters.options import Gives
from nn2rules.cover._kernels.greedy import cover_some
from nn2rules.cover.by_search import rules_by_search
from nn2rules.cover.by_table import rules_by_table
from nn2rules.cover.describe import with_rows
from nn2rules.cover.job import Impossible, Job, distinct_rows, impossible_boxes
from nn2rules.cover.paper_form import paper_form
from nn2rules.domain import Domain, Rows
from nn2rules.engine import Budget, Meter
from nn2rules.engine._kernels import is_cached
from nn2rules.engine._kernels.network import table_classes
from nn2rules.engine.budget import Progress
from nn2rules.engine.table import fits, has_cube
from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.feature import UNKNOWN
from nn2rules.network import Network
from nn2rules.paper import paper_rules
from nn2rules.rules import RuleList
from nn2rules.values import Value

Form: TypeAlias = Literal["list", "set", "paper"]
Scope: TypeAlias = Literal["domain", "support"]
Engine: TypeAlias = Literal["auto", "table", "search", "paper"]

FORMS = ("list", "set", "paper")
"""What rules may look like."""

ENGINES = ("auto", "table", "search", "paper")
"""The engines: the table of all inputs, the search, or the paper's own algorithm.

"auto" is the table where it is small enough, and the search elsewhere.
"""

COVERED_INPUTS = 1 << 22
"""Up to so many inputs "auto" makes lists and sets from a table."""


def extract(
    model: object,
    data: Rows = None,
    *,
    domain: Domain | Mapping[str, Any] | None = None,
    encode: Any = None,
    classes: Sequence[Value] | None = None,
    threshold: float = 0.5,
    gives: Gives | None = None,
    other: bool | Sequence[str] = False,
    nearest: bool = False,
    form: Form = "list",
    scope: Scope | None = None,
    target: Value = None,
    labels: Sequence[Value] | None = None,
    impossible: Impossible | None = None,
    max_rules: int | None = None,
    fidelity: float | None = None,
    effort: int = 1,
    seed: int = 0,
    engine: Engine = "auto",
    order: Sequence[str] | None = None,
    approximate: str | None = None,
    budget: Budget | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> RuleList:
    """Turn a trained network into a rule list that answers as it does.

    Parameters
    ----------
    model : Network, or a trained model of scikit-learn, PyTorch, Keras or ONNX
        `nn2rules.load` reads a network from a file, `nn2rules.load_model` a model.
    data : frame or list of dicts, optional
        Rows as the model was trained on. They say what its features can be; support is
        counted on them, and rules that decide many come first.
    domain, encode, classes, threshold, gives, other, nearest
        How a model is read; see `read_network`.
    form : {"list", "set", "paper"}
        What rules look like. A list is read from the top, and the first rule that holds
        answers. The rules of a set hold on their own, in any order, and are those of
        all classes but the default. The paper's rules fix the features in one order.
    scope : {"domain", "support"}, optional
        Rules for every input of the domain; or rules that are right on every input they
        decide, and decide every row of `data`. By default the domain, unless it has
        more than four million inputs and there is data.
    target : class label, optional
        The class that a set of two classes has rules for; by default the one that needs
        fewer.
    labels : sequence of class labels, optional
        The true class of each row of `data`: rules then carry their accuracy.
    impossible : list of dicts, or callable, optional
        Inputs that cannot occur: each dict is a box, from features to values. Or a
        function that is given a list of rows and tells for each whether it is
        impossible. Rules may answer anything there, and counts leave them out.
    max_rules : int, optional
        The first so many rules of the exact list, with the best default for the rest.
        The certificate says on how many inputs, and rows, it differs from the network.
    fidelity : float, optional
        As many of the first rules as are needed to answer as the network does on this
        share of the inputs.
    effort : int
        How hard to look for short lists, from 0. On a table, more effort never gives
        more rules; by search it usually gives fewer.
    seed : int
        Same model, options and seed: the same rules.
    engine : {"auto", "table", "search", "paper"}
        How rules are found: from the class of every input, by search, or, for
        ``form="paper"``, by the paper's own algorithm.
    order : sequence of str, optional
        ``form="paper"`` only: the order in which rules fix the features; by default the
        authors'.
    approximate : {None, "soft-binary"}
        ``engine="paper"`` only: treat sigmoid units as the paper does. The result is
        then no longer exact, and says on how many inputs it differs.
    budget : Budget, optional
        Limits on time, boxes and memory.
    n_jobs : int, optional
        How many threads; the result is the same whatever their number.
    progress : callable, optional
        Called now and then with what is being done and the share that is done.

    Returns
    -------
    RuleList
        With ``scope="domain"`` and nothing approximated or cut short, its answer equals
        the network's on every input of the domain.

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
    1. if color = red and size ≠ small then ripe  [33.3 % of inputs, p 0.73 to 0.74]
       otherwise unripe
    """
    if engine == "paper" and form == "list":
        form = "paper"  # the paper's algorithm knows no other
    _check_options(form, engine, scope, approximate, order, n_jobs)
    if labels is not None and data is None:
        raise OptionError("labels belong to rows; give the data, too")
    if isinstance(labels, str):
        raise OptionError(
            f"labels are the classes of the rows, not the name of a column: "
            f"labels=data[{labels!r}]"
        )
    network = read_network(
        model,
        data=data,
        domain=domain,
        encode=encode,
        classes=classes,
        threshold=threshold,
        gives=gives,
        other=other,
        nearest=nearest,
    )
    if scope is None:
        is_large = network.domain.n_inputs > COVERED_INPUTS
        scope = "support" if is_large and data is not None else "domain"
    if engine == "table" and not has_cube(network.domain):
        raise UnsupportedModelError(
            "the engine 'table' takes 64 features at most; use the engine 'search'"
        )
    meter = Meter(budget or Budget(), progress)
    if form == "paper":
        _refuse_for_paper(target, impossible, max_rules, fidelity)
        if engine == "paper":
            rules = paper_rules(
                network, data=data, scope=scope, order=order, approximate=approximate
            )
        else:
            rules = paper_form(network, data, scope, order, engine, meter, n_jobs)
        return rules if labels is None else with_rows(rules, data, labels)
    job = _job(
        network,
        form,
        scope,
        target=target,
        data=data,
        impossible=impossible,
        effort=effort,
        seed=seed,
        n_jobs=n_jobs,
        meter=meter,
    )
    rules = rules_by_table(job) if _by_table(job, engine) else rules_by_search(job)
    if data is not None:
        rules = with_rows(_with_moved(rules, data), data, labels)
    short = _shortened(rules, max_rules, fidelity)
    if scope == "support":
        return short.counted_on(data)
    if data is None or short is rules:
        return short
    wrong = int((short.predict(data) != rules.predict(data)).sum())
    return short.replace(certificate={**short.certificate, "rows_different": wrong})


def _with_moved(rules: RuleList, data: Rows) -> RuleList:
    """Certify how many rows hold numbers that go to the nearest value."""
    domain = rules.domain
    if not any(feature.nearest for feature in domain.features):
        return rules
    listed = Domain(tuple(replace(f, nearest=False) for f in domain.features))
    moved = (listed.encode(data, unknown="mark") == UNKNOWN).any(axis=1)
    certificate = {**rules.certificate, "rows_moved": int(moved.sum())}
    return rules.replace(certificate=certificate)


def is_compiled() -> bool:
    """Tell whether the kernels were compiled on this machine before."""
    return all(is_cached(kernel) for kernel in (table_classes, cover_some))


def _by_table(job: Job, engine: str) -> bool:
    """Tell whether the table engine is to make the rules."""
    domain = job.network.domain
    if engine == "auto":
        small = domain.n_inputs <= COVERED_INPUTS and has_cube(domain)
        return small and fits(domain, job.meter.budget)
    return engine == "table"


def _job(
    network: Network,
    form: Literal["list", "set"],
    scope: Scope,
    *,
    target: Value,
    data: Rows,
    impossible: Impossible | None,
    effort: int,
    seed: int,
    n_jobs: int | None,
    meter: Meter,
) -> Job:
    """Check the options of a list or a set and put them together."""
    if scope == "support" and data is None:
        raise OptionError("the scope 'support' needs data: rows that are to be decided")
    if not isinstance(effort, int) or effort < 0:
        raise OptionError(f"effort: {effort!r}, expected 0, 1, 2, …")
    if not isinstance(seed, int) or seed < 0:
        raise OptionError(f"seed: {seed!r}, expected a whole number from 0 on")
    index = None
    if target is not None:
        if target not in network.classes:
            known = ", ".join(repr(label) for label in network.classes)
            raise OptionError(
                f"target: {target!r} is not a class; there are {known}; the true "
                f"classes of the rows are given as labels"
            )
        if form != "set" or len(network.classes) != 2:
            raise OptionError(
                "a class to have rules for can be named for a set, of two classes"
            )
        index = network.classes.index(target)
    codes = weights = None
    if data is not None:
        codes, weights = distinct_rows(network.domain, data)
    is_function = callable(impossible)
    n_columns = int(network.domain.offsets[-1])
    boxes = np.zeros((0, n_columns), dtype=np.bool_)
    if impossible is not None and not is_function:
        boxes = impossible_boxes(network, impossible)
    return Job(
        network,
        form,
        scope,
        index,
        codes,
        weights,
        boxes,
        impossible if callable(impossible) else None,
        effort,
        seed,
        n_jobs,
        meter,
    )


def _shortened(
    rules: RuleList, max_rules: int | None, fidelity: float | None
) -> RuleList:
    """Cut a list to the rules that are asked for."""
    if max_rules is not None and (not isinstance(max_rules, int) or max_rules < 0):
        raise OptionError(f"max_rules: {max_rules!r}, expected 0 or more")
    if rules.scope == "support":
        if fidelity is not None:
            raise OptionError("fidelity is for the scope 'domain', where it is counted")
        return rules if max_rules is None else rules.top(max_rules)
    if fidelity is not None:
        if not 0 <= fidelity <= 1:
            raise OptionError(f"fidelity: {fidelity}, expected 0 to 1")
        total = rules.certificate.get("possible", rules.domain.n_inputs)
        low, high = 0, len(rules)
        while low < high:  # fidelity grows with the number of rules
            middle = (low + high) // 2
            different = rules.top(middle).certificate["different"]
            if (total - different) / total >= fidelity:
                high = middle
            else:
                low = middle + 1
        max_rules = low if max_rules is None else min(low, max_rules)
    return rules if max_rules is None else rules.top(max_rules)


def _refuse_for_paper(
    target: Value,
    impossible: Impossible | None,
    max_rules: int | None,
    fidelity: float | None,
) -> None:
    for name, value in (
        ("target", target),
        ("impossible", impossible),
        ("max_rules", max_rules),
        ("fidelity", fidelity),
    ):
        if value is not None:
            raise OptionError(f"{name} is for the forms 'list' and 'set', not 'paper'")


def _check_options(
    form: str,
    engine: str,
    scope: str | None,
    approximate: str | None,
    order: Sequence[str] | None,
    n_jobs: int | None,
) -> None:
    for name, value, known in (
        ("form", form, FORMS),
        ("engine", engine, ENGINES),
        ("scope", scope, (None, "domain", "support")),
    ):
        if value not in known:
            raise OptionError(f"{name}: {value!r}, expected {_either(known)}")
    if engine == "paper" and form != "paper":
        raise OptionError(f"the engine 'paper' makes the form 'paper', not {form!r}")
    if approximate is not None and engine != "paper":
        raise OptionError(
            f"approximate={approximate!r} is part of the paper's algorithm; "
            f"use it with the engine 'paper'"
        )
    if order is not None and form != "paper":
        raise OptionError("order is for the form 'paper': other rules have none")
    if n_jobs is not None and (not isinstance(n_jobs, int) or n_jobs == 0):
        raise OptionError(
            f"n_jobs: {n_jobs!r}, expected 1 or more threads, or -1 for all cores"
        )


def _either(known: Sequence[str | None]) -> str:
    return " or ".join(name for name in known if name is not None)
