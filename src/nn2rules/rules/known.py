"""What is known of rules: by their certificate, and by the facts of each."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList


def is_counted(rules: "RuleList") -> bool:
    """Tell whether it is known how many inputs can occur."""
    keys = rules.certificate
    is_known = "impossible" not in keys or isinstance(keys.get("possible"), int)
    return is_known and not rules.domain.has_ranges


def certified_number(rules: "RuleList", key: str) -> int | None:
    """Return a number of the certificate; None for whatever else stands there."""
    number = rules.certificate.get(key)
    return number if type(number) is int and number >= 0 else None


def _of_classes(rules: "RuleList", key: str) -> list[int] | None:
    """Return a number for each class, if the certificate has them."""
    listed = rules.certificate.get(key)
    is_list = isinstance(listed, list) and len(listed) == len(rules.classes)
    return listed if is_list and all(type(n) is int for n in listed or ()) else None


def class_inputs(rules: "RuleList") -> list[int] | None:
    """Return for each class the number of inputs that the network answers so."""
    if rules.certificate.get("engine") == "paper" and not is_right(rules):
        return None  # those of what stands for the network were counted
    return _of_classes(rules, "class_inputs") if is_counted(rules) else None


def class_rows(rules: "RuleList") -> list[int] | None:
    """Return for each class the number of rows that the network answers so."""
    listed = _of_classes(rules, "class_rows")
    if listed is not None:
        return listed
    rows, support = certified_number(rules, "rows"), [f.support for f in rules.facts]
    if (
        not is_right(rules)
        or rows is None
        or certified_number(rules, "rows_decided") != rows
    ):
        return None
    if None in support:
        return None
    # Each row is decided by a rule that is right.
    found = [0] * len(rules.classes)
    for answer, number in zip(rules.answers.tolist(), support, strict=True):
        found[answer] += number or 0
    return found


def n_rows(rules: "RuleList") -> int | None:
    """Return how many rows of data what is known of the rules was counted on."""
    rows = certified_number(rules, "rows")
    if rows is not None:
        return rows
    listed = class_rows(rules)
    return None if listed is None else sum(listed)


def is_right(rules: "RuleList") -> bool:
    """Tell whether the certificate says that rules are right wherever they decide."""
    certificate = rules.certificate
    is_known = certificate.get("engine") in ("table", "search", "paper")
    is_approximate = certificate.get("different") or certificate.get("approximate")
    return is_known and not is_approximate


def is_whole_domain(rules: "RuleList") -> bool:
    """Tell whether rules, with their default, answer every input as proved."""
    return (
        is_right(rules)
        and rules.scope == "domain"
        and rules.certificate.get("complete") is not False
    )


def undecided_inputs(rules: "RuleList") -> int | None:
    """Return how many inputs that can occur no rule decides, if that is known."""
    certified = certified_number(rules, "undecided")
    decided = [f.inputs for f in rules.facts]
    if certified is not None or None in decided or not is_counted(rules):
        return certified
    return max(rules.n_possible - sum(decided), 0)  # type: ignore[arg-type]


def undecided_rows(rules: "RuleList") -> int | None:
    """Return how many of the rows no rule decides, if that is known."""
    rows, decided = n_rows(rules), certified_number(rules, "rows_decided")
    support = [f.support for f in rules.facts]
    if decided is None and None not in support:
        decided = sum(support)  # type: ignore[arg-type]
    return None if rows is None or decided is None else max(rows - decided, 0)


def is_decided(rules: "RuleList") -> bool:
    """Tell whether rules leave no input to the default."""
    left = undecided_inputs(rules)
    if left is not None:
        return left == 0 and is_right(rules)
    return rules.is_two_sided and is_whole_domain(rules)


def is_true_alone(rules: "RuleList") -> bool:
    """Tell whether every rule is true when it is read alone.

    In a list, the rules of one class are: what those above take away is of that class.
    """
    return rules.form == "set" or len(set(rules.answers.tolist())) <= 1
