"""Work on clusters: the same to the last bit, also if a worker dies.

Each engine is started once, as that takes longest. A process of the pool of tests that
has no Java, or lacks an engine, leaves it out.
"""

import os
import shutil
import signal
import socket
import sys
import time
import warnings
from itertools import pairwise
from pathlib import Path

import joblib
import numpy as np
import pytest
from joblib.parallel import get_active_backend
from typer.testing import CliRunner

import errands
import nn2rules
from nn2rules import (
    ClusterError,
    MissingExtraError,
    OptionError,
    RetryWarning,
    datasets,
)
from nn2rules.cli import app
from nn2rules.engine import Meter, build_table
from nn2rules.engine import parallel as clusters_module
from nn2rules.engine.parallel.spread import (
    as_completed,
    is_remote,
    shared_workers,
    spread,
)
from nn2rules.version import install_command

LIBRARIES = {
    "dask": ["distributed"],
    "ray": ["ray"],
    "spark": ["pyspark", "joblibspark"],
}
CAR = nn2rules.load(datasets.network_file("car"))
ROWS = datasets.load("car").train.rows[:300]
SEARCH = {"scope": "support", "form": "set", "engine": "search"}


@pytest.fixture(scope="module", params=[*LIBRARIES, "processes"])
def engine(request):
    """Have a cluster on this machine, with two workers that find the tests."""
    kind = request.param
    for library in LIBRARIES.get(kind, ()):
        pytest.importorskip(library)
    if kind == "spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    before = os.environ.get("PYTHONPATH")
    paths = [str(Path(__file__).parents[1]), *([before] if before else [])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)  # Spark's workers have no other
    url = kind if kind == "processes" else f"{kind}://local?workers=2"
    try:
        with nn2rules.cluster(url):
            yield kind
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before
    assert not is_remote()


@pytest.fixture(scope="module")
def alone():
    """Return what one thread finds."""
    with joblib.parallel_config(backend="threading", n_jobs=1):
        return build_table(CAR), nn2rules.extract(CAR, ROWS, **SEARCH)


# What is found


def test_work_goes_there_in_order(engine):
    assert is_remote()
    pids = set(spread(errands.whoami, None, range(40), meter=Meter()))
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= 4
    tasks = list(range(30))
    results = list(spread(errands.times, 3, tasks, meter=Meter()))
    assert results == [3 * task for task in tasks]
    done = as_completed(errands.times, 3, tasks[:5], meter=Meter())
    assert sorted(done) == list(enumerate(results[:5]))


def test_the_backend_of_the_user_stays_as_it_is(engine):
    backend, _ = get_active_backend()
    assert list(spread(errands.times, 2, range(4), meter=Meter())) == [0, 2, 4, 6]
    own = vars(backend)
    assert not [name for name in own if callable(getattr(type(backend), name, None))]
    assert not [name for name in own if "nn2rules" in name]


def test_a_table_and_rules_are_those_of_one_thread(engine, alone):
    table, rules = alone
    there = build_table(CAR)
    assert np.array_equal(there.classes, table.classes)
    assert (there.smallest_margin, there.fragile) == (
        table.smallest_margin,
        table.fragile,
    )
    found = nn2rules.extract(CAR, ROWS, **SEARCH)
    assert found == rules
    assert nn2rules.files.to_json(found) == nn2rules.files.to_json(rules)


def test_errors_of_the_work_come_back_once(engine, tmp_path):
    tasks = [(number, "unknown" if number == 5 else None) for number in range(8)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RetryWarning)
        with pytest.raises(nn2rules.UnknownValueError) as raised:
            list(spread(errands.fails, str(tmp_path), tasks, meter=Meter()))
    assert vars(raised.value) == vars(errands.ERRORS["unknown"]())
    assert len(list(tmp_path.iterdir())) == 1


def test_ctrl_c_is_whose_it_was(engine):
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_time_ends_work(engine):
    meter = Meter(nn2rules.Budget(seconds=0.5))
    with pytest.raises(nn2rules.BudgetExceededError, match=r"of 0\.5 seconds is spent"):
        list(spread(errands.endless, None, range(6), meter=meter))


def test_a_worker_that_dies_changes_nothing_and_is_reported(engine, alone, tmp_path):
    table, _ = alone
    edges = range(0, CAR.domain.n_inputs + 1, 48)
    tiles = list(pairwise(edges))
    shared = (CAR, str(tmp_path / "died"))
    with pytest.warns(RetryWarning) as warned:
        parts = list(spread(errands.classifies, shared, tiles, meter=Meter()))
    assert (tmp_path / "died").exists()
    assert np.array_equal(np.concatenate([part[0] for part in parts]), table.classes)
    assert any("worker" in str(warning.message) for warning in warned)
    with warnings.catch_warnings():  # and it works on
        warnings.simplefilter("error", RetryWarning)
        assert list(spread(errands.times, 2, range(9), meter=Meter()))[-1] == 16


def test_rules_are_the_same_if_a_worker_is_killed_from_outside(engine, alone):
    if engine == "spark":
        pytest.skip("it takes long; the test before has a worker that dies")
    killed = []

    def progress(what, share):
        if not killed:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    with shared_workers(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RetryWarning)  # it may have been idle
        pids = list(spread(errands.whoami, None, range(20), meter=Meter()))
        rules = nn2rules.extract(CAR, ROWS, **SEARCH, progress=progress)
    assert killed
    assert rules == alone[1]


def test_work_that_always_kills_its_worker_is_an_error(engine):
    if engine in ("ray", "spark"):
        pytest.skip("as with processes, but in ten seconds and more")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RetryWarning)
        with pytest.raises(ClusterError) as raised:
            list(spread(errands.dies, None, [1, 2], meter=Meter()))
    said = str(raised.value)
    assert said.startswith("giving up after 4 worker failures; last error: ")
    assert "\n" not in said
    assert list(spread(errands.times, 2, [1, 2], meter=Meter())) == [2, 4]


def test_many_models_go_there(engine, tmp_path):
    plan = tmp_path / "models.toml"
    plan.write_text(
        "".join(
            f"[[model]]\nname = '{name}'\nmodel = '{datasets.network_file(name)}'\n"
            for name in ("tomato", "car")
        )
    )
    there = nn2rules.extract_many(plan, tmp_path / "there", outside=True)
    with nn2rules.cluster("threads"):
        here = nn2rules.extract_many(plan, tmp_path / "here", n_jobs=1, outside=True)
    assert there.is_done
    assert here.is_done
    for name in ("tomato.json", "car.json"):
        made = (tmp_path / "there" / name).read_bytes()
        assert made == (tmp_path / "here" / name).read_bytes()


# Where it is


@pytest.mark.parametrize(
    "url",
    [
        "",
        "dask",
        "dask://",
        "dask://host",
        "dask://host:no",
        "dask://auto",
        "dask://host:1/path",
        "dask://host:1?workers=2",
        "dask://local?workers=two",
        "dask://local?cores=2",
        "http://host:80",
        "host:8786",
        "process",
        None,
        7,
    ],
)
def test_urls_that_are_none(url):
    with pytest.raises(OptionError) as raised, nn2rules.cluster(url):
        pass
    assert str(raised.value).startswith(f"cluster: {url!r}, expected dask://HOST:PORT")


@pytest.mark.parametrize("kind", LIBRARIES)
def test_an_address_without_a_cluster_is_refused(kind):
    for library in LIBRARIES[kind]:
        pytest.importorskip(library)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = time.monotonic()
    url = f"{kind}://127.0.0.1:{port}"
    with pytest.raises(ClusterError) as raised, nn2rules.cluster(url):
        pass
    assert str(raised.value) == (
        f"{url}: cannot connect (Connection refused); check that the cluster is "
        f"running and can be reached from here"
    )
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("kind", LIBRARIES)
def test_a_missing_library_is_named(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, LIBRARIES[kind][0], None)
    with (
        pytest.raises(MissingExtraError) as raised,
        nn2rules.cluster(f"{kind}://local"),
    ):
        pass
    assert str(raised.value).endswith(install_command(kind))


def test_threads_and_processes():
    before = get_active_backend()
    with nn2rules.cluster("threads"):
        assert not is_remote()
    with nn2rules.cluster("processes"):
        assert is_remote()
    assert get_active_backend() == before


def test_the_name_is_that_of_the_function():
    """A module of the same name would take its place when it is imported."""
    assert callable(nn2rules.cluster)
    assert nn2rules.cluster is clusters_module.cluster


# The command line


def test_commands_work_on_a_cluster(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("net.json").write_text(datasets.network_file("tomato").read_text())
    Path("rows.csv").write_text("color,size\nred,big\nyellow,small\n")
    nn2rules.extract(nn2rules.load("net.json")).save("rules.json")
    Path("models.toml").write_text("[[model]]\nname = 'a'\nmodel = 'net.json'")
    for command in (
        ["check", "net.json", "rules.json"],
        ["explain", "net.json", "rows.csv"],
        ["audit", "net.json", "--data", "rows.csv"],
    ):
        results = [
            CliRunner().invoke(app, [*command, *more])
            for more in ([], ["--cluster", "threads"], ["--cluster", "processes"])
        ]
        assert {result.exit_code for result in results} == {0}
        assert len({result.stdout for result in results}) == 1
    many = ["extract-many", "models.toml", "-o", "made"]
    result = CliRunner().invoke(app, [*many, "--cluster", "nowhere"])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: cluster: 'nowhere', expected dask://")
    assert not Path("made").exists()
    assert CliRunner().invoke(app, [*many, "--cluster", "processes"]).exit_code == 0
