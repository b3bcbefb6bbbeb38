"""Proofs of rules, and forged ones: what the checker accepts must be right."""

import hashlib
import json
import struct
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from fuzz.judge import class_of
from fuzz.numbers import Input, draw_network, holds, places, random_boxes
from fuzz.questions import demand
from nn2rules import Budget, Network, RuleList, check, write_proofs
from nn2rules.space import Boxes, cut_at_ends, parts_of

FEW = Budget(boxes=3000)


def parsed(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return the head of a file of proofs, and the steps of each entry."""
    line, _, rest = data.partition(b"\n")
    head, entries, at = json.loads(line), [], 0
    for _ in range(head["entries"]):
        [size] = struct.unpack_from("<I", rest, at)
        packed = rest[at + 4 : at + 4 + size]
        entries.append(zlib.decompress(packed) if size else b"")
        at += 4 + size
    assert rest[at:] == hashlib.sha256(data[:-32]).digest()
    return head, entries


def forged(path: Path, head: dict[str, Any], entries: list[bytes]) -> Path:
    """Write a file of proofs whose digests are all right."""
    data = json.dumps(head).encode() + b"\n"
    for steps in entries:
        packed = zlib.compress(steps) if steps else b""
        data += struct.pack("<I", len(packed)) + packed
    path.write_bytes(data + hashlib.sha256(data).digest())
    return path


def prove_rules(rng: Generator) -> int:
    """Prove rules, right and wrong, and forge proofs for those that have none."""
    network = draw_network(rng)
    boxes, known = random_boxes(rng, network, 6)
    domain, allowed = cut_at_ends(network.domain, boxes)
    rules = RuleList.from_boxes(
        domain,
        allowed,
        rng.integers(0, len(network.classes), 6),
        network.classes[0],
        network.classes,
        form=str(rng.choice(["list", "set"])),
        scope=str(rng.choice(["support", "domain"])),
    )
    tried = places(rng, network, known, 25)
    truth = {at: class_of(network, *at) for at in tried}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.proof"
        n_proved = write_proofs(network, rules, path, budget=FEW)
        refused = _judged(network, rules, path, truth)
        demand(not refused, f"the proofs {refused} of\n{rules}\nfail", network)
        head, entries = parsed(path.read_bytes())
        others = [steps for steps in entries if steps] + [b"\0", b"\1", b"\2\0"]
        for _ in range(4):
            made = [e or others[rng.integers(len(others))] for e in entries]
            forged(path, head, made)
            _judged(network, rules, path, truth)
    return n_proved + 4


def _judged(
    network: Network, rules: RuleList, path: Path, truth: dict[Input, int | None]
) -> Any:
    """Demand that what is proved is right; return what is refused."""
    found = check(network, rules, proofs=path, samples=1, largest=0).proofs
    assert found is not None, "proofs were given"
    failed = {*found.missing, *(rule for rule, _ in found.refused)}
    parts = [parts_of(rules.domain, box) for box in rules.boxes]
    for at, right in truth.items():
        held = [_held(network, own, at) for own in parts]
        decided = [rule for rule, is_held in enumerate(held) if is_held]
        claims = decided[:1] if rules.form == "list" else decided
        for rule in claims:
            fine = rule in failed or right in (int(rules.answers[rule]), None)
            demand(fine, f"rule {rule} of\n{rules}\nproved, but {at}: {right}", network)
        if not decided and found.default == "proved" and None not in failed:
            default = network.classes.index(rules.default)
            fine = right in (default, None)
            demand(fine, f"default of\n{rules}\nproved, but {at} is {right}", network)
    return found.refused


def _held(network: Network, parts: Boxes, at: Input) -> bool:
    n_parts = len(parts.allowed)
    return any(np.array([holds(network.domain, parts, k, at) for k in range(n_parts)]))
