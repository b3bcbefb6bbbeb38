"""Compare a network with the model it was read from, before anyone uses it.

Both the outputs of the model and its predicted classes are compared.
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
    Grouped,
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
    """A network that was read from a model, and how to run the model itself.

    Attributes
    ----------
    decision : Decision
        The network, and what the model's outputs mean.
    outputs : callable
        From rows to the model's own outputs, one row of numbers for each.
    unit : float
        The unit roundoff that the model computes with.
    origin : mapping
        The framework and its version, for the certificate; plain JSON.
    nonlinear : set of int
        Features with steps that are not known to be linear from their code.
    grain : float
        The unit roundoff of the model's inputs, if it is coarser.
    slack : float
        The part of the bound on the model's error that is due to ranges, because a
        model also rounds the input numbers.
    predictions : callable, optional
        From rows to the positions of the classes that the model itself predicts; by
        default they follow from its outputs.
    """

    decision: Decision
    outputs: Callable[[Rows], NDArray[Any]]
    unit: float = FLOAT64
    origin: Mapping[str, Any] = field(default_factory=dict)
    nonlinear: frozenset[int] = frozenset()
    grain: float = FLOAT64
    slack: float = 0.0
    predictions: Callable[[Rows], NDArray[np.int64]] | None = None


def confirm(reading: Reading, maker: RowMaker, data: Rows = None) -> Network:
    """Return the network after comparing it with the model.

    They are compared on random inputs of the domain, and on the first 20,000 rows of
    `data`, as far as these are inputs. A difference that rounding does not explain
    raises an error that shows the input. Rows of `data` for which the model predicts
    another class because of rounding are counted in the network's origin.
    """
    not_missing = refused_spellings(reading.outputs, maker)
    network = _refusing(reading.decision.network, not_missing)
    reading = replace(reading, decision=replace(reading.decision, network=network))
    rng = np.random.default_rng(7)
    sizes = np.array(network.domain.sizes)
    codes = rng.integers(sizes, size=(_RANDOM_ROWS, len(sizes)))
    rows = maker.rows(codes, rng)
    _compare(reading, rows, *network.domain.inputs_of(rows))
    compared = {"random": _RANDOM_ROWS, "data": 0}
    if data is not None:
        rows = data[:_DATA_ROWS]
        codes = _strict(network.domain).encode(rows, unknown="mark")
        inputs = np.flatnonzero((codes != UNKNOWN).all(axis=1))
        if len(inputs):
            chosen = picked(rows, inputs.tolist())
            has_ranges = network.domain.has_ranges
            numbers = network.domain.numbers(chosen) if has_ranges else None
            n_rounded = _compare(reading, chosen, codes[inputs], numbers)
            if n_rounded:
                compared["data_rounded_differently"] = n_rounded
        compared["data"] = len(inputs)
    origin = {
        **reading.origin,
        "output": reading.decision.meaning,
        "compared": "outputs and predictions",
        "compared_rows": compared,
        **({"not_missing": not_missing} if not_missing else {}),
    }
    return replace(network, origin=origin)


def _refusing(network: Network, not_missing: Mapping[str, list[str]]) -> Network:
    """Return the network with features that refuse these spellings of missing."""
    if not not_missing:
        return network
    features = tuple(
        replace(feature, not_missing=tuple(not_missing.get(feature.name, ())))
        for feature in network.domain.features
    )
    return replace(network, domain=Domain(features))


def _strict(domain: Domain) -> Domain:
    """Return the domain without categories for others."""
    features = domain.features
    return Domain(tuple(replace(f, other=None) for f in features))


def _compare(
    reading: Reading,
    rows: Rows,
    codes: NDArray[np.int64],
    numbers: NDArray[np.float64] | None,
) -> int:
    """Refuse differences beyond rounding; count predictions that rounding changes."""
    decision = reading.decision
    network = decision.network
    scores = network.scores_codes(codes, numbers)
    ours = decision.outputs(scores)
    theirs = np.asarray(reading.outputs(rows)).astype(np.float64)
    if ours.ndim == 1 and theirs.size == len(ours):
        theirs = theirs.reshape(-1)
    if ours.shape != theirs.shape:
        raise UnsupportedModelError(
            f"the model's output has the shape {theirs.shape}, expected {ours.shape}; "
            f"its classes are unclear"
        )
    wrong = ~(np.abs(ours - theirs) <= _tolerance(reading, ours))
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        [cells] = network.domain.decode(*_one(codes, numbers, row))
        raise _differs(reading, cells, _number(ours[row]), _number(theirs[row]))
    is_sure = _is_sure(reading, scores)
    wrong = is_sure & (decision.predicted(theirs) != _predicted(network, scores))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        differing = (_predicted(network, scores)[row], decision.predicted(theirs)[row])
        [cells] = network.domain.decode(*_one(codes, numbers, row))
        raise _differs(reading, cells, *(repr(network.classes[i]) for i in differing))
    unsure = np.flatnonzero(~is_sure)
    if not len(unsure):
        return 0
    predicted = decision.predicted(theirs)[unsure]
    if reading.predictions is not None:
        predicted = reading.predictions(picked(rows, unsure.tolist()))
    some = None if numbers is None else numbers[unsure]
    return int((predicted != network.predict_codes(codes[unsure], some)).sum())


def _one(
    codes: NDArray[np.int64], numbers: NDArray[np.float64] | None, row: int
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    return codes[[row]], None if numbers is None else numbers[[row]]


def _predicted(network: Network, scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the classes of scores; they are certain where `_is_sure`."""
    if network.is_binary:
        limit = certified.logit(network.threshold)
        return (scores > limit).astype(np.int64)
    return np.asarray(scores.argmax(axis=1))


def _is_sure(reading: Reading, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell where no rounding of the model can change its prediction."""
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
    reading: Reading, cells: Mapping[str, Value], ours: str, theirs: str
) -> UnsupportedModelError:
    """Return the error that shows an input on which the outputs differ."""
    advice = "please report this model"
    if reading.unit > FLOAT32:
        digits = int(-math.log10(reading.unit))
        advice = (
            f"the model computes with about {digits} digits (as in float16 or "
            f"bfloat16), which may be too coarse; convert it to float32"
        )
    shown = ", ".join(f"{name} = {text_of(value)}" for name, value in cells.items())
    return UnsupportedModelError(
        f"the network differs from the model it was read from: on the input ({shown}) "
        f"it gives {ours}, but the model gives {theirs}; {advice}"
    )


def _tolerance(reading: Reading, ours: NDArray[np.float64]) -> Any:
    """Return what rounding explains: a proved bound or a usual one, if smaller."""
    certified = reading.decision.network.model_error
    bound = np.inf if certified is None else 2 * certified
    usual: Any = reading.unit**0.5
    if not reading.decision.has_probabilities:
        usual = usual * (1 + np.abs(ours))
    return np.minimum(bound, usual + 2 * reading.slack) + 64 * reading.unit


def _number(numbers: Any) -> str:
    return ", ".join(f"{number:.6g}" for number in np.atleast_1d(numbers))


def refused_spellings(outputs: Outputs, maker: RowMaker) -> dict[str, list[str]]:
    """Return the spellings of missing, by feature, that a model treats differently."""
    refused = {}
    for index, feature in enumerate(maker.domain.features):
        if None in feature.categories:
            spellings = _distinguished_spellings(outputs, maker, index)
            if spellings:
                refused[feature.name] = spellings
    return refused


def _distinguished_spellings(
    outputs: Outputs, maker: RowMaker, index: int
) -> list[str]:
    name = maker.domain.names[index]
    usual = maker.frame(_columns(maker, index))
    expected = _outputs(outputs, usual)
    if expected is None:
        return []
    kept = set()
    if not isinstance(usual, list):  # the rows have this spelling
        kept = {spelling_of(cell) for cell in cells_of(usual, [name])[0]}
    lookup = Lookup(maker.domain.features[index])
    return [
        spelling
        for spelling, cells in _cells().items()
        if spelling not in kept
        and any(
            not np.array_equal(outcome, expected, equal_nan=True)
            for cell in cells
            if lookup[cell] == lookup[None]  # a text may be a category of the feature
            for rows in _spelled(usual, name, cell)
            if (outcome := _outputs(outputs, rows)) is not None
        )
    ]


def _columns(maker: RowMaker, index: int) -> list[list[Value]]:
    """Return random cells in which one feature is missing, and no other if possible."""
    rng, columns = np.random.default_rng(13), []
    for place, feature in enumerate(maker.domain.features):
        present = [code for code in range(len(feature)) if not _is_gap(feature, code)]
        codes = rng.choice(present or [0], size=_BASES).tolist()
        columns.append([maker.examples(place, code)[0] for code in codes])
    columns[index] = [None] * _BASES
    return columns


def _is_gap(feature: Feature, code: int) -> bool:
    if isinstance(feature, Grouped):
        return None in feature.groups[code]
    return feature.values[code] is None


def _cells() -> dict[str, list[Any]]:
    """Return the cells of each spelling of a missing value."""
    cells: dict[str, list[Any]] = {"None": [None], "NaN": [float("nan")]}
    cells |= {name: [*texts] for name, texts in SPELLING_TEXTS.items()}
    if importlib.util.find_spec("pandas") is not None:
        import pandas as pd

        cells |= {"NA": [pd.NA], "NaT": [pd.NaT]}
    return {spelling: cells[spelling] for spelling in SPELLINGS if spelling in cells}


def _spelled(usual: Rows, name: str, cell: object) -> Iterator[Rows]:
    """Yield rows whose column `name` holds one cell, as an object."""
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
    frame = frame.copy()  # not `assign`, which has no column called self
    frame[name] = pd.Series([cell] * len(frame), dtype=object, index=frame.index)
    yield frame


def _outputs(outputs: Outputs, rows: Rows) -> NDArray[Any] | None:
    """Return the outputs of a model for rows; None if it fails."""
    try:
        return np.asarray(outputs(rows), dtype=np.float64)
    except Exception:  # noqa: BLE001  a model may raise anything
        return None
