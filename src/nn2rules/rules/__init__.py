"""RULES: rules, lists of them, and what can be done with a list."""

from nn2rules.rules.answering import OUTSIDE
from nn2rules.rules.page import Top
from nn2rules.rules.rule import FACTS, Facts, Rule
from nn2rules.rules.rule_list import RuleList

__all__ = ["FACTS", "OUTSIDE", "Facts", "Rule", "RuleList", "Top"]
