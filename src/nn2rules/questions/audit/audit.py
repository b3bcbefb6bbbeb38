"""Audit a model: read model and rows, ask all questions in one budget."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nn2rules.engine import (
    Budget,
    Meter,
    ProgressOption,
    check_engine,
    compile_for,
    progress_callback,
    session,
)
from nn2rules.errors import DomainError, OptionError
from nn2rules.extraction import Limits, check_labels
from nn2rules.language import read_impossible
from nn2rules.models import GivenRows, ModelOutput, given_rows, read_network
from nn2rules.network import Network
from nn2rules.questions.audit.feature_effects import (
    SharedBudget,
    Verifiers,
    feature_effects,
    influence_on_rows,
    needs_proof,
    ordered_features,
    trends,
)
from nn2rules.questions.audit.result import Audit
from nn2rules.questions.audit.rows import fragile_rows, groups_of
from nn2rules.questions.verify import Engine, TableMaker, Verifier
from nn2rules.rules import origin_warnings
from nn2rules.space import (
    Domain,
    Rows,
    Value,
    column_names,
    did_you_mean,
    listed_rows,
    refuse_curves,
    whole_number,
)

SECONDS = 60.0
"""For the whole audit, by default."""

_LEFT_OUT = "Impossible inputs are left out."

EXAMPLES = 1000
"""The number of rows that are searched for one that a feature flips."""


def audit(
    model: object,
    data: Rows = None,
    *,
    protected: Sequence[str] = (),
    labels: Sequence[Value] | None = None,
    fragile: int = 5,
    domain: Domain | Mapping[str, Any] | None = None,
    encode: Any = None,
    classes: Sequence[Value] | None = None,
    threshold: float = 0.5,
    output: ModelOutput | None = None,
    other: bool | Sequence[str] = False,
    impossible: Sequence[Mapping[str, Any] | str] | None = None,
    engine: Engine = "auto",
    budget: Budget | None = None,
    time: float | None = None,
    n_jobs: int | None = None,
    progress: ProgressOption = None,
) -> Audit:
    """Summarise a model on one page: influence, fairness, monotonicity, robustness.

    Parameters
    ----------
    model : Network, or a trained model of scikit-learn, PyTorch, Keras or ONNX
    data : frame or list of dicts
        The rows on which everything is counted.
    protected : sequence of names
        Protected attributes: features, or columns of the data that are not features of
        the model. The outcomes of their groups are counted in either case.
    labels : sequence of class labels, optional
        The true class of each row, for the outcomes of groups.
    fragile : int
        The number of the most fragile rows to list.
    domain, encode, classes, threshold, output, other
        How a model is read; see `read_network`.
    impossible : list of dicts or texts, optional
        Inputs that cannot occur, as in `explain`; they are not counted. Not supported
        if there are too many inputs for a table.
    engine : {"auto", "table", "search"}
        Evaluate every input, where they can be listed, or search.
    budget : Budget, optional
        Its seconds are for the whole audit, its boxes for each question. What is not
        known once it is spent is undecided. By default a minute.
    time : float, optional
        Seconds for the whole audit, instead of a budget.
    n_jobs : int, optional
        The number of threads, by default one for each core. The result does not depend
        on it.
    progress : callable or False, optional
        As in `extract`.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> basket = [{"color": "red", "size": "big"}, {"color": "yellow", "size": "big"}]
    >>> found = nn2rules.audit(network, basket, protected=["color"])
    >>> found.protected["color"].status, found.protected["color"].rows
    ('flips', 2)
    >>> found.influence["size"].rows, found.influence["size"].inputs
    (1, 3)
    """
    _check(data, engine, labels)
    data = listed_rows(data)
    number = whole_number("fragile", fragile)
    progress_bar = progress_callback(progress)
    limits = Limits(n_jobs=n_jobs, budget=budget, progress=progress_bar, time=time)
    spendable = limits.spendable
    if budget is None and time is None:
        spendable = replace(spendable, seconds=SECONDS)
    network = read_network(
        model,
        data=data,
        domain=domain,
        encode=encode,
        classes=classes,
        threshold=threshold,
        output=output,
        other=other,
    )
    refuse_curves(network.domain.features, "audit")
    rows = given_rows(network, data, labels)
    if not len(rows):
        raise OptionError("data: there are no rows to count on")
    names = protected_names(protected, network, data)
    compile_for(Meter(), "table", "search", "pairs")
    shared = SharedBudget(spendable, progress_bar)
    verifiers = _verifiers(network, rows, engine, shared, n_jobs, impossible)
    with session(Meter(stop=shared.stop), progress=progress_bar, n_jobs=n_jobs):
        return _audited(verifiers, rows, data, names, number, shared)


def _verifiers(
    network: Network,
    rows: GivenRows,
    engine: Engine,
    budget: SharedBudget,
    n_jobs: int | None,
    impossible: Any,
) -> Verifiers:
    """Return what verifies claims: one table for all of them, or searches."""
    tables = TableMaker(Meter(budget.limits, stop=budget.stop), n_jobs)
    options: dict[str, Any] = {
        "within": None,
        "impossible": impossible,
        "tables": tables,
    }
    if impossible is not None:
        read_impossible(network.domain, impossible, function=False)  # as explain does
    by_table = Verifier(network, rows, on="domain", engine=engine, **options)
    if by_table.has_table:
        return Verifiers(by_table, None, impossible)
    if impossible is not None:
        raise OptionError(
            "impossible: an audit supports it only with a table of all inputs, and "
            "here there are too many inputs, or ranges of numbers; verify and explain "
            "always support it"
        )
    everywhere = Verifier(network, None, on="domain", engine=engine, **options)
    numbers = None if rows.numbers is None else rows.numbers[:EXAMPLES]
    some = GivenRows(network.domain, rows.codes[:EXAMPLES], numbers)
    return Verifiers(
        everywhere, Verifier(network, some, on="rows", engine=engine, **options)
    )


def _audited(
    verifiers: Verifiers,
    rows: GivenRows,
    data: Rows,
    protected: tuple[str, ...],
    fragile: int,
    budget: SharedBudget,
) -> Audit:
    network, drawn = verifiers.network, None
    if verifiers.on_rows is not None:
        drawn = influence_on_rows(network, rows, budget.meter("feature influence"))
    names = network.domain.names
    names_to_prove = [name for name in names if needs_proof(name, drawn, protected)]
    ordered = sum(2 * len(to) for to in ordered_features(network).values())
    budget.expect(len(names_to_prove) + len(protected) + ordered + 1)
    influence, protected_effects = feature_effects(
        verifiers, drawn, protected, rows, budget
    )
    trends_of = trends(verifiers.everywhere, influence, budget)
    budget.expect(1)
    meter = budget.meter("fragile rows")
    fragile_row_list = fragile_rows(
        network,
        rows,
        fragile,
        meter,
        verifiers.impossible,
        verifiers.everywhere.tables.n_jobs,
    )
    left_out = () if verifiers.impossible is None else (_LEFT_OUT,)
    return Audit(
        network.domain,
        network.classes,
        len(rows),
        "table" if verifiers.on_rows is None else "search",
        influence,
        protected_effects,
        trends_of,
        {name: groups_of(network, rows, data, name) for name in protected},
        fragile_row_list,
        (*origin_warnings(network.origin), *left_out),
    )


def _check(data: Rows, engine: object, labels: object) -> None:
    if data is None:
        raise OptionError("audit needs data: the rows on which everything is counted")
    check_engine(engine)
    check_labels(labels)


def protected_names(
    protected: Sequence[str] | str, network: Network, data: Rows
) -> tuple[str, ...]:
    """Return the protected names once each; refuse unknown ones."""
    names = [protected] if isinstance(protected, str) else list(protected)
    features, columns = network.domain.names, column_names(data)
    for name in names:
        if name in features or name in columns:
            continue
        beside = [column for column in columns if column not in features]
        others = ", ".join(map(repr, beside))
        listed = f"; other columns of the data are {others}" if beside else ""
        raise DomainError(
            f"protected: {name!r} is neither a feature of the model nor a column of "
            f"the data; the features are {', '.join(map(repr, features))}{listed}"
            f"{did_you_mean(name, [*features, *beside])}"
        )
    return tuple(dict.fromkeys(names))
