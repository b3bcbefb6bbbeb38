"""How many new rows rules cover, in words, by their certificate."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nn2rules.intervals import wilson
from nn2rules.rules.known import is_decided, is_right, is_whole_domain
from nn2rules.text import count

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList


def coverage_of(rules: "RuleList") -> str:
    """Say how many new rows are covered; nothing where nothing is proved of rules."""
    found = rules.certificate.get("coverage")
    found = found if isinstance(found, Mapping) else {}
    rows, covered = found.get("rows"), found.get("covered")
    if not is_right(rules):
        return ""
    if type(rows) is int and type(covered) is int and 0 <= covered <= rows and rows:
        return _counted(covered, rows, str(found.get("on")))
    if is_whole_domain(rules) or is_decided(rules):
        return ""
    reason = found.get("reason", "no rows were held out")
    return f"How many new rows are covered is not estimated: {reason}."


def _counted(covered: int, rows: int, which: str) -> str:
    """Say the share with its 95% interval.

    Examples
    --------
    >>> print(_counted(28, 80, "held-out rows"))
    About 35% of new rows are covered (28 of 80 held-out rows; 95% interval 25% to 46%).
    >>> print(_counted(3243, 3256, "held-out rows").partition(" held")[0])
    About 99.6% of new rows are covered (3,243 of 3,256
    >>> print(_counted(80, 80, "test rows"))
    About 100% of new rows are covered (80 of 80 test rows; 95% interval 95% to 100%).
    """
    low, high = wilson(covered, rows)
    counted = f"{covered:,} of {count(rows, which.removesuffix('s'))}"
    share = 100 * covered / rows
    digits = 0 if covered == rows or share < 99 else 1
    shown = "more than 99.9" if 99.9 < share < 100 else f"{share:.{digits}f}"
    return (
        f"About {shown}% of new rows are covered ({counted}; 95% interval "
        f"{100 * low:.{digits}f}% to {100 * high:.{digits}f}%)."
    )
