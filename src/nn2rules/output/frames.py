"""Columns as a data frame of the library that the user has."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import narwhals as nw

from nn2rules.errors import MissingExtraError, OptionError

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
"""The library of a frame; it must be installed."""


def frame_of(
    columns: Callable[[], Mapping[str, Sequence[object]]], backend: Backend
) -> Any:
    """Return a data frame; its columns are made only once the library is known."""
    if backend not in ("pandas", "polars", "pyarrow"):
        raise OptionError(
            f"backend: {backend!r}, expected 'pandas', 'polars' or 'pyarrow'"
        )
    try:
        return nw.from_dict(columns(), backend=backend).to_native()
    except ModuleNotFoundError:
        raise MissingExtraError(backend, backend, "to_frame()") from None
