"""nn2rules evaluate: how good rules are, on rows."""

from pathlib import Path
from typing import Annotated

import nn2rules
from nn2rules.cli.app import command, note_other_network
from nn2rules.cli.options import (
    FILES,
    JsonOption,
    LabelsOption,
    ModelFile,
    ModelOptions,
    RulesFile,
    SamplesOption,
    SeedOption,
    option,
)
from nn2rules.files import load_rules
from nn2rules.models import load_with_rows


@command("evaluate model.onnx rules.json --data test.csv --labels y")
def evaluate(
    model: ModelFile,
    rules: RulesFile,
    data: Annotated[
        Path,
        option("ROWS", "Rows to compare them on, such as test rows.", FILES),
    ],
    model_options: ModelOptions,
    *,
    labels: LabelsOption = None,
    samples: SamplesOption = 100_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure rules on rows: coverage, fidelity to the model, accuracy on labels.

    Fidelity and accuracy are about the rows that the rules cover; what the default
    class would add for other rows is not proved, and shown separately. Also shown: the
    coverage by number of rules, and the share of the covered domain on which rules and
    model agree.
    """
    rule_list = load_rules(rules)
    model_input = model_options.for_rules(rule_list, data=data, labels=labels)
    loaded = load_with_rows(model, model_input)
    note_other_network(rule_list, loaded.network)
    with loaded.naming_lines():
        report = nn2rules.evaluate(
            loaded.network,
            rule_list,
            loaded.rows,
            loaded.labels,
            samples=samples,
            seed=seed,
        )
    print(report.to_json() if as_json else report)
