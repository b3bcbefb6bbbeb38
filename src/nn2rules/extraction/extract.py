"""`extract`: read a model, choose form, scope and engine, return rules or points."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

from nn2rules.engine import (
    Budget,
    Meter,
    ProgressOption,
    closing_progress,
    progress_callback,
    session,
)
from nn2rules.errors import (
    BudgetExceededError,
    OptionError,
    OverfittingWarning,
    RowsError,
    UnknownValueError,
)
from nn2rules.extraction.choices import (
    becomes_scorecard,
    rules_form,
    settled,
    wanted_form,
)
from nn2rules.extraction.coverage import FEWEST, held_out, on_every_input, on_test
from nn2rules.extraction.extending import (
    check_impossible,
    check_known,
    check_network,
    extended,
    for_other_rows,
    options_of,
)
from nn2rules.extraction.from_search.by_search import compile_search, rules_by_search
from nn2rules.extraction.from_search.checkpoints import Checkpoint, opened
from nn2rules.extraction.from_table.by_table import rules_by_table
from nn2rules.extraction.influence import Influences, influences_in_time
from nn2rules.extraction.job import Job, make_job
from nn2rules.extraction.options import (
    ENGINES,
    FORMS,
    Engine,
    Files,
    Form,
    Length,
    Limits,
    Request,
    RuleOptions,
    Scope,
)
from nn2rules.extraction.paper import paper_form, paper_rules
from nn2rules.extraction.proofs import proofs_to
from nn2rules.extraction.scorecard_form import scorecard_lines, scorecard_of
from nn2rules.extraction.user_units import in_user_units
from nn2rules.language import Impossible
from nn2rules.models import (
    GivenRows,
    ModelOptions,
    ModelOutput,
    by_support,
    given_rows,
    network_of,
    takes_curves,
    with_class_rows,
    with_decided,
    with_different,
    with_rows,
)
from nn2rules.network import Network
from nn2rules.rules import (
    RuleList,
    certificate_of,
    is_whole_domain,
    overfitting_warnings,
    shortened,
)
from nn2rules.scorecards import MOST_REGIONS
from nn2rules.space import (
    Domain,
    Rows,
    Value,
    refuse_curves,
    whole_number,
)

__all__ = ["ENGINES", "FORMS", "Engine", "Form", "Scope", "extract"]


def extract(
    model: object,
    data: Rows = None,
    *,
    domain: Domain | Mapping[str, Any] | None = None,
    encode: Any = None,
    classes: Sequence[Value] | None = None,
    threshold: float = 0.5,
    output: ModelOutput | None = None,
    other: bool | Sequence[str] = False,
    form: Form | None = None,
    scope: Scope | None = None,
    target: Value = None,
    labels: Sequence[Value] | None = None,
    test: Rows = None,
    impossible: Impossible | None = None,
    max_rules: int | None = None,
    fidelity: float | None = None,
    max_regions: int | None = None,
    effort: int = 1,
    seed: int = 0,
    engine: Engine = "auto",
    order: Sequence[str] | None = None,
    approximate: str | None = None,
    budget: Budget | None = None,
    time: float | None = None,
    n_jobs: int | None = None,
    progress: ProgressOption = None,
    proofs: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    known: RuleList | None = None,
) -> Any:
    """Extract rules, or a scorecard, that are provably equivalent to a network.

    Wherever a rule determines the prediction, it is the network's prediction.

    Parameters
    ----------
    model : Network, or a trained scikit-learn, PyTorch, Keras or ONNX model
        `nn2rules.load` reads a network from a file, `nn2rules.load_model` a model.
    data : frame or list of dicts, optional
        Rows like those the model was trained on. They define the values of the
        features; support is counted on them, and rules that determine many rows come
        first. A list made from a table then begins with rules that are chosen for
        these rows and hold on their own; this adds at most 3% more rules.
    domain, encode, classes, threshold, output, other
        How the model is read; see `read_network`.
    form : {"list", "set", "paper", "rules", "scorecard"}, optional
        The form of the description. A scorecard has points for each value of each
        feature, and covers every input; it is the default for a model without hidden
        layer, unless an option for rules is given. "rules" is a list or a set,
        whichever is the default. A list is read from the top, and the first rule that
        covers an input determines its prediction; it needs the fewest rules. A set has
        rules for every class, each of which holds on its own, in any order. The form
        "paper" fixes the features in one order. The default is a set in the scope
        "support", and a list for the whole domain.
    scope : {"domain", "support"}, optional
        Rules for every input of the domain, or rules that cover every row of `data`
        and are right on every input that they cover. The default is the domain, unless
        there is data and the domain has more than four million inputs, or ranges of
        numbers with more than 16,384 inputs.
    target : class label, optional
        The only class for which a set has rules; inputs that they do not cover have the
        other one of two classes. In the scope "support" that is not proved.
    labels : sequence of class labels, optional
        The true class of each row of `data`. Rules then report their accuracy.
    test : frame or list of dicts, optional
        Rows that rules are not made for, on which coverage is measured. By default, in
        the scope "support", a tenth of `data` is held out for this and covered
        afterwards, if there are at least 50 rows. The same is done in the scope
        "domain" if new rows may contain values that no row of `data` has.
    impossible : list of dicts or texts, or callable, optional
        Inputs that cannot occur. Each dict is a box, from features to values; each text
        has conditions as rules print them. Or a function of a list of rows that returns
        for each whether it is impossible. Rules may predict anything for these inputs,
        and counts leave them out.
    max_rules : int, optional
        Return at most this many rules. A list made from a table then agrees with the
        network on as many rows and inputs as possible; of a set the first rules are
        kept. The certificate states on how many inputs and rows it differs from the
        network. A search stops after this many rules, and nothing is proved for the
        rest of the domain.
    fidelity : float, optional
        Return as few rules as possible that agree with the network on this fraction of
        the inputs.
    max_regions : int, optional
        The most linear regions that the scorecard of a deep or wide network may have,
        256 by default; a network with more is refused.
    effort : int
        How much work to spend on finding fewer rules, from 0. With a table, more effort
        never gives more rules, except for the 3% for `data`; with a search it usually
        gives fewer.
    seed : int
        The same model, options and seed give the same rules.
    engine : {"auto", "table", "search", "paper"}
        How rules are found: from a table of every input, by search, or, for
        ``form="paper"``, by the paper's own algorithm.
    order : sequence of str, optional
        For ``form="paper"`` only: the order in which rules fix the features. The
        default is the authors' order.
    approximate : {None, "soft-binary"}
        For ``engine="paper"`` only: treat sigmoid units as the paper does. The result
        is then not exact, and the certificate states on how many inputs it differs.
    budget : Budget, optional
        Limits on time, boxes and memory; reaching one raises an error.
    time : float, optional
        Time limit in seconds for all work except compiling. In the scope "support" the
        rules that are proved by then are returned, beginning with those that determine
        most rows; the certificate states how many rows are not covered. Otherwise it is
        a budget of this many seconds.
    n_jobs : int, optional
        Number of threads, by default one per core. Within
        ``joblib.parallel_config(backend=…)`` or `cluster` it is the number of worker
        processes. The result does not depend on it.
    progress : callable or False, optional
        Called from time to time with the current step and the fraction done. By
        default a progress bar appears on a terminal and in a notebook after a second;
        False shows none.
    proofs : str or path, optional
        File for a proof of each rule, which `check` can follow. Proofs are made after
        the rules, in what is left of the budget, or in the same `time` again; rules
        without a proof are marked in the file. If the work is stopped early, no file is
        written; `write_proofs` makes one for the rules that were kept.
    checkpoint : str or path, optional
        File to which a search writes what is proved so far, every few seconds and when
        it stops. Remove the file once the rules are saved. Not used with tables.
    resume : bool
        Resume from the checkpoint if it exists. The rules are the same as without the
        interruption.
    known : RuleList, optional
        Proved rules of scope "support" that were extracted from this network earlier.
        They are kept, and rules are added for those rows of `data` that none of them
        covers. The certificate states which rules came when. Rules of another network
        are refused, and so are rows outside the domain of the rules.

    Returns
    -------
    RuleList or Scorecard
        With ``scope="domain"``, and nothing approximated or cut short, the prediction
        of rules equals the network's on every input of the domain. That of a scorecard
        always does.

    Raises
    ------
    UnsupportedModelError
        If the model cannot be read, or the engine cannot be exact for it.
    BudgetExceededError
        If the budget is spent; its `rules` are those proved so far.
    KeyboardInterrupt
        After Ctrl-C; its `rules` are those proved so far, if any.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> print(nn2rules.extract(network))
    Proved for all 6 inputs                    inputs determined
    1  ripe    if color = red · size ≠ small              33.3%
       unripe  otherwise                                  66.7%
    """
    chosen = RuleOptions(rules_form(form), scope, engine, target, order, approximate)
    if known is not None:
        check_known(known, max_rules=max_rules, fidelity=fidelity)
        chosen = options_of(known, chosen)
        form = form or chosen.form
        if domain is None and not isinstance(model, Network):
            domain = known.domain
    wanted = wanted_form(
        form,
        scope=scope,
        target=target,
        impossible=impossible,
        max_rules=max_rules,
        fidelity=fidelity,
        engine=engine,
        order=order,
        approximate=approximate,
        proofs=proofs,
        checkpoint=checkpoint,
        known=known,
    )
    request = Request(
        chosen,
        Length(max_rules, fidelity),
        Limits(effort, seed, n_jobs, budget, progress_callback(progress), time),
        Files(proofs, checkpoint, resume=resume),
        impossible=impossible,
        labels=labels,
        test=test,
        known=known,
    )
    meter = request.limits.meter()
    request.check(data)
    options = ModelOptions(
        data=data,
        domain=domain.uncut if isinstance(domain, Domain) else domain,
        encode=encode,
        classes=classes,
        threshold=threshold,
        output=output,
        other=other,
        is_curved=takes_curves(form, engine, proofs),
    )
    network = network_of(model, options)
    if known is not None:
        check_network(known, network)
    rows = _rows_of(network, data, request)
    if becomes_scorecard(wanted, network):
        return scorecard_of(
            network,
            rows,
            test=request.test,
            seed=seed,
            max_regions=whole_number("max_regions", max_regions or MOST_REGIONS),
        )
    if max_regions is not None:
        raise OptionError("max_regions is for a scorecard: form='scorecard'")
    return _with_hint(_rules_of(network, rows, request, meter), network)


def _with_hint(rules: RuleList, network: Network) -> RuleList:
    """Certify how long a scorecard would be that covers what these rules may not."""
    lines = scorecard_lines(network)
    covers_all = rules.scope == "domain" or certificate_of(rules).uncovered == 0
    if covers_all or lines is None:
        return rules
    return rules.replace(certificate={**rules.certificate, "scorecard_lines": lines})


def _rules_of(
    network: Network, rows: GivenRows | None, request: Request, meter: Meter
) -> RuleList:
    """Return the requested rules; an error that stops the work has those so far."""
    request = settled(request, network, rows)
    chosen = request.rules
    if chosen.engine == "search":
        with meter.paused():  # once per machine, not for these rules
            is_everywhere = chosen.scope == "domain" or bool(request.impossible)
            compile_search(everywhere=is_everywhere)
    try:
        if chosen.engine == "paper":  # plain Python can be interrupted anywhere
            with closing_progress(meter.progress):
                rules = _by_paper(network, chosen, rows)
                return rules.replace(certificate=_certified(rules, rows, request))
        with session(meter, n_jobs=request.limits.n_jobs):
            if chosen.form == "paper":
                limits = request.limits
                rules = paper_form(network, chosen, limits, rows=rows, meter=meter)
                return rules.replace(certificate=_certified(rules, rows, request))
            return _by_engine(network, request, rows, meter)
    except (BudgetExceededError, KeyboardInterrupt) as error:
        kept = meter.kept()
        error.rules = None if kept is None else in_user_units(kept)  # type: ignore[union-attr]
        raise


def _rows_of(network: Network, data: Rows, request: Request) -> GivenRows | None:
    """Read the rows, and check them against the network."""
    if request.files.proofs is not None:
        refuse_curves(network.domain.features, "a file of proofs")
    try:
        rows = None if data is None else given_rows(network, data, request.labels)
    except UnknownValueError as error:
        if request.known is None:
            raise
        raise RowsError(
            f"{error}; the known rules are proved on their own domain: "
            f"leave such rows out, or extract all rules anew on a larger domain"
        ) from None
    if request.test is not None:
        network.domain.encode(
            request.test, unknown="mark"
        )  # checks that all columns exist
    return rows


def _by_engine(
    network: Network, request: Request, rows: GivenRows | None, meter: Meter
) -> RuleList:
    """Extract a list or a set with its certificate, and write proofs if requested."""
    job = make_job(network, request, rows=rows, meter=meter)
    if request.test is None and job.scope == "support" and rows is not None:
        job = replace(job, held_out=held_out(rows, job.limits.seed))
    influence = None
    if rows is not None and job.is_impossible is None and not network.domain.has_curves:
        influence = influences_in_time(
            network, rows, meter, impossible=job.impossible, seed=job.limits.seed
        )
    if request.known is not None:
        job = replace(job, held_out=None)
        check_impossible(request.known, job)
    files, checkpoint = request.files, None
    if files.checkpoint is not None and request.rules.engine == "search":
        checkpoint = opened(files.checkpoint, job, resume=files.resume)
    extracted = _rules(job, request, checkpoint)
    certificate = _certified(extracted, rows, request, influence)
    rules = in_user_units(extracted.replace(certificate=certificate))
    meter.keep(lambda: rules)
    for sentence in overfitting_warnings(rules):
        warnings.warn(OverfittingWarning(sentence), stacklevel=4)
    if files.proofs is not None:
        if request.limits.time is not None:  # proofs get the same time again
            meter.started = monotonic()
        proofs_to(files.proofs, network, rules, job.impossible, meter)
    return rules


def _certified(
    rules: RuleList,
    rows: GivenRows | None,
    request: Request,
    influence: Influences | None = None,
) -> dict[str, Any]:
    """Return the certificate with the influence of features, and the coverage."""
    certificate = dict(rules.certificate)
    if influence is not None:
        certificate["influence"] = {"rows": influence.rows, "of": dict(influence.of)}
    coverage = _coverage(rules, rows, request)
    return certificate if coverage is None else {**certificate, "coverage": coverage}


def _coverage(
    rules: RuleList, rows: GivenRows | None, request: Request
) -> dict[str, Any] | None:
    """Return how many new rows are covered, or why that is unknown."""
    if request.test is not None:
        return on_test(rules, request.test)
    if is_whole_domain(rules):
        return on_every_input(rows, request.limits.seed)
    coverage: dict[str, Any] | None = rules.certificate.get("coverage")
    if coverage is None and rows is not None:
        is_few = len(rows) < FEWEST
        reason = "too few rows" if is_few else "no rows were held out"
        return {"on": "nothing", "reason": reason}
    return coverage


def _by_paper(
    network: Network, chosen: RuleOptions, rows: GivenRows | None
) -> RuleList:
    rules = paper_rules(network, order=chosen.order, approximate=chosen.approximate)
    return rules if rows is None else by_support(rules, rows, chosen.scope or "domain")


def _with_known(job: Job, request: Request, checkpoint: Checkpoint | None) -> RuleList:
    """Return rules; with known ones, others only for rows that these do not cover."""
    known = request.known
    if known is None:
        return _by(job, request, checkpoint)
    others = for_other_rows(known, job)
    if others is None:
        return known

    def whole(added: RuleList | None) -> RuleList:
        return known if added is None else extended(known, added, job)

    try:
        rules = whole(_by(others, request, checkpoint))
    except (BudgetExceededError, KeyboardInterrupt):
        added = job.meter.kept()
        job.meter.keep(lambda: whole(added))
        raise
    job.meter.keep(lambda: rules)
    return rules


def _by(job: Job, request: Request, checkpoint: Checkpoint | None) -> RuleList:
    """Return the rules that an engine finds, as short as requested."""
    if request.rules.engine == "table":
        return rules_by_table(job)
    rules = rules_by_search(job, checkpoint)
    return shortened(rules, request.length.max_rules, request.length.fidelity)


def _rules(job: Job, request: Request, checkpoint: Checkpoint | None) -> RuleList:
    """Return a list or a set, as short as requested, with counts on the rows."""
    rules = _with_known(job, request, checkpoint)
    rules = with_class_rows(rules, job.network, job.rows)
    if job.rows is None:
        return rules
    rules = with_rows(rules, job.rows, job.network)
    if rules.scope == "support":
        return with_decided(rules, job.rows)
    is_exact = not certificate_of(rules).different and not job.has_impossible
    return rules if is_exact else with_different(rules, job.network, job.rows)
