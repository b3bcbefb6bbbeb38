"""The benchmark of peers: its tables, its harness, and the page with its figures."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
from peers import tables  # noqa: E402


def test_tables_that_nn2rules_has_can_be_read_without_other_packages():
    table = tables.TABLES["contraception"]
    assert len(table.rows) == len(table.labels) == 1473
    assert table.classes == ["long-term", "no method", "short-term"]
    assert tables.TABLES["tic-tac-toe"].words == list(table_rows("tic-tac-toe"))


def table_rows(name: str) -> pd.DataFrame:
    return tables.TABLES[name].rows


def test_every_row_is_tested_once_in_each_repetition():
    table = tables.TABLES["tic-tac-toe"]
    tested = np.concatenate([test for _, test in table.folds()])
    assert (np.bincount(tested) == 2).all()
    again = np.concatenate([test for _, test in table.folds()])
    assert (tested == again).all()


def test_long_tables_keep_the_shares_of_their_classes():
    labels = pd.Series(["rare"] * 1000 + ["common"] * 9000)
    rows, kept = tables._sampled(pd.DataFrame({"n": range(10000)}), labels)
    assert kept.value_counts().to_dict() == {"common": 2700, "rare": 300}
    assert (labels.iloc[rows["n"]].to_numpy() == kept.to_numpy()).all()


def test_columns_are_floats_or_texts():
    frame = pd.DataFrame({"n": [1, 2], "b": [True, False], "w": ["x", None]})
    plain = tables._plain(frame)
    assert plain["n"].tolist() == [1.0, 2.0]
    assert plain["b"].tolist() == [1.0, 0.0]
    assert plain["w"].tolist() == ["x", None]


def test_an_unknown_table_is_refused():
    with pytest.raises(ValueError, match="there is no table 'moon'; there are adult"):
        tables.load_tables(["moon"])
