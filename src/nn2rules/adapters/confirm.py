"""Compare a network with the model it was read from, before anyone uses it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from nn2rules.activations import ACTIVATIONS
from nn2rules.adapters.rows import RowMaker
from nn2rules.domain import Domain, Rows
from nn2rules.errors import UnsupportedModelError
from nn2rules.feature import UNKNOWN
from nn2rules.network import Network
from nn2rules.values import text_of

FLOAT32, FLOAT64 = 2.0**-24, 2.0**-53
"""The unit roundoff of the formats that models compute in."""

_RANDOM_ROWS = 2000
_DATA_ROWS = 20_000


@dataclass(frozen=True)
class Reading:
    """A network, with the model's own way to answer.

    Attributes
    ----------
    network : Network
    probabilities : callable
        Rows to the model's own shares of the classes: an array of shape
        (n_rows, n_classes), or (n_rows,) with that of class 1.
    unit : float
        The unit roundoff that the model computes with.
    is_score : bool
        Whether `probabilities` gives scores instead, before any sigmoid or softmax.
    """

    network: Network
    probabilities: Callable[[Rows], NDArray[Any]]
    unit: float = FLOAT64
    is_score: bool = False


def confirm(reading: Reading, maker: RowMaker, data: Rows = None) -> Network:
    """Return the network, once it answers as the model does.

    On random inputs of the domain, and on those of the first 20,000 rows of `data` that
    are inputs as they stand. A difference beyond what rounding explains raises an error
    that shows the input.
    """
    network, rng = reading.network, np.random.default_rng(7)
    sizes = np.array(network.domain.sizes)
    codes = rng.integers(sizes, size=(_RANDOM_ROWS, len(sizes)))
    _compare(reading, maker.rows(codes, rng), codes)
    if data is not None:
        rows = data[:_DATA_ROWS]
        codes = _strict(network.domain).encode(rows, unknown="mark")
        known = np.flatnonzero((codes != UNKNOWN).all(axis=1))
        if len(known):
            _compare(reading, _picked(rows, known), codes[known])
    return network


def _strict(domain: Domain) -> Domain:
    """Return a domain in which no value stands for cells that it is not."""
    features = domain.features
    return Domain(tuple(replace(f, nearest=False, other=None) for f in features))


def _picked(rows: Rows, positions: NDArray[np.int64]) -> Rows:
    if isinstance(rows, list | tuple):
        return [rows[position] for position in positions]
    return nw.from_native(rows, eager_only=True)[positions.tolist()].to_native()


def _compare(reading: Reading, rows: Rows, codes: NDArray[np.int64]) -> None:
    network = reading.network
    ours = network.scores_codes(codes)
    theirs = np.asarray(reading.probabilities(rows), dtype=np.float64)
    if network.is_binary and theirs.ndim == 2:
        theirs = theirs[:, -1]
    if ours.shape != theirs.shape:
        raise UnsupportedModelError(
            f"the model answers with an array of shape {theirs.shape}, expected "
            f"{ours.shape}; its classes cannot be told"
        )
    if not reading.is_score:
        ours = _shares(ours)
    wrong = ~(np.abs(ours - theirs) <= _tolerance(reading, ours))
    if not wrong.any():
        return
    row = int(np.argwhere(wrong)[0][0])
    shown = ", ".join(
        f"{name} = {text_of(value)}"
        for name, value in network.domain.decode(codes[row : row + 1])[0].items()
    )
    raise UnsupportedModelError(
        f"the network that was read does not answer as the model does: on the input "
        f"({shown}) it gives {_number(ours[row])}, the model {_number(theirs[row])}; "
        f"please report this model"
    )


def _shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    if scores.ndim == 1:
        return ACTIVATIONS["sigmoid"].floats(scores)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _tolerance(reading: Reading, ours: NDArray[np.float64]) -> Any:
    """Return what rounding explains: the smaller of a proof and of what is usual."""
    certified = reading.network.model_error
    bound = np.inf if certified is None else 2 * certified
    usual = (
        reading.unit**0.5
        if not reading.is_score
        else reading.unit**0.5 * (1 + np.abs(ours))
    )
    return np.minimum(bound, usual) + 64 * reading.unit


def _number(numbers: Any) -> str:
    return ", ".join(f"{number:.6g}" for number in np.atleast_1d(numbers))
