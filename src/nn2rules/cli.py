"""The command line: parsing and printing, nothing else.

Exit codes: 0 done, 2 bad input, 3 a limit was exceeded, 130 interrupted.
"""

import csv
import io
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

import nn2rules
from nn2rules.certificate import network_digest
from nn2rules.errors import BudgetExceededError, Nn2RulesError, OptionError
from nn2rules.extraction import is_compiled
from nn2rules.formats import load_network, load_rules, save
from nn2rules.formats.files import check_writable, write_text
from nn2rules.formats.table import Table, read_table, table_text
from nn2rules.matching import NO_RULE
from nn2rules.rules import OUTSIDE, RuleList
from nn2rules.text import count, label_text, share, unused
from nn2rules.values import Value

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
stderr = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)

NetworkFile = Annotated[
    Path, typer.Argument(metavar="NETWORK.json", help="A network file.")
]
OrderOption = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="A,B,C",
        help="All features in the order in which rules fix them; by default that of "
        "the paper's authors.",
    ),
]
ApproximateOption = Annotated[
    str | None,
    typer.Option(
        "--approximate",
        metavar="soft-binary",
        help="Treat sigmoid units as 0 or 1, as the paper does. No longer exact: the "
        "output says on how many inputs it differs from the network.",
    ),
]

Command = TypeVar("Command", bound=Callable[..., None])


def plain_errors(command: Command) -> Command:
    """Turn the errors of a command into one sentence and an exit code."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except Nn2RulesError as error:
            stderr.print(f"error: {error}")
            code = 3 if isinstance(error, BudgetExceededError) else 2
            raise typer.Exit(code) from None
        except KeyboardInterrupt:
            stderr.print("interrupted")
            raise typer.Exit(130) from None
        except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
            _drop_output()
            raise typer.Exit(0) from None
        except OSError as error:
            _drop_output()
            stderr.print(f"error: the output cannot be written: {error.strerror}")
            raise typer.Exit(2) from None

    return wrapped  # type: ignore[return-value]


def _drop_output() -> None:
    """Send what is left of the output nowhere, so that closing it cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float], None]]:
    """Show how far the work is, on a terminal only."""
    if not is_compiled():
        stderr.print("compiling, once on this machine; this takes half a minute")
    if not stderr.is_terminal:
        yield lambda _what, _share: None
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=stderr,
        transient=True,
    ) as bar:
        task = bar.add_task("working", total=1.0)
        yield lambda what, share: bar.update(task, description=what, completed=share)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = (
        False
    ),
) -> None:
    """Turn a trained neural network into rules that answer the same on every input."""
    if version:
        print(f"nn2rules {nn2rules.__version__}")
        raise typer.Exit


@app.command()
@plain_errors
def extract(
    network: NetworkFile,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="ROWS.csv",
            help="Rows to count support on; rules come in descending order of it.",
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
        Literal["domain", "support"],
        typer.Option(
            help="Rules for every input, or only those that decide a row of --data."
        ),
    ] = "domain",
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
) -> None:
    """Extract the rules of a network and print them, or write them as JSON."""
    if output is not None:
        check_writable(output)
    model = load_network(network)
    rows, labels = _rows(data, target, model)
    started = time.perf_counter()
    try:
        with progress_bar() as progress:
            rules = nn2rules.extract(
                model,
                data=rows,
                labels=labels,
                form=form,
                engine=engine,
                scope=scope,
                target=_class(class_name, model),
                max_rules=max_rules,
                fidelity=fidelity,
                effort=effort,
                seed=seed,
                order=_names(order),
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


def _rows(
    data: Path | None, target: str | None, model: nn2rules.Network
) -> tuple[list[dict[str, str]] | None, list[str] | None]:
    """Read the rows of a CSV file, and their labels if a column is named."""
    if data is None:
        if target is not None:
            raise OptionError("--target names a column of --data; give that, too")
        return None, None
    table = read_table(data)
    table.check(model.domain)
    if target is None:
        return table.rows, None
    if target not in table.header:
        raise OptionError(
            f"{data}: there is no column {target!r}; the columns are "
            f"{', '.join(table.header)}"
        )
    return table.rows, [row[target] for row in table.rows]


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


def _names(order: str | None) -> list[str] | None:
    """Split a list of names at its commas; a name with a comma stands in quotes."""
    if order is None:
        return None
    try:
        return next(csv.reader([order], skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        raise OptionError(f"--order: not a list of names: {error}") from None


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
        if n_rows == n_decided:
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
    if "fewest_rules" in certificate:
        fewest = count(certificate["fewest_rules"], "rule")
        lines.insert(1, f"         no such set has fewer than {fewest}")
    return "\n".join(lines)


@app.command()
@plain_errors
def predict(
    rules: Annotated[Path, typer.Argument(metavar="RULES.json", help="A rules file.")],
    rows: Annotated[
        Path, typer.Argument(metavar="ROWS.csv", help="Rows with a header line.")
    ],
    unknown: Annotated[
        Literal["error", "default", "none"],
        typer.Option(
            help="A row with a value that the rules do not know: stop, answer with the "
            "default class, or leave the answer empty."
        ),
    ] = "error",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="ANSWERS.csv", help="Write to a file."),
    ] = None,
) -> None:
    """Answer rows: prints them with two more columns, the class and the rule.

    Rules are numbered as `nn2rules extract` prints them, from 1.
    """
    if output is not None:
        check_writable(output)
    loaded = load_rules(rules)
    table = read_table(rows)
    text = _answers(loaded, table, unknown)
    if output is None:
        print(text, end="")
    else:
        write_text(output, text)
        print(f"{count(len(table.rows), 'row')} written to {output}")


def _answers(
    rules: RuleList, table: Table, unknown: Literal["error", "default", "none"]
) -> str:
    table.check(rules.domain, values=unknown == "error")
    fired = rules.apply(table.rows, unknown=unknown).tolist()
    answers = {index: str(rule.then) for index, rule in enumerate(rules.rules)}
    answers |= {NO_RULE: str(rules.default), OUTSIDE: ""}
    names = {NO_RULE: "default", OUTSIDE: ""}
    lines = [
        [*row.values(), answers[index], names.get(index, str(index + 1))]
        for row, index in zip(table.rows, fired, strict=True)
    ]
    added = [unused(name, table.header) for name in ("prediction", "rule")]
    return table_text([*table.header, *added], lines)


@app.command()
@plain_errors
def check(
    network: NetworkFile,
    rules: Annotated[Path, typer.Argument(metavar="RULES.json", help="A rules file.")],
    data: Annotated[
        Path | None,
        typer.Option(metavar="ROWS.csv", help="Rows on which they must agree, too."),
    ] = None,
    samples: Annotated[
        int, typer.Option(min=1, help="Inputs to draw where not all can be tried.")
    ] = 100_000,
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
) -> None:
    """Check rules against a network with separate, simple code; exit 1 if they differ.

    Tries every input where the domain is small enough, and says so if it is not.
    """
    model, loaded = load_network(network), load_rules(rules)
    rows, _ = _rows(data, None, model)
    recorded = loaded.certificate.get("network")
    if recorded not in (None, network_digest(model)):
        stderr.print("note: these rules were extracted from another network")
    report = nn2rules.check(model, loaded, rows=rows, samples=samples, seed=seed)
    print(report)
    if not report.ok:
        raise typer.Exit(1)


@app.command()
@plain_errors
def neurons(
    network: NetworkFile,
    layer: Annotated[
        int | None, typer.Option(min=0, help="Only this layer, counted from 0.")
    ] = None,
    neuron: Annotated[
        int | None, typer.Option(min=0, help="Only this neuron, counted from 0.")
    ] = None,
    order: OrderOption = None,
    approximate: ApproximateOption = None,
    top: Annotated[
        int, typer.Option(min=0, help="Print so many rules a neuron; 0 prints all.")
    ] = 10,
) -> None:
    """Print what every neuron does: where it is active, and what it then computes."""
    model = load_network(network)
    layers = nn2rules.paper.neurons(model, order=_names(order), approximate=approximate)
    shown = [
        unit
        for units in layers
        for unit in units
        if layer in (None, unit.layer) and neuron in (None, unit.unit)
    ]
    if not shown:
        sizes = ", ".join(str(len(units)) for units in layers)
        raise OptionError(
            f"there is no such neuron; the layers, from 0, have {sizes} neurons"
        )
    print("\n\n".join(unit.text(top or None) for unit in shown))


@app.command()
@plain_errors
def demo() -> None:
    """Show what nn2rules does, on a small network that judges cars."""
    cars = nn2rules.datasets.load("car")
    path = nn2rules.datasets.network_file("car")
    network = load_network(path)
    print(
        "A network with two hidden layers of 6 and 3 ReLU units was trained to say "
        "whether\na car is acceptable, from six features "
        f"({cars.title}).\n"
    )
    for feature in network.domain.features:
        values = ", ".join(label_text(value) for value in feature.values)
        print(f"  {feature.name:9} {values}")
    started = time.perf_counter()
    paper = nn2rules.extract(network, data=cars.train.rows, engine="paper")
    seconds = time.perf_counter() - started
    print(
        f"\nThe method of the paper NN2Rules finds its rules in {seconds:.1f} s. Those "
        f"that decide\nmost of {len(cars.train):,} cars come first:\n"
    )
    print(paper.text(5))
    rules = load_rules(path.with_name("car-rules.json"))
    print(f"\nnn2rules says the same in {len(rules)} rules:\n")
    print(rules)
    print(
        f"\nChecked just now, one input after the other:\n\n"
        f"{nn2rules.check(network, rules)}"
    )
    print(
        f"\nExtract them yourself; the first time, this compiles for half a minute:"
        f"\n\n  nn2rules extract {path}"
    )


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without ≤ shows \u2264
            stream.reconfigure(errors="backslashreplace")
    app()
