"""RULES: rules, lists of them, and what can be done with a list."""

from nn2rules.rules.rule import Facts, Rule
from nn2rules.rules.rule_list import OUTSIDE, RuleList

__all__ = ["OUTSIDE", "Facts", "Rule", "RuleList"]
