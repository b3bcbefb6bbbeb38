"""Rules from a network: `extract`, and the methods behind it.

`from_table` finds rules where every input fits into a table, `from_search` where the
domain is larger, and `paper` is the algorithm of the paper. `options` checks what the
user asks for, `job` is that as one value, and `certifying` writes the certificate.
Imports `models`, `engine`, `rules` and everything below.
"""

from nn2rules.extraction.certifying import network_digest
from nn2rules.extraction.effort import effort_of
from nn2rules.extraction.extract import Form, Scope, extract
from nn2rules.extraction.from_search.holding import most_first
from nn2rules.extraction.from_table.packing import Rules
from nn2rules.extraction.from_table.rule_set import rule_set
from nn2rules.extraction.from_table.runs import Work
from nn2rules.extraction.influence import DRAWN_ROWS, Influences, counted, influences
from nn2rules.extraction.options import Length, Limits, RuleOptions, check_labels
from nn2rules.extraction.other_network import other_network
from nn2rules.extraction.proofs import write_proofs

__all__ = [
    "DRAWN_ROWS",
    "Form",
    "Influences",
    "Length",
    "Limits",
    "RuleOptions",
    "Rules",
    "Scope",
    "Work",
    "check_labels",
    "counted",
    "effort_of",
    "extract",
    "influences",
    "most_first",
    "network_digest",
    "other_network",
    "rule_set",
    "write_proofs",
]
