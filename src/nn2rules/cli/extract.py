"""nn2rules extract: a model in, rules out."""

import time
from pathlib import Path
from typing import Annotated, Literal

import typer

import nn2rules
from nn2rules.cli.app import app, plain_errors, progress_bar, stderr
from nn2rules.cli.models import (
    ClassesOption,
    EncoderOption,
    ModelFile,
    NearestOption,
    OtherOption,
    Reading,
    ThresholdOption,
    TrustOption,
    ValuesOption,
    read,
)
from nn2rules.cli.paper_options import ApproximateOption, OrderOption, names_of
from nn2rules.errors import BudgetExceededError, OptionError
from nn2rules.formats import save
from nn2rules.formats.files import check_writable
from nn2rules.rules import RuleList
from nn2rules.text import count, label_text, share
from nn2rules.values import Value


@app.command()
@plain_errors
def extract(
    model: ModelFile,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="ROWS.csv",
            help="Rows as the model was trained on: what its features can be, and how "
            "many rows each rule decides.",
        ),
    ] = None,
    form: Annotated[
        Literal["list", "set", "paper"],
        typer.Option(
            help="A list is read from the top; the rules of a set hold in any order; "
            "the paper's fix the features in one order."
        ),
    ] = "list",
    engine: Annotated[
        Literal["auto", "table", "search", "paper"],
        typer.Option(
            help="How: from a table of all inputs, by search, or by the paper's own "
            "algorithm."
        ),
    ] = "auto",
    scope: Annotated[
        Literal["domain", "support"] | None,
        typer.Option(
            help="Rules for every input, or only those that decide a row of --data; by "
            "default every input, where there are not too many."
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column of --data that holds the true class."
        ),
    ] = None,
    class_name: Annotated[
        str | None,
        typer.Option(
            "--class", metavar="NAME", help="The class that a set has rules for."
        ),
    ] = None,
    max_rules: Annotated[
        int | None,
        typer.Option(min=0, help="Only so many rules, and the best default."),
    ] = None,
    fidelity: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="As many rules as are right on this share of inputs."
        ),
    ] = None,
    effort: Annotated[
        int, typer.Option(min=0, help="How hard to look for short lists.")
    ] = 1,
    seed: Annotated[
        int, typer.Option(min=0, help="Same options, same seed: the same rules.")
    ] = 0,
    values: ValuesOption = None,
    encoder: EncoderOption = None,
    classes: ClassesOption = None,
    threshold: ThresholdOption = None,
    other: OtherOption = False,
    nearest: NearestOption = False,
    trust: TrustOption = False,
    order: OrderOption = None,
    approximate: ApproximateOption = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=0, help="Stop after so many seconds.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Threads; -1 for one on each core.")
    ] = None,
    top: Annotated[
        int, typer.Option(min=0, help="Print so many rules at most; 0 prints all.")
    ] = 50,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="RULES.json", help="Write the rules as JSON."
        ),
    ] = None,
    network: Annotated[
        Path | None,
        typer.Option(
            metavar="NETWORK.json",
            help="Also write the network that was read: for check and neurons.",
        ),
    ] = None,
) -> None:
    """Extract the rules of a model and print them, or write them as JSON."""
    for path in (output, network):
        if path is not None:
            check_writable(path)
    how = Reading(
        data=data,
        target=target,
        encoder=encoder,
        values=tuple(values or ()),
        classes=classes,
        threshold=threshold,
        other=other,
        nearest=nearest,
        trust=trust,
    )
    found, rows, labels = read(model, how)
    if network is not None:
        save(found, network)
    started = time.perf_counter()
    try:
        with progress_bar() as progress:
            rules = nn2rules.extract(
                found,
                data=rows,
                labels=labels,
                form=form,
                engine=engine,
                scope=scope,
                target=_class(class_name, found),
                max_rules=max_rules,
                fidelity=fidelity,
                effort=effort,
                seed=seed,
                order=names_of(order),
                approximate=approximate,
                budget=nn2rules.Budget(seconds=max_seconds),
                n_jobs=jobs,
                progress=progress,
            )
    except (BudgetExceededError, KeyboardInterrupt) as stopped:
        partial = getattr(stopped, "rules", None)
        if partial is not None:
            if output is not None:  # not where a whole list is expected
                output = output.with_suffix(f".partial{output.suffix}")
            _show(partial, top, output)
            stderr.print(
                f"stopped early: these {count(len(partial), 'rule')} are proved, and "
                f"what they do not decide is not known yet"
            )
        raise
    seconds = time.perf_counter() - started
    _show(rules, top, output)
    if output is not None:
        print(_summary(rules, seconds))


def _class(name: str | None, model: nn2rules.Network) -> Value:
    """Return the class that a name on the command line spells."""
    if name is None:
        return None
    for label in model.classes:
        if str(label) == name:
            return label
    known = ", ".join(str(label) for label in model.classes)
    raise OptionError(f"--class: there is no class {name!r}; the classes are {known}")


def _show(rules: RuleList, top: int, output: Path | None) -> None:
    """Print rules, or write them to a file."""
    if output is None:
        print(rules.text(top or None))
    else:
        save(rules, output)
        print(f"written to {output}")


def _summary(rules: RuleList, seconds: float) -> str:
    """Say what was extracted: rules, inputs, class shares, seconds."""
    certificate = rules.certificate
    inputs = certificate.get("possible", certificate["inputs"])
    counts = certificate.get("class_inputs")
    shares = ""
    if counts is not None:
        shares = ": " + ", ".join(
            f"{label_text(label)} {part:,} ({share(part, inputs)})"
            for label, part in zip(rules.classes, counts, strict=True)
        )
    answers = "equal to the network on every input"
    if rules.warnings():
        answers = rules.warnings()[0]
        if "rows_different" in certificate:
            wrong = count(certificate["rows_different"], "given row")
            answers += f",\n         and on {wrong}"
    elif rules.scope == "support":
        n_rows, n_decided = certificate.get("rows"), certificate.get("rows_decided")
        answers = "right wherever a rule decides; "
        if n_rows is None:
            answers += "what none decides is not proved"
        elif n_rows == n_decided:
            answers += "every given row is decided"
        else:
            answers += f"{n_decided:,} of {n_rows:,} given rows are decided"
        left = certificate.get("undecided")
        if left is not None:
            answers += (
                f"\n         {left:,} inputs ({share(left, inputs)}) are left to "
            )
            answers += "the default, which is not proved"
    lines = [
        f"rules    {len(rules):,}, otherwise {label_text(rules.default)}",
        f"inputs   {inputs:,}{shares}",
        f"answers  {answers}",
        f"seconds  {seconds:.2f}",
    ]
    if certificate.get("rows_moved"):
        moved = count(certificate["rows_moved"], "given row")
        lines.insert(
            3,
            f"         {moved} hold numbers that are no values; the rules answer as "
            f"the network\n"
            f"         answers the nearest values, not the rows as they are",
        )
    if "fewest_rules" in certificate:
        fewest = count(certificate["fewest_rules"], "rule")
        lines.insert(1, f"         no such set has fewer than {fewest}")
    return "\n".join(lines)
