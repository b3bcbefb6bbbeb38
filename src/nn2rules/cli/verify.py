"""nn2rules verify: claims about a model, proved or refuted."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import nn2rules
from nn2rules.cli.app import command, stderr, working
from nn2rules.cli.options import Help, Limits, ModelFile, ModelOptions
from nn2rules.errors import OptionError
from nn2rules.models import load
from nn2rules.questions.claims import read_book
from nn2rules.questions.verify import Verdict, summary

_CODES = {"proved": 0, "refuted": 1, "open": 3}


@command('verify model.onnx --data train.csv --claim "if age ≥ 66 then no"')
def verify(
    model: ModelFile,
    how: ModelOptions,
    limits: Annotated[
        Limits, Help(seconds="Seconds for each claim; by default a minute.")
    ],
    *,
    claim: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help='As in "if education = Doctorate and hours ≥ 40 then >50K", "never '
            '>50K if age < 25", "independent of sex", "increasing in income", '
            '"probability of >50K between 0.1 and 0.9", or \'equivalent to '
            '"rules.json"\'. May be repeated.',
        ),
    ] = None,
    book: Annotated[
        Path | None,
        typer.Option(
            metavar="CLAIMS",
            help="A file of claims: a CSV, Excel or Parquet file with a column claim "
            "(and name), or a JSON list of texts.",
        ),
    ] = None,
    book_files: Annotated[
        bool,
        typer.Option(
            "--book-files",
            help="Let claims in --book name rules files in the folder of the book.",
        ),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="ROWS",
            help="Rows: those that break a claim are counted, and counterexamples are "
            "near to them.",
        ),
    ] = None,
    on: Annotated[
        Literal["domain", "rows"],
        typer.Option(help="Whether claims are made of every input, or of the rows."),
    ] = "domain",
    within: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Only inputs that meet these conditions."),
    ] = None,
    impossible: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Inputs that cannot occur, as conditions. May be repeated.",
        ),
    ] = None,
    rules: Annotated[
        bool, typer.Option("--rules", help="Print what breaks a claim as rules.")
    ] = False,
    count: Annotated[
        bool,
        typer.Option(
            "--count", help="Count inputs that break a claim beyond a table, too."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, a list with all that is known.")
    ] = False,
) -> None:
    """Prove or refute claims about a model, on every input.

    Exits with 0 if all hold, 1 if one does not, and 3 if one is open, as the time ended
    first. Verdicts are printed as soon as they are known; Ctrl-C keeps those.
    """
    asked = _claims(claim or [], book, book_files=book_files)
    given = how.given(data=data)
    loaded = load(model, given)
    found: dict[str, Verdict] = {}
    is_one = len(asked) == 1
    names = list(asked)

    def tell(name: str, verdict: Verdict) -> None:
        own = names[0] if is_one else name
        found[own] = verdict
        if not as_json:
            progress.print(_text("" if is_one else own, verdict, rules=rules))

    try:
        with working(limits) as progress, loaded.naming_lines():
            nn2rules.verify(
                loaded.network,
                asked[names[0]] if is_one else asked,
                loaded.rows,
                on=on,
                within=within,
                impossible=impossible,
                count=count,
                time=limits.seconds,
                n_jobs=limits.jobs,
                progress=progress,
                on_verdict=tell,
            )
    except KeyboardInterrupt:
        if as_json:
            print(_json(found, rules=rules))
        n_left = len(asked) - len(found)
        stderr.print(f"{summary(list(found.values()))}; {n_left:,} not verified")
        raise
    if as_json:
        print(_json(found, rules=rules))
    elif not is_one:
        print(summary(list(found.values())))
    codes = {_CODES[verdict.status] for verdict in found.values()}
    if codes != {0}:
        raise typer.Exit(1 if 1 in codes else 3)


def _claims(texts: list[str], book: Path | None, *, book_files: bool) -> dict[str, str]:
    """Return all claims by their names."""
    if book_files and book is None:
        raise OptionError("--book-files needs --book, the book that may name files")
    found = {} if book is None else read_book(book, files=book_files)
    for number, text in enumerate(texts, 1):
        found[f"--claim {number}" if book is not None else str(number)] = text
    if not found:
        raise OptionError("there is nothing to verify: give --claim, or --book")
    return found


def _text(name: str, verdict: Verdict, *, rules: bool) -> str:
    """Return a verdict as text, below the name of its claim if there are several."""
    parts = [f"{name}. {verdict}" if name else str(verdict)]
    if rules and verdict.status == "refuted":
        own = verdict.rules
        said = "  there is no table of the inputs to make rules from"
        parts.append(said if own is None else str(own))
    return "\n".join(parts)


def _json(found: dict[str, Verdict], *, rules: bool) -> str:
    entries: list[dict[str, Any]] = []
    for name, verdict in found.items():
        entry = {"name": name, **verdict.to_dict()}
        if rules:
            own = verdict.rules if verdict.status == "refuted" else None
            entry["rules"] = (
                None if own is None else json.loads(nn2rules.files.to_json(own))
            )
        entries.append(entry)
    return json.dumps(entries, ensure_ascii=False, indent=2)
