"""nn2rules demo: what it is all about, on a small network."""

import time

import nn2rules
from nn2rules.cli.app import command
from nn2rules.cli.output import width
from nn2rules.formats import load_network, load_rules
from nn2rules.text import label_text


@command("demo")
def demo() -> None:
    """Show what nn2rules does, on a small network that judges cars."""
    cars = nn2rules.datasets.load("car")
    path = nn2rules.datasets.network_file("car")
    network = load_network(path)
    print(
        "A network with two hidden layers of 6 and 3 ReLU units was trained to say "
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
        f"\nThe method of the paper NN2Rules finds its rules in {seconds:.1f} s. Those "
        f"that decide\nmost of {len(cars.train):,} cars come first:\n"
    )
    print(paper.text(5, width=width()))
    rules = load_rules(path.with_name("car-rules.json"))
    print(f"\nnn2rules says the same in {len(rules)} rules:\n")
    print(rules.text(width=width()))
    print(
        f"\nChecked just now, one input after the other:\n\n"
        f"{nn2rules.check(network, rules)}"
    )
    print(
        f"\nExtract them yourself; the first time, this compiles for half a minute:"
        f"\n\n  nn2rules extract {path}"
    )
