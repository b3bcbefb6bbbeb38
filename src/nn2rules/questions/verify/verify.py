"""Verify claims about a model: read model, rows and claims, and return verdicts."""

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
from nn2rules.questions.verify.by_table import TableMaker
from nn2rules.questions.verify.result import Verdict, VerdictList, Verdicts
from nn2rules.questions.verify.verifier import Engine, On, Verifier
from nn2rules.space import Domain, Rows, Value, refuse_curves

OnVerdict: TypeAlias = Callable[[str, Verdict], object]

SECONDS = 60.0
"""For each claim, by default."""


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
    """Prove or refute a claim about a model, such as monotonicity in a feature.

    Parameters
    ----------
    model : Network, or a trained model of scikit-learn, PyTorch, Keras or ONNX
    claim : claim of `nn2rules.claims`, text, or several
        A text is read by `claims.read_claim`. A list of claims gives a list of
        verdicts; a mapping from names, such as from `claims.read_claims`, gives a dict.
    data : frame or list of dicts, optional
        Rows of data: those that violate the claim are counted, and the counterexample
        is the one nearest to some row.
    domain, encode, classes, threshold, output, other
        How a model is read; see `read_network`.
    within : dict, text, or sequence of Condition, optional
        Restrict the claim to inputs that satisfy these conditions.
    impossible : list of dicts or texts, or callable, optional
        Inputs that cannot occur, as in `extract`; part of a range of numbers can be
        impossible, too. They never violate a claim.
    on : {"domain", "rows"}
        Whether the claim is about all inputs, or only the rows of `data`. A row
        violates a claim about two inputs if it is one of them; the other can be any
        input.
    engine : {"auto", "table", "search"}
        Evaluate every input, where they can be listed, or search.
    count : bool
        Whether to count violating inputs even if there are too many inputs for a table,
        within the rest of the budget: exactly, or between certain bounds. This works
        for claims about classes and probabilities, without ranges of numbers and
        impossible inputs.
    budget : Budget, optional
        For each claim; once it is spent, the claim is undecided. By default a minute.
    time : float, optional
        Seconds for each claim, instead of a budget.
    n_jobs : int, optional
        The number of threads.
    progress : callable or False, optional
        As in `extract`.
    on_verdict : callable, optional
        Called with the name of a claim and its verdict as soon as it is known, so that
        verdicts are kept if Ctrl-C ends the work. The names are those of the mapping,
        or numbers from 1 as text.

    Returns
    -------
    Verdict, or a list or dict of them

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> print(nn2rules.verify(network, "if color = red then ripe"))
    refuted: if color = red then ripe
      1 of 3 inputs violates it (33.3%)
      counterexample, predicted unripe:
        color = red · size = small
    >>> nn2rules.verify(network, "never ripe if color = yellow").status
    'proved'
    """
    _check(on, engine, data)
    progress_bar = progress_callback(progress)
    limits = Limits(n_jobs=n_jobs, budget=budget, progress=progress_bar, time=time)
    per_claim = limits.spendable
    if budget is None and time is None:
        per_claim = replace(per_claim, seconds=SECONDS)
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
    verifier = Verifier(
        network,
        rows,
        within=within,
        impossible=impossible,
        on=on,
        engine=engine,
        tables=TableMaker(Meter(per_claim), n_jobs),
        counts=count,
    )

    def ask(name: str, one: Claim) -> Verdict:
        meter = Meter(per_claim, progress_bar, started=monotonic())
        with interruptible(meter):
            verdict = verifier.verdict(one, meter)
        if on_verdict is not None:
            on_verdict(name, verdict)
        return verdict

    with closing_progress(progress_bar):
        return _each(claim, verifier, ask)


def _each(claim: Any, verifier: Verifier, ask: Callable[[str, Claim], Verdict]) -> Any:
    """Verify one claim, or several once all of them are read and checked."""
    if isinstance(claim, Mapping):
        read = {name: _named(name, one, verifier) for name, one in claim.items()}
        return Verdicts({name: ask(name, one) for name, one in read.items()})
    if isinstance(claim, Sequence) and not isinstance(claim, str):
        numbered = {str(number): one for number, one in enumerate(claim, 1)}
        read = {name: _named(name, one, verifier) for name, one in numbered.items()}
        return VerdictList([ask(name, one) for name, one in read.items()])
    return ask("1", _read(claim, verifier.network))


def _named(name: str, one: object, verifier: Verifier) -> Claim:
    """Read one of several claims; an error names the claim."""
    try:
        claim = _read(one, verifier.network)
        verifier.prepared(claim)
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
        f"claim: a {type(claim).__name__}, expected a text or a claim from "
        f"nn2rules.claims, as in claims.independent_of('sex')"
    )


def _check(on: object, engine: object, data: Rows) -> None:
    if on not in ("domain", "rows"):
        raise OptionError(f"on: {on!r}, expected 'domain' or 'rows'")
    check_engine(engine)
    if on == "rows" and data is None:
        raise OptionError("on='rows' needs data: the rows that the claim is about")
