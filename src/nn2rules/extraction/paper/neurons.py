"""What every neuron computes, in readable form (the paper's section 3.2).

`neurons` returns for each neuron of each layer its list of (rule, weights, bias)
tuples, with the names of the user's features and exact numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nn2rules.extraction.paper.forward import forward
from nn2rules.extraction.paper.lin_rule import Behaviour, Piece
from nn2rules.extraction.paper.prefixes import feature_order
from nn2rules.extraction.paper.select_weights import Prefix
from nn2rules.language import condition_text, count, number_text
from nn2rules.network import Network
from nn2rules.space import Condition, Domain, Feature, Value


@dataclass(frozen=True, slots=True)
class NeuronRule:
    """A rule, and the linear function that the neuron computes where the rule holds.

    Attributes
    ----------
    conditions : tuple of Condition
    weights : mapping from a feature's name to a mapping from its values to weights
        The output is `bias` plus the weight of each feature's value, exactly.
    bias : Fraction
    active : bool
        Whether the neuron is active: its pre-activation is above 0 or, for the output
        neuron, its prediction is class 1.
    """

    conditions: tuple[Condition, ...]
    weights: dict[str, dict[Value, Fraction]]
    bias: Fraction
    active: bool


@dataclass(frozen=True)
class Neuron:
    """One neuron: a sequence of `NeuronRule`, of which one holds for each input.

    Attributes
    ----------
    layer, unit : int
        Its position; both count from 0.
    activation : str
        ``score`` for the output neuron, whose value is the score.
    """

    layer: int
    unit: int
    activation: str
    domain: Domain
    order: tuple[int, ...]
    pieces: tuple[Piece, ...]
    exponent: int

    def __len__(self) -> int:
        return len(self.pieces)

    def __getitem__(self, index: int) -> NeuronRule:
        piece = self.pieces[index]
        return NeuronRule(
            self._conditions(piece.prefix),
            self._weights(piece.behaviour),
            self._exact(piece.behaviour.bias),
            piece.active,
        )

    def __iter__(self) -> Iterator[NeuronRule]:
        return (self[index] for index in range(len(self)))

    def _conditions(self, prefix: Prefix) -> tuple[Condition, ...]:
        """Return the conditions that a prefix stands for, in the order of the rules."""
        features = (self.domain.features[index] for index in self.order)
        return tuple(
            Condition(feature.name, (feature.values[code],))
            for feature, code in zip(features, prefix, strict=False)
            if len(feature) > 1  # a feature with one value needs no condition
        )

    def _exact(self, scaled: int) -> Fraction:
        return Fraction(scaled, 1 << self.exponent)

    def _weights(self, behaviour: Behaviour) -> dict[str, dict[Value, Fraction]]:
        buckets = dict(zip(self.order, behaviour.weights, strict=True))
        return {
            feature.name: {
                value: self._exact(weight)
                for value, weight in zip(feature.values, buckets[index], strict=True)
            }
            for index, feature in enumerate(self.domain.features)
        }

    def text(self, top: int | None = None) -> str:
        """Return what the neuron computes as text: all rules, or the first `top`."""
        lines = [
            f"layer {self.layer}, neuron {self.unit} ({self.activation}): "
            f"{count(len(self), 'rule')}"
        ]
        shown = len(self) if top is None else min(top, len(self))
        for index in range(shown):
            rule = self[index]
            premise = " and ".join(
                condition_text(self.domain.feature(c.feature), c.values)
                for c in rule.conditions
            )
            lines.append(f"  if {premise or 'anything'} then {self._value_text(rule)}")
        if shown < len(self):
            lines.append(f"  … and {count(len(self) - shown, 'more rule')}")
        return "\n".join(lines)

    def _value_text(self, rule: NeuronRule) -> str:
        """Write the output as the paper does: a constant, and terms like [size = big].

        The values that a rule fixes go into the constant; of each other feature so does
        its smallest weight.
        """
        fixed: dict[str, Any] = {c.feature: c.values[0] for c in rule.conditions}
        constant, terms = rule.bias, []
        for feature in self.domain.features:
            weights = rule.weights[feature.name]
            if feature.name in fixed:
                constant += weights[fixed[feature.name]]
            else:
                smallest = min(weights.values())
                constant += smallest
                terms += _terms(feature, weights, smallest)
        if not terms or constant:
            terms.insert(0, number_text(constant))
        return " + ".join(terms)

    def __str__(self) -> str:
        return self.text()


def _shown(activation: str, *, is_last: bool) -> str:
    if is_last:
        return "score"
    return "sigmoid, taken as 0 or 1" if activation == "sigmoid" else activation


def _terms(
    feature: Feature, weights: dict[Value, Fraction], smallest: Fraction
) -> list[str]:
    """Write the weights above the smallest, equal ones together."""
    groups: dict[Fraction, list[Value]] = {}
    for value, weight in weights.items():
        if weight > smallest:
            groups.setdefault(weight - smallest, []).append(value)
    return [
        f"{'' if weight == 1 else f'{number_text(weight)}·'}"
        f"[{condition_text(feature, values)}]"
        for weight, values in groups.items()
    ]


def neurons(
    network: Network,
    *,
    order: Sequence[str] | None = None,
    approximate: str | None = None,
) -> list[list[Neuron]]:
    """Return what every neuron computes: for each layer its neurons, in order.

    Parameters
    ----------
    network : Network
        With ReLU units and one output.
    order, approximate
        As in `paper_rules`.

    Examples
    --------
    The paper's tomatoes:

    >>> from nn2rules import datasets, load
    >>> tomato = load(datasets.network_file("tomato"))
    >>> hidden, output = neurons(tomato)
    >>> print(hidden[0])
    layer 0, neuron 0 (relu): 4 rules
      if color = red and size = small then 0
      if color = red and size = medium then 1
      if color = red and size = big then 1
      if color = yellow then 0
    """
    positions = feature_order(network, order)
    layers = forward(network, positions, approximate)
    last = len(layers) - 1
    return [
        [
            Neuron(
                index,
                unit,
                _shown(network.layers[index].activation, is_last=index == last),
                network.domain,
                tuple(positions),
                pieces,
                layer.exponent,
            )
            for unit, pieces in enumerate(layer.neurons)
        ]
        for index, layer in enumerate(layers)
    ]
