"""What a model predicts, as positions of the classes of a description.

A `Network` is evaluated exactly. Any other model is called with its own `predict`, on
rows in the same form as the user's.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.language import count
from nn2rules.network import Network
from nn2rules.rules import Description, numbers_for
from nn2rules.space import (
    UNKNOWN,
    Curved,
    Domain,
    Feature,
    Grouped,
    Inputs,
    Intervals,
    Lookup,
    Range,
    Rows,
    Value,
    columns_for,
    listed_rows,
)

Codes: TypeAlias = NDArray[np.int64]

Numbers: TypeAlias = NDArray[np.float64] | None
"""Numbers of inputs: those of ranges, and 1 elsewhere; None without ranges."""

Translation: TypeAlias = Callable[[Codes, Numbers], Inputs]
"""From inputs of a network to the same inputs as a description reads them."""

_Step: TypeAlias = Callable[[Codes, Numbers], Codes]


def label_positions(rules: Description, labels: Any, n_rows: int, what: str) -> Codes:
    """Return the positions of the classes in `labels`; errors begin with `what`.

    Examples
    --------
    >>> from nn2rules import Domain, Feature, RuleList
    >>> rules = RuleList(Domain((Feature("size", (1, 2)),)), (), 0, (0, 1))
    >>> label_positions(rules, np.array(["1", "0"]), 2, "y")
    array([1, 0])
    """
    try:
        return rules.positions(labels, n_rows)
    except OptionError as error:
        raise OptionError(f"{what}: {error}") from None


def class_positions(model: Network | Description, rules: Description) -> Codes:
    """Return the position of each class of a model among those of the rules."""
    classes = model.classes
    return label_positions(rules, classes, len(classes), "the model's predictions")


def model_predictions(model: Any, rules: Description, rows: Rows, n_rows: int) -> Codes:
    """Return the position of the class that the model predicts for each row."""
    if isinstance(model, Network):
        answers = model.predict_codes(*model.domain.inputs_of(rows))
        return class_positions(model, rules)[answers]
    if isinstance(model, Description):
        codes = model.domain.encode(rows)
        given, is_covered = model.predictions(codes, numbers_for(model, rows))
        n_covered = int(is_covered.sum())
        if n_covered < n_rows:
            raise OptionError(
                f"the model is a rule list that covers only {n_covered:,} of "
                f"{count(n_rows, 'row')}; give a model that predicts every row, or "
                f"only the rows it covers"
            )
        return class_positions(model, rules)[given]
    if not callable(getattr(model, "predict", None)):
        raise UnsupportedModelError(
            f"the model is a {type(model).__name__}, which has no predict method; give "
            f"a Network, or a model whose predict(X) returns class labels"
        )
    labels = model.predict(columns_for(model, rows))
    return label_positions(rules, labels, n_rows, "the model's predictions")


def translation(network: Network, rules: Description) -> Translation | None:
    """Return a function from the network's inputs to those of the rules.

    None if there is none: the rules have a feature, or the network a value, that the
    other lacks; only one has a range of numbers; or the network reads one along a
    curve.
    """
    steps: list[_Step] = []
    places: list[int] = []
    for feature in rules.domain.features:
        if feature.name not in network.domain.names:
            return None
        place = network.domain.index(feature.name)
        step = _step(network.domain.features[place], feature, place)
        if step is None:
            return None
        steps.append(step)
        places.append(place)

    def translate(codes: Codes, numbers: Numbers = None) -> Inputs:
        translated = np.stack([step(codes, numbers) for step in steps], axis=1)
        if numbers is None:
            return Inputs(translated, np.ones(translated.shape))
        return Inputs(translated, numbers[:, places])

    return translate


def _step(ours: Feature, theirs: Feature, place: int) -> _Step | None:
    """Return a function from one of the network's features to codes of the rules."""
    if not ours.has_same_numbers(theirs) or isinstance(ours, Curved):
        return None
    first = ours.n_cells  # one: the range of a network is not cut
    codes = [_code(ours, theirs, code) for code in range(first, len(ours))]
    codes_of_rules = np.array(codes, dtype=np.int64)
    if (codes_of_rules == UNKNOWN).any():
        return None
    table = np.append(np.zeros(first, dtype=np.int64), codes_of_rules)
    edges = np.array(
        theirs.edges if isinstance(theirs, Range) else (), dtype=np.float64
    )

    def translate(codes: Codes, numbers: Numbers = None) -> Codes:
        translated = table[codes[:, place]]
        if not first or numbers is None:
            return translated
        cells = np.searchsorted(edges, numbers[:, place], side="right")
        return np.where(codes[:, place] == 0, cells, translated)

    return translate


def _code(ours: Feature, theirs: Feature, code: int) -> int:
    """Return the one code that has all categories of a value, or `UNKNOWN`."""
    lookup, value = Lookup(theirs), ours.values[code]
    if not isinstance(ours, Grouped) and not isinstance(theirs, Grouped):
        return lookup[value]
    if isinstance(ours, Intervals) or isinstance(theirs, Intervals):
        return UNKNOWN
    is_other = ours.is_other(value)
    words: Sequence[Value] = () if is_other else (value,)
    if isinstance(ours, Grouped):
        words = ours.groups[code]
    rule_codes = {lookup[word] for word in words}
    if is_other:
        network_lookup, has_others = Lookup(ours), theirs.other is not None
        rule_codes |= {
            lookup[word] for word in theirs.categories if network_lookup[word] == code
        }
        rule_codes.add(lookup[theirs.other] if has_others else UNKNOWN)
    return rule_codes.pop() if len(rule_codes) == 1 else UNKNOWN


def rows_like(
    rows: Rows, domain: Domain, codes: Codes, numbers: Numbers = None
) -> Rows | None:
    """Return the inputs `codes` as rows in the form and spelling of `rows`.

    None if that is unknown: `rows` have columns that are not features, or spell values
    differently from the domain without showing every spelling, or a value stands for
    several categories.
    """
    if any(feature.joins_categories for feature in domain.features):
        return None
    rows = listed_rows(rows)
    is_listed = isinstance(rows, list | tuple)
    frame = rows if is_listed else nw.from_native(rows, eager_only=True)
    names = list(rows[0]) if is_listed else frame.columns
    if set(names) != set(domain.names):
        return None
    shown, table = domain.encode(rows), {}
    for name in names:
        cells = [row[name] for row in rows] if is_listed else frame[name].to_list()
        place = domain.index(name)
        if numbers is not None and isinstance(domain.features[place], Range):
            decoded = domain.decode(codes, numbers, accepted=True)
            table[name] = [row[name] for row in decoded]
            continue
        spelling = dict(enumerate(domain.features[place].cells))
        seen = dict(zip(shown[:, place].tolist(), cells, strict=True))
        if len(seen) < len(spelling) and any(
            not _is_same(seen[c], spelling[c]) for c in seen
        ):
            return None
        spelling |= seen
        table[name] = [spelling[code] for code in codes[:, place].tolist()]
    if is_listed:
        columns = zip(*table.values(), strict=True)
        return [dict(zip(names, cells, strict=True)) for cells in columns]
    return nw.from_dict(table, backend=frame.implementation).to_native()


def _is_same(one: object, other: object) -> bool:
    """Tell whether two cells are equal; NaN equals itself."""
    return one == other or (one != one and other != other)
