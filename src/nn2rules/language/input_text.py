"""Inputs in the words of rules: what each feature is, so that letters can quote it."""

from collections.abc import Mapping, Sequence
from typing import Any

from nn2rules.language.text import condition_text, label_text, value_text
from nn2rules.space import Domain, Feature, Value, has_bins


def value_condition(feature: Feature, values: Sequence[Any]) -> str:
    """Return which values a feature has as a condition, which can be read again.

    Of a range of numbers, values may be numbers and pairs (low, high).

    Examples
    --------
    >>> income = Feature.bins("income", [2800, 5000])
    >>> [value_condition(income, [value]) for value in income.values]
    ['income < 2800', '2800 ≤ income < 5000', 'income ≥ 5000']
    >>> value_condition(Feature.real("age", 17, 90, whole=True), [31])
    'age = 31'
    >>> job = Feature.grouped("job", [["clerk", "cook"], ["judge", "nurse"]])
    >>> value_condition(job, ["clerk, cook"])
    'job in {clerk, cook}'
    """
    if feature.limits is not None:
        beside = feature.values[feature.n_plain :]
        values = [v if isinstance(v, tuple) or v in beside else (v, v) for v in values]
    return condition_text(feature, values)


def input_conditions(domain: Domain, row: Mapping[str, Value]) -> list[str]:
    """Return an input, or some of its features, as conditions.

    Examples
    --------
    >>> domain = Domain((Feature("job", ("clerk", "cook")), Feature.bins("age", [25])))
    >>> input_conditions(domain, {"job": "cook", "age": "(-inf, 25)"})
    ['job = cook', 'age < 25']
    """
    return [value_condition(domain.feature(name), [v]) for name, v in row.items()]


def value_words(feature: Feature, value: Value) -> str:
    """Return a value in few words: bins as conditions, unless they have labels.

    Examples
    --------
    >>> value_words(Feature.bins("age", [25]), "[25, inf)")
    'age ≥ 25'
    >>> value_words(Feature("sex", ("f", "m"), labels=("Female", "Male")), "f")
    'Female'
    """
    if feature.limits is not None:
        return label_text(value)
    is_bin = has_bins(feature) and feature.labels is None and value is not None
    return value_condition(feature, [value]) if is_bin else value_text(feature, value)
