"""Claims about two inputs that differ in some features alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError, OptionError
from nn2rules.language import plain_values
from nn2rules.network import Network
from nn2rules.questions.claims import IndependentOf, Monotone
from nn2rules.questions.verify.questions import class_index
from nn2rules.space import Condition, Feature


@dataclass(frozen=True)
class Paired:
    """A claim about two inputs that differ in some features alone.

    Attributes
    ----------
    network : Network
    features : tuple of int
        In which they may differ.
    toward : int or None
        Of a claim about an order, the class that must not be lost.
    ranks : ndarray of float or None
        Of such a claim, the place of each value in the order in which the answer may
        only turn to `toward`; that of a number of a range is the number.
    is_increasing : bool
        Whether numbers stand in that order, and not in the reverse one.
    way : str
        What it is called when it is broken.
    """

    network: Network
    features: tuple[int, ...]
    toward: int | None = None
    ranks: NDArray[np.float64] | None = None
    is_increasing: bool = True
    way: str = "turns"

    def classes(self) -> Iterator[tuple[int, int]]:
        """Yield which classes break it: that of one input, and that of the other.

        Where there is an order, the first input has the lower rank.
        """
        every = range(len(self.network.classes))
        if self.toward is None:
            yield from combinations(every, 2)
            return
        for other in every:
            if other != self.toward:
                both = self.toward, other
                yield both if self.is_increasing else both[::-1]


def paired_of(claim: IndependentOf | Monotone, network: Network) -> Paired:
    """Return what a claim says of two inputs."""
    domain = network.domain
    if isinstance(claim, IndependentOf):
        return Paired(network, tuple(sorted(domain.index(n) for n in claim.features)))
    index = domain.index(claim.feature)
    feature = domain.features[index]
    if not feature.ordered:
        raise DomainError(
            f"feature {feature.name!r} has no order, so nothing grows along it; give "
            f"it one where the domain is made (ordered=True), or claim that the answer "
            f"is independent of it"
        )
    if claim.toward is None and len(network.classes) != 2:
        raise OptionError(
            f"monotone: the model has {len(network.classes)} classes; say which must "
            f"not be lost: toward=…"
        )
    toward = 1 if claim.toward is None else class_index(network, claim.toward)
    return Paired(
        network,
        (index,),
        toward,
        _ranks(network, index, feature),
        claim.increasing,
        "falls" if claim.increasing else "rises",
    )


def _ranks(network: Network, index: int, feature: Feature) -> NDArray[np.float64]:
    """Return the places of a feature's values in its order."""
    ranks = np.zeros(int(network.domain.offsets[-1]))
    start = int(network.domain.offsets[index])
    for code, place in feature.places.items():
        ranks[start + code] = place
    return ranks


def plain_only(paired: Paired) -> tuple[Condition, ...]:
    """Return that an ordered feature is not missing, and no value for others."""
    if paired.ranks is None:
        return ()
    feature = paired.network.domain.features[paired.features[0]]
    return (plain_values(feature).condition(feature),)
