"""Files of proofs (nn2rules-proofs/1), which an independent checker can verify.

Rules are proved after they are extracted, box by box, regardless of how they were
found. `docs/reference/formats.md` describes the file.
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
    boxes_per_check,
    claim,
    empty_boxes,
    empty_inputs,
    empty_stack,
    exact_class,
    interruptible,
    workspace,
)
from nn2rules.errors import BudgetExceededError, OptionError, UndecidedError
from nn2rules.extraction._kernels.proving import (
    DONE,
    PAUSED,
    TAPE_FULL,
    TIES_FULL,
    record,
)
from nn2rules.extraction.certifying import network_digest
from nn2rules.files import check_writable, replacing
from nn2rules.language import read_impossible
from nn2rules.network import Network, certified
from nn2rules.rules import RuleList
from nn2rules.space import Boxes, Value, joined, meeting, parts_of, refuse_curves

MOST_BOXES = 100_000
"""The most boxes of a proof."""

_MOST_TIES = 4096
_TIES = 256
_TAPE = 1 << 16
_LARGE, _SMALL = 1e90, 1e-190  # within these, checkers need not fear overflow


class Prover:
    """Finds proofs for the boxes of a network.

    Parameters
    ----------
    network : Network
    meter : Meter
        The budget to spend.

    Notes
    -----
    Each box is bounded by itself, so a checker that sees only the box finds the same
    bound. A bound counts only if it exceeds twice its slack, which leaves room for the
    checker's own rounding.
    """

    def __init__(self, network: Network, meter: Meter) -> None:
        self.network, self.meter = network, meter
        self._nets = [claim(network, index) for index in range(len(network.classes))]
        self._spaces = [workspace(net) for net in self._nets]
        stack = empty_stack(self._nets[0])
        self._stack = Boxes(stack.allowed, stack.ends)
        self._tape = np.zeros(_TAPE, dtype=np.uint8)
        self._ties = empty_inputs(self._nets[0], _TIES)
        self._is_bounded = _is_mild(network)

    def prove(
        self, box: Boxes, index: int, ignoring: Boxes, which: NDArray[np.int64]
    ) -> bytes | None:
        """Return the steps of a proof that one box has class `index`, or None.

        Parameters
        ----------
        box : Boxes
            A single one.
        index : int
            The position of the class.
        ignoring : Boxes
            Inputs in these boxes are ignored.
        which : ndarray of int
            The numbers that the proof uses for these boxes.

        Raises
        ------
        BudgetExceededError
            If the budget is spent.
        """
        self.meter.spend()
        around = box.allowed[0], box.ends[0]
        near = np.flatnonzero(meeting(self.network.domain, ignoring, around))
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
                self.meter.allowance(boxes_per_check(net)),
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
        """Return whether the inputs that float64 cannot decide have a class."""
        ties = zip(self._ties.codes[:n_ties], self._ties.numbers[:n_ties], strict=True)
        try:
            return all(exact_class(self.network, *tie) == index for tie in ties)
        except UndecidedError:
            return False


def _is_mild(network: Network) -> bool:
    """Return whether all numbers of a proof are far from an overflow.

    Otherwise proofs end at single inputs, which are decided in exact arithmetic.
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
"""A rule that consists of more boxes than this has no proof."""


def write_proofs(
    network: Network,
    rules: RuleList,
    path: str | os.PathLike[str],
    *,
    impossible: Sequence[Mapping[str, Sequence[Value]]] = (),
    budget: Budget | None = None,
) -> int:
    """Write a proof of each rule to a file, for `check`; return the number of proofs.

    The same as ``extract(..., proofs=path)``, but also for rules that were kept when a
    budget was spent, or that were read from a file. In the scope "domain" the default
    is proved like a rule. Rules without a proof are marked in the file.

    Parameters
    ----------
    network : Network
    rules : RuleList
        Extracted from this network, with its features and classes.
    path : str or path
        The file appears once it is complete.
    impossible : list of dicts
        Inputs that cannot occur. Each dict is a box, from features to values.
    budget : Budget, optional
        When it is spent, the remaining rules have no proof.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("car"))
    >>> rules = nn2rules.extract(network)
    >>> folder = getfixture("tmp_path")
    >>> nn2rules.write_proofs(network, rules, folder / "rules.proof") == len(rules) + 1
    True
    """
    if not isinstance(rules, RuleList):
        raise OptionError(f"rules: a {type(rules).__name__}, expected a RuleList")
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
            "proofs need rules with the features and classes of the network"
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
            prover.meter.report(f"{n_proved:,} proofs written", entry / len(claims))
        stream.write(digest.digest())
    return n_proved


class _Claims:
    """What is to be proved: every rule and, in the scope "domain", the default.

    Each claim is about boxes of the network's domain and a class. It ignores inputs in
    the first `n_left_out` boxes of all rules.
    """

    def __init__(self, network: Network, rules: RuleList) -> None:
        self.parts = [parts_of(rules.domain, box) for box in rules.boxes]
        self.answers = rules.answers.tolist()
        ends = [0, *accumulate(len(part.allowed) for part in self.parts)]
        self.n_left_out = ends[:-1] if rules.form == "list" else [0] * len(rules)
        if rules.scope == "domain":
            everything = empty_boxes(claim(network, 0), 1)
            everything.allowed[:], everything.ends[:] = True, network.domain.limits
            self.parts.append(everything)
            self.answers.append(network.classes.index(rules.default))
            self.n_left_out.append(ends[-1])
        self.n_rules = len(rules)

    def __len__(self) -> int:
        return len(self.answers)

    def ignored(self, network: Network, impossible: Boxes) -> Boxes:
        """Return the boxes of impossible inputs, and then those of all rules."""
        return joined(network.domain, [impossible, *self.parts[: self.n_rules]])


def _steps(
    prover: Prover, claims: _Claims, entry: int, ignored: Boxes, n_impossible: int
) -> bytes | None:
    """Return the steps of the proof of a rule; None if no proof is found."""
    parts, steps = claims.parts[entry], []
    n_left_out = n_impossible + claims.n_left_out[entry]
    left_out = Boxes(ignored.allowed[:n_left_out], ignored.ends[:n_left_out])
    if len(parts.allowed) > MOST_PARTS:
        return None
    for place in range(len(parts.allowed)):
        box = Boxes(parts.allowed[place : place + 1], parts.ends[place : place + 1])
        try:
            proof = prover.prove(
                box, claims.answers[entry], left_out, np.arange(n_left_out)
            )
        except BudgetExceededError:
            return None
        if proof is None:
            return None
        steps.append(proof)
    return b"".join(steps)
