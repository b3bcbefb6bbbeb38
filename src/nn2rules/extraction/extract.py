"""Model in, rules or a scorecard out: the one entry that chooses how."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from time import monotonic
from typing import Any

import numpy as np

from nn2rules.engine import (
    COVERED_INPUTS,
    LISTED_INPUTS,
    SET_INPUTS,
    Budget,
    Oracle,
    Shown,
    array_obstacle,
    closing_bar,
    is_tabled,
    listed_inputs,
    room,
    score_range,
    session,
    teller,
)
from nn2rules.errors import (
    BudgetExceededError,
    OptionError,
    OverfittingWarning,
    UnsupportedModelError,
)
from nn2rules.extraction._kernels.nearness import holds_any
from nn2rules.extraction.from_search.by_search import rules_by_search
from nn2rules.extraction.from_search.checkpoints import Checkpoint, opened
from nn2rules.extraction.from_search.growing import Goal, Grower
from nn2rules.extraction.from_search.growth_context import Cases
from nn2rules.extraction.from_search.merging import merge
from nn2rules.extraction.from_search.searched import Cover, cover_rows, find_uncovered
from nn2rules.extraction.from_table.by_table import rules_by_table
from nn2rules.extraction.influence import influences_in_time, with_influences
from nn2rules.extraction.job import Job, make_job
from nn2rules.extraction.options import (
    ENGINES,
    FORMS,
    Engine,
    Form,
    Length,
    Limits,
    RuleOptions,
    Scope,
    check_labels,
    refuse_for_paper,
)
from nn2rules.extraction.paper import paper_rules
from nn2rules.extraction.paper_form import paper_form
from nn2rules.extraction.proofs import proofs_to
from nn2rules.extraction.scorecard_form import (
    is_linear,
    rules_form,
    scorecard_of,
    wanted_form,
)
from nn2rules.extraction.unseen_rows import FEWEST, held_out, on_every_input, on_test
from nn2rules.extraction.user_units import in_user_units
from nn2rules.files import check_writable
from nn2rules.language import Impossible
from nn2rules.models import (
    GivenRows,
    ModelOptions,
    ModelOutput,
    by_support,
    given_rows,
    needs_rows,
    network_of,
    takes_curves,
    with_class_rows,
    with_decided,
    with_different,
    with_rows,
)
from nn2rules.network import Layer, Network
from nn2rules.rules import (
    RuleList,
    by_heart,
    certificate_of,
    is_whole_domain,
    shortened,
)
from nn2rules.space import (
    Domain,
    Feature,
    Inputs,
    Rows,
    Value,
    listed_rows,
    refuse_curves,
    refuse_ranges,
)


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
    inputs = Inputs(codes, np.array([[1.5, 1], [7, 1], [8, 1]]))
    answers = oracle.network.predict_codes(*inputs)
    cases, nothing = Cases(inputs, np.ones(3), answers), room(oracle.nets[0], 0)
    grower, cover = Grower(oracle, cases, Goal(False, 1, 0, 1)), Cover()
    cover_rows(grower, cover=cover, impossible=nothing)
    merge(grower, cover, impossible=nothing)
    holds_any(domain.ranges, grower.columns, inputs.numbers, *grower.hull([0]))
    if everywhere:
        find_uncovered(oracle, nothing)
    score_range(oracle.network, np.ones(3, dtype=np.bool_))


__all__ = ["ENGINES", "FORMS", "Form", "Scope", "extract"]

COUNTED_INPUTS = 1 << 14
"""Up to so many inputs, ranges of whole numbers have rules for all of them."""


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
    effort: int = 1,
    seed: int = 0,
    engine: Engine = "auto",
    order: Sequence[str] | None = None,
    approximate: str | None = None,
    budget: Budget | None = None,
    time: float | None = None,
    n_jobs: int | None = None,
    progress: Shown = None,
    proofs: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Any:
    """Turn a trained network into rules, or a scorecard, that predict as it does.

    Parameters
    ----------
    model : Network, or a trained model of scikit-learn, PyTorch, Keras or ONNX
        `nn2rules.load` reads a network from a file, `nn2rules.load_model` a model.
    data : frame or list of dicts, optional
        Rows as the model was trained on. They say what its features can be; support is
        counted on them, and rules that decide many come first. A list made from a table
        begins with rules chosen for that, each true on its own, and has at most 3 %
        more rules for it.
    domain, encode, classes, threshold, gives, other
        How a model is read; see `read_network`.
    form : {"list", "set", "paper", "rules", "scorecard"}, optional
        What the description looks like. A scorecard has points for each value of each
        feature, and covers every input; it is the default for a model without hidden
        layer, unless an option for rules is given. "rules" is a list or a set,
        whichever is the default. A list is read from the top, and the first rule that
        holds answers: the fewest rules. A set has rules for every class, each true on
        its own, whatever the order. The paper's rules fix the features in one order. By
        default a set in the scope "support", and a list for the whole domain.
    scope : {"domain", "support"}, optional
        Rules for every input of the domain; or rules that are right on every input they
        decide, and decide every row of `data`. By default the domain, unless it has
        more than four million inputs, or ranges of numbers with more than 16,384, and
        there is data.
    target : class label, optional
        The only class that a set has rules for; what they leave is of the other one, of
        two classes. In the scope "support" that is not proved.
    labels : sequence of class labels, optional
        The true class of each row of `data`: rules then carry their accuracy.
    test : frame or list of dicts, optional
        Rows that rules are not made for, to count how many of them are covered. By
        default, in the scope "support", a tenth of `data` is held out for that and
        covered afterwards, if there are 50 rows or more; in the scope "domain", too,
        where new rows may hold values that no row of `data` has.
    impossible : list of dicts or texts, or callable, optional
        Inputs that cannot occur: each dict is a box, from features to values, and each
        text has conditions, as rules print them. Or a function that is given a list of
        rows and tells for each whether it is impossible. Rules may answer anything
        there, and counts leave them out.
    max_rules : int, optional
        A list of at most so many rules, made from a table to answer as the network does
        on as many rows and inputs as can be; of a set, its first rules. The certificate
        says on how many inputs, and rows, it differs from the network. A search stops
        at so many rules, and nothing is proved of the rest.
    fidelity : float, optional
        The same with as few rules as are found to answer as the network does on this
        share of the inputs.
    effort : int
        How hard to look for short lists, from 0. On a table, more effort never gives
        more rules, up to the 3 % for `data`; by search it usually gives fewer.
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
        Limits on time, boxes and memory; an error says that one is reached.
    time : float, optional
        Seconds, all told but for compiling. In the scope "support" the rules that are
        proved by then are returned: those that decide most rows come first, and the
        certificate says how many rows are left. Elsewhere it is a budget of so many
        seconds.
    n_jobs : int, optional
        How many threads, by default one on each core; the result is the same whatever
        their number. Within ``joblib.parallel_config(backend=…)``, or `cluster`, other
        processes work, here or on other machines, and it is how many of them.
    progress : callable or False, optional
        Called now and then with what is being done and the share that is done. By
        default a bar is shown on a terminal and in a notebook where it takes longer
        than a second; False shows none.
    proofs : str or path, optional
        Where to write a proof of each rule, which `check` can follow. They are looked
        for once the rules are there, in what is left of the budget, or in as much
        `time` again; a rule without one is marked so in the file. If the work is
        stopped early, no file is written; `write_proofs` makes one of the rules that
        were kept.
    checkpoint : str or path, optional
        Where a search writes what is proved so far, every few seconds and when it is
        stopped. It stays there: remove it once the rules are saved. Rules from a table
        have none.
    resume : bool
        Go on from the checkpoint, if it is there. The rules are those of a run that was
        never stopped.

    Returns
    -------
    RuleList or Scorecard
        A scorecard's prediction equals the network's on every input of the domain; so
        does that of rules with ``scope="domain"`` and nothing approximated or cut
        short.

    Raises
    ------
    UnsupportedModelError
        If no adapter reads the model, or the engine cannot be exact on it.
    BudgetExceededError
        If the budget is spent; its `rules` are those proved so far.
    KeyboardInterrupt
        After Ctrl-C; its `rules` are those proved so far, if any.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> print(nn2rules.extract(network))
    Proved for all 6 inputs                    inputs decided
    1  ripe    if color = red · size ≠ small           33.3 %
       unripe  otherwise                               66.7 %
    """
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
    )
    kind = RuleOptions(rules_form(form), scope, engine, target, order, approximate)
    length = Length(max_rules, fidelity)
    told = teller(progress)
    how = Limits(effort, seed, n_jobs, budget, told, time)
    meter = how.meter()
    if kind.form == "paper":
        refuse_for_paper(
            impossible=impossible,
            max_rules=max_rules,
            fidelity=fidelity,
            proofs=proofs,
        )
    _check_checkpoint(checkpoint, resume=resume)
    check_labels(labels)
    needs_rows(scope, data, labels)
    _check_length(length, kind)
    if proofs is not None:
        check_writable(proofs)
    if test is not None:
        test = listed_rows(test)
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
    if proofs is not None:
        refuse_curves(network.domain.features, "a file of proofs")
    rows = None if data is None else given_rows(network, data, labels)
    if test is not None:
        network.domain.encode(test, unknown="mark")  # are all columns there
    if wanted == "scorecard" or (wanted == "either" and is_linear(network)):
        return scorecard_of(network, rows, test=test, seed=seed)
    kind = _chosen(kind, network, rows, how)
    _check_length(length, kind)
    if kind.scope == "domain" and length.max_rules is None:
        _refuse_endless(network.domain, how.spendable)
    if kind.engine == "search":
        with meter.paused():  # that is done once, and not for these rules
            compile_search(everywhere=kind.scope == "domain" or bool(impossible))
    try:
        if kind.engine == "paper":  # plain Python can be interrupted anywhere
            with closing_bar(told):
                return _with_coverage(_by_paper(network, kind, rows), rows, test, seed)
        with session(meter, n_jobs=n_jobs):
            if kind.form == "paper":
                rules = paper_form(network, kind, how, rows=rows, meter=meter)
                return _with_coverage(rules, rows, test, seed)
            job = make_job(
                network,
                kind,
                length,
                how,
                rows=rows,
                impossible=impossible,
                meter=meter,
            )
            if test is None and kind.scope == "support" and rows is not None:
                job = replace(job, held=held_out(rows, seed))
            influence = None
            is_curved = network.domain.has_curves
            if rows is not None and job.is_impossible is None and not is_curved:
                influence = influences_in_time(
                    network, rows, meter, impossible=job.impossible, seed=seed
                )
            going_on = None
            if checkpoint is not None and kind.engine == "search":
                going_on = opened(checkpoint, job, resume=resume)
            rules = with_influences(_rules(job, kind, length, going_on), influence)
            covered = _with_coverage(rules, rows, test, seed)
            rules = in_user_units(covered)
            meter.keep(lambda: rules)
            for sentence in by_heart(rules):
                warnings.warn(OverfittingWarning(sentence), stacklevel=2)
            if proofs is not None:
                if time is not None:  # it was for the rules; proofs have as much
                    meter.started = monotonic()
                proofs_to(proofs, network, rules, job.impossible, meter)
            return rules
    except (BudgetExceededError, KeyboardInterrupt) as error:
        kept = meter.kept()
        error.rules = None if kept is None else in_user_units(kept)  # type: ignore[union-attr]
        raise


def _check_checkpoint(
    checkpoint: str | os.PathLike[str] | None, *, resume: bool
) -> None:
    """Refuse what cannot be gone on from, and where nothing can be written."""
    if checkpoint is not None:
        check_writable(checkpoint)
    elif resume:
        raise OptionError(
            "resume goes on from a checkpoint; say where it is (checkpoint=, "
            "--checkpoint)"
        )


def _check_length(length: Length, kind: RuleOptions) -> None:
    """Refuse a fidelity where nothing counts it."""
    if length.fidelity is None:
        return
    if kind.scope == "support":
        raise OptionError("fidelity is for the scope 'domain', where it is counted")
    if kind.engine == "search":
        raise OptionError(
            "fidelity is counted on a table of every input, and the engine 'search' "
            "makes none; max_rules stops it after so many rules"
        )


def _refuse_endless(domain: Domain, budget: Budget) -> None:
    """Refuse rules for every input that may never be complete, without a limit.

    Two classes meet between ranges of real numbers in a slanting line, and no boxes
    fill what lies beside it.
    """
    real = [f for f in domain.features if f.limits is not None and not f.whole]
    if real and budget.seconds is None and budget.boxes is None:
        raise OptionError(
            f"rules for every number of {real[0].name!r} may never be complete; give "
            f"rows that they are to decide (data, scope 'support'), or stop: time=60 "
            f"(--time 60), or max_rules"
        )


def _chosen(
    kind: RuleOptions, network: Network, rows: GivenRows | None, how: Limits
) -> RuleOptions:
    """Return the kind with the scope and the engine chosen, where they were open."""
    domain, obstacle = network.domain, array_obstacle(network)
    if kind.form == "paper":
        instead = "use the form 'list' or 'set', or "
        refuse_ranges(domain.features, "the form 'paper'", instead)
    if kind.engine == "table":
        refuse_ranges(domain.features, "a table", "use the engine 'search', or ")
    if kind.engine == "table" and obstacle is not None:
        raise UnsupportedModelError(f"{obstacle}; use the engine 'search'")
    if kind.scope is None:
        is_large = domain.n_inputs > COVERED_INPUTS
        if domain.has_ranges:
            is_large = domain.n_numbers is None or domain.n_numbers > COUNTED_INPUTS
        is_support = is_large and rows is not None
        kind = replace(kind, scope="support" if is_support else "domain")
    if kind.form is None:
        kind = replace(kind, form="set" if kind.scope == "support" else "list")
    if kind.engine != "auto":
        return kind
    most, memory = COVERED_INPUTS, how.spendable.memory
    if kind.scope == "support":
        most = SET_INPUTS if kind.form == "set" else LISTED_INPUTS
    if kind.form == "paper":
        most = memory
    by_table = is_tabled(kind.engine, listed_inputs(network), most, memory)
    return replace(kind, engine="table" if by_table else "search")


def _with_coverage(
    rules: RuleList, rows: GivenRows | None, test: Rows, seed: int
) -> RuleList:
    """Certify how many new rows are covered: of those to test, or why it is unknown."""
    found = rules.certificate.get("coverage")
    if test is not None:
        found = on_test(rules, test)
    elif is_whole_domain(rules):
        found = on_every_input(rows, seed)
    elif found is None and rows is not None:
        is_few = len(rows) < FEWEST
        reason = "too few rows" if is_few else "no rows were held out"
        found = {"on": "nothing", "reason": reason}
    if found is None:
        return rules
    return rules.replace(certificate={**rules.certificate, "coverage": found})


def _by_paper(network: Network, kind: RuleOptions, rows: GivenRows | None) -> RuleList:
    rules = paper_rules(network, order=kind.order, approximate=kind.approximate)
    return rules if rows is None else by_support(rules, rows, kind.scope or "domain")


def _rules(
    job: Job, kind: RuleOptions, length: Length, checkpoint: Checkpoint | None
) -> RuleList:
    """Return the rules of a list or a set, as short as asked, counted on the rows."""
    if kind.engine == "table":
        rules = rules_by_table(job)
    else:
        rules = rules_by_search(job, checkpoint)
        rules = shortened(rules, length.max_rules, length.fidelity)
    rules = with_class_rows(rules, job.network, job.rows)
    if job.rows is None:
        return rules
    rules = with_rows(rules, job.rows, job.network)
    if rules.scope == "support":
        return with_decided(rules, job.rows)
    is_exact = not certificate_of(rules).different and not job.has_impossible
    return rules if is_exact else with_different(rules, job.network, job.rows)
