"""Networks, rules, scorecards and summaries from files, and to files."""

import json
import os
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias

from nn2rules.errors import FormatError, Nn2RulesError, UnsupportedModelError
from nn2rules.files import network_json as network_format
from nn2rules.files import rules_json as rules_format
from nn2rules.files import scorecard_json as scorecard_format
from nn2rules.files import summary_json as summary_format
from nn2rules.files.decision_tables import (
    is_book,
    rules_of_book,
    sheets_of_csv,
    sheets_of_xlsx,
)
from nn2rules.files.json_node import Node, parse_json
from nn2rules.files.safe_files import decoded, read_small, write_text
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.scorecards import Scorecard
from nn2rules.summaries import Summary

Loaded: TypeAlias = Network | RuleList | Scorecard | Summary

_READERS: dict[str, Callable[[Node], Loaded]] = {
    network_format.FORMAT: network_format.network_from_node,
    rules_format.FORMAT: rules_format.rules_from_node,
    scorecard_format.FORMAT: scorecard_format.scorecard_from_node,
    summary_format.FORMAT: summary_format.summary_from_node,
}

_ZIP = b"PK\x03\x04"  # how archives begin, Excel files among them
_WORKBOOK = b"xl/workbook.xml"


def load(path: str | os.PathLike[str]) -> Loaded:
    """Read a network, a rule list, a scorecard or a summary from a file.

    Parameters
    ----------
    path : str or path
        A JSON file, or a decision table (.csv, .xlsx) as `RuleList.export` writes it.

    Raises
    ------
    FormatError
        If the file is missing, truncated, or not in the format it claims; the message
        names the file and the place in it.

    Examples
    --------
    >>> from nn2rules.datasets import network_file
    >>> load(network_file("tomato")).classes
    ('unripe', 'ripe')
    """
    return _loaded(path, is_named=is_table(path))


def _loaded(path: str | os.PathLike[str], *, is_named: bool) -> Loaded:
    """Read a file; a decision table by its content, or by its name."""
    data = read_small(path)  # once: it may be a pipe
    is_excel = _has_suffix(path, ".xlsx") or _WORKBOOK in data
    if data.startswith(_ZIP) and not is_excel:
        raise FormatError(
            f"{path}: this is neither a rules file (.json) nor a decision table (.csv, "
            f".xlsx); use nn2rules extract to extract rules from a model"
        )
    if data.startswith(_ZIP) or (is_named and _has_suffix(path, ".xlsx")):
        return rules_of_book(sheets_of_xlsx(str(path), data))
    try:
        text = decoded(path, data)
    except FormatError as error:
        if not is_named:
            raise
        raise FormatError(f"{error}; in Excel, save it as CSV UTF-8") from None
    if not text.lstrip().startswith("{") and (is_named or is_book(text)):
        return rules_of_book(sheets_of_csv(str(path), text))
    try:
        return from_json(text)
    except Nn2RulesError as error:
        raise FormatError(f"{path}: {error}") from None


def is_table(path: str | os.PathLike[str]) -> bool:
    """Tell by its name whether a file is a decision table."""
    return _has_suffix(path, ".csv", ".xlsx")


def _has_suffix(path: str | os.PathLike[str], *suffixes: str) -> bool:
    return Path(path).suffix.lower() in suffixes


def load_network(path: str | os.PathLike[str]) -> Network:
    """Read a network from a file, and refuse a rule list."""
    network = _loaded(path, is_named=False)
    if not isinstance(network, Network):
        what = "a scorecard" if isinstance(network, Scorecard) else "rules"
        what = "a summary" if isinstance(network, Summary) else what
        raise FormatError(f"{path}: this file contains {what}, expected a network")
    return network


def load_rules(path: str | os.PathLike[str]) -> RuleList:
    """Read a rule list from a file, and refuse a network.

    Parameters
    ----------
    path : str or path
        Rules as JSON, or a decision table (.csv, .xlsx) that `RuleList.export` wrote,
        which may have been edited since. Edited rules have no certificate, because the
        proof was for the rules as they were written.

    Examples
    --------
    >>> import tempfile
    >>> from nn2rules import Domain, Feature, RuleList
    >>> domain = Domain((Feature("color", ("red", "yellow")),))
    >>> rules = RuleList(domain, (), "ripe", ("unripe", "ripe"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = rules.export("csv", f"{folder}/book.csv")
    ...     load_rules(f"{folder}/book.csv") == rules
    True
    """
    rules = load_description(path)
    if not isinstance(rules, RuleList):
        raise FormatError(
            f"{path}: this file contains a scorecard, expected rules; use nn2rules "
            f"extract --form rules"
        )
    return rules


def load_description(path: str | os.PathLike[str]) -> RuleList | Scorecard:
    """Read rules or a scorecard from a file, and refuse a network."""
    description = load(path)
    if isinstance(description, Network):
        raise FormatError(
            f"{path}: this file contains a network, expected rules or a scorecard; use "
            f"nn2rules extract to extract them"
        )
    if isinstance(description, Summary):
        raise FormatError(
            f"{path}: this file contains a summary, which is not an exact description; "
            f"expected rules or a scorecard"
        )
    return description


def from_json(text: str) -> Loaded:
    """Read a network, a rule list, a scorecard or a summary from JSON text."""
    document = parse_json(text)
    known = ", ".join(f'"{name}"' for name in _READERS)
    if not isinstance(document.value, dict) or "format" not in document:
        raise document.error(f'there is no "format"; expected one of {known}')
    name = document["format"].string()
    if name not in _READERS:
        raise document["format"].error(f'"{name}", expected one of {known}')
    return _READERS[name](document)


def to_json(value: Loaded) -> str:
    """Write any of the four as JSON text; reading it gives an equal one."""
    if isinstance(value, Network):
        return network_format.network_to_json(value)
    if isinstance(value, Scorecard):
        return scorecard_format.scorecard_to_json(value)
    if isinstance(value, Summary):
        return summary_format.summary_to_json(value)
    if not isinstance(value, RuleList):
        raise UnsupportedModelError(
            f"a Network, a RuleList, a Scorecard or a Summary can be saved, not a "
            f"{type(value).__name__}"
        )
    return rules_format.rules_to_json(value)


def save(value: Loaded, path: str | os.PathLike[str]) -> None:
    """Write any of the four to a file, whole or not at all."""
    write_text(path, to_json(value))


def schema(name: Literal["rules", "network", "scorecard"]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a format.

    It lists the keys and their types. `nn2rules.load` also checks what a schema cannot
    express, such as the shapes of weights.

    Examples
    --------
    >>> schema("rules")["title"]
    'nn2rules-rules/1'
    """
    text = files("nn2rules.files").joinpath(f"{name}.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
