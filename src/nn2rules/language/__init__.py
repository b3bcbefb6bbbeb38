"""Conditions as text: written as rules print them, and read back.

`text` has the words for values, numbers, conditions and classes; `parsing` reads
conditions that follow the same grammar, with `operands` and `scanner`; `allowed` gives
the values of a feature that a condition allows. `restrictions` reads ``within=`` and
``impossible=``, for every question. Imports `space`.
"""

from nn2rules.language.allowed import (
    Allowed,
    common,
    compared,
    compared_place,
    everything,
    plain_values,
    union,
    without,
)
from nn2rules.language.operands import codes_of_words, longest_first
from nn2rules.language.parsing import (
    ConditionReader,
    Said,
    conditions_for,
    read_conditions,
    together,
    values_for,
)
from nn2rules.language.restrictions import (
    Impossible,
    IsImpossible,
    Region,
    is_impossible_at,
    premise,
    read_impossible,
    region_of,
)
from nn2rules.language.scanner import Scanner
from nn2rules.language.text import (
    allowed_text,
    condition_text,
    count,
    input_conditions,
    label_text,
    limits_text,
    number_text,
    percent,
    quoted,
    share,
    unused,
    value_condition,
    value_text,
    value_words,
)

__all__ = [
    "Allowed",
    "ConditionReader",
    "Impossible",
    "IsImpossible",
    "Region",
    "Said",
    "Scanner",
    "allowed_text",
    "codes_of_words",
    "common",
    "compared",
    "compared_place",
    "condition_text",
    "conditions_for",
    "count",
    "everything",
    "input_conditions",
    "is_impossible_at",
    "label_text",
    "limits_text",
    "longest_first",
    "number_text",
    "percent",
    "plain_values",
    "premise",
    "quoted",
    "read_conditions",
    "read_impossible",
    "region_of",
    "share",
    "together",
    "union",
    "unused",
    "value_condition",
    "value_text",
    "value_words",
    "values_for",
    "without",
]
