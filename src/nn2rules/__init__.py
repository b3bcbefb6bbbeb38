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
    from nn2rules import datasets, engine
    from nn2rules.batch import extract_many
    from nn2rules.checker import check
    from nn2rules.engine import Budget
    from nn2rules.engine.parallel import cluster
    from nn2rules.errors import (
        BinsWarning,
        BudgetExceededError,
        CertificateWarning,
        ClusterError,
        ConstantWarning,
        DomainError,
        FormatError,
        InternalError,
        MissingExtraError,
        Nn2RulesError,
        Nn2RulesWarning,
        NoSuchRuleError,
        OptionError,
        OverfittingWarning,
        ParseError,
        RetryWarning,
        RowsError,
        SpecialValueWarning,
        UncoveredRowsError,
        UncoveredRowsWarning,
        UndecidedError,
        UnknownValueError,
        UnsupportedModelError,
    )
    from nn2rules.extraction import paper
    from nn2rules.extraction.extract import extract
    from nn2rules.extraction.influence import influences
    from nn2rules.extraction.proofs import write_proofs
    from nn2rules.files import load, load_rules, save
    from nn2rules.learn import ReadableClassifier, RuleListClassifier, summarize
    from nn2rules.models import load_model, read_network
    from nn2rules.monitoring import monitor
    from nn2rules.network.layer import Layer
    from nn2rules.network.network import Network
    from nn2rules.questions import claims
    from nn2rules.questions.audit import audit
    from nn2rules.questions.compare import compare
    from nn2rules.questions.evaluate import evaluate
    from nn2rules.questions.explain import explain
    from nn2rules.questions.verify import Verdict, verify
    from nn2rules.rules import Rule, RuleList
    from nn2rules.scorecards import Scorecard
    from nn2rules.space.conditions import Condition
    from nn2rules.space.domain import Domain
    from nn2rules.space.feature import Feature
    from nn2rules.summaries import Summary
    from nn2rules.version import __version__

__all__ = [
    "BinsWarning",
    "Budget",
    "BudgetExceededError",
    "CertificateWarning",
    "ClusterError",
    "Condition",
    "ConstantWarning",
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
    "OptionError",
    "OverfittingWarning",
    "ParseError",
    "ReadableClassifier",
    "RetryWarning",
    "RowsError",
    "Rule",
    "RuleList",
    "RuleListClassifier",
    "Scorecard",
    "SpecialValueWarning",
    "Summary",
    "UncoveredRowsError",
    "UncoveredRowsWarning",
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
    "monitor",
    "paper",
    "read_network",
    "save",
    "summarize",
    "verify",
    "write_proofs",
]


# All names are imported when they are asked for: some need numba or scikit-learn, and
# the command line has to be ready for Ctrl-C before anything takes time.
_HOMES = {
    "batch": ["extract_many"],
    "checker": ["check"],
    "engine": ["Budget"],
    "engine.parallel": ["cluster"],
    "errors": [name for name in __all__ if name.endswith(("Error", "Warning"))],
    "extraction": ["extract", "influences", "write_proofs"],
    "files": ["load", "load_rules", "save"],
    "learn": ["ReadableClassifier", "RuleListClassifier", "summarize"],
    "models": ["load_model", "read_network"],
    "monitoring": ["monitor"],
    "network": ["Layer", "Network"],
    "questions.audit": ["audit"],
    "questions.compare": ["compare"],
    "questions.evaluate": ["evaluate"],
    "questions.explain": ["explain"],
    "questions.verify": ["Verdict", "verify"],
    "rules": ["Rule", "RuleList"],
    "scorecards": ["Scorecard"],
    "space": ["Condition", "Domain", "Feature"],
    "summaries": ["Summary"],
    "version": ["__version__"],
}
_MODULES = {"claims": "questions.claims", "paper": "extraction.paper"}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name, or a module of the package, on first use."""
    if name in _HOME:
        value = getattr(import_module(f"nn2rules.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    try:
        if not name.startswith("_"):
            return import_module(f"nn2rules.{_MODULES.get(name, name)}")
    except ModuleNotFoundError as error:
        if error.name != f"nn2rules.{_MODULES.get(name, name)}":
            raise
    raise AttributeError(f"module 'nn2rules' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
