"""nn2rules report: all there is to know of a model, in one HTML file."""

import hashlib
import warnings
from pathlib import Path
from typing import Annotated, Literal

import typer

import nn2rules
from nn2rules.cli.app import command, working
from nn2rules.cli.options import Help, Limits, ModelFile, ModelOptions
from nn2rules.errors import OptionError, OverfittingWarning
from nn2rules.files import check_writable, read_bytes, save, size_text
from nn2rules.language import count
from nn2rules.models import Loaded, load
from nn2rules.questions.audit import SECONDS, protected_names
from nn2rules.report import Report
from nn2rules.report import report as made_report
from nn2rules.rules import RuleList


@command("report model.onnx --data train.csv --labels y -o report.html")
def report(
    model: ModelFile,
    how: ModelOptions,
    limits: Annotated[
        Limits,
        Help(
            seconds="For the rules, and as long again for the audit; by default 60 "
            "each, and no limit for the rules of --scope domain."
        ),
    ],
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="ROWS",
            help="Rows as the model was trained on; everything is counted on them.",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column of --data that holds the true classes."
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="REPORT.html", help="Where to write."),
    ] = Path("report.html"),
    protected: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A protected feature, or a column that the model does not see: whom "
            "does it turn? May be repeated.",
        ),
    ] = None,
    title: Annotated[
        str, typer.Option(help="The title; by default the question of the model.")
    ] = "",
    form: Annotated[
        Literal["set", "list"],
        typer.Option(help="Rules that are each true on their own, or a list."),
    ] = "set",
    scope: Annotated[
        Literal["domain", "support"] | None,
        typer.Option(
            help="Rules for every input, or for the rows of --data; by default for "
            "the rows, if there are any."
        ),
    ] = None,
    no_rows: Annotated[
        bool,
        typer.Option(
            "--no-rows", help="Put no row of --data into the file; counts stay."
        ),
    ] = False,
    rules: Annotated[
        Path | None,
        typer.Option(metavar="RULES.json", help="Also write the rules: for check."),
    ] = None,
    network: Annotated[
        Path | None,
        typer.Option(metavar="NETWORK.json", help="Also write the network: for check."),
    ] = None,
) -> None:
    """Put all there is to know of a model into one HTML file, to read and to mail.

    For example: nn2rules report model.onnx --data train.csv --labels y -o report.html
    """
    read = (model, data, how.encoder)
    for place, rest in ((output, (rules, network)), (rules, (network,)), (network, ())):
        if place is not None:
            check_writable(place, keep=(*read, *rest))
    if protected and data is None:
        raise OptionError("--protected is counted on rows; give --data, too")
    given = how.given(data=data, labels=labels)
    loaded = load(model, given)
    if protected:  # before any work is done
        protected_names(protected, loaded.network, loaded.rows)
    scope = scope or ("domain" if data is None else "support")
    seconds = limits.seconds
    if seconds is None and scope == "support":
        seconds = SECONDS
    warnings.simplefilter("ignore", OverfittingWarning)  # the page says it
    with working(limits) as progress, loaded.naming_lines():
        found = nn2rules.extract(
            loaded.network,
            data=loaded.rows,
            labels=loaded.labels,
            form=form,
            scope=scope,
            time=seconds,
            n_jobs=limits.jobs,
            progress=progress,
        )
        written = {
            "model": model,
            "rows": data,
            **_saved(found, loaded, rules, network),
        }
        made = made_report(
            found,
            model=loaded.network,
            data=loaded.rows,
            labels=loaded.labels,
            protected=protected or (),
            title=title,
            rows=not no_rows,
            time=seconds,
            n_jobs=limits.jobs,
            files={w: _named(path) for w, path in written.items() if path is not None},
            progress=progress,
        )
    made.save(output)
    print(_said(made, found, output))


def _saved(
    found: RuleList, loaded: Loaded, rules: Path | None, network: Path | None
) -> dict[str, Path | None]:
    """Write the files that check reads, where that was asked for."""
    if rules is not None:
        save(found, rules)
    if network is not None:
        save(loaded.network, network)
    return {"rules": rules, "network": network}


def _named(path: Path) -> tuple[str, str]:
    """Return the name and the sha256 of a file; a folder or a device has none."""
    if not path.is_file():
        return path.name, "not a file"
    return path.name, hashlib.sha256(read_bytes(path)).hexdigest()


def _said(made: Report, rules: RuleList, output: Path) -> str:
    size = size_text(len(made.html.encode()))
    return f"written to {output}: {count(len(rules), 'rule')}, {size}"
