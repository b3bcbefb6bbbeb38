"""RULES: descriptions of a network, rule lists, their certificates and their pages.

`description` is what all forms of description share, with a `certificate` of what was
proved and with predictions for rows (`predicting`). `rule_list` and `rule` are lists
and sets of rules: checked by `validation`, matched to rows by `matching`, named by
`names`, shown by `page` (with its `page_head`) and by `frame`; `first_rules` takes some
of them. What is known of a description is counted in `facts`, `data_rows` and `volume`,
and put into words in `wording`, for every page. Imports `network`, `output`, `language`
and `space`.
"""

from nn2rules.rules.certificate import (
    Certificate,
    certificate_of,
    features_content,
    of_any,
    of_some,
    own_certificate,
)
from nn2rules.rules.description import Description, Predictions, Scope
from nn2rules.rules.facts import (
    by_influence,
    class_counts,
    class_inputs,
    class_rows,
    determined_by,
    holds_alone,
    influence_rows,
    is_counted,
    is_exact,
    is_whole_domain,
    n_agreeing,
    n_rows,
    uncovered_inputs,
    uncovered_rows,
)
from nn2rules.rules.first_rules import shortened
from nn2rules.rules.matching import NO_RULE, bit_rows, first_match
from nn2rules.rules.page import Top, shown_rule, unless_text
from nn2rules.rules.page_head import head_of
from nn2rules.rules.predicting import OUTSIDE, label_positions, numbers_for
from nn2rules.rules.rule import FACTS, Facts, Rule
from nn2rules.rules.rule_list import RuleList
from nn2rules.rules.volume import covered
from nn2rules.rules.wording import (
    classes_text,
    coverage_of,
    is_summary,
    order_text,
    origin_warnings,
    otherwise_text,
    overfitting_warnings,
    proof_of,
    proof_sentence_of,
    title_of,
)

__all__ = [
    "FACTS",
    "NO_RULE",
    "OUTSIDE",
    "Certificate",
    "Description",
    "Facts",
    "Predictions",
    "Rule",
    "RuleList",
    "Scope",
    "Top",
    "bit_rows",
    "by_influence",
    "certificate_of",
    "class_counts",
    "class_inputs",
    "class_rows",
    "classes_text",
    "coverage_of",
    "covered",
    "determined_by",
    "features_content",
    "first_match",
    "head_of",
    "holds_alone",
    "influence_rows",
    "is_counted",
    "is_exact",
    "is_summary",
    "is_whole_domain",
    "label_positions",
    "n_agreeing",
    "n_rows",
    "numbers_for",
    "of_any",
    "of_some",
    "order_text",
    "origin_warnings",
    "otherwise_text",
    "overfitting_warnings",
    "own_certificate",
    "proof_of",
    "proof_sentence_of",
    "shortened",
    "shown_rule",
    "title_of",
    "uncovered_inputs",
    "uncovered_rows",
    "unless_text",
]
