"""The figures that the paper prints, and the names of what is compared.

References
----------
The tables of "NN2Rules: Extracting Rule List from Neural Networks".
"""

from typing import NamedTuple


class Method(NamedTuple):
    """Something that is compared: its key, its name, and a short one for figures."""

    key: str
    name: str
    short: str


METHODS = (
    Method("tree-6", "Decision tree, depth 6", "Decision tree"),
    Method("tree", "Decision tree, depth validated", "Decision tree"),
    Method("simple-6", "Simple TREPAN, depth 6", "Simple TREPAN"),
    Method("simple", "Simple TREPAN, depth validated", "Simple TREPAN"),
    Method("trepan", "TREPAN", "TREPAN"),
    Method("full", "NN2Rules(Full)", "NN2Rules(Full)"),
    Method("support", "NN2Rules(Support)", "NN2Rules(Support)"),
    Method("list", "nn2rules list", "nn2rules list"),
    Method("support-list", "nn2rules support list", "nn2rules support list"),
)
"""In the order of the tables."""

NAMES = {method.key: method.name for method in METHODS}
SHORT = {method.key: method.short for method in METHODS}

EXACT = ("full", "list")
"""What must answer as the network does on every input."""

LISTS = ("full", "support", "list", "support-list")
"""The rule lists among the methods."""

_PAPER_METHODS = ("tree-6", "simple-6", "full", "support")


def _by_method(*numbers: float) -> dict[str, float]:
    return dict(zip(_PAPER_METHODS, numbers, strict=True))


FIDELITY = {
    "adult": _by_method(0.941, 0.949, 1.0, 0.992),
    "contraception": _by_method(0.820, 0.936, 1.0, 0.959),
    "nursery": _by_method(0.984, 0.984, 1.0, 0.985),
    "car": _by_method(0.931, 0.951, 1.0, 0.945),
}

ACCURACY = {
    "adult": {**_by_method(0.843, 0.845, 0.854, 0.851), "network": 0.854},
    "contraception": {**_by_method(0.610, 0.651, 0.647, 0.654), "network": 0.647},
    "nursery": {**_by_method(0.975, 0.975, 0.988, 0.985), "network": 0.988},
    "car": {**_by_method(0.934, 0.960, 0.962, 0.942), "network": 0.962},
}

ON_ERRORS = {
    "adult": _by_method(0.834, 0.855, 1.0, 0.982),
    "contraception": _by_method(0.798, 0.904, 1.0, 0.933),
    "nursery": _by_method(0.875, 0.875, 1.0, 0.531),
    "car": _by_method(0.462, 0.385, 1.0, 0.538),
}

RULES = {
    "adult": {"max": 108864, "memorized": 1793, "full": 12802, "support": 553},
    "contraception": {"max": 18432, "memorized": 344, "full": 2064, "support": 134},
    "nursery": {"max": 12960, "memorized": 6663, "full": 280, "support": 242},
    "car": {"max": 1728, "memorized": 414, "full": 182, "support": 163},
}

VALUES = {
    "adult": (3, 3, 3, 3, 3, 14, 2, 8, 2),
    "contraception": (3, 2, 4, 4, 3, 4, 2, 2, 4),
    "nursery": (3, 3, 3, 5, 2, 3, 4, 4),
    "car": (3, 3, 4, 3, 4, 4),
}
"""The number of values of each feature."""
