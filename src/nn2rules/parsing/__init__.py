"""Conditions as rules print them, read again: text in, conditions over a domain out."""

from nn2rules.parsing.conditions import read_conditions
from nn2rules.parsing.said import Said, conditions_for, together

__all__ = ["Said", "conditions_for", "read_conditions", "together"]
