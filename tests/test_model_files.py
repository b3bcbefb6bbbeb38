"""Model files, in Python and on the command line."""

import sys

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
import torch
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
from typer.testing import CliRunner

import nn2rules
from nn2rules import FormatError, MissingExtraError, cli, load_model


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 70, 300),
            "job": rng.choice(["cook", "nurse", "smith"], 300),
        }
    )


@pytest.fixture(scope="module")
def folder(people, tmp_path_factory):
    """Return a folder with rows and with one model in several kinds of files."""
    folder = tmp_path_factory.mktemp("models")
    labels = np.where((people["age"] > 40) ^ (people["job"] == "cook"), "yes", "no")
    pipeline = make_pipeline(
        make_column_transformer(
            (KBinsDiscretizer(4, strategy="uniform"), ["age"]),
            (OneHotEncoder(), ["job"]),
        ),
        MLPClassifier((4,), max_iter=300, random_state=0),
    ).fit(people, labels)
    people.assign(label=labels).to_csv(folder / "rows.csv", index=False)
    joblib.dump(pipeline, folder / "model.joblib")
    skops.io.dump(pipeline, folder / "model.skops")
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()).eval()
    torch.save(module, folder / "module.pt")
    torch.save(module.state_dict(), folder / "weights.pt")
    whole = (folder / "model.skops").read_bytes()
    (folder / "cut.skops").write_bytes(whole[: len(whole) // 2])
    (folder / "cut.pkl").write_bytes((folder / "model.joblib").read_bytes()[:50])
    (folder / "cut.pt2").write_bytes(b"PK nonsense")
    (folder / "cut.onnx").write_bytes(b"\x08\x07\x12")
    (folder / "old.h5").write_bytes(b"HDF")
    return folder


def run(folder, *args):
    result = CliRunner().invoke(
        cli.app, [str(folder / a) if "." in a[1:] else a for a in args]
    )
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("name", "trust"), [("model.skops", False), ("model.joblib", True)]
)
def test_a_pipeline_from_a_file_answers_as_its_rules_do(folder, people, name, trust):
    model = load_model(folder / name, trust=trust)
    rules = nn2rules.extract(model, data=people)
    assert (rules.predict(people) == model.predict(people)).all()
    assert rules.domain.feature("age").edges is not None


def test_the_command_line_reads_models(folder):
    rows = ("--data", "rows.csv", "--target", "label")
    code, text = run(folder, "extract", "model.skops", *rows)
    assert code == 0
    assert "age" in text
    files = ("-o", "rules.json", "--network", "network.json")
    code, text = run(folder, "extract", "model.joblib", "--trust", *rows, *files)
    assert code == 0
    assert "equal to the network on every input" in text
    for model in (("network.json",), ("model.skops",), ("model.joblib", "--trust")):
        code, text = run(folder, "check", *model, "rules.json")
        assert (code, text.split(":")[0]) == (0, "EQUAL")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("model.joblib", "this is a pickle, and reading one runs whatever program"),
        ("module.pt", "this is a pickled PyTorch module, and reading one runs"),
        ("weights.pt", "this file holds weights without their network"),
        ("cut.skops", "not a whole .skops file"),
        ("cut.pt2", "not a whole file of torch.export.save"),
        ("cut.onnx", "no ONNX model, or only a part of one"),
        ("old.h5", "the old format of Keras"),
        ("nothing.onnx", "there is no such file"),
        ("rows.csv", "files of models end in .json, .onnx"),
    ],
)
def test_files_that_are_not_read(folder, name, message):
    with pytest.raises(FormatError, match=message) as error:
        load_model(folder / name)
    assert str(error.value).startswith(str(folder / name))
    assert "\n" not in str(error.value)
    code, text = run(folder, "extract", name, "--data", "rows.csv")
    assert code == 2
    assert message in text


def test_a_damaged_pickle_that_is_trusted(folder):
    with pytest.raises(FormatError, match=r"cut\.pkl: cannot be read"):
        load_model(folder / "cut.pkl", trust=True)


def test_labels_that_the_model_does_not_name(folder, people):
    encoder = OneHotEncoder().fit(people[["job"]])
    skops.io.dump(encoder, folder / "encoder.skops")
    module = torch.nn.Linear(3, 1).eval()
    row = torch.zeros(2, 3)
    program = torch.export.export(
        module, (row,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},)
    )
    torch.export.save(program, folder / "line.pt2")
    given = ("line.pt2", "--data", "rows.csv", "--target", "label")
    code, text = run(folder, "extract", *given, "--encoder", "encoder.skops")
    assert code == 2
    assert "predict a number; if it tells two classes apart" in text
    given = (*given, "--gives", "score")
    code, text = run(folder, "extract", *given, "--encoder", "encoder.skops")
    assert code == 2
    assert (
        "holds no, yes, and the model's classes are 0, 1; name them, in this order, "
        "with --classes" in text
    )
    more = ("--encoder", "encoder.skops", "--classes", "no,yes")
    code, text = run(folder, "extract", *given, *more)
    assert code == 0


@pytest.mark.parametrize(
    ("ending", "module"),
    [(".onnx", "onnx"), (".keras", "keras"), (".pt2", "torch"), (".skops", "skops")],
)
def test_a_missing_library_gives_the_pip_command(ending, module, tmp_path, monkeypatch):
    for name in list(sys.modules):
        if name.split(".")[0] == module or name.startswith(
            f"nn2rules.adapters.{module}"
        ):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / f"model{ending}"
    path.write_bytes(b"anything")
    with pytest.raises(MissingExtraError, match=r'pip install "nn2rules\['):
        load_model(path)
