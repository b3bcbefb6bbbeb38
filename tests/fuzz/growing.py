"""Small files that expand: each is read by a separate process, which is watched.

Whatever is in such a file, reading it gives a result or one sentence, within a minute
of CPU time and a limit of memory. The process is forked from one that has everything
imported. Its memory is measured many times a second, and it is killed if it uses too
much.
"""

import contextlib
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numpy.random import Generator

from fuzz.hostile_models import keras_file, onnx_file, skops_file
from fuzz.hostile_tables import (
    book_file,
    csv_file,
    excel_file,
    json_file,
    packed_csv_file,
    parquet_file,
    plan_file,
    proofs_file,
)
from fuzz.networks import pick

MOST_MEMORY = 1536 << 20
"""Bytes that reading a small file may take, beyond what an idle process has."""

MOST_SECONDS = 60.0
"""Time of the processor that reading a small file may take."""

_PATIENCE = 600.0
"""Seconds after which a process that works little has failed, too."""

Maker = Callable[[Generator, Path], list[str]]
"""Writes hostile files into a folder; returns the command that reads them."""

MAKERS: dict[str, Maker] = {
    "onnx": onnx_file,
    "keras": keras_file,
    "skops": skops_file,
    "json": json_file,
    "csv": csv_file,
    "csv.gz": packed_csv_file,
    "xlsx": excel_file,
    "parquet": parquet_file,
    "books": book_file,
    "toml": plan_file,
    "proofs": proofs_file,
}


def read_growing(rng: Generator) -> int:
    """Read a hostile file of a random kind; a right answer is short and cheap."""
    if not Path("/proc/self/statm").exists():
        return 0  # memory is watched by way of Linux's files
    return read_hostile(pick(rng, [*MAKERS]), rng)


def read_hostile(kind: str, rng: Generator) -> int:
    """Read a hostile file of one kind."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    kept = f"{kind}: the files are in {folder}"
    command = MAKERS[kind](rng, folder)
    code, output, memory, seconds = watched(command, folder)
    shown = f"{kept}\nnn2rules {' '.join(command)}\nexit {code}, "
    shown += f"{memory >> 20} MB, {seconds:.1f} s\n{output[-2000:]}"
    assert memory < MOST_MEMORY, f"too much memory\n{shown}"
    assert seconds < MOST_SECONDS, f"too long\n{shown}"
    assert code in (0, 1, 2, 3), f"no such exit code\n{shown}"
    assert "Traceback" not in output, f"a traceback\n{shown}"
    if code == 2:
        errors = [line for line in output.splitlines() if "error: " in line]
        assert len(errors) == 1, f"not one sentence\n{shown}"
    shutil.rmtree(folder)
    return 1


def watched(command: Sequence[str], folder: Path) -> tuple[int | None, str, int, float]:
    """Run a command; return its exit code, output, memory and time.

    The code is None if it was stopped, since it took too much of one of these.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["fuzz.reading"])
    output = folder / "output.txt"
    process = context.Process(target=_run, args=(list(command), str(folder)))
    process.start()
    started, seconds, most, least = time.monotonic(), 0.0, 0, None
    while process.is_alive():
        taken = _memory(process.pid)
        least = taken if least is None else least
        most = max(most, taken - least)
        seconds = max(seconds, _seconds(process.pid))
        is_late = time.monotonic() - started > _PATIENCE
        if most > MOST_MEMORY or seconds > MOST_SECONDS or is_late:
            process.kill()
        process.join(0.02)
    code = process.exitcode
    is_killed = code is not None and code < 0
    text = output.read_text(errors="replace") if output.exists() else ""
    return None if is_killed else code, text, most, seconds


def _memory(process: int | None) -> int:
    """Return the memory that a process takes now; 0 once it is gone."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
        return int(pages) * resource.getpagesize()
    return 0


def _seconds(process: int | None) -> float:
    """Return the time of the processor that a process has taken; 0 once it is gone."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _run(command: list[str], folder: str) -> None:
    """Run a command in this process, all of its output going to a file."""
    os.chdir(folder)
    descriptor = os.open("output.txt", os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    sys.argv = ["nn2rules", *command]
    code: Any = 99
    try:
        from nn2rules.cli import main

        main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:  # noqa: BLE001  whatever it is, it is to be seen
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 98)
