"""nn2rules report: a model in one self-contained HTML file."""

import hashlib
import json
import warnings
from pathlib import Path
from typing import Annotated, Literal

import nn2rules
from nn2rules.cli.app import command, working
from nn2rules.cli.options import (
    FILES,
    Help,
    JsonOption,
    LabelsOption,
    Limits,
    ModelFile,
    ModelOptions,
    flag,
    option,
)
from nn2rules.errors import OptionError, OverfittingWarning
from nn2rules.files import check_writable, read_bytes, save, size_text
from nn2rules.language import count
from nn2rules.models import LoadedModel, load_with_rows
from nn2rules.questions.audit import SECONDS, protected_names
from nn2rules.report import report as made_report
from nn2rules.rules import RuleList


@command("report model.onnx --data train.csv --labels y -o report.html")
def report(
    model: ModelFile,
    model_options: ModelOptions,
    limits: Annotated[
        Limits,
        Help(
            seconds="Stop after this many seconds for the rules, and as long again for "
            "the audit; by default 60 each, and no limit for the rules of --scope "
            "domain."
        ),
    ],
    *,
    data: Annotated[
        Path | None,
        option(
            "ROWS",
            "Rows like those the model was trained on; everything is counted on them.",
            FILES,
        ),
    ] = None,
    labels: LabelsOption = None,
    output: Annotated[
        Path,
        option("REPORT.html", "Where to write the report.", FILES, "-o", "--output"),
    ] = Path("report.html"),
    protected: Annotated[
        list[str] | None,
        option(
            "NAME",
            "Protected attribute to audit: a model feature or any other column of "
            "--data. May be repeated.",
        ),
    ] = None,
    title: Annotated[
        str, option("TEXT", "The title; by default made from the classes.")
    ] = "",
    form: Annotated[
        Literal["set", "list"],
        option(
            None, "Rules that each hold by themselves, or a list read from the top."
        ),
    ] = "set",
    scope: Annotated[
        Literal["domain", "support"] | None,
        option(
            None,
            "Rules for every input (domain), or for the rows of --data (support); by "
            "default for the rows, if there are any.",
        ),
    ] = None,
    no_rows: Annotated[
        bool,
        flag(
            "--no-rows", "Keep rows of --data out of the file; counts are still shown."
        ),
    ] = False,
    rules: Annotated[
        Path | None,
        option("RULES.json", "Also write the rules, for check.", FILES),
    ] = None,
    network: Annotated[
        Path | None,
        option("NETWORK.json", "Also write the network, for check.", FILES),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a self-contained HTML report about a model."""
    read = (model, data, model_options.encoder)
    for place, rest in ((output, (rules, network)), (rules, (network,)), (network, ())):
        if place is not None:
            check_writable(place, keep=(*read, *rest))
    if protected and data is None:
        raise OptionError("--protected needs --data, the rows on which it is counted")
    loaded = load_with_rows(model, model_options.given(data=data, labels=labels))
    if protected:  # before any work is done
        protected_names(protected, loaded.network, loaded.rows)
    scope = scope or ("domain" if data is None else "support")
    seconds = limits.seconds
    if seconds is None and scope == "support":
        seconds = SECONDS
    warnings.simplefilter("ignore", OverfittingWarning)  # the page states it
    with working(limits) as progress, loaded.naming_lines():
        rule_list = nn2rules.extract(
            loaded.network,
            data=loaded.rows,
            labels=loaded.labels,
            form=form,
            scope=scope,
            time=seconds,
            n_jobs=limits.jobs,
            progress=progress,
        )
        sources = {
            "model": model,
            "rows": data,
            **_saved(rule_list, loaded, rules, network),
        }
        html = made_report(
            rule_list,
            model=loaded.network,
            data=loaded.rows,
            labels=loaded.labels,
            protected=protected or (),
            title=title,
            rows=not no_rows,
            time=seconds,
            n_jobs=limits.jobs,
            files={
                name: _named(path) for name, path in sources.items() if path is not None
            },
            progress=progress,
        )
    html.save(output)
    n_bytes = len(html.html.encode())
    if as_json:
        facts = {"report": str(output), "bytes": n_bytes, "rules": len(rule_list)}
        print(json.dumps(facts, indent=2))
    else:
        size = size_text(n_bytes)
        print(f"written to {output}: {count(len(rule_list), 'rule')}, {size}")


def _saved(
    rule_list: RuleList, loaded: LoadedModel, rules: Path | None, network: Path | None
) -> dict[str, Path | None]:
    """Write the files for check, if they are wanted."""
    if rules is not None:
        save(rule_list, rules)
    if network is not None:
        save(loaded.network, network)
    return {"rules": rules, "network": network}


def _named(path: Path) -> tuple[str, str]:
    """Return the name and the sha256 of a file; a folder or a device has none."""
    if not path.is_file():
        return path.name, "not a file"
    return path.name, hashlib.sha256(read_bytes(path)).hexdigest()
