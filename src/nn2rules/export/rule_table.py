"""Rules as a table for people: the content of a page in Markdown or LaTeX.

All texts are printable: others are in quotation marks, escaped as rules print them.
Each format writes them in its own way.
"""

from dataclasses import dataclass

from nn2rules.export.program import DEFAULT, RuleProgram
from nn2rules.files import kind_text, values_text
from nn2rules.language import condition_text, label_text, quoted, share
from nn2rules.rules import Rule, RuleList, classes_text, n_agreeing

_MOST_CLASSES = 6  # whose names are in a title


@dataclass(frozen=True, slots=True)
class Line:
    """A rule, or the default: its name, conditions, class and numbers."""

    name: str
    conditions: tuple[str, ...]
    then: str
    numbers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleTable:
    """The content of a page about rules.

    Attributes
    ----------
    title : str
    about : tuple of pairs of a key and a sentence
    columns : tuple of str
        The titles of the numbers.
    lines : tuple of Line
        The rules, and the default last.
    features : tuple of triples
        The name of each feature, what kind it is, and what it can be.
    """

    title: str
    about: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    features: tuple[tuple[str, str, str], ...]


def rule_table_of(program: RuleProgram) -> RuleTable:
    """Return the content of a page about rules."""
    rules = program.rules
    numbers = _numbers(rules)
    lines = [
        Line(
            rule.name,
            _conditions(rules, rule),
            label_text(rule.then),
            tuple(column[index] for column in numbers.values()),
        )
        for index, rule in enumerate(rules.rules)
    ]
    rest = "otherwise"
    if rules.scope == "support":
        rest = "otherwise (not proved)"
    empty = ("",) * len(numbers)
    features = rules.domain.features
    lines.append(Line(DEFAULT, (rest,), label_text(rules.default), empty))
    return RuleTable(
        _title(rules),
        program.about,
        tuple(numbers),
        tuple(lines),
        tuple((quoted(f.name), kind_text(f), values_text(f)) for f in features),
    )


def _title(rules: RuleList) -> str:
    classes = classes_text(rules, _MOST_CLASSES)
    is_named = len(rules.classes) <= _MOST_CLASSES
    return f"Rules: {classes}" if is_named else f"Rules for {classes}"


def _conditions(rules: RuleList, rule: Rule) -> tuple[str, ...]:
    texts = [
        condition_text(rules.domain.feature(condition.feature), condition.values)
        for condition in rule.conditions
    ]
    return tuple(texts) or ("anything",)


def _numbers(rules: RuleList) -> dict[str, list[str]]:
    """Return the numbers of rules, by the titles of columns."""
    columns = {
        "rows": [_count(rule.support) for rule in rules.rules],
        "inputs": [_count(rule.inputs) for rule in rules.rules],
        "labels agree": [_share(rule) for rule in rules.rules],
    }
    if any(columns["rows"]):
        del columns["inputs"]
    return {title: texts for title, texts in columns.items() if any(texts)}


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _share(rule: Rule) -> str:
    agreeing = n_agreeing(rule)
    if agreeing is None or not rule.support:
        return ""
    return share(agreeing, rule.support)
