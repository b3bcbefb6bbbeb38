"""The one network form: tables, dense layers, a decision.

Whatever the model was, each feature reaches the first layer only through its own
value, so a feature *is* a table from values to vectors. The rows of the first
layer's weights are these tables, one below the other::

    first pre-activations = bias + table[value of feature 1] + table[value of …]

A network is a mathematical function: its floats are exact real numbers, its
activations real functions. `Network.predict` is exact in that sense (see
`nn2rules.network.certified`); `Network.scores` is its fast float64 approximation.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError, FormatError, RowsError, UndecidedError
from nn2rules.language import count, label_text, limits_text, quoted, value_text
from nn2rules.network import certified
from nn2rules.network.exact import UNDECIDED
from nn2rules.network.layer import Layer, checked_number
from nn2rules.output import GAP, Document, Grid, Line, Piece, html_of
from nn2rules.space import Domain, Range, Rows, Value, checked_values


@dataclass(frozen=True)
class Network:
    """A classifier over a domain: tables, dense layers, and a decision.

    Parameters
    ----------
    domain : Domain
    layers : sequence of Layer
        The last has one unit (binary) or one for each class (multiclass).
    classes : sequence of str, int, float or bool
        The class labels; of two classes the second is *class 1*.
    threshold : float
        Binary only: class 1 iff ``sigmoid(score) > threshold``, so a tie is class 0.
        Multiclass: the largest score, ties to the lowest index.
    model_error : float, optional
        How far the scores of the model that this network was read from may lie from
        its own, because the model rounds. Inputs nearer to a tie are *fragile*.
    origin : mapping, optional
        How the network was read from a model, and what was compared; plain JSON. Not
        part of what the network computes, so networks that differ in it are equal.

    Examples
    --------
    >>> from nn2rules.space.domain import Feature
    >>> domain = Domain((Feature("color", ("red", "yellow")),))
    >>> network = Network(domain, (Layer([[2], [-1]], [0], "sigmoid"),),
    ...                   ("unripe", "ripe"))
    >>> network.predict([{"color": "red"}, {"color": "yellow"}])
    array(['ripe', 'unripe'], dtype='<U6')
    """

    domain: Domain
    layers: tuple[Layer, ...]
    classes: tuple[Value, ...]
    threshold: float = field(default=0.5)
    model_error: float | None = None
    origin: Mapping[str, Any] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        object.__setattr__(self, "classes", checked_classes(self.classes))
        for name in ("threshold", "model_error"):
            number = getattr(self, name)
            if number is not None or name == "threshold":
                object.__setattr__(self, name, checked_number(name, number))
        self._check_layers()
        self._check_decision()

    def _check_layers(self) -> None:
        if not self.layers:
            raise FormatError("layers: a network needs at least one layer")
        for feature in self.domain.features:
            if isinstance(feature, Range) and feature.edges:
                raise FormatError(
                    f"features: the range of {feature.name!r} is cut, as only rules "
                    f"need it; a network has it in one piece (Domain.uncut)"
                )
        expected = int(self.domain.offsets[-1])
        reason = "one for each value of the features"
        for index, layer in enumerate(self.layers):
            rows = layer.weights.shape[0]
            if rows != expected:
                raise FormatError(
                    f"layers[{index}].weights: {rows} rows, expected {expected}, "
                    f"{reason}"
                )
            expected = layer.weights.shape[1]
            reason = f"one for each unit of layer {index}"
            if layer.activation == "softmax" and index < len(self.layers) - 1:
                raise FormatError(
                    f"layers[{index}].activation: softmax is only for the last layer"
                )

    def _check_decision(self) -> None:
        last, place = self.layers[-1], f"layers[{len(self.layers) - 1}].activation"
        units, n_classes = len(last.bias), len(self.classes)
        if units != (1 if n_classes == 2 and units != 2 else n_classes):
            raise FormatError(
                f"classes: {n_classes} classes, but the last layer has {units} "
                f"unit{'s' if units > 1 else ''}; it needs one for each class, or a "
                f"single one for two classes"
            )
        expected = "sigmoid" if units == 1 else "softmax"
        if last.activation != expected:
            raise FormatError(
                f"{place}: {last.activation}, expected {expected} for a last layer of "
                f"{units} unit{'s' if units > 1 else ''}"
            )
        if units > 1 and self.threshold != 0.5:
            raise FormatError("threshold: only a network with one output has one")
        if not 0 < self.threshold < 1:
            raise FormatError(
                f"threshold: {self.threshold:g} is not between 0 and 1 (exclusive)"
            )
        if self.model_error is not None and self.model_error < 0:
            raise FormatError(f"model_error: {self.model_error} is below 0")

    @property
    def is_binary(self) -> bool:
        """Whether one score decides, by the threshold."""
        return len(self.layers[-1].bias) == 1

    def scores(self, rows: Rows) -> NDArray[np.float64]:
        """Return the scores (before sigmoid or softmax) of `rows`, in float64.

        Returns
        -------
        ndarray of shape (n_rows,) if binary, else (n_rows, n_classes)
        """
        return self.scores_codes(*self.domain.inputs_of(rows))

    def scores_codes(
        self,
        codes: NDArray[np.integer[Any]],
        numbers: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return what `scores` does, for inputs as `Domain.inputs_of` gives them."""
        inputs = self.domain.checked_codes(codes)
        self._check_numbers(numbers)
        scores = certified.scores(self.layers, self.domain.offsets, inputs, numbers)
        return scores[:, 0] if self.is_binary else scores

    def predict_codes(
        self,
        codes: NDArray[np.integer[Any]],
        numbers: NDArray[np.float64] | None = None,
    ) -> NDArray[np.int64]:
        """Return the index of the class of each input, exactly.

        Inputs are codes and, where features are ranges of numbers, the numbers, as
        `Domain.inputs_of` gives them.
        """
        inputs = self.domain.checked_codes(codes)
        self._check_numbers(numbers)
        classes = certified.classify(
            self.layers,
            self.domain.offsets,
            self.threshold,
            inputs,
            numbers,
            self.domain.reach,
        )
        undecided = np.flatnonzero(classes == UNDECIDED)
        if len(undecided):
            one = undecided[:1]
            picked = None if numbers is None else numbers[one]
            raise UndecidedError(self.domain.decode(inputs[one], picked)[0])
        return classes

    def _check_numbers(self, numbers: NDArray[np.float64] | None) -> None:
        if numbers is None and self.domain.has_ranges:
            raise RowsError(
                "codes do not say which number of a range an input has; give the "
                "numbers, too, as Domain.inputs_of does, or rows"
            )

    def predict(self, rows: Rows) -> NDArray[Any]:
        """Return the class labels of `rows`, exactly.

        No rounding error decides: scores too near to a tie for float64 are worked
        out in exact certified.
        """
        found = self.predict_codes(*self.domain.inputs_of(rows))
        return labels_array(self.classes)[found]

    def _repr_html_(self) -> str:
        return _html_of(self)


def _html_of(network: Network) -> str:
    """Return a network for a notebook: what it decides, from what, and how."""
    units = [f"{len(layer.bias):,} {layer.activation}" for layer in network.layers]
    labels = ", ".join(label_text(label) for label in network.classes)
    rows = tuple(
        (
            quoted(feature.name),
            limits_text(feature.uncurved)
            if isinstance(feature, Range)
            else ", ".join(value_text(feature, value) for value in feature.values),
        )
        for feature in network.domain.features
    )
    size = f"{count(len(rows), 'feature')} → {' → '.join(units)}"
    title = Piece(f"Network: {labels}", "title")
    head = Line((title, GAP, Piece(size, "faint")))
    return html_of(
        Document(((head, Grid(rows, (False, False), kinds=("strong", ""))),))
    )


def checked_classes(classes: Sequence[Value]) -> tuple[Value, ...]:
    """Return class labels, at least two, all different and all reading differently."""
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise FormatError(f"classes: {classes!r}, expected a sequence of labels")
    try:
        labels = checked_values("classes", tuple(classes))
    except DomainError as error:
        raise FormatError(str(error)) from None
    if None in labels:
        raise FormatError("classes: a class label cannot be missing")
    if len(labels) < 2:
        raise FormatError("classes: a classifier has at least two classes")
    return labels


def labels_array(classes: Sequence[Value]) -> NDArray[Any]:
    """Return class labels as an array of their own type, or else of objects.

    Objects where labels are of several types, or where numpy would change them.
    """
    objects = np.empty(len(classes), dtype=object)
    objects[:] = classes
    if len({type(label) for label in classes}) > 1:
        return objects
    array = np.array(classes)
    kept = zip(array.tolist(), classes, strict=True)
    same = all(type(a) is type(b) and a == b for a, b in kept)
    return array if same else objects
