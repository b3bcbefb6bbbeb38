"""nn2rules extract: a model in, rules or a scorecard out."""

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import nn2rules
from nn2rules.cli.app import command, stderr, working
from nn2rules.cli.options import (
    FILES,
    OUTPUT,
    PERFORMANCE,
    SCALE,
    ApproximateOption,
    EffortOption,
    Help,
    ImpossibleOption,
    LabelsOption,
    Limits,
    ModelFile,
    ModelOptions,
    OrderOption,
    SeedOption,
    flag,
    names_of,
    number,
    option,
    read_impossible,
)
from nn2rules.cli.output import Shown, check_places, partial_place, show
from nn2rules.errors import (
    BudgetExceededError,
    Nn2RulesError,
    OptionError,
    OverfittingWarning,
)
from nn2rules.extraction import Engine, Form, Scope
from nn2rules.files import check_writable, load_rules, read_table, save
from nn2rules.language import count, label_text, share
from nn2rules.models import (
    LoadedModel,
    ModelInput,
    class_named,
    load_with_rows,
    takes_curves,
)
from nn2rules.rules import Description, RuleList, certificate_of, coverage_of
from nn2rules.scorecards import Scorecard, lines_of
from nn2rules.space import did_you_mean


@command("extract model.onnx --data train.csv --labels y -o rules.json")
def extract(
    model: ModelFile,
    model_options: ModelOptions,
    limits: Annotated[
        Limits,
        Help(
            seconds="Stop after this many seconds, with the rules that are proved by "
            "then."
        ),
    ],
    *,
    data: Annotated[
        Path | None,
        option(
            "ROWS",
            "Rows like those the model was trained on: the possible values of its "
            "features, and how many rows each rule determines.",
            FILES,
        ),
    ] = None,
    form: Annotated[
        Form | None,
        option(
            "FORM",
            "list: rules read from the top. set: rules for every class, each of which "
            "holds by itself. rules: a set for rows of data, and a list for every "
            "input. paper: rules that fix the features in one order. scorecard: points "
            "for each value. By default a scorecard for a model without hidden layer, "
            "and otherwise rules.",
        ),
    ] = None,
    engine: Annotated[
        Engine,
        option(
            None,
            "Extract from a table of all inputs, by search, or with the paper's own "
            "algorithm.",
            PERFORMANCE,
        ),
    ] = "auto",
    scope: Annotated[
        Scope | None,
        option(
            None,
            "Rules for every input (domain), or only rules that determine a row of "
            "--data (support); by default every input, if there are not too many.",
        ),
    ] = None,
    labels: LabelsOption = None,
    test: Annotated[
        Path | None,
        option(
            "ROWS",
            "Rows that rules are not made for, to measure how many of them are "
            "covered. By default a tenth of --data is held out for that, and covered "
            "afterwards.",
            FILES,
        ),
    ] = None,
    target: Annotated[
        str | None,
        option("CLASS", "The only class that a set has rules for."),
    ] = None,
    max_rules: Annotated[
        int | None,
        number(help="Keep at most N rules.", minimum=0),
    ] = None,
    fidelity: Annotated[
        float | None,
        number(
            help="Keep as few rules as agree with the model on this share of inputs.",
            metavar="0..1",
            minimum=0,
            maximum=1,
        ),
    ] = None,
    impossible: ImpossibleOption = None,
    points_to_double_odds: Annotated[
        float | None,
        option(
            "POINTS", "This many points double the odds of the second class.", SCALE
        ),
    ] = None,
    odds: Annotated[
        float | None,
        option("ODDS", "The odds at --base-score, such as 50 for 50 : 1.", SCALE),
    ] = None,
    base_score: Annotated[
        float | None, option("POINTS", "The total points at --odds.", SCALE)
    ] = None,
    minimum: Annotated[
        float | None, option("POINTS", "The smallest total, such as 300.", SCALE)
    ] = None,
    maximum: Annotated[
        float | None, option("POINTS", "The largest total, such as 850.", SCALE)
    ] = None,
    bins: Annotated[
        str | None,
        option(
            "N",
            "Print points for at most N bins of each range of numbers, not per unit, "
            "or auto.",
            SCALE,
        ),
    ] = None,
    max_regions: Annotated[
        int | None,
        number(
            help="Of a deep or wide network: at most this many linear regions; by "
            "default 256.",
            panel=SCALE,
            minimum=1,
        ),
    ] = None,
    higher: Annotated[
        str | None,
        option(
            "CLASS",
            "The class that more points make more likely; by default the second.",
            SCALE,
        ),
    ] = None,
    effort: EffortOption = 1,
    seed: SeedOption = 0,
    order: OrderOption = None,
    approximate: ApproximateOption = None,
    top: Annotated[
        int | None,
        number(
            help="Print the first N rules (of a set, of each class); by default those "
            "that determine most rows.",
            panel=OUTPUT,
            minimum=0,
        ),
    ] = None,
    everything: Annotated[bool, flag("--all", "Print all rules.", OUTPUT)] = False,
    verbose: Annotated[
        bool,
        flag(
            "--verbose",
            "Also print the share of inputs that each rule determines, and the "
            "network's probabilities there.",
            OUTPUT,
        ),
    ] = False,
    output: Annotated[
        Path | None,
        option("RULES.json", "Write the rules as JSON.", FILES, "-o", "--output"),
    ] = None,
    network: Annotated[
        Path | None,
        option(
            "NETWORK.json",
            "Also write the network as it was read, for check and neurons.",
            FILES,
        ),
    ] = None,
    proofs: Annotated[
        Path | None,
        option("FILE", "Also write a proof of each rule, for check --proofs.", FILES),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        option(
            "FILE",
            "Where a long search saves what is proved so far, to continue with "
            "--resume; removed once the rules are written (-o).",
            PERFORMANCE,
        ),
    ] = None,
    resume: Annotated[
        bool,
        flag("--resume", "Continue from --checkpoint, if it exists.", PERFORMANCE),
    ] = False,
    extend: Annotated[
        Path | None,
        option(
            "RULES.json",
            "Rules that were extracted from this model earlier: keep them, and add "
            "rules for the rows of --data that none of them covers.",
            FILES,
        ),
    ] = None,
    as_json: Annotated[bool, flag("--json", "Print the rules as JSON.", OUTPUT)] = (
        False
    ),
) -> None:
    """Extract rules or a scorecard from a model, and print or write them."""
    check_places(output, network, (model, data, test, model_options.encoder, extend))
    shown = Shown(
        "all" if everything else "most" if top is None else top, verbose, as_json
    )
    if proofs is not None:
        check_writable(
            proofs,
            keep=(model, data, test, model_options.encoder, extend, output, network),
        )
    if checkpoint is not None:
        kept = (model, data, test, model_options.encoder, extend, output, network)
        check_writable(checkpoint, keep=(*kept, proofs))
    files: dict[str, Any] = {"data": data, "labels": labels, "test": test}
    files["is_curved"] = takes_curves(form, engine, proofs)
    known = None if extend is None else load_rules(extend)
    if known is None:
        model_input = model_options.given(**files)
    else:  # which has the domain of the rules
        model_input = model_options.for_rules(known, **files)
    loaded = _loaded(model, model_input, target)
    if network is not None:
        save(loaded.network, network)
    if output is None:  # the printed page states it
        warnings.simplefilter("ignore", OverfittingWarning)
    started = time.perf_counter()
    try:
        with (
            working(limits) as progress,
            loaded.naming_lines(),
        ):
            rules = nn2rules.extract(
                loaded.network,
                data=loaded.rows,
                labels=loaded.labels,
                test=loaded.test,
                form=form,
                engine=engine,
                scope=scope,
                target=None if target is None else class_named(target, loaded.network),
                max_rules=max_rules,
                fidelity=fidelity,
                max_regions=max_regions,
                effort=effort,
                seed=seed,
                order=names_of(order, "--order"),
                approximate=approximate,
                impossible=read_impossible(impossible),
                time=limits.seconds,
                n_jobs=limits.jobs,
                progress=progress,
                proofs=proofs,
                checkpoint=checkpoint,
                resume=resume,
                known=known,
            )
    except (BudgetExceededError, KeyboardInterrupt) as stopped:
        partial = getattr(stopped, "rules", None)
        if partial is not None:
            show(partial, shown, partial_place(output))
            stderr.print(_stopped(partial))
        if checkpoint is not None and checkpoint.exists():
            stderr.print(f"the same command with --resume continues from {checkpoint}")
        raise
    spent = time.perf_counter() - started
    scale = {
        "points_to_double_odds": points_to_double_odds,
        "odds": odds,
        "base_score": base_score,
        "minimum": minimum,
        "maximum": maximum,
        "bins": _bins_in(bins),
    }
    rules = _scaled(rules, scale, higher, loaded)
    show(rules, shown, output)
    if output is not None:
        print(summary(rules, spent))
        if checkpoint is not None and certificate_of(rules).is_complete:
            checkpoint.unlink(missing_ok=True)
            outdated = partial_place(output) if resume else None
            if outdated is not None:  # by the run that was stopped
                outdated.unlink(missing_ok=True)
    if known is not None and isinstance(rules, RuleList) and len(rules) == len(known):
        stderr.print("note: the rules of --extend cover all rows of --data already")
    is_chosen = scope is not None or known is not None
    _note_scope(rules, is_chosen=is_chosen, is_summed_up=output is not None)
    _note_scorecard(rules)


def _bins_in(text: str | None) -> int | str | None:
    """Return a number of bins as it is given: a number, or auto."""
    if text is None or text == "auto":
        return text
    if not text.isdecimal():
        raise OptionError(f"--bins: {text!r}, expected a number or auto")
    return int(text)


def _scaled(
    rules: Description,
    scale: Mapping[str, Any],
    higher: str | None,
    loaded: LoadedModel,
) -> Description:
    """Return a scorecard on the scale that is asked for; rules have none."""
    options = [name for name, number in scale.items() if number is not None]
    options += ["higher"] * (higher is not None)
    if not options:
        return rules
    if not isinstance(rules, Scorecard):
        name = options[0].replace("_", "-")
        raise OptionError(f"--{name} is for a scorecard: --form scorecard")
    label = None if higher is None else class_named(higher, loaded.network)
    if higher is not None and label is None:
        classes = ", ".join(str(label) for label in loaded.network.classes)
        raise OptionError(
            f"--higher: there is no class {higher!r}; the classes are {classes}"
        )
    return rules.scaled(**scale, higher=label, rows=loaded.rows)


def _loaded(model: Path, model_input: ModelInput, target: str | None) -> LoadedModel:
    """Read the files, and refuse a target that is not a class of the model."""
    try:
        loaded = load_with_rows(model, model_input)
    except Nn2RulesError:
        data = model_input.data
        if data is not None and model_input.labels is None and target is not None:
            _refuse_column(data, target)
        raise
    if target is not None and class_named(target, loaded.network) is None:
        classes = ", ".join(str(label) for label in loaded.network.classes)
        raise OptionError(
            f"--target: there is no class {target!r}; the classes are {classes}; "
            f"the column with the true classes is given by --labels"
            f"{did_you_mean(target, loaded.network.classes)}"
        )
    return loaded


def _refuse_column(data: Path, target: str) -> None:
    """Explain the error if a target is a column, which was read as a feature."""
    if target in read_table(data).header:
        raise OptionError(
            f"--target names a class, and {target!r} is a column of {data}; the column "
            f"with the true classes is given by --labels"
        )


def _note_scope(rules: Description, *, is_chosen: bool, is_summed_up: bool) -> None:
    """Note which scope was chosen, and which rows are not covered."""
    if rules.scope != "support":
        return
    if not is_chosen:
        domain = rules.domain
        size = (
            "ranges of numbers" if domain.has_ranges else f"{domain.n_inputs:,} inputs"
        )
        stderr.print(
            f"note: the domain has {size}, so these rules are for the rows of --data "
            f"(--scope support). They are right wherever they apply; inputs that no "
            f"rule covers are undecided. --scope domain extracts rules for every input"
        )
    n_uncovered, n_rows = uncovered_rows(rules)
    if n_uncovered and not is_summed_up:
        stderr.print(
            f"note: {n_uncovered:,} of {n_rows:,} rows are not covered by any rule"
        )


MANY_RULES = 20
"""After more rules than this, the top of the page may have scrolled away."""


def _note_scorecard(rules: Description) -> None:
    """Say, after many rules, that there is a scorecard for every input."""
    lines = certificate_of(rules).scorecard_lines
    if lines is not None and isinstance(rules, RuleList) and len(rules) > MANY_RULES:
        stderr.print(
            f"note: a scorecard with {count(lines, 'line')} would cover every input: "
            f"--form scorecard"
        )


def _stopped(rules: RuleList) -> str:
    """Return what is known of rules that were kept when the work was stopped."""
    proved = f"stopped early: these {count(len(rules), 'rule')} are proved"
    if certificate_of(rules).is_complete:
        return f"{proved} and complete; with more time there might be fewer"
    if rules.domain.has_ranges:
        volume = f"{rules.volume} of the volume (numbers evenly spread)"
        return f"{proved} and cover {volume}; the rest is undecided"
    return f"{proved}; inputs that they do not cover are undecided"


def uncovered_rows(rules: Description) -> tuple[int, int]:
    """Return how many of the rows no rule covers, and how many rows there are."""
    certificate = certificate_of(rules)
    rows, covered = certificate.rows or 0, certificate.rows_covered
    return 0 if covered is None else max(rows - covered, 0), rows


def summary(rules: Description, seconds: float) -> str:
    """Return a summary of the rules: number, inputs, class shares, seconds."""
    if isinstance(rules, Scorecard):
        lines = [f"lines    {len(lines_of(rules.domain)):,}", *_predictions(rules)]
        return "\n".join([*lines, f"seconds  {seconds:.2f}"])
    assert isinstance(rules, RuleList), "a description is one of the two"
    certificate, inputs = certificate_of(rules), rules.n_possible
    counts = certificate.class_inputs
    shares = ""
    if counts is not None:
        shares = ": " + ", ".join(
            f"{label_text(label)} {part:,} ({share(part, inputs)})"
            for label, part in zip(rules.classes, counts, strict=True)
        )
    lines = [f"rules    {_counted(rules)}"]
    if certificate.fewest_rules is not None:
        fewest = count(certificate.fewest_rules, "rule")
        lines.append(f"         no such set has fewer than {fewest}")
    if rules.domain.has_ranges:
        lines.append(
            f"volume   {rules.volume} covered by a rule (numbers evenly spread)"
        )
    else:
        lines.append(f"inputs   {inputs:,}{shares}")
    lines += _predictions(rules)
    return "\n".join([*lines, f"seconds  {seconds:.2f}"])


def _counted(rules: RuleList) -> str:
    """Return how many rules there are, and of each class in a set."""
    if not rules.is_two_sided:
        return f"{len(rules):,}, otherwise {label_text(rules.default)}"
    numbers = [int((rules.answers == i).sum()) for i in range(len(rules.classes))]
    each = ", ".join(
        f"{label_text(label)} {n_rules:,}"
        for label, n_rules in zip(rules.classes, numbers, strict=True)
    )
    return f"{len(rules):,}, each holds by itself: {each}"


def _predictions(rules: Description) -> list[str]:
    """Return what is guaranteed about the predictions."""
    certificate, caveats = certificate_of(rules), rules.warnings()
    inputs = "possible input" if certificate.has_impossible else "input"
    facts = [f"equal to the network on every {inputs}"]
    is_approximate = certificate.is_approximate and rules.scope == "domain"
    if certificate.different or is_approximate:
        facts = [caveats.pop(0)]
        if certificate.rows_different is not None:
            wrong = count(certificate.rows_different, "row")
            facts = [f"{facts[0]},", f"and on {wrong} of the data"]
    elif rules.scope == "support":
        n_uncovered, n_rows = uncovered_rows(rules)
        rest = "every row is covered"
        if n_uncovered:
            rest = f"{n_uncovered:,} of {n_rows:,} rows are not covered by any rule"
        elif not n_rows:
            rest = "inputs that no rule covers are undecided"
        facts = [f"right wherever a rule applies; {rest}"]
        facts += [*_uncovered(rules), *filter(None, [coverage_of(rules)])]
    return [
        f"fidelity {facts[0]}",
        *(f"         {more}" for more in (*facts[1:], *caveats)),
    ]


def _uncovered(rules: Description) -> list[str]:
    """Return how many inputs no rule covers, if they were counted."""
    certificate, total = certificate_of(rules), rules.n_possible
    low, high = certificate.uncovered_at_least, certificate.uncovered_at_most
    low = certificate.uncovered if low is None else low
    high = certificate.uncovered if high is None else high
    if low is None or high is None:
        return []
    numbers = " to ".join(dict.fromkeys(f"{end:,}" for end in (low, high)))
    shares = " to ".join(dict.fromkeys(share(end, total) for end in (low, high)))
    return [f"{numbers} inputs ({shares}) are not covered by any rule"]
