"""Verify claims about a model: a model and claims in, verdicts out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, TypeAlias

from nn2rules.engine import (
    Budget,
    Meter,
    ProgressOption,
    check_engine,
    closing_progress,
    interruptible,
    progress_callback,
)
from nn2rules.errors import DomainError, OptionError, ParseError
from nn2rules.extraction import Limits
from nn2rules.language import Said
from nn2rules.models import ModelOutput, given_rows, read_network
from nn2rules.network import Network
from nn2rules.questions.claims import CLAIMS, Claim, read_claim
from nn2rules.questions.verify.asker import Asker, Engine, On
from nn2rules.questions.verify.by_table import Tables
from nn2rules.questions.verify.result import Verdict, VerdictList, Verdicts
from nn2rules.space import Domain, Rows, Value, refuse_curves

OnVerdict: TypeAlias = Callable[[str, Verdict], object]

SECONDS = 60.0
"""For each claim, unless something else is said."""


def verify(
    model: object,
    claim: Any,
    data: Rows = None,
    *,
    domain: Domain | Mapping[str, Any] | None = None,
    encode: Any = None,
    classes: Sequence[Value] | None = None,
    threshold: float = 0.5,
    output: ModelOutput | None = None,
    other: bool | Sequence[str] = False,
    within: Said = None,
    impossible: Any = None,
    on: On = "domain",
    engine: Engine = "auto",
    count: bool = False,
    budget: Budget | None = None,
    time: float | None = None,
    n_jobs: int | None = None,
    progress: ProgressOption = None,
    on_verdict: OnVerdict | None = None,
) -> Any:
    """Prove or refute a claim about a model.

    Parameters
    ----------
    model : Network, or a trained model of scikit-learn, PyTorch, Keras or ONNX
    claim : claim of `nn2rules.claims`, text, or several
        A text is read as `claims.read_claim` does. Of a list there is a list of
        verdicts, of a mapping from names, such as `claims.read_book` gives, a dict.
    data : frame or list of dicts, optional
        Rows: those that break the claim are counted, and the counterexample is the one
        nearest to them.
    domain, encode, classes, threshold, gives, other
        How a model is read; see `read_network`.
    within : dict, text, or sequence of Condition, optional
        The claim is made of inputs that meet these conditions only.
    impossible : list of dicts or texts, or callable, optional
        Inputs that cannot occur, as in `extract`; a box may hold a part of a range of
        numbers. They break no claim.
    on : {"domain", "rows"}
        Whether the claim is made of all inputs, or of the rows of `data` alone. A row
        breaks a claim about two inputs if it is one of two, whatever the other is.
    engine : {"auto", "table", "search"}
        Whether all inputs are looked at, where they can be listed, or searched.
    count : bool
        Whether inputs that break a claim are counted beyond a table, too, in what is
        left of the budget: exactly, or between certain bounds. Claims about classes and
        probabilities are, without ranges of numbers and impossible inputs.
    budget : Budget, optional
        For each claim; when it is spent, the claim is open. By default a minute.
    time : float, optional
        The same in seconds.
    n_jobs : int, optional
        How many threads.
    progress : callable or False, optional
        As in `extract`.
    on_verdict : callable, optional
        Called with the name of a claim and its verdict as soon as that is known, so
        that verdicts are kept if Ctrl-C ends the work. The names are those of a
        mapping, and else numbers from 1, as text.

    Returns
    -------
    Verdict, or a list or dict of them

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> print(nn2rules.verify(network, "if color = red then ripe"))
    refuted: if color = red then ripe
      1 of 3 inputs breaks it (33.3%)
      unripe here:
        color = red · size = small
    >>> nn2rules.verify(network, "never ripe if color = yellow").status
    'proved'
    """
    _check(on, engine, data)
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
    refuse_curves(network.domain.features, "verify")
    rows = None if data is None else given_rows(network, data)
    asker = Asker(
        network,
        rows,
        within=within,
        impossible=impossible,
        on=on,
        engine=engine,
        tables=Tables(Meter(limits), n_jobs),
        counts=count,
    )

    def ask(name: str, one: Claim) -> Verdict:
        meter = Meter(limits, told, started=monotonic())
        with interruptible(meter):
            verdict = asker.verdict(one, meter)
        if on_verdict is not None:
            on_verdict(name, verdict)
        return verdict

    with closing_progress(told):
        return _each(claim, asker, ask)


def _each(claim: Any, asker: Asker, ask: Callable[[str, Claim], Verdict]) -> Any:
    """Ask one claim, or several, once all of them are read and their names known."""
    if isinstance(claim, Mapping):
        read = {name: _named(name, one, asker) for name, one in claim.items()}
        return Verdicts({name: ask(name, one) for name, one in read.items()})
    if isinstance(claim, Sequence) and not isinstance(claim, str):
        numbered = {str(number): one for number, one in enumerate(claim, 1)}
        read = {name: _named(name, one, asker) for name, one in numbered.items()}
        return VerdictList([ask(name, one) for name, one in read.items()])
    return ask("1", _read(claim, asker.network))


def _named(name: str, one: object, asker: Asker) -> Claim:
    """Read one of several claims; a mistake says in which it is."""
    try:
        claim = _read(one, asker.network)
        asker.prepared(claim)
    except ParseError as error:
        reason = f"claim {name}: {error.reason}"
        raise ParseError(error.text, error.place, reason) from None
    except (DomainError, OptionError) as error:
        error.args = (f"claim {name}: {error}",)
        raise
    return claim


def _read(claim: object, network: Network) -> Claim:
    if isinstance(claim, str):
        return read_claim(claim, network.domain, network.classes)
    if isinstance(claim, CLAIMS):
        return claim
    raise OptionError(
        f"claim: a {type(claim).__name__}, expected a text, or a claim of "
        f"nn2rules.claims, as in claims.independent_of('sex')"
    )


def _check(on: object, engine: object, data: Rows) -> None:
    if on not in ("domain", "rows"):
        raise OptionError(f"on: {on!r}, expected 'domain' or 'rows'")
    check_engine(engine)
    if on == "rows" and data is None:
        raise OptionError("on 'rows' needs data: the rows that the claim is made of")
