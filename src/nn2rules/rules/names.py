"""The names of rules, wherever they are printed or written.

The rules of a list are numbered from the top. Those of a set have no order: the name of
each is a letter, which stands for its class, and a number.
"""

from collections import Counter
from string import ascii_uppercase
from typing import TYPE_CHECKING

from nn2rules.errors import NoSuchRuleError

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList

_MOST_CLASSES = 6  # whose names are all listed


def names_of(rules: "RuleList") -> tuple[str, ...]:
    """Return the value of `RuleList.names`."""
    if rules.form == "list":
        return tuple(str(number) for number in range(1, len(rules) + 1))
    letters = {answer: _letters(i) for i, answer in enumerate(classes_in_order(rules))}
    numbers: Counter[int] = Counter()
    names = []
    for answer in rules.answers.tolist():
        numbers[answer] += 1
        names.append(f"{letters[answer]}{numbers[answer]}")
    return tuple(names)


def classes_in_order(rules: "RuleList") -> list[int]:
    """Return the positions of the classes that have rules, with the default last."""
    default = rules.classes.index(rules.default)
    return sorted(set(rules.answers.tolist()), key=lambda c: (c == default, c))


def _letters(index: int) -> str:
    """Return A to Z for 0 to 25, then AA, AB and so on.

    Examples
    --------
    >>> _letters(0), _letters(25), _letters(26), _letters(26 * 27)
    ('A', 'Z', 'AA', 'AAA')
    """
    text = ""
    while index >= 0:
        index, place = divmod(index, 26)
        text, index = ascii_uppercase[place] + text, index - 1
    return text


def position_of(rules: "RuleList", name: str) -> int:
    """Return the position of the rule with this name."""
    try:
        return rules.names.index(name)
    except ValueError:
        raise NoSuchRuleError(
            f"there is no rule {name!r}; {_existing(rules)}"
        ) from None


def _existing(rules: "RuleList") -> str:
    """List the names that exist: for each class, the first and the last."""
    ends: dict[str, list[str]] = {}
    for name in rules.names:
        ends.setdefault(name.rstrip("0123456789"), []).append(name)
    texts = [
        names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        for _, names in sorted(ends.items(), key=lambda end: (len(end[0]), end[0]))
    ]
    if not texts:
        return "there are no rules"
    if len(texts) > _MOST_CLASSES:
        texts = [texts[0], "…", texts[-1]]
    verb = "is" if len(rules) == 1 else "are"
    return f"there {verb} {', '.join(texts)}"
