"""Books of claims: files with one on each line."""

import json
import os
from pathlib import Path

from nn2rules.claims.reading import file_in
from nn2rules.errors import FormatError
from nn2rules.formats.files import read_text
from nn2rules.formats.node import Node, parse_json
from nn2rules.formats.table import read_table


def read_book(path: str | os.PathLike[str], *, files: bool = False) -> dict[str, str]:
    """Return the claims of a file, as text, by their names.

    A CSV, Excel or Parquet file has a column ``claim`` and, if claims are to have
    names, a column ``name``. A JSON file has a list of texts, or of objects with
    ``claim`` and ``name``. What has no name is numbered.

    Parameters
    ----------
    path : str or path
    files : bool
        Whether claims may name rules files, as in ``equivalent to "rules.json"``. Such
        a file must be in the folder of the book, or below it; its name is relative to
        that folder, and becomes a full path in the claim that is returned.

    Raises
    ------
    FormatError
        If the book cannot be read, or a claim names a file that it may not name.
    """
    if Path(path).suffix == ".json":
        try:
            pairs = [_entry(node) for node in parse_json(read_text(path)).items()]
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None
    else:
        table = read_table(path)
        claims = table.texts("claim")
        names = table.texts("name") if "name" in table.header else [""] * len(claims)
        pairs = list(zip(names, claims, strict=True))
    if not pairs:
        raise FormatError(f"{path}: there is no claim in it")
    book: dict[str, str] = {}
    for number, (name, claim) in enumerate(pairs, 1):
        own = name or str(number)
        if own in book:
            raise FormatError(f"{path}: two claims are named {own!r}")
        try:
            book[own] = _with_its_file(claim, Path(path).parent, is_allowed=files)
        except FormatError as error:
            raise FormatError(f"{path}: claim {own!r} {error}") from None
    return book


def _with_its_file(claim: str, folder: Path, *, is_allowed: bool) -> str:
    """Return a claim with the full path of the file it names, if it may name one.

    A book may come from a stranger, who must not choose which files are opened.
    """
    found = file_in(claim)
    if found is None:
        return claim
    name, start, stop = found
    if not is_allowed:
        raise FormatError(
            f"names the file {name!r}, and a book opens files only if you allow it, "
            f"with files=True (--book-files)"
        )
    home = os.path.realpath(folder)
    target = os.path.realpath(os.path.join(home, name)) if "\0" not in name else ""
    if not Path(target).is_relative_to(home):
        raise FormatError(
            f"names the file {name!r}, which is not in the folder of the book"
        )
    return f"{claim[:start]}{json.dumps(target)}{claim[stop:]}"


def _entry(node: Node) -> tuple[str, str]:
    if isinstance(node.value, str):
        return "", node.string()
    node.only(("name", "claim"))
    return node["name"].string() if "name" in node else "", node["claim"].string()
