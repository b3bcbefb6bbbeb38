"""Proofs of rules, written for whoever wants to check them: nn2rules-proofs/1.

A proof is looked for once the rules are there, on the box of each, whatever way the
rules were found. `docs/reference/formats.md` describes the file.
"""

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from nn2rules.certificate import network_digest
from nn2rules.cover.job import impossible_boxes
from nn2rules.cover.thresholds import parts_of
from nn2rules.engine import Budget, Meter
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.engine.flat import claim, room
from nn2rules.engine.interrupts import interruptible
from nn2rules.engine.proving import Prover
from nn2rules.errors import BudgetExceededError, OptionError
from nn2rules.formats.files import check_writable, replacing
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.values import Value

MOST_PARTS = 256
"""A rule whose numbers lie in more boxes than so many has no proof."""


def write_proofs(
    network: Network,
    rules: RuleList,
    path: str | os.PathLike[str],
    *,
    impossible: Sequence[Mapping[str, Sequence[Value]]] = (),
    budget: Budget | None = None,
) -> int:
    """Write a proof of each rule to a file, for `check`; return how many there are.

    As ``extract(..., proofs=path)`` does; also for rules that were kept when a budget
    was spent, or that were read from a file. In the scope "domain" the default is
    proved like a rule. What has no proof within the limits is marked so in the file.

    Parameters
    ----------
    network : Network
    rules : RuleList
        Over the network's own features and classes, as extracted.
    path : str or path
        The file is there once all of it is written.
    impossible : list of dicts
        Inputs that cannot occur: each dict is a box, from features to values.
    budget : Budget, optional
        When it is spent, the rules that are left have no proof.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("car"))
    >>> rules = nn2rules.extract(network)
    >>> folder = getfixture("tmp_path")
    >>> nn2rules.write_proofs(network, rules, folder / "rules.proof") == len(rules) + 1
    True
    """
    check_writable(path)
    boxes = impossible_boxes(network, impossible)
    meter = Meter(budget or Budget())
    with interruptible(meter):
        return proofs_to(path, network, rules, boxes, meter)


def proofs_to(
    path: str | os.PathLike[str],
    network: Network,
    rules: RuleList,
    impossible: NDArray[np.bool_],
    meter: Meter,
) -> int:
    """Write the proofs of rules to a file, rule by rule."""
    if rules.domain.uncut != network.domain or rules.classes != network.classes:
        raise OptionError(
            "proofs are written for rules over the features and classes of the network"
        )
    prover, claims = Prover(network, meter), _Claims(network, rules)
    n_impossible = len(impossible)
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

    def ignored(self, network: Network, impossible: NDArray[np.bool_]) -> Boxes:
        """Return the boxes of what cannot occur, and then those of all rules."""
        limits = np.tile(network.domain.limits, (len(impossible), 1, 1))
        parts = [Boxes(impossible, limits), *self.parts[: self.n_rules]]
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
