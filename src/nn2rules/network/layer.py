"""A dense layer of a network."""

import math
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nn2rules.errors import FormatError
from nn2rules.network.activations import ACTIVATIONS, Activation, activation


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """A dense layer: ``activation(inputs @ weights + bias)``.

    Parameters
    ----------
    weights : array of shape (n_in, n_out)
        ``weights[i][j]`` goes from input i to unit j.
    bias : array of shape (n_out,)
    activation : str
        A name of `ACTIVATIONS`; or softmax, for a last layer of several units.
    slope : float, optional
        Of leaky_relu only, below zero; 0.01 if not given.
    """

    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    activation: str = "relu"
    slope: float | None = None

    def __post_init__(self) -> None:
        if self.activation not in ACTIVATIONS and self.activation != "softmax":
            raise FormatError(
                f"unknown activation {self.activation!r}; "
                f"the activations are {', '.join(ACTIVATIONS)} and softmax"
            )
        if self.slope is not None and self.activation != "leaky_relu":
            raise FormatError(f"{self.activation} has no slope; leaky_relu has one")
        if self.slope is not None:
            object.__setattr__(self, "slope", checked_number("slope", self.slope))
        object.__setattr__(self, "weights", _frozen("weights", self.weights, 2))
        object.__setattr__(self, "bias", _frozen("bias", self.bias, 1))
        if len(self.bias) != self.weights.shape[1]:
            raise FormatError(
                f"bias: {len(self.bias)} numbers, expected {self.weights.shape[1]}, "
                f"one for each column of weights"
            )

    @property
    def function(self) -> Activation:
        """The activation as a function (softmax is left to the decision)."""
        if self.activation == "softmax":
            return ACTIVATIONS["identity"]
        return activation(self.activation, self.slope)

    def _key(self) -> tuple[object, ...]:
        return (
            self.weights.shape,
            self.weights.tobytes(),
            self.bias.tobytes(),
            self.activation,
            self.slope,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layer) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        n_in, n_out = self.weights.shape
        return f"Layer({n_in} → {n_out}, {self.activation})"


def checked_number(name: str, number: object) -> float:
    """Return a number of any type as a float that equals it."""
    if isinstance(number, bool | np.bool_) or not isinstance(number, Real):
        raise FormatError(f"{name}: {number!r} is not a number")
    try:
        found = float(number)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise FormatError(f"{name}: {number} is not finite")
    if found != number:
        raise FormatError(f"{name}: {number} cannot be held exactly in 64 bits")
    return found


def _frozen(name: str, array: ArrayLike, ndim: int) -> NDArray[np.float64]:
    """Return a read-only float64 copy of `array`, finite and of `ndim` dimensions."""
    try:
        frozen = np.array(array, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise FormatError(f"{name}: not an array of numbers") from None
    except OverflowError:
        raise FormatError(f"{name}: a number is too large for 64 bits") from None
    if frozen.ndim != ndim or 0 in frozen.shape:
        raise FormatError(
            f"{name}: an array of shape {frozen.shape}, expected {ndim} dimension"
            f"{'s' if ndim > 1 else ''} and no empty one"
        )
    if not np.isfinite(frozen).all():
        raise FormatError(f"{name}: a number is NaN or infinite")
    _check_whole(name, array, frozen)
    frozen += 0.0  # -0.0 becomes 0.0: equal networks have equal bytes
    frozen.flags.writeable = False
    return frozen


def _check_whole(name: str, array: ArrayLike, frozen: NDArray[np.float64]) -> None:
    """Refuse whole numbers that float64 cannot hold: they would be rounded."""
    large = np.abs(frozen) >= 2**53
    if not large.any():
        return
    given = np.array(array, dtype=object)[large]
    for number, held in zip(given.tolist(), frozen[large].tolist(), strict=True):
        if isinstance(number, Integral) and int(number) != int(held):
            raise FormatError(f"{name}: {number} cannot be held exactly in 64 bits")
