"""What is done to a network once it is read: unused columns, and hints."""

import warnings
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from nn2rules.domain import Domain
from nn2rules.errors import BinsWarning
from nn2rules.feature import Feature
from nn2rules.frames import Rows, observed_columns
from nn2rules.layer import Layer
from nn2rules.network import Network
from nn2rules.observed import special_value_warnings

_MANY = 30


def without_unused(network: Network) -> Network:
    """Leave out features that the model does not look at, such as dropped columns.

    Of a feature that has but one value, and of a range of one number, that is not
    known: the model may well look at it, and answer otherwise to another value.
    """
    domain, first = network.domain, network.layers[0]
    blocks = np.split(first.weights, domain.offsets[1:-1])
    if not first.weights.any():
        return network
    used = [
        bool(block.any()) or _is_single(feature)
        for feature, block in zip(domain.features, blocks, strict=True)
    ]
    if all(used):
        return network
    chosen = [block for block, is_used in zip(blocks, used, strict=True) if is_used]
    layer = Layer(np.concatenate(chosen), first.bias, first.activation, first.slope)
    kept = tuple(f for f, u in zip(domain.features, used, strict=True) if u)
    return replace(network, domain=Domain(kept), layers=(layer, *network.layers[1:]))


def _is_single(feature: Feature) -> bool:
    """Tell whether a feature has one value, whatever stands beside it."""
    if feature.limits is not None:
        return feature.limits[0] == feature.limits[1]
    return feature.n_plain == 1


def hint_at_bins(network: Network) -> None:
    """Warn of numbers that the model tells apart in a few ranges only.

    It may have bins, but only numbers that occur were asked about, and none between
    them. With bins that the user states, rules are shorter and quickly found.
    """
    blocks = np.split(network.layers[0].weights, network.domain.offsets[1:-1])
    for feature, block in zip(network.domain.features, blocks, strict=True):
        numbers = feature.values[: feature.n_plain]
        if feature.edges is not None or not feature.has_numbers:
            continue
        changes = ~np.isclose(block[1 : len(numbers)], block[: len(numbers) - 1], 1e-12)
        places = np.flatnonzero(changes.any(axis=1)).tolist()
        if len(numbers) <= _MANY or not 0 < len(places) < len(numbers) // 4:
            continue
        gaps = [f"{numbers[place]} and {numbers[place + 1]}" for place in places]
        shown = ", ".join(gaps[:4]) + (", …" if len(gaps) > 4 else "")
        warnings.warn(
            BinsWarning(
                f"feature {feature.name!r} has {len(numbers)} numbers, which the model "
                f"tells apart in {len(places) + 1} ranges only; if it has bins, state "
                f"their edges (between {shown}), by domain={{{feature.name!r}: "
                f"'bins:...'}} (--values {feature.name}=bins:...), and rules are found "
                f"sooner"
            ),
            stacklevel=4,
        )


def hint_at_special_values(network: Network, data: Rows, said: Iterable[str]) -> None:
    """Warn of codes such as 999 in ranges that nobody declares."""
    if data is None:
        return
    columns = observed_columns(data, network.domain.names)
    for hint in special_value_warnings(network.domain.features, columns, said):
        warnings.warn(hint, stacklevel=4)
