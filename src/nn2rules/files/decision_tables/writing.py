"""Rules as a decision table: a row for each rule, a column for each feature.

Beside the table is what is needed to read it back: what each feature can be, the
form and the scope, and what is known of each rule. Cells of spreadsheets hold so many
characters, so a long text takes several cells.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nn2rules.errors import OptionError
from nn2rules.files.decision_tables.cells import condition_cell, json_cell, name_cell
from nn2rules.files.domain_json import domain_to_object
from nn2rules.language import (
    allowed_text,
    label_text,
    limits_text,
    quoted,
    share,
    unused,
    value_text,
)
from nn2rules.rules import FACTS, Rule, RuleList
from nn2rules.space import Feature, Grouped, Intervals, Range, text_of

FORMAT = "nn2rules-book/1"
DEFAULT = "default"
BOOK, FEATURE, FACTS_KEY, CERTIFICATE = "book", "feature", "facts", "certificate"
MORE = "…"
"""The beginning of a cell that continues the text of the one before it."""

COLUMNS = (
    *("rule", "class", "rows", "inputs", "probability", "labels agree"),
    *("covered", "covered agree", "unless", "remarks"),
)
"""The columns that are not features; all but the first two are only for readers."""

_MOST = 16_000  # characters in a cell; Excel holds 32,767 of 16 bits
_MOST_EXACT = 10**15

CellValue = str | int


@dataclass(frozen=True, slots=True)
class Described:
    """A feature in a book: its description, and its definition to be read back."""

    name: str
    kind: str
    values: str
    definition: str


@dataclass(frozen=True)
class Book:
    """A decision table, and all that is needed to read it back."""

    header: tuple[str, ...]
    rows: tuple[tuple[CellValue, ...], ...]
    features: tuple[Described, ...]
    parts: tuple[tuple[str, str], ...]


def book_of(rules: RuleList) -> Book:
    """Return rules as a decision table."""
    known = _known(rules)
    names = column_names(rules.domain.names)
    header = [
        names["rule"],
        *(name_cell(name) for name in rules.domain.names),
        names["class"],
        *(names[column] for column in known),
    ]
    made: dict[tuple[str, object], str] = {}
    rows: list[tuple[CellValue, ...]] = []
    for index, rule in enumerate(rules.rules):
        facts = (column[index] for column in known.values())
        label = name_cell(text_of(rule.then))
        rows.append((rule.name, *_cells(rules, rule, made), label, *facts))
    default = name_cell(text_of(rules.default))
    empty = [""] * len(rules.domain.names)
    rows.append((DEFAULT, *empty, default, *([""] * len(known))))
    return Book(tuple(header), tuple(rows), _features(rules), _parts(rules))


def column_names(taken: Iterable[str]) -> dict[str, str]:
    """Return the names of columns that are not features: none is that of a feature.

    Examples
    --------
    >>> column_names(["class", "age"])["class"]
    'class_'
    """
    spelt_names = {name_cell(name) for name in taken}
    return {name: unused(name, spelt_names) for name in COLUMNS}


def _cells(
    rules: RuleList, rule: Rule, made: dict[tuple[str, object], str]
) -> list[str]:
    """Return the cells of a rule; equal conditions are put into words once."""
    conditions = {condition.feature: condition.values for condition in rule.conditions}
    cells = []
    for feature in rules.domain.features:
        values = conditions.get(feature.name)
        if values is None:
            cells.append("")
            continue
        key = feature.name, values
        if key not in made:
            made[key] = condition_cell(feature, values)
        cells.append(made[key])
    return cells


def _known(rules: RuleList) -> dict[str, list[CellValue]]:
    """Return the facts of rules as texts, by column; only those of any rule."""
    columns: dict[str, list[CellValue]] = {
        "rows": [_number(rule.support) for rule in rules.rules],
        "inputs": [_number(rule.inputs) for rule in rules.rules],
        "probability": [_range(rule) for rule in rules.rules],
        "labels agree": [_share(rule) for rule in rules.rules],
        "covered": [_number(rule.covered) for rule in rules.rules],
        "covered agree": [_number(rule.covered_agree) for rule in rules.rules],
        "unless": [_unless(rules, rule) for rule in rules.rules],
    }
    return {
        name: cells for name, cells in columns.items() if any(map(_is_filled, cells))
    }


def _is_filled(cell: CellValue) -> bool:
    return cell != ""


def _number(number: int | None) -> CellValue:
    if number is None:
        return ""
    return number if number < _MOST_EXACT else f"{number:,}"


def _range(rule: Rule) -> str:
    """Return a range of probabilities, rounded so that it is still one."""
    if rule.probability is None:
        return ""
    low, high = rule.probability
    return f"{math.floor(low * 1000) / 1000:g} to {math.ceil(high * 1000) / 1000:g}"


def _share(rule: Rule) -> str:
    if rule.accuracy is None:
        return ""
    whole = rule.support or 10_000
    return share(round(rule.accuracy * whole), whole)


def _unless(rules: RuleList, rule: Rule) -> str:
    if not rule.unless:
        return ""
    return f"rule {', '.join(rules.names[number - 1] for number in rule.unless)}"


def _features(rules: RuleList) -> tuple[Described, ...]:
    objects = domain_to_object(rules.domain)
    return tuple(
        Described(
            name_cell(feature.name),
            kind_text(feature),
            values_text(feature),
            json_cell(definition),
        )
        for feature, definition in zip(rules.domain.features, objects, strict=True)
    )


def kind_text(feature: Feature) -> str:
    """Return the kind of a feature in a few words.

    Examples
    --------
    >>> kind_text(Feature("size", ("small", "big"), ordered=True))
    'values in order'
    >>> kind_text(Feature.real("age", 17, 90, whole=True))
    'range of whole numbers'
    """
    whole = "whole " if feature.whole else ""
    if isinstance(feature, Range):
        return f"range of {whole}numbers"
    if isinstance(feature, Intervals):
        return f"bins of {whole}numbers"
    if isinstance(feature, Grouped):
        return "groups of categories"
    return "values in order" if feature.ordered else "values"


def values_text(feature: Feature) -> str:
    """Return the values of a feature in words.

    Examples
    --------
    >>> values_text(Feature.real("age", 17, 90, missing=True))
    '17 to 90, or missing'
    >>> values_text(Feature("color", ("red", "rest"), other="rest"))
    'red, rest; rest means all others'
    >>> values_text(Feature.bins("age", (25, 40), missing=True))
    '< 25; ≥ 25 and < 40; ≥ 40; missing'
    """
    if isinstance(feature, Range):
        return limits_text(feature).removeprefix(f"{quoted(feature.name)} ")
    if isinstance(feature, Intervals):
        texts = (allowed_text(feature, (value,)) for value in feature.values)
        return "; ".join(text.removeprefix("= ") for text in texts)
    text = ", ".join(value_text(feature, value) for value in feature.values)
    if feature.other is not None and not isinstance(feature, Grouped):
        text += f"; {label_text(feature.other)} means all others"
    return text if len(text) <= _MOST else f"{text[:_MOST]}{MORE}"


def _parts(rules: RuleList) -> tuple[tuple[str, str], ...]:
    """Return what is read back beside the table and the features."""
    book = {
        "format": FORMAT,
        "form": rules.form,
        "scope": rules.scope,
        "classes": list(rules.classes),
    }
    facts = {
        name: [getattr(known, name) for known in rules.facts]
        for name in FACTS
        if any(getattr(known, name) is not None for known in rules.facts)
    }
    parts: list[tuple[str, Any]] = [(BOOK, book)]
    parts += [(FACTS_KEY, facts)] if facts else []
    parts += [(CERTIFICATE, dict(rules.certificate))] if rules.certificate else []
    return tuple((key, json_cell(value)) for key, value in parts)


def chunks(text: str) -> list[str]:
    """Return a text in pieces that fit into cells; `joined` undoes it."""
    pieces = [text[start : start + _MOST] for start in range(0, len(text), _MOST)]
    return [pieces[0], *(MORE + piece for piece in pieces[1:])] if pieces else [""]


def joined(pieces: Iterable[str]) -> str:
    """Return the text of pieces."""
    first, *rest = pieces
    return first + "".join(piece.removeprefix(MORE) for piece in rest)


def check_width(cell: str, rule: str, column: str) -> None:
    """Refuse a cell that is too long for a spreadsheet."""
    if len(cell.encode("utf-16-le")) // 2 > 32_767:
        raise OptionError(
            f"rule {rule} has more text on {column} than an Excel cell can have "
            f"(32,767 characters); export to csv or json"
        )
