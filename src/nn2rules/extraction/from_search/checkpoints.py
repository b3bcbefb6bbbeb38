"""What a search has proved so far, kept in a file, so that the work can go on there.

A search is a row of waves, and each follows from what those before it left: the rules,
the boxes that were grown and not chosen, and some counts. So a search that goes on from
a file ends with the same rules, byte for byte, as one that was never stopped.
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
"""Seconds between two times that a file is written."""

_MOST_BYTES = 1 << 32


@dataclass(frozen=True)
class Moment:
    """A search between two waves.

    Attributes
    ----------
    allowed, ends, answers
        The rules.
    spare : Spare
        What the last wave leaves to the next.
    n_rounds, n_before : int
        In the scope "domain", how often inputs were drawn that no rule decides, and how
        many rules there were the last time.
    n_questions, n_settled, n_boxes : int
        What it took.
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
    """A file that is written now and then; of no use to other work than `key` says.

    Attributes
    ----------
    path : path
    key : str
        The digest of all that the rules follow from.
    moment : Moment
        The last that is known: where to go on, at first.
    """

    path: str | os.PathLike[str]
    key: str
    moment: Moment = field(default_factory=Moment)
    _written: float = 0.0
    _is_new: bool = False

    def note(self, moment: Moment) -> None:
        """Keep what is proved by now; write it, if that was not done for a while."""
        self.moment, self._is_new = moment, True
        if time.monotonic() - self._written > _OFTEN:
            self.write()

    def write(self) -> None:
        """Write what was noted last, if it is not in the file yet."""
        if self._is_new:
            write_bytes(self.path, _packed(self.key, self.moment))
            self._written, self._is_new = time.monotonic(), False


def opened(path: str | os.PathLike[str], job: Job, *, resume: bool) -> Checkpoint:
    """Return the checkpoint of some work, to begin with or to go on from.

    Raises
    ------
    OptionError
        If there is a file already, and it is not said that the work goes on from it.
    FormatError
        If the file is damaged, or of other work.
    """
    check_writable(path)
    found = Checkpoint(path, _key(job))
    if not Path(path).exists():
        return found
    moment = _unpacked(path, found.key)
    if not resume:
        raise OptionError(
            f"{path}: this checkpoint holds {count(len(moment.answers), 'rule')} of "
            f"the same work; go on from it (resume=True, --resume), or remove it"
        )
    found.moment = moment
    return found


def _key(job: Job) -> str:
    """Return the digest of all that rules follow from."""
    digest = hashlib.sha256()
    said = [
        FORMAT,
        __version__,
        network_digest(job.network),
        job.form,
        job.scope,
        job.target,
        job.length.max_rules,
        job.how.effort,
        job.how.seed,
    ]
    digest.update(json.dumps(said).encode())
    digest.update(job.impossible.allowed.tobytes())
    if job.rows is not None:
        codes, numbers = job.rows.distinct
        digest.update(codes.tobytes() + job.rows.weights.tobytes())
        digest.update(b"" if numbers is None else numbers.tobytes())
    digest.update(b"" if job.held is None else np.packbits(job.held).tobytes())
    return digest.hexdigest()


def _packed(key: str, moment: Moment) -> bytes:
    """Return a moment as a file: arrays of numpy, and what belongs to them."""
    kept = moment.spare.boxes
    arrays: dict[str, Any] = {
        "allowed": np.array(moment.allowed, dtype=np.bool_),
        "ends": np.array(moment.ends, dtype=np.float64),
        "answers": np.array(moment.answers, dtype=np.int64),
        "kept_answers": np.array([grown.answer for grown in kept], np.int64),
    }
    for place, name in enumerate(Growth._fields):
        arrays[f"kept_{name}"] = np.array([grown.state[place] for grown in kept])
    counts = {name: getattr(moment, name) for name in _COUNTS}
    counts["width"] = moment.spare.width
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


def _unpacked(path: str | os.PathLike[str], key: str) -> Moment:
    """Read a file, which must be whole, and of this work."""
    data = read_bytes(path, _MOST_BYTES)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        head = json.loads(str(arrays.pop("head")))
        is_one = head["format"] == FORMAT
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile):
        is_one = False
    if not is_one:
        raise FormatError(
            f"{path}: this is no checkpoint ({FORMAT}), or it is damaged; remove it to "
            f"begin anew"
        )
    if head.get("digest") != _digest(arrays):
        raise FormatError(
            f"{path}: the checkpoint is damaged: its digest differs; remove it to "
            f"begin anew"
        )
    if head.get("key") != key:
        raise FormatError(
            f"{path}: this checkpoint is of other work: another network, other rows, "
            f"options, or another version of nn2rules; remove it to begin anew"
        )
    states = [
        Growth(*own)
        for own in zip(
            *(arrays[f"kept_{name}"] for name in Growth._fields), strict=True
        )
    ]
    answers = arrays["kept_answers"].tolist()
    kept = [Grown(state, own) for state, own in zip(states, answers, strict=True)]
    return Moment(
        list(arrays["allowed"]),
        list(arrays["ends"]),
        arrays["answers"].tolist(),
        Spare(kept, int(head["width"])),
        **{name: int(head[name]) for name in _COUNTS},
    )


def restore(moment: Moment, oracle: Oracle) -> None:
    """Let counts go on from where they were."""
    if moment.answers:
        oracle.n_questions, oracle.n_settled = moment.n_questions, moment.n_settled
        oracle.meter.boxes = moment.n_boxes
