"""A network, and the layout of its columns, as tensors."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from nn2rules.engine._kernels.network import FlatNetwork

Tensor: TypeAlias = Any
"""A tensor of PyTorch, which is not imported here."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Which columns belong to which features.

    Attributes
    ----------
    offsets : list of int
        As in `FlatNetwork`.
    starts, sizes : Tensor of int64, shape (n_features, 1)
        Where each feature begins, and how many values it has.
    owner : Tensor of int64, shape (n_columns, 1)
        The feature of each column.
    groups : list of pairs of Tensor
        Features of one size, shape (n,), and their columns, shape (n, size).
    widest : int
        The most values that a feature has.
    order, place : Tensor of int64, shape (n_features,)
        The features by the number of columns that are no range, most first; and where
        each is in that order.
    places : list of int
        The same as `place`.
    steps : list of Tensor
        The first such columns of the first features in that order, the second ones,
        and so on.
    ranged, ranged_columns : Tensor of int64, shape (n_ranges,)
        The features that are ranges, and their columns for all numbers.
    whole : Tensor of bool, shape (n_ranges,)
    ranges : list of pairs of int
        The same as `ranged` and `ranged_columns`.
    range_of : Tensor of int64, shape (n_features,)
        The position of a feature in `ranged`; 0 for those that are none.
    tries : list of pairs
        For each feature the codes that `descend` tries, that of a range twice; and how
        many of them come before its two numbers, -1 if it is no range.
    """

    offsets: list[int]
    starts: Tensor
    sizes: Tensor
    owner: Tensor
    groups: list[tuple[Tensor, Tensor]]
    widest: int
    order: Tensor
    place: Tensor
    places: list[int]
    steps: list[Tensor]
    ranged: Tensor
    ranged_columns: Tensor
    whole: Tensor
    ranges: list[tuple[int, int]]
    range_of: Tensor
    tries: list[tuple[Tensor, int]]


@dataclass(frozen=True, eq=False)
class TensorNet:
    """A network as tensors; lists have an entry for each layer.

    Attributes
    ----------
    torch : module
    device : torch.device
    sizes : list of int
        As in `FlatNetwork`.
    weights : list of Tensor, shape (n_in, n_out)
    rows, across : list of lists of Tensor
        The weights of each input, shape (n_out, 1), and of each unit, shape (n_in, 1).
    step_weights : list of Tensor, shape (n, width, 1)
        Those of the columns of each of `Layout.steps`.
    bias, slack, outgoing : list of Tensor, shape (n_out, 1)
    error : Tensor, shape (n_scores, 1)
    kinds : list of int
    slopes : list of float
    layout : Layout
    known : dict
        Numbers that are on the device.
    """

    torch: Any
    device: Any
    sizes: list[int]
    weights: list[Tensor]
    rows: list[list[Tensor]]
    across: list[list[Tensor]]
    step_weights: list[Tensor]
    bias: list[Tensor]
    slack: list[Tensor]
    outgoing: list[Tensor]
    error: Tensor
    kinds: list[int]
    slopes: list[float]
    layout: Layout
    known: dict[tuple[type, float], Tensor] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.layout.offsets) - 1

    def where(self, condition: Tensor, one: Any, other: Any) -> Tensor:
        """Return `one` where a condition holds, and `other` where not.

        Either may be a number, which is brought to the device once: PyTorch would bring
        it there each time, and wait.
        """
        one, other = (
            self._number(part) if isinstance(part, float | int) else part
            for part in (one, other)
        )
        return self.torch.where(condition, one, other)

    def _number(self, number: float) -> Tensor:
        key = type(number), number
        if key not in self.known:
            torch = self.torch
            dtype = torch.float64 if isinstance(number, float) else torch.int64
            self.known[key] = torch.tensor(number, dtype=dtype, device=self.device)
        return self.known[key]

    def full(self, shape: tuple[int, ...], value: float) -> Tensor:
        """Return a tensor of float64 that holds one number."""
        torch = self.torch
        return torch.full(shape, value, dtype=torch.float64, device=self.device)

    def count(self, size: int) -> Tensor:
        """Return the whole numbers from 0 on."""
        return self.torch.arange(size, device=self.device)


def as_tensors(net: FlatNetwork, torch: Any, device: Any) -> TensorNet:
    """Return a network as tensors on a device."""
    sizes, weights = net.sizes.tolist(), []
    for layer, (n_in, n_out) in enumerate(pairwise(sizes)):
        at = int(net.weight_at[layer])
        own = net.weights[at : at + n_in * n_out].reshape(n_in, n_out)
        weights.append(torch.from_numpy(own.copy()).to(device))

    def by_layer(numbers: Any) -> list[Tensor]:
        whole = torch.from_numpy(np.array(numbers)).to(device).unsqueeze(1)
        return list(whole.split(sizes[1:]))

    layout = layout_of(net, torch, device)
    return TensorNet(
        torch=torch,
        device=device,
        sizes=sizes,
        weights=weights,
        rows=[list(own.unsqueeze(2).unbind(0)) for own in weights],
        across=[list(own.T.contiguous().unsqueeze(2).unbind(0)) for own in weights],
        step_weights=[weights[0][own].unsqueeze(2) for own in layout.steps],
        bias=by_layer(net.bias),
        slack=by_layer(net.slack),
        outgoing=by_layer(net.outgoing),
        error=torch.from_numpy(np.array(net.error)).to(device).unsqueeze(1),
        kinds=net.activations.tolist(),
        slopes=net.slopes.tolist(),
        layout=layout,
    )


def layout_of(net: FlatNetwork, torch: Any, device: Any) -> Layout:
    """Return the layout of the columns of a network."""
    offsets, ranges = net.offsets, net.ranges
    sizes, n_features = np.diff(offsets), len(ranges)
    owner = np.repeat(np.arange(n_features), sizes)
    ranged = np.flatnonzero(ranges >= 0)
    range_of = np.zeros(n_features, dtype=np.int64)
    range_of[ranged] = np.arange(len(ranged))

    def tensor(numbers: Any, dtype: Any = np.int64) -> Tensor:
        return torch.from_numpy(np.array(numbers, dtype=dtype)).to(device)

    groups = []
    for size in np.unique(sizes):
        features = np.flatnonzero(sizes == size)
        columns = offsets[features][:, np.newaxis] + np.arange(size)
        groups.append((tensor(features), tensor(columns)))
    plain = [
        [column for column in range(offsets[k], offsets[k + 1]) if column != ranges[k]]
        for k in range(n_features)
    ]
    order = np.argsort([-len(own) for own in plain], kind="stable")
    return Layout(
        offsets=offsets.tolist(),
        starts=tensor(offsets[:-1]).unsqueeze(1),
        sizes=tensor(sizes).unsqueeze(1),
        owner=tensor(owner).unsqueeze(1),
        groups=groups,
        order=tensor(order),
        widest=int(sizes.max()),
        place=tensor(np.argsort(order)),
        places=np.argsort(order).tolist(),
        steps=[
            tensor([plain[k][step] for k in order if len(plain[k]) > step])
            for step in range(max(map(len, plain)))
        ],
        ranged=tensor(ranged),
        ranged_columns=tensor(ranges[ranged]),
        whole=tensor(net.whole[ranged], np.bool_),
        ranges=list(zip(ranged.tolist(), ranges[ranged].tolist(), strict=True)),
        range_of=tensor(range_of),
        tries=[(tensor(codes), before) for codes, before in _tries(net)],
    )


def _tries(net: FlatNetwork) -> list[tuple[list[int], int]]:
    """Return the codes of each feature, that of a range twice, and what is before."""
    tries = []
    for (start, stop), ranged in zip(
        pairwise(net.offsets.tolist()), net.ranges.tolist(), strict=True
    ):
        codes = list(range(stop - start))
        before = ranged - start if ranged >= 0 else -1
        tries.append((sorted([*codes, before]) if ranged >= 0 else codes, before))
    return tries


def add_products(
    net: TensorNet, total: Tensor, factors: Tensor, vectors: list[Tensor]
) -> Tensor:
    """Add up vectors, each times its factor, to `total`, which is changed.

    One after the other, each product rounded before it is added, as the kernels do.

    The kernels leave factors of 0 out. Here they add 0, which is the same, since all
    weights are finite: a sum that begins with 0 or a bias is never changed by it, but
    for the sign of 0, which no comparison sees.
    """
    product = net.torch.empty_like(total)
    for factor, vector in zip(factors.unbind(0), vectors, strict=True):
        net.torch.mul(vector, factor, out=product)
        total.add_(product)
    return total


def add_rows(total: Tensor, rows: Tensor) -> Tensor:
    """Add rows, one after the other, to `total`, which is changed."""
    for row in rows.unbind(0):
        total.add_(row)
    return total
