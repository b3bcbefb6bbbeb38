"""What every result can do, by its document and its plain values; and data frames."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

import narwhals as nw

from nn2rules.errors import MissingExtraError, OptionError
from nn2rules.output.document import Document
from nn2rules.output.html import html_of
from nn2rules.output.text import text_of


class Result(ABC):
    """What came of a question: text, HTML for notebooks and JSON, by two methods.

    A result has `document` for people and `to_dict` for programs; all else follows.
    """

    __slots__ = ()
    _json: ClassVar[Mapping[str, Any]] = {"indent": 2}

    @abstractmethod
    def document(self) -> Document:
        """Return the page that text and notebooks show."""

    @abstractmethod
    def to_dict(self) -> Any:
        """Return all of it as plain values, as JSON has them."""

    def text(self) -> str:
        """Return what ``print`` shows."""
        return text_of(self.document())

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, **self._json)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return html_of(self.document())


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
