"""Every mistake is one sentence, and no file is touched."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.neural_network import MLPClassifier
from typer.testing import CliRunner

import nn2rules
from nn2rules.files import safe_files as folders
from research.__main__ import app
from research.experiments import run
from research.experiments.study import MARK, RESULTS

PATHS = (ROOT := Path(__file__).parents[3], ROOT / "src")
FILES = {"index.html": MARK.encode(), "tables/fidelity.md": b"new", "timings.md": b"1"}


def refused(*args):
    """Run the command where it must fail; return its one sentence."""
    result = CliRunner().invoke(app, [*map(str, args)])
    assert result.exit_code == 2, result
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("error: ").strip()


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def csv(text, name="mine.csv"):
    with open(name, "w", encoding="utf-8") as stream:
        stream.write(text)
    return name


GOOD = "a,y\n" + "1,no\n2,yes\n" * 15


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--datasets", "car,iris"),
            "datasets: 'iris' is not a data set of the paper; these are car, nursery, "
            "contraception, adult",
        ),
        (("--datasets", ","), "datasets: none are given; there are car, nursery, "),
        (("--seeds", 0), "seeds: 0, expected 1 or more networks"),
        (("--seed", -1), "seed: -1, expected a whole number from 0 on"),
        (("--labels", "y"), "labels belongs to rows of your own; give data, too"),
        (("--model", "m.onnx"), "model belongs to rows of your own; give data, too"),
        (("--data", "no.csv", "--labels", "y"), "no.csv: there is no such file"),
        (
            ("--data", "mine.csv", "--datasets", "car"),
            "datasets are the paper's, data are your own; give only one",
        ),
        (("--data", "mine.csv"), "labels: say which column of the data holds the true"),
        (
            ("--data", "mine.csv", "--labels", "z"),
            "mine.csv: there is no column 'z'; the columns are a, y",
        ),
        (
            ("--data", "mine.csv", "--labels", "y", "--model", "no.onnx"),
            "no.onnx: there is no such file",
        ),
    ],
)
def test_options(options, words):
    csv(GOOD)
    assert refused("-o", "out", *options).startswith(words)
    assert os.listdir() == ["mine.csv"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,y\n1,no\n", "1 row, expected 20 or more"),
        ("a;y\n" + "1;no\n" * 9, "its columns seem to be separated by semicolons, ex"),
        ("y\n" + "no\nyes\n" * 10, "there is no column besides 'y'"),
        (
            GOOD + "3,\n",
            "line 32: the column 'y' is empty, expected a class",
        ),
        (
            "a,y\n" + "1,no\n" * 30,
            "the column 'y' has 1 different value, expected 2 to",
        ),
        (GOOD + "3,maybe\n", "the column 'y' has the class 'maybe' in one row only"),
        (
            "a,y\n" + "".join(f"1,{n}\n" for n in range(30)),
            "the column 'y' has 30 different values, expected 2 to 20 classes",
        ),
    ],
)
def test_data(text, words):
    csv(text)
    found = refused("-o", "out", "--data", "mine.csv", "--labels", "y")
    place = "mine.csv, " if words.startswith("line") else "mine.csv: "
    assert found.startswith(place + words)
    assert os.listdir() == ["mine.csv"]


def test_a_model_of_other_classes():
    rows = nn2rules.datasets.load("tomato").train
    lines = [",".join(row.values()) for row in rows.rows] * 5
    text = "".join(f"{line},{'ab'[i % 2]}\n" for i, line in enumerate(lines))
    csv(f"{','.join(rows.columns)},y\n{text}")
    model = nn2rules.datasets.network_file("tomato")
    options = ("--data", "mine.csv", "--labels", "y", "--model", model)
    words = "which the model does not know; its classes are unripe, ripe"
    assert refused("-o", "out", *options).endswith(words)


@pytest.mark.parametrize(
    "name", ["notes.txt", "index.html", "tables/notes.md", "figures", "timings.md"]
)
def test_folders_with_files_of_others(name):
    path = os.path.join("out", name)
    os.makedirs(os.path.dirname(path))
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("mine")
    words = refused("-o", "out", "--datasets", "car", "--seeds", 1)
    assert words == (
        f"out: the folder contains {name}, which is not a result of this command; use "
        f"a new or an empty folder"
    )
    with open(path, encoding="utf-8") as stream:
        assert stream.read() == "mine"


def test_folders_that_cannot_be():
    csv("x", "file")
    assert refused("-o", "file") == "file: this is a file, expected a folder"
    assert refused("-o", "no/out").startswith("no/out: there is no folder ")


def test_a_new_an_empty_and_an_old_folder(tmp_path):
    for name in ("new", "empty"):
        if name == "empty":
            (tmp_path / name).mkdir()
        assert RESULTS.write(name, FILES).read_text() == MARK
        assert (tmp_path / name / "tables" / "fidelity.md").read_bytes() == b"new"
    RESULTS.write("new", {"index.html": MARK.encode(), "timings.md": b"2"})
    assert (tmp_path / "new" / "timings.md").read_bytes() == b"2"
    assert not (tmp_path / "new" / "tables" / "fidelity.md").exists()
    assert sorted(os.listdir()) == ["empty", "new"]
    RESULTS.check("new")


@pytest.mark.parametrize(
    ("place", "step"), [(folders, "_fill"), (folders.Results, "_replace")]
)
def test_an_interruption_leaves_no_trace(place, step, monkeypatch):
    RESULTS.write("out", FILES)

    def stop(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(place, step, stop)
    with pytest.raises(KeyboardInterrupt):
        RESULTS.write("out", FILES | {"timings.md": b"2"})
    assert os.listdir() == ["out"]
    with open("out/timings.md", "rb") as stream:
        assert stream.read() == b"1"


def test_ctrl_c_waits_until_the_folder_is_whole(monkeypatch):
    RESULTS.write("out", FILES)
    replace = folders.Results._replace

    def interrupted(*args):
        signal.raise_signal(signal.SIGINT)
        replace(*args)

    monkeypatch.setattr(folders.Results, "_replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        RESULTS.write("out", FILES | {"timings.md": b"2"})
    assert os.listdir() == ["out"]
    with open("out/timings.md", "rb") as stream:
        assert stream.read() == b"2"


def test_ctrl_c_in_the_training_is_not_taken_for_its_end(monkeypatch):
    def interrupt(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(MLPClassifier, "_backprop", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run("out", datasets=["car"], seeds=1)
    assert os.listdir() == []


def test_interrupted_on_the_command_line():
    def stop(_what, _share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run("out", datasets=["car"], seeds=1, progress=stop)
    assert os.listdir() == []


def test_ctrl_c_is_130(monkeypatch):
    def stop(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("research.experiments.run", stop)
    result = CliRunner().invoke(app, ["-o", "out"])
    assert (result.exit_code, result.stderr) == (130, "interrupted\n")


def test_a_missing_library_is_one_sentence():
    code = (
        "import sys; sys.modules['matplotlib'] = None; "
        "from research.__main__ import app; app(['-o', 'out'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, PATHS))},
    )
    assert done.returncode == 2, done.stderr
    assert 'pip install ".[plot]"' in done.stderr
    assert "Traceback" not in done.stderr
