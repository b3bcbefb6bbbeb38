"""Proofs of rules, written for whoever wants to check them: nn2rules-proofs/1.

A proof is looked for once the rules are there, on the box of each, whatever way the
rules were found. `docs/reference/formats.md` describes the file.
"""

import hashlib
import json
import os
import struct
import zlib
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from nn2rules.certificate import network_digest
from nn2rules.cover.thresholds import parts_of
from nn2rules.engine import Meter
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.engine.flat import claim, room
from nn2rules.engine.proving import Prover
from nn2rules.errors import BudgetExceededError, OptionError
from nn2rules.formats.files import check_writable, replacing
from nn2rules.network import Network
from nn2rules.rules import RuleList

MOST_PARTS = 256
"""A rule whose numbers lie in more boxes than so many has no proof."""


def write_proofs(
    network: Network,
    rules: RuleList,
    path: str | os.PathLike[str],
    *,
    impossible: NDArray[np.bool_] | None = None,
    meter: Meter | None = None,
) -> int:
    """Write a proof of each rule to a file, and return how many there are.

    In the scope "domain" the default is proved like a rule. What has no proof within
    the limits is marked so in the file.

    Parameters
    ----------
    network : Network
    rules : RuleList
        Over the network's own domain, as extracted.
    path : str or path
        The file is there once all of it is written.
    impossible : ndarray of bool, shape (n_boxes, n_columns), optional
        Inputs inside these boxes cannot occur.
    meter : Meter, optional
        The budget; when it is spent, the rules that are left have no proof.
    """
    check_writable(path)
    if rules.domain.uncut != network.domain or rules.classes != network.classes:
        raise OptionError(
            "proofs are written for rules over the features and classes of the network"
        )
    prover, claims = Prover(network, meter or Meter()), _Claims(network, rules)
    n_impossible = 0 if impossible is None else len(impossible)
    head = {
        "format": "nn2rules-proofs/1",
        "network": network_digest(network),
        "rules": rules.digest,
        "entries": len(claims),
        "impossible": n_impossible,
    }
    ignored = claims.ignored(network, impossible)
    digest, n_proved = hashlib.sha256(), 0
    with replacing(path) as stream:

        def put(piece: bytes) -> None:
            digest.update(piece)
            stream.write(piece)

        put(json.dumps(head).encode() + b"\n")
        for entry in range(len(claims)):
            steps = _steps(prover, claims, entry, ignored, n_impossible)
            packed = b"" if steps is None else zlib.compress(steps, 9)
            put(struct.pack("<I", len(packed)) + packed)
            n_proved += steps is not None
            prover.meter.report(f"{n_proved:,} rules proved again", entry / len(claims))
        stream.write(digest.digest())
    return n_proved


class _Claims:
    """What is to be proved: of every rule and, in the scope "domain", of the default.

    Each claim has boxes of the network's domain and a class, and may leave out what
    the first so many of all boxes of the rules hold.
    """

    def __init__(self, network: Network, rules: RuleList) -> None:
        self.parts = [parts_of(rules.domain, box) for box in rules.boxes]
        self.answers = rules.answers.tolist()
        ends = [0, *accumulate(len(part.allowed) for part in self.parts)]
        self.n_left_out = ends[:-1] if rules.form == "list" else [0] * len(rules)
        if rules.scope == "domain":
            whole = room(claim(network, 0), 1)
            whole.allowed[:], whole.ends[:] = True, network.domain.limits
            self.parts.append(whole)
            self.answers.append(network.classes.index(rules.default))
            self.n_left_out.append(ends[-1])
        self.n_rules = len(rules)

    def __len__(self) -> int:
        return len(self.answers)

    def ignored(self, network: Network, impossible: NDArray[np.bool_] | None) -> Boxes:
        """Return the boxes of what cannot occur, and then those of all rules."""
        none = np.zeros((0, int(network.domain.offsets[-1])), dtype=np.bool_)
        boxes = none if impossible is None else impossible
        limits = np.tile(network.domain.limits, (len(boxes), 1, 1))
        parts = [Boxes(boxes, limits), *self.parts[: self.n_rules]]
        return Boxes(*(np.concatenate(both) for both in zip(*parts, strict=True)))


def _steps(
    prover: Prover, claims: _Claims, entry: int, ignored: Boxes, n_impossible: int
) -> bytes | None:
    """Return the steps of the proof of a rule, or None if there is none in reach."""
    parts, steps = claims.parts[entry], []
    n_left_out = n_impossible + claims.n_left_out[entry]
    left_out = Boxes(ignored.allowed[:n_left_out], ignored.ends[:n_left_out])
    if len(parts.allowed) > MOST_PARTS:
        return None
    for place in range(len(parts.allowed)):
        box = Boxes(parts.allowed[place : place + 1], parts.ends[place : place + 1])
        try:
            found = prover.prove(
                box, claims.answers[entry], left_out, np.arange(n_left_out)
            )
        except BudgetExceededError:
            return None
        if found is None:
            return None
        steps.append(found)
    return b"".join(steps)
