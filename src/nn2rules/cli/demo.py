"""nn2rules demo: what nn2rules does, on a small network."""

import time
from pathlib import Path
from typing import Annotated

import nn2rules
from nn2rules.cli.app import command
from nn2rules.cli.options import FILES, option
from nn2rules.cli.output import width
from nn2rules.files import check_writable, load_network, load_rules
from nn2rules.language import label_text
from nn2rules.network import Network


@command("demo -o report.html")
def demo(
    output: Annotated[
        Path | None,
        option("REPORT.html", "Also write an HTML report.", FILES, "-o", "--output"),
    ] = None,
) -> None:
    """Show what nn2rules does, with a small network that rates cars."""
    if output is not None:
        check_writable(output)
    cars = nn2rules.datasets.load("car")
    path = nn2rules.datasets.network_file("car")
    network = load_network(path)
    print(
        "A network with two hidden layers of 6 and 3 ReLU units was trained to predict "
        "whether\na car is acceptable, from six features "
        f"({cars.title}).\n"
    )
    for feature in network.domain.features:
        values = ", ".join(label_text(value) for value in feature.values)
        print(f"  {feature.name:9} {values}")
    started = time.perf_counter()
    paper = nn2rules.extract(network, data=cars.train.rows, engine="paper")
    seconds = time.perf_counter() - started
    print(
        f"\nThe method of the NN2Rules paper extracts its rules in {seconds:.1f} s. "
        f"These determine\nmost of {len(cars.train):,} cars:\n"
    )
    print(paper.text(5, width=width()))
    rules = load_rules(path.with_name("car-rules.json"))
    print(f"\nnn2rules needs {len(rules)} rules for the same predictions:\n")
    print(rules.text(width=width()))
    print(f"\nChecked just now on every input:\n\n{nn2rules.check(network, rules)}")
    print(
        f"\nExtract them yourself (the first run takes some seconds to compile):"
        f"\n\n  nn2rules extract {path}"
    )
    if output is not None:
        _write_report(output, network)


def _write_report(output: Path, network: Network) -> None:
    """Write a report about the network, with rules that each hold by themselves."""
    cars = nn2rules.datasets.load("car").train
    rules = nn2rules.extract(network, cars.rows, labels=cars.labels, form="set")
    rules.report(
        output,
        model=network,
        data=cars.rows,
        labels=cars.labels,
        title="Which cars are acceptable?",
    )
    print(f"\nA report about the same network; open it in a browser:\n\n  {output}")
