"""Books of claims: files with one on each line."""

import os
from pathlib import Path

from nn2rules.errors import FormatError
from nn2rules.formats.files import read_text
from nn2rules.formats.node import Node, parse_json
from nn2rules.formats.table import read_table


def read_book(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the claims of a file, as text, by their names.

    A CSV file has a column ``claim`` and, if lines are to have names, a column
    ``name``. A JSON file has a list of texts, or of objects with ``claim`` and
    ``name``. What has no name is numbered.
    """
    if Path(path).suffix == ".json":
        try:
            pairs = [_entry(node) for node in parse_json(read_text(path)).items()]
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None
    else:
        table = read_table(path)
        claims = table.column("claim")
        names = table.column("name") if "name" in table.header else [""] * len(claims)
        pairs = list(zip(names, claims, strict=True))
    if not pairs:
        raise FormatError(f"{path}: there is no claim in it")
    book: dict[str, str] = {}
    for number, (name, claim) in enumerate(pairs, 1):
        own = name or str(number)
        if own in book:
            raise FormatError(f"{path}: two claims are named {own!r}")
        book[own] = claim
    return book


def _entry(node: Node) -> tuple[str, str]:
    if isinstance(node.value, str):
        return "", node.string()
    node.only(("name", "claim"))
    return node["name"].string() if "name" in node else "", node["claim"].string()
