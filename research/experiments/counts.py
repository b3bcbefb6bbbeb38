"""The tables about how many rules there are, and how many are needed; and seconds."""

from collections.abc import Callable

from research.experiments.measure import Measured
from research.experiments.printed import LISTS, NAMES, RULES
from research.experiments.readable import ANOTHER, NAME
from research.experiments.results import Result, Results
from research.experiments.table import Cell, ResultColumn, ResultTable, Spread

SHARES = (90, 95, 99, 100)
"""The shares of rows, in percent, of which a table says how many rules they need."""

SIZES = (5, 10, 20, 50)
"""The numbers of rules at which the two support lists are compared."""

_TREES = ("tree-6", "tree", "simple-6", "simple", "trepan")

_TIMED = {
    "training": "training the network",
    "readable": "training the network made to be read",
    "algorithm": "NN2Rules(Full), by the paper's algorithm",
    "full": "NN2Rules(Full), by the engine",
    "support": "NN2Rules(Support), by the engine",
    "list": "nn2rules list",
    "support-list": "nn2rules support list",
} | {key: NAMES[key] for key in _TREES}


def number_of_rules(results: Results) -> ResultTable:
    """Return the number of rules of each list, and what bounds it."""

    def line(name: str, key: str, of: Callable[[Result], Cell]) -> tuple[Cell, ...]:
        return results.row(name, of, lambda r: RULES[r.case.name].get(key))

    rows = [
        line("Max: all inputs", "max", lambda r: r.networks[0].n_inputs),
        line("Memorization", "memorized", lambda r: r.networks[0].memorized),
    ]
    words = ""
    for method in results.methods:
        leaves = ", leaves" if method.key in _TREES else ""

        def of(result: Result, key: str = method.key) -> Spread | None:
            return result.score(key, lambda score: score.n_rules)

        rows.append(line(method.name + leaves, method.key, of))
    if results.has_readable:
        words = f" {ANOTHER}"
        rows.append(line(NAME, "readable", lambda r: r.readable(lambda n: n.n_rules)))
    return ResultTable(
        "number-of-rules",
        "Number of rules",
        "Max is the number of inputs, each of which could be a rule. Memorization is "
        "the number of different training rows of class 1. The paper's lists have "
        "rules for class 1 only, and everything else is class 0; the lists of nn2rules "
        "and the leaves of trees answer all classes, so their numbers count the rules "
        "of all of them. Numbers of several networks are means, with the smallest and "
        "the largest in brackets." + words,
        results.columns("list", "count"),
        tuple(rows),
    )


def side_by_side(results: Results) -> ResultTable | None:
    """Return the paper's form beside the lists of nn2rules: rules and conditions."""
    if not results.has(*LISTS):
        return None
    columns = [ResultColumn("data set"), ResultColumn("list")]
    for group in ("paper's form", "nn2rules"):
        columns.append(ResultColumn("rules", "count", group))
        columns.append(ResultColumn("conditions", "count", group))
        columns.append(ResultColumn("conditions a rule", "number", group))
    columns.append(ResultColumn("rules", "number", "times fewer"))
    columns.append(ResultColumn("conditions", "number", "times fewer"))
    rows = [
        _beside(result, words, theirs, ours)
        for result in results.sets
        for words, theirs, ours in (
            ("whole domain", "full", "list"),
            ("support", "support", "support-list"),
        )
    ]
    return ResultTable(
        "side-by-side",
        "The paper's form and nn2rules side by side",
        "Both lists of a line are of the same networks, and made in the same run. Of "
        "the whole domain are NN2Rules(Full) and the nn2rules list, which answer "
        "alike on every input; of the support are NN2Rules(Support) and the nn2rules "
        "support list. How much fewer is a ratio of means. Seconds stand in a table "
        "of their own, timings.",
        tuple(columns),
        tuple(rows),
    )


def _beside(result: Result, words: str, theirs: str, ours: str) -> tuple[Cell, ...]:
    row: list[Cell] = [result.label, words]
    for key in (theirs, ours):
        row.append(result.score(key, lambda score: score.n_rules))
        row.append(result.score(key, lambda score: score.n_conditions))
        row.append(result.score(key, lambda score: score.per_rule))
    row.append(ratio(row[2], row[5]))
    row.append(ratio(row[3], row[6]))
    return tuple(row)


def ratio(theirs: Cell, ours: Cell) -> float | None:
    """Return how many times more theirs are than ours, in the mean."""
    if not (isinstance(theirs, Spread) and isinstance(ours, Spread)):
        return None
    return theirs.mean / ours.mean if theirs.mean and ours.mean else None


def same_number(results: Results) -> ResultTable | None:
    """Return both support lists at the same number of rules."""
    if not results.has("support", "support-list"):
        return None
    columns = [ResultColumn("data set"), ResultColumn("rules, at most")]
    columns += [
        ResultColumn(label, "share", group)
        for group in ("test rows", "errors of the network")
        for label in ("NN2Rules(Support)", "nn2rules support list")
    ]
    rows = [
        (result.label, words, *_at(result, most))
        for result in results.sets
        for words, most in _sizes()
    ]
    return ResultTable(
        "support-at-the-same-number-of-rules",
        "Support lists at the same number of rules",
        "The fidelity of the first rules of both lists, so many of each, or all if "
        "there are fewer. The paper's rules come in descending order of their support, "
        "and class 0 answers the rest; the rest of the nn2rules list gets the class "
        "that most of the training rows have which its first rules leave undecided. "
        "The line 'as many as nn2rules has' takes all rules of the nn2rules support "
        "list and as many of the paper's.",
        tuple(columns),
        tuple(rows),
    )


def _sizes() -> list[tuple[str, Callable[[Measured], int]]]:
    """Return numbers of rules, with words for them."""

    def fixed(size: int) -> Callable[[Measured], int]:
        return lambda _found: size

    sizes = [(str(size), fixed(size)) for size in SIZES]
    ours = ("as many as nn2rules has", lambda f: f.first["support-list"].n_rules)
    theirs = ("as many as the paper's has", lambda f: f.first["support"].n_rules)
    return [*sizes, ours, theirs]


def _at(result: Result, most: Callable[[Measured], int]) -> list[Cell]:
    def fidelity(key: str) -> Spread:
        return result.spread(lambda found: found.first[key].fidelity(most(found)))

    def on_errors(key: str) -> Spread:
        return result.spread(lambda found: found.first[key].on_errors(most(found)))

    lists = ("support", "support-list")
    return [of(key) for of in (fidelity, on_errors) for key in lists]


def rules_needed(results: Results) -> ResultTable:
    """Return how many of the first rules answer a share of the rows rightly."""
    columns = [ResultColumn("data set"), ResultColumn("list")]
    columns += [
        ResultColumn(f"{share} %", "count", f"{rows} rows")
        for rows in ("test", "training")
        for share in SHARES
    ]
    rows = [
        (result.label, NAMES[key], *_needed(result, key))
        for result in results.sets
        for key in LISTS
        if result.has(key)
    ]
    return ResultTable(
        "rules-needed",
        "Rules needed for 90, 95, 99 and 100 % of rows",
        "How many of the first rules of a list it takes until they, and a default, "
        "answer this share of the rows as the network does. The default is class 0 for "
        "the paper's lists, and for those of nn2rules the class that most training "
        "rows have which the rules so far leave undecided. A support list may not "
        "reach a share on test rows with all its rules: brackets say for how many "
        "networks it does, and – that it does for none.",
        tuple(columns),
        tuple(rows),
    )


def _needed(result: Result, key: str) -> list[Cell]:
    def on_test(share: int) -> Spread:
        return result.spread(lambda found: found.first[key].needed(share))

    def on_train(share: int) -> Spread:
        return result.spread(lambda found: found.first_train[key].needed(share))

    return [of(share) for of in (on_test, on_train) for share in SHARES]


def seconds_of(result: Result, key: str) -> Spread:
    """Return the seconds that some work took, for each network."""
    return result.spread(lambda found: found.seconds.get(key))


def timings(results: Results) -> ResultTable:
    """Return the seconds of everything; the only table that no seed fixes."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(seconds_of(result, key) for result in results.sets))
        for key, name in _TIMED.items()
        if any(key in f.seconds for result in results.sets for f in result.networks)
    )
    return ResultTable(
        "timings",
        "Seconds",
        "Seconds on the machine that made this folder, as means over the networks with "
        "the smallest and the largest in brackets. The paper's own algorithm, in "
        "Python, is run on the first network of each data set only; the engine finds "
        "the very same rules. These are the only numbers here that change from run to "
        "run.",
        (
            ResultColumn("work"),
            *(ResultColumn(r.label, "seconds") for r in results.sets),
        ),
        rows,
    )
