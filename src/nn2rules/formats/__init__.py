"""FILES: the two JSON formats, read with suspicion and written whole or not at all.

``nn2rules-network/1`` holds a `Network`, ``nn2rules-rules/1`` a `RuleList`. Both are
described in `docs/reference/formats.md`.
"""

import os
from collections.abc import Callable

from nn2rules.errors import FormatError, Nn2RulesError, UnsupportedModelError
from nn2rules.formats import network as network_format
from nn2rules.formats import rules as rules_format
from nn2rules.formats.files import read_text, write_text
from nn2rules.formats.node import Node, parse_json
from nn2rules.network import Network
from nn2rules.rules import RuleList

_READERS: dict[str, Callable[[Node], Network | RuleList]] = {
    network_format.FORMAT: network_format.network_from_node,
    rules_format.FORMAT: rules_format.rules_from_node,
}


def load(path: str | os.PathLike[str]) -> Network | RuleList:
    """Read a network or a rule list from a file.

    Raises
    ------
    FormatError
        If the file is missing, cut short, or not what it claims to be; the message
        names the file and the place in it.

    Examples
    --------
    >>> from nn2rules.datasets import network_file
    >>> load(network_file("tomato")).classes
    ('unripe', 'ripe')
    """
    text = read_text(path)
    try:
        return from_json(text)
    except Nn2RulesError as error:
        raise FormatError(f"{path}: {error}") from None


def load_network(path: str | os.PathLike[str]) -> Network:
    """Read a network from a file, and refuse a rule list."""
    network = load(path)
    if not isinstance(network, Network):
        raise FormatError(f"{path}: this file holds rules, expected a network")
    return network


def load_rules(path: str | os.PathLike[str]) -> RuleList:
    """Read a rule list from a file, and refuse a network."""
    rules = load(path)
    if not isinstance(rules, RuleList):
        raise FormatError(
            f"{path}: this file holds a network, expected rules; "
            f"make them with: nn2rules extract {path} -o rules.json"
        )
    return rules


def from_json(text: str) -> Network | RuleList:
    """Read a network or a rule list from JSON text."""
    document = parse_json(text)
    known = " or ".join(f'"{name}"' for name in _READERS)
    if not isinstance(document.value, dict) or "format" not in document:
        raise document.error(f'there is no "format"; expected {known}')
    name = document["format"].string()
    if name not in _READERS:
        raise document["format"].error(f'"{name}", expected {known}')
    return _READERS[name](document)


def to_json(value: Network | RuleList) -> str:
    """Write a network or a rule list as JSON text; reading it gives an equal one."""
    if isinstance(value, Network):
        return network_format.network_to_json(value)
    if not isinstance(value, RuleList):
        raise UnsupportedModelError(
            f"a Network or a RuleList can be saved, not a {type(value).__name__}"
        )
    return rules_format.rules_to_json(value)


def save(value: Network | RuleList, path: str | os.PathLike[str]) -> None:
    """Write a network or a rule list to a file, whole or not at all."""
    write_text(path, to_json(value))
