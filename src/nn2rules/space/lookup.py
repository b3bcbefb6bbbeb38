"""Which value of a feature a cell of the user's data is."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nn2rules.space.values import (
    is_missing,
    is_missing_text,
    number_of,
    number_texts,
    text_of,
)

if TYPE_CHECKING:
    from nn2rules.space.feature import Feature

UNKNOWN = -1
"""The code of a value that its feature does not have."""


class Lookup(dict[object, int]):
    """Cell of a column → code, computed once for each distinct cell.

    A cell is looked up in this order:

    1. The value, or the category of a group, that equals it: 1, 1.0 and True find the
       value 1.
    2. The value that reads the same. CSV files hold only text, and a network file may
       hold ``"1"`` where the user's frame holds 1. No two values of a feature share a
       text, so this is never ambiguous.
    3. The bin, or the part of a range, that contains it, if it is a number.
    4. The group of this name.
    5. The value for others, if there is one.
    """

    def __init__(self, feature: "Feature") -> None:
        super().__init__()
        self._feature = feature
        listed = feature.listed_cells
        self._names = feature.names_of_groups
        self._equal = {value: code for code, value in listed}
        self._texts = {text_of(value): code for code, value in listed}
        self._missing = self._equal.get(None, UNKNOWN)
        self._rest = feature.other_code
        self._has_categories = not feature.has_numbers and any(
            isinstance(v, str) and (v != feature.other or v in self._names)
            for _, v in listed
        )

    def __missing__(self, cell: object) -> int:
        if is_missing(cell):  # not kept: every NaN is another key
            return self._missing
        code = self._resolve(cell)
        self[cell] = code
        return code

    def number(self, cell: object) -> float:
        """Return the number of a cell that lies in a range; 1 for other values."""
        if not 0 <= self[cell] < self._feature.n_cells:
            return 1.0
        number: Any = number_of(cell) if isinstance(cell, str) else cell
        return self._feature.position(float(number))

    def _resolve(self, cell: object) -> int:
        if isinstance(cell, np.generic):
            cell = cell.item()
        code = self._listed(cell)
        if code == UNKNOWN:
            number: Any = number_of(cell) if isinstance(cell, str) else cell
            code = self._feature.code_at(number) if _is_finite(number) else UNKNOWN
        is_gap = isinstance(cell, str) and is_missing_text(
            cell, among_numbers=not self._has_categories
        )
        is_unlisted = code == UNKNOWN and not is_gap
        return self._names.get(cell, self._rest) if is_unlisted else code

    def _listed(self, cell: object) -> int:
        if cell in self._equal:
            return self._equal[cell]
        if isinstance(cell, str):
            return self._listed_text(cell)
        texts = {str(cell)}
        if isinstance(cell, float | int) and _is_finite(cell):
            texts = number_texts(cell)
        codes = [self._texts[text] for text in texts if text in self._texts]
        return codes[0] if len(codes) == 1 else UNKNOWN

    def _listed_text(self, cell: str) -> int:
        if cell in self._texts:
            return self._texts[cell]
        if is_missing_text(cell, among_numbers=not self._has_categories):
            return self._missing
        if cell.lower() in {"true", "false"}:
            return self._equal.get(cell.lower() == "true", UNKNOWN)
        number = number_of(cell)
        return UNKNOWN if number is None else self._equal.get(number, UNKNOWN)


def _is_finite(cell: object) -> bool:
    return isinstance(cell, int) or (isinstance(cell, float) and math.isfinite(cell))
