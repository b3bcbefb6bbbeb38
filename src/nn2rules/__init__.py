"""Turn a trained neural network into rules that answer the same on every input.

::

    model ──adapters──▶ Network ──engine──▶ RuleList ──▶ predict · apply · support
    columns ─────────▶ Domain ─┘                    └──▶ text · JSON · data frame

A `Domain` is a set of features with their values; a `Network` is a classifier on it,
read from a model or a file; `extract` turns it into a `RuleList`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nn2rules import claims, datasets, engine, paper
    from nn2rules.adapters import read_network
    from nn2rules.auditing import audit
    from nn2rules.batch import extract_many
    from nn2rules.boxes import Condition
    from nn2rules.checker import check
    from nn2rules.clusters import cluster
    from nn2rules.comparing import compare
    from nn2rules.cover.proofs import write_proofs
    from nn2rules.domain import Domain
    from nn2rules.engine import Budget
    from nn2rules.errors import (
        BinsWarning,
        BudgetExceededError,
        ByHeartWarning,
        CertificateWarning,
        ClusterError,
        DomainError,
        FormatError,
        InternalError,
        MissingExtraError,
        Nn2RulesError,
        Nn2RulesWarning,
        NoSuchRuleError,
        OpenRowsError,
        OpenRowsWarning,
        OptionError,
        ParseError,
        RetryWarning,
        RowsError,
        SpecialValueWarning,
        UndecidedError,
        UnknownValueError,
        UnsupportedModelError,
    )
    from nn2rules.estimator import RuleListClassifier
    from nn2rules.evaluation import evaluate
    from nn2rules.explaining import explain
    from nn2rules.extraction import extract
    from nn2rules.feature import Feature
    from nn2rules.formats import load, load_rules, save
    from nn2rules.influence import influences
    from nn2rules.layer import Layer
    from nn2rules.model_files import load_model
    from nn2rules.network import Network
    from nn2rules.readable import ReadableClassifier
    from nn2rules.rules import Rule, RuleList
    from nn2rules.verifying import Verdict, verify
    from nn2rules.version import __version__

__all__ = [
    "BinsWarning",
    "Budget",
    "BudgetExceededError",
    "ByHeartWarning",
    "CertificateWarning",
    "ClusterError",
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
    "Nn2RulesWarning",
    "NoSuchRuleError",
    "OpenRowsError",
    "OpenRowsWarning",
    "OptionError",
    "ParseError",
    "ReadableClassifier",
    "RetryWarning",
    "RowsError",
    "Rule",
    "RuleList",
    "RuleListClassifier",
    "SpecialValueWarning",
    "UndecidedError",
    "UnknownValueError",
    "UnsupportedModelError",
    "Verdict",
    "__version__",
    "audit",
    "check",
    "claims",
    "cluster",
    "compare",
    "datasets",
    "engine",
    "evaluate",
    "explain",
    "extract",
    "extract_many",
    "influences",
    "load",
    "load_model",
    "load_rules",
    "paper",
    "read_network",
    "save",
    "verify",
    "write_proofs",
]


# All names are imported when they are asked for: some need numba or scikit-learn, and
# the command line has to be ready for Ctrl-C before anything takes time.
_HOMES = {
    "adapters": ["read_network"],
    "auditing": ["audit"],
    "batch": ["extract_many"],
    "boxes": ["Condition"],
    "checker": ["check"],
    "clusters": ["cluster"],
    "comparing": ["compare"],
    "cover.proofs": ["write_proofs"],
    "domain": ["Domain"],
    "engine": ["Budget"],
    "errors": [name for name in __all__ if name.endswith(("Error", "Warning"))],
    "estimator": ["RuleListClassifier"],
    "evaluation": ["evaluate"],
    "explaining": ["explain"],
    "extraction": ["extract"],
    "feature": ["Feature"],
    "formats": ["load", "load_rules", "save"],
    "influence": ["influences"],
    "layer": ["Layer"],
    "model_files": ["load_model"],
    "network": ["Network"],
    "readable": ["ReadableClassifier"],
    "rules": ["Rule", "RuleList"],
    "verifying": ["Verdict", "verify"],
    "version": ["__version__"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name, or a module of the package, on first use."""
    if name in _HOME:
        value = getattr(import_module(f"nn2rules.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    try:
        if not name.startswith("_"):
            return import_module(f"nn2rules.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"nn2rules.{name}":
            raise
    raise AttributeError(f"module 'nn2rules' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
