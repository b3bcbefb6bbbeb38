"""nn2rules verify: claims about a model, proved or refuted."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import nn2rules
from nn2rules.cli.app import command, stderr, working
from nn2rules.cli.options import (
    FILES,
    OUTPUT,
    Help,
    ImpossibleOption,
    JsonOption,
    Limits,
    ModelFile,
    ModelOptions,
    flag,
    option,
    read_impossible,
)
from nn2rules.errors import OptionError
from nn2rules.models import load_with_rows
from nn2rules.questions.claims import read_claims
from nn2rules.questions.verify import Verdict, summary

_CODES = {"proved": 0, "refuted": 1, "undecided": 3}


@command('verify model.onnx --data train.csv --claim "if age ≥ 66 then no"')
def verify(
    model: ModelFile,
    model_options: ModelOptions,
    limits: Annotated[
        Limits,
        Help(seconds="Stop after this many seconds for each claim; by default 60."),
    ],
    *,
    claim: Annotated[
        list[str] | None,
        option(
            "TEXT",
            'A claim, such as "if education = Doctorate and hours ≥ 40 then >50K", '
            '"never >50K if age < 25", "independent of sex", "increasing in income", '
            '"probability of >50K between 0.1 and 0.9", or \'equivalent to '
            '"rules.json"\'. May be repeated.',
        ),
    ] = None,
    claims: Annotated[
        Path | None,
        option(
            "CLAIMS",
            "A file of claims: CSV, Excel or Parquet with a column claim (and name), "
            "or a JSON list of texts.",
            FILES,
        ),
    ] = None,
    claim_files: Annotated[
        bool,
        flag(
            "--claim-files",
            "Let claims of --claims name rules files in its folder.",
            FILES,
        ),
    ] = False,
    data: Annotated[
        Path | None,
        option(
            "ROWS",
            "Rows on which violations are counted; counterexamples are close to them.",
            FILES,
        ),
    ] = None,
    on: Annotated[
        Literal["domain", "rows"],
        option(None, "Whether claims are about every input, or about the rows only."),
    ] = "domain",
    within: Annotated[
        str | None,
        option("CONDITIONS", "Only inputs that meet these conditions."),
    ] = None,
    impossible: ImpossibleOption = None,
    count: Annotated[
        bool,
        flag(
            "--count",
            "Also count the inputs that violate a claim if there are too many for a "
            "table.",
        ),
    ] = False,
    show_rules: Annotated[
        bool,
        flag("--show-rules", "Also print rules for what violates a claim.", OUTPUT),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Prove or refute claims about a model, on every input.

    Exit code 0 if all claims are proved, 1 if one is refuted, 3 if one is undecided
    because a limit came first. Verdicts are printed as soon as they are known; Ctrl-C
    keeps those.
    """
    texts = _claims(claim or [], claims, claim_files=claim_files)
    loaded = load_with_rows(model, model_options.given(data=data))
    verdicts: dict[str, Verdict] = {}
    is_one = len(texts) == 1
    names = list(texts)

    def report(name: str, verdict: Verdict) -> None:
        verdicts[names[0] if is_one else name] = verdict
        if not as_json:
            heading = "" if is_one else name
            progress.print(_text(heading, verdict, show_rules=show_rules))

    try:
        with working(limits) as progress, loaded.naming_lines():
            nn2rules.verify(
                loaded.network,
                texts[names[0]] if is_one else texts,
                loaded.rows,
                on=on,
                within=within,
                impossible=read_impossible(impossible),
                count=count,
                time=limits.seconds,
                n_jobs=limits.jobs,
                progress=progress,
                on_verdict=report,
            )
    except KeyboardInterrupt:
        if as_json:
            print(_json(verdicts, show_rules=show_rules))
        n_left = len(texts) - len(verdicts)
        stderr.print(f"{summary(list(verdicts.values()))}; {n_left:,} not verified")
        raise
    if as_json:
        print(_json(verdicts, show_rules=show_rules))
    elif not is_one:
        print(summary(list(verdicts.values())))
    codes = {_CODES[verdict.status] for verdict in verdicts.values()}
    if codes != {0}:
        raise typer.Exit(1 if 1 in codes else 3)


def _claims(
    texts: list[str], path: Path | None, *, claim_files: bool
) -> dict[str, str]:
    """Return all claims by their names."""
    if claim_files and path is None:
        raise OptionError("--claim-files needs --claims, the file that may name others")
    claims = {} if path is None else read_claims(path, files=claim_files)
    for number, text in enumerate(texts, 1):
        claims[f"--claim {number}" if path is not None else str(number)] = text
    if not claims:
        raise OptionError("there is nothing to verify; use --claim or --claims")
    return claims


def _text(name: str, verdict: Verdict, *, show_rules: bool) -> str:
    """Return a verdict as text, below the name of its claim if there are several."""
    parts = [f"{name}. {verdict}" if name else str(verdict)]
    if show_rules and verdict.status == "refuted":
        missing = "  no rules: there are too many inputs for a table"
        parts.append(missing if verdict.rules is None else str(verdict.rules))
    return "\n".join(parts)


def _json(verdicts: dict[str, Verdict], *, show_rules: bool) -> str:
    entries: list[dict[str, Any]] = []
    for name, verdict in verdicts.items():
        entry = {"name": name, **verdict.to_dict()}
        if show_rules:
            rules = verdict.rules if verdict.status == "refuted" else None
            entry["rules"] = (
                None if rules is None else json.loads(nn2rules.files.to_json(rules))
            )
        entries.append(entry)
    return json.dumps(entries, ensure_ascii=False, indent=2)
