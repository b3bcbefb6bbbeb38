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
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import (
    Budget,
    Meter,
    boxes_at_once,
    claim,
    interruptible,
    points,
    room,
    settle_codes,
    stack_of,
    workspace,
)
from nn2rules.engine._kernels.proving import DONE, PAUSED, TAPE_FULL, TIES_FULL, record
from nn2rules.errors import BudgetExceededError, OptionError, UndecidedError
from nn2rules.extraction.certifying import network_digest
from nn2rules.files import check_writable, replacing
from nn2rules.language import read_impossible
from nn2rules.network import Network, certified
from nn2rules.rules import RuleList
from nn2rules.space import Boxes, Value, joined, parts_of, refuse_curves

MOST_BOXES = 100_000
"""A proof has at most so many boxes."""

_MOST_TIES = 4096
_TIES = 256
_TAPE = 1 << 16
_LARGE, _SMALL = 1e90, 1e-190  # where readers fear neither overflow nor underflow


class Prover:
    """Finds proofs for the boxes of a network.

    Parameters
    ----------
    network : Network
    meter : Meter
        The budget to spend.

    Notes
    -----
    Every box is bounded afresh: a reader who sees the box alone finds the same bound.
    A bound counts only if it exceeds twice its slack, which leaves room for the
    reader's own rounding.
    """

    def __init__(self, network: Network, meter: Meter) -> None:
        self.network, self.meter = network, meter
        self._nets = [claim(network, index) for index in range(len(network.classes))]
        self._spaces = [workspace(net) for net in self._nets]
        stack = stack_of(self._nets[0])
        self._stack = Boxes(stack.allowed, stack.ends)
        self._tape = np.zeros(_TAPE, dtype=np.uint8)
        self._ties = points(self._nets[0], _TIES)
        self._is_bounded = _is_mild(network)

    def prove(
        self, box: Boxes, index: int, ignoring: Boxes, which: NDArray[np.int64]
    ) -> bytes | None:
        """Return the steps of a proof that one box is of class `index`, or None.

        Parameters
        ----------
        box : Boxes
            A single one.
        index : int
            The position of the class.
        ignoring : Boxes
            Inputs inside these do not count.
        which : ndarray of int
            The numbers by which the proof calls them.

        Raises
        ------
        BudgetExceededError
            If the budget is spent.
        """
        self.meter.spend()
        near = _meeting(self.network, box, ignoring)
        ignored = Boxes(ignoring.allowed[near], ignoring.ends[near])
        net, space = self._nets[index], self._spaces[index]
        margin = max(_SMALL, float(net.slack[net.unit_at[-1] :].max()))
        margin = margin if self._is_bounded else np.inf
        self._stack.allowed[0], self._stack.ends[0] = box.allowed[0], box.ends[0]
        parts: list[bytes] = []
        top, total, n_settled = 1, 0, 0
        while total <= MOST_BOXES and n_settled <= _MOST_TIES:
            status, top, used, n_ties, n_boxes = record(
                net,
                space,
                self._stack,
                top,
                ignored,
                which[near],
                margin,
                self._tape,
                self._ties,
                self.meter.allowance(boxes_at_once(net)),
            )
            self.meter.spend(n_boxes)
            total, n_settled = total + n_boxes, n_settled + n_ties
            parts.append(self._tape[:used].tobytes())
            if not self._is_settled(index, n_ties):
                return None
            if status == DONE:
                return b"".join(parts)
            if status not in (PAUSED, TAPE_FULL, TIES_FULL):
                return None
        return None

    def _is_settled(self, index: int, n_ties: int) -> bool:
        """Tell whether inputs that float64 cannot decide are of a class."""
        ties = zip(self._ties.codes[:n_ties], self._ties.numbers[:n_ties], strict=True)
        try:
            return all(settle_codes(self.network, *tie) == index for tie in ties)
        except UndecidedError:
            return False


def _meeting(network: Network, box: Boxes, others: Boxes) -> NDArray[np.int64]:
    """Return which of several boxes have an input in common with one."""
    domain = network.domain
    common = others.allowed & box.allowed[0]
    for feature, column in enumerate(domain.ranges.tolist()):
        if column >= 0:
            low = np.maximum(others.ends[:, 0, feature], box.ends[0, 0, feature])
            high = np.minimum(others.ends[:, 1, feature], box.ends[0, 1, feature])
            common[:, column] &= low <= high
    starts = domain.offsets[:-1]
    return np.flatnonzero(np.logical_or.reduceat(common, starts, axis=1).all(axis=1))


def _is_mild(network: Network) -> bool:
    """Tell whether no number of a proof comes near to an overflow.

    Elsewhere proofs end at single inputs, which exact arithmetic decides.
    """
    layers, domain = network.layers, network.domain
    with np.errstate(all="ignore"):
        size = certified.first_sizes(layers[0], domain.offsets, domain.reach)
        largest, back = float(size.max()), 1.0
        for layer_before, layer in pairwise(layers):
            function, weights = layer_before.function, np.abs(layer.weights)
            size = abs(function.at_zero) + 3 * function.lipschitz * size
            size = np.abs(layer.bias) + size @ weights
            back *= max(1.0, function.lipschitz) * max(1.0, weights.sum(axis=1).max())
            largest = max(largest, float(size.max()))
        wide = max(1.0, float(np.abs(layers[0].weights).max()))
        return largest < _LARGE and back * wide * 2 < _LARGE


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
    refuse_curves(network.domain.features, "a file of proofs")
    boxes, _ = read_impossible(
        network.domain, impossible, function=False, numbers=False
    )
    meter = Meter(budget or Budget())
    with interruptible(meter):
        return proofs_to(path, network, rules, boxes, meter)


def proofs_to(
    path: str | os.PathLike[str],
    network: Network,
    rules: RuleList,
    impossible: Boxes,
    meter: Meter,
) -> int:
    """Write the proofs of rules to a file, rule by rule."""
    if rules.domain.uncut != network.domain or rules.classes != network.classes:
        raise OptionError(
            "proofs are written for rules over the features and classes of the network"
        )
    prover, claims = Prover(network, meter), _Claims(network, rules)
    n_impossible = len(impossible.allowed)
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

    def ignored(self, network: Network, impossible: Boxes) -> Boxes:
        """Return the boxes of what cannot occur, and then those of all rules."""
        return joined(network.domain, [impossible, *self.parts[: self.n_rules]])


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
