"""Turn a trained neural network into rules that answer the same on every input.

::

    model ──adapters──▶ Network ──engine──▶ RuleList ──▶ predict · apply · support
    columns ─────────▶ Domain ─┘                    └──▶ text · JSON · data frame

A `Domain` is a set of features with their values; a `Network` is a classifier on it,
read from a model or a file; `extract` turns it into a `RuleList`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nn2rules import datasets
from nn2rules.adapters import read_network
from nn2rules.boxes import Condition
from nn2rules.checker import check
from nn2rules.domain import Domain
from nn2rules.errors import (
    BudgetExceededError,
    DomainError,
    FormatError,
    InternalError,
    MissingExtraError,
    Nn2RulesError,
    OptionError,
    RowsError,
    UndecidedError,
    UnknownValueError,
    UnsupportedModelError,
)
from nn2rules.feature import Feature
from nn2rules.formats import load, save
from nn2rules.layer import Layer
from nn2rules.model_files import load_model
from nn2rules.network import Network
from nn2rules.rules import Rule, RuleList
from nn2rules.version import __version__

if TYPE_CHECKING:
    from nn2rules import engine, experiments, paper
    from nn2rules.engine import Budget
    from nn2rules.evaluation import evaluate
    from nn2rules.extraction import extract

# These need the compiled kernels, and with them numba: imported when asked for.
_LAZY = {
    "RuleListClassifier": "nn2rules.estimator",
    "Budget": "nn2rules.engine",
    "engine": "nn2rules.engine",
    "evaluate": "nn2rules.evaluation",
    "experiments": "nn2rules.experiments",
    "extract": "nn2rules.extraction",
    "paper": "nn2rules.paper",
}

__all__ = [
    "Budget",
    "BudgetExceededError",
    "Condition",
    "Domain",
    "DomainError",
    "Feature",
    "FormatError",
    "InternalError",
    "Layer",
    "MissingExtraError",
    "Network",
    "Nn2RulesError",
    "OptionError",
    "RowsError",
    "Rule",
    "RuleList",
    "RuleListClassifier",
    "UndecidedError",
    "UnknownValueError",
    "UnsupportedModelError",
    "__version__",
    "check",
    "datasets",
    "engine",
    "evaluate",
    "experiments",
    "extract",
    "load",
    "load_model",
    "paper",
    "read_network",
    "save",
]


def __getattr__(name: str) -> Any:
    """Import what needs the compiled kernels on first use."""
    if name not in _LAZY:
        raise AttributeError(f"module 'nn2rules' has no attribute {name!r}")
    module = import_module(_LAZY[name])
    return module if _LAZY[name].endswith(f".{name}") else getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
