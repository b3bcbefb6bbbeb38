"""Whatever treats every column on its own is read, and nothing else is."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nn2rules import Domain, Feature, UnsupportedModelError
from nn2rules.models.model_rows import RowMaker
from nn2rules.models.probing import probe
from nn2rules.models.tracing import CONSTANT

DOMAIN = Domain(
    (
        Feature("word", ("x", "y", "z")),
        Feature("number", (1, 2, 5), ordered=True),
        Feature.bins("bin", (0, 10)),
    )
)


def made(encode, domain=DOMAIN, like=None):
    """Return the only array that `encode` makes, as tables."""
    [columns] = probe(lambda rows: [encode(rows)], RowMaker(domain, like))
    return columns


def test_tables_of_single_columns():
    def encode(rows):
        is_y = rows["word"] == "y"
        return np.stack(
            [is_y, rows["number"] ** 2, rows["bin"] >= 10, is_y * 0], axis=1
        )

    columns = made(encode)
    assert columns.shape == (4,)
    assert columns.owners == (0, 1, 2, CONSTANT)
    assert [table.tolist() for table in columns.tables] == [
        [0, 1, 0],
        [1, 4, 25],
        [0, 0, 1],
        [0],
    ]


def test_arrays_of_every_kind_and_shape():
    def encode(rows):
        codes = rows["word"].map({"x": 7, "y": 8, "z": 9}).to_numpy()
        words = rows["word"].to_numpy(dtype=object)
        number = rows["number"].to_numpy(dtype=np.float32)
        return [codes, words, np.stack([number, number + 1]).T.reshape(-1, 2, 1)]

    codes, words, cube = probe(encode, RowMaker(DOMAIN))
    assert codes.tables[0].tolist() == [7, 8, 9]
    assert words.tables[0].tolist() == ["x", "y", "z"]
    assert (cube.shape, cube.owners) == ((2, 1), (1, 1))
    assert cube.tables[1].dtype == np.float32


@given(st.data())
def test_random_tables_are_found(data):
    """Any table is read back as it is, behind any mapping of entries to features."""
    owners = data.draw(st.lists(st.integers(0, 1), min_size=1, max_size=4))
    tables = [
        data.draw(st.lists(st.integers(-3, 3), min_size=3, max_size=3)) for _ in owners
    ]
    places = [{"x": 0, "y": 1, "z": 2}, {1: 0, 2: 1, 5: 2}]

    def encode(rows):
        cells = [rows["word"].tolist(), rows["number"].tolist()]
        return np.array(
            [
                [table[places[owner][cell]] for cell in cells[owner]]
                for owner, table in zip(owners, tables, strict=True)
            ]
        ).T

    columns = made(encode)
    for owner, table, found, values in zip(
        owners, tables, columns.owners, columns.tables, strict=True
    ):
        is_constant = len(set(table)) == 1
        assert found == (CONSTANT if is_constant else owner)
        assert values.tolist() == (table[:1] if is_constant else table)


def told(encode, **options):
    with pytest.raises(UnsupportedModelError) as caught:
        made(encode, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    "mix",
    [
        lambda rows: rows["number"] + (rows["word"] == "y"),
        lambda rows: (rows["number"] - 1) * (rows["word"] == "y"),
        lambda rows: np.maximum(rows["number"], 4 * (rows["word"] == "z")),
    ],
    ids=["sum", "product", "maximum"],
)
def test_mixing_names_the_features(mix):
    """A product is constant in one feature as long as the other is at its first."""
    message = told(lambda rows: np.array(mix(rows), dtype=float).reshape(-1, 1))
    assert message.startswith(
        "the preprocessing combines features: column 0 depends on 'word', 'number'. "
    )


def test_entries_are_called_by_their_names():
    with pytest.raises(
        UnsupportedModelError, match=("combines features: 0/1 depends on")
    ):
        probe(
            lambda rows: [np.stack([rows["bin"] * 0, rows["bin"] + rows["number"]], 1)],
            RowMaker(DOMAIN),
            names=lambda array, entry: f"{array}/{entry}",
        )


@pytest.mark.parametrize("share", ["mean", "max", "min"])
def test_other_rows(share):
    """Even where they are the same each time: a row on its own shows it."""
    assert told(lambda rows: rows[["number"]] - getattr(rows["number"], share)()) == (
        "the preprocessing of a row depends on other rows: column 0 is not the same "
        "each time; use a step that learns when it is fitted, such as StandardScaler"
    )


def test_bins_that_are_told_apart():
    expected = (
        "feature 'bin': the model distinguishes numbers within one bin; give the bins "
        "of the model itself, a range (low, high), or a list of numbers"
    )
    assert told(lambda rows: rows[["bin"]] >= 5) == expected
    assert told(lambda rows: rows[["bin"]].clip(2, 3)) == expected
    hidden = told(lambda rows: rows[["bin"]].isin([3.25]) | (rows[["bin"]] > 9.9))
    assert hidden == expected


def test_values_that_are_refused():
    def encode(rows):
        if (rows["word"] == "z").any():
            raise KeyError("z")
        return rows[["number"]]

    assert told(encode) == (
        "feature 'word': the model does not accept the value 'z' ('z'); leave out the "
        "rows that have it"
    )

    def strict(rows):
        raise RuntimeError("no\nmore")

    assert told(strict) == (
        "the preprocessing fails on the row (word = x, number = 1, bin = -1): no; give "
        "values like those the model was trained on"
    )


def test_rows_that_get_lost():
    assert told(lambda rows: rows[["number"]][:3]).startswith(
        "the preprocessing turns 13 rows into an array of shape (3, 1); it must return "
    )


# Rows -------------------------------------------------------------------------------


def test_rows_keep_the_types_of_the_users_columns():
    like = pd.DataFrame(
        {
            "word": pd.Categorical(["x"], ["x", "y", "z"]),
            "number": pd.Series([1], dtype="int16"),
            "bin": pd.Series([0.5], dtype="float32"),
        }
    )
    rows = RowMaker(DOMAIN, like).rows(np.array([[2, 1, 1], [0, 0, 1]]))
    assert rows.dtypes.astype(str).tolist() == ["category", "int16", "float32"]
    assert rows["word"].tolist() == ["z", "x"]


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
def test_missing_is_what_it_is_in_the_users_rows(gap):
    domain = Domain((Feature("a", ("x", None)),))
    like = pd.DataFrame({"a": pd.Series(["x", gap], dtype=object)})
    cell = RowMaker(domain, like).rows(np.array([[0], [1]]))["a"].iloc[1]
    assert cell is gap or (cell != cell and gap != gap)


def test_a_number_that_the_column_cannot_hold():
    domain = Domain((Feature("a", (1, 2.5)),))
    like = pd.DataFrame({"a": [1, 2]})
    assert RowMaker(domain, like).rows(np.array([[0], [1]]))["a"].tolist() == [1, 2.5]


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=5, unique=True))
def test_examples_of_bins_lie_in_them(edges):
    feature = Feature.bins("a", tuple(sorted(edges)))
    domain = Domain((feature,))
    maker, rng = RowMaker(domain, []), np.random.default_rng(0)
    for code in range(len(feature)):
        cells = [{"a": cell} for cell in maker.examples(0, code)]
        cells += maker.rows(np.full((5, 1), code), rng)
        assert (domain.encode(cells) == code).all()
