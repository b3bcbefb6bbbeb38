"""Find out what preprocessing does to each feature, by running it on probe rows.

Rows that differ in one feature are encoded; what differs in the result depends on that
feature. So any preprocessing that treats every column separately can be read, without
knowing it by name. Random rows then check that the result depends on nothing else.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import Nn2RulesError, UnsupportedModelError
from nn2rules.models.model_rows import RowMaker, distinguished, picked
from nn2rules.models.tracing import CONSTANT, Columns
from nn2rules.space import (
    Domain,
    Feature,
    Intervals,
    Rows,
    Value,
    cells_of,
    text_of,
)

_ROWS = 2048
_CELLS = 4_000_000


def samples(maker: RowMaker) -> Iterator[NDArray[np.int64]]:
    """Yield inputs of several kinds: random ones, unseen values, mixtures of rows.

    If columns depend on each other, random inputs are unlike all rows. Mixtures of two
    rows are more like them, and show what a step does where several columns meet.
    """
    sizes, rng = np.array(maker.domain.sizes), np.random.default_rng(0)
    n_rows = max(1, min(_ROWS, _CELLS // len(sizes)))
    yield rng.integers(sizes, size=(n_rows, len(sizes)))
    n_unseen_values = max(maker.n_unseen_values.values(), default=0)
    if n_unseen_values:
        with_unseen = rng.integers(sizes, size=(n_unseen_values, len(sizes)))
        for index, feature in enumerate(maker.domain.features):
            if feature.other is not None:
                with_unseen[:, index] = feature.other_code
        yield with_unseen
    rows = maker.observed(n_rows, rng)
    if len(rows):
        one, two = (rows[rng.integers(len(rows), size=n_rows)] for _ in range(2))
        is_one = rng.random(one.shape) < rng.random((n_rows, 1))
        mixed = np.where(is_one, one, two)
        places = rng.integers(len(sizes), size=n_rows)  # and one random value
        mixed[np.arange(n_rows), places] = rng.integers(sizes[places])
        yield mixed


Encode = Callable[[Rows], Sequence[NDArray[Any]]]
"""From rows to the arrays that a model takes, each with one row per row."""

Names = Callable[[int, int], str]
"""From an array and an entry of it to its name."""

_CHECKED_ALONE = 3


def probe(
    encode: Encode,
    maker: RowMaker,
    *,
    names: Names = lambda _array, entry: f"column {entry}",
) -> list[Columns]:
    """Return the arrays that `encode` makes, as tables of the features.

    Parameters
    ----------
    encode : callable
    maker : RowMaker
    names : callable
        Names entry j of array i, for messages.

    Raises
    ------
    UnsupportedModelError
        If an entry depends on two features or on other rows, or if the preprocessing
        refuses a value; the message says which.
    """
    design = _Design(maker, np.zeros(len(maker.domain.sizes), dtype=np.int64))
    arrays = [
        _tables(array, design, partial(names, index))
        for index, array in enumerate(_encoded(encode, design))
    ]
    tried = list(samples(maker))
    for sample in tried:
        _check(arrays, encode, maker, sample, names)
    for row in tried[0][:_CHECKED_ALONE]:
        _check(arrays, encode, maker, row[np.newaxis], names)
    return arrays


def _check(
    arrays: Sequence[Columns],
    encode: Encode,
    maker: RowMaker,
    codes: NDArray[np.int64],
    names: Names,
) -> None:
    """Compare encoded rows with the tables."""
    rows = maker.rows(codes, np.random.default_rng(1))
    for index, (columns, array) in enumerate(
        zip(arrays, _called(encode, rows), strict=True)
    ):
        wrong = _first_wrong(columns, array, codes, maker.domain)
        if wrong is None:
            continue
        row, entry = wrong
        _refuse_unseen_values(encode, maker, codes[row], picked(rows, [row]))
        near = _Design(maker, codes[row])
        again = _encoded(encode, near)[index]
        numbers = [a.reshape(len(a), -1)[:, entry] for a in (array[[row]], again)]
        raise _explained(
            columns.owners[entry], np.concatenate(numbers), near, names(index, entry)
        )


def _refuse_unseen_values(
    encode: Encode, maker: RowMaker, codes: NDArray[np.int64], row: Rows
) -> None:
    """Refuse a category for others if an unseen value makes the difference."""
    usual = [maker.examples(*place)[0] for place in enumerate(codes.tolist())]
    for index, feature in enumerate(maker.domain.features):
        if not _is_other(maker.domain, index, int(codes[index])):
            continue
        [[cell]] = cells_of(row, [feature.name])
        with_unseen: list[Any] = [*usual[:index], cell, *usual[index + 1 :]]
        both = maker.frame(
            [[one, two] for one, two in zip(usual, with_unseen, strict=True)]
        )
        if any(not _equal(a[:1], a[1:]).all() for a in _called(encode, both)):
            raise distinguished(feature, usual[index], cell)


def _is_other(domain: Domain, owner: int, code: int) -> bool:
    feature = domain.features[owner]
    return feature.is_other(feature.values[code])


class _Design:
    """The probe rows.

    The first has the given codes. Each of the others differs from it in one feature:
    there is one for each value of each feature.
    """

    def __init__(self, maker: RowMaker, first: NDArray[np.int64]) -> None:
        self.maker, self.domain = maker, maker.domain
        base = [maker.examples(*place)[0] for place in enumerate(first.tolist())]
        cells, self.places = [base], []
        for index, feature in enumerate(self.domain.features):
            for code in range(len(feature)):
                for cell in _of_design(maker, index, code):
                    self.places.append((index, code))
                    cells.append([*base[:index], cell, *base[index + 1 :]])
        self.cells: list[list[Value]] = cells

    @property
    def features(self) -> NDArray[np.int64]:
        """The feature in which each row but the first differs from the first."""
        return np.array([feature for feature, _ in self.places])

    def rows(self, chosen: Sequence[int] | None = None) -> Rows:
        cells = self.cells if chosen is None else [self.cells[i] for i in chosen]
        return self.maker.frame(list(zip(*cells, strict=True)))


def _of_design(maker: RowMaker, index: int, code: int) -> list[Value]:
    """Return the cells that probe a value; one if it stands for others."""
    examples = maker.examples(index, code)
    return examples[:1] if _is_other(maker.domain, index, code) else examples


def _called(encode: Encode, rows: Rows) -> list[NDArray[Any]]:
    return [np.asarray(array) for array in encode(rows)]


def _encoded(encode: Encode, design: _Design) -> list[NDArray[Any]]:
    """Encode the probe rows; if that fails, find the value that causes it."""
    try:
        return _called(encode, design.rows())
    except Nn2RulesError:
        raise
    except Exception as error:  # noqa: BLE001  preprocessing may raise anything
        reason = _first_line(error)
        try:
            _called(encode, design.rows([0]))
        except Exception as first:  # noqa: BLE001
            names = design.domain.names
            shown = zip(names, map(text_of, design.cells[0]), strict=True)
            raise UnsupportedModelError(
                f"the preprocessing fails on the row ("
                f"{', '.join(f'{name} = {cell}' for name, cell in shown)}): "
                f"{_first_line(first)}; give values like those the model was trained on"
            ) from None
    for number, (index, code) in enumerate(design.places, 1):
        feature = design.domain.features[index]
        try:
            _called(encode, design.rows([0, number]))
        except Exception as error:  # noqa: BLE001
            raise refused(feature, code, _first_line(error)) from None
    raise UnsupportedModelError(f"the model's preprocessing fails: {reason}")


def refused(feature: Feature, code: int, reason: str) -> UnsupportedModelError:
    """Return the error for a value that the model does not accept."""
    value = feature.values[code]
    if value is None:
        return UnsupportedModelError(
            f"feature {feature.name!r} has missing values, which the model does not "
            f"accept ({reason}); leave out those rows, or add an imputer to the "
            f"pipeline",
            feature=feature.name,
        )
    if feature.is_other(value):
        return UnsupportedModelError(
            f"feature {feature.name!r} cannot have a category for others, because the "
            f"model accepts only values that it was trained on ({reason}); leave it "
            f"out "
            f"of other="
        )
    return UnsupportedModelError(
        f"feature {feature.name!r}: the model does not accept the value "
        f"{text_of(value)!r} ({reason}); leave out the rows that have it",
        feature=feature.name,
    )


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")


def _tables(
    array: NDArray[Any], design: _Design, name: Callable[[int], str]
) -> Columns:
    """Find the feature of every entry, and its table."""
    domain = design.domain
    if array.ndim < 1 or len(array) != len(design.cells):
        raise UnsupportedModelError(
            f"the preprocessing turns {len(design.cells)} rows into an array of shape "
            f"{array.shape}; it must return one row for each row"
        )
    flat = array.reshape(len(array), -1)
    features = design.features
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
        rows, places = flat[1:][features == owner, entry], codes[features == owner]
        first = np.searchsorted(places, np.arange(domain.sizes[owner]))
        table = rows[first]
        if not _equal(table[places], rows).all():
            raise _split_bin(domain.features[owner])
        owners.append(owner)
        tables.append(table)
    return Columns(array.shape[1:], tuple(owners), tuple(tables))


def _mixed(domain: Domain, owners: Sequence[int], name: str) -> UnsupportedModelError:
    listed = [repr(domain.names[owner]) for owner in owners]
    shown = ", ".join(listed[:3]) + (" and others" if len(listed) > 3 else "")
    return UnsupportedModelError(
        f"the preprocessing combines features: {name} depends on {shown}. Here, "
        f"nn2rules reads steps that treat each column separately. Linear steps such as "
        f"PCA can be read as a layer if you export the whole model to ONNX; leave out "
        f"others, such as products of columns."
    )


def _split_bin(feature: Feature) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"feature {feature.name!r}: the model distinguishes numbers within one bin; "
        f"give the bins of the model itself, a range (low, high), or a list of numbers"
    )


def _first_wrong(
    columns: Columns, array: NDArray[Any], codes: NDArray[np.int64], domain: Domain
) -> tuple[int, int] | None:
    """Return a row and an entry of it that differs from the tables, if any."""
    flat = array.reshape(len(array), -1)
    for entry, (owner, table) in enumerate(
        zip(columns.owners, columns.tables, strict=True)
    ):
        places = (
            codes[:, owner] if owner != CONSTANT else np.zeros(len(codes), np.int64)
        )
        differs = ~_equal(flat[:, entry], table[places])
        if owner != CONSTANT and differs.any():
            differs &= ~_is_own_text(domain.features[owner], places, flat[:, entry])
        wrong = np.flatnonzero(differs)
        if len(wrong):
            return int(wrong[0]), entry
    return None


def _is_own_text(
    feature: Feature, codes: NDArray[np.int64], entries: NDArray[Any]
) -> NDArray[np.bool_]:
    """Tell where a model gets an unseen text unchanged, and may still look it up."""
    if feature.other is None or entries.dtype.kind not in "OUS":
        return np.zeros(len(codes), dtype=np.bool_)
    is_text = np.array([isinstance(entry, str | bytes) for entry in entries.tolist()])
    is_other = codes == feature.other_code
    return np.asarray(is_other & is_text)


def _explained(
    owner: int, numbers: NDArray[Any], near: _Design, name: str
) -> UnsupportedModelError:
    """Return the error for an entry that differs from its table.

    `numbers` are its encoded values: first in the row that differs, then in the probe
    rows around that row.
    """
    if owner != CONSTANT and isinstance(near.domain.features[owner], Intervals):
        return _split_bin(near.domain.features[owner])
    differs = ~_equal(numbers[2:], numbers[1:2])
    owners = {owner, *near.features[differs].tolist()} - {CONSTANT}
    if len(owners) > 1 and _equal(numbers[:1], numbers[1:2]).all():
        return _mixed(near.domain, sorted(owners), name)
    return UnsupportedModelError(
        f"the preprocessing of a row depends on other rows: {name} is not the same "
        f"each time; use a step that learns when it is fitted, such as StandardScaler"
    )


def _equal(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.bool_]:
    """Compare numbers up to their last bits, and everything else exactly."""
    if left.dtype.kind in "fc" or right.dtype.kind in "fc":
        floats = [a.dtype for a in (left, right) if a.dtype.kind == "f"]
        eps = max(float(np.finfo(dtype).eps) for dtype in floats)
        with np.errstate(all="ignore"):
            close = np.isclose(left, right, rtol=8 * eps, atol=0, equal_nan=True)
        return np.asarray(close, dtype=np.bool_)
    same: NDArray[np.bool_] = np.asarray(left == right, dtype=np.bool_)
    if left.dtype == object:  # where NaN is a missing value, which equals itself
        same |= (left != left) & (right != right)
    return same
