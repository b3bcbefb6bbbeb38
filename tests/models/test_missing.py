"""None, NaN, NA and NaT: what the model takes for missing, and what it does not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import nn2rules
from nn2rules import UnknownValueError
from nn2rules.files import from_json, to_json

NAN = float("nan")
JOBS = np.array(["clerk", "cook", NAN, "judge"] * 10, dtype=object)
ROWS = pd.DataFrame({"job": JOBS, "age": [20.0, NAN, 40.0, 50.0] * 10})
LABELS = ["good", "bad", "good", "bad"] * 10


def model(fill="clerk", unknown="ignore"):
    words = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=fill),
        OneHotEncoder(handle_unknown=unknown),
    )
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer([("w", words, ["job"]), ("n", numbers, ["age"])])
    return make_pipeline(columns, LogisticRegression()).fit(ROWS, LABELS)


def test_none_that_an_imputer_passes_on_is_refused_by_rules_and_explain():
    fitted = model()
    row = {"job": None, "age": 40.0}
    as_nan = {"job": NAN, "age": 40.0}
    said = [
        fitted.predict(pd.DataFrame({n: pd.Series([c], dtype=object) for n, c in r}))[0]
        for r in (row.items(), as_nan.items())
    ]
    assert said == ["bad", "good"]  # else this test shows nothing
    rules = nn2rules.extract(fitted, data=ROWS)
    assert list(rules.predict([as_nan])) == ["good"]
    told = (
        "row 0: feature 'job' holds None, which the model tells from its missing "
        "value; write missing cells as the model's training data did, such as "
        "float('nan')"
    )
    with pytest.raises(UnknownValueError) as caught:
        rules.predict([row])
    assert str(caught.value) == told
    with pytest.raises(UnknownValueError, match="'job' holds None"):
        nn2rules.explain(fitted, row, data=ROWS)
    with pytest.raises(UnknownValueError, match="'job' holds None"):
        nn2rules.read_network(fitted, data=ROWS).predict([row])


def test_the_page_the_certificate_and_files_keep_it():
    rules = nn2rules.extract(model(), data=ROWS)
    refused = rules.certificate["model"]["not_missing"]
    assert "None" in refused["job"]
    assert "NaN" not in refused["job"]
    told = "MISSING VALUES: the model tells some from its missing value (job: None"
    assert told in " ".join(str(rules).split())
    again = from_json(to_json(rules))
    assert again == rules
    with pytest.raises(UnknownValueError, match="'job' holds None"):
        again.predict([{"job": None, "age": 40.0}])


def test_numbers_and_spellings_that_mean_the_same_stay_missing():
    rules = nn2rules.extract(model(), data=ROWS)
    assert "age" not in rules.certificate["model"]["not_missing"]
    rows = [{"job": "clerk", "age": cell} for cell in (None, NAN)]
    assert len(set(rules.predict(rows))) == 1


def test_none_on_which_the_model_itself_fails_is_missing():
    rules = nn2rules.extract(model(unknown="error"), data=ROWS)
    assert "not_missing" not in rules.certificate["model"]
    [by_none, by_nan] = rules.predict(
        [{"job": None, "age": 20.0}, {"job": NAN, "age": 20.0}]
    )
    assert by_none == by_nan


def test_data_that_hold_the_other_spelling_are_refused_in_a_sentence():
    rows = ROWS.astype({"job": object})
    rows.loc[5, "job"] = None
    with pytest.raises(UnknownValueError, match="row 5: feature 'job' holds None"):
        nn2rules.extract(model(), data=rows)
