"""What the numbers of a run show, in sentences; whatever they are."""

from research.experiments.contrast import compared
from research.experiments.results import Result, Results
from research.experiments.table import Spread, number_text


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
