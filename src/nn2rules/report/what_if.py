"""What the page needs to predict any input by itself, correctly.

If there are few inputs, the class of each is in the page. Otherwise the network itself
is, with a certified bound on its rounding errors: where a score lies within the bound,
the page says so and does not guess.
"""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import SHOWN_INPUTS, Budget, Meter, table_obstacle, table_of
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.language import condition_text
from nn2rules.network import Network, certified
from nn2rules.report.subject import Subject
from nn2rules.rules import Description, certificate_of, is_whole_domain
from nn2rules.space import Condition, boxes_of

NUMBERS = 40_000
"""Up to this many weights, the network itself is in the page."""

COMPUTED = frozenset(
    (
        "elu",
        "hard_sigmoid",
        "hard_tanh",
        "identity",
        "leaky_relu",
        "relu",
        "sigmoid",
        "silu",
        "softmax",
        "softplus",
        "tanh",
    )
)
"""The activations that the page computes; gelu needs a function that it lacks."""

_SECONDS = 20.0  # for the table

_NO_NETWORK = "The network is not in this page, so only the rules predict here."


def what_if_of(subject: Subject) -> dict[str, Any]:
    """Return the table of all classes, or the network, or why there is neither."""
    rules, network = subject.description, subject.network
    impossible = certificate_of(rules).impossible
    data: dict[str, Any] = {"table": None, "network": None, "impossible": None}
    if impossible:
        data["impossible"] = _impossible(rules, impossible)
    table = None if impossible else _table(rules, network)
    if table is not None:
        data["table"] = packed(table, len(rules.classes))
    if network is None:
        data["why"] = _NO_NETWORK
        return data
    data["why"] = _obstacle(network)
    if not data["why"]:
        data["network"] = plain_network(network)
    return data


def _impossible(rules: Description, declared: Any) -> dict[str, Any]:
    """Return the inputs that cannot occur, as boxes where they are listed."""
    if not isinstance(declared, list):
        text = "Some inputs were declared impossible by a function."
        return {"text": text, "boxes": []}
    domain = rules.domain.uncut
    listed = [
        [
            Condition(name, tuple(tuple(v) if isinstance(v, list) else v for v in of))
            for name, of in box.items()
        ]
        for box in declared
    ]
    words = [
        " and ".join(condition_text(domain.feature(c.feature), c.values) for c in box)
        for box in listed
    ]
    _, boxes = boxes_of(domain, listed)
    bits = [["01"[bit] for bit in box] for box in boxes.astype(int).tolist()]
    return {
        "text": f"Declared impossible: {'; '.join(words)}.",
        "boxes": ["".join(box) for box in bits],
    }


def _table(rules: Description, network: Network | None) -> NDArray[np.uint8] | None:
    """Return the class of every input, if there are few and all are known."""
    domain = rules.domain
    if domain.has_ranges or domain.n_inputs > SHOWN_INPUTS:
        return None
    if network is not None and table_obstacle(network) is None:
        try:
            meter = Meter(Budget(seconds=_SECONDS))
            return table_of(network, meter=meter).classes
        except (BudgetExceededError, UndecidedError):
            return None
    if not is_whole_domain(rules) or len(rules.classes) > 255:
        return None
    answers = [rules.predict_codes(codes) for codes in domain.inputs()]
    return np.concatenate(answers).astype(np.uint8)


def packed(classes: NDArray[np.uint8], n_classes: int) -> dict[str, Any]:
    """Return classes in as few bits as they need: 1, 2, 4 or 8 for each.

    Examples
    --------
    >>> packed(np.array([1, 0, 0, 1], dtype=np.uint8), 2)
    {'bits': 1, 'data': 'CQ=='}
    """
    bits = next(b for b in (1, 2, 4, 8) if n_classes <= 1 << b)
    each = 8 // bits
    padded = np.zeros(-(-len(classes) // each) * each, dtype=np.uint8)
    padded[: len(classes)] = classes
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    joined = np.bitwise_or.reduce(padded.reshape(-1, each) << shifts, axis=1)
    data = base64.b64encode(joined.astype(np.uint8).tobytes()).decode()
    return {"bits": bits, "data": data}


def _obstacle(network: Network) -> str:
    """Say why the page cannot evaluate a network; nothing if it can."""
    unknown = {layer.activation for layer in network.layers} - COMPUTED
    if unknown:
        name = min(unknown)
        return f"The page cannot compute {name}, so the network is not in it."
    size = sum(layer.weights.size for layer in network.layers)
    if size > NUMBERS:
        return (
            f"The network has {size:,} weights, too many for a page, so it is not in "
            f"it."
        )
    bound = certified.error_bound(
        network.layers, network.domain.offsets, reach=network.domain.reach
    )
    if not np.isfinite(bound).all():
        return "The network's numbers may overflow, so it is not in the page."
    return ""


def plain_network(network: Network) -> dict[str, Any]:
    """Return a network as plain, exact numbers, with its error bound.

    The bound holds regardless of the order of sums, so it holds for the page, too.
    """
    bound = certified.error_bound(
        network.layers, network.domain.offsets, reach=network.domain.reach
    )
    limit = certified.logit(network.threshold) if network.is_binary else 0.0
    slack = 16 * certified.UNIT * abs(limit)
    return {
        "layers": [
            {
                "weights": layer.weights.tolist(),
                "bias": layer.bias.tolist(),
                "activation": layer.activation,
                "slope": 0.01 if layer.slope is None else layer.slope,
            }
            for layer in network.layers
        ],
        "bound": [float(b + slack) for b in bound],
        "limit": limit,
    }
