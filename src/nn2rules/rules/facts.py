"""What is known of rules: in numbers, by their certificate and their own facts."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from nn2rules.rules.certificate import certificate_of
from nn2rules.rules.rule import Facts, Rule
from nn2rules.space import Condition

if TYPE_CHECKING:
    from nn2rules.rules.description import Description
    from nn2rules.rules.rule_list import RuleList


def is_counted(rules: "Description") -> bool:
    """Tell whether it is known how many inputs can occur."""
    known = certificate_of(rules)
    is_known = not known.has_impossible or known.possible is not None
    return is_known and not rules.domain.has_ranges


def class_inputs(rules: "Description") -> list[int] | None:
    """Return for each class the number of inputs that the network answers so."""
    known = certificate_of(rules)
    if known.engine == "paper" and not known.is_right:
        return None  # those of what stands for the network were counted
    if known.class_inputs is None or not is_counted(rules):
        return None
    return list(known.class_inputs)


def class_rows(rules: "Description") -> list[int] | None:
    """Return for each class the number of rows that the network answers so."""
    known = certificate_of(rules)
    if known.class_rows is not None:
        return list(known.class_rows)
    is_certain = known.is_right and known.rows is not None
    return rules.class_support() if is_certain else None


def class_counts(rules: "Description") -> tuple[list[int] | None, str]:
    """Return how often the network gives each class, and of what: rows, or inputs."""
    rows = class_rows(rules)
    return (class_inputs(rules), "possible inputs") if rows is None else (rows, "rows")


def decided_by(
    rules: "RuleList", positions: Iterable[int]
) -> tuple[list[int] | None, str]:
    """Return how much some rules decide, and of what; None if nobody counted."""
    chosen = [rules.facts[position] for position in positions]
    for name, noun in (("support", "rows"), ("inputs", "inputs")):
        found = [getattr(facts, name) for facts in chosen]
        if found and None not in found:
            return found, noun
    return None, ""


def n_agreeing(known: Facts | Rule) -> int | None:
    """Return of how many of the rows that a rule decides the label is its class."""
    return (
        None if known.accuracy is None else round(known.accuracy * (known.support or 0))
    )


def n_rows(rules: "Description") -> int | None:
    """Return how many rows of data what is known of the rules was counted on."""
    rows = certificate_of(rules).rows
    if rows is not None:
        return rows
    listed = class_rows(rules)
    return None if listed is None else sum(listed)


def is_right(rules: "Description") -> bool:
    """Tell whether the certificate says that rules are right wherever they decide."""
    return certificate_of(rules).is_right


def is_whole_domain(rules: "Description") -> bool:
    """Tell whether rules, with their default, answer every input as proved."""
    known = certificate_of(rules)
    return known.is_right and known.is_complete and rules.scope == "domain"


def uncovered_inputs(rules: "RuleList") -> int | None:
    """Return how many inputs that can occur no rule decides, if that is known."""
    certified = certificate_of(rules).uncovered
    decided = [f.inputs for f in rules.facts]
    if certified is not None or None in decided or not is_counted(rules):
        return certified
    return max(rules.n_possible - sum(decided), 0)  # type: ignore[arg-type]


def uncovered_rows(rules: "RuleList") -> int | None:
    """Return how many of the rows no rule decides, if that is known."""
    rows, decided = n_rows(rules), certificate_of(rules).rows_covered
    support = [f.support for f in rules.facts]
    if decided is None and None not in support:
        decided = sum(support)  # type: ignore[arg-type]
    return None if rows is None or decided is None else max(rows - decided, 0)


def is_decided(rules: "RuleList") -> bool:
    """Tell whether rules leave no input to the default."""
    left = uncovered_inputs(rules)
    if left is not None:
        return left == 0 and is_right(rules)
    return rules.is_two_sided and is_whole_domain(rules)


def is_true_alone(rules: "RuleList") -> bool:
    """Tell whether every rule is true when it is read alone.

    In a list, the rules of one class are: what those above take away is of that class.
    """
    return rules.form == "set" or len(set(rules.answers.tolist())) <= 1


def turned_rows(rules: "Description") -> tuple[int, dict[str, int]]:
    """Return on how many rows it was counted, and of how many each feature turns.

    Nothing of a certificate that says something else there.
    """
    influence = certificate_of(rules).influence
    if influence is None:
        return 0, {}
    of, names = influence.of, rules.domain.names
    return influence.rows, {name: of[name] for name in names if name in of}


def features_in_order(rules: "Description") -> list[str]:
    """Return the features' names, those that turn the answer of most rows first.

    Where nothing is known they stay in the order of the domain.
    """
    _, counts = turned_rows(rules)
    return sorted(rules.domain.names, key=lambda name: -counts.get(name, 0))


def by_influence(rules: "Description") -> Callable[[Condition], int]:
    """Return a key that sorts conditions by how much their features matter."""
    rank = {name: place for place, name in enumerate(features_in_order(rules))}
    return lambda condition: rank[condition.feature]
