"""Extract a description from a network: `extract`, and the methods behind it.

`extract` reads the model, and `choices` decides on form, scope and engine; `options`
holds all options as values, `job` the same for one network. Rules come from a table of
every input (`from_table`), from a search on larger domains (`from_search`), or from the
paper's algorithm (`paper`), and scorecards from `scorecard_form`. `describe` and
`ordering` add counts and put rules in order; `user_units` writes them in the user's
numbers; `coverage` and `influence` measure them on rows; `certifying` and `proofs`
record what was proved. `other_network` tells whether rules belong to a network, and
`extending` adds rules for rows that none covers. Imports `models`, `files`,
`scorecards`, `rules`, `engine`, `network`, `language` and `space`.
"""

from nn2rules.extraction.certifying import network_digest, table_certificate
from nn2rules.extraction.extract import Engine, Form, Scope, extract
from nn2rules.extraction.from_table.covers import rule_set
from nn2rules.extraction.from_table.packing import Rules
from nn2rules.extraction.from_table.runs import Work, effort_of
from nn2rules.extraction.influence import DRAWN_ROWS, Influences, counted, influences
from nn2rules.extraction.options import Length, Limits, RuleOptions, check_labels
from nn2rules.extraction.ordering import most_first
from nn2rules.extraction.other_network import other_network
from nn2rules.extraction.proofs import write_proofs
from nn2rules.extraction.scorecard_form import (
    row_counts,
    scorecard_lines,
    scorecard_of,
)

__all__ = [
    "DRAWN_ROWS",
    "Engine",
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
    "row_counts",
    "rule_set",
    "scorecard_lines",
    "scorecard_of",
    "table_certificate",
    "write_proofs",
]
