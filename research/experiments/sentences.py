"""What the page says in sentences: what the numbers show, and what they rest on."""

from importlib.metadata import version

from nn2rules.language import count
from nn2rules.version import __version__
from research.experiments.cases import MOST_NUMBERS, N_BINS
from research.experiments.contrast import compared
from research.experiments.methods import LARGEST_DOMAIN
from research.experiments.results import Result, Results
from research.experiments.table import Spread, number_text
from research.experiments.train import SETTINGS


def findings(results: Results) -> list[tuple[str, list[str]]]:
    """Return the main results: headings, and sentences below them."""
    sets = results.sets
    whole = [_exact(results)] if results.has("list") else []
    if results.has("full", "list"):
        whole += [_shorter(result) for result in sets]
    support = []
    if results.has("support", "support-list"):
        support = [_support(result) for result in sets]
    trees = [_trees(result) for result in sets]
    found = [
        ("Rules for the whole domain", whole),
        ("Rules for the support", support),
        ("Trees", trees),
        ("Networks made to be read", _made_to_be_read(results)),
    ]
    return [(heading, sentences) for heading, sentences in found if sentences]


def _exact(results: Results) -> str:
    total = sum(len(result.networks) for result in results.sets)
    networks = "the network" if total == 1 else f"each of the {total} networks"
    lists = "NN2Rules(Full) and the nn2rules list"
    if not results.has("full"):
        lists = "The nn2rules list"
    verb = "answer" if results.has("full") else "answers"
    return (
        f"{lists} {verb} as the network does on every input of the domain, for "
        f"{networks}; every input was asked."
    )


def _shorter(result: Result) -> str:
    full, ours = _rules(result, "full"), _rules(result, "list")
    text = (
        f"{result.label}: the whole network is {_count(full)} rules in the paper's "
        f"form and {_count(ours)} as a list of nn2rules"
    )
    return f"{text}, {full / ours:.1f} times fewer." if ours and full else f"{text}."


def _support(result: Result) -> str:
    theirs, ours = (_fidelity(result, key) for key in ("support", "support-list"))
    fewer = _rules(result, "support-list") < _rules(result, "support")
    verdict = {
        (True, True): "fewer rules, and at least as faithful",
        (True, False): "fewer rules, but less faithful",
        (False, True): "no fewer rules, but at least as faithful",
        (False, False): "neither fewer rules nor as faithful",
    }[fewer, ours >= theirs]
    return (
        f"{result.label}: the nn2rules support list has "
        f"{_count(_rules(result, 'support-list'))} rules and a fidelity of "
        f"{number_text(ours, 'share')} on test rows; NN2Rules(Support) has "
        f"{_count(_rules(result, 'support'))} and {number_text(theirs, 'share')}: "
        f"{verdict}."
    )


def _trees(result: Result) -> str:
    """Say how the best tree compares, since some trees are good."""
    best = max(_TREES, key=lambda key: _fidelity(result, key))
    ours = _fidelity(result, "support-list")
    tree = _fidelity(result, best)
    verdict = "as" if tree == ours else "more" if tree > ours else "less"
    than = "as" if tree == ours else "than"
    return (
        f"{result.label}: the most faithful tree on test rows is {_TREES[best]}, with "
        f"a fidelity of {number_text(tree, 'share')} and "
        f"{_count(_rules(result, best))} leaves; it is {verdict} faithful {than} the "
        f"nn2rules support list ({number_text(ours, 'share')}, "
        f"{_count(_rules(result, 'support-list'))} rules)."
    )


def _made_to_be_read(results: Results) -> list[str]:
    total = sum(f.readable is not None for r in results.sets for f in r.networks)
    if not total:
        return []
    networks = "the network" if total == 1 else f"each of the {total} networks"
    exact = (
        f"The rules of {networks} made to be read answer as it does on every input of "
        f"its domain; every input was asked."
    )
    return [exact, *(_with_and_without(r) for r in results.sets if _n_read(r))]


def _n_read(result: Result) -> int:
    return len(result.readable(lambda network: network.n_rules).known)


def _with_and_without(result: Result) -> str:
    """Say what reading costs: more or less accuracy, more or fewer rules."""
    usual = result.spread(lambda found: found.accuracy).mean or 0.0
    made = result.readable(lambda network: network.accuracy).mean or 0.0
    few = result.readable(lambda network: network.n_rules).mean or 0.0
    name = "the given model" if result.is_given else "a network of the paper's shape"
    text = (
        f"{result.label}: a network made to be read has an accuracy of "
        f"{number_text(made, 'share')} on test rows with {_count(few)} rules; {name} "
        f"has {number_text(usual, 'share')}"
    )
    change = "as accurate" if made == usual else "more" if made > usual else "less"
    if made != usual:
        change += f" accurate by {abs(made - usual):.4f}"
    if not result.has("list"):
        return f"{text}: {change}."
    many = _rules(result, "list")
    size = "as many" if few == many else "fewer" if few < many else "more"
    joined = "and" if (made >= usual) == (few <= many) else "but"
    return f"{text} with {_count(many)}: {size} rules, {joined} {change}."


_TREES = {
    "tree-6": "the decision tree of depth 6",
    "tree": "the decision tree of validated depth",
    "simple-6": "simple TREPAN of depth 6",
    "simple": "simple TREPAN of validated depth",
    "trepan": "TREPAN",
}


def largest_gaps(result: Result) -> str:
    """Name the figures of a data set that are farthest from the paper's."""
    every = compared(result)
    shares = [one for one in every if one.kind == "share"]
    counts = [one for one in every if one.kind == "count"]
    share = max(shares, key=lambda one: abs((one.found.mean or 0) - one.printed))
    factor = max(counts, key=lambda one: _factor(one.found, one.printed))
    outside = sum(not one.is_within for one in every)
    return (
        f"{result.label}: {outside} of {len(every)} figures of the paper lie outside "
        f"the spread of this run. The farthest share is the {share.words}: "
        f"{number_text(share.found.mean or 0, 'share')} here and "
        f"{number_text(share.printed, 'share')} in the paper. The farthest number of "
        f"rules is that of {factor.words.removeprefix('rules, ')}: "
        f"{_count(factor.found.mean or 0)} here and {_count(factor.printed)} there."
    )


def better_printed(results: Results) -> list[str]:
    """Say where a figure that the paper prints is better than this run's."""
    return [
        f"{result.label}, {one.words}: {number_text(one.printed, one.kind)} in the "
        f"paper, {number_text(one.found.mean or 0, one.kind)} here"
        for result in results.sets
        for one in compared(result)
        if one.is_better
    ]


def _factor(found: Spread, printed: float) -> float:
    mean = found.mean or 1
    return max(mean / printed, printed / mean)


def _rules(result: Result, key: str) -> float:
    spread = result.score(key, lambda score: score.n_rules)
    return (spread.mean if spread else None) or 0.0


def _fidelity(result: Result, key: str) -> float:
    spread = result.score(key, lambda score: score.fidelity)
    return (spread.mean if spread else None) or 0.0


def _count(number: float) -> str:
    return number_text(number, "count")


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
