"""The tables of the experiments: data sets, fidelity, accuracy, errors, the domain."""

from collections.abc import Callable, Mapping

from nn2rules.space.values import text_of
from research.experiments.contrast import differences
from research.experiments.counts import (
    number_of_rules,
    ratio,
    rules_needed,
    same_number,
    side_by_side,
)
from research.experiments.measure import Score
from research.experiments.own_data import MOST_NUMBERS, N_BINS
from research.experiments.printed import ACCURACY, FIDELITY, ON_ERRORS, VALUES, Method
from research.experiments.readable import ANOTHER, NAME
from research.experiments.results import Result, Results
from research.experiments.table import Cell, ResultColumn, ResultTable, Spread

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
