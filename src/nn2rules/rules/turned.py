"""What a certificate says of the features that can turn an answer."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from nn2rules.boxes import Condition

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList


def turned_rows(rules: "RuleList") -> tuple[int, dict[str, int]]:
    """Return on how many rows it was counted, and of how many each feature turns.

    Nothing of a certificate that says something else there.
    """
    influence = rules.certificate.get("influence")
    if not isinstance(influence, Mapping):
        return 0, {}
    of, rows = influence.get("of"), influence.get("rows")
    if not isinstance(of, Mapping) or type(rows) is not int:
        return 0, {}
    names = rules.domain.names
    return rows, {name: of[name] for name in names if type(of.get(name)) is int}


def features_in_order(rules: "RuleList") -> list[str]:
    """Return the features' names, those that turn the answer of most rows first.

    Where nothing is known they stay in the order of the domain.
    """
    _, counts = turned_rows(rules)
    return sorted(rules.domain.names, key=lambda name: -counts.get(name, 0))


def by_influence(rules: "RuleList") -> Callable[[Condition], int]:
    """Return a key that sorts conditions by how much their features matter."""
    rank = {name: place for place, name in enumerate(features_in_order(rules))}
    return lambda condition: rank[condition.feature]
