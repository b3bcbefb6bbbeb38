"""The input of a model: the user's columns, and how they become arrays."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.models.model_rows import RowMaker
from nn2rules.models.probing import Encode
from nn2rules.space import (
    Domain,
    Feature,
    Intervals,
    Rows,
    cells_of,
    is_missing,
    is_number,
)

_UNKNOWN_ORDER = (
    "the model takes {width} numbers, as many as the features have values, so they "
    "may be one-hot columns in an unknown order; give the function or fitted "
    "transformer that made them as encode=, or a Domain with the values in the order "
    "of the columns as domain="
)

_ENCODE = (
    "give the function or fitted transformer that turns your rows into the model's "
    "input as encode="
)


_MOST_NUMBERS = 200_000_000
"""Numbers of a sparse table that is written out."""


@dataclass(frozen=True)
class Port:
    """An input of a model.

    Attributes
    ----------
    name : str
    width : int or None
        The number of entries for each row, if it is known.
    kind : {"float", "integer", "text"}
    """

    name: str
    width: int | None = None
    kind: Literal["float", "integer", "text"] = "float"


@dataclass(frozen=True)
class Source:
    """The features of a model, and the user's encoding of rows, if there is one.

    `is_stated` says whether the user gave the whole domain, and so the order of the
    values, which one-hot columns follow; the order of a domain from data would be a
    guess. `real` is the domain with its ranges, which samples replace in `domain`. The
    features in `ranges` are read as linear wherever the steps allow it.
    """

    domain: Domain
    maker: RowMaker
    encode: Callable[[Rows], Any] | None = None
    is_stated: bool = True
    real: Domain | None = None
    ranges: frozenset[int] = frozenset()

    def arrays(self, ports: Sequence[Port]) -> Encode:
        """Return the function from rows to one array for each port.

        This is the user's own `encode` if there is one. Otherwise each port takes the
        column with its name; or the only port takes a column for each value (one-hot)
        or for each feature.
        """
        if self.encode is not None:
            encode = self.encode
            return lambda rows: _as_arrays(encode(rows), ports)
        if len(ports) > 1:
            columns = self._named(ports)
            return lambda rows: [
                self._column(rows, column, port)
                for column, port in zip(columns, ports, strict=True)
            ]
        [port] = ports
        real = self.real or self.domain
        n_features, n_values = len(real.sizes), int(real.offsets[-1])
        is_number_each = real.has_ranges and n_values == n_features
        if port.width == n_values and port.kind != "text" and not is_number_each:
            if not self.is_stated:
                raise UnsupportedModelError(_UNKNOWN_ORDER.format(width=port.width))
            return lambda rows: [self.one_hot(rows)]
        if port.width in (None, n_features):
            for feature in self.domain.features:
                _refuse_words(feature, port)
            return lambda rows: [self._matrix(rows, port)]
        counted = " (a range counts as one)" if real.has_ranges else ""
        raise UnsupportedModelError(
            f"the model takes {port.width} numbers for each row, but the data have "
            f"{n_features} features with {n_values} values in all{counted}; {_ENCODE}"
        )

    def one_hot(self, rows: Rows) -> NDArray[np.float64]:
        """Return a column for each value of each feature; of a range, the number."""
        domain = self.real or self.domain
        codes, numbers = domain.inputs_of(rows)
        columns = np.zeros((len(codes), int(domain.offsets[-1])))
        entries = 1.0 if numbers is None else numbers
        np.put_along_axis(columns, codes + domain.offsets[:-1], entries, axis=1)
        return columns

    def _matrix(self, rows: Rows, port: Port) -> NDArray[Any]:
        names = range(len(self.domain.sizes))
        return np.hstack([self._column(rows, index, port) for index in names])

    def _column(self, rows: Rows, index: int, port: Port) -> NDArray[Any]:
        feature = self.domain.features[index]
        _refuse_words(feature, port)
        [cells] = cells_of(rows, [feature.name])
        if port.kind == "text":
            texts = ["" if is_missing(cell) else str(cell) for cell in cells]
            return np.array(texts, dtype=object).reshape(-1, 1)
        numbers = [np.nan if is_missing(cell) else float(cell) for cell in cells]  # type: ignore[arg-type]
        kind = np.int64 if port.kind == "integer" else np.float64
        return np.array(numbers).astype(kind).reshape(-1, 1)

    def _named(self, ports: Sequence[Port]) -> list[int]:
        """Return the feature of each port, by its name."""
        plain = {_plain(name): index for index, name in enumerate(self.domain.names)}
        missing = [port.name for port in ports if _plain(port.name) not in plain]
        if missing:
            raise UnsupportedModelError(
                f"the model has an input {missing[0]!r}, but no column has this name; "
                f"the columns are {', '.join(map(repr, self.domain.names))}; rename "
                f"it, or pass a function that returns a dict of arrays as encode="
            )
        return [plain[_plain(port.name)] for port in ports]


def _plain(name: str) -> str:
    """Return a name without case and punctuation, which exporters change."""
    return re.sub(r"[\W_]+", "", name.partition(":")[0]).lower()


def _refuse_words(feature: Feature, port: Port) -> None:
    if port.kind == "text" or isinstance(feature, Intervals):
        return
    for value in feature.values:
        if value is not None and not is_number(value) and not isinstance(value, bool):
            raise UnsupportedModelError(
                f"the model takes numbers, but feature {feature.name!r} has categories "
                f"such as {value!r}; {_ENCODE}"
            )


def _as_arrays(encoded: Any, ports: Sequence[Port]) -> list[NDArray[Any]]:
    """Return the result of the user's function as one array for each port."""
    if isinstance(encoded, Mapping):
        missing = [port.name for port in ports if port.name not in encoded]
        if missing:
            raise UnsupportedModelError(
                f"encode= returns no array for the model's input {missing[0]!r}; it "
                f"returns {', '.join(map(repr, encoded))}"
            )
        return [as_array(encoded[port.name]) for port in ports]
    if isinstance(encoded, list | tuple) and len(ports) == len(encoded) > 1:
        return [as_array(part) for part in encoded]
    if len(ports) == 1:
        return [as_array(encoded)]
    raise UnsupportedModelError(
        f"the model has {len(ports)} inputs ("
        f"{', '.join(repr(port.name) for port in ports)}); encode= must return a list "
        f"of that many arrays, or a dict from these names to arrays"
    )


def as_array(part: Any) -> NDArray[Any]:
    """Return a tensor, a sparse matrix, a frame or an array as an array."""
    if hasattr(part, "detach"):
        part = part.detach().cpu()
        if str(part.dtype) == "torch.bfloat16":  # which numpy does not have
            part = part.float()
    if hasattr(part, "toarray"):
        if math.prod(part.shape) > _MOST_NUMBERS:
            raise UnsupportedModelError(
                f"the preprocessing makes a table of {part.shape[-1]:,} columns from "
                f"{part.shape[0]:,} rows; nn2rules reads at most {_MOST_NUMBERS:,} "
                f"numbers at once"
            )
        part = part.toarray()
    elif hasattr(part, "to_numpy"):
        part = part.to_numpy()
    return np.asarray(part)


def known_of(encode: Any) -> Mapping[str, Any] | None:
    """Return what `encode` knows of its columns, if it is a transformer."""
    if encode is None or not hasattr(encode, "transform"):
        return None
    from nn2rules.models.sklearn import columns

    return columns(None, encode)


def encoder_of(encode: Any) -> Callable[[Rows], Any] | None:
    """Return `encode` as a function of rows."""
    if encode is None or not hasattr(encode, "transform"):
        if encode is not None and not callable(encode):
            raise OptionError(
                f"encode= must be a function of rows or a fitted transformer, not a "
                f"{type(encode).__name__}"
            )
        return encode  # type: ignore[no-any-return]
    from nn2rules.models.sklearn import encoder

    return encoder(encode)
