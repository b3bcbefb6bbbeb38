"""What a claim about each input for itself asks of networks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.language import Region
from nn2rules.network import Network
from nn2rules.space import Boxes, Value, did_you_mean

Codes: TypeAlias = NDArray[np.int64]
Kinds: TypeAlias = NDArray[np.uint8]
"""Of each input 0 where the claim holds, or else the number of a way to break it."""

MOST_WAYS = 200
"""So many ways to break a claim are told apart."""

Judge: TypeAlias = Callable[[Sequence[Codes], Codes, NDArray[np.float64] | None], Kinds]


@dataclass(frozen=True)
class Search:
    """One question of a search: all of a class, or, if `is_never`, none of it."""

    network: Network
    index: int
    within: Boxes
    ignoring: Boxes
    is_never: bool = False


@dataclass(frozen=True)
class Plain:
    """A claim about each input for itself.

    Attributes
    ----------
    networks : tuple of Network
        Whose answers say whether it holds, all over the same domain.
    ways : tuple of str
        In which it can be broken.
    judge : callable
        Takes their answers and the inputs, and returns of each how it is broken.
    needs_inputs : bool
        Whether the answers alone do not say it.
    searches : callable
        Takes a region, and yields questions that all must be answered by proof.
    breaking : tuple of (Network, set of int)
        Inputs break it that one of these networks gives one of these classes, and no
        input is of two; empty if that does not say it.
    """

    networks: tuple[Network, ...]
    ways: tuple[str, ...]
    judge: Judge
    searches: Callable[[Region], Iterator[Search]]
    needs_inputs: bool = False
    breaking: tuple[tuple[Network, frozenset[int]], ...] = ()


def class_index(network: Network, label: Value) -> int:
    """Return the position of a class, which a claim names."""
    if label not in network.classes:
        known = ", ".join(repr(known) for known in network.classes)
        hint = did_you_mean(label, network.classes)
        raise OptionError(f"there is no class {label!r}; there are {known}{hint}")
    return network.classes.index(label)
