"""The result: a page, and the numbers in it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nn2rules.files import size_text, write_text
from nn2rules.language import count


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """One self-contained HTML page.

    Attributes
    ----------
    html : str
        The page.
    data : mapping
        What the page computes with: features, rules, rows, the curve; plain JSON.
    """

    html: str
    data: Mapping[str, Any]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        write_text(path, self.html)

    def __repr__(self) -> str:
        n_bytes = len(self.html.encode("utf-8", "replace"))
        return (
            f"<Report: {count(len(self.data['rules']), 'rule')}, {size_text(n_bytes)}>"
        )
