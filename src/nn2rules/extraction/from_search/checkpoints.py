"""Checkpoints: the state of a search in a file, from which the search can resume.

A search proceeds in waves, and each depends only on the state after the one before: the
rules, the boxes that were grown but not chosen, and some counts. So a search that is
resumed ends with the same rules, byte for byte, as one that was never interrupted.
"""

import hashlib
import io
import json
import os
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Oracle
from nn2rules.errors import FormatError, OptionError
from nn2rules.extraction._kernels.proposing import Growth
from nn2rules.extraction.certifying import network_digest
from nn2rules.extraction.from_search.growth_context import Grown, Spare
from nn2rules.extraction.job import Job
from nn2rules.files import check_writable, read_bytes, write_bytes
from nn2rules.language import count
from nn2rules.version import __version__

FORMAT = "nn2rules-checkpoint/1"

_OFTEN = 5.0
"""Seconds between two writes of the file."""

_MOST_BYTES = 1 << 32


@dataclass(frozen=True)
class SearchState:
    """The state of a search between two waves.

    Attributes
    ----------
    allowed, ends, answers
        The rules.
    spare : Spare
        Boxes that the last wave leaves to the next.
    n_rounds, n_before : int
        In the scope "domain", how often uncovered inputs were drawn, and how many rules
        there were the last time.
    n_questions, n_settled, n_boxes : int
        The work so far.
    """

    allowed: Sequence[NDArray[np.bool_]] = ()
    ends: Sequence[NDArray[np.float64]] = ()
    answers: Sequence[int] = ()
    spare: Spare = Spare()  # noqa: RUF009  it is never changed
    n_rounds: int = 0
    n_before: int = 0
    n_questions: int = 0
    n_settled: int = 0
    n_boxes: int = 0


@dataclass
class Checkpoint:
    """A file that is written from time to time, for work with one `key` only.

    Attributes
    ----------
    path : path
    key : str
        The digest of everything that the rules depend on.
    state : SearchState
        The last recorded state; at first the one to resume from.
    """

    path: str | os.PathLike[str]
    key: str
    state: SearchState = field(default_factory=SearchState)
    _written: float = 0.0
    _is_new: bool = False

    def note(self, state: SearchState) -> None:
        """Record the state; write it if the last write is some seconds ago."""
        self.state, self._is_new = state, True
        if time.monotonic() - self._written > _OFTEN:
            self.write()

    def write(self) -> None:
        """Write the state recorded last, if it is not in the file yet."""
        if self._is_new:
            write_bytes(self.path, _packed(self.key, self.state))
            self._written, self._is_new = time.monotonic(), False


def opened(path: str | os.PathLike[str], job: Job, *, resume: bool) -> Checkpoint:
    """Open the checkpoint of a job, new or to resume from.

    Raises
    ------
    OptionError
        If the file exists, but `resume` is false.
    FormatError
        If the file is damaged, or belongs to other work.
    """
    check_writable(path)
    checkpoint = Checkpoint(path, _key(job))
    if not Path(path).exists():
        return checkpoint
    state = _unpacked(path, checkpoint.key)
    if not resume:
        raise OptionError(
            f"{path}: this checkpoint has {count(len(state.answers), 'rule')} of the "
            f"same work; resume from it (resume=True, --resume), or remove it"
        )
    checkpoint.state = state
    return checkpoint


def _key(job: Job) -> str:
    """Return the digest of everything that the rules depend on."""
    digest = hashlib.sha256()
    inputs = [
        FORMAT,
        __version__,
        network_digest(job.network),
        job.form,
        job.scope,
        job.target,
        job.length.max_rules,
        job.limits.effort,
        job.limits.seed,
    ]
    digest.update(json.dumps(inputs).encode())
    digest.update(job.impossible.allowed.tobytes())
    if job.rows is not None:
        codes, numbers = job.rows.distinct
        digest.update(codes.tobytes() + job.rows.weights.tobytes())
        digest.update(b"" if numbers is None else numbers.tobytes())
    digest.update(b"" if job.held_out is None else np.packbits(job.held_out).tobytes())
    return digest.hexdigest()


def _packed(key: str, state: SearchState) -> bytes:
    """Serialise a state: numpy arrays, and a header."""
    kept = state.spare.boxes
    arrays: dict[str, Any] = {
        "allowed": np.array(state.allowed, dtype=np.bool_),
        "ends": np.array(state.ends, dtype=np.float64),
        "answers": np.array(state.answers, dtype=np.int64),
        "kept_answers": np.array([grown.answer for grown in kept], np.int64),
    }
    for place, name in enumerate(Growth._fields):
        arrays[f"kept_{name}"] = np.array([grown.state[place] for grown in kept])
    counts = {name: getattr(state, name) for name in _COUNTS}
    counts["width"] = state.spare.width
    head = {"format": FORMAT, "key": key, "digest": _digest(arrays), **counts}
    stream = io.BytesIO()
    np.savez_compressed(stream, head=np.array(json.dumps(head)), **arrays)
    return stream.getvalue()


_COUNTS = ("n_rounds", "n_before", "n_questions", "n_settled", "n_boxes")


def _digest(arrays: dict[str, Any]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


def _unpacked(path: str | os.PathLike[str], key: str) -> SearchState:
    """Read a file, which must be undamaged and belong to this work."""
    data = read_bytes(path, _MOST_BYTES)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        head = json.loads(str(arrays.pop("head")))
        is_checkpoint = head["format"] == FORMAT
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile):
        is_checkpoint = False
    if not is_checkpoint:
        raise FormatError(
            f"{path}: not a checkpoint ({FORMAT}), or damaged; remove it to start again"
        )
    if head.get("digest") != _digest(arrays):
        raise FormatError(
            f"{path}: the checkpoint is damaged: its digest differs; remove it to "
            f"start again"
        )
    if head.get("key") != key:
        raise FormatError(
            f"{path}: this checkpoint belongs to other work: the network, the rows, "
            f"the options or the version of nn2rules differ; remove it to start again"
        )
    states = [
        Growth(*arrays_of_box)
        for arrays_of_box in zip(
            *(arrays[f"kept_{name}"] for name in Growth._fields), strict=True
        )
    ]
    answers = arrays["kept_answers"].tolist()
    kept = [Grown(*pair) for pair in zip(states, answers, strict=True)]
    return SearchState(
        list(arrays["allowed"]),
        list(arrays["ends"]),
        arrays["answers"].tolist(),
        Spare(kept, int(head["width"])),
        **{name: int(head[name]) for name in _COUNTS},
    )


def restore(state: SearchState, oracle: Oracle) -> None:
    """Restore the counts of an oracle."""
    if state.answers:
        oracle.n_questions, oracle.n_settled = state.n_questions, state.n_settled
        oracle.meter.boxes = state.n_boxes
