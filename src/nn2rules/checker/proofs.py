"""Follow a file of proofs, rule by rule, with bounds that are computed again.

The file says how to cut the box of each rule, and nothing else. That the pieces make up
the whole box follows from how they are cut, and that each has the rule's class from
bounds with outward rounding (`bounds`). A file with mistakes can fail to prove a right
rule; it cannot prove a wrong one.
"""

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf, nextafter
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.checker.bounds import Floats, Leads
from nn2rules.checker.parts import (
    Part,
    around,
    by_numbers,
    by_values,
    middle_of,
    n_parts_of,
    part_of,
    parts_of,
    whole,
)
from nn2rules.checker.read import Box, Read
from nn2rules.checker.report import ProofReport
from nn2rules.checker.run_network import UNDECIDED, exact_class
from nn2rules.errors import FormatError, InternalError
from nn2rules.files import to_json
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.space import Domain, Range

_BOUND, _EXACT, _INSIDE, _APART, _SPLIT = range(5)
_AT_ONCE = 1 << 12


class RefusedError(Exception):
    """A proof that does not prove its rule, and why."""


@dataclass
class Walk:
    """Follows a proof of one claim.

    Attributes
    ----------
    network : Network
    index : int
        The position of the class that is claimed.
    leads : Leads
        The bounds for that class.
    left_out : sequence of Part
        Boxes whose inputs the claim leaves out.
    steps : bytes
        What the file says.
    """

    network: Network
    index: int
    leads: Leads
    left_out: Sequence[Part]
    steps: bytes
    _at: int = 0
    _waiting: list[Part] = field(default_factory=list)

    def follow(self, parts: Sequence[Part]) -> None:
        """Check that every input of the parts is of the class, or left out.

        Raises
        ------
        RefusedError
            If the steps do not show it.
        """
        for part in parts:
            open_ = [part]
            while open_:
                halves = self._step(*open_.pop())
                if halves is not None:
                    open_ += reversed(halves)
        if self._at != len(self.steps):
            raise RefusedError("it has steps that belong to no box")
        self._bound()

    def _step(self, allowed: NDArray[np.bool_], ends: Floats) -> list[Part] | None:
        """Take a step: return the halves of a box, or None once it is settled."""
        kind = self._number()
        if kind == _BOUND:
            self._waiting.append((allowed, ends))
            if len(self._waiting) >= _AT_ONCE:
                self._bound()
        elif kind == _EXACT:
            self._settle(allowed, ends)
        elif kind == _INSIDE:
            if not self._is_inside(allowed, ends, self._other()):
                raise RefusedError("a box is not inside the one it is said to be in")
        elif kind == _APART:
            return self._apart(allowed, ends, self._other(), self._number())
        else:
            return self._split(allowed, ends, kind - _SPLIT)
        return None

    def _number(self) -> int:
        """Read a whole number: seven bits of each byte, the lowest first."""
        number = shift = 0
        while True:
            if self._at >= len(self.steps) or shift > 28:
                raise RefusedError("its steps end before every box is settled")
            byte = self.steps[self._at]
            self._at += 1
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7

    def _other(self) -> Part:
        number = self._number()
        if number >= len(self.left_out):
            raise RefusedError("it leaves out what this rule must not leave out")
        return self.left_out[number]

    def _columns(self, feature: int) -> slice:
        offsets = self.network.domain.offsets
        if feature >= len(offsets) - 1:
            raise RefusedError("it parts a feature that does not exist")
        return slice(int(offsets[feature]), int(offsets[feature + 1]))

    def _bound(self) -> None:
        """Bound the boxes that wait for it."""
        if not self._waiting:
            return
        allowed = np.array([part[0] for part in self._waiting])
        ends = np.array([part[1] for part in self._waiting])
        self._waiting.clear()
        if not (self.leads.lowest(allowed, ends) > 0).all():
            raise RefusedError("a bound that it relies on is not positive")

    def _settle(self, allowed: NDArray[np.bool_], ends: Floats) -> None:
        """Work out the class of a box that is a single input."""
        domain = self.network.domain
        columns = np.flatnonzero(allowed)
        numbers = np.ones(len(domain.sizes))
        for feature, column in enumerate(domain.ranges.tolist()):
            if column >= 0 and allowed[column]:
                numbers[feature] = ends[0, feature]
                if ends[0, feature] != ends[1, feature]:
                    raise RefusedError("a box that is no single input is called one")
        if len(columns) != len(domain.sizes):
            raise RefusedError("a box that is no single input is called one")
        found = exact_class(self.network, columns - domain.offsets[:-1], numbers)
        if found == UNDECIDED:
            raise RefusedError("an input in its box is too close to a tie to tell")
        if found != self.index:
            raise RefusedError("an input in its box is of another class")

    def _is_inside(self, allowed: NDArray[np.bool_], ends: Floats, other: Part) -> bool:
        if (allowed & ~other[0]).any():
            return False
        ranges = self.network.domain.ranges
        used = np.flatnonzero((ranges >= 0) & allowed[ranges])
        limits = other[1][:, used]
        return bool(
            (limits[0] <= ends[0, used]).all() and (ends[1, used] <= limits[1]).all()
        )

    def _apart(
        self, allowed: NDArray[np.bool_], ends: Floats, other: Part, feature: int
    ) -> list[Part]:
        """Part a box into what another allows a feature, and the rest."""
        columns = self._columns(feature)
        own, about = allowed[columns], self.network.domain.features[feature]
        is_first = own & other[0][columns]
        if (is_first == own).all() and isinstance(about, Range):
            if own.sum() == 1 and own[0]:
                first, last = other[1][:, feature].tolist()
                cut = around(ends[0, feature], first, last, is_whole=about.whole)
                return self._by_numbers(allowed, ends, feature, *cut)
            is_first = np.zeros_like(own)
            is_first[0] = own[0]
        return _by_values(allowed, ends, columns, is_first)

    def _split(
        self, allowed: NDArray[np.bool_], ends: Floats, feature: int
    ) -> list[Part]:
        """Halve a box: values as the file says, a range in the middle."""
        columns = self._columns(feature)
        codes = np.flatnonzero(allowed[columns])
        if len(codes) > 1:
            n_bytes = (len(codes) + 7) // 8
            mask = np.frombuffer(self.steps[self._at : self._at + n_bytes], np.uint8)
            if len(mask) < n_bytes:
                raise RefusedError("its steps end before every box is settled")
            self._at += n_bytes
            is_first = np.zeros(columns.stop - columns.start, dtype=np.bool_)
            is_first[codes] = np.unpackbits(mask, bitorder="little")[: len(codes)]
            return _by_values(allowed, ends, columns, is_first)
        about = self.network.domain.features[feature]
        if not isinstance(about, Range) or codes[0] != 0:
            raise RefusedError("it parts what has one value left")
        cut = middle_of(*ends[:, feature].tolist(), is_whole=about.whole)
        return self._by_numbers(allowed, ends, feature, *cut)

    def _by_numbers(
        self,
        allowed: NDArray[np.bool_],
        ends: Floats,
        feature: int,
        to: float,
        at: float,
    ) -> list[Part]:
        """Part a range: up to a number, and from another on, with none between."""
        low, high = ends[:, feature].tolist()
        is_whole = self.network.domain.features[feature].whole
        after = to + 1 if is_whole else nextafter(to, inf)
        if not (low <= to < high and low < at <= high and to <= at <= after):
            raise RefusedError("it parts a range where it has nothing to part")
        return by_numbers((allowed, ends), feature, to, at)


def _by_values(
    allowed: NDArray[np.bool_],
    ends: Floats,
    columns: slice,
    is_first: NDArray[np.bool_],
) -> list[Part]:
    """Part the values that a box allows a feature."""
    own = allowed[columns]
    rest = own & ~is_first
    if not is_first.any() or not rest.any():
        raise RefusedError("it parts off no value, or all of them")
    return by_values((allowed, ends), columns, is_first)


_FORMAT = "nn2rules-proofs/1"
_MOST_HEAD = 1 << 12
_MOST_STEPS = 1 << 26  # bytes of the steps of a rule, unpacked
_MOST_PARTS = 256  # boxes of a rule, whose ranges may have gaps
_MOST_AT_ONCE = 1 << 10  # proofs that are read before they are followed

Each = Callable[[Callable[[Any, Any, Any], Any], Any, Sequence[Any]], Iterable[Any]]
"""Does a work on each of some tasks, with what they share; the results in order."""


class _Task(NamedTuple):
    """A proof to follow: which of all boxes are its own, and how many it leaves out."""

    entry: int
    steps: bytes
    own: slice
    n_free: int


@dataclass(frozen=True)
class _Claims:
    """What the rules claim, box by box, and the bounds for each class."""

    network: Network
    answers: Any
    leads: list[Leads]
    parts: list[Part]


def _followed(claims: _Claims, task: _Task, _: object) -> str | None:
    """Follow a proof; return why it is refused, or None."""
    index, free = int(claims.answers[task.entry]), claims.parts[: task.n_free]
    walk = Walk(claims.network, index, claims.leads[index], free, task.steps)
    try:
        walk.follow(claims.parts[task.own] or [whole(claims.network.domain)])
    except RefusedError as error:
        return str(error)
    return None


def check_proofs(
    network: Network,
    rules: RuleList,
    read: Read,
    impossible: list[Box],
    path: str | os.PathLike[str],
    each: Each,
) -> ProofReport:
    """Follow the proofs in a file, and report which rules they prove.

    Raises
    ------
    FormatError
        If the file is no such file, is damaged, or is of other rules or of another
        network.
    """
    domain, has_default = network.domain, rules.scope == "domain"
    parts = [part_of(domain, read, box, {}) for box in impossible]
    n_impossible, missing, tasks = len(parts), list[int](), list[_Task]()
    leads = [Leads(network, index) for index in range(len(network.classes))]
    head = _network_digest(network), rules.digest, len(rules) + has_default
    refused: dict[int, str | None] = {}  # or None, of each entry that was followed
    for entry, steps in enumerate(_entries(path, *head, n_impossible)):
        start, is_rule = len(parts), entry < len(rules)
        parts += _parts(domain, read, entry) if is_rule else []
        if steps is None:
            missing.append(entry)
            continue
        n_free = start if rules.form == "list" or not is_rule else n_impossible
        tasks.append(_Task(entry, steps, slice(start, len(parts)), n_free))
        n_bytes = sum(len(task.steps) for task in tasks)
        if len(tasks) >= _MOST_AT_ONCE or n_bytes >= _MOST_STEPS:
            claims = _Claims(network, read.answers, leads, list(parts))
            refused |= _reasons(claims, tasks, each)
            tasks = []
    claims = _Claims(network, read.answers, leads, parts)
    refused |= _reasons(claims, tasks, each)
    return _report(rules, missing, refused)


def _reasons(
    claims: _Claims, tasks: Sequence[_Task], each: Each
) -> dict[int, str | None]:
    """Follow proofs; return why each of them is refused, or None."""
    numbers = [task.entry for task in tasks]
    found = list(each(_followed, claims, tasks)) if tasks else []
    if len(found) != len(numbers):
        raise InternalError("not every proof was followed")
    return dict(zip(numbers, found, strict=True))


def _report(
    rules: RuleList, missing: list[int], refused: dict[int, str | None]
) -> ProofReport:
    n_rules, default = len(rules), ""
    if rules.scope == "domain":
        is_proved = n_rules in refused and refused[n_rules] is None
        default = "proved" if is_proved else "missing"
    return ProofReport(
        n_rules,
        sum(why is None for entry, why in refused.items() if entry < n_rules),
        tuple(entry for entry in missing if entry < n_rules),
        tuple(
            (entry if entry < n_rules else None, why)
            for entry, why in refused.items()
            if why is not None
        ),
        default,
        rules.names,
    )


def _network_digest(network: Network) -> str:
    """Return the sha256 of a network, as in certificates."""
    plain = replace(network, origin=None)
    return hashlib.sha256(to_json(plain).encode()).hexdigest()


def _parts(domain: Domain, read: Read, rule: int) -> list[Part]:
    """Return the boxes of a rule, if they are as many as proofs are written for."""
    n_parts = n_parts_of(read, rule)
    if n_parts > _MOST_PARTS:
        raise FormatError(
            f"rule {rule + 1:,} is {n_parts:,} boxes, as its numbers lie apart; proofs "
            f"are of rules of at most {_MOST_PARTS}"
        )
    return parts_of(domain, read, rule)


# The file


def _entries(
    path: str | os.PathLike[str],
    network: str,
    rules: str,
    n_entries: int,
    n_impossible: int,
) -> Iterator[bytes | None]:
    """Yield the steps for each entry of a file, None where it has no proof."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as stream:
            line = stream.readline(_MOST_HEAD)
            digest.update(line)
            head = _head(path, line)
            _check_head(path, head, network, rules, n_entries, n_impossible)
            for entry in range(n_entries):
                yield _entry(path, stream, digest, entry)
            if stream.read(33) != digest.digest():
                raise FormatError(f"{path}: the file is damaged: its digest differs")
    except FileNotFoundError:
        raise FormatError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise FormatError(f"{path}: this is a folder, not a file") from None
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from None


def _head(path: str | os.PathLike[str], line: bytes) -> dict[str, Any]:
    try:
        head = json.loads(line.decode("ascii"))
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("format") != _FORMAT:
        raise FormatError(f"{path}: this is no file of proofs ({_FORMAT})")
    return head


def _check_head(
    path: str | os.PathLike[str],
    head: dict[str, Any],
    network: str,
    rules: str,
    n_entries: int,
    n_impossible: int,
) -> None:
    """Refuse proofs of something else."""
    if head.get("network") != network:
        raise FormatError(
            f"{path}: these are proofs for another network, or for this model read "
            f"with other data; give the network that was written beside them"
        )
    if head.get("rules") != rules:
        raise FormatError(f"{path}: these are proofs of other rules")
    if head.get("impossible") != n_impossible:
        raise FormatError(
            f"{path}: these proofs leave out {head.get('impossible')!r} boxes of "
            f"inputs that cannot occur, and {n_impossible} were declared (impossible=, "
            f"--impossible)"
        )
    if head.get("entries") != n_entries:
        raise FormatError(
            f"{path}: there are {head.get('entries')!r} proofs, expected {n_entries}"
        )


def _entry(
    path: str | os.PathLike[str], stream: BinaryIO, digest: Any, entry: int
) -> bytes | None:
    """Read one entry; what is packed may not be larger than a limit once unpacked."""
    size = stream.read(4)
    n_bytes = struct.unpack("<I", size)[0] if len(size) == 4 else -1
    packed = b"" if not 0 < n_bytes <= _MOST_STEPS else stream.read(n_bytes)
    if len(packed) != n_bytes:
        raise FormatError(
            f"{path}: the file is damaged, or cut short, at entry {entry + 1:,}"
        )
    digest.update(size)
    digest.update(packed)
    if not packed:
        return None
    unpacker = zlib.decompressobj()
    try:
        steps = unpacker.decompress(packed, _MOST_STEPS)
    except zlib.error:
        steps = b""
    if not unpacker.eof or unpacker.unused_data:
        raise FormatError(f"{path}: the file is damaged at entry {entry + 1:,}")
    return steps
