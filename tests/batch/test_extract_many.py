"""Rules of many models: what is written, what is left, and what a mistake is told."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import pytest
from rich.console import Console
from typer.testing import CliRunner

import nn2rules
from nn2rules import FormatError, cli, datasets, extract_many
from nn2rules.batch import work
from nn2rules.batch.batch_report import Entry, Report
from nn2rules.batch.plan import KEYS, read_plan
from nn2rules.engine import TerminalProgress

TOMATO = datasets.network_file("tomato").read_text()
CAR = str(datasets.network_file("car"))

PLAN = """\
[defaults]
seed = 3

[[model]]
name = "tomato"
model = "nets/tomato.json"
data = "rows.csv"
form = "set"

[[model]]
name = "car"
model = "nets/car.json"
effort = 0

[[model]]
name = "tomato-ripe"
model = "nets/tomato.json"
target = "ripe"
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("nets").mkdir()
    Path("nets/tomato.json").write_text(TOMATO)
    shutil.copy(CAR, "nets/car.json")
    Path("rows.csv").write_text("color,size\nred,big\nyellow,big\nred,small\n")
    Path("models.toml").write_text(PLAN)


def content(folder="made"):
    """Return the rules in a folder, and the report without what takes time."""
    files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    report = json.loads(files.pop("report.json"))
    for entry in report["models"]:
        entry["seconds"] = None
    return files, report


def run(*args):
    return CliRunner().invoke(cli.app, ["extract-many", *args], prog_name="nn2rules")


def refused(plan, *, file="models.toml", folder="made"):
    """Return the sentence about a plan; nothing is written."""
    if plan is not None:
        Path("models.toml").write_text(plan)
    before = sorted(Path().rglob("*"))
    with pytest.raises(FormatError) as raised:
        extract_many(file, folder)
    assert sorted(Path().rglob("*")) == before
    result = run(file, "-o", folder)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"error: {raised.value}\n"
    return str(raised.value)


# What is written


def test_each_model_gets_what_extract_gives_it():
    report = extract_many("models.toml", "made")
    assert [entry.name for entry in report.models] == ["tomato", "car", "tomato-ripe"]
    assert report.is_done
    tomato, car = nn2rules.load("nets/tomato.json"), nn2rules.load("nets/car.json")
    rows = [
        {"color": "red", "size": "big"},
        {"color": "yellow", "size": "big"},
        {"color": "red", "size": "small"},
    ]
    expected = {
        "tomato.json": nn2rules.extract(tomato, rows, form="set", seed=3),
        "car.json": nn2rules.extract(car, effort=0, seed=3),
        "tomato-ripe.json": nn2rules.extract(tomato, target="ripe", seed=3),
    }
    files, _ = content()
    assert files == {
        name: nn2rules.files.to_json(rules).encode() for name, rules in expected.items()
    }
    entry = report["tomato"]
    assert (entry.rules, entry.rows, entry.rows_covered) == (3, 3, 3)
    assert report["car"].rows is None


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_wherever_they_are_done_they_are_the_same(backend):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        extract_many("models.toml", "there")
    extract_many("models.toml", "here", n_jobs=1)
    assert content("there") == content("here")


def test_workers_that_do_not_see_the_files_get_copies(monkeypatch):
    """As on a cluster without a common disk."""
    extract_many("models.toml", "here")
    monkeypatch.setattr("nn2rules.batch.plan._is_same", lambda *_: False)
    extract_many("models.toml", "there")
    assert content("there") == content("here")
    Path("nets/tomato.json").write_text("{}")
    assert extract_many("models.toml", "there")["tomato"].error.startswith(
        'nets/tomato.json: there is no "format"'
    )


def test_the_command_prints_a_table():
    result = run("models.toml", "-o", "made")
    assert (result.exit_code, result.stderr) == (0, "")
    header, *rows, last = result.stdout.splitlines()
    assert header == "model        rules  rows covered  seconds"
    assert rows[0].split()[:3] == ["tomato", "3", "100%"]
    assert rows[1].split()[2] == "–"
    assert last == "3 of 3 models done"
    result = run("models.toml", "-o", "made")
    assert result.stdout.splitlines()[1].endswith("done earlier")
    assert (
        result.stdout.splitlines()[-1]
        == "3 of 3 models done, 3 of them in an earlier run"
    )


def test_an_error_in_one_model_does_not_stop_the_others():
    Path("nets/car.json").write_text('{"format": "nonsense"}')
    Path("models.toml").write_text(
        PLAN + '[[model]]\nname = "gone"\nmodel = "gone.onnx"\n'
        '[[model]]\nname = "odd"\nmodel = "nets/tomato.json"\ntarget = "blue"\n'
        '[[model]]\nname = "network"\nmodel = "nets/tomato.json"\nthreshold = 0.3\n'
    )
    result = run("models.toml", "-o", "made")
    assert result.exit_code == 2
    lines = result.stdout.splitlines()
    assert lines[2].startswith("car          error: nets/car.json: ")
    assert lines[4:] == [
        "gone         error: gone.onnx: there is no such file",
        "odd          error: target: there is no class 'blue'; the classes are unripe, "
        "ripe",
        "network      error: threshold is for models; a network file contains it",
        "2 of 6 models done, 4 failed",
    ]
    files, report = content()
    assert set(files) == {"tomato.json", "tomato-ripe.json"}
    states = [entry["state"] for entry in report["models"]]
    assert states == ["done", "failed", "done", "failed", "failed", "failed"]


def test_an_error_that_nobody_expected_is_told(monkeypatch):
    def broken(*args, **options):
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(work, "extract", broken)
    report = extract_many("models.toml", "made")
    said = "failed with ZeroDivisionError: of all things"
    assert [entry.error for entry in report.models] == [said] * 3


def test_a_limit_is_an_error_of_its_own():
    Path("models.toml").write_text(PLAN.replace("effort = 0", "time = 0"))
    result = run("models.toml", "-o", "made")
    assert result.exit_code == 3
    assert "car          error: the budget of 0 seconds is spent" in result.stdout
    assert content()[1]["models"][1]["state"] == "stopped"


def test_rows_that_cannot_be_read_are_named_by_their_line():
    Path("rows.csv").write_text("color,size\nred,big\nblue,big\n")
    report = extract_many("models.toml", "made")
    assert report["tomato"].error.startswith("rows.csv, line 3: feature 'color' has no")


def test_options_may_be_lists():
    Path("models.toml").write_text(
        '[[model]]\nname = "a"\nmodel = "nets/tomato.json"\nform = "paper"\n'
        'order = ["size", "color"]\n'
        '[[model]]\nname = "b"\nmodel = "nets/tomato.json"\nform = "paper"\n'
        'order = "size, color"\n'
    )
    extract_many("models.toml", "made")
    files, _ = content()
    assert files["a.json"] == files["b.json"]


# Going on


def tries(monkeypatch):
    """Return a list that gets the name of each model that is worked on."""
    done, attempt = [], work._attempt

    def noted(shared, inputs, meter):
        done.append(inputs.model_plan.name)
        return attempt(shared, inputs, meter)

    monkeypatch.setattr(work, "_attempt", noted)
    return done


def test_only_what_has_changed_is_done_again(monkeypatch):
    done = tries(monkeypatch)

    def again(**options):
        done.clear()
        assert extract_many("models.toml", "made", **options).is_done
        return sorted(done)

    everything = ["car", "tomato", "tomato-ripe"]
    assert again() == everything
    assert again() == []
    assert again(again=True) == everything
    Path("rows.csv").write_text("color,size\nred,big\n")
    assert again() == ["tomato"]
    Path("nets/tomato.json").write_text(TOMATO + "\n")
    assert again() == ["tomato", "tomato-ripe"]
    Path("models.toml").write_text(PLAN.replace("effort = 0", "effort = 1"))
    assert again() == ["car"]
    Path("made/car.json").write_text("someone was here")
    assert again() == ["car"]
    Path("made/tomato.json").unlink()
    assert again() == ["tomato"]
    monkeypatch.setattr("nn2rules.batch.plan.__version__", "0.0.1")
    assert again() == everything
    assert again() == []


def test_what_failed_is_done_again(monkeypatch):
    Path("nets/car.json").rename("car.json")
    assert not extract_many("models.toml", "made").is_done
    done = tries(monkeypatch)
    Path("car.json").rename("nets/car.json")
    assert extract_many("models.toml", "made").is_done
    assert done == ["car"]


def test_numbers_beside_an_onnx_model_count(monkeypatch):
    """They may change while the model's own file stays."""
    Path("net.onnx").write_bytes(b"... location net.weights.bin ...")
    Path("net.weights.bin").write_bytes(b"1")
    Path("other.bin").write_bytes(b"1")
    Path("models.toml").write_text('[[model]]\nname = "a"\nmodel = "net.onnx"\n')
    digests = []
    for name in ("net.weights.bin", "other.bin", "net.weights.bin"):
        (wish,) = read_plan("models.toml")
        digests.append(work.read_inputs(wish).digest)
        Path(name).write_bytes(b"22" + name.encode() + bytes(len(digests)))
    assert digests[0] != digests[1] == digests[2]


@pytest.mark.parametrize("n_done", [0, 1, 2])
def test_a_stop_keeps_what_is_done_and_the_next_run_goes_on(n_done, monkeypatch):
    extract_many("models.toml", "whole")
    done, seen = tries(monkeypatch), []

    def stop(what, share):
        seen.append(share)
        if len(seen) > n_done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        extract_many("models.toml", "made", n_jobs=1, progress=stop)
    report = stopped.value.report
    assert report.count("done") == n_done + 1
    files, on_disk = content()
    assert len(files) == n_done + 1
    assert [entry["state"] for entry in on_disk["models"]].count("left") == 2 - n_done
    done.clear()
    extract_many("models.toml", "made")
    assert len(done) == 2 - n_done
    assert content("made") == content("whole")


SLOW = "".join(
    f'[[model]]\nname = "car-{seed}"\nmodel = "nets/car.json"\nseed = {seed}\n'
    f"effort = {2 if seed else 0}\n"
    for seed in range(3)
)


def _is_of_joblib(line):
    """Tell whether joblib's workers, which end at the same time, warn of themselves."""
    return "resource_tracker" in line or "warnings.warn(" in line or "/loky-" in line


@pytest.mark.parametrize("where", [[], ["--cluster", "processes"]])
def test_ctrl_c_says_how_to_go_on_and_costs_nothing(where):
    Path("models.toml").write_text(SLOW)
    command = [sys.executable, "-m", "nn2rules", "extract-many", "models.toml"]
    with subprocess.Popen(
        [*command, "-o", "made", *where],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            ends = time.monotonic() + 60
            while not list(Path().glob("made/car-*.json")):
                assert time.monotonic() < ends
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            said, told = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    assert said == ""
    finished = len(list(Path().glob("made/car-*.json")))
    left = 3 - finished
    assert left > 0
    noun = "model" if left == 1 else "models"
    lines = [line for line in told.splitlines() if not _is_of_joblib(line)]
    assert lines[-2:] == [
        f"{left} {noun} left; the same command continues from here",
        "interrupted",
    ]
    assert extract_many("models.toml", "made").is_done
    extract_many("models.toml", "whole")
    assert content("made") == content("whole")


def test_an_interrupt_in_threads_does_not_wait_for_the_models():
    Path("models.toml").write_text(SLOW.replace("effort = 2", "effort = 4000"))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    shots = []

    def shoot():
        while not list(Path().glob("made/car-0.json")):
            time.sleep(0.01)
        shots.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=shoot)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            extract_many("models.toml", "made")
        assert time.monotonic() - shots[0] < 5
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)


# Mistakes


def test_mistakes_in_the_plan():
    assert refused(None, file="gone.toml") == "gone.toml: there is no such file"
    assert refused("[[model").startswith("models.toml: this is not valid TOML: ")
    assert refused("") == (
        "models.toml: there is no model; expected a table [[model]] for each"
    )
    assert refused("model = 3").endswith("expected [[model]]")
    assert refused("defaults = 3").endswith("expected [defaults]")
    assert refused("[models]") == (
        "models.toml: there is no key 'models'; expected one of defaults, model"
    )
    assert refused("[[model]]\nname = 'a'\nmodle = 'x'") == (
        f"models.toml, model 1: there is no key 'modle'; expected one of "
        f"{', '.join(KEYS)}"
    )
    assert refused("[defaults]\nname = 'a'\n[[model]]\nname='a'\nmodel='b'").startswith(
        "models.toml, [defaults]: there is no key 'name'; expected one of model, data"
    )
    assert refused(f"{PLAN}[[model]]\nmodel = 'x'") == (
        "models.toml, model 4: there is no name"
    )
    assert refused("[[model]]\nname = 'a'") == "models.toml, model 1: there is no model"


@pytest.mark.parametrize("name", ["", "../a", "a/b", "report", "REPORT", ".a", "a b"])
def test_names_that_are_no_names_of_files(name):
    assert refused(f"[[model]]\nname = '{name}'\nmodel = 'x'") == (
        f"models.toml, model 1: the name {name!r} is not valid for a file; use "
        f"letters, digits and . _ - ('report' is reserved)"
    )


def test_two_models_of_one_name():
    again = "[[model]]\nname = 'Car'\nmodel = 'x'"
    assert refused(f"{PLAN}{again}") == (
        "models.toml: there are two models named 'Car'"
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("effort = 1.5", "effort is 1.5, expected a whole number"),
        ("effort = true", "effort is True, expected a whole number"),
        ("other = 1", "other is 1, expected true or false"),
        ("form = 3", "form is 3, expected a text"),
        ("values = [3]", "values is [3], expected a text, or a list of texts"),
        ("time = 'long'", "time is 'long', expected a number"),
    ],
)
def test_values_of_the_wrong_kind(said, expected):
    plan = f"[[model]]\nname = 'a'\nmodel = 'x'\n{said}"
    assert refused(plan) == f"models.toml, model 1: {expected}"


def test_options_that_make_no_sense_cost_no_time():
    plan = "[[model]]\nname = 'a'\nmodel = 'x'\nform = 'lists'"
    assert refused(plan) == (
        "models.toml, model 1 (a): form: 'lists', expected list or set or paper"
    )


def test_folders_that_are_none_of_ours():
    Path("file").write_text("x")
    assert refused(PLAN, folder="file") == "file: this is a file, expected a folder"
    said = refused(PLAN, folder="no/made")
    assert said == f"no/made: there is no folder {Path('no').resolve()}"
    assert refused(PLAN, folder="nets") == (
        "nets: the folder contains car.json, which is not a result of this command; "
        "use a new or an empty folder"
    )
    Path("other").mkdir()
    Path("other/report.json").write_text("{}")
    said = refused(PLAN, folder="other")
    assert said.endswith("other/report.json: this is not a report of extract-many")


# The report


def test_the_report_is_what_the_file_says():
    report = extract_many("models.toml", "made")
    assert Path("made/report.json").read_text() == report.to_json()
    known = json.loads(report.to_json())
    assert known["format"] == "nn2rules-batch/1"
    assert [entry["name"] for entry in known["models"]] == [
        entry.name for entry in report.models
    ]


def test_a_report_of_errors_alone_is_printed():
    report = Report(
        (Entry("a", "failed", error="no"), Entry("bc", "stopped", error="x"))
    )
    assert str(report) == (
        "model  rules  rows covered  seconds\n"
        "a      error: no\n"
        "bc     error: x\n"
        "0 of 2 models done, 2 failed"
    )


class Touch:
    """Makes a file when it is unpickled."""

    def __reduce__(self):
        return (Path.touch, (Path("ran"),))


@pytest.mark.parametrize("table", ["[[model]]", "[defaults]"])
def test_a_plan_cannot_say_that_it_is_trusted(table):
    Path("m.pkl").write_bytes(pickle.dumps(Touch()))
    model = "[[model]]\nname = 'a'\nmodel = 'm.pkl'\n"
    said = "trust = true\n"
    plan = f"{model}{said}" if table == "[[model]]" else f"{table}\n{said}{model}"
    assert "'trust' is not a key" in (sentence := refused(plan))
    assert "--trust" in sentence
    Path("models.toml").write_text(model)
    assert "if you trust the author" in extract_many("models.toml", "made")["a"].error
    assert not Path("ran").exists()
    assert run("models.toml", "-o", "made", "--trust").exit_code == 2  # no model
    assert Path("ran").exists()


@pytest.mark.parametrize("key", ["model", "data", "encoder"])
@pytest.mark.parametrize("kind", ["absolute", "up", "link", "folder"])
def test_a_plan_names_files_of_its_own_folder(key, kind):
    Path("plans").mkdir()
    shutil.copy("nets/tomato.json", "plans/net.json")
    Path("plans/link").symlink_to(Path("rows.csv").absolute())
    Path("plans/folder").symlink_to(Path().absolute())
    places = {
        "absolute": str(Path("rows.csv").absolute()),
        "up": "../rows.csv",
        "link": "link",
        "folder": "folder/rows.csv",
    }
    files = {"model": "net.json", key: places[kind]}
    lines = "".join(f"{name} = '{file}'\n" for name, file in files.items())
    plan = Path("plans/models.toml")
    plan.write_text(f"[[model]]\nname = 'a'\n{lines}")
    assert f"{key} is " in (sentence := refused(None, file=str(plan)))
    assert "outside the folder of the file" in sentence
    assert len(read_plan(plan, outside=True)) == 1


def test_files_outside_are_read_where_the_user_says_so():
    Path("plans").mkdir()
    Path("plans/models.toml").write_text(
        "[[model]]\nname = 'a'\nmodel = '../nets/tomato.json'"
    )
    assert run("plans/models.toml", "-o", "made", "--outside").exit_code == 0


def test_results_are_not_written_through_links_out_of_the_folder():
    extract_many("models.toml", "made")
    Path("precious").write_text("mine")
    Path("made/car.json").unlink()
    Path("made/car.json").symlink_to(Path("precious").absolute())
    assert "this is a link to another folder" in refused(PLAN)
    assert Path("precious").read_text() == "mine"


def test_a_copy_for_a_worker_does_not_hide_a_link_out_of_the_folder():
    Path("sub").mkdir()
    Path("secret.bin").write_bytes(b"secret")
    Path("sub/weights.bin").symlink_to(Path("secret.bin").absolute())
    Path("sub/net.onnx").write_bytes(b"... location weights.bin ...")
    Path("models.toml").write_text("[[model]]\nname = 'a'\nmodel = 'sub/net.onnx'")
    (wish,) = read_plan("models.toml")
    assert b"secret" not in work.read_inputs(wish).contents.values()


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("x = " + "9" * 5_000, "this is not valid TOML"),
        (f"[[model]]\nname = '{'a' * 300}'\nmodel = 'x'", "300 characters"),
    ],
)
def test_plans_that_would_end_in_a_traceback(plan, said):
    assert said in refused(plan)


def test_the_command_prints_the_report_as_json():
    result = run("models.toml", "-o", "made", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == json.loads(Path("made/report.json").read_text())


def test_the_bar_is_taken_away_at_the_end():
    bar, closed = TerminalProgress(Console(stderr=True)), []
    bar.close = lambda: closed.append(bar)
    assert extract_many("models.toml", "made", progress=bar).is_done
    assert closed == [bar]
