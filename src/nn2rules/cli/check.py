"""nn2rules check: compare rules or a scorecard with a model, by independent code."""

from pathlib import Path
from typing import Annotated

import typer

import nn2rules
from nn2rules.cli.app import command, note_other_network, working
from nn2rules.cli.options import (
    FILES,
    PERFORMANCE,
    DescriptionFile,
    Help,
    JsonOption,
    Limits,
    ModelFile,
    ModelOptions,
    SeedOption,
    flag,
    number,
    option,
    read_boxes,
)
from nn2rules.errors import UnsupportedModelError
from nn2rules.files import load_description
from nn2rules.models import load_with_rows
from nn2rules.rules import RuleList
from nn2rules.scorecards import Scorecard


@command("check model.onnx rules.json --data train.csv")
def check(
    model: ModelFile,
    rules: DescriptionFile,
    model_options: ModelOptions,
    limits: Annotated[
        Limits,
        Help(
            seconds="Stop after this many seconds of proving or refuting rules by "
            "search, if there are too many inputs to try them all, or of verifying "
            "the regions of a scorecard; by default 60.",
            jobs="Number of workers of --cluster; by default all there are. Without "
            "--cluster, the check runs in one thread.",
        ),
    ],
    *,
    data: Annotated[
        Path | None, option("ROWS", "Also compare them on these rows.", FILES)
    ] = None,
    impossible: Annotated[
        Path | None,
        option(
            "BOXES.json",
            "Inputs that cannot occur: a list of objects, from features to lists of "
            "values.",
            FILES,
        ),
    ] = None,
    default: Annotated[
        bool,
        flag("--default", "Also compare the default class of rules of scope support."),
    ] = False,
    proofs: Annotated[
        Path | None,
        option(
            "FILE",
            "Proofs written by extract --proofs. Each is verified step by step; "
            "together they are about all inputs, however many there are.",
            FILES,
        ),
    ] = None,
    samples: Annotated[
        int,
        number(
            help="Inputs to draw if there are too many to try them all.",
            panel=PERFORMANCE,
            minimum=1,
        ),
    ] = 100_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Check rules or a scorecard against a model with an independent checker.

    Tries every input if there are not too many; otherwise proves or refutes each rule.
    Of a scorecard, proves that it is equal on every input and that its printed points
    are right. Exit code 0 if proved, 1 if they differ, 3 if a limit came first.
    """
    description = load_description(rules)
    try:
        loaded = load_with_rows(model, model_options.for_rules(description, data=data))
    except UnsupportedModelError as error:
        raise UnsupportedModelError(
            f"the features of {_what(description)} are not those of this model: {error}"
        ) from None
    note_other_network(description, loaded.network)
    with working(limits) as progress, loaded.naming_lines():
        report = nn2rules.check(
            loaded.network,
            description,
            rows=loaded.rows,
            impossible=() if impossible is None else read_boxes(impossible),
            default=default,
            samples=samples,
            seed=seed,
            proofs=proofs,
            time=limits.seconds,
            n_jobs=limits.jobs,
            progress=progress,
        )
    print(report.to_json() if as_json else report)
    if not report.ok:
        raise typer.Exit(3 if report.is_undecided else 1)


def _what(description: RuleList | Scorecard) -> str:
    return "these rules" if isinstance(description, RuleList) else "this scorecard"
