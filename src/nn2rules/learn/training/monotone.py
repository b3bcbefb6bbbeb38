"""Whether an answer follows a column one way: proved on every input."""

import numpy as np

from nn2rules.engine import build_table
from nn2rules.network import Network


def follows(network: Network, name: str, sign: int) -> bool:
    """Tell whether class 1 never goes away as a column grows, or with -1, falls.

    A column that the network does not look at turns no answer. Missing, and whatever
    else has no place in the order, is not compared.
    """
    domain = network.domain
    if name not in domain.names:
        return True
    axis, feature = domain.names.index(name), domain.feature(name)
    classes = build_table(network).classes.reshape(domain.sizes)
    n_ordered = feature.n_plain if feature.groups is None else len(feature)
    ordered = np.moveaxis(classes, axis, 0)[:n_ordered]
    steps = np.diff(ordered.astype(np.int64), axis=0)
    return bool((sign * steps >= 0).all())
