"""What a description, and a model, say of the rows of a part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.monitoring.reading import (
    DataSet,
    EncodedColumn,
    Encoder,
    Part,
    codes_and_numbers,
)
from nn2rules.network import Network
from nn2rules.rules import Description, RuleList
from nn2rules.scorecards import Scorecard
from nn2rules.space import UNKNOWN, Value, columns_for

NOTHING = -1
"""Instead of a class: there is no prediction, or no label."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """What a description says of rows.

    Attributes
    ----------
    classes : ndarray of int64
        The position of the class of each row; `NOTHING` where there is no prediction.
    rules : ndarray of int64, or None
        The rule that determines each row, the number of rules where none does, and one
        more for rows outside the domain. None for a description without rules.
    groups : ndarray of int64
        The same with classes in place of rules.
    is_inside : ndarray of bool
        Whether the row is in the domain.
    totals : ndarray of float64, or None
        The printed total of each row of a scorecard; NaN where there is none.
    """

    classes: NDArray[np.int64]
    rules: NDArray[np.int64] | None
    groups: NDArray[np.int64]
    is_inside: NDArray[np.bool_]
    totals: NDArray[np.float64] | None


def predicted(
    description: Description, columns: Sequence[EncodedColumn], target: int | None
) -> Predicted:
    """Return what a description says of rows, given as encoded columns."""
    codes, numbers = codes_and_numbers(columns, description.domain)
    is_inside = (codes != UNKNOWN).all(axis=1)
    inside = codes[is_inside]
    numbers_inside = None if numbers is None else numbers[is_inside]
    n_rows, n_classes = len(codes), len(description.classes)
    rules = totals = None
    if isinstance(description, RuleList):
        fired = description.match(inside)
        classes, is_covered = description.predictions_by(fired)
        rules = np.full(n_rows, len(description) + 1, dtype=np.int64)
        rules[is_inside] = np.where(fired < 0, len(description), fired)
    else:
        classes, is_covered = description.predictions(inside, numbers_inside)
    if isinstance(description, Scorecard):
        totals = np.full(n_rows, np.nan)
        found = description.totals_codes(inside, numbers_inside)
        place = 0 if found.shape[1] == 1 else target
        if place is not None:
            totals[is_inside] = found[:, place].astype(np.float64)
    known = np.full(n_rows, NOTHING, dtype=np.int64)
    known[is_inside] = np.where(is_covered, classes, NOTHING)
    groups = np.full(n_rows, n_classes + 1, dtype=np.int64)
    groups[is_inside] = np.where(is_covered, classes, n_classes)
    return Predicted(known, rules, groups, is_inside, totals)


@dataclass(frozen=True, slots=True)
class Modelled:
    """What a model says of rows: classes, and scores if there are some.

    A row outside of the model's own domain has no class (`NOTHING`) and no score (NaN).
    """

    classes: NDArray[np.int64]
    scores: NDArray[np.float64] | None


def model_of(
    model: Any,
    description: Description,
    target: int | None,
    sets: Sequence[DataSet],
) -> tuple[tuple[str, ...], Callable[[DataSet], Callable[[Part], Modelled]]]:
    """Return which columns a model reads, and how it is asked about a data set."""
    if isinstance(model, Network):
        positions = _positions(description, model.classes, len(model.classes))
        names = model.domain.names
        return names, lambda data: _network(model, positions, target, data)
    if not callable(getattr(model, "predict", None)):
        raise UnsupportedModelError(
            f"the model is a {type(model).__name__}, which has no predict method; give "
            f"a Network, or a model whose predict(X) returns class labels"
        )
    if any(data.is_file for data in sets):
        raise OptionError(
            "model: for rows in files, give a Network, as read_network returns one; "
            "other models need the rows as frames"
        )
    return (), lambda _: _any_model(model, description, target)


def _positions(description: Description, labels: Any, n_rows: int) -> NDArray[np.int64]:
    try:
        return description.positions(labels, n_rows)
    except OptionError as error:
        raise OptionError(f"the model's predictions: {error}") from None


def _network(
    network: Network,
    positions: NDArray[np.int64],
    target: int | None,
    data: DataSet,
) -> Callable[[Part], Modelled]:
    encoder = Encoder(network.domain, is_file=data.is_file)
    place = None if target is None else positions.tolist().index(target)

    def ask(part: Part) -> Modelled:
        columns = encoder.columns(part)
        codes, numbers = codes_and_numbers(columns, network.domain)
        is_inside = (codes != UNKNOWN).all(axis=1)
        inputs = codes[is_inside], None if numbers is None else numbers[is_inside]
        classes = np.full(len(codes), NOTHING, dtype=np.int64)
        classes[is_inside] = positions[network.predict_codes(*inputs)]
        if place is None:
            return Modelled(classes, None)
        scores = np.full(len(codes), np.nan)
        scores[is_inside] = _probability(network.scores_codes(*inputs), place)
        return Modelled(classes, scores)

    return ask


def _probability(scores: NDArray[np.float64], place: int) -> NDArray[np.float64]:
    """Return the score of one class, from 0 to 1: by sigmoid or softmax."""
    if scores.ndim == 1:
        scores = np.stack([np.zeros(len(scores)), scores], axis=1)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: NDArray[np.float64] = powers[:, place] / powers.sum(axis=1)
    return found


def _any_model(
    model: Any, description: Description, target: int | None
) -> Callable[[Part], Modelled]:
    def ask(part: Part) -> Modelled:
        rows = columns_for(model, part.rows)
        classes = _positions(description, model.predict(rows), part.n_rows)
        if target is None or not callable(getattr(model, "predict_proba", None)):
            return Modelled(classes, None)
        labels = getattr(model, "classes_", description.classes)
        places = _positions(description, labels, len(labels)).tolist()
        scores = np.asarray(model.predict_proba(rows), dtype=np.float64)
        return Modelled(classes, scores[:, places.index(target)])

    return ask


def target_of(description: Description, target: Value) -> int | None:
    """Return the position of the class whose rate is observed.

    By default the second of two classes, and none of several.
    """
    classes = description.classes
    if target is None:
        return 1 if len(classes) == 2 else None
    try:
        return int(description.positions([target], 1)[0])
    except OptionError as error:
        raise OptionError(f"target: {error}") from None
