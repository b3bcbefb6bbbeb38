"""Audit a model: what matters to it, and what protected features do."""

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
    Askers,
    Sharing,
    count_rows,
    followed,
    is_asked,
    trends,
    turning,
)
from nn2rules.questions.audit.result import Audit
from nn2rules.questions.audit.rows import fragile_rows, shares_of
from nn2rules.questions.verify import Asker, Engine, Tables
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
"""For all of it, unless something else is said."""

_LEFT_OUT = "Inputs that cannot occur, as was said, are left out."

EXAMPLES = 1000
"""Beyond a table, among so many rows one is looked for that a feature turns."""


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
    """Put what a model does on one page: what matters, and what protected features do.

    Parameters
    ----------
    model : Network, or a trained model of scikit-learn, PyTorch, Keras or ONNX
    data : frame or list of dicts
        The rows that everything is counted on.
    protected : sequence of names
        Features, or columns of the data that the model does not see: that is a finding,
        too, and the classes of their groups are counted all the same.
    labels : sequence of class labels, optional
        The true class of each row, for the shares of groups.
    fragile : int
        How many of the most fragile rows to list.
    domain, encode, classes, threshold, gives, other
        How a model is read; see `read_network`.
    impossible : list of dicts or texts, optional
        Inputs that cannot occur, as in `explain`: they turn no answer, and are not
        counted. Where inputs are too many to look at each, this is refused.
    engine : {"auto", "table", "search"}
        Whether all inputs are looked at, where they can be listed, or searched.
    budget : Budget, optional
        Its seconds are for the whole audit, its boxes for each question. What is not
        known when it is spent is open. By default a minute.
    time : float, optional
        The same in seconds.
    n_jobs : int, optional
        How many threads, by default one on each core; the result is the same whatever
        their number.
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
    ('turns', 2)
    >>> found.influence["size"].rows, found.influence["size"].inputs
    (1, 3)
    """
    _check(data, engine, labels)
    data = listed_rows(data)
    number = whole_number("fragile", fragile)
    told = progress_callback(progress)
    how = Limits(n_jobs=n_jobs, budget=budget, progress=told, time=time)
    limits = how.spendable
    if budget is None and time is None:
        limits = replace(limits, seconds=SECONDS)
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
        raise OptionError("data: there is no row to count on")
    names = protected_names(protected, network, data)
    compile_for(Meter(), "table", "search", "pairs")
    sharing = Sharing(limits, told)
    askers = _askers(network, rows, engine, sharing, n_jobs, impossible)
    with session(Meter(stop=sharing.stop), progress=told, n_jobs=n_jobs):
        return _audited(askers, rows, data, names, number, sharing)


def _askers(
    network: Network,
    rows: GivenRows,
    engine: Engine,
    sharing: Sharing,
    n_jobs: int | None,
    impossible: Any,
) -> Askers:
    """Return who answers: one table for all questions, or searches."""
    tables = Tables(Meter(sharing.limits, stop=sharing.stop), n_jobs)
    said: dict[str, Any] = {"within": None, "impossible": impossible, "tables": tables}
    if impossible is not None:
        read_impossible(network.domain, impossible, function=False)  # as explain does
    by_table = Asker(network, rows, on="domain", engine=engine, **said)
    if by_table.has_table:
        return Askers(by_table, None, impossible)
    if impossible is not None:
        raise OptionError(
            "impossible: an audit takes it where every input can be looked at, and "
            "these are too many, or some are ranges of numbers; verify and explain "
            "take it everywhere"
        )
    everywhere = Asker(network, None, on="domain", engine=engine, **said)
    numbers = None if rows.numbers is None else rows.numbers[:EXAMPLES]
    some = GivenRows(network.domain, rows.codes[:EXAMPLES], numbers)
    return Askers(everywhere, Asker(network, some, on="rows", engine=engine, **said))


def _audited(
    askers: Askers,
    rows: GivenRows,
    data: Rows,
    protected: tuple[str, ...],
    fragile: int,
    sharing: Sharing,
) -> Audit:
    network, drawn = askers.network, None
    if askers.on_rows is not None:
        drawn = count_rows(network, rows, sharing.meter("what can turn an answer"))
    names = network.domain.names
    asked = [name for name in names if is_asked(name, drawn, protected)]
    ordered = sum(2 * len(to) for to in followed(network).values())
    sharing.expect(len(asked) + len(protected) + ordered + 1)
    influence, found = turning(askers, drawn, protected, rows, sharing)
    along = trends(askers.everywhere, influence, sharing)
    sharing.expect(1)
    meter = sharing.meter("fragile rows")
    nearest = fragile_rows(
        network,
        rows,
        fragile,
        meter,
        askers.impossible,
        askers.everywhere.tables.n_jobs,
    )
    left_out = () if askers.impossible is None else (_LEFT_OUT,)
    return Audit(
        network.domain,
        network.classes,
        len(rows),
        "table" if askers.on_rows is None else "search",
        influence,
        found,
        along,
        {name: shares_of(network, rows, data, name) for name in protected},
        nearest,
        (*origin_warnings(network.origin), *left_out),
    )


def _check(data: Rows, engine: object, labels: object) -> None:
    if data is None:
        raise OptionError("audit needs data: the rows that everything is counted on")
    check_engine(engine)
    check_labels(labels)


def protected_names(
    protected: Sequence[str] | str, network: Network, data: Rows
) -> tuple[str, ...]:
    """Return the protected names once each, refusing what nobody knows."""
    given = [protected] if isinstance(protected, str) else list(protected)
    features, columns = network.domain.names, column_names(data)
    for name in given:
        if name in features or name in columns:
            continue
        beside = [column for column in columns if column not in features]
        said = f", and {', '.join(map(repr, beside))} beside them" if beside else ""
        raise DomainError(
            f"protected: {name!r} is neither a feature of the model nor a column of "
            f"the data; the features are {', '.join(map(repr, features))}{said}"
            f"{did_you_mean(name, [*features, *beside])}"
        )
    return tuple(dict.fromkeys(given))
