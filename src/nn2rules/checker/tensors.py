"""Answer as a network does for many inputs at once, on a device.

Numbers are float32; those too near to a tie for it float64, and those left are worked
out in fractions (`evaluate`).

The error of float32, with u = 2**-24: `S` is, for each unit, 1 and the magnitudes that
it adds up, where an activation is held by ``|f(x)| <= 1.2 * (1 + |x|)`` and turns an
error e into 1.2 e at most (as in `evaluate`). The first sums of m features are off by
``(m + 3) u S``: each weight is rounded, and then added m times at most. An activation
adds ``128 u * 1.2 S``: CUDA's functions are off by 4 u, and compound ones by a few
times that. A sum of n products adds ``2 (n + 3) u`` of its own S, which holds 1.2 times
the S before, weighted. So scores are off by at most k u S, k being the sum of these
counts, as long as k u < 0.1. A lead, of one score over another, counts if it exceeds
four times as much. Where a magnitude reaches 1e25 float32 is not used; below, what is
flushed to 0, each time less than 1e-37, is less than u of the 1 in S.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from nn2rules.checker.evaluate import UNDECIDED, classify
from nn2rules.device import torch_device
from nn2rules.network import Network

_UNIT = 2.0**-24
_MOST = 1e25
_OWN = 128  # units that an activation may be off

Combinations = dict[int, Any]  # feature → a tensor of its codes


class TensorNetwork:
    """A network on a device.

    Parameters
    ----------
    network : Network
        Without ranges of numbers.
    device : str

    Attributes
    ----------
    kind : torch.dtype
        Of the sums that `classes` takes: float32 where that can tell anything.
    """

    def __init__(self, network: Network, device: str) -> None:
        self.network = network
        self.torch, self.device = torch_device(device)
        lead, total = float32_lead(network)
        is_single = math.isfinite(lead)
        self.kind = self.torch.float32 if is_single else self.torch.float64
        self._leads = {self.torch.float32: lead, self.torch.float64: 1e-9 * total}
        self._layers = {
            kind: [
                (self.tensor(layer.weights, kind), self.tensor(layer.bias, kind))
                for layer in network.layers
            ]
            for kind in {self.kind, self.torch.float64}
        }

    def tensor(self, numbers: Any, kind: Any) -> Any:
        """Return numbers as a tensor on the device."""
        return self.torch.tensor(numbers, dtype=kind, device=self.device)

    def combinations(self, features: range, numbers: Any) -> Combinations:
        """Return the codes of combinations of some features' values, by number."""
        codes: Combinations = {}
        for feature in reversed(features):
            size = self.network.domain.sizes[feature]
            codes[feature], numbers = numbers % size, numbers // size
        return codes

    def sums(self, kind: Any, codes: Combinations) -> Any:
        """Return what some features add to the units of the first layer."""
        weights = self._layers[kind][0][0]
        total = self.torch.zeros_like(weights[:1])
        for feature, code in codes.items():
            total = total + weights[code + int(self.network.domain.offsets[feature])]
        return total

    def classes(self, sums: Any, start: int) -> Any:
        """Return the classes of the inputs from the number `start` on.

        `sums` are their first sums, without the bias. Where even fractions do not tell,
        the class is `UNDECIDED`.
        """
        double, n_features = self.torch.float64, len(self.network.domain.sizes)
        found = self._sure(sums, self.kind)
        if self.kind != double:
            left = (found == UNDECIDED).nonzero()[:, 0]
            for some in left.split(max(1, len(sums) // 4)):
                codes = self.combinations(range(n_features), start + some)
                found[some] = self._sure(self.sums(double, codes), double)
        left = (found == UNDECIDED).nonzero()[:, 0]
        if len(left):
            inputs = self.network.domain.codes_of(start + left.cpu().numpy())
            exact = classify(self.network, inputs)
            found[left] = self.tensor(exact, found.dtype)
        return found

    def _sure(self, sums: Any, kind: Any) -> Any:
        """Return the class of each input that is sure; `UNDECIDED` for others."""
        torch, layers = self.torch, self._layers[kind]
        scores = sums + layers[0][1]
        for before, (weights, bias) in zip(
            self.network.layers[:-1], layers[1:], strict=True
        ):
            slope = 0.01 if before.slope is None else before.slope
            scores = TENSORS[before.activation](torch, scores, slope) @ weights + bias
        if scores.shape[1] == 1:
            ahead = scores[:, 0] - _logit(self.network)
            best, lead = (ahead > 0).long(), ahead.abs()
        else:
            two = scores.topk(2, dim=1)
            best, lead = two.indices[:, 0], two.values[:, 0] - two.values[:, 1]
        return torch.where(lead > self._leads[kind], best, UNDECIDED)


def float32_lead(network: Network) -> tuple[float, float]:
    """Return a lead beyond all errors of float32, and the sum of all magnitudes.

    The lead is infinite if float32 cannot tell anything.
    """
    first, offsets = network.layers[0], network.domain.offsets
    tables = np.split(np.abs(first.weights), offsets[1:-1])
    with np.errstate(all="ignore"):
        sums = 1 + np.abs(first.bias) + sum(table.max(axis=0) for table in tables)
        largest, count = [sums.max()], len(tables) + 3
        for before, layer in pairwise(network.layers):
            slope = 0.01 if before.slope is None else before.slope
            grown = max(1.2, abs(slope)) * sums
            sums = 1 + np.abs(layer.bias) + grown @ np.abs(layer.weights)
            largest += [grown.max(), sums.max()]
            count += _OWN + 2 * (len(layer.weights) + 3)
        total = float(sums.sum())
        logit = abs(_logit(network)) if len(sums) == 1 else 0.0
        is_safe = all(size < _MOST for size in largest) and count * _UNIT < 0.1
        lead = 4 * count * _UNIT * (total + logit)
    return (lead if is_safe else math.inf), total


def _logit(network: Network) -> float:
    return math.log(network.threshold / (1 - network.threshold))


class FullPrecision:
    """Lets products of matrices have all bits of float32, for a while."""

    def __init__(self, torch: Any, device: Any) -> None:
        self.torch, self._plain = torch, torch.autocast(device.type, enabled=False)
        places = [
            torch.backends.cuda.matmul,
            getattr(torch.backends.mkldnn, "matmul", None),
        ]
        is_new = all(hasattr(place, "fp32_precision") for place in places)
        self._places = places if is_new else []  # not before PyTorch 2.9

    def __enter__(self) -> None:
        self._before = [place.fp32_precision for place in self._places]
        for place in self._places:
            place.fp32_precision = "ieee"
        # What the older function says must not contradict, or PyTorch refuses to work.
        self._older = self.torch.get_float32_matmul_precision()
        if self._older != "highest":
            self.torch.set_float32_matmul_precision("highest")
        self._plain.__enter__()

    def __exit__(self, *error: object) -> None:
        self._plain.__exit__(*error)
        if self._older != "highest":
            self.torch.set_float32_matmul_precision(self._older)
        for place, name in zip(self._places, self._before, strict=True):
            place.fp32_precision = name


TENSORS: dict[str, Callable[[Any, Any, float], Any]] = {
    "elu": lambda t, x, _: t.where(x > 0, x, t.expm1(t.clamp(x, max=0))),
    "gelu": lambda t, x, _: x * (1 + t.erf(x / math.sqrt(2))) / 2,
    "hard_sigmoid": lambda t, x, _: t.clamp(x / 6 + 0.5, 0, 1),
    "hard_tanh": lambda t, x, _: t.clamp(x, -1, 1),
    "identity": lambda _t, x, _: x,
    "leaky_relu": lambda t, x, slope: t.where(x > 0, x, slope * x),
    "relu": lambda t, x, _: t.clamp(x, min=0),
    "sigmoid": lambda t, x, _: t.sigmoid(x),
    "silu": lambda t, x, _: x * t.sigmoid(x),
    "softplus": lambda t, x, _: t.logaddexp(x, t.zeros_like(x)),
    "tanh": lambda t, x, _: t.tanh(x),
}
