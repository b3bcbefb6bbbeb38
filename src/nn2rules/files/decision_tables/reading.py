"""From a decision table to rules; every error names its place."""

import difflib
import warnings
from typing import Any

from nn2rules.errors import CertificateWarning, DomainError, FormatError, Nn2RulesError
from nn2rules.files.decision_tables.cells import name_cell, read_cell, text_in_cell
from nn2rules.files.decision_tables.sheets import Row, Sheets
from nn2rules.files.decision_tables.writing import (
    BOOK,
    CERTIFICATE,
    DEFAULT,
    FACTS_KEY,
    FEATURE,
    FORMAT,
    column_names,
    kind_text,
    values_text,
)
from nn2rules.files.domain_json import domain_from_node, labels_from_node
from nn2rules.files.json_node import Node, parse_json
from nn2rules.files.rules_json import certificate_from_node, facts_from_node
from nn2rules.language import label_text
from nn2rules.rules import Rule, RuleList
from nn2rules.space import (
    Condition,
    Domain,
    Feature,
    Value,
    is_number,
    number_of,
    text_of,
)


def rules_of_book(sheets: Sheets) -> RuleList:
    """Return the rules of a decision table.

    The proof is for the rules as they were written. If a cell was edited, the
    certificate and the facts of each rule are dropped, with a warning.
    """
    book = _part(sheets, BOOK)
    try:
        book.only(("format", "form", "scope", "classes", "digest"))
        form, scope = book["form"].string(), book["scope"].string()
        classes = labels_from_node(book["classes"])
        if book["format"].string() != FORMAT:
            raise book["format"].error(f'expected "{FORMAT}"')
    except Nn2RulesError as error:
        raise FormatError(f"{sheets.parts[BOOK][0][1]}: {error}") from None
    domain = _domain(sheets)
    columns = _columns(sheets, domain)
    rules, default = _rules(sheets, domain, classes, columns)
    try:
        made = RuleList(domain, rules, default, classes, form=form, scope=scope)  # type: ignore[arg-type]
    except Nn2RulesError as error:
        raise FormatError(f"{sheets.path}: {error}") from None
    return _with_proof(sheets, made)


def _part(sheets: Sheets, key: str) -> Node:
    """Return the entry with a key, beside the table."""
    found = sheets.parts.get(key)
    if not found:
        raise FormatError(
            f"{sheets.path}: this is not a decision table of nn2rules: there is no "
            f"entry {key!r}, which is needed to read it; keep what rules.export writes "
            f"below the table, or on other sheets"
        )
    text, place = found[0]
    if len(found) > 1:
        raise FormatError(f"{found[1][1]}: there is a second entry {key!r}")
    return _parsed(text, place)


def _parsed(text: str, place: str) -> Node:
    try:
        return parse_json(text)
    except FormatError as error:
        raise FormatError(f"{place}: {error}") from None


def _domain(sheets: Sheets) -> Domain:
    entries = sheets.parts.get(FEATURE, [])
    if not entries:
        raise FormatError(
            f"{sheets.path}: there is no entry 'feature', which lists the values of a "
            f"column; export the rules again, and replace their table with yours"
        )
    features: list[Any] = []
    for text, place in entries:
        try:
            node = parse_json(text)
            domain_from_node(Node([node.value]))
        except FormatError as error:
            fact = str(error).removeprefix("[0].").removeprefix("[0]: ")
            raise FormatError(f"{place}: {fact}") from None
        features.append(node.value)
    try:
        domain = domain_from_node(Node(features))
    except FormatError as error:
        raise FormatError(f"{sheets.path}: features: {error}") from None
    for described, feature, entry in zip(
        sheets.described, domain.features, entries, strict=False
    ):
        _check_words(described, feature, entry[1])
    return domain


def _check_words(described: tuple[str, ...], feature: Feature, place: str) -> None:
    """Refuse a description that contradicts the definition, which is read."""
    meant = name_cell(feature.name), kind_text(feature), values_text(feature)
    for written, text in zip(described, meant, strict=True):
        if written.strip() not in ("", text.strip()):
            raise FormatError(
                f"{place}: {written.strip()[:60]!r} contradicts the definition at the "
                f"end of the row, {text[:60]!r}; change the definition, and clear this "
                f"cell"
            )


def _columns(sheets: Sheets, domain: Domain) -> dict[str, int]:
    """Return the positions of the columns; those of features by their names."""
    own = column_names(domain.names)
    if not sheets.rows:
        raise FormatError(f"{sheets.path}: the table is empty; expected a header")
    header = sheets.rows[0]
    found: dict[str, int] = {}
    for index, cell in enumerate(header.cells):
        name = _column_name(sheets, header, index, cell)
        if not cell.strip():
            continue
        is_own = cell.strip() in own.values()
        if not is_own and name not in domain.names:
            raise sheets.error(header, index, _no_feature(name, domain, own))
        key = cell.strip() if is_own else f"={name}"
        if key in found:
            raise sheets.error(header, index, "there is a second column of this name")
        found[key] = index
    needed = [own["rule"], *(f"={name}" for name in domain.names), own["class"]]
    for key in needed:
        if key not in found:
            raise FormatError(
                f"{sheets.path}: there is no column {key.removeprefix('=')!r}; the "
                f"table needs one for the rule, for each feature, and for the class"
            )
    return {**found, "rule": found[own["rule"]], "class": found[own["class"]]}


def _no_feature(name: str, domain: Domain, own: dict[str, str]) -> str:
    near = difflib.get_close_matches(name, [*domain.names, *own.values()], n=1)
    if near:
        return f"this column is not a feature; did you mean {near[0]!r}?"
    return (
        f"this column is not a feature; name a column for your own notes "
        f"{own['remarks']!r}"
    )


def _column_name(sheets: Sheets, row: Row, index: int, cell: str) -> str:
    try:
        return text_in_cell(cell)
    except ValueError:
        raise sheets.error(row, index, "the quotation mark is not closed") from None


Read = dict[tuple[int, str], Condition | None]
"""The conditions of texts, by column, so that each is read once."""


def _rules(
    sheets: Sheets, domain: Domain, classes: tuple[Value, ...], columns: dict[str, int]
) -> tuple[list[Rule], Value]:
    """Return the rules, and the default."""
    rules: list[Rule] = []
    default: list[Value] = []
    read: Read = {}
    for row in (row for row in sheets.rows[1:] if not row.is_empty):
        _refuse_beyond(sheets, row)
        if default:
            reason = "this row is below the default, which must be the last row"
            raise sheets.error(row, columns["rule"], reason)
        label = _label(sheets, row, columns["class"], classes)
        conditions = _conditions(sheets, row, domain, columns, read)
        if row.cell(columns["rule"]).strip() != DEFAULT:
            rules.append(Rule(conditions, label))
            continue
        default.append(label)
        if conditions:
            index = columns[f"={conditions[0].feature}"]
            reason = "the default has no conditions; leave this cell empty"
            raise sheets.error(row, index, reason)
    if not default:
        raise FormatError(
            f"{sheets.path}: there is no row named {DEFAULT!r}; the last row of the "
            f"table is the default, with the class of inputs that match no rule"
        )
    return rules, default[0]


def _conditions(
    sheets: Sheets, row: Row, domain: Domain, columns: dict[str, int], read: Read
) -> tuple[Condition, ...]:
    """Return the conditions of a row."""
    found = []
    for feature in domain.features:
        index = columns[f"={feature.name}"]
        text = row.cell(index)
        if (index, text) not in read:
            try:
                read[index, text] = read_cell(feature, text)
            except DomainError as error:
                raise sheets.error(row, index, str(error)) from None
        condition = read[index, text]
        if condition is not None:
            found.append(condition)
    return tuple(found)


def _refuse_beyond(sheets: Sheets, row: Row) -> None:
    titles = [cell.strip() for cell in sheets.rows[0].cells]
    for index, cell in enumerate(row.cells):
        if cell.strip() and not (index < len(titles) and titles[index]):
            raise sheets.error(
                row,
                index,
                f"{cell.strip()[:40]!r} has no header above it; a cell that "
                f"contains commas must be in quotation marks in the file",
            )


def _label(sheets: Sheets, row: Row, index: int, classes: tuple[Value, ...]) -> Value:
    """Return the class in a cell."""
    cell = row.cell(index).strip()
    known = ", ".join(label_text(label) for label in classes)
    if not cell:
        raise sheets.error(row, index, f"the class is empty; expected one of {known}")
    text = _column_name(sheets, row, index, cell)
    number = number_of(text)
    for is_same in (
        lambda label: text_of(label) == text,
        lambda label: is_number(label) and number is not None and label == number,
        lambda label: isinstance(label, bool) and str(label).lower() == text.lower(),
    ):
        for label in classes:
            if is_same(label):
                return label
    near = difflib.get_close_matches(text, [text_of(label) for label in classes], n=1)
    hint = f"did you mean {near[0]}?" if near else f"expected one of {known}"
    raise sheets.error(row, index, f"there is no class {text!r}; {hint}")


def _with_proof(sheets: Sheets, made: RuleList) -> RuleList:
    """Return rules with their facts and certificate, if they were not edited."""
    facts, certificate = None, {}
    if FACTS_KEY in sheets.parts:
        node = _part(sheets, FACTS_KEY)
        facts = _placed(sheets, FACTS_KEY, lambda: facts_from_node(node, len(made)))
    if CERTIFICATE in sheets.parts:
        node = _part(sheets, CERTIFICATE)
        certificate = _placed(sheets, CERTIFICATE, lambda: certificate_from_node(node))
    if facts is None and not certificate and FACTS_KEY not in sheets.parts:
        return made
    digest = sheets.parts.get("digest", [("", "")])[0][0].strip()
    known = made if facts is None else made.replace(facts=facts)
    if known.digest == digest:
        return known.replace(certificate=certificate) if certificate else known
    warnings.warn(
        f"{sheets.path}: the table was edited after it was written, so its "
        f"certificate and the facts of each rule are dropped",
        CertificateWarning,
        stacklevel=2,
    )
    return made


def _placed(sheets: Sheets, key: str, read: Any) -> Any:
    try:
        return read()
    except FormatError as error:
        raise FormatError(f"{sheets.parts[key][0][1]}: {error}") from None
