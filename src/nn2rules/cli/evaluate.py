"""nn2rules evaluate: how good rules or a scorecard are, on rows."""

from pathlib import Path
from typing import Annotated

import nn2rules
from nn2rules.cli.app import command, note_other_network
from nn2rules.cli.options import (
    FILES,
    DescriptionFile,
    JsonOption,
    LabelsOption,
    ModelFile,
    ModelOptions,
    SamplesOption,
    SeedOption,
    option,
)
from nn2rules.files import load_description
from nn2rules.models import load_with_rows


@command("evaluate model.onnx rules.json --data test.csv --labels y")
def evaluate(
    model: ModelFile,
    rules: DescriptionFile,
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
    """Measure rules or a scorecard on rows: coverage, fidelity and accuracy.

    Fidelity and accuracy are about the rows that the rules cover; what the default
    class would add for other rows is not proved, and shown separately. Also shown: the
    coverage by number of rules, or the distribution of a scorecard's totals, and the
    share of the covered domain on which it agrees with the model.
    """
    description = load_description(rules)
    model_input = model_options.for_rules(description, data=data, labels=labels)
    loaded = load_with_rows(model, model_input)
    note_other_network(description, loaded.network)
    with loaded.naming_lines():
        report = nn2rules.evaluate(
            loaded.network,
            description,
            loaded.rows,
            loaded.labels,
            samples=samples,
            seed=seed,
        )
    print(report.to_json() if as_json else report)
