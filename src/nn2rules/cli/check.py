"""nn2rules check: compare rules with a model, by independent code."""

from pathlib import Path
from typing import Annotated

import typer

import nn2rules
from nn2rules.cli.app import command, note_other_network, working
from nn2rules.cli.options import (
    FILES,
    PERFORMANCE,
    Help,
    JsonOption,
    Limits,
    ModelFile,
    ModelOptions,
    RulesFile,
    SeedOption,
    flag,
    number,
    option,
    read_boxes,
)
from nn2rules.errors import UnsupportedModelError
from nn2rules.files import load_rules
from nn2rules.models import load_with_rows


@command("check model.onnx rules.json --data train.csv")
def check(
    model: ModelFile,
    rules: RulesFile,
    model_options: ModelOptions,
    limits: Annotated[
        Limits,
        Help(
            seconds="Stop after this many seconds of proving or refuting rules by "
            "search, if there are too many inputs to try them all; by default 60.",
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
    """Check rules against a model with an independent checker.

    Tries every input if there are not too many; otherwise proves or refutes each rule.
    Exit code 0 if they agree, 1 if they differ, 3 if a limit came first.
    """
    rule_list = load_rules(rules)
    try:
        loaded = load_with_rows(model, model_options.for_rules(rule_list, data=data))
    except UnsupportedModelError as error:
        raise UnsupportedModelError(
            f"the features of these rules are not those of this model: {error}"
        ) from None
    note_other_network(rule_list, loaded.network)
    with working(limits) as progress, loaded.naming_lines():
        report = nn2rules.check(
            loaded.network,
            rule_list,
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
