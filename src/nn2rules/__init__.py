"""Turn a trained neural network into rules that answer the same on every input.

::

    model ──adapters──▶ Network ──engine──▶ RuleList ──▶ predict · apply · support
    columns ─────────▶ Domain ─┘                    └──▶ text · JSON · data frame

A `Domain` is a set of features with their values; a `Network` is a classifier on it,
read from a model or a file; `extract` turns it into a `RuleList`.
"""

from nn2rules import datasets, paper
from nn2rules.adapters import read_network
from nn2rules.domain import Domain, Feature
from nn2rules.errors import (
    BudgetExceededError,
    DomainError,
    FormatError,
    MissingExtraError,
    Nn2RulesError,
    OptionError,
    RowsError,
    UndecidedError,
    UnknownValueError,
    UnsupportedModelError,
)
from nn2rules.extract import extract
from nn2rules.formats import load, save
from nn2rules.layer import Layer
from nn2rules.network import Network
from nn2rules.rules import Condition, Rule, RuleList

__all__ = [
    "BudgetExceededError",
    "Condition",
    "Domain",
    "DomainError",
    "Feature",
    "FormatError",
    "Layer",
    "MissingExtraError",
    "Network",
    "Nn2RulesError",
    "OptionError",
    "RowsError",
    "Rule",
    "RuleList",
    "UndecidedError",
    "UnknownValueError",
    "UnsupportedModelError",
    "datasets",
    "extract",
    "load",
    "paper",
    "read_network",
    "save",
]

__version__ = "0.1.0"
