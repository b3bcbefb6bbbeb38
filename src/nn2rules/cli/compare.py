"""nn2rules compare: where two models, or a model and rules, decide differently."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import nn2rules
from nn2rules.cli.app import command, working
from nn2rules.cli.options import Help, Limits, ModelOptions
from nn2rules.cli.output import width
from nn2rules.files import is_table, read_table
from nn2rules.models import Given, load, refuse_for_network
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.scorecards import Scorecard
from nn2rules.space import Domain

_FILE = "A network or rules (.json, .csv, .xlsx), or a model, as extract takes it."


@command("compare old.onnx new.onnx --data train.csv")
def compare(
    old: Annotated[Path, typer.Argument(metavar="OLD", help=_FILE)],
    new: Annotated[Path, typer.Argument(metavar="NEW", help=_FILE)],
    how: ModelOptions,
    limits: Annotated[Limits, Help(seconds="Seconds after which it may stay open.")],
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="ROWS", help="Rows on which differences are counted, too."
        ),
    ] = None,
    common: Annotated[
        bool,
        typer.Option(
            "--common", help="Where features or values differ, compare what both know."
        ),
    ] = False,
    decided: Annotated[
        bool,
        typer.Option(
            "--decided", help="Leave out inputs about which rules claim nothing."
        ),
    ] = False,
    effort: Annotated[
        int, typer.Option(min=0, help="How hard to look for few rules.")
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same rules.")] = 0,
    everything: Annotated[
        bool, typer.Option("--all", help="Print every rule.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare two models, or rules: exit 0 if they are equal, 1 if not, 3 if open.

    Where they differ, prints rules from an old class to a new one.
    """
    given = how.given(data=data)
    both = _loaded((old, new), given)
    table = None if data is None else read_table(data)
    with working(limits) as progress:
        asked: dict[str, Any] = {
            "common": common,
            "decided": decided,
            "time": limits.seconds,
            "n_jobs": limits.jobs,
            "effort": effort,
            "seed": seed,
            "progress": progress,
        }
        if table is None:
            found = nn2rules.compare(*both, **asked)
        else:
            for one in both:
                table.check(one.domain)
                table = replace(table, rows=table.rows_in(one.domain))
            with table.naming_lines():
                found = nn2rules.compare(*both, table.rows, **asked)
    if as_json:
        print(found.to_json())
    else:
        print(found.text("all" if everything else "most", width=width()))
    if not found.equal:
        raise typer.Exit(3 if found.equal is None else 1)


def _loaded(
    paths: tuple[Path, Path], given: Given
) -> tuple[Network | RuleList, Network | RuleList]:
    """Read both files; where nothing says the domain of a model, it is the other's."""
    found: dict[int, Network | RuleList] = {
        place: _classifier(path)
        for place, path in enumerate(paths)
        if path.suffix == ".json" or is_table(path)
    }
    if len(found) == len(paths):
        refuse_for_network(given)
    known: Domain | None = None
    if given.data is None and not given.values:
        known = next((one.domain.uncut for one in found.values()), None)
    for place, path in enumerate(paths):
        if place not in found:
            found[place] = load(path, replace(given, domain=known)).network
    return found[0], found[1]


def _classifier(path: Path) -> Network | RuleList:
    """Read a network or rules; a scorecard is compared as its network."""
    found = nn2rules.load(path)
    return found.network if isinstance(found, Scorecard) else found
