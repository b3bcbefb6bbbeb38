"""The words of the page that do not depend on numbers."""

from importlib.metadata import version

from nn2rules.language.text import count
from nn2rules.version import __version__
from research.experiments.lists import LARGEST_DOMAIN
from research.experiments.own_data import MOST_NUMBERS, N_BINS
from research.experiments.results import Results
from research.experiments.train import SETTINGS


def introduction(results: Results) -> list[str]:
    """Say what the page is about, to a reader who knows neither paper nor library."""
    found = [
        "A neural network answers, and does not say why. Where its features have few "
        "values each, its whole behaviour can be written down as rules: if these "
        "features have these values, the answer is this class. Rules can be exact, so "
        "that they answer as the network does on every input; or they can be short. "
        "This page measures both."
    ]
    if results.is_paper:
        found.append(
            "The paper NN2Rules turns a network with two hidden layers, of 6 and 3 "
            "ReLU units, into rules for its class 1. All of these rules are "
            "NN2Rules(Full), which is exact. Those that hold for at least one "
            "training row are NN2Rules(Support), which is shorter. The paper compares "
            "them with a decision tree trained on the labels, and with a simple form "
            "of TREPAN, a tree trained on the network's answers, on four data sets."
        )
    else:
        found.append(
            "NN2Rules(Full) is the list of the paper of that name: all rules of class "
            "1, which is exact. NN2Rules(Support) has those that hold for at least "
            "one training row. The trees learn from the labels (decision tree) or "
            "from the network's answers (simple TREPAN and TREPAN)."
        )
    found.append(
        "Beside them stand two lists of nn2rules, made from the same networks: one "
        "for the whole domain, which is exact as well; and a support list, whose "
        "rules are right on every input they decide and which decides every training "
        "row. And there is TREPAN as Craven and Shavlik described it, which asks the "
        "network about inputs of its own choice. A tree of depth 6 is the paper's; a "
        "validated depth was chosen on held-out training rows."
    )
    if results.has_readable:
        found.append(
            "All of these describe a network as it is. How many rules it needs is "
            "decided when it is trained; so for each seed there is one network more, "
            "made to be read: trained on the same rows by nn2rules.ReadableClassifier, "
            "to do with few columns, few values and few rules."
        )
    return found + _limits(results)


def _limits(results: Results) -> list[str]:
    """Say what could not be computed, and why."""
    found = []
    if results.is_given:
        found.append(
            "The network is the user's model, as it was given. It may have been "
            "trained on any of the rows; the split into training and test rows below "
            "is only that of the lists and trees."
        )
    for result in results.sets:
        inputs = result.networks[0].n_inputs
        if not result.has("list"):
            found.append(
                f"{result.label} has {inputs:,} inputs, more than {LARGEST_DOMAIN:,}: "
                "lists for the whole domain, the paper's rules and the fidelity on "
                "all inputs were left out, and only the nn2rules support list was "
                "made."
            )
        elif not result.has("full"):
            found.append(
                f"{result.label} has {len(result.case.classes)} classes, and the "
                "paper's rules are for two; they were left out."
            )
        found += [
            f"{result.label} has no network made to be read, with seed {network.seed}: "
            f"{network.unread}."
            for network in result.networks
            if network.unread
        ]
    return found


def reasons() -> list[str]:
    """Say why numbers differ from the paper's."""
    return [
        "The networks are others. The paper reports one network for each data set, "
        "and gives neither its weights nor its seed, nor the framework, the optimiser "
        "or the number of rounds. The networks here have the same layers, but are "
        "trained by scikit-learn with Adam, from other seeds. How many rules a network "
        "has depends on its weights more than on its accuracy: even between the seeds "
        "of this run the numbers of rules differ widely, as the spreads show.",
        "The rows are prepared anew. The paper says that numbers were put into three "
        "bins, but not where the bins end; it gives one example of the values it "
        "merges; and it does not say which rows were held out for testing. The "
        "numbers of values are the same as the paper's. The counts for Memorization "
        "agree for Adult, and differ by a few rows for the others, so there at least "
        "the training rows are not the same.",
        "Fidelity on errors is a share of few rows where a network is good: of a few "
        "rows one more or less is a large share. It says little for a network that is "
        "wrong on a handful of test rows, here and in the paper.",
        "By data set:",
    ]


def making(results: Results) -> list[str]:
    """Say how the run can be repeated."""
    units = " and ".join(str(size) for size in SETTINGS["hidden_layer_sizes"])
    seeds = f"seed {results.seed}"
    if results.seeds > 1:
        seeds = f"seeds {results.seed} to {results.seed + results.seeds - 1}"
    found = [
        f"Made by nn2rules {__version__}, scikit-learn {version('scikit-learn')} and "
        f"numpy {version('numpy')}, with {count(results.seeds, 'network')} for each "
        f"data set ({seeds}). The same seeds and the same versions give the "
        "same files, except for timings.md, timings.csv and timings.json."
    ]
    if not results.is_given:
        found.append(
            f"A network has hidden layers of {units} ReLU units, trained by Adam with "
            f"a learning rate of {SETTINGS['learning_rate_init']} on batches of "
            f"{SETTINGS['batch_size']} rows, {SETTINGS['max_iter']} times over all "
            "rows at most. The settings are the same for every data set."
        )
    if not results.is_paper and not results.is_given:
        found.append(
            "Columns of text have a value for each text, and so have columns of up "
            f"to {MOST_NUMBERS} different numbers. Columns with more are put into "
            f"{N_BINS} bins of about as many training rows each. A missing cell is a "
            "value of its own. One row in five is a test row."
        )
    found.append(
        "The tables are in the folder tables as Markdown, CSV and JSON, the figures "
        "in the folder figures as PNG and SVG, and the seconds in the files timings."
    )
    return found
