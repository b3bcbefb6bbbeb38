"""Compare a network with the model it was read from, before anyone uses it.

Both the numbers that the model gives are compared, and the classes that a user of the
model takes from them.
"""

import importlib.util
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.decision import Decision
from nn2rules.models.model_rows import RowMaker, picked
from nn2rules.models.tracing import FLOAT32, FLOAT64
from nn2rules.network import Network, certified
from nn2rules.space import (
    SPELLING_TEXTS,
    SPELLINGS,
    UNKNOWN,
    Domain,
    Feature,
    Lookup,
    Rows,
    Value,
    cells_of,
    spelling_of,
    text_of,
)

_BASES = 64

Outputs = Callable[[Rows], NDArray[Any]]

_RANDOM_ROWS = 2000
_DATA_ROWS = 20_000


@dataclass(frozen=True)
class Reading:
    """What was read of a model, with the model's own way to answer.

    Attributes
    ----------
    decision : Decision
        The network, and what the model's outputs mean.
    outputs : callable
        Rows to what the model itself gives, with a row of numbers for each.
    unit : float
        The unit roundoff that the model computes with.
    origin : mapping
        What the model is and what ran it, for the certificate; plain JSON.
    bent : set of int
        Features with steps that are not known to be along a line, by their code.
    grain : float
        The unit roundoff of what the model is given, if that is coarser.
    slack : float
        How much of the bound on the model's error is due to its ranges: a model rounds
        the numbers themselves, too.
    predictions : callable, optional
        Rows to the positions of the classes that the model itself predicts; by default
        they follow from its outputs.
    """

    decision: Decision
    outputs: Callable[[Rows], NDArray[Any]]
    unit: float = FLOAT64
    origin: Mapping[str, Any] = field(default_factory=dict)
    bent: frozenset[int] = frozenset()
    grain: float = FLOAT64
    slack: float = 0.0
    predictions: Callable[[Rows], NDArray[np.int64]] | None = None


def confirm(reading: Reading, maker: RowMaker, data: Rows = None) -> Network:
    """Return the network, once it answers as the model does.

    On random inputs of the domain, and on those of the first 20,000 rows of `data` that
    are inputs as they stand. A difference beyond what rounding explains raises an error
    that shows the input. Rows of `data` where rounding does explain that the model
    predicts another class are counted in the network's origin.
    """
    not_missing = refused_spellings(reading.outputs, maker)
    network = _refusing(reading.decision.network, not_missing)
    reading = replace(reading, decision=replace(reading.decision, network=network))
    rng = np.random.default_rng(7)
    sizes = np.array(network.domain.sizes)
    codes = rng.integers(sizes, size=(_RANDOM_ROWS, len(sizes)))
    rows = maker.rows(codes, rng)
    _compare(reading, rows, *network.domain.inputs_of(rows))
    compared = {"random": _RANDOM_ROWS, "given": 0}
    if data is not None:
        rows = data[:_DATA_ROWS]
        codes = _strict(network.domain).encode(rows, unknown="mark")
        known = np.flatnonzero((codes != UNKNOWN).all(axis=1))
        if len(known):
            chosen = picked(rows, known.tolist())
            has_ranges = network.domain.has_ranges
            numbers = network.domain.numbers(chosen) if has_ranges else None
            n_rounded = _compare(reading, chosen, codes[known], numbers)
            if n_rounded:
                compared["given_rounded_otherwise"] = n_rounded
        compared["given"] = len(known)
    origin = {
        **reading.origin,
        "output": reading.decision.words,
        "compared": "outputs and answers",
        "compared_rows": compared,
        **({"not_missing": not_missing} if not_missing else {}),
    }
    return replace(network, origin=origin)


def _refusing(network: Network, not_missing: Mapping[str, list[str]]) -> Network:
    """Return the network whose features refuse these spellings of missing."""
    if not not_missing:
        return network
    features = tuple(
        replace(feature, not_missing=tuple(not_missing.get(feature.name, ())))
        for feature in network.domain.features
    )
    return replace(network, domain=Domain(features))


def _strict(domain: Domain) -> Domain:
    """Return a domain in which no value stands for cells that it is not."""
    features = domain.features
    return Domain(tuple(replace(f, other=None) for f in features))


def _compare(
    reading: Reading,
    rows: Rows,
    codes: NDArray[np.int64],
    numbers: NDArray[np.float64] | None,
) -> int:
    """Refuse a difference beyond rounding; count the classes that rounding changes."""
    decision = reading.decision
    network = decision.network
    scores = network.scores_codes(codes, numbers)
    ours = decision.outputs(scores)
    theirs = np.asarray(reading.outputs(rows)).astype(np.float64)
    if ours.ndim == 1 and theirs.size == len(ours):
        theirs = theirs.reshape(-1)
    if ours.shape != theirs.shape:
        raise UnsupportedModelError(
            f"the model answers with an array of shape {theirs.shape}, expected "
            f"{ours.shape}; its classes cannot be told"
        )
    wrong = ~(np.abs(ours - theirs) <= _tolerance(reading, ours))
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        [given] = network.domain.decode(*_one(codes, numbers, row))
        raise _differs(reading, given, _number(ours[row]), _number(theirs[row]))
    is_sure = _is_sure(reading, scores)
    wrong = is_sure & (decision.answers(theirs) != _answers(network, scores))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        found = (_answers(network, scores)[row], decision.answers(theirs)[row])
        [given] = network.domain.decode(*_one(codes, numbers, row))
        raise _differs(reading, given, *(repr(network.classes[i]) for i in found))
    unsure = np.flatnonzero(~is_sure)
    if not len(unsure):
        return 0
    predicted = decision.answers(theirs)[unsure]
    if reading.predictions is not None:
        predicted = reading.predictions(picked(rows, unsure.tolist()))
    some = None if numbers is None else numbers[unsure]
    return int((predicted != network.predict_codes(codes[unsure], some)).sum())


def _one(
    codes: NDArray[np.int64], numbers: NDArray[np.float64] | None, row: int
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    return codes[[row]], None if numbers is None else numbers[[row]]


def _answers(network: Network, scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the classes of scores; these are right where `_is_sure`."""
    if network.is_binary:
        limit = certified.logit(network.threshold)
        return (scores > limit).astype(np.int64)
    return np.asarray(scores.argmax(axis=1))


def _is_sure(reading: Reading, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell where no rounding of the model can change its answer."""
    network = reading.decision.network
    error = network.model_error
    if error is None:
        error = reading.unit**0.5 * (1 + float(np.abs(scores).max(initial=0.0)))
    if network.is_binary:
        return np.abs(scores - certified.logit(network.threshold)) > 2 * error
    ranked = np.sort(scores, axis=1)
    sure: NDArray[np.bool_] = ranked[:, -1] - ranked[:, -2] > 4 * error
    return sure


def _differs(
    reading: Reading, given: Mapping[str, Value], ours: str, theirs: str
) -> UnsupportedModelError:
    """Return the error that shows an input on which two answers differ."""
    advice = "please report this model"
    if reading.unit > FLOAT32:
        digits = int(-math.log10(reading.unit))
        advice = (
            f"the model computes with {digits} or {digits + 1} digits (as in float16 "
            f"or bfloat16), which may be too coarse; convert it to float32"
        )
    shown = ", ".join(f"{name} = {text_of(value)}" for name, value in given.items())
    return UnsupportedModelError(
        f"the network that was read does not answer as the model does: on the input "
        f"({shown}) it gives {ours}, the model {theirs}; {advice}"
    )


def _tolerance(reading: Reading, ours: NDArray[np.float64]) -> Any:
    """Return what rounding explains: the smaller of a proof and of what is usual."""
    certified = reading.decision.network.model_error
    bound = np.inf if certified is None else 2 * certified
    usual: Any = reading.unit**0.5
    if not reading.decision.has_shares:
        usual = usual * (1 + np.abs(ours))
    return np.minimum(bound, usual + 2 * reading.slack) + 64 * reading.unit


def _number(numbers: Any) -> str:
    return ", ".join(f"{number:.6g}" for number in np.atleast_1d(numbers))


def refused_spellings(outputs: Outputs, maker: RowMaker) -> dict[str, list[str]]:
    """Return, by feature, the spellings that a model tells from its missing value."""
    found = {}
    for index, feature in enumerate(maker.domain.features):
        if None in feature.words:
            told = _told_apart(outputs, maker, index)
            if told:
                found[feature.name] = told
    return found


def _told_apart(outputs: Outputs, maker: RowMaker, index: int) -> list[str]:
    name = maker.domain.names[index]
    usual = maker.frame(_columns(maker, index))
    expected = _outputs(outputs, usual)
    if expected is None:
        return []
    kept = set()
    if not isinstance(usual, list):  # rows hold this one, and were asked about as such
        kept = {spelling_of(cell) for cell in cells_of(usual, [name])[0]}
    lookup = Lookup(maker.domain.features[index])
    return [
        spelling
        for spelling, cells in _cells().items()
        if spelling not in kept
        and any(
            not np.array_equal(given, expected, equal_nan=True)
            for cell in cells
            if lookup[cell] == lookup[None]  # a text may be a word of the feature's
            for rows in _spelled(usual, name, cell)
            if (given := _outputs(outputs, rows)) is not None
        )
    ]


def _columns(maker: RowMaker, index: int) -> list[list[Value]]:
    """Return random cells in which one feature is missing, and no other if it can."""
    rng, columns = np.random.default_rng(13), []
    for place, feature in enumerate(maker.domain.features):
        present = [code for code in range(len(feature)) if not _is_gap(feature, code)]
        codes = rng.choice(present or [0], size=_BASES).tolist()
        columns.append([maker.examples(place, code)[0] for code in codes])
    columns[index] = [None] * _BASES
    return columns


def _is_gap(feature: Feature, code: int) -> bool:
    if feature.groups is not None:
        return None in feature.groups[code]
    return feature.values[code] is None


def _cells() -> dict[str, list[Any]]:
    """Return the cells of each spelling that there can be."""
    cells: dict[str, list[Any]] = {"None": [None], "NaN": [float("nan")]}
    cells |= {name: [*texts] for name, texts in SPELLING_TEXTS.items()}
    if importlib.util.find_spec("pandas") is not None:
        import pandas as pd

        cells |= {"NA": [pd.NA], "NaT": [pd.NaT]}
    return {spelling: cells[spelling] for spelling in SPELLINGS if spelling in cells}


def _spelled(usual: Rows, name: str, cell: object) -> Iterator[Rows]:
    """Yield rows whose column `name` holds a cell, as a frame of objects has it."""
    if isinstance(usual, list):
        yield [row | {name: cell} for row in usual]
    if importlib.util.find_spec("pandas") is None:
        return
    import pandas as pd

    try:
        frame = (
            pd.DataFrame(usual)
            if isinstance(usual, list)
            else nw.from_native(usual, eager_only=True).to_pandas()
        )
    except Exception:  # noqa: BLE001  each library has its own errors
        return
    column = pd.Series([cell] * len(frame), dtype=object, index=frame.index)
    yield frame.assign(**{name: column})


def _outputs(outputs: Outputs, rows: Rows) -> NDArray[Any] | None:
    """Return what a model gives for rows; None if it fails."""
    try:
        return np.asarray(outputs(rows), dtype=np.float64)
    except Exception:  # noqa: BLE001  a model may raise anything
        return None
