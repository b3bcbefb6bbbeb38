"""The tables of the experiments."""

from collections.abc import Callable, Mapping

from nn2rules.space import text_of
from research.experiments.cases import MOST_NUMBERS, N_BINS
from research.experiments.contrast import differences
from research.experiments.measure import Measured, Score
from research.experiments.methods import ANOTHER, NAME
from research.experiments.printed import (
    ACCURACY,
    FIDELITY,
    LISTS,
    NAMES,
    ON_ERRORS,
    RULES,
    VALUES,
    Method,
)
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
        "that most of the training rows have which its first rules leave uncovered. "
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
        ResultColumn(f"{share}%", "count", f"{rows} rows")
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
        "Rules needed for 90, 95, 99 and 100% of rows",
        "How many of the first rules of a list it takes until they, and a default, "
        "answer this share of the rows as the network does. The default is class 0 for "
        "the paper's lists, and for those of nn2rules the class that most training "
        "rows have which the rules so far leave uncovered. A support list may not "
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


Printed = Mapping[str, Mapping[str, float]]


def tables_of(results: Results) -> list[ResultTable]:
    """Return every table that can be made of what was measured."""
    found = [
        data_sets(results),
        fidelity(results),
        on_domain(results),
        accuracy(results),
        number_of_rules(results),
        with_and_without(results),
        on_errors(results),
        side_by_side(results),
        same_number(results),
        rules_needed(results),
        differences(results),
    ]
    return [table for table in found if table is not None]


def spread_words(results: Results, *, has_paper: bool = True) -> str:
    """Say what a cell of several networks shows, and the paper's columns if any."""
    if results.seeds == 1:
        return ""
    words = (
        f" Each number is the mean over {results.seeds} networks, trained with "
        f"different seeds, with the smallest and the largest in brackets."
    )
    if results.is_paper and has_paper:
        words += " The columns named paper hold the figures that it prints."
    return words


def data_sets(results: Results) -> ResultTable:
    """Return what the data sets are."""
    columns = [
        ResultColumn("data set"),
        ResultColumn("features", "count"),
        ResultColumn("values of the features"),
        ResultColumn("inputs", "count"),
        ResultColumn("training rows", "count"),
        ResultColumn("test rows", "count"),
        ResultColumn("class 1"),
        ResultColumn("rows of class 1", "share"),
    ]
    if results.is_paper:
        columns.insert(3, ResultColumn("values, paper"))
    return ResultTable(
        "data-sets",
        "Data sets",
        "A feature has a few values, and an input has one value for each feature; so "
        "there are as many inputs as the product of the numbers of values. The paper's "
        "rules are about class 1; its share is taken of the training rows."
        + (
            " The paper lists the same numbers of values in another order."
            if results.is_paper
            else f" A network trained here gets columns with more than {MOST_NUMBERS} "
            f"different numbers in {N_BINS} bins, which are then their values."
        ),
        tuple(columns),
        tuple(_data_set(result) for result in results.sets),
    )


def _data_set(result: Result) -> tuple[Cell, ...]:
    case = result.case
    positive = case.train.labels.count(case.classes[1])
    row: list[Cell] = [
        result.label,
        len(result.sizes),
        ", ".join(map(str, result.sizes)),
        result.networks[0].n_inputs,
        len(case.train.labels),
        len(case.test.labels),
        text_of(case.classes[1]),
        positive / len(case.train.labels),
    ]
    if result.is_paper:
        row.insert(3, ", ".join(map(str, VALUES[case.name])))
    return tuple(row)


def fidelity(results: Results) -> ResultTable:
    """Return how often each method answers as the network does, on test rows."""
    return ResultTable(
        "fidelity",
        "Fidelity on test rows",
        "Fidelity is the share of test rows on which a method answers as the network "
        "does. A support list gives its default, of which nothing is proved, to rows "
        "that no rule covers; this is counted here." + spread_words(results),
        results.columns("method", "share"),
        _by_method(results, lambda score: score.fidelity, FIDELITY),
    )


def on_domain(results: Results) -> ResultTable | None:
    """Return the same for all inputs of the domain."""
    rows = tuple(
        (
            method.name,
            *(r.score(method.key, lambda s: s.on_domain) for r in results.sets),
        )
        for method in results.methods
    )
    if not any(isinstance(c, Spread) and c.known for row in rows for c in row):
        return None
    return ResultTable(
        "fidelity-on-the-domain",
        "Fidelity on the whole domain",
        "The share of all inputs, also of those that no row shows, on which a method "
        "answers as the network does, support lists with their default. Every input "
        "was asked. NN2Rules(Full) and the nn2rules list must be at exactly 1, or the "
        "run stops; the paper has no such table."
        + spread_words(results, has_paper=False),
        (
            ResultColumn("method"),
            *(ResultColumn(r.label, "share") for r in results.sets),
        ),
        rows,
    )


def accuracy(results: Results) -> ResultTable:
    """Return how often each method, and the network, answers as labelled."""
    network = results.row(
        "Neural network",
        lambda result: result.spread(lambda found: found.accuracy),
        lambda result: ACCURACY[result.case.name]["network"],
    )
    networks, words = [network], ""
    if results.has_readable:
        words = f" {ANOTHER}"
        networks.append(results.row(NAME, read_accuracy, lambda _result: None))
    return ResultTable(
        "accuracy",
        "Accuracy on test rows",
        "Accuracy is the share of test rows that are answered as they are labelled. A "
        "list that equals the network has its accuracy, by necessity."
        + words
        + spread_words(results),
        results.columns("method", "share"),
        (*networks, *_by_method(results, lambda score: score.accuracy, ACCURACY)),
    )


def read_accuracy(result: Result) -> Spread:
    """Return the accuracy of each network made to be read."""
    return result.readable(lambda network: network.accuracy)


def with_and_without(results: Results) -> ResultTable | None:
    """Return the networks beside those made to be read: accuracy and rules."""
    if not results.has_readable:
        return None
    usual = "given model" if results.is_given else "network of the paper's shape"
    made = "network made to be read"
    return ResultTable(
        "with-and-without",
        "Networks made to be read, and not",
        "Rules are those of a list of nn2rules that answers as its network does on "
        "every input of its domain, or the run stops. A network made to be read comes "
        "from nn2rules.ReadableClassifier, as it is by default, with the same training "
        "rows and seeds; it leaves columns out, and tells fewer of their values apart. "
        "The difference is that of the means in accuracy, and how much fewer is a "
        "ratio of means." + spread_words(results, has_paper=False),
        (
            ResultColumn("data set"),
            ResultColumn("accuracy", "share", usual),
            ResultColumn("rules", "count", usual),
            ResultColumn("columns", "count", usual),
            ResultColumn("accuracy", "share", made),
            ResultColumn("rules", "count", made),
            ResultColumn("columns", "count", made),
            ResultColumn("difference in accuracy", "change"),
            ResultColumn("times fewer rules", "number"),
        ),
        tuple(_with_and_without(result) for result in results.sets),
    )


def _with_and_without(result: Result) -> tuple[Cell, ...]:
    usual, made = result.spread(lambda found: found.accuracy), read_accuracy(result)
    theirs = result.score("list", lambda score: score.n_rules)
    ours = result.readable(lambda network: network.n_rules)
    change = None
    if usual.mean is not None and made.mean is not None:
        change = made.mean - usual.mean
    return (
        result.label,
        usual,
        theirs,
        len(result.sizes),
        made,
        ours,
        result.readable(lambda network: network.n_columns),
        change,
        ratio(theirs, ours),
    )


def on_errors(results: Results) -> ResultTable:
    """Return the fidelity on the test rows that the network gets wrong."""
    errors = results.row(
        "errors of the network",
        lambda result: ", ".join(str(found.n_errors) for found in result.networks),
        lambda _result: None,
    )
    return ResultTable(
        "fidelity-on-errors",
        "Fidelity on the network's errors",
        "The share of those test rows that the network gets wrong on which a method "
        "answers as the network does, wrong as it is. The first line says how many "
        "such rows there are for each network; where there are none, there is no "
        "fidelity, and brackets say how many networks count." + spread_words(results),
        results.columns("method", "share"),
        (errors, *_by_method(results, lambda score: score.on_errors, ON_ERRORS)),
    )


def _by_method(
    results: Results, of: Callable[[Score], float | None], printed: Printed
) -> tuple[tuple[Cell, ...], ...]:
    """Return a row for each method: for each data set this run and the paper."""

    def line(method: Method) -> tuple[Cell, ...]:
        return results.row(
            method.name,
            lambda result: result.score(method.key, of),
            lambda result: printed[result.case.name].get(method.key),
        )

    return tuple(line(method) for method in results.methods)
