"""RULES: rules, lists of them, and what can be done with a list."""

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
    decided_by,
    is_counted,
    is_right,
    is_true_alone,
    is_whole_domain,
    n_agreeing,
    n_rows,
    turned_rows,
    uncovered_inputs,
    uncovered_rows,
)
from nn2rules.rules.first_rules import shortened
from nn2rules.rules.matching import NO_RULE, bit_rows, first_match
from nn2rules.rules.page import Top, shown_rule, unless_text
from nn2rules.rules.page_head import head_of
from nn2rules.rules.predicting import OUTSIDE, label_positions
from nn2rules.rules.rule import FACTS, Facts, Rule
from nn2rules.rules.rule_list import RuleList
from nn2rules.rules.volume import covered
from nn2rules.rules.wording import (
    by_heart,
    classes_text,
    coverage_of,
    order_text,
    origin_warnings,
    proof_of,
    proved_of,
    question_of,
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
    "by_heart",
    "by_influence",
    "certificate_of",
    "class_counts",
    "class_inputs",
    "class_rows",
    "classes_text",
    "coverage_of",
    "covered",
    "decided_by",
    "features_content",
    "first_match",
    "head_of",
    "is_counted",
    "is_right",
    "is_true_alone",
    "is_whole_domain",
    "label_positions",
    "n_agreeing",
    "n_rows",
    "of_any",
    "of_some",
    "order_text",
    "origin_warnings",
    "own_certificate",
    "proof_of",
    "proved_of",
    "question_of",
    "shortened",
    "shown_rule",
    "turned_rows",
    "uncovered_inputs",
    "uncovered_rows",
    "unless_text",
]
