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
from nn2rules.files import check_writable, load, read_bytes, save, size_text
from nn2rules.language import count
from nn2rules.models import LoadedModel, load_with_rows, with_rows_beside
from nn2rules.questions.audit import SECONDS, protected_names
from nn2rules.report import report as made_report
from nn2rules.rules import RuleList
from nn2rules.scorecards import Scorecard, lines_of


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
        Literal["set", "list", "scorecard"] | None,
        option(
            None,
            "Rules that each hold by themselves (the default), a list read from the "
            "top, or a scorecard.",
        ),
    ] = None,
    scope: Annotated[
        Literal["domain", "support"] | None,
        option(
            None,
            "Rules for every input (domain), or for the rows of --data (support); by "
            "default for the rows, if there are any. A scorecard is for every input.",
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
        option(
            "RULES.json",
            "Also write the rules or the scorecard.",
            FILES,
            "--save-rules",
        ),
    ] = None,
    network: Annotated[
        Path | None,
        option(
            "NETWORK.json",
            "Also write the network, for check.",
            FILES,
            "--save-network",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a self-contained HTML report about a model, with its rules or scorecard.

    MODEL may also be the file of a scorecard, which has its model in it.
    """
    read = (model, data, model_options.encoder)
    for place, rest in ((output, (rules, network)), (rules, (network,)), (network, ())):
        if place is not None:
            check_writable(place, keep=(*read, *rest))
    if protected and data is None:
        raise OptionError("--protected needs --data, the rows on which it is counted")
    card = _scorecard_in(model, form=form, scope=scope)
    model_input = model_options.given(data=data, labels=labels)
    loaded = (
        load_with_rows(model, model_input)
        if card is None
        else with_rows_beside(card.network, model_input)
    )
    if protected:  # before any work is done
        protected_names(protected, loaded.network, loaded.rows)
    if card is None and form != "scorecard":
        scope = scope or ("domain" if data is None else "support")
    seconds = limits.seconds
    if seconds is None and scope == "support":
        seconds = SECONDS
    warnings.simplefilter("ignore", OverfittingWarning)  # the page states it
    with working(limits) as progress, loaded.naming_lines():
        description = card or nn2rules.extract(
            loaded.network,
            data=loaded.rows,
            labels=loaded.labels,
            form=form or "set",
            scope=scope,
            time=seconds,
            n_jobs=limits.jobs,
            progress=progress,
        )
        sources = {
            "rules" if card else "model": model,
            "rows": data,
            **_saved(description, loaded, rules, network),
        }
        html = made_report(
            description,
            model=loaded.network if card is None else None,  # it has its own
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
    if isinstance(description, Scorecard):
        shown, facts = "a scorecard", {"lines": len(lines_of(description.domain))}
    else:
        shown = count(len(description), "rule")
        facts = {"rules": len(description)}
    if as_json:
        print(json.dumps({"report": str(output), "bytes": n_bytes, **facts}, indent=2))
    else:
        print(f"written to {output}: {shown}, {size_text(n_bytes)}")


def _scorecard_in(path: Path, **options: str | None) -> Scorecard | None:
    """Return the scorecard in a file, if there is one; it is described as it is."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return None
    found = load(path)
    if not isinstance(found, Scorecard):
        return None
    given = next((name for name, value in options.items() if value is not None), None)
    if given is not None:
        raise OptionError(f"--{given} is for a model; {path} is a scorecard already")
    return found


def _saved(
    description: RuleList | Scorecard,
    loaded: LoadedModel,
    rules: Path | None,
    network: Path | None,
) -> dict[str, Path | None]:
    """Write the files for check, if they are wanted."""
    places = {"rules": rules, "network": network}
    if rules is not None:
        save(description, rules)
    if network is not None:
        save(loaded.network, network)
    return {name: place for name, place in places.items() if place is not None}


def _named(path: Path) -> tuple[str, str]:
    """Return the name and the sha256 of a file; a folder or a device has none."""
    if not path.is_file():
        return path.name, "not a file"
    return path.name, hashlib.sha256(read_bytes(path)).hexdigest()
