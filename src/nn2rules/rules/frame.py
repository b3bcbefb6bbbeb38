"""Rules as a data frame."""

from typing import TYPE_CHECKING

from nn2rules.language import allowed_text, unused
from nn2rules.rules.rule import FACTS

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList


def columns_of(rules: "RuleList") -> dict[str, list[object]]:
    """Return the columns of `RuleList.to_frame`."""
    table: dict[str, list[object]] = {}
    taken = set(rules.domain.names)
    table[unused("rule", taken)] = [*rules.names, "default"]
    for feature in rules.domain.features:
        column = [
            next(
                (
                    allowed_text(feature, condition.values)
                    for condition in rule.conditions
                    if condition.feature == feature.name
                ),
                "",
            )
            for rule in rules.rules
        ]
        table[feature.name] = [*column, ""]
    table[unused("then", taken)] = [
        *(rule.then for rule in rules.rules),
        rules.default,
    ]
    for name, facts in _fact_columns(rules).items():
        table[unused(name, taken)] = [*facts, None]
    return table


def _fact_columns(rules: "RuleList") -> dict[str, list[object]]:
    """Return the facts about the rules, by column, where any rule has them."""
    columns: dict[str, list[object]] = {
        name: [getattr(facts, name) for facts in rules.facts]
        for name in FACTS
        if name != "probability"
    }
    columns["unless"] = [
        None if facts.unless is None else ", ".join(map(str, facts.unless))
        for facts in rules.facts
    ]
    for end, name in enumerate(("p_low", "p_high")):
        columns[name] = [
            None if facts.probability is None else facts.probability[end]
            for facts in rules.facts
        ]
    return {
        name: column
        for name, column in columns.items()
        if any(value is not None for value in column)
    }
