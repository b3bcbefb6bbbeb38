"""Rules as modules over data frames."""

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from export.cases import case
from export.engines.in_frames import imported
from export.executing import check_export
from export.exportable import exportable, rows_for
from nn2rules.export import program_of

policies = st.sampled_from(["none", "default", "error"])


@settings(max_examples=100)
@given(exportable(), policies, policies)
def test_any_rules_in_pandas(rules, unknown, uncovered):
    rows = rows_for(program_of(rules))
    check_export(rules, "pandas", rows, unknown=unknown, uncovered=uncovered)


@settings(max_examples=100)
@given(exportable(), policies, policies)
def test_any_rules_in_polars(rules, unknown, uncovered):
    rows = rows_for(program_of(rules))
    check_export(rules, "polars", rows, unknown=unknown, uncovered=uncovered)


ROWS = {"shape": ["round", "star"], "weight": [1, 5], "country": ["AT", None]}


def _expected() -> list[tuple[object, object]]:
    program = program_of(case("three classes, list").rules)
    listed = zip(*ROWS.values(), strict=True)
    rows = [dict(zip(ROWS, cells, strict=True)) for cells in listed]
    answers = [program.predict(row) for row in rows]
    return [(answer.label, answer.rule) for answer in answers]


@pytest.mark.parametrize("types", ["as they come", "nullable", "categories"])
def test_columns_of_pandas_of_any_type(types):
    frame = pd.DataFrame(ROWS, index=[7, 3])
    if types == "nullable":
        frame = frame.convert_dtypes()
    if types == "categories":
        frame = frame.astype({"shape": "category", "country": "category"})
    module = imported(case("three classes, list").rules.export("pandas"))
    found = module["predict"](frame)
    assert found.index.tolist() == [7, 3]
    assert [*found.itertuples(index=False, name=None)] == _expected()


@pytest.mark.parametrize("types", ["as they come", "categories", "small", "lazy"])
def test_columns_of_polars_of_any_type(types):
    frame = pl.DataFrame(ROWS)
    if types == "categories":
        frame = frame.with_columns(pl.col("shape", "country").cast(pl.Categorical))
    if types == "small":
        frame = frame.with_columns(pl.col("weight").cast(pl.UInt8))
    module = imported(case("three classes, list").rules.export("polars"))
    if types == "lazy":
        found = module["predict"](frame.lazy()).collect()
    else:
        found = module["predict"](frame)
    assert found.columns == [*ROWS, "prediction", "rule"]
    assert found.select("prediction", "rule").rows() == _expected()


def test_a_text_in_a_column_of_numbers_is_an_error():
    rows = {**ROWS, "weight": ["1", "5"]}
    rules = case("three classes, list").rules
    with pytest.raises(TypeError, match="column 'weight' has '1', expected a number"):
        imported(rules.export("pandas"))["predict"](pd.DataFrame(rows))
    with pytest.raises(Exception, match="column 'weight' is of type String, expected"):
        imported(rules.export("polars"))["predict"](pl.DataFrame(rows))
