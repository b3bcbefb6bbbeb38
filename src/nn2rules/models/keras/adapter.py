"""Read Keras 3 models, on any backend: Sequential and functional ones."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import keras
import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import FormatError, UnsupportedModelError
from nn2rules.models.confirm import Reading
from nn2rules.models.decision import OutputHint, decide
from nn2rules.models.features import labels_of
from nn2rules.models.keras.calls import Walk, numpy_of, rounded, unit_of
from nn2rules.models.keras.graph import fitted, is_graph, outputs
from nn2rules.models.keras.layers import NO_TABLES
from nn2rules.models.model_rows import RowMaker
from nn2rules.models.options import ModelOptions
from nn2rules.models.probing import Encode, probe
from nn2rules.models.source import Port, Source, known_of
from nn2rules.models.tracing import FLOAT64, UNITS, Tensor, Trace, refuse_gaps
from nn2rules.network import Layer, Network
from nn2rules.space import Domain, Feature, Intervals, Rows, Value

_BATCH = 4096


def prepare(model: object) -> object:
    """Return the model, refusing one whose graph cannot be traced."""
    if not isinstance(model, keras.Model):
        raise UnsupportedModelError(
            f"keras {type(model).__name__} is not a model; nn2rules reads whole "
            f"models: "
            f"keras.Sequential and functional ones"
        )
    if isinstance(model, keras.Sequential) and not model.built:
        raise UnsupportedModelError(
            "the Sequential model is not built, so it has no weights; call its fit "
            "method, or model.build((None, n_columns)), first"
        )
    if not is_graph(model):
        raise UnsupportedModelError(
            f"{type(model).__name__} is a subclassed model, so its computation is "
            f"Python code, which nn2rules cannot read; build it with keras.Sequential "
            f"or the functional API"
        )
    for layer in model._flatten_layers():
        reason = NO_TABLES.get(type(layer).__name__)
        if reason is not None and type(layer).__module__.partition(".")[0] == "keras":
            raise UnsupportedModelError(
                f"layer {layer.name!r} ({type(layer).__name__}): {reason}"
            )
    if len(model.outputs) > 1:
        raise UnsupportedModelError(
            f"the model has {len(model.outputs)} outputs; select the one with the "
            f"classes: keras.Model(model.inputs, model.outputs[0])"
        )
    return model


def columns(_model: object, encode: object = None) -> Any:
    """Return what `encode` knows of the columns; Keras itself knows nothing."""
    return known_of(encode)


def read(model: Any, source: Source, options: ModelOptions) -> Reading:
    """Return the network of a model, and how to run the model itself."""
    ports = [
        _port(symbol, name)
        for symbol, name in zip(model.inputs, _names(model), strict=True)
    ]
    encode = _encode(source.arrays(ports), model.inputs, ports)
    unit = max(unit_of(symbol.dtype) for symbol in model.inputs)
    fine = finer(source.domain, max(unit, FLOAT64))
    maker = source.maker
    if fine.domain != source.domain:
        maker = RowMaker(fine.domain, source.maker.like)
    tensors = probe(encode, maker, names=lambda i, j: _place(ports[i].name, j))
    walk = Walk(Trace(fine.domain, source.ranges))
    [scores] = outputs(walk, model, tensors)
    labels = _labels(scores, options.classes)
    try:
        decision = decide(
            walk.trace,
            scores,
            labels,
            options,
            unit=walk.unit,
            hint=hint_of_loss(model),
        )
    except FormatError:
        for tensor in tensors:
            refuse_gaps(fine.domain, tensor, "fill them in encode=")
        raise
    decision = replace(decision, network=fine.put_together(decision.network))
    return Reading(
        decision,
        lambda rows: _outputs(model, encode(rows)),
        walk.unit,
        {
            "framework": "keras",
            "version": keras.__version__,
            "backend": keras.backend.backend(),
        },
        frozenset(walk.trace.nonlinear),
    )


# Inputs --------------------------------------------------------------------------


def _names(model: Any) -> list[str]:
    """Return the names of the inputs; for a dict of inputs, its keys."""
    if not isinstance(model, keras.Sequential) and isinstance(model.input, dict):
        return sorted(model.input)
    return [symbol.name for symbol in model.inputs]


def _port(symbol: Any, name: str) -> Port:
    shape = symbol.shape[1:]
    width = None if None in shape else int(np.prod(shape, dtype=np.int64))
    kind: Literal["float", "integer", "text"] = "integer"
    if symbol.dtype in UNITS:
        kind = "float"
    elif symbol.dtype == "string":
        kind = "text"
    return Port(name, width, kind)


def _place(name: str, entry: int) -> str:
    return f"number {entry} of the input {name!r}"


def _encode(raw: Encode, symbols: Sequence[Any], ports: Sequence[Port]) -> Encode:
    """Return the function from rows to arrays in the model's own formats."""

    def encode(rows: Rows) -> list[NDArray[Any]]:
        return [
            _fitted(array, symbol, port.name)
            for array, symbol, port in zip(raw(rows), symbols, ports, strict=True)
        ]

    return encode


def _fitted(array: NDArray[Any], symbol: Any, name: str) -> NDArray[Any]:
    wanted = tuple(symbol.shape[1:])
    fitting = fitted(wanted)(array)
    is_fit = fitting.ndim == len(wanted) + 1 and all(
        want in (None, got) for want, got in zip(wanted, fitting.shape[1:], strict=True)
    )
    if not is_fit:
        raise UnsupportedModelError(
            f"the model's input {name!r} takes an array of shape {wanted} for each "
            f"row, but gets one of shape {array.shape[1:]}; give the function that "
            f"turns your rows into the model's input as encode="
        )
    if symbol.dtype == "string":
        return fitting
    if fitting.dtype.kind not in "biuf":
        try:
            fitting = fitting.astype(np.float64)
        except (TypeError, ValueError):
            raise UnsupportedModelError(
                f"the model's input {name!r} takes numbers, but encode= returns text"
            ) from None
    return rounded(fitting, symbol.dtype)


# Outputs -------------------------------------------------------------------------


def _outputs(model: Any, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the model's own outputs, one row of numbers for each row."""
    is_plain = isinstance(model, keras.Sequential)
    structure = model.inputs[0] if is_plain else model.input
    batches = []
    for start in range(0, len(arrays[0]), _BATCH):
        parts = [array[start : start + _BATCH] for array in arrays]
        inputs = keras.tree.pack_sequence_as(structure, parts)
        [output] = keras.tree.flatten(model(inputs, training=False))
        numbers = numpy_of(output)
        batches.append(numbers.reshape(len(numbers), -1))
    return np.concatenate(batches)


def _labels(scores: Tensor, classes: Sequence[Any] | None) -> tuple[Value, ...]:
    """Return the classes; 0, 1, … if the user does not name them."""
    size = int(np.prod(scores.shape, dtype=np.int64))
    if scores.shape[-1:] != (size,) and size > 1:
        raise UnsupportedModelError(
            f"the model's output for a row has the shape {scores.shape}; a classifier "
            f"returns one number, or one for each class"
        )
    return labels_of(classes, scores.shape)


_NUMBERS = (
    *("huber", "kl_divergence", "log_cosh", "mean_absolute_error", "poisson"),
    *("mean_absolute_percentage_error", "mean_squared_error"),
    *("mean_squared_logarithmic_error", "cosine_similarity", "tversky", "dice"),
)
"""Losses of regression models."""


def hint_of_loss(model: Any) -> OutputHint | None:
    """Return what the loss of a model shows of its output, if it is unmistakable.

    A cross-entropy with `from_logits` takes scores; without it, it takes probabilities,
    or was meant to.
    """
    loss = getattr(model, "loss", None)
    if isinstance(loss, dict):
        loss = list(loss.values())
    if isinstance(loss, list | tuple):
        loss = loss[0] if len(loss) == 1 else None
    try:
        resolved = keras.losses.get(loss)
    except (TypeError, ValueError):
        return None
    config = resolved.get_config() if isinstance(resolved, keras.losses.Loss) else {}
    if config.get("from_logits") is True:
        return "score"
    function = getattr(resolved, "fn", resolved)
    name = getattr(function, "__name__", "")
    return "number" if name in _NUMBERS else None


_INSIDE = 9
_DISTANCES = tuple(2.0**power for power in range(-4, 33, 2))


@dataclass(frozen=True)
class Finer:
    """A domain with numbers in place of bins, to test the bins that a model makes.

    Attributes
    ----------
    coarse, domain : Domain
        With bins, and with numbers.
    codes : tuple of arrays
        For each feature, the code in `coarse` of each value in `domain`.
    """

    coarse: Domain
    domain: Domain
    codes: tuple[NDArray[np.int64], ...]

    def put_together(self, network: Network) -> Network:
        """Return a network on the finer domain as one on the coarse domain.

        Raises
        ------
        UnsupportedModelError
            If it distinguishes numbers within one bin.
        """
        if self.domain == self.coarse:
            return network
        first, *rest = network.layers
        blocks = np.split(first.weights, self.domain.offsets[1:-1])
        weights = [
            self._merged(index, block, codes)
            for index, (block, codes) in enumerate(zip(blocks, self.codes, strict=True))
        ]
        merged_weights = np.concatenate(weights)
        merged = Layer(merged_weights, first.bias, first.activation, first.slope)
        return replace(network, domain=self.coarse, layers=(merged, *rest))

    def _merged(
        self, index: int, block: NDArray[np.float64], codes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        places = np.searchsorted(codes, np.arange(self.coarse.sizes[index]))
        merged: NDArray[np.float64] = block[places]
        # Equal rows may differ in last bits: a matrix product works in blocks of rows.
        slack = 2.0**-46 * np.abs(block).max(axis=0)
        wrong = np.flatnonzero((np.abs(block - merged[codes]) > slack).any(axis=1))
        if len(wrong):
            feature, values = self.coarse.features[index], self.domain.features[index]
            one, other = values.values[places[codes[wrong[0]]]], values.values[wrong[0]]
            raise UnsupportedModelError(
                f"feature {feature.name!r}: the model distinguishes numbers within one "
                f"bin, such as {one:g} and {other:g}; give the bins of the model "
                f"itself, or a list of numbers"
            )
        return merged


def finer(domain: Domain, unit: float) -> Finer:
    """Return a domain with some numbers of every bin in place of the bins.

    Parameters
    ----------
    domain : Domain
    unit : float
        The unit roundoff of the model's inputs: in float32, a number just below an
        edge can be equal to the edge.
    """
    features, codes = [], []
    for feature in domain.features:
        if not isinstance(feature, Intervals):
            features.append(feature)
            codes.append(np.arange(len(feature)))
            continue
        numbers = _numbers(feature.edges, unit)
        values: list[Value] = [*numbers]
        bins = [bisect_right(feature.edges, number) for number in numbers]
        if None in feature.values:
            values.append(None)
            bins.append(feature.values.index(None))
        features.append(Feature(feature.name, tuple(values)))
        codes.append(np.array(bins))
    return Finer(domain, Domain(tuple(features)), tuple(codes))


def _numbers(edges: tuple[float, ...], unit: float) -> list[float]:
    """Return numbers from every bin, in ascending order."""
    below = [float(e) - max(abs(e) * 4 * unit, 1e-30) for e in edges]
    numbers = {below[0] - distance for distance in _DISTANCES}
    numbers |= {float(edges[-1]) + distance for distance in _DISTANCES}
    for low, high in zip(edges, below[1:], strict=False):
        numbers |= set(np.linspace(float(low), max(low, high), _INSIDE).tolist())
    return sorted(numbers | set(below) | set(map(float, edges)))
