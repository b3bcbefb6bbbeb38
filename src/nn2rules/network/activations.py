"""The activations a layer may have, each in three arithmetics.

Every activation is one entry of `ACTIVATIONS`: as a fast function of float64 arrays
with a bound on its error, as an exact function of fractions where it is piecewise
linear, and as a function of intervals of any precision (mpmath) where it is smooth.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Activation:
    """A real function, applied to every unit of a layer.

    Parameters
    ----------
    floats
        The function on float64 arrays.
    lipschitz
        An input that is off by e gives an output that is off by at most
        ``lipschitz * e``.
    at_zero
        The value at 0, which with `lipschitz` bounds the function everywhere.
    rounding
        The error of `floats` itself is at most ``rounding * u * (1 + |y|)``, where
        u = 2**-53. Zero where nothing is rounded.
    exact
        The function on fractions; None when it is not piecewise linear.
    interval
        The function on mpmath intervals; None when `exact` is given.
    mirror
        Numbers (s, a, b) such that f(-y) = s f(y) + a + b y; None if there are none.
    kinks
        Where `exact` changes its slope, in ascending order.
    """

    floats: Callable[[Array], Array]
    lipschitz: float
    at_zero: float = 0.0
    rounding: float = 0.0
    exact: Callable[[Fraction], Fraction] | None = None
    interval: Callable[[Any], Any] | None = None
    mirror: tuple[int, int, int] | None = None
    kinks: tuple[int, ...] = ()

    @property
    def at_zero_exact(self) -> Fraction | None:
        """The value at 0 if it is rational."""
        return None if self.interval is _softplus_interval else Fraction(self.at_zero)


def activation(name: str, slope: float | None = None) -> Activation:
    """Return the activation called `name`; only leaky_relu has a `slope`.

    Examples
    --------
    >>> activation("relu").floats(np.array([-1.0, 2.0]))
    array([0., 2.])
    >>> activation("leaky_relu", 0.25).exact(Fraction(-1))
    Fraction(-1, 4)
    """
    if name == "leaky_relu":
        return _leaky_relu(0.01 if slope is None else slope)
    return ACTIVATIONS[name]


def _leaky_relu(slope: float) -> Activation:
    exact_slope = Fraction(slope)
    return Activation(
        lambda y: np.where(y > 0, y, slope * y),
        lipschitz=max(1.0, abs(slope)),
        rounding=1.0 + abs(slope),
        exact=lambda y: y if y > 0 else exact_slope * y,
        kinks=(0,),
    )


def _sigmoid(y: Array) -> Array:
    small = np.exp(-np.abs(y))  # never overflows
    return np.where(y >= 0, 1.0, small) / (1.0 + small)


_erf = np.frompyfunc(math.erf, 1, 1)


def _gelu(y: Array) -> Array:
    erf = np.asarray(_erf(y / math.sqrt(2.0)), dtype=np.float64)
    return 0.5 * y * (1.0 + erf)


def _clip(y: Fraction, low: int, high: int) -> Fraction:
    return min(max(y, Fraction(low)), Fraction(high))


def widened(y: Any) -> Any:
    """Widen an interval by a little: mpmath's functions may round an ulp inwards."""
    slack = y.ctx.ldexp(1 + abs(y), 16 - y.ctx.prec)
    return y + slack * y.ctx.mpf([-1, 1])


def _between(y: Any, low: float, high: float) -> Any:
    """Cut an interval to the values that a function can have."""
    from mpmath.libmp import from_float, mpf_gt, mpf_lt

    least, most = from_float(low), from_float(high)
    above = [least if mpf_lt(end, least) else end for end in y._mpi_]
    return y.ctx.make_mpf(tuple(most if mpf_gt(end, most) else end for end in above))


def _sigmoid_interval(y: Any) -> Any:
    return _between(widened(1 / (1 + y.ctx.exp(-y))), 0, 1)


def _tanh_interval(y: Any) -> Any:
    return _between(widened(1 - 2 / (y.ctx.exp(2 * y) + 1)), -1, 1)


def _softplus_interval(y: Any) -> Any:
    return _between(widened(y.ctx.log(1 + y.ctx.exp(y))), 0, math.inf)


def _elu_interval(y: Any) -> Any:
    # Of numbers above 0 nothing is made: exp(1e43) would fill the memory later on.
    below = widened(y.ctx.exp(_between(y, -math.inf, 0)) - 1)
    low, high = y._mpi_
    ends = low if y.a >= 0 else below._mpi_[0], high if y.b >= 0 else below._mpi_[1]
    return _between(y.ctx.make_mpf(ends), -1, math.inf)


def _gelu_interval(y: Any) -> Any:
    from mpmath.ctx_mp import MPContext

    mp = MPContext()  # the interval context has no erf; threads must not share one
    mp.prec = y.ctx.prec + 20
    low, high = (mp.erf(mp.make_mpf(end) / mp.sqrt(2)) for end in y._mpi_)
    slack = mp.mpf(2) ** (-y.ctx.prec - 10)  # erf is accurate to an ulp or two
    erf = y.ctx.make_mpf(((low - slack)._mpf_, (high + slack)._mpf_))
    return y * (1 + erf) / 2


ACTIVATIONS: dict[str, Activation] = {
    "elu": Activation(
        lambda y: np.where(y > 0, y, np.expm1(np.minimum(y, 0.0))),
        lipschitz=1.0,
        rounding=16.0,
        interval=_elu_interval,
    ),
    "gelu": Activation(
        _gelu, lipschitz=1.13, rounding=32.0, interval=_gelu_interval, mirror=(1, 0, -1)
    ),
    "hard_sigmoid": Activation(
        lambda y: np.clip(y / 6.0 + 0.5, 0.0, 1.0),
        lipschitz=1 / 6 + 1e-9,
        at_zero=0.5,
        rounding=4.0,
        exact=lambda y: _clip(y / 6 + Fraction(1, 2), 0, 1),
        kinks=(-3, 3),
    ),
    "hard_tanh": Activation(
        lambda y: np.clip(y, -1.0, 1.0),
        lipschitz=1.0,
        exact=lambda y: _clip(y, -1, 1),
        kinks=(-1, 1),
    ),
    "identity": Activation(lambda y: y, lipschitz=1.0, exact=lambda y: y),
    "leaky_relu": _leaky_relu(0.01),
    "relu": Activation(
        lambda y: np.maximum(y, 0.0),
        lipschitz=1.0,
        exact=lambda y: max(y, Fraction(0)),
        kinks=(0,),
    ),
    "sigmoid": Activation(
        _sigmoid,
        lipschitz=0.25,
        at_zero=0.5,
        rounding=16.0,
        interval=_sigmoid_interval,
        mirror=(-1, 1, 0),
    ),
    "silu": Activation(
        lambda y: y * _sigmoid(y),
        lipschitz=1.1,
        rounding=32.0,
        interval=lambda y: y * _sigmoid_interval(y),
        mirror=(1, 0, -1),
    ),
    "softplus": Activation(
        lambda y: np.logaddexp(0.0, y),
        lipschitz=1.0,
        at_zero=math.log(2.0) + 1e-9,
        rounding=16.0,
        interval=_softplus_interval,
        mirror=(1, 0, -1),
    ),
    "tanh": Activation(
        np.tanh,
        lipschitz=1.0,
        rounding=16.0,
        interval=_tanh_interval,
        mirror=(-1, 0, 0),
    ),
}
"""Every activation of a hidden layer, by the name it has in network files."""
