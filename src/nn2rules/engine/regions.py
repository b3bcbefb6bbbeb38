"""The linear regions of a piecewise-linear network that has few of them.

Where every unit of a network stays on one piece of its activation the scores are affine
functions of the first pre-activations. `linear_regions` lists such regions, each with
the conditions that cut it out, so that together they cover every input: depth first,
unit by unit in the order of the layers. A unit that provably stays on one piece in a
region does not split it, and a region all of whose inputs provably have one class can
be left in one piece.

What is proved and what is not
------------------------------
*Every input lies in a region.* A piece is left out only where a bound, worked out in
whole numbers (`linear_programs`), shows that the unit does not get there. Conditions
are closed, and on the border of two regions both have the same scores, so ties need no
care. *Not every region has an input*: the bounds are those of the convex hull of the
inputs, in which categories can be mixed and whole numbers need not be whole. Nor is a
region left out because a solver says that it is empty.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine.exact_boxes import Lead, leads_of
from nn2rules.engine.limits import Meter
from nn2rules.engine.linear_programs import TOLERANCE, Bound, Function, Hull
from nn2rules.engine.pieces import Forms, WholeLayer, lowered
from nn2rules.engine.proof_or_counterexample import check_box
from nn2rules.engine.simplex import Row
from nn2rules.errors import BudgetExceededError, UnsupportedModelError
from nn2rules.network import Affine, Network
from nn2rules.space import Box

MOST_REGIONS = 256
"""How many linear regions are looked for unless something else is asked."""

_MOST_DEEP = 300
"""A part that this many units split has far too many regions to wait for."""

_MOST_LEAVES = 8
"""At most this many times more parts are looked at; those of one class are joined."""


@dataclass(frozen=True, slots=True)
class Halfspace:
    """A condition of a region: a unit is on one side of a kink of its activation.

    Attributes
    ----------
    layer, unit : int
        Which unit this is about; layers and units are counted from 0.
    is_above : bool
        Whether its pre-activation is at least at the kink, or else at most.
    kink : int
        Where the activation changes its slope: 0 for relu.
    form : Affine
        At least 0 just where the condition is met, in the part of the box where the
        conditions before it are.
    """

    layer: int
    unit: int
    is_above: bool
    kink: int
    form: Affine


@dataclass(frozen=True, slots=True)
class LinearRegion:
    """A part of the domain on which the scores of a network are affine.

    Attributes
    ----------
    pieces : tuple of tuples of int
        The piece of the activation that each unit of each hidden layer is on, counted
        from the left: 0 and 1 for relu. Layers that no longer matter are left out.
    conditions : tuple of Halfspace
        An input that meets all of them, exactly, is in the region.
    scores : tuple of Affine or None
        Equal to the scores of the network in the whole region; None where the region
        was left in one piece because it has only one class.
    classes : tuple of int
        The classes that inputs of the region may have. It is proved that they have no
        other.
    """

    pieces: tuple[tuple[int, ...], ...]
    conditions: tuple[Halfspace, ...]
    scores: tuple[Affine, ...] | None
    classes: tuple[int, ...]

    def contains(self, sums: Sequence[Fraction]) -> bool:
        """Tell whether an input is in the region, by its first pre-activations."""
        return all(each.form.at(sums) >= 0 for each in self.conditions)


@dataclass(frozen=True, slots=True)
class LinearRegions:
    """Linear regions that together hold every input of a box.

    Attributes
    ----------
    regions : tuple of LinearRegion
        Neighbours share their border.
    n_programs : int
        How many linear programs were solved to find them.
    """

    regions: tuple[LinearRegion, ...]
    n_programs: int

    def __len__(self) -> int:
        return len(self.regions)

    def __iter__(self) -> Iterator[LinearRegion]:
        return iter(self.regions)


def piecewise_linear_obstacle(network: Network) -> str | None:
    """Say why a network has no linear regions, or None."""
    for layer in network.layers[:-1]:
        if layer.function.exact is None:
            return f"its {layer.activation} units are not piecewise linear"
    return None


def linear_regions(
    network: Network,
    *,
    box: Box | None = None,
    max_regions: int = MOST_REGIONS,
    one_class: bool = True,
    meter: Meter | None = None,
) -> LinearRegions:
    """Return linear regions of a network that together hold every input.

    Parameters
    ----------
    network : Network
        Its hidden activations must be piecewise linear; any number of layers.
    box : Box, optional
        Where; by default the whole domain.
    max_regions : int
        Stop with an error where there are more.
    one_class : bool
        Whether a region is left in one piece once it is proved to have only one class.
        Its scores are then unknown.
    meter : Meter, optional
        The budget to spend.

    Raises
    ------
    BudgetExceededError
        If there are too many regions, or the budget is spent.
    UnsupportedModelError
        If a hidden activation is not piecewise linear.

    Examples
    --------
    >>> from nn2rules import Domain, Feature, Layer
    >>> domain = Domain((Feature.real("x", -2, 2),))
    >>> hidden = Layer([[1, -1]], [0, 0], "relu")
    >>> network = Network(
    ...     domain, (hidden, Layer([[1], [1]], [-1], "sigmoid")), ("no", "yes")
    ... )
    >>> for region in linear_regions(network):  # |x| - 1, with y0 = x and y1 = -x
    ...     print(region.pieces, [str(a) for a in region.scores[0].coefficients])
    ((0, 1),) ['0', '1']
    ((1, 0),) ['1', '0']
    """
    obstacle = piecewise_linear_obstacle(network)
    if obstacle is not None:
        raise UnsupportedModelError(f"the network has no linear regions: {obstacle}")
    if box is None:
        every = np.ones(int(network.domain.offsets[-1]), dtype=np.bool_)
        box = every, network.domain.limits
    check_box(network.domain, box[0])
    search = _Search(network, box, meter or Meter(), max_regions, one_class=one_class)
    regions = search.regions(search.root())
    return LinearRegions(tuple(regions), search.n_programs)


def regions_within(
    network: Network,
    box: Box,
    sides: Sequence[Row],
    *,
    shift: Sequence[Fraction] = (),
    max_regions: int = MOST_REGIONS,
    meter: Meter | None = None,
) -> LinearRegions:
    """Return linear regions that hold every input of a box that meets constraints.

    Parameters
    ----------
    sides : sequence of sequences of int
        Functions of the first pre-activations that must be at least 0.
    shift : sequence of Fraction
        What is added to the first pre-activations before they are put into the
        network: the regions, scores and classes are those of inputs that are moved so.
        Conditions and scores are functions of pre-activations before they are moved.

    Raises
    ------
    BudgetExceededError
        If there are too many regions, or the budget is spent.
    """
    check_box(network.domain, box[0])
    search = _Search(network, box, meter or Meter(), max_regions, one_class=False)
    regions = search.regions(search.root(sides, shift))
    return LinearRegions(tuple(regions), search.n_programs)


class Constraints(NamedTuple):
    """Where regions are looked for, among the first sums of more than one network.

    Attributes
    ----------
    hull : Hull
        Of the sums.
    start : int
        Where those of the network begin.
    sides : tuple of sequences of int
        Functions of all the sums that must be at least 0.
    """

    hull: Hull
    start: int
    sides: tuple[Row, ...]


def regions_with(
    network: Network,
    classes: Collection[int],
    box: Box,
    *,
    max_regions: int = MOST_REGIONS,
    meter: Meter,
    within: Constraints | None = None,
) -> Iterator[LinearRegion]:
    """Yield linear regions that hold every input of a box with one of some classes.

    They are found one by one. Each tells which of these classes it may have. With
    `within`, their conditions and scores are functions of all of its sums.

    Raises
    ------
    BudgetExceededError
        If there are too many regions, or the budget is spent.
    """
    check_box(network.domain, box[0])
    search = _Search(network, box, meter, max_regions, one_class=False, within=within)
    for leaf in search.leaves(search.root(() if within is None else within.sides)):
        region = search.region(leaf, classes)
        if region.classes:
            yield region


@dataclass(frozen=True, slots=True)
class _Node:
    """A part of the box, and what is known of it.

    Attributes
    ----------
    sums : Forms
        The pre-activations of a layer, or the scores, as functions of the first ones.
    pieces : tuple of tuples of int
        Of the layers before.
    sides : tuple of Function
        At least 0 where the conditions are met.
    conditions : tuple of Halfspace
    points : ndarray of float64, shape (n_points, n_vertices)
        Some points that are in this part, as weights of vertices; about.
    chosen : tuple of int
        The pieces of the first units of this layer.
    """

    sums: Forms
    pieces: tuple[tuple[int, ...], ...]
    sides: tuple[Function, ...]
    conditions: tuple[Halfspace, ...]
    points: NDArray[np.float64]
    chosen: tuple[int, ...] = ()


class _Search:
    """Splits a box, unit by unit."""

    def __init__(
        self,
        network: Network,
        box: Box,
        meter: Meter,
        max_regions: int,
        *,
        one_class: bool,
        within: Constraints | None = None,
    ) -> None:
        self._network, self._meter, self._one_class = network, meter, one_class
        self._max_regions, self._n_regions, self._n_leaves = max_regions, 0, 0
        self._layers = [WholeLayer(layer) for layer in network.layers]
        self._hull = Hull(network, box) if within is None else within.hull
        self._start = 0 if within is None else within.start
        self._first: dict[int, Function] = {}
        self.n_programs = 0

    def root(self, sides: Sequence[Row] = (), shift: Sequence[Fraction] = ()) -> _Node:
        """Return the whole box, or what meets constraints."""
        units = np.arange(len(self._network.layers[0].bias))
        scale = lcm(*(number.denominator for number in shift))
        sums = np.zeros((len(units), self._hull.n_sums + 1), dtype=object)
        sums[units, self._start + units] = scale
        if shift:
            sums[:, -1] = [int(number * scale) for number in shift]
        none = np.empty((0, len(self._hull.columns)))
        functions = tuple(self._hull.function(side) for side in sides)
        return _Node(Forms(sums, scale), (), functions, (), none)

    def regions(self, node: _Node) -> list[LinearRegion]:
        """Return the regions of a node; one if it is proved to have one class."""
        parts = self._parts(node)
        if len(parts) == 1:
            return self._leaf(parts[0])
        regions = [region for part in parts for region in self.regions(part)]
        classes = {region.classes for region in regions}
        if not self._one_class or len(regions) < 2 or len(classes) > 1:
            return regions
        [only] = classes
        if len(only) > 1:
            return regions
        self._n_regions -= len(regions) - 1
        return [LinearRegion(node.pieces, node.conditions, None, only)]

    def leaves(self, node: _Node) -> Iterator[_Node]:
        """Yield the parts of a node on which scores are affine, one by one."""
        parts = self._parts(node)
        if len(parts) != 1:
            for part in parts:
                yield from self.leaves(part)
            return
        self._count_leaf()
        yield parts[0]

    def _parts(self, node: _Node) -> list[_Node]:
        """Return what the next units split a node into; one part if it is a leaf."""
        parts = [node]
        while len(parts) == 1 and len(parts[0].pieces) + 1 < len(self._layers):
            parts = self._split(parts[0])
        if len(parts) != 1:
            self._count(len(node.conditions))
        return parts

    def _leaf(self, node: _Node) -> list[LinearRegion]:
        """Return a node with affine scores as a region, if any class is possible."""
        region = self.region(node, range(len(self._network.classes)))
        if not region.classes:
            return []
        self._count_leaf()
        return [region]

    def _count_leaf(self) -> None:
        self._n_regions += 1
        self._n_leaves += 1
        self._count(0)

    def _count(self, n_waiting: int) -> None:
        """Stop where regions are too many; others wait to be split."""
        if (
            self._n_regions > self._max_regions
            or n_waiting > min(self._max_regions, _MOST_DEEP)
            or self._n_leaves > _MOST_LEAVES * self._max_regions
        ):
            raise BudgetExceededError(
                f"{self._n_leaves:,} linear regions were found when the search for "
                f"them stopped, and at most {self._max_regions:,} are allowed"
            )

    def _split(self, node: _Node) -> list[_Node]:
        """Return the parts of a node, the next of whose units is on one piece."""
        layer, unit = self._layers[len(node.pieces)], len(node.chosen)
        if unit == len(node.sums.numbers):
            following = self._layers[len(node.pieces) + 1]
            sums = following.added_up(layer.applied(node.chosen, node.sums))
            pieces = (*node.pieces, node.chosen)
            return [_Node(sums, pieces, node.sides, node.conditions, node.points)]
        first, last, points = self._pieces(unit, node)
        if first is None:
            return []
        if last <= first:
            return [replace(node, chosen=(*node.chosen, first), points=points)]
        node = replace(node, points=points)
        parts = (
            self._part(node, piece, first, last) for piece in range(first, last + 1)
        )
        return [*parts]

    def _pieces(
        self, unit: int, node: _Node
    ) -> tuple[int | None, int, NDArray[np.float64]]:
        """Return the first and the last piece that a unit may be on in a node.

        None in place of the first if the node is empty. Where a unit only touches a
        kink, both pieces have the same value there. New points are added.
        """
        row = node.sums.numbers[unit].tolist()
        kinks = [
            kink * node.sums.scale for kink in self._layers[len(node.pieces)].kinks
        ]
        function, points = self._function(node, unit, row), node.points
        low, high = self._hull.lowest(function), self._hull.highest(function)
        first = sum(low >= kink for kink in kinks)
        last = sum(high > kink for kink in kinks)
        if first >= last or not node.sides:
            return first, last, points
        heights = function.at(points)
        if not (
            heights > self._hull.level(function, kinks[last - 1]) + TOLERANCE
        ).any():
            bound = self._bound(function, node.sides, kinks[first:last])
            if bound.value is None:
                return None, last, points
            last = sum(bound.value > kink for kink in kinks)
            points = _with(points, bound)
        if first >= last:
            return first, last, points
        heights = function.at(points)
        if not (heights < self._hull.level(function, kinks[first]) - TOLERANCE).any():
            downwards = self._hull.function([-number for number in row])
            below = [-kink for kink in kinks[first:last]]
            bound = self._bound(downwards, node.sides, below)
            if bound.value is None:
                return None, last, points
            first = sum(-bound.value >= kink for kink in kinks)
            points = _with(points, bound)
        return first, last, points

    def _function(self, node: _Node, unit: int, row: Row) -> Function:
        """Return the pre-activation of a unit, times the scale of its layer."""
        if node.pieces:
            return self._hull.function(row)
        if unit not in self._first:
            self._first[unit] = self._hull.function(row)
        return self._first[unit]

    def _bound(
        self, function: Function, sides: Sequence[Function], levels: Sequence[int]
    ) -> Bound:
        self._meter.spend()
        self.n_programs += 1
        return self._hull.bound(function, sides, levels)

    def _part(self, node: _Node, piece: int, first: int, last: int) -> _Node:
        """Return the part of a node in which its next unit is on one piece."""
        layer, unit, sums = self._layers[len(node.pieces)], len(node.chosen), node.sums
        sides, conditions, points = [*node.sides], [*node.conditions], node.points
        ends = [(True, piece - 1)] * (piece > first) + [(False, piece)] * (piece < last)
        for is_above, place in ends:
            kink, sign = layer.kinks[place], 1 if is_above else -1
            row = [sign * number for number in sums.numbers[unit].tolist()]
            row[-1] -= sign * kink * sums.scale
            form = _affine(row, sums.scale)
            sides.append(self._hull.function(lowered(row)))
            conditions.append(Halfspace(len(node.pieces), unit, is_above, kink, form))
            points = points[sides[-1].at(points) >= -TOLERANCE]
        return replace(
            node,
            chosen=(*node.chosen, piece),
            sides=tuple(sides),
            conditions=tuple(conditions),
            points=points,
        )

    def region(self, node: _Node, possible: Collection[int]) -> LinearRegion:
        """Return a leaf as a region, with those of some classes that it may have."""
        rows = [row.tolist() for row in node.sums.numbers]
        scores = tuple(_affine(row, node.sums.scale) for row in rows)
        classes = tuple(
            index for index in sorted(possible) if self._may_have(index, node)
        )
        return LinearRegion(node.pieces, node.conditions, scores, classes)

    def _may_have(self, index: int, node: _Node) -> bool:
        """Tell whether some input of a leaf may have a class; no is a proof."""
        forms, leads = node.sums, leads_of(self._network, index)
        self._meter.spend()
        self.n_programs += 1
        return may_have(self._hull, leads, forms, node.sides) is not None


def may_have(
    hull: Hull, leads: Sequence[Lead], scores: Forms, sides: Sequence[Function]
) -> Bound | None:
    """Look for where a class may win within constraints; None proves that it does not.

    Parameters
    ----------
    hull : Hull
    leads : sequence of Lead
        What must be ahead for the class to win.
    scores : Forms
    sides : sequence of Function
        The constraints: functions that must be at least 0.
    """
    rows = [
        [int(n) for n in np.array(lead.of_scores, dtype=object) @ scores.numbers]
        for lead in leads
    ]
    function, first = hull.function(rows[0]), leads[0]
    if first.is_behind(hull.highest(function) / scores.scale):
        return None
    ahead = [hull.function(row) for row in rows[1:]]
    bound = hull.bound(function, [*sides, *ahead], [first.level * scores.scale])
    if bound.value is None or first.is_behind(bound.value / scores.scale):
        return None
    return bound


def _with(points: NDArray[np.float64], bound: Bound) -> NDArray[np.float64]:
    """Add the point of a bound to others."""
    return points if bound.point is None else np.vstack([points, bound.point])


def _affine(row: Row, scale: int) -> Affine:
    *coefficients, constant = (Fraction(number, scale) for number in row)
    return Affine(tuple(coefficients), constant)
