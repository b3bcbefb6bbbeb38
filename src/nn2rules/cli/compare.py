"""nn2rules compare: where two models, or a model and rules, predict differently."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import nn2rules
from nn2rules.cli.app import command, working
from nn2rules.cli.options import (
    FILES,
    OUTPUT,
    EffortOption,
    Help,
    JsonOption,
    Limits,
    ModelOptions,
    SeedOption,
    flag,
    option,
)
from nn2rules.cli.output import width
from nn2rules.files import is_table, read_table
from nn2rules.models import ModelInput, load_with_rows, refuse_for_network
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.scorecards import Scorecard
from nn2rules.space import Domain
from nn2rules.summaries import Summary

_FILE = "A network or rules (.json, .csv, .xlsx), or a model as for extract."


@command("compare old.onnx new.onnx --data train.csv")
def compare(
    old: Annotated[Path, typer.Argument(metavar="OLD", help=_FILE)],
    new: Annotated[Path, typer.Argument(metavar="NEW", help=_FILE)],
    model_options: ModelOptions,
    limits: Annotated[
        Limits,
        Help(seconds="Stop after this many seconds; the result may be undecided."),
    ],
    *,
    data: Annotated[
        Path | None,
        option("ROWS", "Rows on which differences are counted, too.", FILES),
    ] = None,
    common: Annotated[
        bool,
        flag(
            "--common",
            "If features or values differ, compare on what both models have.",
        ),
    ] = False,
    covered_only: Annotated[
        bool,
        flag("--covered-only", "Leave out inputs that no rule of a rules file covers."),
    ] = False,
    effort: EffortOption = 1,
    seed: SeedOption = 0,
    everything: Annotated[
        bool, flag("--all", "Print every rule, not only those for most inputs.", OUTPUT)
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare two models, or a model and rules.

    Prints rules for the inputs on which predictions differ. Exit code 0 if they are
    equal on every input, 1 if they differ, 3 if that is undecided because a limit came
    first.
    """
    both = _loaded((old, new), model_options.given(data=data))
    table = None if data is None else read_table(data)
    with working(limits) as progress:
        options: dict[str, Any] = {
            "common": common,
            "covered_only": covered_only,
            "time": limits.seconds,
            "n_jobs": limits.jobs,
            "effort": effort,
            "seed": seed,
            "progress": progress,
        }
        if table is None:
            comparison = nn2rules.compare(*both, **options)
        else:
            for one in both:
                table.check(one.domain)
                table = replace(table, rows=table.rows_in(one.domain))
            with table.naming_lines():
                comparison = nn2rules.compare(*both, table.rows, **options)
    if as_json:
        print(comparison.to_json())
    else:
        print(comparison.text("all" if everything else "most", width=width()))
    if not comparison.equal:
        raise typer.Exit(3 if comparison.equal is None else 1)


def _loaded(
    paths: tuple[Path, Path], model_input: ModelInput
) -> tuple[Network | RuleList, Network | RuleList]:
    """Read both files; without --data, a model has the domain of the other one."""
    loaded: dict[int, Network | RuleList] = {
        place: _classifier(path)
        for place, path in enumerate(paths)
        if path.suffix == ".json" or is_table(path)
    }
    if len(loaded) == len(paths):
        refuse_for_network(model_input)
    domain: Domain | None = None
    if model_input.data is None and not model_input.values:
        domain = next((one.domain.uncut for one in loaded.values()), None)
    for place, path in enumerate(paths):
        if place not in loaded:
            loaded[place] = load_with_rows(
                path, replace(model_input, domain=domain)
            ).network
    return loaded[0], loaded[1]


def _classifier(path: Path) -> Network | RuleList:
    """Read a network or rules; a scorecard is compared as its network."""
    loaded = nn2rules.load(path)
    if isinstance(loaded, Summary):
        loaded = loaded.card
    return loaded.network if isinstance(loaded, Scorecard) else loaded
