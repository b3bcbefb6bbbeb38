"""nn2rules extract: a model in, rules or a scorecard out."""

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import nn2rules
from nn2rules.cli.app import command, stderr, working
from nn2rules.cli.options import (
    FILES,
    RULES,
    SCALE,
    SHOWING,
    WORK,
    ApproximateOption,
    Help,
    Limits,
    ModelFile,
    ModelOptions,
    OrderOption,
    names_of,
)
from nn2rules.cli.output import Shown, check_places, partial_place, show
from nn2rules.errors import (
    BudgetExceededError,
    Nn2RulesError,
    OptionError,
    OverfittingWarning,
)
from nn2rules.files import check_writable, read_table, save
from nn2rules.language import count, label_text, share
from nn2rules.models import Given, Loaded, class_named, load, takes_curves
from nn2rules.rules import Description, RuleList, certificate_of, coverage_of
from nn2rules.scorecards import Scorecard, lines_of
from nn2rules.space import did_you_mean


@command("extract model.onnx --data train.csv --labels y -o rules.json")
def extract(
    model: ModelFile,
    how: ModelOptions,
    limits: Annotated[
        Limits,
        Help(
            seconds="Stop after so many seconds, with the rules that are proved by "
            "then."
        ),
    ],
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="ROWS",
            help="Rows as the model was trained on: what its features can be, and how "
            "many rows each rule decides.",
            rich_help_panel=FILES,
        ),
    ] = None,
    form: Annotated[
        Literal["list", "set", "paper", "rules", "scorecard"] | None,
        typer.Option(
            help="A scorecard has points for each value, and is the default for a "
            "model without hidden layer. A list of rules is read from the top; the "
            "rules of a set are for every class, each true on its own; the paper's fix "
            "the features in one order. By default (rules) a set for rows, and a list "
            "for every input.",
            rich_help_panel=RULES,
        ),
    ] = None,
    engine: Annotated[
        Literal["auto", "table", "search", "paper"],
        typer.Option(
            help="How: from a table of all inputs, by search, or by the paper's own "
            "algorithm.",
            rich_help_panel=WORK,
        ),
    ] = "auto",
    scope: Annotated[
        Literal["domain", "support"] | None,
        typer.Option(
            help="Rules for every input, or only those that decide a row of --data; by "
            "default every input, where there are not too many.",
            rich_help_panel=RULES,
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of --data that holds the true classes.",
            rich_help_panel=FILES,
        ),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(
            metavar="ROWS.csv",
            help="Rows that rules are not made for: how many of them are covered. By "
            "default a tenth of --data is held out for that, and then covered, too.",
            rich_help_panel=FILES,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="The only class that a set has rules for.",
            rich_help_panel=RULES,
        ),
    ] = None,
    max_rules: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Only so many rules, and the best default.",
            rich_help_panel=RULES,
        ),
    ] = None,
    fidelity: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="As many rules as are right on this share of inputs.",
            rich_help_panel=RULES,
        ),
    ] = None,
    effort: Annotated[
        int,
        typer.Option(
            min=0, help="How hard to look for short lists.", rich_help_panel=WORK
        ),
    ] = 1,
    seed: Annotated[
        int,
        typer.Option(
            min=0, help="Same options, same seed: the same rules.", rich_help_panel=WORK
        ),
    ] = 0,
    order: OrderOption = None,
    approximate: ApproximateOption = None,
    max_regions: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Of a deep or wide network: how many linear regions a scorecard may "
            "have, by default 256.",
            rich_help_panel=SCALE,
        ),
    ] = None,
    points_to_double_odds: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS",
            help="This many points more double the odds of the second class.",
            rich_help_panel=SCALE,
        ),
    ] = None,
    odds: Annotated[
        float | None,
        typer.Option(
            metavar="ODDS",
            help="The odds that --base-score stands for, such as 50 for 50 : 1.",
            rich_help_panel=SCALE,
        ),
    ] = None,
    base_score: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS",
            help="The total that stands for --odds.",
            rich_help_panel=SCALE,
        ),
    ] = None,
    minimum: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS",
            help="The smallest total, such as 300.",
            rich_help_panel=SCALE,
        ),
    ] = None,
    maximum: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS",
            help="The largest total, such as 850.",
            rich_help_panel=SCALE,
        ),
    ] = None,
    higher: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="The class that more points make more likely; by default the second.",
            rich_help_panel=SCALE,
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Print the first so many rules, in a set of each class; by default "
            "those that decide most.",
            rich_help_panel=SHOWING,
        ),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--all", help="Print all rules.", rich_help_panel=SHOWING)
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="Also print the share of inputs that each rule decides, and the "
            "network's probabilities there.",
            rich_help_panel=SHOWING,
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="RULES.json",
            help="Write the rules as JSON.",
            rich_help_panel=FILES,
        ),
    ] = None,
    network: Annotated[
        Path | None,
        typer.Option(
            metavar="NETWORK.json",
            help="Also write the network that was read: for check and neurons.",
            rich_help_panel=FILES,
        ),
    ] = None,
    proofs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write a proof of each rule, for check --proofs.",
            rich_help_panel=FILES,
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where a long search writes what is proved so far, to go on from with "
            "--resume; it is removed once the rules are written (-o).",
            rich_help_panel=WORK,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from the checkpoint, if it is there.",
            rich_help_panel=WORK,
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the rules as JSON.", rich_help_panel=SHOWING
        ),
    ] = False,
) -> None:
    """Extract rules or a scorecard, and print them or write them as JSON."""
    check_places(output, network, (model, data, test, how.encoder))
    shown = Shown("all" if whole else "most" if top is None else top, verbose, as_json)
    if proofs is not None:
        check_writable(proofs, keep=(model, data, test, how.encoder, output, network))
    if checkpoint is not None:
        kept = (model, data, test, how.encoder, output, network, proofs)
        check_writable(checkpoint, keep=kept)
    given = how.given(
        data=data,
        labels=labels,
        test=test,
        is_curved=takes_curves(form, engine, proofs),
    )
    found = _loaded(model, given, target)
    if network is not None:
        save(found.network, network)
    if output is None:  # the page that is printed says it
        warnings.simplefilter("ignore", OverfittingWarning)
    started = time.perf_counter()
    try:
        with (
            working(limits) as progress,
            found.naming_lines(),
        ):
            rules = nn2rules.extract(
                found.network,
                data=found.rows,
                labels=found.labels,
                test=found.test,
                form=form,
                engine=engine,
                scope=scope,
                target=None if target is None else class_named(target, found.network),
                max_rules=max_rules,
                fidelity=fidelity,
                max_regions=max_regions,
                effort=effort,
                seed=seed,
                order=names_of(order),
                approximate=approximate,
                time=limits.seconds,
                n_jobs=limits.jobs,
                progress=progress,
                proofs=proofs,
                checkpoint=checkpoint,
                resume=resume,
            )
    except (BudgetExceededError, KeyboardInterrupt) as stopped:
        partial = getattr(stopped, "rules", None)
        if partial is not None:
            show(partial, shown, partial_place(output))
            stderr.print(_stopped(partial))
        if checkpoint is not None and checkpoint.exists():
            stderr.print(f"the same command with --resume goes on from {checkpoint}")
        raise
    scale = {
        "points_to_double_odds": points_to_double_odds,
        "odds": odds,
        "base_score": base_score,
        "minimum": minimum,
        "maximum": maximum,
    }
    rules = _scaled(rules, scale, higher, found)
    spent = time.perf_counter() - started
    show(rules, shown, output)
    if output is not None:
        print(summary(rules, spent))
        if checkpoint is not None and certificate_of(rules).is_complete:
            checkpoint.unlink(missing_ok=True)
            left_behind = partial_place(output) if resume else None
            if left_behind is not None:  # by the run that was stopped
                left_behind.unlink(missing_ok=True)
    _tell_scope(rules, is_chosen=scope is not None, is_summed_up=output is not None)


def _scaled(
    rules: Description, scale: Mapping[str, Any], higher: str | None, of: Loaded
) -> Description:
    """Return a scorecard on the scale that is asked for; rules have none."""
    given = [name for name, number in scale.items() if number is not None]
    given += ["higher"] * (higher is not None)
    if not given:
        return rules
    if not isinstance(rules, Scorecard):
        option = given[0].replace("_", "-")
        raise OptionError(f"--{option} is for a scorecard: --form scorecard")
    label = None if higher is None else class_named(higher, of.network)
    if higher is not None and label is None:
        known = ", ".join(str(label) for label in of.network.classes)
        raise OptionError(
            f"--higher: there is no class {higher!r}; the classes are {known}"
        )
    return rules.scaled(**scale, higher=label, rows=of.rows)


def _loaded(model: Path, given: Given, target: str | None) -> Loaded:
    """Read the files, and refuse a target that is no class of the model."""
    try:
        found = load(model, given)
    except Nn2RulesError:
        if given.data is not None and given.labels is None and target is not None:
            _refuse_column(given.data, target)
        raise
    if target is not None and class_named(target, found.network) is None:
        known = ", ".join(str(label) for label in found.network.classes)
        raise OptionError(
            f"--target: there is no class {target!r}; the classes are {known}; the "
            f"column with the true classes is given by --labels"
            f"{did_you_mean(target, found.network.classes)}"
        )
    return found


def _refuse_column(data: Path, target: str) -> None:
    """Say what is wrong if a target is a column, which then was read as a feature."""
    if target in read_table(data).header:
        raise OptionError(
            f"--target names a class, and {target!r} is a column of {data}; the column "
            f"with the true classes is given by --labels"
        )


def _tell_scope(rules: Description, *, is_chosen: bool, is_summed_up: bool) -> None:
    """Say which scope one got, and what is open, where nobody asked for that."""
    if rules.scope != "support":
        return
    if not is_chosen:
        if rules.domain.has_ranges:
            reason = "the domain has ranges of numbers, too much to have rules for all"
        else:
            inputs = f"{rules.domain.n_inputs:,} inputs"
            reason = f"the domain has {inputs}, too many to have rules for all of them"
        stderr.print(
            f"note: {reason} by default, so these are for the rows of --data "
            f"(--scope support): they are right wherever they decide, and what they do "
            f"not decide is open; --scope domain asks for all inputs"
        )
    n_open, n_rows = open_rows(rules)
    if n_open and not is_summed_up:
        stderr.print(f"note: {n_open:,} of {n_rows:,} rows are not decided by any rule")


def _stopped(rules: RuleList) -> str:
    """Say what rules are worth that were kept when the work was stopped."""
    proved = f"stopped early: these {count(len(rules), 'rule')} are proved"
    if certificate_of(rules).is_complete:
        return f"{proved}, and complete; fewer might have been found"
    if rules.domain.has_ranges:
        volume = f"{rules.volume} of the volume, numbers evenly spread"
        return f"{proved}, and decide {volume}; the rest is not known yet"
    return f"{proved}, and what they do not decide is not known yet"


def open_rows(rules: Description) -> tuple[int, int]:
    """Return how many of the given rows no rule decides, and how many there are."""
    known = certificate_of(rules)
    rows, decided = known.rows or 0, known.rows_covered
    return 0 if decided is None else max(rows - decided, 0), rows


def summary(rules: Description, seconds: float) -> str:
    """Say what was extracted: rules, inputs, class shares, seconds."""
    if isinstance(rules, Scorecard):
        lines = [f"lines    {len(lines_of(rules.domain)):,}", *_answers(rules)]
        return "\n".join([*lines, f"seconds  {seconds:.2f}"])
    assert isinstance(rules, RuleList), "a description is one of the two"
    known, inputs = certificate_of(rules), rules.n_possible
    counts = known.class_inputs
    shares = ""
    if counts is not None:
        shares = ": " + ", ".join(
            f"{label_text(label)} {part:,} ({share(part, inputs)})"
            for label, part in zip(rules.classes, counts, strict=True)
        )
    lines = [f"rules    {_counted(rules)}"]
    if known.fewest_rules is not None:
        fewest = count(known.fewest_rules, "rule")
        lines.append(f"         no such set has fewer than {fewest}")
    if rules.domain.has_ranges:
        lines.append(
            f"volume   {rules.volume} decided by a rule, numbers evenly spread"
        )
    else:
        lines.append(f"inputs   {inputs:,}{shares}")
    lines += _answers(rules)
    return "\n".join([*lines, f"seconds  {seconds:.2f}"])


def _counted(rules: RuleList) -> str:
    """Say how many rules there are, of each class where each has its own."""
    if not rules.is_two_sided:
        return f"{len(rules):,}, otherwise {label_text(rules.default)}"
    numbers = [int((rules.answers == i).sum()) for i in range(len(rules.classes))]
    each = ", ".join(
        f"{label_text(label)} {number:,}"
        for label, number in zip(rules.classes, numbers, strict=True)
    )
    return f"{len(rules):,}, each true on its own: {each}"


def _answers(rules: Description) -> list[str]:
    """Say what is guaranteed of the answers."""
    known, warned = certificate_of(rules), rules.warnings()
    said = ["equal to the network on every input"]
    if known.different or (known.is_approximate and rules.scope == "domain"):
        said = [warned.pop(0)]
        if known.rows_different is not None:
            wrong = count(known.rows_different, "given row")
            said = [f"{said[0]},", f"and on {wrong}"]
    elif rules.scope == "support":
        n_open, n_rows = open_rows(rules)
        rest = "every given row is decided"
        if n_open:
            rest = f"{n_open:,} of {n_rows:,} given rows are not decided by any rule"
        elif not n_rows:
            rest = "what none decides is not proved"
        said = [f"right wherever a rule decides; {rest}"]
        said += [*_left(rules), *filter(None, [coverage_of(rules)])]
    return [
        f"answers  {said[0]}",
        *(f"         {more}" for more in (*said[1:], *warned)),
    ]


def _left(rules: Description) -> list[str]:
    """Say how many inputs are left to the default, where they were counted."""
    known, total = certificate_of(rules), rules.n_possible
    least, most = known.uncovered_at_least, known.uncovered_at_most
    least = known.uncovered if least is None else least
    most = known.uncovered if most is None else most
    if least is None or most is None:
        return []
    numbers = " to ".join(dict.fromkeys(f"{end:,}" for end in (least, most)))
    shares = " to ".join(dict.fromkeys(share(end, total) for end in (least, most)))
    return [f"{numbers} inputs ({shares}) are left to the default, which is not proved"]
