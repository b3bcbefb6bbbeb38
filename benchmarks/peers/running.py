"""Environments, workers and the file of results."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from peers.registry import ENVIRONMENTS, PEERS, SUMMARIES
from peers.tables import BUILD, N_FOLDS, REPETITIONS, Table

HERE = Path(__file__).parent
RESULTS = HERE / "results.jsonl"
TASKS = {"classify": PEERS, "summarize": SUMMARIES}
SECONDS = 300
"""A fold that takes longer is an error; of processor time, for other work may go on."""
WAIT = 6000
"""A worker that gives no result for so long, by the clock, is stopped."""

Line = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One fold of one table for one peer."""

    task: str
    peer: str
    table: str
    digest: str
    fold: int

    @property
    def environment(self) -> str:
        """Where it runs."""
        return TASKS[self.task][self.peer].environment

    @property
    def order(self) -> dict[str, Any]:
        """What the worker is told."""
        return {
            "task": self.task,
            "function": TASKS[self.task][self.peer].function,
            "file": str(_file(self.table)),
            "fold": self.fold,
        }


def jobs(
    tables: Sequence[Table], peers: Sequence[str], repetitions: int = REPETITIONS
) -> list[Job]:
    """Return all jobs, those of the first repetition first."""
    digests = {table.name: stored(table) for table in tables}
    return [
        Job(task, name, table.name, digests[table.name], fold)
        for repetition in range(repetitions)
        for task, known in TASKS.items()
        for name, peer in known.items()
        if name in peers
        for table in tables
        if peer.more_classes or len(table.classes) == 2
        for fold in range(N_FOLDS * repetition, N_FOLDS * (repetition + 1))
        if fold < table.n_folds
    ]


def run(todo: Sequence[Job], results: Path) -> Iterator[tuple[Job, Line]]:
    """Run the jobs that have no line yet, write their lines, and return them."""
    _replace(results, _whole(results))  # without a line that was cut off
    done = {job_of(line) for line in read(results)}
    left = [job for job in todo if job not in done]
    for environment, some in groupby(left, key=lambda job: job.environment):
        batch = list(some)
        while batch:
            answered = 0
            for job, line in zip(batch, _answers(environment, batch)):
                answered += 1
                _append(results, job, line)
                yield job, line
            if answered < len(batch):  # it crashed, or was stopped
                line = {"error": "the process ended"}
                _append(results, batch[answered], line)
                yield batch[answered], line
            batch = batch[answered + 1 :]


def job_of(line: Line) -> Job:
    """Return whose line it is."""
    return Job(*(line[key] for key in ("task", "peer", "table", "digest", "fold")))


def stored(table: Table) -> str:
    """Write a table for the workers; return its digest."""
    columns = {
        name: [None if pd.isna(value) else value for value in table.rows[name]]
        for name in table.rows
    }
    content = json.dumps(
        {
            "columns": columns,
            "categorical": table.categorical,
            "labels": table.labels.tolist(),
            "folds": [test.tolist() for _, test in table.folds()],
        }
    )
    file = _file(table.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, "utf-8")
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def facts_of(table: Table) -> dict[str, Any]:
    """Return what the page tells about a table."""
    _, counts = np.unique(table.labels.astype(str), return_counts=True)
    return {
        "target": table.target,
        "classes": table.classes,
        "rows": len(table.rows),
        "numeric": table.rows.shape[1] - len(table.categorical),
        "categorical": len(table.categorical),
        "missing": int(table.rows.isna().any().sum()),
        "majority": round(float(counts.max() / counts.sum()), 6),
        "folds": table.n_folds,
        "source": table.source,
        "licence": table.licence,
        "digest": stored(table),
    }


def _file(table: str) -> Path:
    return BUILD / "tables" / f"{table}.json"


def read(results: Path = RESULTS) -> list[Line]:
    """Return all lines; a last one that was cut off is left out."""
    return [json.loads(line) for line in _whole(results).splitlines()]


def _whole(results: Path) -> str:
    text = results.read_text("utf-8") if results.exists() else ""
    return "".join(text.rpartition("\n")[:2])


def forget(results: Path, peers: Sequence[str], *, errors_only: bool) -> None:
    """Remove the lines of these peers, or those of their folds that failed."""
    kept = [
        line
        for line in read(results)
        if line["peer"] not in peers or (errors_only and "error" not in line)
    ]
    _replace(results, "".join(json.dumps(line) + "\n" for line in kept))


def _replace(results: Path, text: str) -> None:
    beside = results.with_suffix(".new")
    beside.write_text(text, "utf-8")
    beside.replace(results)


def _append(results: Path, job: Job, line: Line) -> None:
    with results.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**vars(job), **line}) + "\n")


def python_of(environment: str) -> Path:
    """Return the interpreter of an environment, which is made if it is not there."""
    packages = ENVIRONMENTS[environment]
    if not packages:
        return Path(sys.executable)
    folder = BUILD / "envs" / environment
    done, wanted = folder / "complete.txt", "\n".join(packages)
    python = folder / "bin" / "python"
    if not done.exists() or done.read_text("utf-8") != wanted:
        uv = [sys.executable, "-m", "uv"]
        shutil.rmtree(folder, ignore_errors=True)
        base = ["--python", sys.executable, str(folder)]
        subprocess.run([*uv, "venv", "--quiet", *base], check=True)
        into = ["--python", str(python), *packages]
        subprocess.run([*uv, "pip", "install", "--quiet", *into], check=True)
        done.write_text(wanted, "utf-8")
    return python


def _answers(environment: str, batch: Sequence[Job]) -> Iterator[Line]:
    """Run a worker and return its lines as they come; stop it when it hangs."""
    with subprocess.Popen(
        [str(python_of(environment)), "-m", "peers.worker", str(SECONDS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_variables(),
        text=True,
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            worker.stdin.write(json.dumps([job.order for job in batch]))
            worker.stdin.close()
            while True:
                timer = threading.Timer(WAIT, worker.kill)
                timer.start()
                line = worker.stdout.readline()
                timer.cancel()
                if not line:
                    return
                yield json.loads(line)
        finally:
            worker.kill()


def _variables() -> dict[str, str]:
    """Return the environment variables of a worker: one thread, and our modules."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    paths = [str(HERE.parent), os.environ.get("PYTHONPATH", "")]
    path = os.pathsep.join(part for part in paths if part)
    return {**os.environ, **threads, "PYTHONPATH": path}
