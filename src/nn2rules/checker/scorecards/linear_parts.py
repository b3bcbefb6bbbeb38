"""Split the domain into parts on which piecewise-linear networks are affine.

A unit is on one piece of its activation in a whole part if that is proved (see
`multipliers`); otherwise the part is split where its activation bends. So the parts
that are met hold every input of the part that was begun with, regardless of how well
the proofs go: a failed proof only costs more parts.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from nn2rules.checker.scorecards.multipliers import Prover
from nn2rules.checker.scorecards.sums import ZERO, Form, plus, times
from nn2rules.network import Layer, Network


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an activation: ``slope * y + intercept`` from `low` to `high`.

    `low` and `high` are None where the piece has no end.
    """

    low: Fraction | None
    high: Fraction | None
    slope: Fraction
    intercept: Fraction


def pieces_of(layer: Layer) -> list[Piece] | None:
    """Return the pieces of a layer's activation; None if it is curved."""
    one, three = Fraction(1), Fraction(3)
    if layer.activation == "identity":
        return [Piece(None, None, one, ZERO)]
    if layer.activation in ("relu", "leaky_relu"):
        leak = ZERO
        if layer.activation == "leaky_relu":
            leak = Fraction(0.01 if layer.slope is None else layer.slope)
        return [Piece(None, ZERO, leak, ZERO), Piece(ZERO, None, one, ZERO)]
    if layer.activation == "hard_tanh":
        return [
            Piece(None, -one, ZERO, -one),
            Piece(-one, one, one, ZERO),
            Piece(one, None, ZERO, one),
        ]
    if layer.activation == "hard_sigmoid":
        return [
            Piece(None, -three, ZERO, ZERO),
            Piece(-three, three, one / 6, one / 2),
            Piece(three, None, ZERO, one),
        ]
    return None


def is_piecewise_linear(network: Network) -> bool:
    """Tell whether all hidden units of a network are piecewise linear."""
    return all(pieces_of(layer) is not None for layer in network.layers[:-1])


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the domain, and the scores there.

    Attributes
    ----------
    conditions : tuple of Form
        All at least 0.
    scores : tuple of tuples of Form
        Of each network.
    """

    conditions: tuple[Form, ...]
    scores: tuple[tuple[Form, ...], ...]


class Networks:
    """Some piecewise-linear networks whose first units are the sums of a `Prover`.

    Parameters
    ----------
    prover : Prover
    networks : sequence of Network
        Their first layers, side by side, are the sums.
    """

    def __init__(self, prover: Prover, networks: Sequence[Network]) -> None:
        self.prover, self.networks = prover, networks
        self.weights = [
            [
                (
                    [[*map(Fraction, column)] for column in layer.weights.T.tolist()],
                    [*map(Fraction, layer.bias.tolist())],
                )
                for layer in network.layers[1:]
            ]
            for network in networks
        ]

    def parts(self, conditions: tuple[Form, ...] = ()) -> Iterator[Part]:
        """Yield parts that together hold every input that meets some conditions."""
        units = [self.prover.sums.unit(i) for i in range(self.prover.sums.number)]
        yield from self._of(0, units, (), conditions)

    def _of(
        self,
        place: int,
        units: list[Form],
        scores: tuple[tuple[Form, ...], ...],
        conditions: tuple[Form, ...],
    ) -> Iterator[Part]:
        """Go on with a network: `units` are its first sums, and those of the next."""
        if place == len(self.networks):
            yield Part(conditions, scores)
            return
        number = self.networks[place].layers[0].weights.shape[1]
        own, rest = units[:number], units[number:]
        for at, met in self._layers(place, 0, own, conditions):
            yield from self._of(place + 1, rest, (*scores, tuple(at)), met)

    def _layers(
        self, place: int, depth: int, sums: list[Form], conditions: tuple[Form, ...]
    ) -> Iterator[tuple[list[Form], tuple[Form, ...]]]:
        """Yield the scores above the sums of a layer, and where they hold."""
        layers = self.networks[place].layers
        if depth == len(layers) - 1:
            yield sums, conditions
            return
        pieces = pieces_of(layers[depth])
        assert pieces is not None, "asked only of piecewise-linear networks"
        for outputs, met in self._units(sums, pieces, [], conditions):
            weights, bias = self.weights[place][depth]
            above = [
                self._added(column, outputs, start)
                for column, start in zip(weights, bias, strict=True)
            ]
            yield from self._layers(place, depth + 1, above, met)

    def _added(
        self, column: list[Fraction], outputs: list[Form], start: Fraction
    ) -> Form:
        total = self.prover.sums.constant(start)
        for weight, output in zip(column, outputs, strict=True):
            if weight:
                total = plus(total, times(weight, output))
        return total

    def _units(
        self,
        sums: list[Form],
        pieces: list[Piece],
        outputs: list[Form],
        conditions: tuple[Form, ...],
    ) -> Iterator[tuple[list[Form], tuple[Form, ...]]]:
        """Yield what the units of a layer may put out, unit after unit."""
        if len(outputs) == len(sums):
            yield outputs, conditions
            return
        own = sums[len(outputs)]
        constant = self.prover.sums.constant
        possible = self._possible(own, pieces, conditions)
        for piece in possible:
            met = conditions
            if len(possible) > 1:
                met += tuple(_sides(own, piece, possible, constant))
                if self.prover.is_empty(met):
                    continue
            output = plus(times(piece.slope, own), constant(piece.intercept))
            yield from self._units(sums, pieces, [*outputs, output], met)

    def _possible(
        self, own: Form, pieces: list[Piece], conditions: tuple[Form, ...]
    ) -> list[Piece]:
        """Return the pieces that a unit may be on: all that no proof rules out."""
        proves, first, last = self.prover.proves, 0, len(pieces) - 1
        for index, (below, _) in enumerate(pairwise(pieces)):
            assert below.high is not None, "only the last piece has no end"
            kink = self.prover.sums.constant(-below.high)
            above = plus(own, kink)
            if proves(above, conditions):
                first = index + 1
            elif proves(times(Fraction(-1), above), conditions):
                last = index
                break
        return pieces[first : last + 1]


def _sides(
    own: Form,
    piece: Piece,
    possible: list[Piece],
    constant: Callable[[Fraction], Form],
) -> Iterator[Form]:
    if piece.low is not None and piece is not possible[0]:
        yield plus(own, constant(-piece.low))
    if piece.high is not None and piece is not possible[-1]:
        yield plus(times(Fraction(-1), own), constant(piece.high))
