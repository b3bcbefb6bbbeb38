"""Model files, in Python and on the command line."""

import re
import sys
import warnings
import zipfile

import joblib
import numpy as np
import onnx
import pandas as pd
import pytest
import skops.io
import torch
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
)
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import nn2rules
from nn2rules import (
    FormatError,
    MissingExtraError,
    UnsupportedModelError,
    cli,
    load_model,
)
from nn2rules.models import file_checks
from nn2rules.space import Intervals


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
    rules = nn2rules.extract(model, data=people, form="rules")
    assert (rules.predict(people) == model.predict(people)).all()
    assert isinstance(rules.domain.feature("age"), Intervals)


def test_the_command_line_reads_models(folder):
    rows = ("--data", "rows.csv", "--labels", "label")
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


def test_a_file_of_trees_is_refused_as_such(folder, people):
    tree = DecisionTreeClassifier().fit(people[["age"]], people["job"])
    skops.io.dump(tree, folder / "tree.skops")
    with pytest.raises(UnsupportedModelError, match="holds trees, not a neural"):
        load_model(folder / "tree.skops")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("model.joblib", "is a pickle, and loading it can run code"),
        ("module.pt", "is a pickled PyTorch module, and loading it can run"),
        ("weights.pt", "holds only weights, not the network"),
        ("cut.skops", "is damaged, or is not a .skops file"),
        ("cut.pt2", "loading it can run code; export the model to ONNX"),
        ("cut.onnx", "is damaged, or is not an ONNX model"),
        ("old.h5", "has the old HDF5 format of Keras"),
        ("nothing.onnx", "there is no such file"),
        ("rows.csv", "is a file of data, not a model; give a model file (.json, .onnx"),
    ],
)
def test_files_that_are_not_read(folder, name, message):
    with pytest.raises(FormatError, match=re.escape(message)) as error:
        load_model(folder / name)
    assert str(error.value).startswith(str(folder / name))
    assert "\n" not in str(error.value)
    code, text = run(folder, "extract", name, "--data", "rows.csv")
    assert code == 2
    assert message in text


def test_archives_that_would_fill_the_memory_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(file_checks, "MOST_BYTES", 1 << 20)
    for ending in (".skops", ".keras"):
        path = tmp_path / f"bomb{ending}"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("schema.json", bytes(3 << 20))
        assert path.stat().st_size < 10_000
        with pytest.raises(
            FormatError, match="unpacks to 3 MB; nn2rules reads at most 1 MB"
        ):
            load_model(path)


@pytest.mark.parametrize("name", ["a.json", "../a.json", "/a.json", "x/..\\a.json"])
def test_archives_with_odd_members_are_refused(name, tmp_path):
    with (
        zipfile.ZipFile(tmp_path / "odd.skops", "w") as packed,
        warnings.catch_warnings(action="ignore"),
    ):
        packed.writestr("a.json", "{}")
        packed.writestr(name, "{}")
    with pytest.raises(FormatError, match="the archive has an unexpected member"):
        load_model(tmp_path / "odd.skops")


@pytest.mark.parametrize(
    ("library", "ending"),
    [("torch", ".pt"), ("skops", ".skops"), ("keras", ".keras")],
)
def test_libraries_that_run_code_of_files_are_not_used(
    library, ending, folder, tmp_path, monkeypatch
):
    monkeypatch.setattr(file_checks, "version", lambda _name: "0.12.1+old")
    path = tmp_path / f"model{ending}"
    path.write_bytes((folder / "model.skops").read_bytes())
    with pytest.raises(FormatError, match=rf"{library} 0.12.1\+old can run cod"):
        load_model(path)


def test_types_that_skops_does_not_know_are_refused(folder, tmp_path):
    with zipfile.ZipFile(folder / "model.skops") as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    files["schema.json"] = files["schema.json"].replace(b'"MLPClassifier"', b'"Popen"')
    files["schema.json"] = files["schema.json"].replace(
        b'"sklearn.neural_network._multilayer_perceptron"', b'"subprocess"'
    )
    with zipfile.ZipFile(tmp_path / "evil.skops", "w") as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    with pytest.raises(FormatError, match=r"does not know to be harmless .*Popen"):
        load_model(tmp_path / "evil.skops")


@pytest.mark.parametrize("kind", ["up", "absolute", "link"])
def test_numbers_of_onnx_outside_of_the_folder_are_not_read(kind, tmp_path):
    secret, inside = tmp_path / "secret", tmp_path / "model"
    secret.write_bytes(bytes(16))
    inside.mkdir()
    (inside / "link").symlink_to(secret)
    place = {"up": "../secret", "absolute": str(secret), "link": "link"}[kind]
    tensor = onnx.TensorProto(name="w", data_type=1, dims=[4], raw_data=b"")
    onnx.external_data_helper.set_external_data(tensor, place)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    inner = onnx.helper.make_node("Constant", [], ["y"], value=tensor)
    graph = onnx.helper.make_graph([inner], "g", [], [])
    (inside / "model.onnx").write_bytes(
        onnx.helper.make_model(graph).SerializeToString()
    )
    with pytest.raises(FormatError, match=r"in another folder .* not read"):
        load_model(inside / "model.onnx")


def test_a_number_of_parameters_beyond_64_bits(tmp_path):
    tensor = onnx.TensorProto(name="w", data_type=1, dims=[1 << 32, 1 << 32])
    graph = onnx.helper.make_graph([], "g", [], [], [tensor])
    model = onnx.helper.make_model(graph)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(FormatError, match="18,446,744,073,709,551,616 parameters"):
        load_model(tmp_path / "model.onnx")


def test_a_damaged_program_that_is_trusted(folder):
    with pytest.raises(FormatError, match=r"cut\.pt2 is damaged, or is not"):
        load_model(folder / "cut.pt2", trust=True)


def test_a_damaged_pickle_that_is_trusted(folder):
    with pytest.raises(FormatError, match=r"cut\.pkl cannot be loaded"):
        load_model(folder / "cut.pkl", trust=True)


def test_labels_that_the_model_does_not_name(folder, people):
    encoder = OneHotEncoder().fit(people[["job"]])
    skops.io.dump(encoder, folder / "encoder.skops")
    module = torch.nn.Linear(3, 1).eval()
    module.weight.data = torch.tensor([[-2.0, 0.5, 3.0]])  # no probability
    row = torch.zeros(2, 3)
    program = torch.export.export(
        module, (row,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},)
    )
    torch.export.save(program, folder / "line.pt2")
    given = ("line.pt2", "--trust", "--data", "rows.csv", "--labels", "label")
    code, text = run(folder, "extract", *given, "--encoder", "encoder.skops")
    assert code == 2
    assert "as regression models do; if it separates two classes" in text
    given = (*given, "--model-output", "score")
    code, text = run(folder, "extract", *given, "--encoder", "encoder.skops")
    assert code == 2
    assert (
        "holds no, yes, but the model's classes are 0, 1; name the classes in this "
        "order with --classes" in text
    )
    more = ("--encoder", "encoder.skops", "--classes", "no,yes")
    code, text = run(folder, "extract", *given, *more)
    assert code == 0


def test_a_column_that_is_given_as_target(folder):
    """As a feature, the column may stop the model from being read."""
    options = ("--data", "rows.csv", "--target", "label", "--form", "set")
    skops.io.dump(OneHotEncoder().fit([["cook"]]), folder / "label.skops")
    code, text = run(folder, "extract", "model.skops", *options)
    assert code == 2
    assert "the column with the true classes is given by --labels" in text
    code, text = run(folder, "extract", "label.skops", *options)
    assert code == 2
    assert "--target names a class, and 'label' is a column of" in text


PACKAGES = {
    "keras": "keras",
    "onnx": "onnx",
    "skops": "sklearn.files",
    "torch": "torch",
}
"""What of `models` imports a library."""


@pytest.mark.parametrize(
    ("ending", "module"),
    [(".onnx", "onnx"), (".keras", "keras"), (".pt2", "torch"), (".skops", "skops")],
)
def test_a_missing_library_gives_the_pip_command(ending, module, tmp_path, monkeypatch):
    for name in list(sys.modules):
        if name.split(".")[0] == module or name.startswith(
            f"nn2rules.models.{PACKAGES[module]}"
        ):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / f"model{ending}"
    path.write_bytes(b"anything")
    with pytest.raises(MissingExtraError, match=r'pip install ".\['):
        load_model(path)


def hidden(step, column="job"):
    """Return a fitted pipeline with a step on one column."""
    rows = pd.DataFrame({"job": ["a.txt", "b.txt"] * 5, "age": range(10)})
    first = make_column_transformer((step, column))
    return make_pipeline(first, LogisticRegression()), rows, ["x", "y"] * 5


@pytest.mark.parametrize(
    "kind",
    [CountVectorizer, TfidfVectorizer, HashingVectorizer],
    ids=lambda k: k.__name__,
)
@pytest.mark.parametrize("input_", ["filename", "file"])
def test_texts_that_are_names_of_files_are_refused(kind, input_, tmp_path):
    model, rows, labels = hidden(kind())
    model.fit(rows, labels)
    skops.io.dump(model, tmp_path / "good.skops")
    load_model(tmp_path / "good.skops")
    model[0].transformers_[0][1].input = input_
    skops.io.dump(model, tmp_path / "evil.skops")
    with pytest.raises(FormatError, match=f"input='{input_}', so it opens files"):
        load_model(tmp_path / "evil.skops")
    load_model(tmp_path / "evil.skops", trust=True)


@pytest.mark.parametrize(
    ("step", "changes", "message"),
    [
        (
            PolynomialFeatures(2),
            {"_max_degree": 10**9},
            "_max_degree=1000000000, expected",
        ),
        (PolynomialFeatures(2), {"_max_degree": 99}, "degree 99 makes 5,050 columns"),
        (
            PolynomialFeatures(2),
            {"_n_out_full": 10**7},
            "_n_out_full=10000000, expected",
        ),
        (PolynomialFeatures(2), {"n_features_in_": 1e9}, "n_features_in_=1000000000.0"),
    ],
)
def test_steps_that_would_make_wide_tables_are_refused(
    step, changes, message, tmp_path
):
    rows = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 0.0, 1.0, 1.0]})
    model = make_pipeline(step, LogisticRegression()).fit(rows, [0, 1, 0, 1])
    skops.io.dump(model, tmp_path / "good.skops")
    load_model(tmp_path / "good.skops")
    for name, value in changes.items():
        setattr(model[0], name, value)
    skops.io.dump(model, tmp_path / "evil.skops")
    with pytest.raises(FormatError, match=message):
        load_model(tmp_path / "evil.skops")
    load_model(tmp_path / "evil.skops", trust=True)


def test_a_sparse_table_that_would_fill_the_memory_is_refused(tmp_path):
    model, rows, labels = hidden(HashingVectorizer(n_features=16))
    model.fit(rows, labels)
    model[0].transformers_[0][1].n_features = 2**30
    skops.io.dump(model, tmp_path / "evil.skops")
    with pytest.raises(FormatError, match="n_features=1073741824, expected an integer"):
        load_model(tmp_path / "evil.skops")
    trusted = load_model(tmp_path / "evil.skops", trust=True)
    with pytest.raises(UnsupportedModelError, match="a table of 1,073,741,8"):
        nn2rules.extract(trusted, data=rows, form="rules")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.set_params(memory="cache"), "a `memory`, which writes"),
        (lambda model: model[0].set_params(n_jobs=9999), "n_jobs=9999; at most 64"),
        (lambda model: model.steps.insert(1, ("k", KMeans(2))), "has a KMeans, which"),
        (lambda model: setattr(model[1], "x", {"y": [KMeans(2)]}), "has a KMeans"),
    ],
)
def test_estimators_that_do_more_than_compute_are_refused(change, message, tmp_path):
    model, rows, labels = hidden(OneHotEncoder(), ["job"])
    model.fit(rows, labels)
    change(model)
    skops.io.dump(model, tmp_path / "evil.skops")
    with pytest.raises(FormatError, match=message):
        load_model(tmp_path / "evil.skops")
