"""What is known about a description, in numbers: from its certificate and its rules."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from nn2rules.rules.certificate import certificate_of
from nn2rules.rules.rule import Facts, Rule
from nn2rules.space import Condition

if TYPE_CHECKING:
    from nn2rules.rules.description import Description
    from nn2rules.rules.rule_list import RuleList


def is_counted(description: "Description") -> bool:
    """Tell whether the number of inputs that can occur is known."""
    certificate = certificate_of(description)
    is_known = not certificate.has_impossible or certificate.possible is not None
    return is_known and not description.domain.has_ranges


def class_inputs(description: "Description") -> list[int] | None:
    """Return for how many inputs the network predicts each class."""
    certificate = certificate_of(description)
    if certificate.engine == "paper" and not certificate.is_exact:
        return None  # an approximation of the network was counted
    if certificate.class_inputs is None or not is_counted(description):
        return None
    return list(certificate.class_inputs)


def class_rows(description: "Description") -> list[int] | None:
    """Return for how many rows the network predicts each class."""
    certificate = certificate_of(description)
    if certificate.class_rows is not None:
        return list(certificate.class_rows)
    is_certain = certificate.is_exact and certificate.rows is not None
    return description.class_support() if is_certain else None


def class_counts(description: "Description") -> tuple[list[int] | None, str]:
    """Return how often the network predicts each class, and of what: rows or inputs."""
    rows = class_rows(description)
    if rows is not None:
        return rows, "rows"
    return class_inputs(description), "possible inputs"


def determined_by(
    rules: "RuleList", positions: Iterable[int]
) -> tuple[list[int] | None, str]:
    """Return how much each of some rules determines, and of what: rows or inputs.

    None where it was not counted.
    """
    chosen = [rules.facts[position] for position in positions]
    for name, noun in (("support", "rows"), ("inputs", "inputs")):
        counts = [getattr(facts, name) for facts in chosen]
        if counts and None not in counts:
            return counts, noun
    return None, ""


def n_agreeing(facts: Facts | Rule) -> int | None:
    """Return how many of the rows that a rule determines have its class as label."""
    if facts.accuracy is None:
        return None
    return round(facts.accuracy * (facts.support or 0))


def n_rows(description: "Description") -> int | None:
    """Return how many rows of data the facts about a description were counted on."""
    rows = certificate_of(description).rows
    if rows is not None:
        return rows
    by_class = class_rows(description)
    return None if by_class is None else sum(by_class)


def is_exact(description: "Description") -> bool:
    """Tell whether it is certified to equal the network on all inputs it covers."""
    return certificate_of(description).is_exact


def is_whole_domain(description: "Description") -> bool:
    """Tell whether it is certified to equal the network on every possible input."""
    certificate = certificate_of(description)
    is_finished = certificate.is_exact and certificate.is_complete
    return is_finished and description.scope == "domain"


def uncovered_inputs(rules: "RuleList") -> int | None:
    """Return how many possible inputs no rule covers, if that is known."""
    certified = certificate_of(rules).uncovered
    determined = [facts.inputs for facts in rules.facts]
    if certified is not None or None in determined or not is_counted(rules):
        return certified
    return max(rules.n_possible - sum(determined), 0)  # type: ignore[arg-type]


def uncovered_rows(rules: "RuleList") -> int | None:
    """Return how many of the rows no rule covers, if that is known."""
    rows, n_covered = n_rows(rules), certificate_of(rules).rows_covered
    support = [facts.support for facts in rules.facts]
    if n_covered is None and None not in support:
        n_covered = sum(support)  # type: ignore[arg-type]
    return None if rows is None or n_covered is None else max(rows - n_covered, 0)


def needs_no_default(rules: "RuleList") -> bool:
    """Tell whether rules are known to cover every possible input without a default."""
    n_uncovered = uncovered_inputs(rules)
    if n_uncovered is not None:
        return n_uncovered == 0 and is_exact(rules)
    return rules.is_two_sided and is_whole_domain(rules)


def holds_alone(rules: "RuleList") -> bool:
    """Tell whether every rule holds on its own, without the rules before it.

    The rules of a list do if all have one class: what the rules before it determine is
    of that class, too.
    """
    return rules.form == "set" or len(set(rules.answers.tolist())) <= 1


def influence_rows(description: "Description") -> tuple[int, dict[str, int]]:
    """Return how many rows were tried, and for how many each feature alone matters.

    Entries of a certificate that are not of this kind are left out.
    """
    influence = certificate_of(description).influence
    if influence is None:
        return 0, {}
    counts, names = influence.of, description.domain.names
    return influence.rows, {name: counts[name] for name in names if name in counts}


def features_in_order(description: "Description") -> list[str]:
    """Return the features' names, those first that can flip most rows.

    Where nothing is known they stay in the order of the domain.
    """
    _, counts = influence_rows(description)
    return sorted(description.domain.names, key=lambda name: -counts.get(name, 0))


def by_influence(description: "Description") -> Callable[[Condition], int]:
    """Return a key that sorts conditions by how much their features matter."""
    names = features_in_order(description)
    rank = {name: place for place, name in enumerate(names)}
    return lambda condition: rank[condition.feature]
