"""None, NaN, NA and NaT: what the model takes for missing, and what it does not."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from typer.testing import CliRunner

import nn2rules
from nn2rules import UnknownValueError
from nn2rules.cli.app import app
from nn2rules.export import export
from nn2rules.export.bulk import predict_file
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
    rules = nn2rules.extract(fitted, data=ROWS, form="rules")
    assert list(rules.predict([as_nan])) == ["good"]
    told = (
        "row 0: feature 'job' holds None, which the model does not treat as "
        "missing; write missing cells as in the model's training data, such as "
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
    rules = nn2rules.extract(model(), data=ROWS, form="rules")
    refused = rules.certificate["model"]["not_missing"]
    assert "None" in refused["job"]
    assert "NaN" not in refused["job"]
    told = (
        "MISSING VALUES: the model does not treat some spellings as missing (job: None"
    )
    assert told in " ".join(str(rules).split())
    again = from_json(to_json(rules))
    assert again == rules
    with pytest.raises(UnknownValueError, match="'job' holds None"):
        again.predict([{"job": None, "age": 40.0}])


def test_numbers_and_spellings_that_mean_the_same_stay_missing():
    rules = nn2rules.extract(model(), data=ROWS, form="rules")
    assert "age" not in rules.certificate["model"]["not_missing"]
    rows = [{"job": "clerk", "age": cell} for cell in (None, NAN)]
    assert len(set(rules.predict(rows))) == 1


def test_none_on_which_the_model_itself_fails_is_missing():
    rules = nn2rules.extract(model(unknown="error"), data=ROWS, form="rules")
    assert "not_missing" not in rules.certificate["model"]
    [by_none, by_nan] = rules.predict(
        [{"job": None, "age": 20.0}, {"job": NAN, "age": 20.0}]
    )
    assert by_none == by_nan


def test_data_that_hold_the_other_spelling_are_refused_in_a_sentence():
    rows = ROWS.astype({"job": object})
    rows.loc[5, "job"] = None
    with pytest.raises(UnknownValueError, match="row 5: feature 'job' holds None"):
        nn2rules.extract(model(), data=rows, form="rules")


@pytest.mark.parametrize("text", ["", "missing"])
def test_a_text_that_the_model_tells_from_missing_is_refused(text):
    fitted = model()
    row = {"job": text, "age": 40.0}
    frame = pd.DataFrame([row, {"job": NAN, "age": 40.0}])
    assert list(fitted.predict(frame)) == ["bad", "good"]  # else nothing is shown
    rules = nn2rules.extract(fitted, data=ROWS, form="rules")
    told = f"feature 'job' holds {text!r}, which the model does not treat as missing"
    for rows in ([row], frame):
        with pytest.raises(UnknownValueError, match=told):
            rules.predict(rows)
    with pytest.raises(UnknownValueError, match=told):
        nn2rules.explain(fitted, row, data=ROWS)
    assert list(rules.predict([row], unknown="none")) == [None]
    assert "empty text or text 'missing'" in " ".join(str(rules).split())
    again = from_json(to_json(rules))
    with pytest.raises(UnknownValueError, match=told):
        again.predict([row])
    space = {}
    exec(export(rules, "python"), space)
    assert space["predict"](row) is None
    assert space["predict"]({"job": None, "age": 40.0}) == "good"


def test_texts_for_missing_numbers_are_refused_where_the_model_tells_them_apart():
    rows = pd.DataFrame({"age": pd.Series([1, 2, NAN, 3] * 10, dtype=object)})
    encode = OneHotEncoder(handle_unknown="ignore")
    fitted = make_pipeline(encode, LogisticRegression()).fit(rows, LABELS)
    rules = nn2rules.extract(fitted, data=rows, form="rules")
    text = pd.DataFrame({"age": pd.Series(["NA"], dtype=object)})
    [expected] = fitted.predict(text)
    found = list(rules.predict(text, unknown="none"))
    assert found in ([expected], [None])
    assert "text 'NA'" in rules.certificate["model"]["not_missing"]["age"]


def test_a_word_of_the_feature_is_never_refused():
    rows = ROWS.assign(job=["", "cook", NAN, "judge"] * 10)
    rules = nn2rules.extract(model(), data=rows, form="rules")
    assert list(rules.predict(rows[:1])) == list(model().predict(rows[:1]))


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_an_empty_cell_of_a_file_is_missing_whatever_its_spelling(tmp_path, end):
    rules = nn2rules.extract(model(), data=ROWS, form="rules")
    frame = pd.DataFrame({"job": ["", None, "cook"], "age": [40.0, 40.0, 40.0]})
    rows, output = tmp_path / f"rows.{end}", tmp_path / "answers.csv"
    if end == "csv":
        frame.to_csv(rows, index=False)
    else:
        frame.to_parquet(rows)
    rules.save(tmp_path / "rules.json")
    asked = ["predict", str(tmp_path / "rules.json"), str(rows)]
    printed = CliRunner().invoke(app, asked)
    assert printed.exit_code == 0, printed.output
    predict_file(rules, rows, output)
    for text in (printed.output, output.read_text()):
        assert list(pd.read_csv(io.StringIO(text)).prediction) == [
            "good",
            "good",
            "bad",
        ]
