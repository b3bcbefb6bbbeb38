"""Find out what preprocessing does to each feature, by asking it.

Rows that differ in one feature are encoded; what differs in the result belongs to that
feature. So any preprocessing that treats every column on its own can be read, without
knowing it by name. Random rows then check that nothing else is going on.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.adapters.rows import RowMaker
from nn2rules.adapters.tracing import CONSTANT, Columns
from nn2rules.domain import Domain, Rows
from nn2rules.errors import Nn2RulesError, UnsupportedModelError
from nn2rules.feature import Feature
from nn2rules.values import Value, text_of

Encode = Callable[[Rows], Sequence[NDArray[Any]]]
"""Rows to the arrays that a model takes, each with a row for each row."""

_CHECKED_ROWS = 512


def probe(
    encode: Encode,
    maker: RowMaker,
    *,
    names: Callable[[int, int], str] | None = None,
) -> list[Columns]:
    """Return the arrays that `encode` makes, as tables of the features.

    Parameters
    ----------
    encode : callable
    maker : RowMaker
    names : callable, optional
        Names entry j of array i, for messages.

    Raises
    ------
    UnsupportedModelError
        If an entry depends on two features, or on more than its own row, or if the
        preprocessing refuses a value; the message says which.
    """
    domain = maker.domain
    design = _Design(domain, maker)
    arrays = _encoded(encode, design)
    sample = np.random.default_rng(0).integers(
        np.array(domain.sizes), size=(_CHECKED_ROWS, len(domain.sizes))
    )
    checked = _called(encode, maker.rows(sample, np.random.default_rng(1)))
    found = []
    for index, (array, other) in enumerate(zip(arrays, checked, strict=True)):

        def name(entry: int, index: int = index) -> str:
            return names(index, entry) if names is not None else f"column {entry}"

        columns = _tables(array, design, domain, name)
        _check(columns, other, sample, domain, name)
        found.append(columns)
    return found


class _Design:
    """The rows to ask about.

    One in which all is at its first value, and then for each feature and each of its
    values one that differs from it there.
    """

    def __init__(self, domain: Domain, maker: RowMaker) -> None:
        self.maker = maker
        first = [maker.examples(index, 0)[0] for index in range(len(domain.sizes))]
        cells, self.places = [first], []
        for index, feature in enumerate(domain.features):
            for code in range(len(feature)):
                for cell in maker.examples(index, code):
                    self.places.append((index, code))
                    cells.append([*first[:index], cell, *first[index + 1 :]])
        self.cells: list[list[Value]] = cells

    def rows(self, chosen: Sequence[int] | None = None) -> Rows:
        cells = self.cells if chosen is None else [self.cells[i] for i in chosen]
        return self.maker.frame(list(zip(*cells, strict=True)))


def _called(encode: Encode, rows: Rows) -> list[NDArray[Any]]:
    return [np.asarray(array) for array in encode(rows)]


def _encoded(encode: Encode, design: _Design) -> list[NDArray[Any]]:
    """Encode the rows of a design; if that fails, find the value that is to blame."""
    try:
        return _called(encode, design.rows())
    except Nn2RulesError:
        raise
    except Exception as error:  # noqa: BLE001  preprocessing may raise anything
        reason = _first_line(error)
        try:
            _called(encode, design.rows([0]))
        except Exception as first:  # noqa: BLE001
            raise UnsupportedModelError(
                f"the model's preprocessing fails on a row of the domain: "
                f"{_first_line(first)}"
            ) from None
    domain = design.maker.domain
    for number, (index, code) in enumerate(design.places, 1):
        feature = domain.features[index]
        try:
            _called(encode, design.rows([0, number]))
        except Exception as error:  # noqa: BLE001
            raise _refused(feature, code, _first_line(error)) from None
    raise UnsupportedModelError(f"the model's preprocessing fails: {reason}")


def _refused(feature: Feature, code: int, reason: str) -> UnsupportedModelError:
    value = feature.values[code]
    if value is None:
        return UnsupportedModelError(
            f"feature {feature.name!r} is missing in some rows, and the model cannot "
            f"take that ({reason}); leave out those rows, or impute in the pipeline"
        )
    if feature.other is not None and value == feature.other:
        return UnsupportedModelError(
            f"feature {feature.name!r} is to have a value for others, and the model "
            f"takes none but those it was trained on ({reason})"
        )
    return UnsupportedModelError(
        f"feature {feature.name!r}: the model cannot take the value "
        f"{text_of(value)!r} ({reason})"
    )


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")


def _tables(
    array: NDArray[Any],
    design: _Design,
    domain: Domain,
    name: Callable[[int], str],
) -> Columns:
    """Find the owner of every entry, and its table."""
    if array.ndim < 1 or len(array) != len(design.cells):
        raise UnsupportedModelError(
            f"the preprocessing makes an array of shape {array.shape} of "
            f"{len(design.cells)} rows; it must make a row of each"
        )
    flat = array.reshape(len(array), -1)
    features = np.array([place[0] for place in design.places])
    codes = np.array([place[1] for place in design.places])
    differs = ~_equal(flat[1:], flat[:1])
    owners, tables = [], []
    for entry in range(flat.shape[1]):
        owning = np.unique(features[differs[:, entry]])
        if len(owning) > 1:
            raise _mixed(domain, owning.tolist(), name(entry))
        if not len(owning):
            owners.append(CONSTANT)
            tables.append(flat[:1, entry])
            continue
        owner = int(owning[0])
        rows, own = flat[1:][features == owner, entry], codes[features == owner]
        first = np.searchsorted(own, np.arange(domain.sizes[owner]))
        table = rows[first]
        if not _equal(table[own], rows).all():
            raise _split_bin(domain.features[owner])
        owners.append(owner)
        tables.append(table)
    return Columns(array.shape[1:], tuple(owners), tuple(tables))


def _mixed(domain: Domain, owners: Sequence[int], name: str) -> UnsupportedModelError:
    listed = [repr(domain.names[owner]) for owner in owners]
    shown = ", ".join(listed[:3]) + (" and others" if len(listed) > 3 else "")
    return UnsupportedModelError(
        f"the preprocessing mixes features: {name} depends on {shown}; nn2rules reads "
        f"preprocessing in which every column comes from one feature, so leave out "
        f"steps such as PCA or products of columns"
    )


def _split_bin(feature: Feature) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"feature {feature.name!r}: the model tells numbers of one bin apart; only "
        f"bins that the model itself makes can be values, so say single numbers instead"
    )


def _check(
    columns: Columns,
    array: NDArray[Any],
    sample: NDArray[np.int64],
    domain: Domain,
    name: Callable[[int], str],
) -> None:
    """Compare random rows with what the tables say of them."""
    flat = array.reshape(len(array), -1)
    for entry, (owner, table) in enumerate(
        zip(columns.owners, columns.tables, strict=True)
    ):
        codes = sample[:, owner] if owner != CONSTANT else np.zeros(len(sample), int)
        if not _equal(flat[:, entry], table[codes]).all():
            feature = domain.features[owner]
            if owner != CONSTANT and feature.edges is not None:
                raise _split_bin(feature)
            raise UnsupportedModelError(
                f"the preprocessing does not treat every feature on its own: "
                f"{name(entry)} depends on several, or on other rows"
            )


def _equal(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.bool_]:
    """Compare numbers up to their last bits, and anything else exactly."""
    if left.dtype.kind in "fc" or right.dtype.kind in "fc":
        floats = [a.dtype for a in (left, right) if a.dtype.kind == "f"]
        eps = max(float(np.finfo(dtype).eps) for dtype in floats)
        with np.errstate(all="ignore"):
            close = np.isclose(left, right, rtol=8 * eps, atol=0, equal_nan=True)
        return np.asarray(close, dtype=np.bool_)
    same: NDArray[np.bool_] = np.asarray(left == right, dtype=np.bool_)
    return same
