"""The hidden layers of a network in the making.

Units are added to a layer in blocks, side by side; a number from before a layer can be
carried through it as units that leave it unchanged.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nn2rules import arithmetic
from nn2rules.adapters.tracing.tensors import Affine, Array, refuse_large
from nn2rules.domain import Domain
from nn2rules.errors import UnsupportedModelError
from nn2rules.layer import Layer
from nn2rules.network import Network
from nn2rules.values import Value


@dataclass
class Units:
    """A hidden layer in the making: blocks of units, side by side."""

    activation: str
    slope: float | None
    blocks: list[Affine] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many units there are."""
        return sum(len(block.bias) for block in self.blocks)


class HiddenLayers:
    """The hidden layers of a network in the making, from the first on."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._layers: list[Units] = []

    def above(self, level: int, name: str, slope: float | None) -> Units:
        """Return the hidden layer above `level`, a new one if there is none."""
        if len(self._layers) == level:
            self._layers.append(Units(name, slope))
        layer = self._layers[level]
        if (layer.activation, layer.slope) != (name, slope):
            raise UnsupportedModelError(
                f"the model has {layer.activation} and {name} units side by side; "
                f"nn2rules holds layers of one activation"
            )
        return layer

    def padded(self, tensor: Affine) -> Affine:
        """Give a tensor weights of 0 for units that its level got since it was made."""
        if tensor.level == 0:
            return tensor
        missing = self._layers[tensor.level - 1].size - len(tensor.weights)
        if missing == 0:
            return tensor
        refuse_large(self._layers[tensor.level - 1].size, len(tensor.bias))
        padding = ((0, missing), (0, 0))
        return replace(
            tensor,
            weights=np.pad(tensor.weights, padding),
            sizes=np.pad(tensor.sizes, padding),
        )

    def same_level(self, tensors: Sequence[Affine]) -> list[Affine]:
        """Carry tensors of earlier levels through layers, to the last of the levels."""
        top = max(tensor.level for tensor in tensors)
        raised = [self._raised(tensor, top) for tensor in tensors]
        return [self.padded(tensor) for tensor in raised]

    def _raised(self, tensor: Affine, level: int) -> Affine:
        """Carry a tensor unchanged through ReLU layers, as ``relu(x) - relu(-x)``."""
        while tensor.level < level:
            if not (tensor.weights.any() or tensor.sizes.any()):  # a constant
                n_units = self._layers[level - 1].size
                none: Array = np.zeros((n_units, len(tensor.bias)))
                return replace(tensor, level=level, weights=none, sizes=none)
            layer = self._layers[tensor.level]
            if layer.activation != "relu":
                raise UnsupportedModelError(
                    f"the model adds or joins numbers from before and after a "
                    f"{layer.activation} layer; nn2rules can hold such a shortcut "
                    f"around ReLU layers only"
                )
            tensor = self.padded(tensor)
            negative = replace(tensor, weights=-tensor.weights, bias=-tensor.bias)
            size, start = len(tensor.bias), layer.size
            is_positive = self._is_positive(tensor)
            layer.blocks += [tensor] if is_positive else [tensor, negative]
            refuse_large(layer.size, size)
            weights: Array = np.zeros((layer.size, size))
            np.fill_diagonal(weights[start : start + size], 1.0)
            if not is_positive:
                np.fill_diagonal(weights[start + size :], -1.0)
            zeros: Array = np.zeros(size)
            tensor = Affine(
                tensor.shape, tensor.level + 1, weights, zeros, np.abs(weights), zeros
            )
        return tensor

    def _is_positive(self, tensor: Affine) -> bool:
        """Tell whether no entry can be negative: sums of ReLU units, say."""
        if tensor.level > 0 and self._layers[tensor.level - 1].activation != "relu":
            return False
        return bool((tensor.weights >= 0).all() and (tensor.bias >= 0).all())

    def network(
        self,
        last: Affine,
        classes: Sequence[Value],
        *,
        threshold: float,
        unit: float,
        has_shares: bool,
    ) -> Network:
        """Return the network whose scores are `last`; see `Trace.network`."""
        hidden = self._layers[: last.level]
        output = "sigmoid" if len(last.bias) == 1 else "softmax"
        layers, sizes, terms = [], [], 1.0
        n_rows = int(self.domain.offsets[-1])
        names = [(units.activation, units.slope) for units in hidden]
        for (name, slope), blocks in zip(
            [*names, (output, None)],
            [*(units.blocks for units in hidden), [last]],
            strict=True,
        ):
            layers.append(_layer(blocks, n_rows, name, slope, sizes=False))
            sizes.append(_layer(blocks, n_rows, name, slope, sizes=True))
            usual = (n_rows if len(layers) > 1 else len(self.domain.sizes)) + 1
            terms = max(terms, max(block.terms for block in blocks) / usual)
            n_rows = len(layers[-1].bias)
        offsets = self.domain.offsets
        error = arithmetic.error_bound(sizes, offsets, unit=unit * terms).max()
        folding = arithmetic.error_bound(sizes, offsets).max()
        whole = float(error + terms * folding)
        if has_shares:
            n_outputs = len(last.bias)
            whole += arithmetic.share_error(threshold, unit, n_outputs, folding)
        longest = max(len(layer.weights) for layer in layers) + 2
        is_bound = math.isfinite(whole) and longest * unit * terms < 0.5  # see _gamma
        known = whole if is_bound else None
        return Network(self.domain, tuple(layers), tuple(classes), threshold, known)


def _layer(
    blocks: Sequence[Affine],
    n_rows: int,
    name: str,
    slope: float | None,
    *,
    sizes: bool,
) -> Layer:
    """Put blocks of units side by side; with `sizes`, the bounds on their terms."""
    weights = [block.sizes if sizes else block.weights for block in blocks]
    bias = [block.bias_sizes if sizes else block.bias for block in blocks]
    padded = [np.pad(w, ((0, n_rows - len(w)), (0, 0))) for w in weights]
    return Layer(np.concatenate(padded, axis=1), np.concatenate(bias), name, slope)
